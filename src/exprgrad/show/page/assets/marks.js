// What is written onto the graph as the reverse sweep goes: contributions below the chips, and what is wrong.

function below({group}, name) {
  const {x, y, width, height} = boxOf(group);
  return draw(group, "text", {x: x + width / 2, y: y + height + 10, class: name});
}
// What is small on the graph can be hit from a little beside it: on a screen it is 24 pixels wide and high.
const widen = (group, x, y) => draw(group, "path", {class: "hit", d: `M${x - 13.2},${y - 13.2}h26.4v26.4h-26.4z`});
for (const {group, box: {x, y, width}} of chips) widen(group, x + width / 2, y + 9);
const passedOn = chips.map(chip => below(chip, "passed"));
const truths = cards.map(card => below(card, "true"));
// Below a chip there is room for so much at least; a digit is not narrower than so.
const ROOM_BELOW = 56, DIGIT = 7, chipMarks = changes(), cardMarks = changes();

views.push(() => {
  const last = new Map, gone = new Set, visited = new Set;
  for (const {phase, kind, node, edge, value, replaced} of app.done) {
    if (phase === "reverse" && kind !== "seed") visited.add(node);
    if (!known(edge)) continue;
    last.set(edge, value);
    gone.delete(edge);
    if (kind === "lost") gone.add(edge);
    if (known(replaced)) gone.add(replaced);
  }
  const sign = app.overwrite ? "=" : "+=";
  const begun = new Set(app.blamed.map(({edge}) => edge));
  chips.forEach(({group, wire, box, isAway}, edge) => {
    if (isAway) return;
    const lost = gone.has(edge), mark = lost ? "✗ " : begun.has(edge) ? "⚠ " : "";
    if (!chipMarks(edge, last.get(edge), mark, sign)) return;
    const room = Math.max(ROOM_BELOW, box.width), digits = Math.min(PAGE.digits, Math.floor(room / DIGIT));
    fill(passedOn[edge], last.has(edge) ? `${mark}${sign} ${inBrief(last.get(edge), digits)}` : "", room);
    for (const part of [group, wire]) part.classList.toggle("lost", lost);
    wire.classList.toggle("flown", last.has(edge) && !lost);
  });
  cards.forEach(({group, isAway}, id) => {
    if (isAway) return;
    const got = app.now.grads[id], due = app.right.grads[id] ?? 0;
    if (!cardMarks(id, got, due, app.now.done || visited.has(id))) return;
    const wrong = known(got) && (app.now.done || visited.has(id)) && isFinite(due) && num(got) !== num(due);
    group.classList.toggle("wrong", wrong);
    fill(truths[id], wrong ? `✗ true ${num(due)}` : "", 1e3);
  });
});

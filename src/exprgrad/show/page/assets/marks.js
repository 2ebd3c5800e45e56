// What is written onto the graph as the reverse sweep goes: contributions below the chips.

function below({group}, name) {
  const {x, y, width, height} = boxOf(group);
  return draw(group, "text", {x: x + width / 2, y: y + height + 10, class: name});
}
// What is small on the graph can be hit from a little beside it: on a screen it is 24 pixels wide and high.
const widen = (group, x, y) => draw(group, "path", {class: "hit", d: `M${x - 13.2},${y - 13.2}h26.4v26.4h-26.4z`});
for (const {group, box: {x, y, width}} of chips) widen(group, x + width / 2, y + 9);
const passedOn = chips.map(chip => below(chip, "passed"));
// Below a chip there is room for so much at least; a digit is not narrower than so.
const ROOM_BELOW = 56, DIGIT = 7, chipMarks = changes();

painters.push(() => {
  const last = new Map(app.done.filter(({edge}) => known(edge)).map(({edge, value}) => [edge, value])), gone = app.gone?.();
  const sign = app.overwrite ? "=" : "+=";
  const begun = new Set(app.blamed.map(({edge}) => edge));
  chips.forEach(({group, wire, box, isAway}, edge) => {
    if (isAway) return;
    const lost = gone?.has(edge), mark = lost ? "✗ " : begun.has(edge) ? "⚠ " : "";
    if (!chipMarks(edge, last.get(edge), mark, sign)) return;
    const room = Math.max(ROOM_BELOW, box.width), digits = Math.min(PAGE.digits, Math.floor(room / DIGIT));
    fill(passedOn[edge], last.has(edge) ? `${mark}${sign} ${inBrief(last.get(edge), digits)}` : "", room);
    for (const part of [group, wire]) part.classList.toggle("lost", Boolean(lost));
    wire.classList.toggle("flown", last.has(edge) && !lost);
  });
});

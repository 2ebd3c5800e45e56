// Looking closer: at the node or edge that was picked, beside it.

const line = (...inside) => make("p", null, ...inside);
const look = (spot, words) => button(words, () => pick(spot));
const bracket = x => x < 0 ? `(${num(x)})` : num(x);
const patternOf = id => [pattern(PAGE, id, app.overwrite)].filter(Boolean)
  .map(words => line(words.replace(/(^|\. )./g, start => start.toUpperCase())));

// The contributions that have been passed on.
const contributions = () => app.result.passed.slice(0, app.done.filter(({edge}) => known(edge)).length);

function aboutEdge(at) {
  const edge = EDGES[at], {user, operand, rule} = edge, [above, below] = [called(user), called(operand)];
  const local = app.now.locals[at], passed = contributions().findLast(({edge}) => edge === at);
  const grad = `Contribution to ${below}: grad of ${above} × local derivative`;
  return [
    make("h3", null, `The edge from ${below} to ${above}${which[at]}`),
    line(`Local derivative: how many times as far ${above} moves as ${below} does.`),
    make("p", {class: "formula"}, formula(edge), known(local) && rule !== num(local) ? ` = ${num(local)}` : ""),
    line(!app.flows.has(at) ? "Nothing passes here now." : !passed ? `${grad}. It is not known yet.` : known(passed.grad) ? `${grad} = ${num(passed.grad)} × ${bracket(local)} = ${num(passed.value)}.` : `No grad had reached ${above}: it passes 0.`),
    ...patternOf(user), look({node: operand}, `operand ${below}`), look({node: user}, `user ${above}`),
  ];
}

function aboutNode(id) {
  const {label, row, active, kind} = NODES[id], {data, grads} = app.now, x = data[id], grad = grads[id];
  const arrived = contributions().filter(({edge, late}) => EDGES[edge].operand === id && !late).map(({value}) => bracket(value));
  const sum = arrived.length > 1 && !app.overwrite ? `${arrived.join(" + ")} = ` : "";
  return [
    make("h3", null, label),
    line(row ? about(PAGE, id) : kind === "const" ? "A constant: it has no grad." : "An input."),
    ...patternOf(id),
    line(`Data: ${known(x) ? num(x) + vagueWords(id, "data") : "not known yet"}.`),
    ...active ? [line(`Grad: ${known(grad) ? sum + num(grad) + vagueWords(id, "grad") : "not known yet"}${id === PAGE.output ? ", the seed" : ""}.`)] : [],
    ...EDGES.flatMap(({operand, user}, edge) => user === id ? look({edge}, `← ${called(operand)}`) : operand === id ? look({edge}, `${called(user)} →`) : []),
  ];
}

const closer = $("closer"), GAP = 8, LEAST = 96;
closer.append(button("×", () => pick(null), "Close"));

views.push(() => {
  const {picked} = app;
  closer.hidden = !picked;
  if (!picked) return;
  $("close").replaceChildren(...known(picked.edge) ? aboutEdge(picked.edge) : aboutNode(picked.node));
});

// Below what was picked, or above it: clear of an edge's two nodes, too, or else of the edge alone, or else
// where there is more room, as low as that.  Where the panels are beside the graph, it stands on them.
function beside() {
  const {picked} = app;
  if (!picked) return;
  const {scrollTop} = closer, inside = (at, most) => Math.max(GAP, Math.min(at, most - GAP));
  const place = (left, top, room) => {
    closer.style.maxHeight = `${room}px`;
    const {width, height} = closer.getBoundingClientRect();
    Object.assign(closer.style, {left: `${inside(left, innerWidth - width)}px`, top: `${inside(top(height), innerHeight - height)}px`});
    closer.scrollTop = scrollTop;
  };
  const panels = $("panels").getBoundingClientRect(), isRoom = !app.asking && panels.left >= frame.getBoundingClientRect().right;
  closer.style.maxWidth = isRoom ? `${panels.width}px` : "";
  if (isRoom) return place(panels.left, height => innerHeight - height, .95 * innerHeight);
  closer.style.maxHeight = "";
  const {user, operand} = EDGES[picked.edge] ?? {}, {height} = closer.getBoundingClientRect();
  const parts = known(user) ? [chips[picked.edge], cards[user], cards[operand]] : [cards[picked.node]];
  const boxes = parts.map(({group}) => group.getBoundingClientRect()), [{left, right}] = boxes;
  const sides = [boxes, boxes.slice(0, 1)].flatMap(boxes => {
    const under = inside(Math.max(...boxes.map(({bottom}) => bottom)) + GAP, innerHeight);
    const over = inside(Math.min(...boxes.map(({top}) => top)) - GAP, innerHeight);
    return [{room: innerHeight - GAP - under, top: () => under}, {room: over - GAP, top: height => over - height}];
  });
  const {room, top} = sides.find(({room}) => room >= height) ?? sides.slice(2).sort((one, other) => other.room - one.room)[0];
  place((left + right - closer.offsetWidth) / 2, top, Math.max(Math.min(room, height), LEAST));
}
addEventListener("resize", beside);
addEventListener("scroll", ({target}) => target === closer || beside(), true);

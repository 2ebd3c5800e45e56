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
    line(`Data: ${known(x) ? num(x) : "not known yet"}.`),
    ...active ? [line(`Grad: ${known(grad) ? sum + num(grad) : "not known yet"}${id === PAGE.output ? ", the seed" : ""}.`)] : [],
    ...EDGES.flatMap(({operand, user}, edge) => user === id ? look({edge}, `← ${called(operand)}`) : operand === id ? look({edge}, `${called(user)} →`) : []),
  ];
}

const closer = $("closer"), GAP = 8;
closer.append(button("×", () => pick(null), "Close"));

views.push(() => {
  const {picked} = app;
  closer.hidden = !picked;
  if (!picked) return;
  $("close").replaceChildren(...known(picked.edge) ? aboutEdge(picked.edge) : aboutNode(picked.node));
  beside();
});

// Below what was picked, and an edge's two nodes, if there is room, else above, else at the window's edge.
function beside() {
  const {picked} = app;
  if (!picked) return;
  const {user, operand} = EDGES[picked.edge] ?? {};
  const parts = known(user) ? [chips[picked.edge], cards[user], cards[operand]] : [cards[picked.node]];
  const boxes = parts.map(({group}) => group.getBoundingClientRect()), [{left, right}] = boxes;
  const {width, height} = closer.getBoundingClientRect(), inside = (at, most) => Math.max(GAP, Math.min(at, most - GAP));
  const under = Math.max(...boxes.map(({bottom}) => bottom)) + GAP, over = Math.min(...boxes.map(({top}) => top)) - GAP - height;
  closer.style.left = `${inside((left + right - width) / 2, innerWidth - width)}px`;
  closer.style.top = `${inside(under + height + GAP > innerHeight && over >= GAP ? over : under, innerHeight - height)}px`;
}
addEventListener("resize", beside);
addEventListener("scroll", beside, true);

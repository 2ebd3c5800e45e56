// The graph: its numbers, what is lit, and how one walks it by mouse and keyboard.

const graph = $("graph");
// Lengths are read as they were written, for a frame that is not shown has no layout.
const lengthOf = (shape, name) => Number(shape.getAttribute(name));
const left = text => lengthOf(text, "x");
const boxOf = ({firstChild: outline}) =>
  Object.fromEntries(["x", "y", "width", "height"].map(name => [name, lengthOf(outline, name)]));
const cards = NODES.map(({id}) => {
  const group = $(`n${id}`), [data, grad] = ["data", "grad"].map(name => group.querySelector("." + name));
  return {group, data, grad, room: data && left(data) - data.previousElementSibling.x.baseVal.value - 24};
});
const chips = EDGES.map(edge => {
  const key = keyOf(edge), group = $("c" + key), text = group.lastChild, box = boxOf(group);
  const words = text.textContent, end = words.lastIndexOf(" = ");
  return {
    group, text, box, key,
    wire: graph.querySelector(`[data-edge="${key}"]`),
    // A local derivative that is the same whatever the inputs stands alone.
    rule: end < 0 ? null : words.slice(0, end + 3),
    room: box.width - 7,
  };
});
// Graphviz measured the names in fonts that may not be here.
for (const name of graph.querySelectorAll(".mid"))
  rooms.set(name, boxOf(name.parentNode).width - 10);
// Nothing can be measured before it is seen.
new ResizeObserver(() => fit([...rooms.keys()])).observe($("scroll"));

views.push(() => {
  const {data, grads, locals, nodes, wires} = app.now;
  cards.forEach(({group, data: text, grad, room}, id) => {
    const {label, active} = NODES[id], [x, g] = [data[id], grads[id]];
    group.classList.toggle("now", nodes.includes(id));
    group.classList.toggle("picked", app.picked?.node === id);
    if (text) {
      fill(text, shown(x), room);
      fill(grad, known(g) || !active ? num(g) : "", room);
    }
    const told = [text ? label : `constant ${label}`, text && known(x) && `data ${num(x)}`, known(g) && `grad ${num(g)}`];
    set(group, {"aria-label": told.filter(Boolean).join(", ")});
  });
  chips.forEach(({group, text, wire, key, rule, room}, at) => {
    const {operand, user} = EDGES[at], local = shown(locals[at]);
    if (rule) fill(text, rule + local, room);
    for (const part of [group, wire]) part.classList.toggle("now", wires.includes(key));
    group.classList.toggle("picked", app.picked?.edge === at);
    wire.classList.toggle("still", !app.flows.has(at));
    const slope = local && `, local derivative ${rule ?? ""}${local}`;
    set(group, {"aria-label": `edge from ${called(operand)} to ${called(user)}${which[at]}${slope}`});
  });
  follow();
});

// What the step is about is kept in sight, where the graph is larger than its frame.
function follow() {
  const box = $("scroll"), frame = box.getBoundingClientRect();
  const lit = [...graph.querySelectorAll(".now")].map(part => part.getBoundingClientRect());
  if (!lit.length || box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight) return;
  const own = cards[app.now.step.node].group.getBoundingClientRect();
  const off = (start, end) => {
    let from = Math.min(...lit.map(at => at[start])), to = Math.max(...lit.map(at => at[end]));
    if (to - from > frame[end] - frame[start]) from = own[start], to = own[end];
    return from < frame[start] + 8 || to > frame[end] - 8 ? (from + to - frame[start] - frame[end]) / 2 : 0;
  };
  box.scrollBy(off("left", "right"), off("top", "bottom"));
}

// Walking: one card or chip is a tab stop; arrows lead from there along the wires, or on in reading order.

const spots = new Map;
cards.forEach(({group}, node) => spots.set(group, {node}));
chips.forEach(({group}, edge) => spots.set(group, {edge}));
const parts = [...graph.children].filter(part => spots.has(part));
const spotOf = event => event.target.closest(".node, .chip");
const stopAt = part => {
  for (const other of parts) set(other, {role: "button", tabindex: other === part ? 0 : -1});
};
stopAt(parts[0]);

function onward(part, right) {
  const {node, edge} = spots.get(part);
  if (known(edge)) return cards[EDGES[edge][right ? "user" : "operand"]].group;
  return chips[right ? EDGES.findLastIndex(edge => edge.operand === node) : EDGES.findIndex(edge => edge.user === node)]?.group;
}

graph.onkeydown = event => {
  const part = spotOf(event), at = parts.indexOf(part), {key} = event;
  if (at < 0) return;
  if (key === "Enter" || key === " ") pick(spots.get(part));
  else if (key === "ArrowRight" || key === "ArrowLeft") onward(part, key === "ArrowRight")?.focus();
  else if (key === "ArrowDown" || key === "ArrowUp") parts[at + (key === "ArrowDown" ? 1 : -1)]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
};
// Chromium would make a tab stop of the graph itself if it listened.
$("scroll").addEventListener("focusin", event => {
  const part = spotOf(event);
  if (!spots.has(part)) return;
  stopAt(part);
  if (app.asking) return;
  app.picked = spots.get(part);
  show();
});
// A click leaves the focus where it is, so that the arrows still step.
graph.onmousedown = event => event.target.matches("input") || event.preventDefault();
graph.onclick = event => {
  const wire = event.target.closest(".wire"), spot = spots.get(wire ? $("c" + wire.dataset.edge) : spotOf(event));
  if (spot) pick(spot);
};

// The graph: its numbers, what is lit, and how one walks it by mouse and keyboard.

const graph = $("graph"), frame = $("scroll"), WORD = 31;
// Lengths are read as they were written, for a frame that is not shown has no layout.
const lengthOf = (shape, name) => Number(shape.getAttribute(name));
const left = text => lengthOf(text, "x");
const boxOf = ({firstChild: outline}) =>
  Object.fromEntries(["x", "y", "width", "height"].map(name => [name, lengthOf(outline, name)]));
const cards = NODES.map(({id}) => {
  const group = $(`n${id}`), [data, grad] = ["data", "grad"].map(name => group.querySelector("." + name));
  return {group, data, grad, head: group.querySelector(":scope > text:not(.word)"), room: data && left(data) - data.previousElementSibling.x.baseVal.value - WORD};
});
const chips = EDGES.map(edge => {
  const key = keyOf(edge), group = $("c" + key), text = group.lastChild, box = boxOf(group);
  const words = text.textContent, end = words.lastIndexOf(" = ");
  return {
    group, text, box, key,
    wire: graph.querySelector(`[data-edge="${key}"]`),
    // A local derivative that is the same whatever the inputs stands alone.
    rule: edge.jacobian || end < 0 ? edge.call ? "" : null : words.slice(0, end + 3),
    room: box.width - 7,
  };
});
// Graphviz measured the names in fonts that may not be here.
for (const name of graph.querySelectorAll(".mid"))
  rooms.set(name, boxOf(name.parentNode).width - 10);
for (const {text, room} of chips) rooms.set(text, room);

// A card or a chip is called by what is written on it, of which each text is read in words.
function speak(text, words) {
  const map = text?.nextElementSibling;
  if (text) (map?.matches(".map") ? map : text).ariaLabel = words || null;
}
for (const word of graph.querySelectorAll("use, .word:not(.mid, .note)")) word.ariaHidden = true;
// Nothing can be measured before it is seen.
let isSeen = false;
new ResizeObserver(() => {
  const wasSeen = isSeen;
  isSeen = frame.clientWidth > 0;
  if (!isSeen) return;
  resize();
  if (wasSeen) return;
  fit([...rooms.keys()]);
  // A graph that is larger than its frame opens on what it comes to.
  if (!app.at) follow(true);
}).observe(frame);

const cardChanges = changes(), chipChanges = changes();
painters.push(() => {
  const {data, grads, locals, nodes, wires} = app.now, litNodes = new Set(nodes), litWires = new Set(wires);
  cards.forEach(({group, head, data: text, grad, room, isAway}, id) => {
    const {label, active} = NODES[id], [x, g] = [data[id], grads[id]], isLit = litNodes.has(id), isPicked = app.picked?.node === id;
    if (isAway || !cardChanges(id, x, g, isLit, isPicked, app.given.size)) return;
    group.classList.toggle("now", isLit);
    group.classList.toggle("picked", isPicked);
    if (text) {
      fill(text, shown(x) + tilde(id, "data"), room);
      fill(grad, known(g) || !active ? num(g) + tilde(id, "grad") : "", room);
    }
    speak(head, (text ? label : `constant ${label}`) + (known(x) && text || known(g) ? "," : ""));
    speak(text, known(x) && `data ${num(x)}${vagueWords(id, "data")}${known(g) ? "," : ""}`);
    speak(grad, known(g) && `grad ${num(g)}${vagueWords(id, "grad")}`);
  });
  chips.forEach(({group, text, wire, key, rule, room, isAway}, at) => {
    const {operand, user} = EDGES[at], isLit = litWires.has(key), isPicked = app.picked?.edge === at, isStill = !app.flows.has(at);
    if (isAway || !chipChanges(at, locals[at], isLit, isPicked, isStill)) return;
    const local = shown(locals[at]);
    if (known(rule)) fill(text, rule + local, room);
    for (const part of [group, wire]) part.classList.toggle("now", isLit);
    group.classList.toggle("picked", isPicked);
    wire.classList.toggle("still", isStill);
    const slope = local && `, local derivative ${rule ?? ""}${local}`;
    speak(text, `edge from ${called(operand)} to ${called(user)}${which[at]}${slope}`);
  });
});

// Where a card or a chip is in the window: worked out, for what is out of sight is not laid out.
function placeOf({group}, own = graph.getBoundingClientRect()) {
  const {x, y, width, height} = boxOf(group), by = own.width / graph.viewBox.baseVal.width;
  return {left: own.left + x * by, right: own.left + (x + width) * by, top: own.top + y * by, bottom: own.top + (y + height) * by};
}
// What is looked at, or else what the step is about; the first is the node that acts.
function litParts() {
  const {picked, now: {step, nodes, wires}} = app;
  if (picked) return [chips[picked.edge] ?? cards[picked.node]];
  return [cards[step?.node ?? PAGE.output], ...nodes.map(id => cards[id]), ...chips.filter(({key}) => wires.includes(key))];
}
// Where the frame and its graph lie in the window, and whether all of the graph is in sight.
const frameNow = () => [
  frame.getBoundingClientRect(), graph.getBoundingClientRect(),
  frame.scrollWidth <= frame.clientWidth && frame.scrollHeight <= frame.clientHeight, app.scrolled?.(),
];
// What the step is about is kept in sight, where the graph is larger than its frame: so far it has to scroll for that.
function wayTo([seen, graphBox, isWhole], centred = false) {
  if (isWhole) return [0, 0];
  const boxes = litParts().map(part => placeOf(part, graphBox)), [own] = boxes;
  const off = (start, end) => {
    let from = Math.min(...boxes.map(at => at[start])), to = Math.max(...boxes.map(at => at[end]));
    if (to - from > seen[end] - seen[start] - 24) from = own[start], to = own[end];
    return centred || from < seen[start] + 12 || to > seen[end] - 12 ? (from + to - seen[start] - seen[end]) / 2 : 0;
  };
  return [off("left", "right"), off("top", "bottom")];
}
const follow = centred => frame.scrollBy(...wayTo(frameNow(), centred));

// Zooming, to the middle of the frame: a factor, or null for what fits.
const FASTER = 1.25;
let zoom = null;
function zoomTo(factor) {
  const size = () => graph.getBoundingClientRect().width, {clientWidth, clientHeight} = frame;
  const was = size(), middle = [frame.scrollLeft + clientWidth / 2, frame.scrollTop + clientHeight / 2];
  zoom = factor && Math.max(Math.min(.2, whole()), Math.min(4, factor));
  resize();
  const by = size() / was;
  frame.scrollTo({left: middle[0] * by - clientWidth / 2, top: middle[1] * by - clientHeight / 2, behavior: "instant"});
}
// A graph that doesn't fit has a size of its own: the browser would try sizes for its frame at each step, and set all texts anew.
function resize() {
  graph.style.setProperty("--z", zoom ?? "");
  graph.classList.toggle("sized", zoom || whole() < getComputedStyle(graph).getPropertyValue("--s"));
}
const scale = () => graph.getBoundingClientRect().width / graph.viewBox.baseVal.width;
const zooms = {"+": () => zoomTo(scale() * FASTER), "−": () => zoomTo(scale() / FASTER), "Fit": () => zoomTo(zoom && !graph.querySelector(".cover") ? null : whole())};
const whole = () => Math.min((frame.clientWidth - 16) / graph.viewBox.baseVal.width, (frame.clientHeight - 16) / graph.viewBox.baseVal.height);
$("side").append(make("div", {id: "zoom"}, ...Object.entries(zooms).map(([words, by]) => button(words, by, {"+": "Zoom in", "−": "Zoom out"}[words]))));

// Panning by the mouse, from where nothing is.
frame.onpointerdown = event => {
  if (event.pointerType !== "mouse" || event.button || event.target.closest("button, input, .node, .chip, .wire, .knob, .cover")) return;
  const {clientX, clientY} = event, {scrollLeft, scrollTop} = frame;
  frame.setPointerCapture(event.pointerId);
  frame.onpointermove = to => frame.scrollTo({left: scrollLeft + clientX - to.clientX, top: scrollTop + clientY - to.clientY, behavior: "instant"});
};
frame.onpointerup = frame.onpointercancel = () => { frame.onpointermove = null; };

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
  const {user, operand} = EDGES[edge] ?? {};
  if (known(edge)) return cards[right ? user : operand].group;
  return chips[right ? EDGES.findLastIndex(edge => edge.operand === node) : EDGES.findIndex(edge => edge.user === node)]?.group;
}

// What is out of sight is drawn before it can have the focus.
function walkTo(part) {
  part?.classList.remove("away");
  part?.focus();
}

graph.onkeydown = event => {
  const part = spotOf(event), at = parts.indexOf(part), {key} = event;
  if (at < 0) return;
  if (key === "Enter" || key === " ") pick(spots.get(part));
  else if (event.shiftKey && /^Arrow(Right|Left)$/.test(key)) walkTo(onward(part, key === "ArrowRight"));
  else if (key === "ArrowDown" || key === "ArrowUp") walkTo(parts[at + (key === "ArrowDown" ? 1 : -1)]);
  else return;
  event.preventDefault();
  event.stopPropagation();
};
// Chromium would make a tab stop of the graph itself if it listened.
frame.addEventListener("focusin", event => {
  const part = spotOf(event);
  if (!spots.has(part)) return;
  stopAt(part);
  if (app.asking || app.place) return;
  app.picked = spots.get(part);
  show();
});
// A click leaves the focus where it is, so that the arrows still step.
graph.onmousedown = event => event.target.matches("input") || event.preventDefault();
frame.onclick = event => {
  const wire = event.target.closest(".wire"), spot = spots.get(wire ? $("c" + wire.getAttribute("data-edge")) : spotOf(event));
  if (spot || app.picked) pick(spot ?? null);
};

// A wiggle: an input goes up by h, and above each node stands how far it moves then, beside its slope × h.

const wigglers = make("div", {class: "row", role: "group", "aria-label": "Wiggle"}, "Wiggle"), wiggle = set(line(), {role: "status"});
let wiggled = null, labels = [];
const signed = x => (x > 0 ? "+" : "") + number(x, 4);
for (const id of PAGE.wrt)
  wigglers.append(button(called(id), () => {
    wiggled = wiggled === id ? null : id;
    for (const {text} of labels) text.remove();
    labels = wiggled === null ? [] : reachedFrom(id).map((node, at, {length}) => {
      const {group} = cards[node], {x, y, width} = boxOf(group);
      return {node, room: roomAbove(x + width / 2, y, width), text: draw(group, "text", {class: "wiggle", x: x + width / 2, y: y - 4, style: `--n:${at / length}`})};
    });
    show();
  }));
$("inputs").append(wigglers, wiggle);

// How wide a text above a card can be: the chips and cards beside it end, or begin, on either side of its middle.
const boxes = [...cards, ...chips].map(({group}) => boxOf(group)), HIGH = 16, APART = 4;
function roomAbove(middle, top, least) {
  const near = boxes.filter(({y, height}) => y < top && y + height > top - HIGH);
  return Math.max(least, Math.min(1e3, ...near.map(({x, width}) => 2 * (Math.max(x - middle, middle - x - width) - APART))));
}

// An input, and all that it leads to.
function reachedFrom(id) {
  const found = new Set([id]);
  for (const {user, operand} of EDGES.toReversed()) if (found.has(operand)) found.add(user);
  return [...found];
}

// Every node's slope, how many times as far as an input it moves: these go forward.
function slopesFor(id) {
  const slopes = NODES.map(node => Number(node.id === id));
  for (let edge = EDGES.length - 1; edge >= 0; edge--) {
    const {user, operand} = EDGES[edge];
    if (slopes[operand]) slopes[user] += slopes[operand] * app.locals[edge];
  }
  return slopes;
}

views.push(() => {
  // Where a task asks for grads they are shown as far as the sweep has got.
  const isTold = !app.hides || known(app.now.grads[wiggled]), isOn = wiggled !== null && !app.asking && isTold, {data} = app, x = data[wiggled], h = x + stepOf(x) - x;
  graph.classList.toggle("wiggling", isOn);
  PAGE.wrt.forEach((id, at) => set(wigglers.children[at], {"aria-pressed": id === wiggled}));
  if (!isOn) {
    wiggle.textContent = wiggled === null || isTold ? "" : `Step on until ${called(wiggled)} has its grad.`;
    return labels.forEach(({text}) => { text.textContent = ""; });
  }
  const moved = forward(PAGE, new Map([...app.given, [wiggled, x + h]])), slopes = slopesFor(wiggled);
  const change = node => signed(moved[node] - data[node]);
  for (const {node, text, room} of labels) fill(text, node === wiggled ? "+h" : `${change(node)} ≈ ${number(slopes[node], 4)} × h`, room);
  wiggle.textContent = `${called(wiggled)} goes up by h = ${brief(h)}. Above each node: how far it moves, beside its slope × h. ${called(PAGE.output)} moves by ${change(PAGE.output)}; the grad of ${called(wiggled)} × h is ${signed(slopes[PAGE.output] * h)}.`;
});

// The order of visits: presets, a list to rearrange, += or =, and the outcome for every path.

const NAMES = {right: "right", preorder: "preorder", bfs: "breadth first", naive: "naive", own: "my own"};
const INPUTS = "Inputs pass nothing on, and are read last.";
const ABOUT = {
  right: "Each node after all its users.",
  preorder: `Depth first, each node once, when it is met first: perhaps too early. ${INPUTS}`,
  bfs: `Level by level, each node once, when it is met first: perhaps too early. ${INPUTS}`,
  naive: `Recursion without a set of visited nodes: a node once for each way that leads to it. ${INPUTS}`,
  own: "As you arranged it.",
};
const LISTED = 60, MOST = 5, FEW = 8;

// What can be arranged: each node once, the inputs, too.
const own = () => [...new Set([...app.visits, ...ORDERS.right(PAGE)])];
const presets = choices("Order", "preset", NAMES, preset =>
  visitIn(preset, preset === "own" ? own() : ORDERS[preset](PAGE)));
const signs = choices("Contributions", "sign", {"+=": "+= add up", "=": "= overwrite"}, sign =>
  visitIn(app.preset, app.visits, sign === "="));
for (const radio of presets.querySelectorAll("input"))
  if (radio.value !== "own") radio.disabled = !ORDERS[radio.value](PAGE);
const tip = line("Drag one to another place, or press Alt with ↑ or ↓.");
const aboutOrder = make("p"), list = make("ol", {id: "order", "aria-label": "Visits, the first one at the top"}), result = make("div", {id: "result"});

// Nodes that are clicked one after the other are an order, too.
let clicked = [], among = null;
const clicker = button("Click the order", () => clicking(!app.place));
const rest = button("The rest as it is", () => visitIn("own", [...clicked, ...own().filter(id => !clicked.includes(id))]));
const next = make("p", {id: "next"});
const breaking = make("details", null, make("summary", null, "Break it"), presets, make("div", {class: "row"}, clicker, rest), next, signs, list, tip);
$("visits").append(aboutOrder, breaking, result);
tellKey("in the visit order Alt+↑ ↓", "earlier, later");

function clicking(isOn) {
  clicked = [];
  among = app.visits;
  Object.assign(app, {picked: null, place: isOn && place});
  show();
  if (isOn) walkTo(cards[PAGE.output].group);
  $("told").textContent = isOn ? next.textContent : "";
}

function place(picked) {
  if (!picked) return clicking(false);
  const id = picked.node, all = own(), isBack = clicked.includes(id);
  if (!known(id)) return;
  let told = `${called(id)} is not visited: no grad goes through it`;
  if (all.includes(id)) {
    clicked = isBack ? clicked.filter(other => other !== id) : [...clicked, id];
    if (clicked.length === all.length) return visitIn("own", clicked);
    told = called(id) + (isBack ? " is taken back" : ` is visit ${clicked.length} of ${all.length}`);
  }
  show();
  $("told").textContent = told;
}

// The nodes of an order of one's own bear their numbers.
const NONE = [], bearers = new Map;
let numbered = NONE;
function bearer(id) {
  if (!bearers.has(id)) {
    const {x, y} = boxOf(cards[id].group);
    bearers.set(id, draw(cards[id].group, "text", {class: "turn", x: x + 4, y: y - 3}));
  }
  return bearers.get(id);
}
views.push(() => {
  if (app.asking || app.visits !== among) app.place = null;
  const isOn = Boolean(app.place), order = isOn ? clicked : app.preset === "own" ? app.visits : NONE;
  clicker.textContent = isOn ? "Stop" : "Click the order";
  clicker.hidden = !app.visits.length;
  rest.hidden = !isOn || !clicked.length;
  next.hidden = !isOn;
  next.textContent = isOn ? `Visit ${clicked.length + 1} of ${own().length}: click a node in the graph, or press Enter on it. A second time takes it back. An input passes nothing on, and whatever is passed to it after its turn is lost.` : "";
  if (order === numbered) return;
  numbered = order;
  for (const text of bearers.values()) text.textContent = "";
  order.forEach((id, at) => { bearer(id).textContent = at + 1; });
});

// One item is a tab stop; arrows lead from item to item, and with Alt they take it along.
let dragged = null;
const items = new Map;
function itemOf(id) {
  if (items.has(id)) return items.get(id);
  const at = () => app.visits.indexOf(id), by = way => button(way < 0 ? "↑" : "↓", () => moveTo(id, at() + way), `${called(id)} ${way < 0 ? "earlier" : "later"}`);
  const item = make("li", {
    draggable: "true", tabindex: -1,
    // Firefox drags nothing that brings no data.
    ondragstart: event => {
      dragged = id;
      event.dataTransfer.setData("text/plain", "");
    },
    ondragend: () => { dragged = null; },
    // What a handler returns may refuse the event.
    ondragover: event => { if (known(dragged)) event.preventDefault(); },
    ondrop: event => {
      event.preventDefault();
      if (known(dragged)) moveTo(dragged, at());
    },
    onkeydown: event => {
      const way = {ArrowUp: -1, ArrowDown: 1}[event.key];
      if (!way) return;
      event.preventDefault();
      if (event.altKey) moveTo(id, at() + way);
      else focusOn(app.visits[at() + way]);
    },
  }, make("bdi", null, called(id)), by(-1), by(1));
  for (const made of item.querySelectorAll("button")) made.tabIndex = -1;
  items.set(id, item);
  return item;
}

function focusOn(id) {
  if (!known(id)) return;
  for (const [other, item] of items) item.tabIndex = other === id ? 0 : -1;
  items.get(id).focus();
}

function moveTo(id, at) {
  const visits = own().filter(other => other !== id);
  if (at < 0 || at > visits.length) return;
  visits.splice(at, 0, id);
  visitIn("own", visits);
  focusOn(id);
  $("told").textContent = `${called(id)} is visit ${at + 1} of ${visits.length}; ${$("told").textContent}`;
}

const isWrong = ({lost, again}) => lost.count + again.count > 0;
function outcomeRow(found) {
  const {id, got, true: due} = found, wrong = isWrong(found);
  return row([called(id), num(got), num(due), wrong && isFinite(due) ? Object.is(got, due) ? "right by chance" : "✗ wrong" : verdict(id) ?? "✓ right"],
    {"data-input": called(id), "data-got": String(got), "data-true": String(due), class: wrong && "wrong"});
}

const product = ({factors, product}) => factors.length > 1
  ? `${factors.map(factor => bracket(factor)).join(" × ")} = ${num(product)}` : num(product);
const way = ({nodes, edges}) => nodes.map((node, at) => called(node) + (which[edges[at - 1]] ?? "")).join(" → ");

// The outcome for the paths to one input, as a list.
function fates({id, got, true: due, counted, lost, again, counts, losses}) {
  const every = counted.count + lost.count, items = [
    ...counts.map(path => path.times > 1 ? `${path.times}× ${way(path)}: ${product(path)}, counted ${path.times} times` : `${isFinite(path.product) ? "✓" : "⚠"} ${way(path)}: ${product(path)}`),
    ...losses.map(path => `✗ ${way(path)}: ${product(path)}, ${lossText(PAGE, path)}`),
  ];
  const more = every - BigInt(items.length), magnitude = `about 10^${String(more).length - 1}`;
  if (more > 0n) items.push(`and ${num(Number(more)).replace("inf", magnitude)} more`);
  const sum = lost.count ? `${num(counted.sum)} counted, ${num(lost.sum)} lost: ${num(due)} is the true grad.`
    : again.count ? `${num(due)} is true; ${num(again.sum)} was counted again: ${num(got)}.`
    : every && !isFinite(due) ? `Every path counts once, and they add up to ${num(due)}.`
    : every ? `Every path counts once: ${num(due)}.` : `No path leads to ${called(id)}.`;
  return [make("h3", null, `Paths to ${called(id)}`), make("ul", {class: "paths"}, ...items.map(item => make("li", null, item))), line(sum)];
}

// The keyboard can scroll what is too wide: that may change with the numbers, and with the frame.
const tellWide = () => set(result, {tabindex: result.scrollWidth > result.clientWidth && 0});
new ResizeObserver(tellWide).observe(result);

let visited = null, earned = null;
views.push(() => {
  const {preset, visits, overwrite, locals, steps, at} = app;
  // What an order finds is shown once the sweep has got there.
  const isFound = at === steps.length && earned !== steps;
  if (isFound) earned = steps;
  if (visited === steps && !isFound) return;
  // An order that is not the right one is seen.
  breaking.open ||= preset !== "right" || overwrite;
  const isFirst = !visited, before = visited;
  visited = steps;
  check("preset", preset);
  check("sign", overwrite ? "=" : "+=");
  aboutOrder.textContent = !visits.length ? `${called(PAGE.output)} depends on no differentiated input: nothing is visited.`
    : ABOUT[preset] + (overwrite ? " A contribution overwrites the one before." : preset === "right" ? " Its grad is complete when it is passed on." : "");
  const repeats = new Set(visits).size < visits.length;
  tip.hidden = repeats || !visits.length;
  const shown = repeats ? visits.slice(0, LISTED).map(id => make("li", null, called(id))) : visits.map(itemOf);
  if (shown.length < visits.length) shown.push(make("li", null, `and ${visits.length - LISTED} more`));
  list.replaceChildren(...shown);
  if (!repeats && shown[0] && !shown.some(item => item.tabIndex === 0)) shown[0].tabIndex = 0;
  if (earned !== steps) return result.replaceChildren(line("Step to the end to see which grads it finds."), button("Run it", () => go(app.steps.length)));
  const found = outcomes(PAGE, locals, visits, app.result, overwrite, MOST);
  const wrong = found.filter(isWrong);
  result.replaceChildren(
    table("The grads that this order finds", ["input", "got", "true", "verdict"], found.map(outcomeRow)),
    ...(found.length > FEW ? wrong : found).flatMap(fates));
  tellWide();
  // A step's sentence may stay the same.
  const news = wrong.slice(0, FEW).map(({id, got, true: due}) => `${called(id)} gets ${num(got)} of the true ${num(due)}`);
  if (!isFirst && visited !== before) $("told").textContent = [`${called(PAGE.output)} is ${num(app.data[PAGE.output])}`, ...news].join(", ");
});

app.tellOrder = told => {
  const {preset, visits, overwrite} = app;
  if (preset !== "right") told.set("order", preset === "own" ? visits.join(".") : preset);
  if (overwrite) told.set("sign", "=");
};
// An order is one of the presets that this page can offer, or has the nodes of the right one.
app.recallOrder = told => {
  const order = told.get("order") ?? "right", right = ORDERS.right(PAGE), sorted = ids => String([...ids].sort());
  const own = order.split(".").map(Number), isOwn = sorted(own) === sorted(right);
  const visits = isOwn ? own : Object.hasOwn(ORDERS, order) && ORDERS[order](PAGE);
  Object.assign(app, {preset: !visits ? "right" : isOwn ? "own" : order, visits: visits || right, overwrite: told.get("sign") === "="});
};

// Calls that open and close: by the knob, by a double click, by the key o, and from where one looks closer.

const ways = new Map(PAGE.ways);

// The same point of the sweeps on another sheet: what a closed call does, its nodes do.
function progress() {
  const last = app.steps[app.at - 1];
  return last && {phase: last.phase, origin: NODES[last.node].origin};
}
function reached(steps, {phase, origin}) {
  const isDone = step => phase === "forward" ? step.phase === phase && NODES[step.node].origin <= origin
    : step.phase === "forward" || NODES[step.node].origin >= origin;
  return steps.filter(isDone).length;
}

function toggle(id, byKey) {
  if (!ways.has(id)) return NODES[id]?.row in CALLS.calls && pick({node: id});
  if (app.asking) return;
  const {origin, call, row} = NODES[id], given = new Map(PAGE.inputs.flatMap(([name, node]) => app.given.has(node) ? [[name, app.given.get(node)]] : []));
  stop();
  const words = `${call} is ${row in CALLS.calls ? "open" : "closed"}`;
  lay(ways.get(id), {given, origin, byKey, words, progress: app.at === app.steps.length ? null : progress() ?? {at: 0}});
}

tellKey("o", "open a call, close it");
// The spot that a key is about: what has the focus, else what is looked at, else what the step is about.
const spotNow = () => spots.get(document.activeElement) ?? app.picked ?? app.now.step;
addEventListener("keydown", event => {
  const {key, target} = event, node = spotNow()?.node;
  if (key !== "o" || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (known(node) && !target.closest("input:not([type=checkbox]), textarea, select")) toggle(node, true);
});

// A frame closes by any of the nodes that it is the innermost for.
graph.addEventListener("click", event => {
  const knob = event.target.closest(".knob"), within = knob?.closest(".frame");
  if (!knob) return;
  event.stopPropagation();
  toggle(within ? NODES.findIndex(({id, call, row}) => call === within.lastChild.textContent && !(row in CALLS.calls) && ways.has(id))
    : spots.get(spotOf(event)).node);
});
graph.ondblclick = event => {
  const node = spots.get(spotOf(event))?.node;
  if (NODES[node]?.row in CALLS.calls) toggle(node);
};

views.push(() => {
  const node = app.picked?.node, {call, row} = NODES[node] ?? {};
  if (ways.has(node)) $("close").append(button(`${row in CALLS.calls ? "Open" : "Close"} ${call}`, () => toggle(node, true)));
});
for (const knob of graph.querySelectorAll(".knob")) {
  widen(knob, ...["cx", "cy"].map(name => lengthOf(knob.firstChild, name)));
}
// A knob is read after its card.
cards.forEach(({group}, id) => {
  if (!(NODES[id].row in CALLS.calls)) return;
  const knob = group.querySelector(".knob");
  group.append(knob);
  speak(knob.querySelector("text"), ways.has(id) || insides.size ? "a call: o opens it" : "a call");
});

addEventListener("hashchange", () => { if (asked() !== PAGE.sheet) lay(asked()); });

// The inputs and the step are those of the sheet before.  Who opens a call by a key goes on at its result; who
// closes one, at its card.
if (kept.words) {
  app.given.clear();
  for (const [name, node] of PAGE.inputs) if (kept.given.has(name)) app.given.set(node, kept.given.get(name));
  Object.assign(app, {preset: "right", visits: ORDERS.right(PAGE), overwrite: false});
  compute();
  app.at = kept.progress === null ? app.steps.length : kept.progress.at ?? reached(app.steps, kept.progress);
  const exact = NODES.findIndex(({origin}) => origin === kept.origin);
  const id = exact < 0 ? NODES.findIndex(({origin, row}) => origin >= kept.origin && row in CALLS.calls) : exact;
  if (kept.byKey) walkTo(cards[id].group);
}
show();
if (kept.words) $("told").textContent = kept.words;

// What is seen now.  The views read it, and show() calls them; `painters` are those of the graph, which come first, and
// `lists` those of long tables.
//
// `given`   the inputs that were edited
// `visits`  the order of the reverse sweep, and `preset` its name if it has one
// `at`      how many steps are done
// `picked`  what is looked at closer, {node} or {edge}; null: what the step is about
// `flows`   the edges that pass something on
// `right`, `result`  what the right order finds, and the chosen one
// `blamed`  where the numbers stop being finite
// `steps`, `done`    all steps, and those that are done
// `now`     what they have found so far, and what is lit
// `asking`  what the reader is asked for, and `reveal` what has been found of it
// `grid`    where there are tensors, the fields in which one's numbers are typed, and `hint` how to find one
// `cull`   draws what is in sight of a large graph
// `scrolled` tells how far a large graph is scrolled, and can be
// `unfold` shows the graph where it is folded
// `placeCode` puts the code where there is room
// `uncover` scrolls to the lit line of the code
// `later`   writes a large graph's lists once the steps pause
// `place`   takes what is picked, while the visits are clicked
// `tellOrder`, `recallOrder`  write the order into the address, and read it there
// `gone`    finds the edges whose contribution is lost, where visits may be in a wrong order

const {nodes: NODES, edges: EDGES} = PAGE;
const app = {given: new Map, preset: "right", visits: ORDERS.right(PAGE), overwrite: false, at: 0, picked: null, asking: ""};
const painters = [], views = [], lists = [];
const called = id => NODES[id].short;
const known = x => x !== undefined && x !== null;
const num = x => known(x) ? number(x, PAGE.digits) : "–";
const shown = x => known(x) ? num(x) : "";
const numbersIn = (kind, now = app.now) => kind === "grad" ? now.grads : now.data;
const keyOf = edge => `${edge.user}_${edge.position}`;
// By edge: which operand it is, where its user has the operand twice.
const which = EDGES.map(({user, operand, position}) =>
  EDGES.filter(edge => edge.user === user && edge.operand === operand).length > 1 ? ` (operand ${position + 1})` : "");
const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

function compute() {
  const {data, steps, at} = app;
  const ended = steps && at === steps.length;
  app.data = forward(PAGE, app.given);
  app.locals = localDerivatives(PAGE, app.data);
  app.flows = new Set(webOf(PAGE, app.locals).edges);
  app.right = simulate(PAGE, app.locals, ORDERS.right(PAGE));
  app.blamed = blame(PAGE, app.data, app.locals);
  app.result = simulate(PAGE, app.locals, app.visits, app.overwrite);
  app.steps = timeline(PAGE, app.data, app.locals, app.visits, app.overwrite);
  app.at = ended ? app.steps.length : Math.min(at, app.steps.length);
}

const forwards = () => app.steps.filter(step => step.phase === "forward").length;

function show() {
  // Whatever is read of the layout is read first: what is written has the page laid out anew.
  const lies = frameNow(), now = state(PAGE, app.data, app.steps, app.at);
  now.locals = app.locals.map((local, at) => known(now.data[EDGES[at].user]) ? local : undefined);
  app.reveal?.(now);
  app.now = now;
  app.done = app.steps.slice(0, app.at);
  for (const view of [...painters, ...views]) view();
  const way = wayTo(lies);
  app.cull?.(lies, way);
  if (way.some(Boolean)) frame.scrollBy(...way);
  $("said").scrollTop = 0;
  // Last of all what is written is measured: once, with what has come in sight.
  fit(written);
  beside();
  (app.later ?? writeLists)();
}

function writeLists() {
  for (const list of lists) list();
  app.uncover?.();
}

function go(at) {
  app.unfold?.();
  app.at = Math.max(0, Math.min(app.steps.length, at));
  app.picked = null;
  show();
}

// An input's new number.  Who has not begun to step sees at once all that it changes.
function give(id, value) {
  app.given.set(id, value);
  compute();
  app.at ||= app.steps.length;
  show();
}

function visitIn(preset, visits, overwrite = app.overwrite) {
  Object.assign(app, {preset, visits, overwrite, picked: null});
  compute();
  app.at = app.steps.length;
  show();
}

function pick(picked) {
  // A tensor's numbers are read beside it, and those that are asked are not there.
  if (app.asking && !app.grid) return;
  if (app.place) return app.place(picked);
  app.picked = picked;
  show();
  $("told").textContent = picked ? [...$("close").children].map(part => part.innerText).join(" ") : "";
}

// What is seen stands in the address, behind its #, so that a link shows the same: the step, edited inputs,
// the visit order, the sign.

// Browsers refuse an address that changes with each move of a slider.
const PATIENCE = 400;
let waiting = 0;

function address() {
  const {at, given} = app, told = new URLSearchParams;
  if (PAGE.sheet) told.set("open", PAGE.sheet);
  if (at) told.set("step", at);
  for (const [name, id] of PAGE.inputs) if (given.has(id)) told.append("with", `${name}=${given.get(id)}`);
  app.tellOrder?.(told);
  return String(told);
}

function recall() {
  const told = new URLSearchParams(location.hash.slice(1));
  for (const words of told.getAll("with")) {
    const at = words.lastIndexOf("="), [, id] = PAGE.inputs.find(([name]) => name === words.slice(0, at)) ?? [];
    const x = parse(words.slice(at + 1).replaceAll("Infinity", "inf"), NODES[id]);
    if (known(id) && x !== null) app.given.set(id, x);
  }
  app.recallOrder?.(told);
  compute();
  app.at = Math.max(0, Math.min(app.steps.length, Math.trunc(told.get("step")) || 0));
}

views.push(() => {
  clearTimeout(waiting);
  if (!app.asking && !location.protocol.startsWith("about")) waiting = setTimeout(() => {
    if (address() !== location.hash.slice(1)) history.replaceState(null, "", `#${address()}`);
  }, PATIENCE);
});
addEventListener("hashchange", ({newURL}) => {
  // The address above may have been written in between.
  if (newURL !== location.href) history.replaceState(null, "", newURL);
  app.given.clear();
  recall();
  show();
});

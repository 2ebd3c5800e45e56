// The same as tables and as a list of steps: for a screen reader, for paper, for an overview.

const nodeRows = NODES.map(({id, label, kind}) =>
  row([make("bdi", null, label), "", ""], {"data-node": id, class: kind}));
// A long table scrolls in a frame of its own, which the keyboard can reach.
const framed = (id, ...inside) => $(id).append(make("div", {class: "long", tabindex: "0", role: "group", "aria-label": $(id).firstChild.textContent}, ...inside));
framed("nodes", table("Each node's data and grad, as far as the sweeps have got" + (PAGE.vague ? ". ~ " + FEWER : ""), ["node", "data", "grad"], nodeRows));
const edgeRows = EDGES.map((edge, at) =>
  row([`${called(edge.operand)} → ${called(edge.user)}${which[at]}`, formula(edge), "", ""], {"data-edge": keyOf(edge)}));
framed("edges", table("Each edge's local derivative and contribution", ["edge", "rule", "local derivative", "contribution"], edgeRows));
const story = make("ol");
framed("steps", story);
story.onclick = event => {
  const at = [...story.children].indexOf(event.target.closest("li"));
  if (at >= 0 && !app.asking) go(at + 1);
};
const listed = x => known(x) ? inTable(x, PAGE.digits) : "";
const nodeChanges = changes(), edgeChanges = changes();
let told = null, wasAt = 0;

function write(cell, words) {
  if (cell.textContent !== words) cell.textContent = words;
}

lists.push(() => {
  const {data, grads, locals} = app.now, last = new Map(app.done.filter(({edge}) => known(edge)).map(step => [step.edge, step.value]));
  nodeRows.forEach((made, id) => {
    if (!nodeChanges(id, data[id], grads[id], app.given.size)) return;
    const [, one, other] = made.children;
    write(one, listed(data[id]) + tilde(id, "data"));
    write(other, known(grads[id]) ? listed(grads[id]) + tilde(id, "grad") : NODES[id].active ? "" : "–");
    set(made, {"data-data": known(data[id]) && String(data[id]), "data-grad": known(grads[id]) && String(grads[id])});
  });
  edgeRows.forEach((made, at) => {
    if (!edgeChanges(at, locals[at], last.get(at))) return;
    write(made.children[2], shown(locals[at]));
    write(made.children[3], listed(last.get(at)));
  });
  if (told !== app.steps) {
    told = app.steps;
    story.replaceChildren(...told.map(({text}) => make("li", {class: "later", hidden: app.hides}, text)));
    wasAt = 0;
  }
  const from = Math.max(0, Math.min(wasAt, app.at) - 1), to = Math.max(wasAt, app.at), items = story.children;
  for (let at = from; at < to; at++) set(items[at], {"aria-current": at === app.at - 1 && "step", class: at >= app.at && "later", hidden: app.hides && at >= app.at});
  wasAt = app.at;
});

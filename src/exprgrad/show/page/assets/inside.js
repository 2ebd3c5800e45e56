// What is inside a call, beside it: the picture of its function, with the call's numbers.

const drawings = new Map;
// The picture of a function, drawn once for all its calls, and the texts in it by node and edge.
function drawingOf(name, inner) {
  if (!drawings.has(name)) {
    const drawn = insides.get(name).cloneNode(true), part = (id, which) => drawn.querySelector(`#${id} ${which}`);
    const nodes = inner.nodes.map(({}, at) => ["data", "grad"].map(kind => part(`n${at}`, `.${kind}`)));
    const edges = inner.edges.map(edge => {
      const text = part(`c${keyOf(edge)}`, "text"), [rule, number] = text.textContent.split(/ = (?!.* = )/);
      return {text, rule: known(number) && rule};
    });
    const head = part(`n${inner.output}`, ".mid:not(.word)");
    for (const part of drawn.querySelectorAll("defs, .knob")) part.remove();
    for (const part of drawn.querySelectorAll("[id]")) part.removeAttribute("id");
    set(drawn, {role: "img", class: "inside"});
    drawings.set(name, {box: make("div", {class: "within", tabindex: 0, role: "group"}, drawn), drawn, nodes, edges, head});
  }
  return drawings.get(name);
}

function insideOf(id, name) {
  const {row, operands, label} = NODES[id], inner = CALLS.programs[CALLS.calls[row]], {box, drawn, nodes, edges, head} = drawingOf(name, inner);
  const all = forward(inner, {get: at => app.data[operands[at]]}), locals = localDerivatives(inner, all);
  const isKnown = isLearning() || known(app.now.data[id]), isBack = isLearning() || known(app.now.grads[id]), grads = isBack ? adjoints(inner, locals, app.right.grads[id]) : [];
  nodes.forEach(([data, grad], at) => {
    if (!data) return;
    const room = left(data) - lengthOf(data.previousElementSibling, "x") - WORD;
    fill(data, isKnown ? num(all[at]) : "", room);
    fill(grad, isBack ? num(grads[at] ?? 0) : "", room);
  });
  edges.forEach(({text, rule}, at) => { if (rule) text.textContent = isKnown ? `${rule} = ${brief(locals[at])}` : rule; });
  head.textContent = called(id);
  for (const part of [box, drawn]) set(part, {"aria-label": `Inside ${label}`});
  return box;
}

views.push(() => {
  const {node} = app.picked ?? {}, {row, call = ""} = NODES[node] ?? {}, [name] = call.split("(");
  if (row in CALLS.calls && insides.has(name)) $("close").firstChild.after(insideOf(node, name));
});

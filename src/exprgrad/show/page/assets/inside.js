// What is inside a call, beside it: the picture of its function, with the call's numbers.

function insideOf(id) {
  const {row, operands, label, call} = NODES[id], inner = CALLS.programs[CALLS.calls[row]], drawn = insides.get(call.split("(")[0])?.cloneNode(true);
  if (!drawn) return [];
  const all = forward(inner, {get: at => app.data[operands[at]]}), slopes = localDerivatives(inner, all);
  const isKnown = known(app.now.data[id]), isBack = known(app.now.grads[id]);
  const grads = isBack ? adjoints(inner, slopes, app.right.grads[id]) : [];
  const at = name => drawn.querySelector(`#${name}`), write = (text, words) => { if (text) text.textContent = words; };
  inner.nodes.forEach((node, place) => {
    write(at(`n${place} .data`), isKnown ? num(all[place]) : "");
    write(at(`n${place} .grad`), isBack ? num(grads[place]) : "");
  });
  inner.edges.forEach((edge, place) => {
    const text = at(`c${keyOf(edge)} text`), words = text.textContent, end = words.lastIndexOf(" = ");
    if (end >= 0) text.textContent = words.slice(0, end) + (isKnown ? ` = ${brief(slopes[place])}` : "");
  });
  write(at(`n${inner.output} .mid:not(.word)`), called(id));
  for (const part of drawn.querySelectorAll("defs, .knob")) part.remove();
  for (const part of drawn.querySelectorAll("[id]")) part.removeAttribute("id");
  set(drawn, {role: "img", "aria-label": `Inside ${label}`, class: "inside"});
  return [make("div", {class: "within", tabindex: 0, role: "group", "aria-label": `Inside ${label}`}, drawn)];
}

views.push(() => {
  const {node} = app.picked ?? {};
  if (NODES[node]?.row in CALLS.calls) $("close").append(...insideOf(node));
});

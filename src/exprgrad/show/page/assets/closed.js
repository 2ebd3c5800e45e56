// What a closed call does is what the sweeps find on a page of its own, whose inputs are its operands.

for (const [key, at] of Object.entries(CALLS.calls)) {
  const inner = CALLS.programs[at];
  const data = operands => forward(inner, {get: id => operands[id]});
  OPS[key] = {
    value: (...operands) => data(operands)[inner.output],
    partials: (...seen) => {
      const operands = seen.slice(0, -1), grads = adjoints(inner, localDerivatives(inner, data(operands)));
      return operands.map((operand, id) => inner.wrt.includes(id) ? (grads[id] ?? 0) + 0 : 0);
    },
    // The kinks and jumps that are met in it.
    special: (...seen) => {
      const all = data(seen.slice(0, inner.count)), moves = id => Number(id < inner.count || Boolean(inner.nodes[id].row));
      return inner.nodes.flatMap(({id, row, operands}) =>
        OPS[row]?.special?.(...operands.map(at => all[at]), all[id], ...operands.map(moves)) ?? []);
    },
  };
}

// What is inside a call, where it opens beside the graph, by the name of its function.
const insides = new Map([...document.querySelector("#insides")?.content.children ?? []].map(drawn => [drawn.dataset.name, drawn]));

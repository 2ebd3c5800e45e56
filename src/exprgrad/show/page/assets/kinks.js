// The kinks and jumps that the sweep meets, in words; for pages with rows that have any.

function kinks(page, data, locals) {
  const {nodes, inputs, wrt, output} = page, used = new Set([output]), moved = new Set;
  page.edges.forEach(({user, operand, branch}, edge) => {
    if (used.has(user) && !(branch && locals[edge] === 0)) used.add(operand);
  });
  const mayMove = id => Number(nodes[id].kind !== "const" && !nodes[id].still);
  const met = nodes.filter(({id, row}) => used.has(id) && OPS[row]?.special).flatMap(({id, row, operands, short}) =>
    OPS[row].special(...operands.map(at => data[at]), data[id], ...operands.map(mayMove))
      .filter(Boolean).map(words => ({operands, text: `${short} ${words}`})));
  // They are none where no operand moves, as in relu(0*x): not with any input, nor with all together.
  for (const ids of met.length ? [...wrt.map(id => [id]), wrt] : [])
    for (const way of [1, -1]) {
      const given = new Map(inputs.map(([, at]) => [at, data[at]]));
      for (const id of ids) given.set(id, data[id] + way * (Math.abs(data[id]) || 1) / 1024);
      forward(page, given).forEach((x, at) => x === data[at] || moved.add(at));
    }
  return met.filter(({operands}) => operands.some(at => moved.has(at))).map(({text}) => text);
}

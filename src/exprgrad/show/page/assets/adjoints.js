// Every node's grad, in the right order of visits, in which the edges are: all that training and calls ask for.
function adjoints({edges, output}, locals, seed = 1) {
  const grads = [];
  grads[output] = seed;
  edges.forEach(({user, operand, gated}, edge) => {
    const grad = grads[user], local = locals[edge];
    if (grad !== undefined && !(gated && local === 0)) grads[operand] = (grads[operand] ?? 0) + grad * local;
  });
  return grads;
}

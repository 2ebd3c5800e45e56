// The orders of visits that people write instead of the right one; they visit inner nodes alone.

const NAIVE_MOST = 2000;
Object.assign(ORDERS, {
  preorder: page => walk(page, true),
  bfs(page) {
    const order = inner(page, [page.output]), seen = new Set(order);
    for (const node of order)
      for (const operand of inner(page, page.nodes[node].operands))
        if (!seen.has(operand)) order.push(operand), seen.add(operand);
    return order;
  },
  // Null where the visits, one for each way to a node, are too many.
  naive: page => walk(page, false),
});

function inner(page, ids) {
  return ids.filter(id => page.nodes[id].active && page.nodes[id].row);
}

// Depth first from the output, each node once or for each way to it.
function walk(page, once) {
  const order = [], seen = new Set, todo = inner(page, [page.output]);
  while (todo.length) {
    const node = todo.pop();
    if (once && seen.has(node)) continue;
    if (!once && order.length === NAIVE_MOST) return null;
    seen.add(node);
    order.push(node);
    todo.push(...inner(page, page.nodes[node].operands).reverse());
  }
  return order;
}

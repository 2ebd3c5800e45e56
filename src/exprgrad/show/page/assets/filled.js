// What the program left out of the page's data, for it follows from the rest.

function filled(page) {
  page.nodes.forEach((node, id) => {
    const {kind = node.row ? "op" : "input", label = node.short, origin = id, active = Number(kind !== "const")} = node;
    Object.assign(node, {id, kind, label, origin, active});
  });
  for (const edge of page.edges) {
    const [user, position] = edge.at;
    Object.assign(edge, {user, position, operand: page.nodes[user].operands[position]});
    if (edge.math) edge.math = `<math>${edge.math}</math>`;
  }
  return page;
}

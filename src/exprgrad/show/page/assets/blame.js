// Where the numbers stop being finite: the first node to blame in the forward sweep, the first edge in the reverse.
//
// A finding is {node} or {edge}, `x`, the number that is not finite, and `text`, which says why.  Of either sweep the
// first is found, and the first nan if that came of an infinity.
function blame(page, data, locals) {
  const {nodes, edges, rows, output} = page, used = new Set([output]), idle = new Set;
  const say = x => number(x, page.digits), name = id => nodes[id].short, isBad = x => !Number.isFinite(x);
  edges.forEach(({user, position, branch}, edge) => branch && locals[edge] === 0 && idle.add(`${user}_${position}`));
  for (const {id, operands = []} of nodes.toReversed())
    if (used.has(id)) operands.forEach((operand, at) => idle.has(`${id}_${at}`) || used.add(operand));

  const written = (form, operands) => operands.map((operand, at) => form[at] + operand).join("") + form.at(-1);
  const here = ids => {
    const told = [...new Set(ids)].filter(id => nodes[id].kind !== "const").map(id => `${name(id)} = ${say(data[id])}`);
    return told.length ? `, at ${told.join(", ")}` : "";
  };

  function reason({id, row, operands}) {
    if (!row) return ", as given";
    const seen = operands.map(operand => data[operand]), isNan = Number.isNaN(data[id]), {form, domain} = rows[row], at = here(operands);
    if (seen.some(isBad)) return (isNan && form ? `: ${written(form, seen.map(say))}` : "") + at;
    if (!isNan) return OPS[row].pole?.(...seen) ? `: a pole${at}` : `: overflow${at}; the largest double is 1.8e+308`;
    const where = domain?.map(part => Number.isInteger(part) ? name(operands[part]) : part).join("");
    return `: outside the domain${at}` + (where ? `; it is defined where ${where}` : "");
  }

  function passing({edge, grad, value}) {
    const {user, operand} = edges[edge], local = locals[edge];
    if (isBad(local) && !isBad(grad ?? 0)) return `the local derivative of ${name(user)} for ${name(operand)} is ${say(local)}${here([operand])}`;
    return `${name(user)} passes ${say(grad)} × ${say(local)} = ${say(value)} to ${name(operand)}` + (isBad(grad) ? "" : ": overflow");
  }

  const firsts = (all, numberOf) => {
    const at = all.slice(0, 1);
    return at.length && !Number.isNaN(numberOf(at[0])) ? [...at, ...all.filter(one => Number.isNaN(numberOf(one))).slice(0, 1)] : at;
  };
  const forwards = firsts(nodes.filter(({id}) => used.has(id) && isBad(data[id])), ({id}) => data[id])
    .map(node => ({node: node.id, x: data[node.id], text: `${name(node.id)} is ${say(data[node.id])}${reason(node)}`}));

  const {passed} = simulate(page, locals, ORDERS.right(page));
  const numberOf = ({value, after}) => isBad(value) ? value : after;
  const backwards = firsts(passed.filter(one => isBad(numberOf(one))), numberOf)
    // The data's story ends here.
    .filter(({edge, grad}) => !isBad(grad ?? 0) ? !isBad(data[edges[edge].user]) && !isBad(data[edges[edge].operand]) : !forwards.length)
    .map(one => ({
      edge: one.edge, x: numberOf(one),
      text: isBad(one.value) ? passing(one) : `what is passed to ${name(edges[one.edge].operand)} adds up to ${say(one.after)}`,
    }));
  return [...forwards, ...backwards];
}

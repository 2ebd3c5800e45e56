// The two sweeps over the page's graph, in any order of visits.  Nothing here touches the document.
//
// `page` is the data of model.py and `OPS` the arithmetic of its rows.  A node is its id, an edge its place
// in `page.edges`; `data` is by node, `locals` by edge.

// A number as JSON has it: "nan", "inf" and "-inf" are texts.
const real = x => typeof x === "string" ? Number(x.replace("inf", "Infinity")) : x;

// Every node's data; `given` has the numbers of inputs that were edited, by node.
function forward(page, given = new Map) {
  const data = [];
  for (const {id, row, operands, data: own} of page.nodes)
    data.push(row ? OPS[row].value(...operands.map(operand => data[operand])) : given.get(id) ?? real(own));
  return data;
}

// Every edge's local derivative.
function localDerivatives(page, data) {
  const found = new Map;
  return page.edges.map(({user, position}) => {
    const {row, operands} = page.nodes[user];
    if (!found.has(user))
      found.set(user, OPS[row].partials(...operands.map(operand => data[operand]), data[user]));
    return found.get(user)[position];
  });
}

// Append to the list under a key.
function put(map, key, item) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(item);
}

// The edges that pass something on, by their users and by their operands.  What no grad reaches is no part of
// it, and what a gate shuts passes nothing, not even nothing times infinity.
function webOf(page, locals) {
  const edges = [], above = new Map, below = new Map;
  if (page.nodes[page.output].active) above.set(page.output, []);
  page.edges.forEach(({user, operand, gated}, edge) => {
    if (!above.has(user) || gated && locals[edge] === 0) return;
    edges.push(edge);
    put(above, operand, edge);
    put(below, user, edge);
  });
  return {edges, above, below};
}

// A reverse sweep in any order of visits.  A visit of an input reads its grad; what is not visited is read at
// the end.  `passed` has the contributions in order, `carried` the edges whose contribution went on.
function simulate(page, locals, visits, overwrite = false) {
  const {below} = webOf(page, locals);
  const last = new Map(visits.map((node, at) => [node, at]));
  const grads = [], holding = new Map, passed = [], carried = new Set, got = {}, reads = {};
  grads[page.output] = 1;
  const goOn = node => {
    for (const edge of holding.get(node) ?? []) carried.add(edge);
    holding.delete(node);
  };
  visits.forEach((user, visit) => {
    goOn(user);
    const grad = grads[user];
    if (page.wrt.includes(user)) {
      got[user] = plus(grad ?? 0, 0);
      reads[user] = visit;
    }
    for (const edge of below.get(user) ?? []) {
      const {operand} = page.edges[edge];
      // Where nothing has arrived, nothing goes on, not even nothing times infinity.
      const value = grad === undefined ? 0 : times(grad, locals[edge]);
      const before = grads[operand] ?? 0;
      const after = overwrite ? value : plus(before, value);
      const late = (last.get(operand) ?? visits.length) <= visit;
      let replaced = null;
      if (!late) {
        if (overwrite && holding.get(operand)?.length) replaced = holding.get(operand).pop();
        put(holding, operand, edge);
      }
      passed.push({visit, edge, grad: grad ?? null, value, before, after, late, replaced});
      grads[operand] = after;
    }
  });
  for (const id of page.wrt)
    if (!(id in got)) {
      got[id] = plus(grads[id] ?? 0, 0);
      reads[id] = null;
      goOn(id);
    }
  return {passed, got, reads, grads, carried};
}

// The orders of visits by name: here the right one.
const ORDERS = {
  right: ({nodes, edges, output}) => [...new Set([output, ...edges.map(({operand}) => operand)])]
    .filter(id => nodes[id].active).sort((one, other) => other - one),
};

// What really happens to the output when an input moves by h, beside what its grad foretells.
function nudges(page, data, grads, id, h) {
  const given = new Map(page.inputs.map(([, input]) => [input, data[input]]));
  const near = data[id] + h, moved = forward(page, given.set(id, near))[page.output] - data[page.output];
  return {moved, predicted: (grads[id] ?? 0) * (near - data[id])};
}

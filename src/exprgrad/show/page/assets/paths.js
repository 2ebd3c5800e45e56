// Which paths an order of visits counted, and which it lost.  There may be more of them than atoms in the
// sky: counts and sums come from one sweep over the edges, and only the largest paths are walked.

const ALL = 0, LOST = 1, COUNTED = 2;

// By differentiated input: what an order got and the true grad, how many paths counted, were lost and counted
// again, what their products sum to, and the largest of them.
function outcomes(page, locals, visits, result, overwrite = false, most = 5) {
  const {output, edges} = page, web = webOf(page, locals), {carried, passed} = result;
  const {got} = simulate(page, locals, ORDERS.right(page));
  // The size of a product is a logarithm: no product overflows it.  What is not finite outweighs all.
  const size = edge => Number.isFinite(locals[edge]) ? Math.log2(Math.abs(locals[edge])) : Infinity;
  const times = (one, other) => Number.isNaN(one + other) ? Infinity : one + other;
  // What is known of the paths of a kind from the output to a node: `best` is the size of the largest.
  const places = new Map, key = (node, kind) => 3 * node + kind;
  for (const kind of [ALL, COUNTED])
    places.set(key(output, kind), {node: output, kind, ways: 1n, sum: 1, best: 0});
  // The kind of what is left of a path when it goes up by an edge; none is NaN.
  const up = (edge, kind) =>
    places.get(key(edges[edge].user, carried.has(edge) ? kind : kind === COUNTED ? NaN : ALL));
  for (const edge of web.edges)
    for (const kind of [ALL, LOST, COUNTED]) {
      const from = up(edge, kind), node = edges[edge].operand;
      if (!from) continue;
      const to = places.get(key(node, kind)) ?? {node, kind, ways: 0n, sum: 0, best: -Infinity};
      to.ways += from.ways;
      to.sum += from.sum * locals[edge];
      to.best = Math.max(to.best, times(from.best, size(edge)));
      places.set(key(node, kind), to);
    }

  // At most so many paths of a kind, without the one that is `but`: an A* search up from the input, which finds
  // the largest first.  The bound is handed on along the best way, lest roundings have all ties walked.
  function list(id, kind, but = "none") {
    const start = places.get(key(id, kind)), found = [];
    const heap = start ? [{place: start, bound: start.best, below: 0}] : [];
    while (heap.length && found.length < most) {
      const from = heap.pop(), {place, bound, below} = from;
      if (place.node === output) {
        const path = [];
        for (let at = from; at.from; at = at.from) path.push(at.edge);
        if (String(path) !== but) found.push(pathOf(path));
        continue;
      }
      for (const edge of web.above.get(place.node)) {
        const next = up(edge, place.kind);
        if (!next) continue;
        const here = times(size(edge), below);
        const least = times(next.best, size(edge)) === place.best ? bound : Math.min(bound, times(next.best, here));
        // Behind all that are as large: it is taken first.
        let at = heap.length;
        while (at && heap[at - 1].bound > least) at--;
        heap.splice(at, 0, {place: next, bound: least, below: here, edge, from});
      }
    }
    // What is not finite, then by size, then as the sweep meets them.
    const weight = ({product}) => Number.isFinite(product) ? Math.abs(product) : Infinity;
    return found.sort((one, other) => {
      const at = one.edges.findIndex((edge, place) => edge !== other.edges[place]);
      return weight(other) - weight(one) || one.edges[at] - (other.edges[at] ?? -1);
    });
  }

  // A path; its product is multiplied as the sweep does it.
  function pathOf(path) {
    const factors = path.map(edge => locals[edge]), nodes = [output, ...path.map(edge => edges[edge].operand)];
    return {nodes, edges: path, factors, product: factors.reduce((one, other) => one * other, 1), times: 1n};
  }

  const count = (id, kind) => web.above.has(id) ? places.get(key(id, kind))?.ways ?? 0n : 0n;

  // Where each node is visited once, a path counts if its every contribution went on.
  function once(id) {
    return {
      counted: {count: count(id, COUNTED), sum: result.got[id]},
      lost: {count: count(id, LOST), sum: places.get(key(id, LOST))?.sum ?? 0},
      counts: list(id, COUNTED), losses: list(id, LOST).map(path => ({...path, ...firstMiss(path)})),
    };
  }

  // Where and why a path was lost first: `at` counts the nodes before, and the node `by` is to blame.
  function firstMiss(path) {
    const at = path.edges.findIndex(edge => !carried.has(edge)), edge = path.edges[at];
    const {user, operand} = edges[edge];
    if (passed.some(one => one.late && one.edge === edge)) return {at, why: "late", by: operand};
    const over = passed.find(({replaced}) => replaced === edge);
    if (over) return {at, why: "overwritten", by: edges[over.edge].user};
    return {at, why: "unvisited", by: visits.includes(user) ? operand : user};
  }

  // Naive recursion, with +=: every path counts, some of them again.
  function again(id) {
    const sofar = new Map([[output, 1n]]), every = count(id, ALL);
    for (const {edge} of passed) {
      const {user, operand} = edges[edge];
      sofar.set(operand, (sofar.get(operand) ?? 0n) + (sofar.get(user) ?? 0n));
    }
    const beyond = every && sofar.get(id) - every;
    return {
      counted: {count: every, sum: got[id]},
      again: {count: beyond, sum: beyond ? result.got[id] - got[id] : 0},
      counts: list(id, ALL).map(path => ({...path, times: howOften(path)})),
    };
  }

  // How often a path counted: the rising sequences of visits of its nodes, the input being read last.
  function howOften({nodes}) {
    let found = [[-1, 1n]];
    for (const node of nodes.slice(0, -1))
      found = visits.flatMap((visited, at) => visited === node
        ? [[at, found.reduce((sum, [before, n]) => before < at ? sum + n : sum, 0n)]] : []);
    return found.reduce((sum, [, n]) => sum + n, 0n);
  }

  // Naive recursion, with =: one path is left, the others were overwritten on their way.
  function survivor(id) {
    const to = ({edge}) => edges[edge].operand, every = count(id, ALL), kept = [];
    const held = (node, visit) => passed.findLast(one => one.visit < visit && to(one) === node);
    for (let one = held(id, Infinity); one; one = held(edges[one.edge].user, one.visit)) kept.unshift(one.edge);
    const left = every && (every === 1n || kept.length ? 1n : 0n), lost = every - left;

    // How far a path got before a contribution that carried it was overwritten, and by which node.
    function overwritten(path) {
      let at = 0, ends = passed.filter(({edge}) => edge === path.edges[0]), more;
      const further = ({edge, visit}) =>
        edge === path.edges[at + 1] && ends.includes(held(edges[edge].user, visit));
      for (; (more = passed.filter(further)).length; at++) ends = more;
      const last = passed.indexOf(ends.at(-1));
      const over = passed.find((one, place) => place > last && to(one) === to(ends[0]));
      return {...path, at, why: "overwritten", by: edges[over.edge].user};
    }

    return {
      counted: {count: left, sum: result.got[id]},
      lost: {count: lost, sum: lost ? got[id] - result.got[id] : 0},
      counts: left ? [pathOf(kept)] : [],
      losses: lost ? list(id, ALL, String(kept)).map(overwritten) : [],
    };
  }

  const find = new Set(visits).size === visits.length ? once : overwrite ? survivor : again;
  const none = {lost: {count: 0n, sum: 0}, again: {count: 0n, sum: 0}, losses: []};
  return page.wrt.map(id => ({id, got: result.got[id], true: got[id], ...none, ...find(id)}));
}

// The reason for which a path was lost, in words.
function lossText(page, {nodes, at, why, by}) {
  const [user, operand, blamed] = [nodes[at], nodes[at + 1], by].map(id => page.nodes[id].short);
  return why === "unvisited" ? `${blamed} was never visited`
    : why === "overwritten" ? `overwritten at ${operand} by ${blamed}`
    : page.nodes[by].row ? `${operand} was visited before ${user}`
    : `${operand} was read before ${user} was visited`;
}

// Both sweeps step by step: what happens, in one sentence with its numbers, and why.

// An operation in words, for a reader who works out its value.
const about = ({nodes, rows}, id) => rows[nodes[id].row]?.about ?? "";

// A local derivative in words, for a reader who works it out.
function rule({nodes, edges, rows}, edge) {
  const {user, operand, rule} = edges[edge], {label, row} = nodes[user];
  return `the local derivative of ${label} for ${nodes[operand].short} is ${rule} (${rows[row].gate})`;
}

// What a node does with its grad, and with what its users pass to it.
function pattern({nodes, edges, rows}, id, overwrite) {
  const row = rows[nodes[id].row], uses = edges.filter(({operand}) => operand === id).length;
  const parts = row ? [`${row.gate}: ${row.pattern}`] : [];
  if (uses > 1) parts.push(`used ${uses === 2 ? "twice" : uses + " times"}: what is passed to it ${overwrite ? "last overwrites the rest" : "adds up"}`);
  return parts.join(". ");
}

// The steps: the forward sweep in the order of the nodes, then the visits, contribution by contribution.
//
// `kind`  value; seed; pass, or lost where it comes too late; visit, if it passes nothing; read, of an input
// `node`  the node that acts: the user, of a pass along `edge`
// `value` the node's data, its grad, or the contribution, which makes the operand's grad `after`
function timeline(page, data, locals, visits, overwrite = false) {
  const {nodes, edges, output} = page, {above, below} = webOf(page, locals), steps = [], grads = [];
  const {passed, got, reads} = simulate(page, locals, visits, overwrite);
  const truth = simulate(page, locals, ORDERS.right(page)).got;
  const say = x => number(x, page.digits), name = id => nodes[id].short;
  const equation = parts => parts.filter((part, at) => part !== parts[at - 1]).join(" = ");
  const add = (kind, node, value, text, why, more) => {
    const phase = kind === "value" ? "forward" : "reverse";
    steps.push({phase, kind, node, edge: null, value, after: value, text, why, ...more});
  };

  for (const {id, row, operands, label} of nodes) {
    if (!row) continue;
    const {form, signs} = page.rows[row], value = say(data[id]);
    const numbers = form && operands.map((operand, at) => {
      const shown = say(data[operand]);
      return form[at] + (signs?.[at] && shown[0] === "−" ? `(${shown})` : shown);
    });
    // A call has no form.
    const parts = form ? [label, numbers.join("") + form.at(-1), value] : [label, value];
    // A literal's sign is an operation, too.
    add("value", id, data[id], label === value ? `${label} = ${label}` : equation(parts), about(page, id));
  }

  // How many contributions a node awaits; whether one was not as it should be; whether it was visited.
  const awaits = new Map([...above].map(([id, {length}]) => [id, length])), spoiled = new Set, met = new Set;
  const isComplete = id => !awaits.get(id) && !spoiled.has(id);
  grads[output] = 1;
  const last = name(output);
  if (nodes[output].kind !== "const") add("seed", output, 1, `seed: the grad of ${last} is 1`, `${last} moves exactly as far as itself`);

  function read(id) {
    const grad = got[id], who = name(id), shown = say(grad);
    const text = !above.has(id) ? `no grad reaches ${who}: its grad is 0`
      : isComplete(id) ? `${who}'s grad is complete: ${shown}`
      : Object.is(grad, truth[id]) ? `${who} is read at ${shown}, which happens to be its true grad`
      : `${who} is read at ${shown}; its true grad is ${say(truth[id])}`;
    add("read", id, grad, text, pattern(page, id, overwrite));
  }

  function pass({edge, grad, value, before, after, late, replaced}, subject) {
    const {user, operand, rule: written, loose, passed: words} = edges[edge], who = name(operand);
    const factor = say(locals[edge]), shown = say(value), from = say(before), to = say(after);
    const factors = [loose && written !== factor ? `(${written})` : written, factor];
    const worked = grad === null ? shown
      : equation([...words ? [words] : factors.map(by => `${say(grad)} × ${by}`), shown]);
    const overwrites = overwrite && grads[operand] !== undefined;
    // With =, a contribution that comes again replaces itself.
    const only = overwrite && above.get(operand).length === 1, more = only ? 0 : awaits.get(operand) - 1;
    awaits.set(operand, more);
    if (late || overwrites && !only || more < 0 || !isComplete(user)) spoiled.add(operand);
    const seen = nodes[operand].row ? "visited" : "read";
    let text = `${subject} passes ${worked} to ${who}: `;
    if (late)
      text = `lost: ${who} was ${seen} at ${from}, before ${name(user)} passes ${worked}`;
    else if (overwrites)
      text += `${shown} overwrites ${from}` + (replaced === null ? "" : ` from ${name(edges[replaced].user)}`);
    else
      text += `${from} → ${to}` + (isComplete(operand) ? ", complete" : more > 0 ? `, ${more} more to come` : "");
    add(late ? "lost" : "pass", user, value, text, rule(page, edge), {edge, after, replaced});
    grads[operand] = after;
  }

  visits.forEach((user, visit) => {
    const who = name(user), grad = grads[user];
    if (reads[user] === visit) return read(user);
    if (!nodes[user].active || !nodes[user].row) return;
    let subject = who;
    if (met.has(user) || awaits.get(user) > 0) {
      const holds = grad === undefined ? "before a grad has reached it" : `with grad ${say(grad)}`;
      subject += ` is visited ${met.has(user) ? "again" : "too early"}, ${holds}: it`;
    }
    met.add(user);
    if (!below.has(user)) {
      const text = above.has(user) ? `${who} passes nothing on` : `no grad reaches ${who}, so none goes on`;
      add("visit", user, grad, text, pattern(page, user, overwrite));
    }
    for (const one of passed)
      if (one.visit === visit) {
        pass(one, subject);
        subject = who;
      }
  });
  for (const id of page.wrt) if (reads[id] === null) read(id);
  return steps;
}

// What is known when k steps are done, and what the last of them lights up: nodes, and wires by user and
// position.
function state({nodes, edges}, data, steps, k) {
  const known = nodes.map(({row}, id) => row ? undefined : data[id]), grads = [];
  for (const {kind, node, edge, value, after} of steps.slice(0, k)) {
    if (kind === "value") known[node] = value;
    else if (kind === "pass") grads[edges[edge].operand] = after;
    else if (kind !== "lost") grads[node] = value;
  }
  const done = k === steps.length, step = steps[k - 1] ?? null, lit = [], wires = [];
  // At the end a node that no grad reached has 0, as in a table of all nodes.
  if (done) for (const {id, active} of nodes) if (active) grads[id] ??= 0;
  if (step) {
    const {node, edge, kind} = step;
    lit.push(node);
    (nodes[node].operands ?? []).forEach((operand, position) => {
      if (kind === "value" || edge !== null && edges[edge].position === position) {
        lit.push(operand);
        wires.push(`${node}_${position}`);
      }
    });
  }
  return {step, data: known, grads, nodes: lit, wires, done};
}

// A wrong grad, explained by the one step of the chain rule that makes it: as explain/checking/mistakes.py does for claims.

app.mistake = (id, words) => {
  const {data, locals, right: {grads}} = app, due = grads[id], moves = {[id]: 1};
  const ways = [...EDGES.keys()].reverse().filter(at => {
    const {user, operand} = EDGES[at], isWay = app.flows.has(at) && operand in moves && user in grads;
    if (isWay) moves[user] = (moves[user] ?? 0) + locals[at] * moves[operand];
    return isWay;
  });
  const other = (at, local) => {
    const {user, operand} = EDGES[at];
    return due + (local - locals[at]) * moves[operand] * grads[user];
  };
  function* guesses() {
    for (const at of ways) {
      const {user} = EDGES[at], path = `The path ${user === PAGE.output ? "straight to" : "through"} ${called(user)}`;
      if (number(due - other(at, 0)) === number(due)) continue;
      yield [other(at, 0), `${path} is missing: ${words} of ${num(due)}.`];
      yield [other(at, 2 * locals[at]), `${path} is counted twice.`];
    }
    for (const at of ways) {
      const {user, operand} = EDGES[at], local = `the local derivative of ${called(user)} for ${called(operand)}`;
      if (NODES[user].row === "mul") yield [other(at, data[operand]), `${capital(local)} is the other factor.`];
      yield [other(at, 1), `${capital(local)} is missing.`];
    }
    for (const user of Object.keys(moves).map(Number))
      if (user !== id && user !== PAGE.output) yield [moves[user], `That is the derivative of ${called(user)}, without its grad.`];
    yield [0, "The seed of 1 is forgotten."];
    yield [data[id], `That is the data of ${called(id)}.`];
  }
  for (const [x, why] of guesses()) if (isRight(words, x)) return why;
};

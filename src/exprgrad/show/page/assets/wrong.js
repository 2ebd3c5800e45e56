// What is wrong where visits may be in a wrong order: contributions that are lost, and grads that are not the true ones.

app.gone = () => {
  const gone = new Set;
  for (const {kind, edge, replaced} of app.done) {
    if (!known(edge)) continue;
    gone.delete(edge);
    if (kind === "lost") gone.add(edge);
    if (known(replaced)) gone.add(replaced);
  }
  return gone;
};

const truths = cards.map(card => below(card, "true")), cardMarks = changes();
painters.push(() => {
  const visited = new Set(app.done.filter(({phase, kind}) => phase === "reverse" && kind !== "seed").map(({node}) => node));
  cards.forEach(({group, isAway}, id) => {
    if (isAway) return;
    const got = app.now.grads[id], due = app.right.grads[id] ?? 0, isDone = app.now.done || visited.has(id);
    if (!cardMarks(id, got, due, isDone)) return;
    const wrong = known(got) && isDone && isFinite(due) && num(got) !== num(due);
    group.classList.toggle("wrong", wrong);
    fill(truths[id], wrong ? `✗ true ${num(due)}` : "", 1e3);
  });
});

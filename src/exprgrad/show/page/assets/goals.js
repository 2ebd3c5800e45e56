// A lesson's tasks tick themselves: each of a task's goals has to hold once, all facts of a goal together.

const done = make("p", {class: "unseen", role: "status"});
$("tasks").append(done);
const byName = new Map(NODES.map(({id}) => [called(id), id]));
const picked = (node, edge) => app.picked && app.picked.node === node && app.picked.edge === edge;
const FACTS = {
  step: () => app.at === app.steps.length,
  node: name => picked(byName.get(name)),
  edge: ([operand, user]) => EDGES.some((edge, at) =>
    edge.operand === byName.get(operand) && edge.user === byName.get(user) && picked(undefined, at)),
  inputs: numbers => Object.entries(numbers).every(([name, x]) => app.data[byName.get(name)] === x),
  order: preset => app.preset === preset,
  first: ids => app.visits.indexOf(byName.get(ids[0])) < app.visits.indexOf(byName.get(ids[1])),
  sign: sign => app.overwrite === (sign === "="),
  found: kind => app.asking === kind && !unknown().length,
};
const todo = PAGE.goals.map(goals => new Set(goals)), ticks = $("tasks").querySelectorAll("input");

views.push(() => todo.forEach((goals, task) => {
  for (const goal of goals)
    if (Object.entries(goal).every(([fact, wanted]) => FACTS[fact](wanted))) {
      goals.delete(goal);
      if (goals.size) continue;
      ticks[task].checked = true;
      const seen = ticks[task].closest("li").querySelector(".seen");
      done.textContent = [`Task ${task + 1} is done.`, seen?.textContent].filter(Boolean).join(" ");
    }
}));

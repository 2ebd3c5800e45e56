// A lesson's tasks tick themselves: each of a task's goals has to hold once, all facts of a goal together.
// What has been reached stays so, whichever formula is shown.

const {done, todo, ticks} = LESSON.panel ??= {
  done: $("tasks").appendChild(make("p", {class: "unseen", role: "status"})),
  todo: LESSON.goals.map(goals => new Set(goals)),
  ticks: $("tasks").querySelectorAll("li > label input"),
};
const byName = new Map(NODES.map(({id}) => [called(id), id]));
const picked = (node, edge) => app.picked && app.picked.node === node && app.picked.edge === edge;
// A lesson names the facts: a key in quotes stays as it is.
const FACTS = {
  step: () => app.at === app.steps.length,
  "node": name => picked(byName.get(name)),
  "edge": ([operand, user]) => EDGES.some((edge, at) =>
    edge.operand === byName.get(operand) && edge.user === byName.get(user) && picked(undefined, at)),
  inputs: numbers => Object.entries(numbers).every(([name, x]) => app.data[byName.get(name)] === x),
  order: preset => app.preset === preset,
  first: names => {
    const [one, other] = names.map(name => app.visits.indexOf(byName.get(name)));
    return one >= 0 && one < other;
  },
  sign: sign => app.overwrite === (sign === "="),
  "found": kind => app.asking === kind && !unknown().length,
  formula: place => PAGE.formula === place,
  set: name => LESSON.set?.[0] === name,
  live: state => app.live === state,
};

const tick = task => {
  ticks[task].checked = true;
  todo[task].clear();
};
$("tasks").onchange = () => app.keep();

views.push(() => todo.forEach((goals, task) => {
  const part = ticks[task].closest("details");
  for (const goal of goals)
    if ((!goal.live || part?.open) && Object.entries(goal).every(([fact, wanted]) => FACTS[fact](wanted))) {
      goals.delete(goal);
      if (goals.size) continue;
      tick(task);
      app.keep();
      const seen = ticks[task].closest("li").querySelector(".seen");
      done.textContent = [`Task ${task + 1} is done.`, seen?.textContent].filter(Boolean).join(" ");
    }
}));

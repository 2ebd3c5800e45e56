// A lesson in a course: what is answered and ticked is noted, and what was noted before is ticked again.

const here = $("course").getAttribute("data-lesson"), warned = $("course").appendChild(make("b", {role: "status"}));
recallProgress(here);
ticks.forEach((_, task) => taskRecord(here, task).done && tick(task));
app.keep = () => {
  ticks.forEach(({checked}, task) => { if (checked !== Boolean(taskRecord(here, task).done)) editTask(here, task).done = checked; });
  warned.textContent = keepProgress([here]) ? "" : "This browser keeps no progress: go on by these links, and save it under All lessons.";
};
app.note = (task, words) => {
  const record = editTask(here, task);
  if (!known(words)) record.shown = true;
  else if (!record.done && record.answers.length < MOST_ANSWERS) record.answers.push(words);
  app.keep();
};
// What Ask me tells.
for (const help of [...tools.children].slice(0, -1))
  help.addEventListener("click", () => {
    (journal.lessons[here] ??= lessonRecord(here)).hints++;
    app.keep();
  });
app.keep();

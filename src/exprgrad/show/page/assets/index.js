// The index of a course: how far each lesson is, which comes next, and files that have it all.

const $ = id => document.getElementById(id), CSV_HEADS = ["learner", "lesson", "task", "question", "done", "tries", "answers", "given up", "hints"];
const items = [...document.querySelectorAll("#lessons > li")];

const tasksDone = name => lessonRecord(name).tasks.filter(task => task?.done).length;
const wordsFor = (done, all) => `${done === all ? "✓ " : ""}${done} of ${all} tasks`;

function showProgress() {
  const isKept = keepProgress(COURSE.map(({name}) => name));
  COURSE.forEach(({name, tasks}, at) => { items[at].querySelector("output").textContent = wordsFor(tasksDone(name), tasks.length); });
  const open = COURSE.findIndex(({name, tasks}) => tasksDone(name) < tasks.length);
  const count = which => COURSE.reduce((sum, lesson) => sum + which(lesson), 0), all = count(({tasks}) => tasks.length);
  $("total").textContent = wordsFor(count(({name}) => tasksDone(name)), all) + " done.";
  $("on").hidden = open < 0;
  if (open >= 0) {
    $("on").firstChild.textContent = `${open ? "Go on" : "Begin"} with ${COURSE[open].title}`;
    $("on").firstChild.href = items[open].querySelector("a").getAttribute("href");
  }
  $("kept").textContent = isKept ? "This browser keeps your progress for the next visit." : "This browser keeps no progress here: save it as a file before you close this page, and load it when you come back.";
  $("learner").value = journal.learner;
}

// A spreadsheet takes what begins with = or @ for a formula.
const cell = words => `"${String(words).replace(/^[=+@\t\r-](?![\d.]*$)/, "'$&").replaceAll('"', '""')}"`;
function progressRows() {
  return COURSE.flatMap(({name, title, tasks}) => tasks.map((question, at) => {
    const {done, shown, answers} = taskRecord(name, at);
    return [journal.learner, title, at + 1, question, done ? "yes" : "no", answers.length, answers.join("; "), shown ? "yes" : "no", at ? "" : lessonRecord(name).hints];
  }));
}
function download(text, kind, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: kind}));
  link.download = ["progress", journal.learner.replace(/[^\p{L}\p{N}]+/gu, "-")].filter(Boolean).join("-") + ending;
  link.click();
  URL.revokeObjectURL(link.href);
}

$("csv").onclick = () => download("\ufeff" + [CSV_HEADS, ...progressRows()].map(cells => cells.map(cell).join(",")).join("\r\n") + "\r\n", "text/csv", ".csv");
$("json").onclick = () => download(JSON.stringify(journal), "application/json", ".json");
$("file").onchange = async () => {
  const [file] = $("file").files;
  if (!file) return;
  $("told").textContent = mergeProgress(await file.text()) ? `${file.name} is added to your progress.` : `${file.name} has no progress: load the .json file that was saved here.`;
  $("file").value = "";
  showProgress();
};
$("learner").onchange = () => {
  journal.learner = $("learner").value.trim();
  showProgress();
};
$("again").onclick = () => {
  Object.assign(journal, {learner: "", lessons: {}});
  showProgress();
  $("told").textContent = "All is as at the beginning.";
};

if (location.hash) history.replaceState(null, "", "#");
// A page that one comes back to shows what has been done since.
addEventListener("pageshow", () => {
  for (const {name} of COURSE) recallProgress(name);
  showProgress();
});

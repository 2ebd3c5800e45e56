// Progress through a course, by lesson: what each task was answered, whether it is done or was given up, and how many
// hints were taken.  The browser keeps it, where it allows that.  From a disk it goes along with the links, too: some
// browsers keep a store for each file.  Keys are none of those that pages write shorter.

const STORE = `exprgrad ${location.pathname.replace(/[^/]*$/, "")}`, MOST_ANSWERS = 99;
const journal = {learner: "", lessons: {}};
const lessonRecord = name => journal.lessons[name] ?? {hints: 0, tasks: []};
const taskRecord = (name, task) => lessonRecord(name).tasks[task] ?? {answers: []};
function editTask(name, task) {
  const {tasks} = journal.lessons[name] ??= lessonRecord(name);
  return tasks[task] ??= taskRecord(name, task);
}

// Add what was kept elsewhere, a text: a task that is done anywhere is done.  False for what is no progress.
function mergeProgress(kept) {
  try {
    const {learner, lessons} = JSON.parse(kept);
    for (const [name, {hints, tasks}] of Object.entries(lessons)) {
      const own = journal.lessons[name] ??= lessonRecord(name);
      own.hints = Math.max(own.hints, Number(hints) || 0);
      tasks.forEach((other, task) => {
        if (!other) return;
        const record = editTask(name, task);
        if (other.answers.length > record.answers.length) record.answers = other.answers.map(String);
        record.done ||= Boolean(other.done);
        record.shown ||= Boolean(other.shown);
      });
    }
    journal.learner ||= String(learner ?? "");
    return true;
  } catch {
    return false;
  }
}

// Each lesson has an item of its own: no window overwrites another's.
function recallProgress(name) {
  try { mergeProgress(localStorage.getItem(STORE + name)); } catch {}
}

// Keep some lessons, and have the links carry all.  False where the browser refuses.
function keepProgress(names) {
  let isKept = true;
  try {
    for (const name of names) localStorage.setItem(STORE + name, JSON.stringify({learner: journal.learner, lessons: {[name]: lessonRecord(name)}}));
  } catch { isKept = false; }
  for (const link of document.querySelectorAll("a[href]")) {
    const [place] = link.getAttribute("href").split("#"), isShared = isKept && location.protocol !== "file:";
    link.setAttribute("href", isShared ? place : `${place}#progress=${encodeURIComponent(JSON.stringify(journal))}`);
  }
  return isKept;
}
mergeProgress(new URLSearchParams(location.hash.slice(1)).get("progress"));

// What is said where the sweep's numbers rest on a convention: for pages with rows that have kinks or jumps.
// The program's own notes are about the inputs as given; of others the page knows the kinks and jumps alone.

const corrected = new Map(PAGE.corrected), said = make("div", {role: "status"});
const edited = make("section", {"aria-label": "Notes"}, make("h2", null, "Notes"), said);
$("notes").after(edited);
let looked = null, met = [];

views.push(() => {
  if (looked === app.data) return;
  looked = app.data;
  met = kinks(PAGE, app.data, app.locals);
  edited.hidden = !app.given.size || !met.length;
  said.replaceChildren(...edited.hidden ? [] : [...met, "These are the sweep's numbers; exprgrad grad says more."].map(words => line(words)));
});

// The sweep's number is not called right where the derivative is another, or may be.
app.verdict = id => !app.given.size && corrected.has(id) ? `the sweep's; the derivative is ${num(real(corrected.get(id)))}`
  : met.length ? "✓ the sweep's" : null;

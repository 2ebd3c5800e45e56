// What is said where the sweep's numbers rest on a convention: for pages with rows that have kinks, jumps or an edge.
// The program's own notes are about the inputs as given; of others the page asks what lies on either side.

const corrected = new Map(PAGE.corrected), ASKED_OF = 12;
let looked = null, met = [], besides = new Map;

function askSides() {
  if (looked === app.data) return;
  looked = app.data;
  met = kinks(PAGE, app.data, app.locals);
  const {got} = app.right, value = app.data[PAGE.output];
  const asked = PAGE.wrt.filter(id => isFinite(value) && isFinite(app.data[id]) && (met.length || !isFinite(got[id]))).slice(0, ASKED_OF);
  besides = new Map(asked.map(id => [id, sidesText(PAGE, app.data, id, got[id])]));
}

remarks.push(() => {
  askSides();
  const told = [...met, ...[...besides.values()].map(({text}) => text).filter(Boolean)];
  return told.length ? [...told.map(words => `${words}.`), "These are the sweep's numbers; exprgrad grad says more."] : [];
});

// The sweep's number is not called right where the derivative is another, or may be.
app.sideVerdict = id => {
  askSides();
  if (!app.given.size && corrected.has(id)) return `⚠ the sweep's; the derivative is ${num(real(corrected.get(id)))}`;
  return besides.get(id)?.verdict ?? (met.length && !besides.has(id) ? "✓ the sweep's" : null);
};

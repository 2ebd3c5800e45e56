// A page whose calls open and close is a page for each choice of them, a sheet, and so is one of several
// formulas: all views are built anew, except a lesson's panel.

for (const page of [...CALLS.sheets, ...CALLS.programs]) filled(page).rows = {...CALLS.rows, ...page.rows};
const blank = document.querySelector("main").cloneNode(true);
const pictures = [...blank.querySelectorAll("#graph, template:not(#insides)")].flatMap(part => part.content ? [...part.content.children] : [part.cloneNode(true)]);
for (const waiting of blank.querySelectorAll("template")) waiting.remove();
// The words on its cards stand in the first picture alone.
for (const picture of pictures.slice(1)) picture.prepend(pictures[0].querySelector("defs").cloneNode(true));
// The sheet that the address asks for.
const asked = () => Math.min(CALLS.sheets.length - 1, Number(new URLSearchParams(location.hash.slice(1)).get("open")) || 0);
let leaving = new AbortController;

// Show a sheet; `kept` is what is taken over from the one before.
function lay(at, kept = {}) {
  leaving.abort();
  leaving = new AbortController;
  const fresh = blank.cloneNode(true);
  fresh.querySelector("#graph").replaceWith(pictures[at].cloneNode(true));
  const lesson = document.querySelector("#tasks");
  if (lesson) fresh.querySelector("#tasks").replaceWith(lesson);
  document.querySelector("main").replaceWith(fresh);
  build(CALLS.sheets[at], kept, leaving.signal);
}

function build(PAGE, kept, signal) {
const addEventListener = (type, listener, capture) => window.addEventListener(type, listener, {signal, capture});

// A page whose calls open and close is a page for each choice of them, a sheet, and so is one of several
// formulas: all views are built anew, but for a lesson's panel.
//
// What a call does is what the sweeps find on a page of its own, whose inputs are its operands.

for (const page of [...CALLS.sheets, ...CALLS.programs]) filled(page);
for (const [key, at] of Object.entries(CALLS.calls)) {
  const inner = CALLS.programs[at];
  const data = operands => forward(inner, new Map(operands.entries()));
  OPS[key] = {
    value: (...operands) => data(operands)[inner.output],
    partials: (...seen) => {
      const operands = seen.slice(0, -1);
      const {got} = simulate(inner, localDerivatives(inner, data(operands)), ORDERS.right(inner));
      return operands.map((operand, id) => got[id] ?? 0);
    },
    // The kinks and jumps that are met in it.
    special: (...seen) => {
      const all = data(seen.slice(0, inner.count)), moves = id => Number(id < inner.count || Boolean(inner.nodes[id].row));
      return inner.nodes.flatMap(({id, row, operands}) =>
        OPS[row]?.special?.(...operands.map(at => all[at]), all[id], ...operands.map(moves)) ?? []);
    },
  };
}

const blank = document.querySelector("main").cloneNode(true);
const pictures = [...blank.querySelectorAll("#graph, template")].flatMap(part => part.content ? [...part.content.children] : [part.cloneNode(true)]);
blank.querySelector("template")?.remove();
if (Object.keys(CALLS.calls).length) document.querySelector("#keys dl").insertAdjacentHTML("beforeend", "<dt>o</dt><dd>open a call, close it</dd>");
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

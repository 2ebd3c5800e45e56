// Formula, graph and code: what one points at in one of them is lit in all three, and so is what the step is about.

let pointedAt = [];
function point(ids) {
  pointedAt = ids;
  light();
}

// What shows a node lights it, and leads to it: by the mouse, by a tap.
const leading = (made, ids) => set(made, {
  onpointerenter: () => point(ids),
  onpointerleave: () => point([]),
  onclick: () => pick({node: ids[0]}),
});

// One of the parts is a tab stop; arrows lead from part to part, and Enter looks closer.
function walkable(parts) {
  parts.forEach(({made, ids}, at) => set(made, {
    tabindex: at ? -1 : 0,
    onfocus: () => {
      for (const other of parts) other.made.tabIndex = other.made === made ? 0 : -1;
      point(ids);
      $("told").textContent = [...cards[ids[0]].group.children].map(part => part.ariaLabel).filter(Boolean).join(" ");
    },
    onblur: () => point([]),
    onkeydown: event => {
      const next = parts[at + ({ArrowDown: 1, ArrowUp: -1}[event.key] ?? NaN)];
      if (event.key === "Enter") pick({node: ids[0]});
      else if (next) next.made.focus();
      else return;
      event.preventDefault();
    },
  }));
}

// The formula in pieces, each of the nodes whose text is the shortest around it.
const typed = document.querySelectorAll(".whole")[PAGE.formula ?? 0], pieces = [], spanned = new Map;
PAGE.spans.forEach((ends, id) => ends.forEach((low, at) => at % 2 || put(spanned, `${low} ${ends[at + 1]}`, id)));
const passages = [...spanned].map(([key, ids]) => {
  const [low, high] = key.split(" ").map(Number);
  return {low, high, ids};
}).sort((one, other) => one.high - one.low - other.high + other.low);
const cuts = [...new Set(PAGE.spans.flat())].sort((one, other) => one - other);
const walker = document.createTreeWalker(typed, NodeFilter.SHOW_TEXT), runs = [];
while (walker.nextNode()) runs.push(walker.currentNode);
let offset = 0;
for (const run of runs) {
  const first = offset, letters = [...run.data], last = first + letters.length;
  run.replaceWith(...[...cuts.filter(cut => cut > first && cut < last), last].map(end => {
    const start = offset, made = make("span", null, letters.slice(start - first, end - first).join(""));
    const passage = passages.find(({low, high}) => low <= start && end <= high);
    if (passage) leading(made, passage.ids);
    pieces.push({made, start, end, passage, ids: passage?.ids});
    offset = end;
    return made;
  }));
}
// The piece of a node is the one with its sign or its name.
const stops = passages.map(passage => pieces.find(piece => piece.passage === passage && /[^\s()[\],;]/.test(piece.made.textContent)));
walkable(pieces.filter(piece => stops.includes(piece)));
const found = new Map;
function piecesOf(id) {
  if (!found.has(id)) found.set(id, pieces.filter(({start, end}) => PAGE.spans[id].some((low, at) => at % 2 === 0 && low <= start && end <= PAGE.spans[id][at + 1])));
  return found.get(id);
}

// Lines of code by their nodes, where there is any.
let rows = [];

// What is lit: `now` what the step is about, or what is looked at or asked for; `lit` what it passes to, and what is pointed at.
const marked = {now: [], lit: []};
function mark(word, ids, more = []) {
  if (!marked[word].length && !ids.length) return;
  for (const made of marked[word]) made.classList.remove(word);
  marked[word] = [...ids.flatMap(id => [...piecesOf(id), ...rows.filter(row => row.ids[0] === id)].map(({made}) => made)), ...more];
  for (const made of marked[word]) made.classList.add(word);
}
function shine() {
  const asked = app.asking && latest, spot = asked || app.picked || app.now.step, edge = EDGES[spot?.edge];
  mark("now", spot ? [spot.node ?? spot.id ?? edge.user] : []);
  mark("lit", [...pointedAt, ...edge ? [edge.operand] : []], pointedAt.map(id => cards[id].group));
}
// While a step is shown the line is uncovered last, for that has the page laid out.
views.push(shine);
function light() {
  shine();
  app.uncover?.();
}
frame.addEventListener("pointerover", event => {
  const {node, edge} = spots.get(spotOf(event)) ?? {};
  point(known(edge) ? [EDGES[edge].user, EDGES[edge].operand] : known(node) ? [node] : []);
});
frame.addEventListener("pointerleave", () => point([]));

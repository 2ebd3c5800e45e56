// A large graph is drawn where it is in sight and around it, for the browser walks over all that is drawn at each step.

const AROUND = 300, painters = views.slice(0, 2);
// An edge lies where its chip and its two cards are.
const extents = [...cards.map(card => [card, [card.group], [card]]), ...chips.map((chip, at) => [chip, [chip.group, chip.wire], [chip, cards[EDGES[at].user], cards[EDGES[at].operand]]])]
  .map(([own, parts, near]) => {
    const boxes = near.map(({group}) => boxOf(group)), ends = (low, size) => [Math.min(...boxes.map(box => box[low])) - AROUND, Math.max(...boxes.map(box => box[low] + box[size])) + AROUND];
    return {own, parts, texts: parts.flatMap(part => [...part.querySelectorAll("text")]), across: ends("x", "width"), along: ends("y", "height")};
  });
function setAway(extent, isAway) {
  extent.own.isAway = isAway;
  for (const part of extent.parts) part.classList.toggle("away", isAway);
  if (!isAway) for (const text of extent.texts) if (rooms.has(text)) written.add(text);
}
for (const extent of extents) setAway(extent, true);

let isOnPaper = false;
// Draw what is near now, and nothing else but on paper; what a shut layer or neuron covers is not drawn either.
function cull() {
  const by = scale(), own = graph.getBoundingClientRect(), {left, top, right, bottom} = frame.getBoundingClientRect();
  if (!by || !app.now) return;
  const covered = app.asking ? [] : [...graph.querySelectorAll(".cover.shut")].map(boxOf), lit = new Set(litParts());
  const isNear = ([low, high], from, to, start) => low <= (to - start) / by && high >= (from - start) / by;
  const isCovered = ({across, along}) => covered.some(({x, y, width, height}) => across[0] + AROUND >= x && across[1] - AROUND <= x + width && along[0] + AROUND >= y && along[1] - AROUND <= y + height);
  const coming = extents.filter(extent => {
    const isDrawn = lit.has(extent.own) || app.asking || isOnPaper || isNear(extent.across, left, right, own.left) && isNear(extent.along, top, bottom, own.top) && !isCovered(extent);
    if (isDrawn === !extent.own.isAway) return false;
    setAway(extent, !isDrawn);
    return isDrawn;
  });
  if (!coming.length) return;
  for (const paint of painters) paint();
  fit(written);
}
app.cull = cull;
// Its lists follow once the steps pause: the browser lays out a table as a whole.
const PAUSE = 300;
let pausing = 0;
app.later = () => {
  clearTimeout(pausing);
  if (isOnPaper) return writeLists();
  pausing = setTimeout(writeLists, PAUSE);
};
// What the step is about is drawn before it is looked at, and is followed.
views.unshift(() => {
  const lit = new Set(litParts());
  for (const extent of extents) if (extent.own.isAway && lit.has(extent.own)) setAway(extent, false);
});
frame.addEventListener("scroll", cull);
const watcher = new ResizeObserver(cull);
watcher.observe(frame);
watcher.observe(graph);
addEventListener("beforeprint", () => {
  isOnPaper = true;
  show();
});
addEventListener("afterprint", () => { isOnPaper = false; });

// A large graph is drawn where it is in sight and around it, for the browser walks over all that is drawn at each step.

const AROUND = 300;
// An edge lies where its chip and its two cards are.
const extents = [...cards.map(card => [card, [card.group], [card]]), ...chips.map((chip, at) => [chip, [chip.group, chip.wire], [chip, cards[EDGES[at].user], cards[EDGES[at].operand]]])]
  .map(([own, parts, near]) => {
    const boxes = near.map(({group}) => boxOf(group)), ends = (low, size) => [Math.min(...boxes.map(box => box[low])) - AROUND, Math.max(...boxes.map(box => box[low] + box[size])) + AROUND];
    return {own, parts, texts: parts.flatMap(part => [...part.querySelectorAll("text")]), across: ends("x", "width"), along: ends("y", "height")};
  });
function setAway(extent, isAway) {
  extent.own.isAway = isAway;
  for (const part of extent.parts) part.classList.toggle("away", isAway);
  if (!isAway) for (const text of extent.texts) if (rooms.has(text) && !text.hasAttribute("textLength")) written.add(text);
}
for (const extent of extents) setAway(extent, true);

// How wide a text is follows from its signs, which are measured once, all together: measuring lays the graph out.
const SIGNS = String.fromCharCode(...Array.from({length: 95}, (_, at) => 32 + at)) + "−×·²", PLAIN = /^[ -~−×·²]*$/;
const signWidths = new Map, BOLDER = .25;
// Of what was written so far, what is surely as wide as its room, or not, need not be measured.
function guess() {
  const plain = [...written].filter(({textContent}) => PLAIN.test(textContent));
  if (isSeen && !signWidths.size) {
    const probe = draw(graph, "text", {}), signs = `0${SIGNS}0`;
    probe.textContent = signs;
    [...signs].forEach((sign, at) => signWidths.set(sign, probe.getSubStringLength(at, 1)));
    probe.remove();
  }
  for (const text of isSeen ? plain : []) {
    const breadthOf = ({textContent}) => [...textContent].reduce((sum, sign) => sum + signWidths.get(sign), 0), bold = [...text.children];
    const isWide = bold.reduce((sum, part) => sum + BOLDER * breadthOf(part), breadthOf(text)) > rooms.get(text);
    // What is bold is wider by less than so: it is measured, where it could be too wide.
    if (isWide && bold.length) continue;
    written.delete(text);
    if (isWide) squeezeText(text);
  }
}
views.push(guess);

const graphCovers = [...graph.querySelectorAll(".cover")];
let isOnPaper = false, culledAt = "";
app.scrolled = () => {
  const {scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight} = frame;
  return {at: [scrollLeft, scrollTop], most: [scrollWidth - clientWidth, scrollHeight - clientHeight], size: [clientWidth, clientHeight]};
};
// Draw what is near now, and nothing else but on paper; what a shut layer or neuron covers is not drawn either.  Where it
// is to be scrolled, it is drawn as it is then; if that takes its time, what is passed is drawn as it comes.
function cull([seen, own, , {at, most, size}] = frameNow(), way = [0, 0]) {
  const by = own.width / graph.viewBox.baseVal.width;
  if (!by || !app.now) return;
  const [across, down] = way.map((far, axis) => still.matches ? Math.round(Math.max(-at[axis], Math.min(most[axis] - at[axis], far))) : 0);
  const [left, right] = [seen.left + across, seen.right + across], [top, bottom] = [seen.top + down, seen.bottom + down];
  culledAt = `${at[0] + across} ${at[1] + down}`;
  const covered = app.asking ? [] : graphCovers.filter(group => group.classList.contains("shut")).map(boxOf), lit = new Set(litParts());
  const isNear = ([low, high], from, to, start) => low <= (to - start) / by && high >= (from - start) / by;
  const isCovered = ({across, along}) => covered.some(({x, y, width, height}) => across[0] + AROUND >= x && across[1] - AROUND <= x + width && along[0] + AROUND >= y && along[1] - AROUND <= y + height);
  const coming = extents.filter(extent => {
    const isDrawn = lit.has(extent.own) || app.asking || isOnPaper || isNear(extent.across, left, right, own.left) && isNear(extent.along, top, bottom, own.top) && !isCovered(extent);
    if (isDrawn === !extent.own.isAway) return false;
    setAway(extent, !isDrawn);
    return isDrawn;
  });
  drawSight({x: (left - own.left) / by, y: (top - own.top) / by, width: size[0] / by, height: size[1] / by});
  if (!coming.length) return;
  for (const paint of painters) paint();
  guess();
}
app.cull = cull;
// Scrolling draws more; where a step has scrolled, that is done.
const scrolledTo = () => `${frame.scrollLeft} ${frame.scrollTop}`;
function cullAndFit() {
  cull();
  fit(written);
}
// Its lists follow once the steps pause: the browser lays out a table as a whole.
const PAUSE = 300;
let pausing = 0;
app.later = () => {
  clearTimeout(pausing);
  if (isOnPaper) return writeLists();
  pausing = setTimeout(writeLists, PAUSE);
};
// What the step is about is drawn before it is looked at, and is followed.
painters.unshift(() => {
  const lit = new Set(litParts());
  for (const extent of extents) if (extent.own.isAway && lit.has(extent.own)) setAway(extent, false);
});
frame.addEventListener("scroll", () => scrolledTo() === culledAt || cullAndFit());
const watcher = new ResizeObserver(cullAndFit);
watcher.observe(frame);
watcher.observe(graph);
addEventListener("beforeprint", () => {
  isOnPaper = true;
  show();
});
addEventListener("afterprint", () => { isOnPaper = false; });

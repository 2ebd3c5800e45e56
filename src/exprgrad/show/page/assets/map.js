// Where am I: a small map of a graph that is larger than its frame, with what is in sight and what the step is about.

const map = make("div", {id: "map"}), {width: W, height: H} = graph.viewBox.baseVal;
const PER = Math.max(W / 160, H / 76);
const chart = draw(map, "svg", {viewBox: `0 0 ${W} ${H}`, width: W / PER, height: H / PER, "aria-hidden": "true"});
chart.style.setProperty("--u", PER);
const outlines = ids => ids.map(id => {
  const {x, y, width, height} = boxOf(cards[id].group);
  return `M${x},${y}h${width}v${height}h${-width}z`;
}).join("");
draw(chart, "path", {d: outlines(NODES.map(({id}) => id))});
const litOnMap = draw(chart, "path", {class: "lit"}), sight = draw(chart, "rect", {});
map.prepend(button("◎", () => follow(true), "To the step's node"));
$("side").append(map);

function placeOfSight() {
  const by = scale(), {left, top} = graph.getBoundingClientRect(), own = frame.getBoundingClientRect();
  return by && {x: (own.left - left) / by, y: (own.top - top) / by, width: frame.clientWidth / by, height: frame.clientHeight / by};
}
function drawSight(place = placeOfSight()) {
  if (!place) return;
  map.hidden = W <= place.width * 1.02 && H <= place.height * 1.02;
  set(sight, place);
}
const toPlace = event => {
  const {left, top, width} = chart.getBoundingClientRect(), by = scale() * W / width;
  frame.scrollTo({left: (event.clientX - left) * by - frame.clientWidth / 2, top: (event.clientY - top) * by - frame.clientHeight / 2, behavior: "instant"});
};
chart.onpointerdown = event => {
  event.stopPropagation();
  chart.setPointerCapture(event.pointerId);
  chart.onpointermove = toPlace;
  toPlace(event);
};
chart.onpointerup = chart.onpointercancel = () => { chart.onpointermove = null; };
frame.addEventListener("scroll", () => drawSight());
const mapWatcher = new ResizeObserver(() => drawSight());
mapWatcher.observe(frame);
mapWatcher.observe(graph);
views.push(() => set(litOnMap, {d: outlines(app.now.nodes)}));

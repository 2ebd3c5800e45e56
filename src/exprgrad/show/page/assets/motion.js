// Motion: on a step ahead, numbers leave their node, run along the lit edge and land where the step puts them.
// With reduced motion the same step is shown without it.

const still = matchMedia("(prefers-reduced-motion: reduce)");
const SPEEDS = [["1×", 1], ["2×", 2], ["½×", .5]], TRAVEL = 900;
let speed = 1, seenAt = 0, flight = 0, landing;
const travellers = draw(graph, "g", {class: "travellers", "aria-hidden": "true"});

const pace = button("1×", () => {
  const at = SPEEDS.findIndex(([, factor]) => factor === speed), [words, factor] = SPEEDS[(at + 1) % SPEEDS.length];
  speed = factor;
  set(pace, {"aria-label": `Speed ${words}`}).textContent = words;
}, "Speed 1×");
$("buttons").lastChild.before(pace);

// A number on its way along a wire: from its operand to its user, or back.
function traveller(edge, ahead, words) {
  const path = chips[edge].wire.firstChild, length = path.getTotalLength();
  return {text: draw(travellers, "text", {}), words, at: part => path.getPointAtLength(length * (ahead ? part : 1 - part))};
}

function flights({kind, node, edge, value}) {
  const grad = known(edge) && app.now.grads[EDGES[edge].user];
  if (kind === "pass" || kind === "lost")
    return [traveller(edge, false, part => part < .45 ? num(grad) : part < .7 ? `${num(grad)} × ${bracket(app.locals[edge])}` : num(value))];
  return kind !== "value" ? [] : EDGES.flatMap(({user, operand}, at) => user === node ? [traveller(at, true, () => num(app.data[operand]))] : []);
}

function land() {
  cancelAnimationFrame(flight);
  travellers.replaceChildren();
  if (landing) landing.classList.remove("coming");
  landing = 0;
}

views.push(() => {
  const {at, now: {step}} = app, isNext = at === seenAt + 1;
  seenAt = at;
  land();
  if (!isNext || !step || still.matches || app.asking) return;
  const moving = flights(step);
  landing = step.kind === "value" ? cards[step.node].data : known(step.edge) && step.kind === "pass" && cards[EDGES[step.edge].operand].grad;
  if (!moving.length) return;
  if (landing) landing.classList.add("coming");
  const start = performance.now();
  const fly = time => {
    const part = Math.min(1, (time - start) * speed / TRAVEL), eased = part * part * (3 - 2 * part);
    if (part === 1) return land();
    for (const {text, words, at} of moving) {
      const {x, y} = at(eased);
      set(text, {x, y: y - 4}).textContent = words(part);
    }
    flight = requestAnimationFrame(fly);
  };
  fly(start);
});

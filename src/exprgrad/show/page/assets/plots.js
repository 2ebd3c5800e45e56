// Plots in what moves: a frame with its words, lines, dots, and the curve of a loss.

const SIDE = 200, LEFT = 40, RIM = 6, BELOW = 20;
// Over axes, if they are given: each from its low end to its high one, with numbers at round places.
function plot(figures, words, high, right, up) {
  const box = right ? [-LEFT, -RIM, LEFT + SIDE + 2 * RIM, high + RIM + BELOW] : [0, 0, SIDE, high];
  const drawn = set(document.createElementNS("http://www.w3.org/2000/svg", "svg"), {viewBox: box.join(" "), role: "img", "aria-label": words, class: "plot"});
  figures.append(make("figure", null, drawn, make("figcaption", null, words)));
  if (!right) return drawn;
  const write = (x, y, text, name) => { draw(drawn, "text", {x, y, class: `tick ${name}`}).textContent = text; };
  for (const [x, text] of tickPlaces(right, 5)) {
    draw(drawn, "path", {d: `M${x * SIDE} 0V${high + 3}`, class: "grid"});
    write(x * SIDE, high + 15, text, "");
  }
  for (const [y, text] of tickPlaces(up, high < SIDE ? 5 : 6)) {
    draw(drawn, "path", {d: `M-3 ${high - y * high}H${SIDE}`, class: "grid"});
    write(-5, high - y * high + 4, text, "up");
  }
  const inside = draw(drawn, "svg", {width: SIDE, height: high});
  draw(inside, "rect", {width: SIDE, height: high, class: "ground"});
  return inside;
}
// Where round numbers lie along an axis, as parts of it, and how they are written.
function tickPlaces({low, high}, most) {
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least)), step = power * [1, 2, 5, 10].find(n => n * power >= least * (1 - 1e-9));
  const first = Math.ceil(low / step), digits = Math.max(1, Math.ceil(Math.log10(Math.max(-low, high) / step)) + 1);
  return Array.from({length: Math.floor(high / step) - first + 1}, (_, n) => [((first + n) * step - low) / (high - low), number((first + n) * step, Math.min(digits, 15))]);
}
const polyline = (svg, spots, name) => draw(svg, "polyline", {points: spots.map(([x, y]) => `${x},${y}`).join(" "), class: name});
const dots = (svg, spots) => spots.forEach(([x, y], at) => draw(svg, "circle", {cx: x, cy: y, r: at === spots.length - 1 ? 4 : 2, class: "dot"}));

function drawLoss(figures, name, all) {
  const values = all.filter(Number.isFinite), isLog = values.every(x => x > 0);
  if (values.length < 2) return;
  const of = isLog ? Math.log : x => x, scaled = values.map(of), least = Math.min(...scaled), most = Math.max(...scaled);
  const svg = plot(figures, `${name} after each step${isLog ? ", by its size (logarithmic)" : ""}: from ${num(values[0])} to ${num(values.at(-1))}`, SIDE * .4);
  const spots = scaled.map((y, n) => [4 + (SIDE - 8) * n / (values.length - 1), SIDE * .4 * (.92 - .84 * (y - least) / (most - least || 1))]);
  polyline(svg, spots, "curve");
  dots(svg, spots.slice(-1));
}

// Plots in what moves: their words, lines, dots, and the curve of a loss.

const SIDE = 200;
function plot(figures, words, high, box = [0, 0, SIDE, high]) {
  const drawn = set(document.createElementNS("http://www.w3.org/2000/svg", "svg"), {viewBox: box.join(" "), role: "img", "aria-label": words, class: "plot"});
  figures.append(make("figure", null, drawn, make("figcaption", null, words)));
  return drawn;
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

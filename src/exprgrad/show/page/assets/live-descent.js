// Descent: each step adds -rate times the gradient to the inputs.  A curve for one input; for more, a map of two.

const CELLS = 40, LEVELS = 12, STEPS = 200;
// A window's margin, how far and in how many steps one looks for the foot of the slope, and beyond what nothing is drawn.
const MARGIN = 1.75, REACH = 4, CAREFUL = 60, FARTHEST = 1e100;

// Lines through a grid of cells, as a path; `cut` tells at which part of the way from one corner to the next they run, if at all.
function lines(cut) {
  const parts = [], size = SIDE / CELLS;
  for (let i = 0; i < CELLS; i++)
    for (let j = 0; j < CELLS; j++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const cuts = corners.flatMap(([x, y], at) => {
        const next = corners[(at + 1) % 4], part = cut([x, y], next);
        return known(part) ? [[x + part * (next[0] - x), y + part * (next[1] - y)].map(at => Math.round(at * size * 100) / 100).join(" ")] : [];
      });
      for (let at = 0; at + 1 < cuts.length; at += 2) parts.push(`M${cuts[at]}L${cuts[at + 1]}`);
    }
  return parts.join("");
}
// Where the lines of a height run: marching squares.
const contour = (values, level) => lines(([i, j], [k, l]) => {
  const from = values[i][j], to = values[k][l];
  if (from < level !== to < level && isFinite(from + to)) return (level - from) / (to - from);
});

const LEFT = 40, RIM = 6, RIGHT = 20, BELOW = 20, LETTER = 8.5;
// A plot over axes, each from its low end to its high one, with numbers at round places, for which there is room.
function plotOver(figures, words, high, right, up) {
  const beside = tickPlaces(up, high < SIDE ? 5 : 6), left = Math.max(LEFT, ...beside.map(([, text]) => LETTER * text.length + RIM));
  const drawn = plot(figures, words, high, [-left, -RIM, left + SIDE + RIGHT, high + RIM + BELOW]);
  const write = (x, y, text, name) => { draw(drawn, "text", {x, y, class: `tick ${name}`}).textContent = text; };
  for (const [x, text] of tickPlaces(right, 5)) {
    draw(drawn, "path", {d: `M${x * SIDE} 0V${high + 3}`, class: "grid"});
    write(x * SIDE, high + 15, text, "");
  }
  for (const [y, text] of beside) {
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
  const first = Math.ceil(low / step), digits = Math.max(4, Math.ceil(Math.log10(Math.max(-low, high) / step)) + 1);
  return Array.from({length: Math.floor(high / step) - first + 1}, (_, n) => [((first + n) * step - low) / (high - low), number((first + n) * step, Math.min(digits, 15))]);
}

LIVE.descent = place => {
  const ids = PAGE.wrt, output = called(PAGE.output);
  const rate = make("input", {class: "rate", value: place.dataset.rate, autocomplete: "off"});
  const said = make("p", {class: "wanted", role: "status"}), figures = make("div", {class: "figures"});
  const start = ids.map(id => START_DATA[id]);
  // By place among the inputs, those of the map: to the right, and up.
  const axes = ids.slice(0, 2).map((id, axis) => {
    const pick = make("select", null, ...ids.map((id, n) => make("option", {value: n}, called(id))));
    pick.value = axis;
    pick.onchange = show;
    return pick;
  });
  let points = [], timer = 0;
  const here = () => ids.map(id => app.data[id]);
  const point = () => ({at: here(), value: app.data[PAGE.output], grads: ids.map(id => app.right.grads[id] ?? 0)});
  const moveTo = at => {
    ids.forEach((id, place) => app.given.set(id, at[place]));
    compute();
    app.at = app.steps.length;
  };
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    set(run, {"aria-label": "Play the descent"}).textContent = "Play";
  };
  function step() {
    const by = parse(rate.value), {at, grads} = points.at(-1);
    set(rate, {"aria-invalid": by === null});
    if (by === null || !at.every(isFinite) || points.length > STEPS) return false;
    moveTo(at.map((x, place) => x + -by * grads[place]));
    points.push(point());
    const [words, state] = verdict();
    app.live = state;
    show();
    return !state || state === "zigzags";
  }
  const beat = () => {
    if (!place.contains(run) || !step()) return halt();
    timer = setTimeout(beat, BEAT / 5 / speed);
  };
  const run = button("Play", () => {
    if (timer) return halt();
    set(run, {"aria-label": "Pause the descent"}).textContent = "Pause";
    beat();
  }, "Play the descent");
  const back = button("Back to the start", () => {
    halt();
    app.live = "";
    points = [];
    ends = null;
    moveTo(start);
    show();
  });
  place.append(
    make("div", {class: "row"}, make("label", null, "Rate ", rate), button("Step", () => { halt(); step(); }, "A step down"), run, back),
    said, ...ids.length > 2 ? [make("div", {class: "row"}, ...axes.map((pick, axis) => make("label", null, ["To the right ", "Up "][axis], pick)))] : [], figures);

  // The outcome in words, and the state that a goal may ask for.
  function verdict() {
    const {at, value, grads} = points.at(-1), size = ({grads}) => Math.hypot(...grads), count = points.length - 1;
    const told = `After ${count} step${count === 1 ? "" : "s"} ${output} is ${num(value)}`;
    if (![...at, value, ...grads].every(isFinite)) return [`${told}: it has diverged beyond all numbers.`, "diverged"];
    if (!count) return ["Choose a rate, and press Step or Play.", ""];
    const last = points.slice(-4), rises = last.slice(1).map((one, n) => one.value - last[n].value);
    if (rises.length === 3 && rises[0] > 0 && rises[1] > rises[0] && rises[2] > rises[1]) return [`${told}: it diverges, for each step rises more than the one before. The rate is too large.`, "diverged"];
    const still = size(points.at(-1)) ? "nearly 0, and the steps hardly move" : "0, and it moves no more";
    const here = app.crossing ? kinks(PAGE, app.data, app.locals) : [];
    if (size(points.at(-1)) <= 1e-3 * size(points[0])) return here.length ? [`${told}. ${here.join("; ")}: the gradient found there is 0, and no step leads away.`, "reached"]
      : [`${told}: the ${ids.length > 1 ? "gradient" : "slope"} is ${still}. ${isLow(value) ? "It is at the bottom of what is drawn." : "This is a flat place."}`, "reached"];
    const against = (one, other) => one.grads.reduce((sum, g, n) => sum + g * other.grads[n], 0) < -.3 * size(one) * size(other);
    if (last.length === 4 && last.slice(1).every((one, n) => against(one, last[n]))) {
      const why = isOver(last[2].at, at) ? " across a kink. The gradient gets no smaller near it: only a rate that shrinks comes to rest" : ", for each step goes too far and the next comes back";
      return [`${told}: it zigzags${why}.`, "zigzags"];
    }
    return [`${told}.`, ""];
  }

  const givenAt = at => new Map([...app.given, ...ids.map((id, n) => [id, at[n]])]);
  const valueAt = at => forward(PAGE, givenAt(at))[PAGE.output];
  // The part of the way between two points at which a kink or a jump lies, if one does.
  const cross = (from, to, ends = [from, to].map(at => app.bend?.(givenAt(at)))) =>
    app.crossing?.(...ends, part => app.bend(givenAt(from.map((x, n) => x + part * (to[n] - x)))));
  // Whether the way between two points leads down to a kink, and up behind it.
  function isOver(from, to) {
    const part = cross(from, to), slope = by => {
      const data = forward(PAGE, givenAt(from.map((x, n) => x + (part + by) * (to[n] - x))));
      const {grads} = simulate(PAGE, localDerivatives(PAGE, data), ORDERS.right(PAGE));
      return ids.reduce((sum, id, n) => sum + (grads[id] ?? 0) * (to[n] - from[n]), 0);
    };
    return known(part) && slope(-.004) < 0 && slope(.004) > 0;
  }

  // The window: it holds the start, where careful steps lead from there, and the path; and as much again around these.
  const size = start.map(x => Math.max(1, Math.abs(x))), isNear = at => at.every((x, n) => Math.abs(x - start[n]) < REACH * size[n]);
  let ends = null;
  function foot() {
    let at = start, rate = 1;
    for (let count = 0; count < CAREFUL; count++) {
      const data = forward(PAGE, givenAt(at)), {grads} = simulate(PAGE, localDerivatives(PAGE, data), ORDERS.right(PAGE));
      const slopes = ids.map(id => grads[id] ?? 0), steep = slopes.reduce((sum, g) => sum + g * g, 0), to = () => at.map((x, n) => x - rate * slopes[n]);
      while (rate > 1e-9 && !(valueAt(to()) <= data[PAGE.output] - rate * steep / 3)) rate /= 2;
      if (!isNear(to())) break;
      at = to();
      rate *= 2;
    }
    return at;
  }
  const holds = ends => points.every(({at}) => at.every((x, n) => !(Math.abs(x) < FARTHEST) || (ends[n].low <= x && x <= ends[n].high)));
  function fitWindow() {
    if (ends && holds(ends)) return;
    const seen = [start, foot(), ...points.map(({at}) => at)];
    const held = ids.map((_, n) => {
      const all = seen.map(at => at[n]).filter(x => Math.abs(x) < FARTHEST), low = Math.min(...all), high = Math.max(...all);
      return {middle: (low + high) / 2, half: Math.max(MARGIN * (high - low) / 2, size[n] / 2)};
    });
    // Of inputs that are alike, a unit is as long to the right as up.
    const alike = n => held.filter((_, m) => size[n] < 10 * size[m] && size[m] < 10 * size[n]);
    ends = held.map(({middle}, n) => {
      const half = Math.max(...alike(n).map(({half}) => half));
      return {low: middle - half, high: middle + half};
    });
  }
  const along = ({low, high}, part) => low + part * (high - low);
  const across = (x, {low, high}) => Math.max(-SIDE, Math.min(2 * SIDE, SIDE * (x - low) / (high - low)));
  const grid = Array.from({length: CELLS + 1}, (_, n) => n / CELLS);

  const sorted = heights => heights.filter(Number.isFinite).sort((one, other) => one - other);

  // The heights along the curve, and where kinks are; it is worked out once for a window.
  function curveOf() {
    const places = grid.flatMap(n => [n, n + .5 / CELLS]).slice(0, -1).map(n => [along(ends[0], n)]);
    const bends = places.flatMap((at, n) => {
      const part = n ? cross(places[n - 1], at) : undefined;
      return known(part) ? [across(places[n - 1][0] + part * (at[0] - places[n - 1][0]), ends[0])] : [];
    });
    const curve = places.map(at => [across(at[0], ends[0]), valueAt(at)]);
    return {curve, bends, heights: sorted(curve.map(([, y]) => y))};
  }
  // The contours over two inputs with the others as they are, and the lines of kinks.
  function mapOf(now, [one, other]) {
    const place = (i, j) => now.map((x, n) => n === one ? along(ends[n], grid[i]) : n === other ? along(ends[n], 1 - grid[j]) : x);
    const places = grid.map((_, i) => grid.map((_, j) => place(i, j))), values = places.map(row => row.map(valueAt));
    const heights = sorted(values.flat());
    const found = app.bend ? places.map(row => row.map(at => app.bend(givenAt(at)))) : [];
    return {
      heights,
      // As much of the map lies between any two of them: a pole does not take them all.
      levels: Array.from({length: LEVELS}, (_, n) => contour(values, heights[Math.floor(heights.length * (n + .5) / LEVELS)])),
      bends: app.bend ? lines(([i, j], [k, l]) => cross(places[i][j], places[k][l], [found[i][j], found[k][l]])) : "",
    };
  }
  let kept = {};
  // Whether no point of the curve or the map, as far as it is drawn over all inputs, lies lower than one can see.
  function isLow(value) {
    const heights = ids.length < 3 && kept.made?.heights || [];
    return heights.length > 0 && value <= heights[0] + 1e-3 * (heights.at(-1) - heights[0]);
  }
  function once(key, make) {
    if (kept.key !== key) kept = {key, made: make()};
    return kept.made;
  }
  const dashed = bends => bends.length ? " Dashed: a kink or a jump." : "";

  function drawCurve() {
    const high = SIDE * .6, {curve, bends, heights} = once(JSON.stringify(ends), curveOf);
    const least = heights[0], rise = heights.at(-1) - least || 1, upright = {low: least - .07 * rise, high: least + 1.07 * rise};
    const svg = plotOver(figures, `${output} over ${called(ids[0])}, and the steps on it.${dashed(bends)}`, high, ends[0], upright);
    const up = y => high - across(y, upright) * high / SIDE;
    for (const x of bends) draw(svg, "path", {d: `M${x} 0V${high}`, class: "bend"});
    polyline(svg, curve.filter(([, y]) => isFinite(y)).map(([x, y]) => [x, up(y)]), "curve");
    const spots = points.filter(({value}) => isFinite(value)).map(({at: [x], value}) => [across(x, ends[0]), up(value)]);
    polyline(svg, spots, "way");
    dots(svg, spots);
  }

  function drawMap() {
    const now = here(), [one, other] = axes.map(({value}) => Number(value)), others = now.filter((_, n) => n !== one && n !== other);
    if (one === other) return void figures.append(make("p", null, "Choose two different inputs for the map."));
    const right = ends[one], up = ends[other];
    const {levels, bends} = once(JSON.stringify([one, other, ends, others]), () => mapOf(now, [one, other]));
    const rest = others.length ? ", the others as they are now" : "";
    // With equal scales a line along -gradient is square to the contours, and is seen to miss the lowest point.
    const {grads} = points.at(-1), [u, v] = [grads[one], grads[other]], long = Math.hypot(u, v);
    const even = Math.abs((right.high - right.low) / (up.high - up.low) - 1) < 1e-9 && long > 0 && isFinite(long);
    const dotted = even ? " Dotted: straight downhill, against the gradient." : "";
    const svg = plotOver(figures, `${output} as a map: ${called(ids[one])} to the right, ${called(ids[other])} up${rest}. Click to start elsewhere.${dotted}${dashed(bends)}`, SIDE, right, up);
    for (const line of levels) draw(svg, "path", {d: line, class: "level"});
    draw(svg, "path", {d: bends, class: "bend"});
    const spots = points.map(({at}) => [across(at[one], right), SIDE - across(at[other], up)]), [x, y] = spots.at(-1);
    if (even) polyline(svg, [[x, y], [x - 3 * SIDE * u / long, y + 3 * SIDE * v / long]], "downhill");
    polyline(svg, spots, "way");
    dots(svg, spots);
    svg.onclick = ({clientX, clientY}) => {
      const {a, d, e, f} = svg.getScreenCTM(), to = here();
      halt();
      app.live = "";
      to[one] = tidy(along(right, (clientX - e) / a / SIDE));
      to[other] = tidy(along(up, 1 - (clientY - f) / d / SIDE));
      moveTo(to);
      show();
    };
  }

  views.push(() => {
    if (!isOpen(place)) return;
    // Who edits an input starts from there.
    if (!points.length || String(points.at(-1).at) !== String(here())) points = [point()];
    fitWindow();
    said.textContent = verdict()[0];
    figures.replaceChildren();
    if (ids.length === 1) drawCurve();
    if (ids.length > 1) drawMap();
    drawLoss(figures, output, points.map(({value}) => value));
  });
};

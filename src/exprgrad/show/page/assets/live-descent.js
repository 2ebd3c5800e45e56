// Descent: each step adds -rate times the gradient to the inputs.  A map for one or two inputs.

const CELLS = 40, LEVELS = 12, STEPS = 200;

// Where the lines of a height run through a grid of values, as a path: marching squares.
function contour(values, level) {
  const parts = [], size = SIDE / CELLS;
  for (let i = 0; i < CELLS; i++)
    for (let j = 0; j < CELLS; j++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], heights = corners.map(([x, y]) => values[x][y]);
      const cuts = corners.flatMap(([x, y], at) => {
        const next = (at + 1) % 4, [from, to] = [heights[at], heights[next]], [x1, y1] = corners[next];
        if (from < level === to < level || !isFinite(from + to)) return [];
        const part = (level - from) / (to - from);
        return [[x + part * (x1 - x), y + part * (y1 - y)].map(at => brief(at * size).replace("−", "-")).join(" ")];
      });
      for (let at = 0; at + 1 < cuts.length; at += 2) parts.push(`M${cuts[at]}L${cuts[at + 1]}`);
    }
  return parts.join("");
}

LIVE.descent = place => {
  const ids = PAGE.wrt, output = called(PAGE.output);
  const rate = make("input", {class: "rate", value: place.dataset.rate, autocomplete: "off"});
  const said = make("p", {class: "wanted", role: "status"}), figures = make("div", {class: "figures"});
  const start = ids.map(id => START_DATA[id]);
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
    run.textContent = "Play";
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
    run.textContent = "Pause";
    beat();
  }, "Play the descent");
  const back = button("Back to the start", () => {
    halt();
    app.live = "";
    points = [];
    moveTo(start);
    show();
  });
  place.append(
    make("div", {class: "row"}, make("label", null, "Rate ", rate), button("Step", () => { halt(); step(); }, "A step down"), run, back),
    said, figures);

  // What became of it, in words, and the state that a goal may ask for.
  function verdict() {
    const {at, value, grads} = points.at(-1), size = ({grads}) => Math.hypot(...grads), count = points.length - 1;
    const told = `After ${count} step${count === 1 ? "" : "s"} ${output} is ${num(value)}`;
    if (![...at, value, ...grads].every(isFinite)) return [`${told}: it has diverged beyond all numbers.`, "diverged"];
    if (!count) return ["Choose a rate, and press Step or Play.", ""];
    const last = points.slice(-4), rises = last.slice(1).map((one, n) => one.value - last[n].value);
    if (rises.length === 3 && rises[0] > 0 && rises[1] > rises[0] && rises[2] > rises[1]) return [`${told}: it diverges, for each step rises more than the one before. The rate is too large.`, "diverged"];
    if (size(points.at(-1)) <= 1e-3 * size(points[0])) return [`${told}: the gradient is nearly 0. This is a flat place.`, "reached"];
    const against = (one, other) => one.grads.reduce((sum, g, n) => sum + g * other.grads[n], 0) < -.3 * size(one) * size(other);
    if (last.length === 4 && last.slice(1).every((one, n) => against(one, last[n]))) return [`${told}: it zigzags, for each step goes too far and the next comes back.`, "zigzags"];
    return [`${told}.`, ""];
  }

  // As far as the sliders go.
  const reachOf = x => 2 * Math.max(1, Math.abs(x)), low = start.map(x => x - reachOf(x)), far = start.map(x => 2 * reachOf(x));
  const inside = x => Math.max(-SIDE, Math.min(2 * SIDE, x)), across = (x, n) => inside(SIDE * (x - low[n]) / far[n]);
  const valueAt = at => forward(PAGE, new Map([...app.given, ...ids.map((id, n) => [id, at[n]])]))[PAGE.output];

  let kept = null;
  function map() {
    if (kept) return kept;
    const grid = Array.from({length: CELLS + 1}, (_, n) => n / CELLS);
    if (ids.length === 1) return kept = grid.flatMap(n => [n, n + .5 / CELLS]).slice(0, -1).map(n => [SIDE * n, valueAt([low[0] + n * far[0]])]);
    const values = grid.map(x => grid.map(y => valueAt([low[0] + x * far[0], low[1] + (1 - y) * far[1]])));
    const heights = values.flat().filter(Number.isFinite), least = Math.min(...heights), most = Math.max(...heights);
    return kept = Array.from({length: LEVELS}, (_, n) => contour(values, least + (most - least) * ((n + .5) / LEVELS) ** 2));
  }

  function drawMap() {
    const names = ids.map(called);
    if (ids.length === 2) {
      const svg = plot(figures, `${output} as a map: ${names[0]} to the right, ${names[1]} up. Click to start elsewhere.`, SIDE);
      for (const line of map()) draw(svg, "path", {d: line, class: "level"});
      const spots = points.map(({at: [x, y]}) => [across(x, 0), SIDE - across(y, 1)]);
      polyline(svg, spots, "way");
      dots(svg, spots);
      svg.onclick = ({clientX, clientY}) => {
        const {left, top, width, height} = svg.getBoundingClientRect();
        halt();
        app.live = "";
        moveTo([low[0] + far[0] * (clientX - left) / width, low[1] + far[1] * (1 - (clientY - top) / height)].map(tidy));
        show();
      };
    }
    if (ids.length === 1) {
      const svg = plot(figures, `${output} over ${names[0]}, and the steps on it`, SIDE * .6), curve = map(), heights = curve.map(([, y]) => y).filter(Number.isFinite);
      const least = Math.min(...heights), up = y => inside(SIDE * .6 * (.94 - .88 * (y - least) / (Math.max(...heights) - least || 1)));
      polyline(svg, curve.filter(([, y]) => isFinite(y)).map(([x, y]) => [x, up(y)]), "curve");
      const spots = points.filter(({value}) => isFinite(value)).map(({at: [x], value}) => [across(x, 0), up(value)]);
      polyline(svg, spots, "way");
      dots(svg, spots);
    }
  }

  views.push(() => {
    if (!isOpen(place)) return;
    // Who edits an input starts from there.
    if (!points.length || String(points.at(-1).at) !== String(here())) points = [point()];
    said.textContent = verdict()[0];
    figures.replaceChildren();
    drawMap();
    drawLoss(figures, output, points.map(({value}) => value));
  });
};

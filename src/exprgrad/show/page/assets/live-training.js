// Training: descent of the mean loss over a lesson's points, and what the network says about every place.

LIVE.training = place => {
  const {sets, shows} = LESSON, TILES = 32, MOST_EPOCHS = 5000, BUSY = 8;
  const inputs = Object.keys(sets[0][1]).map(name => PAGE.inputs.find(([own]) => own === name)[1]), [acrossId, upId, targetId] = inputs;
  const weights = PAGE.wrt.filter(id => !inputs.includes(id)), seen = byName.get(shows);
  const rate = make("input", {class: "rate", value: place.dataset.rate, autocomplete: "off"});
  const said = make("p", {class: "wanted", role: "status"}), figures = make("div", {class: "figures"});
  const past = [], columns = () => Object.values(LESSON.set[1]);
  LESSON.set ??= sets[0];
  let timer = 0;
  const at = row => new Map([...app.given, ...inputs.map((id, n) => [id, columns()[n][row]])]);
  const sides = () => columns()[2].filter((target, row) => forward(PAGE, at(row))[seen] > 0 === target > 0).length;

  // One step over all points.
  function epoch(by) {
    const sums = weights.map(() => 0), {length} = columns()[0];
    let loss = 0;
    for (let row = 0; row < length; row++) {
      const data = forward(PAGE, at(row)), grads = adjoints(PAGE, localDerivatives(PAGE, data));
      weights.forEach((id, n) => { sums[n] += grads[id] ?? 0; });
      loss += data[PAGE.output];
    }
    const now = forward(PAGE, app.given);
    weights.forEach((id, n) => app.given.set(id, now[id] + -by * (sums[n] / length)));
    past.push(loss / length);
  }
  // A step, and as many more as there is time for until the page has to be drawn again.
  function train(until) {
    const by = parse(rate.value);
    set(rate, {"aria-invalid": by === null});
    if (by === null || past.length >= MOST_EPOCHS || past.at(-1) - past.at(-1) !== 0 && past.length) return false;
    do epoch(by); while (performance.now() < until);
    compute();
    app.at = app.steps.length;
    app.live = sides() === columns()[0].length ? "reached" : "";
    show();
    return true;
  }
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    run.textContent = "Train";
  };
  const beat = () => {
    if (!place.contains(run) || !train(performance.now() + BUSY)) return halt();
    timer = setTimeout(beat, BEAT / 14 / speed);
  };
  const run = button("Train", () => {
    if (timer) return halt();
    run.textContent = "Pause";
    beat();
  });
  function back() {
    halt();
    for (const id of weights) app.given.delete(id);
    past.length = 0;
    app.live = "";
    compute();
    show();
  }
  const choice = make("select", null, ...sets.map(([name]) => make("option", null, name)));
  choice.onchange = () => {
    LESSON.set = sets[choice.selectedIndex];
    back();
  };
  place.append(make("div", {class: "row"}, ...sets[0][0] ? [make("label", null, "Points ", choice)] : [], make("label", null, "Rate ", rate),
    button("One step", () => { halt(); train(0); }), run, button("Back to the start", back)), said, figures);

  const spot = (reach, x, y) => [SIDE * (x / reach + 1) / 2, SIDE * (1 - y / reach) / 2];
  views.push(() => {
    if (!isOpen(place)) return;
    const [xs, ys, targets] = columns(), reach = Math.max(...[...xs, ...ys].map(Math.abs)) * 1.1, steps = `After ${past.length} step${past.length === 1 ? "" : "s"}`;
    said.textContent = isFinite(past.at(-1) ?? 0) ? `${steps} ${sides()} of ${xs.length} points are on their side.` : `${steps} it has diverged beyond all numbers: the rate is too large.`;
    figures.replaceChildren();
    const svg = plot(figures, `Tinted where ${shows} is positive. A click on a point, + or −, shows its numbers.`, SIDE);
    const tile = SIDE / TILES, tiles = [];
    for (let i = 0; i < TILES; i++)
      for (let j = 0; j < TILES; j++) {
        const x = ((i + .5) / TILES * 2 - 1) * reach, y = (1 - (j + .5) / TILES * 2) * reach;
        if (forward(PAGE, new Map([...app.given, [acrossId, x], [upId, y]]))[seen] > 0) tiles.push(`M${i * tile} ${j * tile}h${tile}v${tile}h-${tile}z`);
      }
    draw(svg, "path", {d: tiles.join(""), class: "tint"});
    xs.forEach((x, row) => {
      const [left, top] = spot(reach, x, ys[row]), isNow = inputs.every((id, n) => app.data[id] === columns()[n][row]);
      const mark = draw(svg, "text", {x: left, y: top + 5, class: isNow ? "mark picked" : "mark"});
      mark.textContent = targets[row] > 0 ? "+" : "−";
      mark.onclick = () => {
        inputs.forEach((id, n) => app.given.set(id, columns()[n][row]));
        compute();
        show();
      };
    });
    if (past.length < 2) figures.append(line("The mean loss comes here."));
    drawLoss(figures, "mean loss", past);
  });
};

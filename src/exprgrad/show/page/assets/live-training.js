// Training: descent of the mean loss over a lesson's points, and what the network says about every place.

LIVE.training = place => {
  const {data, shows} = LESSON, names = Object.keys(data), count = data[names[0]].length, TILES = 32, EPOCHS = 10, MOST_EPOCHS = 2000;
  const columns = names.map(name => [PAGE.inputs.find(([own]) => own === name)[1], data[name]]), [[acrossId, xs], [upId, ys], [, targets]] = columns;
  const weights = PAGE.wrt.filter(id => !columns.some(([own]) => own === id)), seen = byName.get(shows), right = ORDERS.right(PAGE);
  const rate = make("input", {class: "rate", value: place.dataset.rate, autocomplete: "off"});
  const said = make("p", {class: "wanted", role: "status"}), figures = make("div", {class: "figures"});
  // What was found lasts when a call is opened meanwhile.
  const past = LESSON.past ??= [];
  let timer = 0;
  const at = row => new Map([...app.given, ...columns.map(([id, column]) => [id, column[row]])]);
  const sides = () => xs.filter((_, row) => forward(PAGE, at(row))[seen] > 0 === targets[row] > 0).length;

  // One step over all points.
  function epoch(by) {
    const sums = weights.map(() => 0);
    let loss = 0;
    for (let row = 0; row < count; row++) {
      const found = forward(PAGE, at(row)), {grads} = simulate(PAGE, localDerivatives(PAGE, found), right);
      weights.forEach((id, n) => { sums[n] += grads[id] ?? 0; });
      loss += found[PAGE.output];
    }
    const now = forward(PAGE, app.given);
    weights.forEach((id, n) => app.given.set(id, now[id] + -by * (sums[n] / count)));
    past.push(loss / count);
  }
  function train(epochs) {
    const by = parse(rate.value);
    set(rate, {"aria-invalid": by === null});
    if (by === null || past.length >= MOST_EPOCHS) return false;
    for (let n = 0; n < epochs; n++) epoch(by);
    compute();
    app.at = app.steps.length;
    app.live = sides() === count ? "reached" : "";
    show();
    return true;
  }
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    run.textContent = "Train";
  };
  const beat = () => {
    if (!place.contains(run) || !train(EPOCHS)) return halt();
    timer = setTimeout(beat, BEAT / 7 / speed);
  };
  const run = button("Train", () => {
    if (timer) return halt();
    run.textContent = "Pause";
    beat();
  });
  place.append(make("div", {class: "row"}, make("label", null, "Rate ", rate),
    button("One step", () => { halt(); train(1); }), run,
    button("Back to the start", () => {
      halt();
      for (const id of weights) app.given.delete(id);
      past.length = 0;
      app.live = "";
      compute();
      show();
    })), said, figures);

  const reach = Math.max(...[...xs, ...ys].map(Math.abs)) * 1.25, spot = (x, y) => [SIDE * (x / reach + 1) / 2, SIDE * (1 - y / reach) / 2];
  views.push(() => {
    if (!isOpen(place)) return;
    said.textContent = `After ${past.length} step${past.length === 1 ? "" : "s"} ${sides()} of ${count} points are on their side.`;
    figures.replaceChildren();
    const svg = plot(figures, `Where ${shows} is positive, the plane is tinted. Points: + and −. A click on one shows its numbers in the graph.`, SIDE);
    const tile = SIDE / TILES, tiles = [];
    for (let i = 0; i < TILES; i++)
      for (let j = 0; j < TILES; j++) {
        const x = ((i + .5) / TILES * 2 - 1) * reach, y = (1 - (j + .5) / TILES * 2) * reach;
        if (forward(PAGE, new Map([...app.given, [acrossId, x], [upId, y]]))[seen] > 0) tiles.push(`M${i * tile} ${j * tile}h${tile}v${tile}h-${tile}z`);
      }
    draw(svg, "path", {d: tiles.join(""), class: "tint"});
    xs.forEach((x, row) => {
      const [left, top] = spot(x, ys[row]), isNow = columns.every(([id, column]) => app.data[id] === column[row]);
      const mark = draw(svg, "text", {x: left, y: top + 5, class: isNow ? "mark picked" : "mark"});
      mark.textContent = targets[row] > 0 ? "+" : "−";
      mark.onclick = () => {
        for (const [id, column] of columns) app.given.set(id, column[row]);
        compute();
        show();
      };
    });
    drawLoss(figures, "mean loss", past);
  });
};

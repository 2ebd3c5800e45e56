// What each operation does with a grad: its kind, what arrives, and what it passes on.

LIVE.gates = place => {
  const space = make("div", {class: "long", tabindex: 0, role: "group", "aria-label": "Gates"});
  place.append(space);
  views.push(() => {
    if (!isOpen(place)) return;
    const passed = new Map(app.done.filter(({edge}) => known(edge)).map(({edge, value}) => [edge, value]));
    const about = NODES.filter(({row}) => row).reverse().map(({id, label, row: key}) => {
      const to = EDGES.flatMap(({user, operand}, edge) => user === id && passed.has(edge) ? [`${num(passed.get(edge))} to ${called(operand)}`] : []);
      return row([make("span", null, label, make("small", null, PAGE.rows[key].gate)), shown(app.now.grads[id]), to.join(", ")]);
    });
    space.replaceChildren(table("What each operation passes on, as far as the sweep has got", ["operation", "grad", "passes"], about));
  });
};

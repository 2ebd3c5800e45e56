// How large the grad of each named operation is, on a scale of powers of ten, from the output down.

LIVE.sizes = place => {
  const grid = make("div", {class: "bars", role: "group", "aria-label": "Sizes of grads"}), said = make("p");
  place.append(said, grid);
  views.push(() => {
    if (!isOpen(place)) return;
    const {grads} = app.now, rows = NODES.filter(({id, kind, label, short}) => (kind === "input" || label !== short) && known(grads[id])).reverse();
    const size = id => Math.log10(Math.abs(grads[id])), sizes = rows.map(({id}) => size(id)).filter(Number.isFinite);
    const top = Math.ceil(Math.max(0, ...sizes)), low = Math.floor(Math.min(-1, ...sizes));
    said.textContent = rows.length ? `A bar ends at the size of the grad: from 10^${low} on the left to 10^${top} on the right.`.replaceAll("^-", "^−")
      : "Step into the reverse sweep: a bar for each grad appears as it is found.";
    grid.replaceChildren(...rows.flatMap(({id}) => [
      make("span", null, called(id)),
      make("div", {class: "bar", style: `width:${grads[id] ? Math.max(.5, Math.min(100, 100 * (size(id) - low) / (top - low))) : 0}%`}),
      make("span", null, brief(grads[id]))]));
  });
};

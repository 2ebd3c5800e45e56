// Layers and neurons are cards when seen from afar, and open when one comes nearer: by a click, by zooming, by the keys.

const LAYERS_BELOW = .14, NEURONS_BELOW = .42;
const covers = [...graph.querySelectorAll(".cover")].map(group => {
  const box = boxOf(group), [name, count, data, grad] = group.querySelectorAll("text");
  const ids = NODES.map(({id}) => id).filter(id => {
    const {x, y} = boxOf(cards[id].group);
    return x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
  });
  return {group, box, name, count, data, grad, ids, result: group.getAttribute("data-result"), isLayer: group.classList.contains("layer")};
});
const coverChanges = changes();

// Which covers are seen, and what there is room for on them.
function fold() {
  const by = scale(), isFar = by < LAYERS_BELOW && covers.some(({isLayer}) => isLayer);
  graph.style.setProperty("--u", 1 / by);
  for (const {group, box, name, count, data, grad, isLayer} of covers) {
    const {x, y, width, height} = box, wide = width * by, high = height * by;
    group.classList.toggle("shut", isLayer ? isFar : by < NEURONS_BELOW);
    const lines = [name, count, data, grad].filter((text, at) => high > 16 * at + 14 && wide > (at ? 62 : 24));
    for (const text of [name, count, data, grad]) text.toggleAttribute("hidden", !lines.includes(text));
    lines.forEach((text, at) => set(text, {x: x + width / 2, y: y + height / 2 + (at - (lines.length - 1) / 2 + .3) * 15 / by}));
  }
}

function open({box}, least) {
  const room = Math.min(frame.clientWidth / box.width, frame.clientHeight / box.height) * .95;
  zoomTo(Math.max(least, Math.min(1, room)));
  const by = scale();
  frame.scrollTo({left: (box.x + box.width / 2) * by - frame.clientWidth / 2, top: (box.y + box.height / 2) * by - frame.clientHeight / 2, behavior: "instant"});
}

for (const cover of covers)
  cover.group.onclick = event => {
    event.stopPropagation();
    open(cover, cover.isLayer ? LAYERS_BELOW : .75);
  };

// Who walks to a node by the keys comes near.
frame.addEventListener("focusin", event => {
  const id = spots.get(spotOf(event))?.node;
  const shut = covers.find(({ids, group}) => group.classList.contains("shut") && ids.includes(id));
  if (shut) open({box: boxOf(cards[id].group)}, .75);
});

views.push(() => {
  const lit = new Set(app.now.nodes), {data, grads} = app.now;
  covers.forEach(({group, ids, result, data: one, grad}, at) => {
    const isLit = ids.some(id => lit.has(id)), [x, g] = [data[result], grads[result]];
    if (!coverChanges(at, isLit, x, g)) return;
    group.classList.toggle("now", isLit);
    one.textContent = known(x) ? `data ${number(x, 3)}` : "";
    grad.textContent = known(g) ? `grad ${number(g, 3)}` : "";
  });
});
if (covers.length) {
  new ResizeObserver(fold).observe(graph);
  // All of it is seen at first, as soon as the frame has its size, if there is room for a name on a card.
  const seen = new ResizeObserver(() => {
    if (!frame.clientHeight) return;
    const by = whole();
    if (covers.some(({box}) => box.width * by > 24 && box.height * by > 14)) zoomTo(by);
    seen.disconnect();
  });
  seen.observe(frame);
}

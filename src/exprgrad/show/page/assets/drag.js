// The number of an input is dragged sideways, on its card; with Shift finely.

tellKey("an input dragged sideways", "more, less; with Shift finely");
for (const {id} of fields) {
  const {group} = cards[id];
  let moved = false;
  group.onpointerdown = ({button, clientX, pointerId}) => {
    const x = app.data[id], from = clientX;
    let last = from, far = 0;
    moved = false;
    if (button || app.asking || app.place || !isFinite(x)) return;
    group.setPointerCapture(pointerId);
    // A pixel is a small step, or a tenth of one.
    group.onpointermove = ({clientX, shiftKey}) => {
      far += (clientX - last) * (shiftKey ? 1 : 10);
      last = clientX;
      moved ||= Math.abs(clientX - from) > 4;
      if (moved) give(id, far ? tidy(x + far * stepOf(x) / 10) : x);
    };
  };
  group.onpointerup = group.onpointercancel = () => { group.onpointermove = null; };
  // Letting go of a dragged card is not a click on it.
  group.onclick = event => moved && event.stopPropagation();
}

// The inputs: a number and a slider each, and which way a small step moves the output.

// A number as short as it can be written without a loss.
const exact = x => String(x).replace("Infinity", "inf").replaceAll("-", "−");
const START_DATA = forward(PAGE);
const fields = PAGE.inputs.filter(([, id]) => !NODES[id].shape).map(([name, id]) => {
  const field = make("input", {id: `field${id}`, autocomplete: "off", spellcheck: "false"});
  const slide = make("input", {type: "range", "aria-label": `${name}, by a slider`});
  const said = make("p", {id: `said${id}`});
  set(field, {"aria-describedby": said.id});
  const to = x => give(id, tidy(x));
  field.oninput = () => {
    const x = parse(field.value);
    field.setAttribute("aria-invalid", x === null);
    x === null ? show() : give(id, x);
  };
  field.onblur = show;
  field.onkeydown = event => {
    const way = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!way || !isFinite(app.data[id])) return;
    event.preventDefault();
    to(app.data[id] + way * stepOf(app.data[id]) * (event.shiftKey ? 100 : 10));
    field.value = exact(app.data[id]);
  };
  slide.oninput = () => to(Number(slide.value));
  const label = make("label", {for: field.id}, make("bdi", null, name));
  $("inputs").append(make("div", {class: "input"}, label, field, slide, said));
  return {id, field, slide, said};
});
$("inputs").append(button("Reset", () => {
  app.given.clear();
  compute();
  show();
}));

const inputChanges = changes();
const tidy = x => Number(x.toPrecision(12));

// A small step of a number: about a hundredth of it.
function stepOf(x) {
  return x ? 10 ** (Math.floor(Math.log10(Math.abs(x))) - 2) : 0.01;
}

views.push(() => {
  for (const {id, field, slide, said} of fields) {
    const x = app.data[id], isHere = [field, slide].includes(document.activeElement);
    if (!inputChanges(id, app.data, known(app.now.grads[id]), isHere) && !isHere) continue;
    if (field !== document.activeElement) {
      field.value = exact(x);
      field.removeAttribute("aria-invalid");
    }
    if (slide !== document.activeElement) range(slide, START_DATA[id], x);
    set(slide, {"aria-valuetext": number(x)});
    said.textContent = field.getAttribute("aria-invalid") === "true" ? "not a number" : moves(id, x);
  }
});

// A slider goes as far to each side of the number at the start; if that is not far enough, of the one now.
function range(slide, start, x) {
  const reach = at => 2 * Math.max(1, Math.abs(at));
  const middle = reach(start) - Math.abs(x - start) >= 0 ? start : x, far = reach(middle);
  set(slide, {min: middle - far, max: middle + far, step: far / 100}).value = x;
  slide.disabled = !isFinite(Math.abs(middle) + far);
}

// What a small step does is worked out once for each point.
const nudged = {};
const brief = x => number(x, 3);

function moves(id, x) {
  if (!PAGE.wrt.includes(id)) return "not differentiated";
  const h = stepOf(x);
  if (!isFinite(x) || !h || app.hides && !known(app.now.grads[id])) return "";
  if (nudged.data !== app.data) Object.assign(nudged, {data: app.data, found: new Map});
  if (!nudged.found.has(id)) nudged.found.set(id, nudges(PAGE, app.data, app.right.grads, id, h));
  const {moved, predicted} = nudged.found.get(id);
  const due = known(app.now.grads[id]) ? `; grad × step is ${brief(predicted)}` : "";
  if (moved === 0) return `${brief(h)} more: ${called(PAGE.output)} stays put${due}`;
  const way = moved > 0 ? `up by ${brief(moved)}` : moved < 0 ? `down by ${brief(-moved)}` : "to no number";
  return `${brief(h)} more moves ${called(PAGE.output)} ${way}${due}`;
}

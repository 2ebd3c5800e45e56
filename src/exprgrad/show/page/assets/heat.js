// Tensors as heat maps on the cards, as tables beside what is picked, and as fields among the inputs; which number comes
// from which; and the Jacobian that is never formed.

const MOST_DRAWN = 4096, MOST_FIELDS = 64, MOST_TERMS = 4;
const placeText = (at, shape) => `[${shape.map((length, axis) => Math.floor(at / sizeOf(shape.slice(axis + 1))) % length).join(", ")}]`;
const widthOf = shape => shape.at(-1) ?? 1;
// Blue above 0 and orange below, which has a bar as well; the larger the stronger.
const tintOf = (x, most) => ({sign: x > 0 ? "above" : x < 0 ? "below" : x === 0 ? "none" : "nan", part: isFinite(x) && most ? Math.abs(x) / most : 0});
const largest = numbers => Math.max(...numbers.map(Math.abs).filter(isFinite), 0);

function cells(parent, places, numbers, side) {
  const most = largest(numbers);
  return numbers.map((x, at) => {
    const {sign, part} = tintOf(x, most), [left, top] = places[at], wide = side * .92;
    const bar = sign === "below" ? `M${left + side * .25},${top + side * .46}h${side * .42}` : sign === "nan" ? `M${left},${top}l${wide},${wide}m0,${-wide}l${-wide},${wide}` : "";
    const made = draw(parent, "g", {class: `cell ${sign}`, "data-at": at});
    draw(made, "path", {d: `M${left},${top}h${wide}v${wide}h${-wide}z`, style: `--part:${(.15 + .85 * part).toFixed(3)}`});
    if (bar && side > 4) draw(made, "path", {d: bar, class: "bar"});
    return made;
  });
}

// The maps on the cards.

const maps = cards.flatMap(({group}, id) => ["data", "grad"].flatMap(kind => {
  const place = group.querySelector(`.${kind} + .map`);
  return place && NODES[id].shape ? {id, kind, place, shape: NODES[id].shape, side: Number(place.dataset.side), made: []} : [];
}));
const mapChanges = changes();
views.push(() => {
  maps.forEach((map, at) => {
    const {id, kind, place, shape, side} = map, x = numbersIn(kind)[id];
    if (!mapChanges(at, x)) return;
    place.replaceChildren();
    if (!known(x)) { map.made = []; return; }
    const numbers = numbersOf(plus(x, tensor(Array(sizeOf(shape)).fill(0), shape)));
    draw(place, "title", {}).textContent = `${kind} of ${called(id)}: ${inTable(numbers, PAGE.digits)}`;
    map.made = cells(place, numbers.map((_, n) => [n % widthOf(shape) * side, Math.floor(n / widthOf(shape)) * side]), numbers, side);
  });
  lightOrigins();
});

// Where a number comes from: {id, kind, at}.

const dataOf = id => NODES[id].operands.map(operand => app.data[operand]);
const isNumberOf = (id, at) => at === 0 && !NODES[id].shape;
function origins({id, kind, at}) {
  const found = [], terms = [];
  EDGES.forEach(({user, operand, position}, edge) => {
    const local = app.locals[edge], entries = local?.slopes ?? [[[0, local]]];
    if (kind === "data" && user === id) for (const [from] of entries[at]) found.push({id: operand, kind, at: from});
    if (kind !== "grad" || operand !== id || !app.flows.has(edge)) return;
    const grads = numbersOf(app.right.grads[user] ?? 0), made = TENSORS[NODES[user].row];
    entries.forEach((row, to) => {
      for (const [from, slope] of row) {
        if (from !== at) continue;
        found.push({id: user, kind, at: to});
        terms.push(`${num(grads[to] ?? grads[0])} × ${bracket(slope)}`);
        for (const words of made ? factors(made, dataOf(user), to, [position, at]) : []) {
          const [place, number] = words.split(" ").map(Number);
          found.push({id: NODES[user].operands[place], kind: "data", at: number});
        }
      }
    });
  });
  return {found, terms};
}
const numberName = ({id, at}) => `${called(id)}${NODES[id].shape ? placeText(at, NODES[id].shape) : ""}`;

function originText(spot) {
  const {found, terms} = origins(spot), {id, kind, at} = spot, x = numbersIn(kind)[id];
  if (!known(x)) return "";
  const own = num(entry(x, at)), more = terms.length > MOST_TERMS ? ` + … (${terms.length} terms)` : "";
  if (kind === "grad") {
    if (own !== num(entry(app.right.grads[id] ?? 0, at))) return `The grad of ${numberName(spot)} is ${own} so far.`;
    const sum = `${terms.slice(0, MOST_TERMS).join(" + ")}${more} = ${own}`;
    return id === PAGE.output ? "The seed." : terms.length ? `The grad of ${numberName(spot)} is ${sum}.` : `Nothing is passed to ${numberName(spot)}: its grad is 0.`;
  }
  const names = found.map(numberName), from = names.slice(0, 2 * MOST_TERMS).join(", ") + (names.length > 2 * MOST_TERMS ? ` and ${names.length - 2 * MOST_TERMS} more` : "");
  return names.length ? `${numberName(spot)} is ${own}, from ${from}.` : `${numberName(spot)} is ${own}.`;
}

let chosen = null, hovered = null;
const same = (one, other) => one.id === other.id && one.kind === other.kind && one.at === other.at;
function lightOrigins() {
  const spot = hovered ?? chosen, isShown = spot && known(numbersIn(spot.kind)[spot.id]);
  const lit = isShown ? origins(spot).found : [], key = ({id, kind, at}) => `${id} ${kind} ${at}`, keys = new Set(lit.map(key));
  graph.classList.toggle("tracing", Boolean(isShown));
  for (const {id, kind, made} of maps)
    made.forEach((cell, at) => {
      cell.classList.toggle("lit", keys.has(key({id, kind, at})));
      cell.classList.toggle("own", Boolean(isShown) && same(spot, {id, kind, at}));
    });
  const words = $("origin");
  if (words) words.textContent = spot ? originText(spot) : "";
}
const spotAt = ({target}) => {
  const cell = target.closest(".cell"), map = cell && maps.find(({place}) => place.contains(cell));
  return map ? {id: map.id, kind: map.kind, at: Number(cell.dataset.at)} : null;
};
graph.addEventListener("pointerover", event => {
  const spot = event.pointerType === "mouse" ? spotAt(event) : null;
  if (!spot === !hovered && (!spot || same(spot, hovered))) return;
  hovered = spot;
  lightOrigins();
});
// A click on a number chooses it, and its node with it.
graph.addEventListener("click", event => { chosen = spotAt(event); hovered = null; });

// Beside what was picked: tables of numbers, or the Jacobian.

function tableOf(id, kind) {
  const {shape} = NODES[id], x = numbersIn(kind)[id];
  if (!shape || !known(x)) return [];
  const numbers = numbersOf(plus(x, tensor(Array(sizeOf(shape)).fill(0), shape))), wide = widthOf(shape), most = largest(numbers);
  const cellOf = (value, at) => {
    const {sign, part} = tintOf(value, most), spot = {id, kind, at};
    const choose = () => { chosen = spot; lightOrigins(); };
    return make("td", {class: sign, style: `--part:${part.toFixed(3)}`, tabindex: chosen && same(chosen, spot) || !chosen && !at ? 0 : -1, onfocus: choose, onclick: choose}, num(value));
  };
  const rows = Array.from({length: numbers.length / wide}, (_, row) => {
    const head = shape.length > 1 ? [make("th", {scope: "row"}, placeText(row, shape.slice(0, -1)))] : [];
    return make("tr", null, ...head, ...numbers.slice(row * wide, (row + 1) * wide).map((value, at) => cellOf(value, row * wide + at)));
  });
  const made = make("table", {role: "grid", class: kind}, make("caption", null, `${kind}, ${shapeText(shape)}`), make("tbody", null, ...rows));
  made.onkeydown = event => {
    const all = [...made.querySelectorAll("td")], at = all.indexOf(event.target), by = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: wide, ArrowUp: -wide}[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    all[at + by]?.focus();
  };
  return [make("div", {class: "long"}, made)];
}

const spread = (x, count) => Array.from({length: count}, (_, at) => entry(x, at));
function jacobianOf(at) {
  const {user, operand, jacobian: size} = EDGES[at], local = app.now.locals[at];
  if (!size) return [];
  const [rows, columns, bytes, far] = size, told = `${rows} by ${columns}`;
  const about = `The Jacobian J is ${told}: a row for each number of ${called(user)}, a column for each of ${called(operand)}. It is never formed; here it would take ${bytes}, and ${far} if every axis were 100 times as long.`;
  if (!local?.slopes || rows * columns > MOST_DRAWN) return [line(about)];
  const side = Math.min(24, 280 / columns, 180 / rows), numbers = [], places = [];
  local.slopes.forEach((row, y) => { for (const [x, slope] of row) numbers.push(slope), places.push([x * side, y * side]); });
  const some = `${numbers.length} of its ${rows * columns} numbers can be other than 0`;
  // The user's grad is drawn beside the rows, and what the wire passes below the columns.
  const passed = contributions().findLast(({edge}) => edge === at), gap = passed ? 1.5 * side : 0, [wide, high] = [columns, rows].map(count => count * side + gap + 2);
  const made = set(document.createElementNS("http://www.w3.org/2000/svg", "svg"), {class: "jacobian", role: "img", "aria-label": `The Jacobian, ${told}: ${some}`, viewBox: `${-gap - 1} -1 ${wide} ${high}`, width: wide, height: high});
  draw(made, "path", {d: `M0,0h${columns * side}v${rows * side}h${-columns * side}z`, class: "edge"});
  const heat = (own, at) => cells(made, own.map(at), own, side).forEach((cell, n) => { draw(cell, "title", {}).textContent = num(own[n]); });
  heat(numbers, (_, n) => places[n]);
  if (passed) {
    heat(spread(passed.grad, rows), (_, y) => [-gap, y * side]);
    heat(spread(passed.value, columns), (_, x) => [x * side, (rows + .5) * side]);
  }
  const more = passed ? ` Left: the grad of ${called(user)}. Below: what is passed on.` : "";
  return [made, line(`${about} ${some}.${more}`)];
}

views.push(() => {
  const {picked} = app;
  if (!picked || !known(picked.node) || chosen?.id !== picked.node) chosen = null;
  if (picked) {
    const more = known(picked.edge) ? jacobianOf(picked.edge) : ["data", "grad"].flatMap(kind => tableOf(picked.node, kind));
    if (more.length && known(picked.node)) more.unshift(make("p", {id: "origin", role: "status"}));
    $("close").firstChild.after(...more);
  }
  lightOrigins();
});

// The inputs: a field for each number, if they are few.

const grids = PAGE.inputs.filter(([, id]) => NODES[id].shape).map(([name, id]) => {
  const {shape} = NODES[id], count = sizeOf(shape), isFixed = PAGE.fixed?.includes(name);
  const label = make("p", null, make("b", null, make("bdi", null, name)), ` ${shapeText(shape)}`);
  const place = make("div", {class: "tensor", role: "group", "aria-label": `${name}, ${shapeText(shape)}`}, label);
  $("inputs").lastChild.before(place);
  if (isFixed || count > MOST_FIELDS) {
    place.append(line(isFixed ? "Its numbers choose among others: they cannot be edited here." : "Too many numbers to edit here."));
    return {id, inputs: []};
  }
  const inputs = Array.from({length: count}, (_, at) => {
    const field = make("input", {autocomplete: "off", spellcheck: "false", "aria-label": `${name}${placeText(at, shape)}`});
    field.oninput = () => {
      const x = parse(field.value);
      field.setAttribute("aria-invalid", x === null);
      if (x !== null) give(id, tensor(Object.assign([...app.data[id]], {[at]: x}), shape));
    };
    field.onblur = show;
    return field;
  });
  place.append(make("div", {class: "grid", style: `--columns:${widthOf(shape)}`}, ...inputs));
  return {id, inputs};
});
views.push(() => {
  for (const {id, inputs} of grids)
    inputs.forEach((field, at) => {
      if (field === document.activeElement) return;
      field.value = exact(app.data[id][at]);
      field.removeAttribute("aria-invalid");
    });
});

// Under Ask me each number of a small tensor has a field of its own.

app.grid = (slate, id, kind, x) => {
  const {shape} = NODES[id], boxes = Array.from(x, () => make("div"));
  slate.append(make("div", {class: "tensor", role: "group", "aria-label": `${kind} of ${called(id)}`},
    make("p", null, make("b", null, `${kind} of ${called(id)}`), ` ${shapeText(shape)}`),
    make("div", {class: "grid", style: `--columns:${widthOf(shape)}`}, ...boxes)));
  return boxes.map((box, at) => question({id, kind, at, box, truth: x[at] + 0, name: `${kind} of ` + numberName({id, at})}));
};
app.hint = spot => {
  const {id, kind} = spot, {found, terms} = origins(spot), from = found.map(one => (one.kind === "grad" ? "the grad of " : "") + numberName(one));
  if (kind === "data") return `${NODES[id].label}: ${about(PAGE, id)}. It comes from ${from.join(", ")}.`;
  if (id === PAGE.output) return "The seed.";
  return terms.length ? `It comes from ${[...new Set(from)].join(", ")}.` : "Nothing is passed to it.";
};

// How the views make, find and fill elements.  Texts are set as texts, never read as HTML.

const $ = id => document.getElementById(id), settings = document.documentElement.dataset;

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element[name] = value;
    else if ((value ?? false) === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  return element;
}

function make(tag, attributes, ...inside) {
  const made = set(document.createElement(tag), attributes ?? {});
  made.append(...inside);
  return made;
}

const draw = (parent, tag, attributes) =>
  parent.appendChild(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes));

const button = (words, onclick, label) => make("button", {type: "button", onclick, "aria-label": label}, words);

// Have the list of keys tell one, once: the list is that of all formulas.
function tellKey(name, words) {
  const list = document.querySelector("#keys dl");
  if (!list.textContent.includes(words)) list.append(make("dt", null, name), make("dd", null, words));
}

// What may be longer than its box scrolls by the keys, too; its length changes with some parts.
function scrollable(box, ...parts) {
  const watch = new ResizeObserver(() => set(box, {tabindex: box.scrollHeight > box.clientHeight && 0}));
  for (const part of parts) watch.observe(part);
}

// Whether something is not as it was: large pages write only what is new.
function changes() {
  const before = new Map;
  return (key, ...now) => {
    const last = before.get(key);
    before.set(key, now);
    return !last || now.some((x, at) => !Object.is(x, last[at]));
  };
}

// A text in the graph that takes no more than its room, whatever the font.
function fill(text, words, room) {
  if (text.textContent === words) return;
  set(text, {textLength: false}).textContent = words;
  rooms.set(text, room);
  written.add(text);
}

const rooms = new Map, written = new Set, WIDEST = 9;
// All are measured together: each change would have the next measure lay out the whole graph again.
function fit(texts) {
  // No character of a number is wider than so: most are not measured.
  const wide = [...texts].filter(text => text.textContent.length * WIDEST > rooms.get(text) && text.getComputedTextLength() > rooms.get(text));
  wide.forEach(squeezeText);
  written.clear();
}
const squeezeText = text => set(text, {textLength: rooms.get(text), lengthAdjust: "spacingAndGlyphs"});

// The first cell of a row is its head.  What is no list of cells is a row that was made.
const row = (cells, attributes) =>
  make("tr", attributes, ...cells.map((cell, at) => make(at ? "td" : "th", at ? null : {scope: "row"}, cell)));

const table = (caption, heads, rows) =>
  make("table", null,
    make("caption", null, caption),
    make("thead", null, make("tr", null, ...heads.map(head => make("th", {scope: "col"}, head)))),
    make("tbody", null, ...rows));

// The local derivative as MathML, which the program wrote, with every name in it escaped.
function formula(edge) {
  if (!edge.math) return edge.rule;
  const made = make("span");
  made.innerHTML = edge.math;
  return made;
}

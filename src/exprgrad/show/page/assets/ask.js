// Ask me: numbers are hidden in the graph, and the reader types them there, a tensor's in the panel.

// A local derivative between tensors is a Jacobian.  Keys that others name are quoted: they stay as they are.
const ASKED = {data: "data", ...!app.grid && {"local": "local derivatives"}, grad: "grads"}, MOST_ASKED = 12;
const layer = draw(graph, "g", {class: "fields"});
const slate = make("div");
let questions = [], latest = null, from = 0;
// What is asked for, and how it goes so far.
const wanted = make("p", {class: "wanted"}), score = make("p", {class: "score"});

const offer = make("div", {class: "row"}, ...Object.entries(ASKED).map(([kind, words]) => button(capital(words), () => ask(kind))));
const reply = make("p", {role: "status"});
const tools = make("div", {class: "row", hidden: true},
  button("Hint", () => answer(hintOf(latest))),
  button("Show this one", () => settle(latest, false)),
  button("Show all", () => { for (const question of unknown()) settle(question, false); }),
  button("Stop asking", () => ask("")));
$("ask").append(line("Numbers are hidden in the graph; you work them out." + (app.grid ? "  Click a node to read those that are not hidden." : "")), offer, wanted, reply, slate, tools, score);

const answer = words => { reply.textContent = words; };
const unknown = () => questions.filter(({open}) => open);

function ask(kind) {
  const back = app.asking;
  const truthOf = at => kind === "local" ? app.locals[at] : kind === "data" ? app.data[at] : app.right.grads[at] ?? 0;
  // A nan or an infinity cannot be found.
  const isAsked = x => x.shape ? x.length <= MOST_ASKED && x.every(isFinite) : isFinite(x);
  const asked = (kind === "data" ? NODES.filter(({row}) => row).map(({id}) => id) : kind === "grad" ? ORDERS.right(PAGE) : [...app.flows]).filter(at => isAsked(truthOf(at)));
  stop();
  if (kind && !asked.length) return answer(`There are no ${ASKED[kind]} to find.`);
  layer.replaceChildren();
  slate.replaceChildren();
  if (kind) from = app.at;
  Object.assign(app, {asking: kind, picked: null, at: kind ? kind === "data" ? 0 : forwards() : from});
  document.body.classList.toggle("asking", Boolean(kind));
  offer.hidden = kind;
  tools.hidden = score.hidden = !kind;
  if (kind) turnTo("Ask me"), $("told").textContent = "";
  questions = !kind ? [] : asked.flatMap(at => kind === "local" ? onChip(at) : truthOf(at).shape ? app.grid(slate, at, kind, truthOf(at)) : onCard(at, kind, truthOf(at)));
  show();
  answer(kind ? `${questions.length} number${questions.length > 1 ? "s" : ""} to find. Enter checks one.` : "");
  tally();
  if (kind) questions[0].field.focus();
  else offer.children[Object.keys(ASKED).indexOf(back)]?.focus();
}

function onCard(id, kind, truth) {
  const text = cards[id][kind], {room} = cards[id];
  return question({id, kind, truth, name: `${kind} of ${called(id)}`, x: left(text) - room, y: text.y.baseVal[0].value - 11.5}, room + 2);
}

function onChip(edge) {
  const {x, y, width} = chips[edge].box, {user, operand} = EDGES[edge], wide = Math.max(42, width);
  return question({edge, kind: "local", truth: app.locals[edge], name: `local derivative of ${called(user)} for ${called(operand)}${which[edge]}`, x: x + (width - wide) / 2, y}, wide);
}

function question(asked, width) {
  const {x, y} = asked, made = {...asked, open: true, tries: 0};
  made.place = made.box ?? draw(layer, "foreignObject", {x, y, width, height: 16});
  made.field = make("input", {"aria-label": asked.name, autocomplete: "off", placeholder: "?",
    onfocus: () => { latest = made; nameIt(); light(); },
    onchange: () => checked(made),
    onkeydown: event => { if (event.key === "Enter") event.preventDefault(), checked(made) && (unknown()[0]?.field ?? tools.lastChild).focus(); },
  });
  made.place.append(made.field);
  return made;
}

// What is typed is right if it is the number as shown, or as far as it goes, from so many digits on.
function isRight(words, truth, least = 3) {
  const x = parse(words), [, typed = ""] = pointed(words).match(/^[-+−]?([\d.]+)(e.*)?$/i) ?? [];
  const size = typed.replace(/\D/g, "").replace(/^0+/, "").length;
  return [PAGE.digits, ...size >= least ? [Math.min(size, 17)] : []].some(digits => number(x, digits) === number(truth, digits));
}

// The hint for an answer with the wrong sign.
const turned = (words, truth) => truth && isRight(num(-parse(words)), truth) && "The size is right, the sign is not.";

function checked(asked) {
  const words = asked.field.value.trim(), x = parse(words);
  if (!asked.open || !words) return false;
  if (x !== null) asked.tries++;
  if (x !== null && isRight(words, asked.truth)) return settle(asked, true);
  set(asked.field, {"aria-invalid": "true"}).select();
  const why = x !== null && (turned(words, asked.truth) || asked.kind === "grad" && app.mistake?.(asked.id, words));
  answer(x === null ? `${words} is not a number.` : why ? `✗ ${why}`
    : isRight(words, asked.truth, 1) ? `${words} is right as far as it goes: three digits, please.` : `✗ ${words} is not the ${asked.name}.`);
  return false;
}

function settle(asked, right) {
  if (!asked?.open) return false;
  Object.assign(asked, {open: false, right});
  if (asked.box) asked.box.replaceChildren((right ? "✓ " : "") + num(asked.truth));
  else asked.place.remove();
  if (right && !asked.box) draw(layer, "text", {class: "tick", x: asked.x, y: asked.y + 11.5}).textContent = "✓";
  show();
  const rest = unknown();
  const more = rest.length ? `${rest.length} to go.` : "That was the last one.";
  answer(`${right ? "✓ Right" : "Shown"}: the ${asked.name} is ${num(asked.truth)}. ${more}`);
  if (latest === asked) latest = rest[0];
  tally();
  return true;
}

function nameIt() {
  wanted.hidden = !app.asking || !latest?.open;
  wanted.textContent = wanted.hidden ? "" : `What is the ${latest.name}?`;
}

// How many were found, and how many of them at the first try; at the end, what to do next.
function tally() {
  const of = which => questions.filter(which).length, total = questions.length, found = of(({right}) => right);
  const first = of(({right, tries}) => right && tries === 1), told = of(({open, right}) => !open && !right);
  nameIt();
  const parts = [`${found} of ${total} found`, first && `${first} at the first try`, told && `${told} shown`];
  score.textContent = `${parts.filter(Boolean).join(", ")}.`;
  const over = app.asking && !unknown().length;
  for (const tool of [...tools.children].slice(0, -1)) tool.hidden = over;
  offer.hidden = Boolean(app.asking) && !over;
}

function hintOf(asked) {
  if (!asked) return "";
  const {id, edge, kind, box} = asked;
  if (box) return app.hint(asked);
  if (kind === "data") return `${NODES[id].label}: ${about(PAGE, id)}`;
  if (kind === "local") return capital(rule(PAGE, edge));
  if (id === PAGE.output) return "The seed: how far the output moves when the output moves.";
  const ways = [...app.flows].filter(at => EDGES[at].operand === id)
    .map(at => `grad of ${called(EDGES[at].user)} × ${bracket(app.locals[at])}`);
  return `The grad of ${called(id)} is ${ways.join(" + ") || "0: nothing reaches it"}`;
}

// What has been found is shown as if the sweep had got there.
app.reveal = now => {
  if (app.asking) now.nodes = now.wires = [];
  for (const {id, edge, kind, open, box} of questions)
    if (kind === "local") now.locals[edge] = open ? undefined : app.locals[edge];
    // A tensor is shown when all of it has been found.
    else if (!open && !(box && questions.some(other => other.open && other.id === id))) numbersIn(kind, now)[id] = kind === "grad" ? app.right.grads[id] ?? 0 : app.data[id];
};

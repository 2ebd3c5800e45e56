// Wrong numbers explained: what is not finite, or has lost its digits, is marked where it begins, told with the step
// that makes it and where one looks closer, and never called right.

const said = make("div", {role: "status"}), remarks = [];
const edited = make("section", {"aria-label": "Notes", "data-tab": "Inputs"}, make("h2", null, "Notes"), said);
$("notes").after(edited);

const begins = cards.map(card => below(card, "true"));
const isBlamed = ({node, edge}) => known(edge) ? app.done.some(step => step.edge === edge) : known(app.now.data[node]);
const spotText = ({text}) => `${text}.`;
let seen = null, wasTroubled = false;

views.push(() => {
  const {blamed, given, data, now: {step}, picked} = app, shownNow = blamed.filter(isBlamed), losses = lossesNow();
  const lossAt = id => known(app.now.data[id]) && losses.find(({node}) => node === id);
  // Most pages are well, and have nothing to mark.
  const isTroubled = blamed.length || losses.length || PAGE.vague;
  if (isTroubled || wasTroubled) {
    cards.forEach(({group, data: text, grad}, id) => {
      const own = shownNow.find(({node}) => node === id), lost = lossAt(id);
      group.classList.toggle("blamed", Boolean(own ?? lost));
      fill(begins[id], own ? `⚠ ${num(own.x)} begins here` : lost ? "⚠ loses digits" : "", 1e3);
      for (const [kind, part] of [["data", text], ["grad", grad]]) {
        const x = numbersIn(kind)[id];
        part?.classList.toggle("bad", known(x) && (!Number.isFinite(x) || isVague(id, kind)));
      }
    });
    chips.forEach(({group}, at) => group.classList.toggle("blamed", shownNow.some(({edge}) => edge === at)));
  }
  wasTroubled = isTroubled;
  const about = (spot, own) => [...blamed, ...losses].filter(one => known(own(one)) && own(one) === own(spot)).map(spotText);
  const node = one => one.node, edge = one => one.edge;
  const why = !step ? [] : known(step.edge) ? about(step, edge) : step.kind === "value" ? about(step, node) : [];
  if (why.length) $("why").textContent = why.join(" ");
  if (picked) {
    const here = about(picked, known(picked.edge) ? edge : node).map(words => make("p", {class: "bad"}, `⚠ ${words}`));
    $("close").firstChild.after(...here);
  }
  if (seen === data) return;
  seen = data;
  const notes = given.size ? [...blamed.map(spotText), ...remarks.flatMap(told => told())] : [];
  if (given.size) notes.push(...lossNotes);
  edited.hidden = !notes.length;
  said.replaceChildren(...notes.map(words => line(words)));
});

// What is said instead of "right".
function verdict(id) {
  const due = app.right.got[id];
  const beside = app.sideVerdict?.(id);
  if (!isFinite(due) && !beside?.startsWith("⚠")) return `⚠ no number: ${num(due)} begins at ${startOf(due)}`;
  return beside ?? (isVague(id, "grad") ? "⚠ the sweep's, with digits lost" : null);
}

function startOf(x) {
  const {node, edge} = app.blamed.findLast(one => Object.is(one.x, x)) ?? app.blamed[0] ?? {};
  return known(edge) ? `the edge from ${called(EDGES[edge].operand)} to ${called(EDGES[edge].user)}` : called(node ?? PAGE.output);
}

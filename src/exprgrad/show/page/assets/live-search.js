// The order by a depth-first search, step by step, beside its code: what is visited, what waits, what is done.

const SEARCH = [
  "def visit(node):",
  "    if node in visited: return",
  "    visited.add(node)",
  "    for operand in node.operands:",
  "        visit(operand)",
  "    order.append(node)",
  "",
  "visit(output)",
  "for node in reversed(order):",
  "    node.backward()",
];
// A key in quotes stays as it is.
const LINES = {ask: 1, add: 2, call: 4, append: 5, "start": 7, sweep: 8};

// What the search does, one event after the other: the line, the node, and the sets as they are then.
function searched({nodes, output}) {
  const visited = [], order = [], stack = [], events = [];
  const note = (line, node, words) => events.push({line: LINES[line], node, words, visited: [...visited], order: [...order], stack: stack.map(({node}) => node)});
  const enter = node => {
    const isNew = !visited.includes(node);
    note("ask", node, isNew ? `${called(node)} is not in visited: go on` : `${called(node)} is in visited already: return at once`);
    if (!isNew) return;
    stack.push({node, left: [...nodes[node].operands ?? []]});
    visited.push(node);
    note("add", node, `${called(node)} is visited now`);
  };
  note("start", output, `visit(${called(output)}): the search begins at the output`);
  enter(output);
  while (stack.length) {
    const {node, left} = stack.at(-1);
    if (left.length) {
      const operand = left.shift();
      note("call", operand, `${called(node)} needs ${called(operand)}: visit(${called(operand)})`);
      enter(operand);
    } else {
      order.push(node);
      note("append", node, `${called(node)} has all that it needs: it is appended`);
      stack.pop();
    }
  }
  note("sweep", output, "Read backward, each node stands after all its users");
  return events;
}

LIVE.search = place => {
  const events = searched(PAGE), code = make("pre", {tabindex: 0, role: "group", "aria-label": "The search in Python"}), said = make("p", {class: "wanted", role: "status"});
  const lines = SEARCH.map(words => make("code", null, words || " "));
  code.append(...lines);
  const facts = ["stack", "visited", "order"].map(name => [name, make("dd")]);
  let at = 0, timer = 0;
  const halt = () => {
    clearTimeout(timer);
    timer = 0;
    set(go, {"aria-label": "Play the search"}).textContent = "Play";
  };
  const turn = to => {
    at = Math.max(0, Math.min(events.length, to));
    at === events.length ? reach("end") : show();
    if (at) cards[events[at - 1].node].group.scrollIntoView({block: "nearest", inline: "nearest"});
  };
  const beat = () => {
    turn(at + 1);
    if (at === events.length || !place.contains(code)) return halt();
    timer = setTimeout(beat, BEAT / 2 / speed);
  };
  const go = button("Play", () => {
    if (timer) return halt();
    set(go, {"aria-label": "Pause the search"}).textContent = "Pause";
    if (at === events.length) at = 0;
    beat();
  }, "Play the search");
  const use = button("Sweep in this order", () => {
    visitIn("own", [...events.at(-1).order].reverse().filter(id => NODES[id].active));
    app.at = forwards();
    show();
  });
  place.append(code,
    make("div", {class: "row"}, button("← Back", () => { halt(); turn(at - 1); }, "Back in the search"), button("Next →", () => { halt(); turn(at + 1); }, "Next in the search"), go, use),
    said, make("dl", {class: "facts"}, ...facts.flatMap(([name, fact]) => [make("dt", null, name), fact])));
  views.push(() => {
    const event = events[at - 1], open = isOpen(place);
    lines.forEach((line, n) => set(line, {"aria-current": n === event?.line && "step"}));
    said.textContent = event?.words ?? "Press Next, and guess which line comes next.";
    for (const [name, fact] of facts) fact.textContent = (event?.[name] ?? []).map(called).join(name === "stack" ? " → " : ", ") || "empty";
    use.hidden = at < events.length;
    cards.forEach(({group}, id) => {
      group.classList.toggle("visited", open && Boolean(event?.visited.includes(id)));
      group.classList.toggle("ordered", open && Boolean(event?.order.includes(id)));
      group.classList.toggle("searching", open && event?.node === id && at < events.length);
    });
  });
};

// Paths and edges: how many × and + it takes path by path, and in one sweep, for a chain of copies.

// The paths from the output to each node: how many, and how many edges they have together.
function pathCounts(page, web) {
  const ways = new Map([[page.output, {count: 1n, steps: 0n}]]);
  for (const edge of web.edges) {
    const {user, operand} = page.edges[edge], from = ways.get(user), to = ways.get(operand) ?? {count: 0n, steps: 0n};
    ways.set(operand, {count: to.count + from.count, steps: to.steps + from.steps + from.count});
  }
  return ways;
}

// A count as people read it: with commas, and from a quadrillion on as a power of ten.
const large = n => n < 10n ** 15n ? n.toLocaleString("en") : `about 10^${String(n).length - 1}`;
const SPANS = [["centuries", 3155760000n], ["years", 31557600n], ["days", 86400n], ["hours", 3600n], ["minutes", 60n]];
// How long so many operations take, at a billion a second.
function span(n) {
  const seconds = n / 10n ** 9n, [unit, size] = SPANS.find(([, size]) => seconds >= 2n * size) ?? ["seconds", 1n];
  return seconds < 2n ? "a moment" : `${large(seconds / size)} ${unit}`;
}

// How many of these operations the formula has.
const operationsOf = (...kinds) => NODES.filter(({row}) => kinds.includes(row)).length;

LIVE.paths = place => {
  const COPIES = 60, slide = make("input", {type: "range", min: 1, max: COPIES, value: 1});
  const said = make("p"), done = make("p"), grid = make("div", {class: "bars"});
  const label = make("label", null, "Copies in a chain: ", slide);
  slide.oninput = () => Number(slide.value) === COPIES ? reach("end") : show();
  place.append(done, label, grid, said);
  views.push(() => {
    if (!isOpen(place)) return;
    const web = webOf(PAGE, app.locals), ways = pathCounts(PAGE, web), copies = BigInt(slide.value);
    const most = PAGE.wrt.reduce((one, other) => (ways.get(other)?.count ?? 0n) > (ways.get(one)?.count ?? 0n) ? other : one);
    const {count, steps} = ways.get(most) ?? {count: 0n, steps: 0n}, edges = BigInt(web.edges.length);
    const passed = new Set(app.done.filter(({edge}) => known(edge)).map(({edge}) => edge)).size;
    done.textContent = `Here ${large(count)} path${count === 1n ? "" : "s"} lead${count === 1n ? "s" : ""} from ${called(most)} to ${called(PAGE.output)}. The forward sweep takes ${operationsOf("mul")} × and ${operationsOf("add", "sub")} +; the reverse sweep takes a × and a + for each edge, and has passed ${passed} of ${edges}.`;
    const paths = count ** copies, work = copies * count ** (copies - 1n) * steps, passes = copies * edges, one = work + paths, other = 2n * passes;
    const bar = n => make("div", {class: "bar", style: `width:${100 * Number(n * 1000n / (one > other ? one : other) || 0n) / 1000}%`});
    grid.replaceChildren(
      make("span", null, "path by path"), bar(one), make("span", null, large(one)),
      make("span", null, "one sweep"), bar(other), make("span", null, large(other)));
    set(slide, {"aria-valuetext": `${copies}`});
    said.textContent = `${copies} cop${copies === 1n ? "y" : "ies"}: ${large(paths)} path${paths === 1n ? "" : "s"}. Path by path takes ${large(work)} × and ${large(paths)} +, the sweep ${large(passes)} × and ${large(passes)} +. At a billion a second, the paths take ${span(one)}, and the sweep ${span(other)}.`;
  });
};

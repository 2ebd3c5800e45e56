// The code in one of the libraries: lines, some of them of a node.
const {libraries, given: named, lines: operations} = PAGE.code ?? {libraries: []};
const listing = make("ol", {"aria-label": "Lines"}), lacking = line();
const inPython = x => x.shape ? nested(Array.from(x, inPython), x.shape) : !isFinite(x) ? `float("${String(x).replace("Infinity", "inf")}")` : Number.isInteger(x) && Math.abs(x) < 1e16 ? x.toFixed(1) : String(x);
const given = (words, [id, name]) => words.replace("{name}", name).replace("{number}", inPython(app.data[id]));
function writeCode() {
  const at = Math.max(0, libraries.findIndex(([title]) => title === settings.library));
  const [title, head, input, opening, indent, closing] = libraries[at], plain = text => text.split("\n").map(words => [words]);
  const listed = !input ? [] : [
    ...plain(head),
    ...named.map(own => [given(input, own), own[0], own]),
    ...opening ? plain(opening) : [],
    ...operations.map(([id, ...texts]) => [indent + (texts[at] ?? texts[0]), id]),
    ...plain(closing),
  ];
  rows = listed.map(([words, id, own]) => ({made: make("li", null, words), ids: known(id) ? [id] : [], input, own}));
  listing.replaceChildren(...rows.map(({made}) => made));
  rows = rows.filter(({ids}) => ids.length);
  for (const {made, ids} of rows) leading(made, ids);
  walkable(rows);
  check("library", title);
  lacking.hidden = input;
  lacking.textContent = input ? "" : `${title} has no ${head}, nor what it takes to write it.`;
}
if (libraries.length) {
  const titles = Object.fromEntries(libraries.map(([title]) => [title, title]));
  $("code").append(choices("Library", "library", titles, title => {
    settings.library = title;
    writeCode();
    light();
  }), listing, lacking);
} else $("code").append(line("No input moves the output: there is no grad to find."));

app.uncover = () => {
  // Where it is out of sight, the list need not be laid out.
  const made = listing.checkVisibility?.({contentVisibilityAuto: true}) && listing.querySelector(pointedAt.length ? ".lit" : ".now");
  if (!made) return;
  if (settings.tab === "Code") made.scrollIntoView({block: "nearest"});
  else if (made.offsetTop < listing.scrollTop || made.offsetTop + made.offsetHeight > listing.scrollTop + listing.clientHeight)
    listing.scrollTop = made.offsetTop - listing.clientHeight / 2;
};
const lineChanges = changes();
views.push(() => {
  if (libraries.length && !listing.firstChild && !lacking.textContent) writeCode();
  for (const {made, own, input} of rows) if (own && lineChanges(own[0], app.data[own[0]])) made.textContent = given(input, own);
});

// Where there is room the code is below the graph, and is seen with it.
app.placeCode = () => {
  const roomy = matchMedia("(min-width: 60.01rem) and (min-height: 47rem)"), behind = $("code").nextElementSibling;
  // The page of a formula that is left hears of it, too.
  (roomy.onchange = () => behind.isConnected && (roomy.matches ? $("front").append($("code")) : behind.before($("code"))))();
};
tellKey("in the code ↑ ↓", "the line before, the next");

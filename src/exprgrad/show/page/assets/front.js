// The page of a network opens on what it learns: the points, the boundary and the loss, and one neuron open beside them.  The
// whole graph is folded; a button opens it, and so does a step.

const neurons = NODES.filter(({row}) => row in CALLS.calls).map(({id}) => id), opened = make("div");
// Who opens the part that trains it sees it train.
const trains = lives[0].closest("details");
const pickers = make("div", {class: "row", role: "group", "aria-label": "Neuron"}, "Neuron", ...neurons.map(id => button(called(id), () => pick({node: id}))));
const learns = make("div", {id: "learns"}, lives[0], pickers, opened);
const isLearning = () => page.classList.contains("learning");
const turner = button("", () => turnFront(!isLearning()));
let inFront = neurons[0];
function turnFront(isFolded) {
  page.classList.toggle("learning", isFolded);
  turner.textContent = isFolded ? "The whole graph" : "What it learns";
  show();
}
frame.before(learns);
trains.addEventListener("toggle", () => { if (trains.open) turnFront(true); });
$("side").prepend(turner);
app.unfold = () => { if (isLearning()) turnFront(false); };

views.push(() => {
  if (!isLearning()) return;
  // Numbers are asked for in the graph, and an order is clicked there.
  if (app.asking || app.place) return turnFront(false);
  inFront = [app.picked, app.now.step].map(spot => spot?.node).find(id => neurons.includes(id)) ?? inFront;
  opened.replaceChildren(insideOf(inFront, NODES[inFront].call.split("(")[0]));
  neurons.forEach((id, at) => set(pickers.children[at], {"aria-pressed": id === inFront}));
});
// What it has learned is seen at the last step, without a step of the reader.
const isLast = FACTS.step;
FACTS.step = () => isLast() && !isLearning();
turnFront(!app.at);

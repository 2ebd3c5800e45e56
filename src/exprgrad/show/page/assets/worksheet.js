// On paper: a worksheet with all parts and formulas, blank, to be filled in by hand, or solved.  What is printed without
// being asked for is the page as it is, solved.

// The formula that is shown, its graph and tables: at the end, or at the start and without local derivatives.
page.copy = isSolved => {
  go(isSolved ? app.steps.length : 0);
  const made = make("section", null, ...[...document.querySelectorAll("#formulas > :not([hidden]) > code, #graph, #nodes, #edges")].map(part => part.cloneNode(true)));
  if (!isSolved) for (const blank of made.querySelectorAll(".chip text, #edges td")) blank.textContent = "";
  return made;
};

// All tasks, with the answers or with room for them.
function taskSheet(isSolved) {
  const made = $("tasks")?.cloneNode(true) ?? make("p");
  for (const part of made.querySelectorAll("details")) set(part, {open: "", name: false});
  made.querySelectorAll("li:has(> label)").forEach((item, task) => {
    const [form] = item.getElementsByTagName("form"), options = form?.querySelector("input") ? [] : [...form?.children ?? []].slice(0, -2);
    item.classList.toggle("shown", isSolved);
    form?.remove();
    const {answer = ""} = LESSON.answers?.find(one => one.task === task) ?? {};
    if (isSolved) item.firstChild.append(make("b", null, " " + (answer.big ? answer : num(answer))));
    else item.append(make("p", {class: "lines"}, ...options[0] ? options.map(one => `☐ ${one.textContent} `) : [make("span")]));
  });
  return made;
}

function printSheet(isSolved) {
  const back = `#${address()}`, {at} = app, turns = () => document.querySelectorAll("#formulas button");
  if (app.asking) ask("");
  const copies = [...turns()[0] ? turns() : [0]].map((_, place) => {
    turns()[place]?.click();
    return page.copy(isSolved);
  });
  // All is as it was: the formula, the step, the inputs, the order.
  if (!turns()[0]) go(at);
  else if (turns()[PAGE.formula].click(), !location.protocol.startsWith("about")) {
    history.replaceState(null, "", back);
    dispatchEvent(new Event("hashchange"));
  }
  const paper = make("div", {id: "paper"}, document.querySelector("header").cloneNode(true), isSolved ? "" : make("p", {class: "lines"}, "Name: ", make("span"), " Date: ", make("span")), taskSheet(isSolved), ...copies);
  document.querySelector("main").append(paper);
  print();
  paper.remove();
}
$("ask").append(make("div", {class: "row"}, button("Print the worksheet", () => printSheet(false)), button("Print the solution", () => printSheet(true))));

// On paper everything has happened.
let before = 0;
addEventListener("beforeprint", () => {
  before = app.at;
  if (!app.asking) go(app.steps.length);
});
addEventListener("afterprint", () => app.asking || go(before));

// A sheet of paper: blank, to be filled in by hand, or solved.  What is printed without being asked for is solved.

const printAs = kind => {
  page.dataset.sheet = kind;
  print();
  delete page.dataset.sheet;
};
$("ask").append(make("div", {class: "row"}, button("Print the worksheet", () => printAs("blank")), button("Print the solution", () => printAs("solved"))));
document.querySelector("header").append(make("p", {class: "lines"}, "Name: ", make("span"), " Date: ", make("span")));

// On paper everything has happened, or nothing.
let before = 0;
addEventListener("beforeprint", () => {
  before = app.at;
  if (!app.asking) go(page.dataset.sheet === "blank" ? 0 : app.steps.length);
});
addEventListener("afterprint", () => app.asking || go(before));

// Everything is there: the first picture, and what the window asks for.

framed("notes", ...PAGE.notes.map(({severity, message, help}) => line(`${capital(severity)}: ${[message, help].filter(Boolean).join("; ")}`)));
views.push(() => { $("notes").hidden = !PAGE.notes.length || app.given.size > 0; });

// A panel is called as its head says.
for (const panel of $("panels").children) set(panel, {"aria-label": panel.firstChild.textContent});

// The graph goes beside the panels if both have room there.
const {classList} = document.documentElement, arrange = () => {
  classList.add("beside");
  classList.toggle("beside", $("panels").offsetLeft > $("stage").offsetLeft);
};
addEventListener("resize", arrange);

// On paper everything has happened, unless it is asked for.
let before = 0;
addEventListener("beforeprint", () => {
  before = app.at;
  if (!app.asking) go(app.steps.length);
});
addEventListener("afterprint", () => app.asking || go(before));

compute();
show();
arrange();

// Everything is there: the first picture, and what the window asks for.

framed("notes", ...PAGE.notes.map(({severity, message, help}) => line(`${capital(severity)}: ${[message, help].filter(Boolean).join("; ")}`)));
views.push(() => { $("notes").hidden = !PAGE.notes.length || app.given.size > 0; });

// A panel is called as its head says.
for (const panel of [...$("panels").children, closer]) set(panel, {"aria-label": panel.firstChild.textContent});

// In a small window the panels take turns, by a row of buttons.
const page = document.documentElement, tabs = make("nav", {"aria-label": "Panels"});
function turnTo(name) {
  settings.tab = name;
  for (const tab of tabs.children) set(tab, {"aria-pressed": tab.textContent === name});
  for (const panel of $("panels").children) panel.classList.toggle("chosen", panel.dataset.tab === name);
}
for (const name of new Set(["Steps", ...[...$("panels").children].map(panel => panel.dataset.tab)]))
  tabs.append(button(name, () => turnTo(name)));
$("told").before(tabs);
turnTo(settings.tab ?? "Steps");
page.classList.add("live");
app.placeCode?.();

// So may a long formula in its head.
const head = document.querySelector("header");
scrollable(head, head);

recall();
resize();
show();

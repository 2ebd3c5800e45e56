// The formulas of a lesson: a button for each, and the one that is shown.

const texts = [...$("formulas").children];
function turnToFormula(place) {
  if (place === PAGE.formula) return;
  const {sheet} = CALLS.sheets.find(({formula}) => formula === place);
  stop();
  // The step and the inputs in the address are the other formula's.
  clearTimeout(waiting);
  if (!location.protocol.startsWith("about")) history.replaceState(null, "", `#open=${sheet}`);
  lay(sheet);
}
const switches = JSON.parse($("formulas").dataset.names).map((words, place) =>
  set(button(words, () => {
    turnToFormula(place);
    document.querySelector("#formulas [aria-pressed=true]").focus();
  }), {"aria-pressed": place === PAGE.formula}));
texts.forEach((text, place) => { text.hidden = place !== PAGE.formula; });
$("formulas").prepend(make("div", {class: "row", role: "group", "aria-label": "Formula"}, ...switches));
addEventListener("hashchange", () => { if (asked() !== PAGE.sheet) lay(asked()); });

// A tour of three bubbles, before the first step.  Once it is closed it stays so, where the browser allows that.

const TIPS = ["Click a node or an edge to look at it closer.", "Give an input another number: all that follows changes.", "Under Ask me numbers are hidden, for you to find."];
const bubble = make("div", {id: "tour", class: "row", role: "note", "aria-label": "Tour"}), TOURED = "exprgrad tour";
function tellTip(at) {
  const more = button("More", () => {
    tellTip(at + 1);
    bubble.lastChild.focus();
  });
  const shut = button("×", () => {
    settings.toured = 1;
    bubble.remove();
    try { localStorage.setItem(TOURED, 1); } catch {}
  }, "Close the tour");
  bubble.replaceChildren(make("span", null, `${at + 1} of ${TIPS.length}: ${TIPS[at]}`), ...TIPS[at + 1] ? [more] : [], shut);
}
try { settings.toured ??= localStorage.getItem(TOURED) ?? ""; } catch {}
if (!settings.toured) {
  tellTip(0);
  $("said").append(bubble);
}
views.push(() => { bubble.hidden = app.at > 0; });

// A lesson's parts: one is open at a time, shows its formula, and leads on to the next.

const lessonParts = [...$("tasks").querySelectorAll("details")];
if (typeof LIVE !== "undefined") for (const place of lives) LIVE[place.dataset.live](place);
lessonParts.forEach((part, at) => {
  const [head] = part.children, {formula} = part.dataset, next = lessonParts[at + 1];
  const turn = () => {
    for (const other of lessonParts) other.open = other === part;
    app.live = "";
    if (known(formula) && Number(formula) !== PAGE.formula) return turnToFormula(Number(formula));
    show();
  };
  head.onclick = event => {
    event.preventDefault();
    part.open ? (part.open = false) : turn();
  };
  if (!next) return;
  part.querySelector(".on")?.remove();
  part.append(make("p", {class: "on"}, button(`On: ${next.firstChild.textContent}`, () => {
    next.firstChild.click();
    next.firstChild.focus();
    next.scrollIntoView({block: "start"});
  })));
});

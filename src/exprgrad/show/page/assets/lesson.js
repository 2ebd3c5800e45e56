// A lesson's parts: one is open at a time, shows its formula, and leads on to the next.

const lessonParts = [...$("tasks").querySelectorAll("details")];
lessonParts.forEach((part, at) => {
  const [head] = part.children, {formula} = part.dataset, next = lessonParts[at + 1];
  const turn = isOpen => {
    for (const other of lessonParts) other.open = isOpen && other === part;
    app.live = "";
    if (isOpen && known(formula) && Number(formula) !== PAGE.formula) return turnToFormula(Number(formula));
    show();
  };
  head.onclick = event => {
    event.preventDefault();
    turn(!part.open);
  };
  if (!next) return;
  part.querySelector(".on")?.remove();
  part.append(make("p", {class: "on"}, button(`Next: ${next.firstChild.textContent}`, () => {
    next.firstChild.click();
    next.firstChild.focus();
    next.scrollIntoView({block: "start"});
  })));
});

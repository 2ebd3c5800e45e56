// A derivative as a quotient of differences: h gets smaller, and digits come right until rounding takes them.

LIVE.differences = place => {
  const LEAST = 16, DIGITS = 10, pick = make("select", {"aria-label": "Input"}, ...PAGE.wrt.map(id => make("option", {value: id}, called(id))));
  const said = make("p"), space = make("div", {class: "long numbers", tabindex: 0, role: "group", "aria-label": "Quotients of differences"});
  let rows = 1;
  const turn = to => {
    rows = Math.min(LEAST + 1, to);
    rows > LEAST ? reach("end") : show();
    space.scrollTop = space.scrollHeight;
  };
  const next = button("Divide h by 10", () => turn(rows + 1)), all = button("Down to 10^−16", () => turn(LEAST + 1));
  pick.onchange = show;
  place.append(make("div", {class: "row"}, pick, next, all, button("Again", () => turn(1), "The table again")), said, space);
  // The digits that agree with the grad, in bold.
  const agreeing = (x, due) => {
    const [text, wanted] = [number(x, DIGITS), number(due, DIGITS)];
    let same = 0;
    while (same < text.length && text[same] === wanted[same]) same++;
    return make("span", null, make("b", null, text.slice(0, same)), text.slice(same));
  };
  views.push(() => {
    if (!isOpen(place)) return;
    const id = Number(pick.value), x = app.data[id], due = app.right.grads[id] ?? 0;
    const at = moved => forward(PAGE, new Map(app.given).set(id, moved))[PAGE.output], here = app.data[PAGE.output];
    pick.hidden = PAGE.wrt.length < 2;
    next.disabled = all.disabled = rows > LEAST;
    said.textContent = `The sweep finds the grad ${number(due, DIGITS)}. Digits that agree with it are bold.`;
    space.replaceChildren(table("Quotients of differences", ["h", "one step: (f(x + h) − f(x))/h", "both sides: (f(x + h) − f(x − h))/2h"], Array.from({length: rows}, (_, n) => {
      const h = Number(`1e-${n}`);
      return row([n < 5 ? number(h) : `10^−${n}`, agreeing((at(x + h) - here) / h, due), agreeing((at(x + h) - at(x - h)) / (2 * h), due)]);
    })));
  });
};

// Tasks with an answer, typed or chosen: a right one ticks the task, a wrong one is explained, and giving up shows what one would have seen.

// What a small step does, and what later steps find, is shown when the sweep has got there: it would give answers away.
app.hides = true;
const answered = LESSON.answered ??= new Set;
FACTS.answer = task => answered.has(task);

LESSON.answers.forEach(({task, answer, choices, grad, wrong}) => {
  const item = ticks[task].closest("li"), reply = make("output", null, answered.has(task) ? "✓ Right." : "");
  const field = !choices && make("input", {"aria-label": "Your answer", autocomplete: "off", size: 9});
  const why = words => {
    const id = byName.get(grad), isOurs = known(id) && number(app.right.grads[id]) === number(answer);
    return wrong?.[words] || wrong?.[parse(words)] || !choices && turned(words, answer) || isOurs && app.mistake?.(id, words) || "Not yet.";
  };
  const check = words => {
    const isNumber = choices || parse(words) !== null, isFound = isNumber && (choices ? words === answer : isRight(words, answer));
    reply.textContent = isFound ? "✓ Right." : "✗ " + (isNumber ? why(words) : "A number, please.");
    if (isNumber) app.note?.(task, words);
    if (isFound) answered.add(task), show();
  };
  item.querySelector("form")?.remove();
  item.querySelector("label").after(make("form", {class: "row", onsubmit: event => {
    event.preventDefault();
    if (field) check(field.value.trim());
  }}, ...choices ? choices.map(one => button(one, () => check(one))) : [field, make("button", null, "Check")],
  button("Give up", () => { item.classList.add("shown"); reply.textContent = ""; app.note?.(task); }), reply));
  set(ticks[task], {disabled: true});
});

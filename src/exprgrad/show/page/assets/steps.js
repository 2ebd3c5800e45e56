// The steps: the sentence, the buttons, the slider and the keys.

const slider = $("slider");
const BEAT = 1400;
let playing = 0;
// Play on: the next step after a beat, as long as there is one.
function ahead() {
  if (app.at === app.steps.length) return stop();
  go(app.at + 1);
  playing = setTimeout(ahead, BEAT / speed);
}
const play = button("Play", () => {
  if (playing) return stop();
  if (app.at === app.steps.length) go(0);
  playing = setTimeout(ahead, BEAT / speed);
  play.textContent = "Pause";
});
function stop() {
  if (!playing) return;
  clearTimeout(playing);
  playing = 0;
  play.textContent = "Play";
}
const step = (words, to, label) => button(words, () => { stop(); go(to()); }, label);
const forth = step("", () => app.at + 1);
$("buttons").append(
  step("First", () => 0, "First step"),
  step("← Back", () => app.at - 1, "Back a step"),
  play,
  set(forth, {id: "forth"}),
  step("Last", () => app.steps.length, "Last step"),
);
slider.oninput = () => { stop(); go(Number(slider.value)); };

// A step without its numbers and what comes of them, for a reader who is to say it.
function unsolved(text) {
  const sides = text.split(" = ");
  return sides[1] ? sides.slice(0, Math.max(1, sides.length - 2)).join(" = ") : text.split(/:| at /)[0];
}

const START = "Press Next, or →.  First comes each node's data.";
views.push(() => {
  const {at, steps, now} = app;
  $("sentence").textContent = now.step?.text ?? START;
  const kind = {value: "data", read: "grad"}[now.step?.kind];
  const doubt = kind && isVague(now.step.node, kind) ? FEWER : "";
  // The button says what the next step does, cut to its width; where tasks ask, it leaves out what comes of it.
  forth.textContent = at < steps.length ? `Next: ${at + 1}. ${app.hides ? unsolved(steps[at].text) : steps[at].text}` : "That was the last step";
  $("why").textContent = [now.step?.why, doubt].filter(Boolean).join("; ");
  slider.max = steps.length;
  slider.value = at;
  const phase = now.step ? `${now.step.phase} sweep` : "start";
  slider.setAttribute("aria-valuetext", `step ${at} of ${steps.length}, ${phase}`);
  $("count").replaceChildren(`${at} of ${steps.length}`, make("span", null, ` · ${phase}`));
  const [first, second] = $("phases").children;
  first.style.flexGrow = forwards();
  second.style.flexGrow = steps.length - forwards();
});

scrollable($("said"), ...$("said").children);

const help = $("keys"), showKeys = () => help.showModal();
$("buttons").append(button("?", showKeys, "Keys"));
addEventListener("keydown", event => {
  const {key, target} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (key === "Escape") return app.asking ? ask("") : pick(null);
  // Arrows step wherever the focus is, but where they move a number or a caret.
  if (target.closest("input:not([type=checkbox], [type=radio], #slider), textarea, select")) return;
  if (key === "?") return showKeys();
  if (key === " " && !app.asking && !target.closest("button, input, [role=button]")) {
    event.preventDefault();
    return play.click();
  }
  const to = {ArrowRight: app.at + 1, ArrowLeft: app.at - 1, Home: 0, End: app.steps.length}[key];
  if (to === undefined || app.asking) return;
  event.preventDefault();
  stop();
  go(to);
});

// What moves in the parts of a lesson: each fills its place, and is seen while its part is open.

const LIVE = {}, lives = [...$("tasks").querySelectorAll("[data-live]")];
const isOpen = place => place.closest("details").open;
for (const place of lives) place.replaceChildren();
// A state that a goal may ask for.
function reach(state) {
  if (app.live === state) return;
  app.live = state;
  show();
}

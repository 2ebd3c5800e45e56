// What moves, in a part of a lesson or a panel of its own: each fills its place, and is seen while its part is open.

const LIVE = {}, lives = [...$("panels").querySelectorAll("[data-live]")];
const isOpen = place => place.closest("details")?.open ?? true;
for (const place of lives) place.replaceChildren();
// A state that a goal may ask for.
function reach(state) {
  if (app.live === state) return;
  app.live = state;
  show();
}

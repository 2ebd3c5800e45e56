// For a room: the graph fills the window, its texts large, and the panels are below.

const projected = button("Projector", () => {
  set(projected, {"aria-pressed": page.toggleAttribute("data-projector")});
  show();
});
set(projected, {"aria-pressed": page.hasAttribute("data-projector"), id: "projector"});
$("side").append(projected);

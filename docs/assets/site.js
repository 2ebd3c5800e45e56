// What Zensical leaves without a name or out of the keyboard's reach: copy buttons, and wide tables.

document$.subscribe(() => {
  document.querySelectorAll(".md-code__nav").forEach((nav, at) => nav.setAttribute("aria-label", `Code ${at + 1}`));
  document.querySelectorAll(".md-typeset__scrollwrap, pre > code").forEach((part) => { part.tabIndex = 0; });
});

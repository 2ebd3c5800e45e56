// Formulas of the reference: KaTeX draws what stands between dollar signs.

document$.subscribe(({ body }) => renderMathInElement(body, {
  delimiters: [{ left: "\\(", right: "\\)", display: false }, { left: "\\[", right: "\\]", display: true }],
}));

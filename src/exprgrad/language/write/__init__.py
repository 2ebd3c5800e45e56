"""Writing: graphs as text in our own language, as LaTeX and as MathML."""

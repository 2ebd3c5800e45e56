"""The picture: DOT, and what Graphviz makes of it."""

"""The curves that pictures show: where to look at a formula, where it breaks, and what is worth a mark."""

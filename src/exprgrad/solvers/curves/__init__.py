"""Curves for pictures: where to sample a formula, where it breaks, and which points to mark."""

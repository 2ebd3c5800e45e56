"""Minima: the search, and the verdict on its end."""

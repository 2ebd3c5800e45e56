"""Minima: how they are looked for, and what can be said of where the search ends."""

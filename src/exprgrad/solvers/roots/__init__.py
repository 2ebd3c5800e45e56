"""Roots: found by Newton's method, proved in ball arithmetic, and all of them in a range."""

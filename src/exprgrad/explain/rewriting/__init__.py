"""Rewrites of formulas that go wrong in doubles: found, written, and tried at the point."""

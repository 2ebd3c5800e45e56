"""Engines over columns: a derived program, forward, for every row."""

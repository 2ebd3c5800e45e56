"""Trusted digits: how many of a number are right, and where the others were lost."""

"""Mistakes: what to say about a text that is not in the language."""

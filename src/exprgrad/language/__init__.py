"""The language: text to graph and back."""

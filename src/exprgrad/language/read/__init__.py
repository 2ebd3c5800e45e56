"""Reading: text to graph."""

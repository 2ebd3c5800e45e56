"""Who else takes a gradient for every row: a function each, from a problem and columns to a call."""

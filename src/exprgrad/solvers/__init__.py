"""Gradients put to use: the parameters that fit data, the point of a minimum, the roots of an equation."""

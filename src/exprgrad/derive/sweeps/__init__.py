"""Differentiating: the two sweeps over nodes, and the programs that are made of them."""

"""Paths through a graph, and reverse sweeps that visit it in any order."""

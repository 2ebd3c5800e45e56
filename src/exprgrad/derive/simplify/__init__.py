"""Simplifying: programs as formulas for people."""

"""Kinks and jumps: what a formula does on each side of a point, and what that makes of its gradient."""

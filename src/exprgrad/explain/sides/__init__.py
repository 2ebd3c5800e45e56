"""Kinks and jumps: a formula on each side of a point, and what that means for its gradient."""

"""The evaluator for arrays: NumPy."""

"""The evaluator for numbers: Python floats, without NumPy."""

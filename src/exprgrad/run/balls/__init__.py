"""The evaluator in ball arithmetic: true numbers."""

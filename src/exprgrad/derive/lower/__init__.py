"""Lowering: programs in the operations that a target has."""

"""Derivative rules as graphs."""

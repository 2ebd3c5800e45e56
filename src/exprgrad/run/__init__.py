"""Sweeps over numbers: values forward, adjoints in reverse."""

"""The uncertainty of a formula's value: propagated by derivatives, and by sampling."""

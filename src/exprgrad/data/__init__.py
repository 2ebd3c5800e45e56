"""Columns in files: read in streams, evaluated block by block, written row by row or reduced."""

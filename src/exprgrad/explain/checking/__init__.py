"""A gradient held against differences, and a derivative found by hand against the true one."""

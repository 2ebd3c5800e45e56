"""A gradient checked by differences, and a derivative found by hand checked against the true one."""

"""The graph and the operations its nodes can be: plain data, and no arithmetic."""

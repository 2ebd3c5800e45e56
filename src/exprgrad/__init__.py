"""exprgrad: type a formula, and see its value, its gradient and why."""

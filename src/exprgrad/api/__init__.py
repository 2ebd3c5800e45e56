"""The library as people use it: an expression in, runs out, with the same words as the commands."""

from exprgrad.api.expression import Expression, Run, from_latex, parse

__all__ = ["Expression", "Run", "from_latex", "parse"]

"""The library as people use it: an expression in, runs out, with the same words as the commands."""

from exprgrad.api.expression import Expression, Run, parse

__all__ = ["Expression", "Run", "parse"]

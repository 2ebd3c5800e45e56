"""What the commands of LaTeX look like in MathML: letters, operators, fences, functions, tables."""

from __future__ import annotations

from exprgrad.language.write.latex_names import GREEK

__all__ = ["ENVIRONMENTS", "FENCES", "FUNCTIONS", "LARGE", "LETTERS", "OPERATORS"]

LETTERS = {
    command[1:]: letter
    for letter, command in GREEK.items()
    if len(letter) == 1 and command[1:].isalpha()
} | {"phi": "ϕ", "varphi": "φ", "mu": "μ", "infty": "∞", "top": "⊤", "_": "_"}
"""Letters by their commands."""
OPERATORS = {
    "+": "+", "-": "−", "/": "/", "=": "=", "<": "<", ">": ">", ",": ",", r"\le": "≤", r"\ge": "≥",
    r"\ne": "≠", r"\cdot": "⋅", r"\times": "×", r"\odot": "⊙", r"\otimes": "⊗", r"\bmod": "mod",
}  # fmt: skip
LARGE = {r"\sum": "∑", r"\prod": "∏"}
FENCES = {
    r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉", r"\|": "‖",
    **{fence: fence for fence in "()[]|"},
}  # fmt: skip
FUNCTIONS = {
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp",
    "gcd", "ln", "log", "max", "min", "sec", "sin", "sinh", "tan", "tanh",
}  # fmt: skip
"""The functions that have a command in LaTeX: it is their name."""

LEFT, RIGHT = (
    '<mtd style="text-align:left">',
    '<mtd style="text-align:right;text-align:-webkit-right;padding-right:0">',
)
ENVIRONMENTS = {
    "cases": ("<mrow><mo>{</mo>", (LEFT,), "</mrow>"),
    "aligned": ("", (RIGHT, LEFT), ""),
    "pmatrix": ("<mrow><mo>(</mo>", ("<mtd>",), "<mo>)</mo></mrow>"),
}
"""What comes before the table, its cells by column (the last for all that follow), what comes after."""

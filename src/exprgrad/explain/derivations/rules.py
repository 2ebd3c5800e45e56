"""The rules of differentiation in words.

Only arithmetic has rules with names of their own.  Every other row's law is the chain rule, with the
partials that people read.
"""

from __future__ import annotations

from collections.abc import Sequence

from exprgrad.graph.ops import BY_NAME, Op

__all__ = ["is_choice", "notes_on", "rule_name"]


def rule_name(kind: str, varying: Sequence[int], *, direct: bool) -> str:
    """What the rule of an operation is called, by the operands that vary; ``direct``: x alone does."""
    if kind == "mul":
        return "product rule"
    if kind == "div":
        return "quotient rule" if len(varying) == 2 else "reciprocal rule"
    if kind == "pow":
        if len(varying) == 2:
            return "power and exponential rule"
        which = "exponential" if varying[0] else "power"
        return f"{which} rule" if direct else f"{which} and chain rule"
    if BY_NAME[kind].branches:
        return "branch by branch"
    return "known derivative" if direct else "chain rule"


POWER = "the exponent comes down as a factor and is lowered by 1"
EXPONENTIAL = "the power stays, times the logarithm of its base"
WORDS = {
    "power rule": POWER,
    "power and chain rule": f"{POWER}, times the derivative of the base",
    "exponential rule": EXPONENTIAL,
    "exponential and chain rule": f"{EXPONENTIAL}, times the derivative of the exponent",
    "power and exponential rule": "first as if the exponent were constant, then as if the base were",
    "product rule": "each factor is differentiated in turn, and the results are added",
    "quotient rule": "the denominator times the derivative of the numerator, minus the numerator times "
    "that of the denominator, over the denominator squared",
    "reciprocal rule": "minus the numerator times the derivative of the denominator, over the "
    "denominator squared",
    "branch by branch": "the condition chooses, and is not differentiated",
    "chain rule": "the outer derivative times the inner one",
    "sum rule": "each term is differentiated by itself",
    "difference rule": "each term is differentiated by itself",
}


def notes_on(rule: str, kind: str = "") -> list[str]:
    """What a rule does; and of an operation, what it is and where it has kinks or jumps."""
    notes = [WORDS[rule]] if rule in WORDS else []
    if not kind or BY_NAME[kind].branches:
        return notes
    op = BY_NAME[kind]
    who = op.infix or op.prefix or op.name
    if who == op.name:
        notes.append(f"{call(op)} is {op.about}")
    verbs = {"kink": "has a kink", "jump": "jumps"}
    notes += [f"{who} {verbs[s.code]} where {s.why}" for s in op.special if "varies" not in s.where]
    return [*notes, "operands that tie share the derivative"] if op.ties and op.special else notes


def call(op: Op) -> str:
    """An operation on its own operands."""
    return f"{op.name}({', '.join(op.names)}{', …' if op.variadic else ''})"


def is_choice(kind: str) -> bool:
    """Whether an operation chooses a branch."""
    return kind in BY_NAME and bool(BY_NAME[kind].branches)

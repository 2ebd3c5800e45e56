"""The lessons that are built in: a formula, its inputs, and what to try with them.

Each shows one thing that the others do not.  ``graph``: how the two sweeps go.  ``neuron``: an operation
whose local derivative changes with its operand.  ``square``: a node used twice by one operation, where
``=`` for ``+=`` gives half the gradient and recursion without a visited set twice of it.  ``diamond``: a
node used by two operations, where an order that reads it too early loses a path.
"""

from __future__ import annotations

from typing import NamedTuple

from exprgrad.errors import RequestError

__all__ = ["LESSONS", "Lesson", "lesson_named"]


class Lesson(NamedTuple):
    """A formula with its inputs, and what the page says above it.

    ``name``        what the command calls it
    ``title``       a heading of a few words
    ``expression``  the formula
    ``values``      a number for each input
    ``about``       two or three sentences
    ``tasks``       what to try, in order
    ``question``    what it asks, in a line: the page leads with it
    """

    name: str
    title: str
    expression: str
    values: dict[str, float]
    about: str
    tasks: tuple[str, ...]
    question: str = ""


BUILT_IN = (
    Lesson(
        "graph",
        "A formula is a graph",
        "e = a*b; d = e + c; L = d*f",
        {"a": 2.0, "b": -3.0, "c": 10.0, "f": -2.0},
        "The forward sweep works out each node's data from its operands. The reverse sweep then goes from "
        "L back to the inputs and finds each node's grad: how many times as far L moves as the node does.",
        (
            "Step to the end. Forward, each node gets its data: L is −8. In reverse, each node gets its "
            "grad: L gets 1, the seed, and at the end a has 6 and b has −4.",
            "Click the edge from d to L. L moves f times as far as d does, and f is −2: that is the edge's "
            "local derivative.",
            "Set b to −2.999. L goes from −8 to −8.004: the grad of b, −4, times the step of 0.001.",
            "Under Visit order, move e above d. Now a and b get 0: e is visited before d has passed "
            "anything to it.",
            "Choose the grads under Ask me, and find them all. Begin at L.",
        ),
        "When a moves a little, how far does L move?",
    ),
    Lesson(
        "neuron",
        "A neuron",
        "n = x1*w1 + x2*w2 + b; o = tanh(n)",
        {"x1": 2.0, "w1": -3.0, "x2": 0.0, "w2": 1.0, "b": 6.8813735870195432},
        "Two inputs, each times its weight, and a bias make n; tanh squashes it to a number between −1 and "
        "1. This bias is chosen such that the grads are numbers to remember.",
        (
            "Step to the end. n is 0.881374 and o is 0.707107; x1 gets −1.5 and w1 gets 1.",
            "Choose the local derivatives under Ask me, and find them all. That of tanh needs nothing but "
            "its own result: 1 − o^2 is 0.5.",
            "The grad of w2 is 0: it is multiplied by x2, which is 0, so it cannot move o. Set x2 to 1, "
            "and it can.",
            "Set b to 10. n is 4, where tanh is nearly flat, and no input's grad is as large as 0.005. "
            "Set b to 6. n is 0, where tanh is steepest, and w1 gets 2.",
            "Under Visit order, try preorder, breadth first and naive. All three are right here, for no "
            "node has two users.",
        ),
        "Which of its inputs moves the neuron's output most?",
    ),
    Lesson(
        "square",
        "A node used twice",
        "u = a + b; y = u*u",
        {"a": 2.0, "b": 1.0},
        "Both operands of the product y are the node u, so two edges lead from u to y. y passes something "
        "to u along each of them, and it adds up.",
        (
            "Step to the end. u gets 3 along one edge and 3 along the other: its grad is 6, and 2*u is 6, "
            "too.",
            "Under Visit order, choose = instead of +=. The second 3 overwrites the first: a gets 3, half "
            "of the true 6.",
            "Choose += again, and naive. u is visited once for each edge, and each time passes on all that "
            "it has: a gets 12, twice the true 6.",
            "Set b to −2. u is 0, at the bottom of the parabola, and both grads are 0.",
            "Set a and b to numbers of your own. Then choose the grads under Ask me, and find them.",
        ),
        "y uses u twice: how far does y move when u does?",
    ),
    Lesson(
        "diamond",
        "Two paths to one input",
        "b = a + 1; c = a*3; d = b*c",
        {"a": 2.0},
        "d depends on a along two paths, one through b and one through c. The grad of a is the sum of what "
        "both are worth, so a must not be read before both have passed something to it.",
        (
            "Step to the end and watch a. Its grad is 9 when c has been visited, and 15 when b has, too.",
            "Click the edges. The path through c is worth 3 × 3, which is 9; that through b is worth "
            "6 × 1, which is 6.",
            "Under Visit order, arrange d, b, a, c. Now a is read at 6 of the true 15: the path d → c → a, "
            "worth 9, is lost.",
            "Choose the right order again, with = instead of +=. The 6 from b overwrites the 9 from c.",
            "Set a to −0.5, and find the grads under Ask me. That of a is 0, though each path is worth "
            "something: 1.5 and −1.5 add up to 0.",
        ),
        "Two paths lead from a to d: what if one of them comes too late?",
    ),
)

LESSONS = {lesson.name: lesson for lesson in BUILT_IN}
"""The lessons by name, in the order in which to take them."""


def lesson_named(name: str) -> Lesson:
    """The built-in lesson of this name.  Raises ``RequestError`` if there is none."""
    if name in LESSONS:
        return LESSONS[name]
    from exprgrad.language.mistakes.hints import meant

    help = meant(name, LESSONS, f"the lessons are {', '.join(LESSONS)}")
    raise RequestError("usage", f"there is no lesson '{name}'", help=help).about(name)

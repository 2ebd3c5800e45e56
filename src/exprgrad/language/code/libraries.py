"""The array libraries that programs of tensors are written for, and the error for other targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exprgrad.errors import RequestError
from exprgrad.graph.graph import INPUT, Graph
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import shape_text
from exprgrad.language.code.spellings import JAX, LIKE, NUMPY, TORCH, Spelling
from exprgrad.language.code.target import Target
from exprgrad.source import Source

__all__ = ["LIBRARIES", "Library", "find_library"]


@dataclass(frozen=True, slots=True)
class Library:
    """What a target needs beside its own spellings to write programs of tensors.

    ``spellings``  row → how it is written
    ``literal``    a tensor that is written out; ``count``: the numbers 0, 1, 2… below one
    ``copy``       an array of its own, where arrays can be changed
    ``number``     a number that is written out, as an array
    ``input``      the source of the function that takes an input
    ``about``      what else the comment says
    """

    spellings: Mapping[str, Spelling]
    literal: str
    count: str
    copy: str
    number: str
    input: str
    about: str = ""


def taking(array: str, about: str) -> str:
    """The function that takes an input."""
    return f'''def F_input(x, shape):
    """x as {about}."""
    x = {array}
    if x.shape != shape:
        raise ValueError(f"an input has shape {{tuple(x.shape)}}, and the program is for {{shape}}")
    return x
'''


LIBRARIES: dict[str, Library] = {
    "numpy": Library(
        spellings=NUMPY,
        literal="np.array({0})",
        count="np.arange({0}.0)",
        number="np.float64({0})",
        copy="np.copy({0})",
        input=taking("np.asarray(x, dtype=np.float64)[()]", "an array of doubles"),
    ),
    "jax": Library(
        spellings=JAX,
        literal="jnp.array({0})",
        count="jnp.arange({0}.0)",
        number="jnp.float64({0})",
        copy="{0}",
        input=taking("jnp.asarray(x, dtype=jnp.float64)", "an array of doubles"),
    ),
    "torch": Library(
        spellings=TORCH,
        literal=f"{LIKE}.new_tensor({{0}})",
        count=f"{LIKE}.new_tensor(range({{0}}))",
        number=f"{LIKE}.new_tensor({{0}})",
        copy="torch.clone({0})",
        input=taking(
            "torch.as_tensor(x, dtype=torch.float64).detach()",
            "a tensor of doubles, whose history autograd does not see",
        ),
        about="All is float64, and nothing is recorded for autograd.",
    ),
}
"""By the name of a target: those that can write programs of tensors."""


def find_library(target: Target, formula: Graph, text: str) -> Library:
    """What a formula of tensors needs of a target; an error if that has no tensors.

    ``formula`` has shapes; ``text`` is what it was read from, for the excerpt.
    """
    library = LIBRARIES.get(target.name)
    if library is not None:
        return library
    assert formula.shapes is not None
    first = next(node for node in range(len(formula)) if is_about_tensors(formula, node))
    shape = formula.shapes[first]
    what = f"'{formula.payloads[first]}'" if formula.kinds[first] == INPUT else "this"
    fact = f"is a tensor of shape {shape_text(shape)}" if shape else "takes tensors"
    *others, last = LIBRARIES
    raise RequestError(
        "no-tensors",
        f"a program in {target.title} computes with numbers, and {what} {fact}",
        source=Source(text),
        span=formula.span(first),
        help=f"{', '.join(others)} and {last} take tensors: --to {next(iter(LIBRARIES))}",
    )


def is_about_tensors(graph: Graph, node: int) -> bool:
    """Whether a node is a tensor, or an operation on tensors."""
    structural = graph.operands[node] and graph.kinds[node] not in BY_NAME
    return bool((graph.shapes or [])[node]) or bool(structural)

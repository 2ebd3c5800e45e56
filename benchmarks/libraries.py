"""What PyTorch and JAX call our operations: their own function, or what their users write in its place.

``OWN`` is data: by row of the op table, the function's dotted name.  A row that is missing there, and is no
operator, is one that the library has not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from benchmarks.measure import peer
from benchmarks.symbols import Words, translated
from exprgrad.graph.graph import Graph

__all__ = ["OPERATORS", "OWN", "Library", "installed", "jax_library", "torch_library"]

Contestant = TypeVar("Contestant")

OPERATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "add": ("x + y", operator.add),
    "sub": ("x - y", operator.sub),
    "mul": ("x * y", operator.mul),
    "div": ("x / y", operator.truediv),
    "mod": ("x % y", operator.mod),
    "pow": ("x ** y", operator.pow),
    "neg": ("-x", operator.neg),
    "lt": ("x < y", operator.lt),
    "le": ("x <= y", operator.le),
    "gt": ("x > y", operator.gt),
    "ge": ("x >= y", operator.ge),
    "eq": ("x == y", operator.eq),
    "ne": ("x != y", operator.ne),
}
"""What both write as Python does."""


def installed(
    ours: Contestant, others: Mapping[str, tuple[str, Callable[[Any], Contestant]]]
) -> dict[str, Contestant]:
    """Ours and the libraries that are installed, by name and version.

    ``others`` has by name a module, and what makes a contestant of it.
    """
    found = {"exprgrad": ours}
    for name, (module, maker) in others.items():
        library = peer(module)
        if library is not None:
            found[f"{name} {library.__version__.split('+')[0]}"] = maker(library)
    return found


def within(module: str, names: str) -> dict[str, str]:
    """Functions of a module that are called as the rows are."""
    return {name: f"{module}.{name}" for name in names.split()}


OWN: dict[str, dict[str, str]] = {
    "torch": {
        **within("torch", "where clamp abs sign floor ceil round trunc heaviside"),
        **within("torch", "sqrt exp exp2 expm1 log log2 log10 log1p xlogy logaddexp logsumexp"),
        **within("torch", "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh"),
        **within("torch", "hypot relu sigmoid erf erfc erfinv lgamma digamma logit"),
        **within("torch.nn.functional", "softplus leaky_relu elu selu silu gelu logsigmoid"),
        **within("torch.nn.functional", "softsign hardtanh relu6"),
        "deg": "torch.rad2deg",
        "rad": "torch.deg2rad",
        "normcdf": "torch.special.ndtr",
        "norminv": "torch.special.ndtri",
        "erfcx": "torch.special.erfcx",
        "j0": "torch.special.bessel_j0",
        "j1": "torch.special.bessel_j1",
        "airyai": "torch.special.airy_ai",
        "min": "torch.minimum",
        "max": "torch.maximum",
    },
    "jax": {
        **within("jax.numpy", "where abs sign floor ceil round trunc heaviside"),
        **within("jax.numpy", "sqrt cbrt exp exp2 expm1 log log2 log10 log1p logaddexp"),
        **within("jax.numpy", "sin cos tan sinh cosh tanh hypot"),
        **within("jax.nn", "relu relu6 sigmoid softplus leaky_relu elu selu silu gelu logsumexp"),
        **within(
            "jax.scipy.special", "erf erfc erfcx erfinv xlogy gamma digamma factorial beta logit"
        ),
        "softsign": "jax.nn.soft_sign",
        "hardtanh": "jax.nn.hard_tanh",
        "deg": "jax.numpy.rad2deg",
        "rad": "jax.numpy.deg2rad",
        "lgamma": "jax.scipy.special.gammaln",
        "lbeta": "jax.scipy.special.betaln",
        "normpdf": "jax.scipy.stats.norm.pdf",
        "normcdf": "jax.scipy.special.ndtr",
        "norminv": "jax.scipy.special.ndtri",
        "Ei": "jax.scipy.special.expi",
        "E1": "jax.scipy.special.exp1",
        "Si": "jax.scipy.special.sici",
        "Ci": "jax.scipy.special.sici",
        "j0": "jax.scipy.special.bessel_jn",
        "j1": "jax.scipy.special.bessel_jn",
        "asin": "jax.numpy.arcsin",
        "acos": "jax.numpy.arccos",
        "atan": "jax.numpy.arctan",
        "atan2": "jax.numpy.arctan2",
        "asinh": "jax.numpy.arcsinh",
        "acosh": "jax.numpy.arccosh",
        "atanh": "jax.numpy.arctanh",
        "clamp": "jax.numpy.clip",
        "min": "jax.numpy.minimum",
        "max": "jax.numpy.maximum",
        "logsigmoid": "jax.nn.log_sigmoid",
    },
}


class Library(NamedTuple):
    """A library as a contestant: its version, its words, and its gradient of a function of numbers.

    ``gradient`` takes a function of the library's numbers and a point, and gives the value and, by
    operand, the derivative: None for one that the library says nothing about.
    """

    version: str
    words: Words
    gradient: Callable[[Callable[..., Any], Sequence[float]], tuple[float, list[float | None]]]

    def run(self, graph: Graph, point: Mapping[str, float]) -> list[float]:
        """A formula's gradient.  Raises ``KeyError`` for a word that is missing."""

        def formula(*inputs: Any) -> Any:
            return translated(graph, [*inputs], lambda value, _: plain(value), self.words)[0]

        _, found = self.gradient(formula, [*point.values()])
        return [0.0 if slope is None else slope for slope in found]


def plain(value: float) -> float | int:
    """A constant as people write it: ``x**3``, not ``x**3.0``."""
    return int(value) if value.is_integer() else value


def resolved(dotted: str) -> Callable[..., Any]:
    """The function of a dotted name."""
    module, _, name = dotted.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def words_of(
    library: str,
    number: Callable[[Any], Any],
    special: Mapping[str, Callable[..., Any]],
    others: Words,
) -> dict[str, Callable[..., Any]]:
    """A library's words, in numbers of its own; ``special`` are called otherwise than by operands."""

    def called(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: function(*map(number, operands))

    words: dict[str, Callable[..., Any]] = {name: word for name, (_, word) in OPERATORS.items()}
    for name, dotted in OWN[library].items():
        words[name] = special[name] if name in special else called(resolved(dotted))
    for name in ("min", "max"):
        words[name] = lambda *operands, two=words[name]: reduce(two, operands)
    return {**words, **{name: called(word) for name, word in others.items()}}


def torch_library(torch: Any) -> Library:
    """PyTorch, in float64."""

    def number(value: Any) -> Any:
        return value if isinstance(value, torch.Tensor) else torch.tensor(float(value)).double()

    def gradient(
        function: Callable[..., Any], point: Sequence[float]
    ) -> tuple[float, list[float | None]]:
        inputs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in point]
        value = function(*inputs)
        if value.requires_grad:
            with suppress(RuntimeError):  # "derivative for aten::heaviside is not implemented"
                value.backward()
        found = [None if x.grad is None else float(x.grad) for x in inputs]
        return float(value.detach()), found

    special: dict[str, Callable[..., Any]] = {
        "where": lambda c, x, y: torch.where(number(c) != 0, number(x), number(y)),
        "logsumexp": lambda *operands: torch.logsumexp(torch.stack([*map(number, operands)]), 0),
        "heaviside": lambda x: torch.heaviside(number(x), number(0.5)),
    }
    others: dict[str, Callable[..., Any]] = {
        "cbrt": lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),
        "sinc": lambda x: torch.sinc(x / torch.pi),
    }
    return Library(
        torch.__version__.split("+")[0], words_of("torch", number, special, others), gradient
    )


def jax_library(jax: Any) -> Library:
    """JAX, with 64-bit numbers switched on."""
    jax.config.update("jax_enable_x64", True)
    jnp = import_module("jax.numpy")

    def number(value: Any) -> Any:
        return jnp.asarray(value, jnp.float64)

    def gradient(
        function: Callable[..., Any], point: Sequence[float]
    ) -> tuple[float, list[float | None]]:
        inputs = [number(x) for x in point]
        value, found = jax.value_and_grad(
            lambda *operands: number(function(*operands)), tuple(range(len(inputs)))
        )(*inputs)
        return float(value), [float(slope) for slope in found]

    special: dict[str, Callable[..., Any]] = {
        "where": lambda c, x, y: jnp.where(c, number(x), number(y)),
        "gelu": lambda x: jax.nn.gelu(number(x), approximate=False),
        "logsumexp": lambda *operands: jax.nn.logsumexp(jnp.stack([*map(number, operands)])),
        "heaviside": lambda x: jnp.heaviside(number(x), 0.5),
        "Si": lambda x: jax.scipy.special.sici(number(x))[0],
        "Ci": lambda x: jax.scipy.special.sici(number(x))[1],
        "j0": lambda x: jax.scipy.special.bessel_jn(number(x), v=0)[0],
        "j1": lambda x: jax.scipy.special.bessel_jn(number(x), v=1)[1],
    }
    others: dict[str, Callable[..., Any]] = {"sinc": lambda x: jnp.sinc(x / jnp.pi)}
    return Library(jax.__version__, words_of("jax", number, special, others), gradient)

"""The regimes: what speed is asked for, as ratios with a bar and a goal; and the table that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.measure import Ratio, table

__all__ = ["CALLS", "COLUMNS", "REGIMES", "Regime", "summary"]


class Regime(NamedTuple):
    """What is measured, and how good it must be and should be: at most, or with ``least`` at least."""

    words: str
    bar: float
    goal: float
    least: bool = False
    unit: str = ""

    def said(self, figure: float) -> str:
        """A figure as people read it."""
        digits = 2 if figure < 10 else 1
        return f"{figure:.{digits}f}{self.unit}"

    def wanted(self, figure: float) -> str:
        """A bar or goal as people read it."""
        return f"{'≥' if self.least else '≤'} {figure:g}{self.unit}"

    def verdict(self, figure: float) -> str:
        """Which of the two it reaches."""
        for wanted, word in ((self.goal, "goal"), (self.bar, "bar")):
            if (figure >= wanted) if self.least else (figure <= wanted):
                return word
        return "**neither**"


def of_batches() -> dict[str, Regime]:
    """The three formulas over columns, against each peer that sets a bar."""
    shown = {"neuron": "neuron", "rosenbrock": "Rosenbrock", "black_scholes": "Black–Scholes"}
    jax = {"neuron": (1.1, 0.95), "rosenbrock": (0.7, 0.4), "black_scholes": (0.4, 0.25)}
    found = {}
    for name, words in shown.items():
        found[f"c {name}"] = Regime(f"native batch / C with libmvec: {words}", 1.15, 1.0)
    for name, words in shown.items():
        found[f"jax {name}"] = Regime(f"native batch / JAX jit: {words}", *jax[name])
    for name, words in shown.items():
        found[f"compile {name}"] = Regime(f"native compile: {words}", 50, 15, unit=" ms")
    for name, words in shown.items():
        found[f"numpy {name}"] = Regime(f"numpy engine / naive NumPy: {words}", 0.6, 0.4)
    return found


REGIMES: dict[str, Regime] = {
    "startup": Regime("`grad --json` on a small formula / `python -c 'import click'`", 1.3, 1.15),
    "parse": Regime("tokens per second / Lark with inlined callbacks", 3, 4, least=True),
    "micrograd": Regime(
        "times as fast as micrograd: gradient, 10⁵ nodes, read once", 10, 15, least=True
    ),
    "sweeps": Regime("gradient / value, single point, 10⁵ nodes", 3.2, 2.6),
    **{
        f"value {graph} {state}": Regime(
            f"`Value.backward()` / micrograd's: {graph}, collector {state}", 1.0, 0.8
        )
        for graph in ("neuron", "3-4-4-1", "3-16-16-1", "moons")
        for state in ("on", "off")
    },
    **of_batches(),
    **{
        f"{quantity} {stage}": Regime(f"growth of {quantity} per node, 10³ to 10⁶: {stage}", 2, 2)
        for quantity in ("time", "memory")
        for stage in ("parse", "sweep", "derive", "compile", "batch")
    },
}
"""By name, in the order of the table."""
COLUMNS: dict[str, Regime] = {
    "columns sums": Regime("Parquet to sums of a gradient / reading the batches", 1.5, 1.4),
    "columns rows": Regime("Parquet to Parquet / reading and writing the same columns", 1.3, 1.1),
    "columns csv": Regime("CSV to sums of a gradient / pyarrow's reading in a stream", 1.2, 1.0),
}
"""Those of columns in files, which are measured by themselves."""


def of_calls() -> dict[str, Regime]:
    """One point a call, and small batches, for the three formulas."""
    shown = {"neuron": "neuron", "rosenbrock": "Rosenbrock", "black_scholes": "Black–Scholes"}
    function = {"neuron": (1.0, 0.9), "rosenbrock": (0.7, 0.5), "black_scholes": (1.4, 1.2)}
    block = {"neuron": (1.4, 1.2), "rosenbrock": (2.0, 1.3), "black_scholes": (1.2, 1.1)}
    asked: dict[str, tuple[str, Mapping[str, tuple[float, float]]]] = {
        "function": ("`f.function()` / SymPy's lambdify", function),
        "gradient": ("`f.gradient` / SymPy's lambdify", dict.fromkeys(shown, (20, 12))),
        "vector": ("`f.function().vector` / CasADi's call", dict.fromkeys(shown, (0.3, 0.1))),
        "8192": ("native batch / C, 8,192 rows", block),
        "100": ("native batch / C, 100 rows", dict.fromkeys(shown, (5, 2))),
    }
    return {
        f"{key} {name}": Regime(f"{words}: {shown[name]}", *wanted)
        for key, (words, bars) in asked.items()
        for name, wanted in bars.items()
    }


CALLS: dict[str, Regime] = of_calls()
"""Those of calls, which are measured by themselves."""


def summary(figures: Mapping[str, Ratio], regimes: Mapping[str, Regime] = REGIMES) -> str:
    """The table of the regimes; a dash where nothing was measured, a peer or an engine being absent."""
    rows = []
    for name, regime in regimes.items():
        wanted = [regime.wanted(regime.bar), regime.wanted(regime.goal)]
        found = figures.get(name)
        if found is None:
            rows.append([regime.words, *wanted, "—", "—", "—"])
        else:
            said = [regime.said(found.median), regime.said(found.least)]
            rows.append([regime.words, *wanted, *said, regime.verdict(found.median)])
    return table(["regime", "bar", "goal", "median", "least by least", "reached"], rows)

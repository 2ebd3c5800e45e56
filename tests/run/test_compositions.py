"""Formulas of vectors and matrices, generated, with their gradients: as PyTorch finds them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from exprgrad import parse
from programs import require

SHAPES = {"A": (3, 3), "B": (3, 3), "v": (3,), "w": (3,)}
Given = dict[str, Any]


class Part(NamedTuple):
    """A piece of a formula, as text and as what PyTorch does."""

    text: str
    torch: Callable[[Given], Any]


def leaf(name: str) -> Part:
    return Part(name, lambda given: given[name])


def made(form: str, function: Callable[..., Any], *parts: Part) -> Part:
    """A piece made of others, each in parentheses."""
    text = form.format(*[f"({part.text})" for part in parts])
    return Part(text, lambda given: function(*[part.torch(given) for part in parts]))


def matrix(random: Random, depth: int) -> Part:
    import torch

    if depth == 0:
        return leaf(random.choice("AB"))
    one, other = matrix(random, depth - 1), matrix(random, depth - 1)
    row = vector(random, depth - 1)
    return random.choice(
        (
            made("{} @ {}", torch.matmul, one, other),
            made("{}*{}", torch.mul, one, other),
            made("{} + {}", torch.add, one, row),
            made("tanh{}", torch.tanh, one),
            made("{}.T", lambda x: x.T, one),
            made("softmax({}, axis=0)", lambda x: torch.softmax(x, 0), one),
            made(
                "where({0} > 0, {0}, sin({0}))", lambda x: torch.where(x > 0, x, torch.sin(x)), one
            ),
            made("diag{}", torch.diag, row),
            made("concat({}[0:1], {}[1:3])", lambda x, y: torch.cat([x[0:1], y[1:3]]), one, other),
        )
    )


def vector(random: Random, depth: int) -> Part:
    import torch

    if depth == 0:
        return leaf(random.choice("vw"))
    one, row = matrix(random, depth - 1), vector(random, depth - 1)
    return random.choice(
        (
            made("{} @ {}", torch.matmul, one, row),
            made("sum({}, axis=0)", lambda x: x.sum(0), one),
            made("logsumexp({}, axis=1)", lambda x: torch.logsumexp(x, 1), one),
            made("logsumexp({}, {}[-1])", lambda x, y: torch.logaddexp(x, y[-1]), row, one),
            made("{}[:, -1]", lambda x: x[:, -1], one),
            made("norm({}, axis=-1)", lambda x: torch.linalg.vector_norm(x, dim=-1), one),
            made("max({}, axis=1)", lambda x: torch.amax(x, 1), one),
            made("prod({}, axis=0)", lambda x: torch.prod(x, 0), one),
        )
    )


@pytest.mark.parametrize("count", [80, pytest.param(2_000, marks=pytest.mark.slow)])
def test_generated_formulas_as_in_torch(count: int) -> None:
    """Value and gradients, to 1e-11 of their norms: four levels of sums and products of 3 or 9 numbers."""
    require("torch")
    import torch

    for seed in range(count):
        formula = matrix(Random(seed), 1 + seed % 4)
        rng = np.random.default_rng(seed)
        values = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
        f = parse(f"mean({formula.text})")
        run = f.gradient({name: values[name] for name in f.inputs})
        leaves = {name: torch.tensor(x, requires_grad=True) for name, x in values.items()}
        out = formula.torch(leaves).mean()
        out.backward()
        assert abs(run.value - out.item()) <= 1e-11 * max(1.0, abs(out.item())), f.text
        for name in f.inputs:
            grad = leaves[name].grad
            assert grad is not None
            apart = float(np.linalg.norm(run.gradient[name] - grad.numpy()))
            assert apart <= 1e-11 * max(1.0, float(np.linalg.norm(grad.numpy()))), (f.text, name)

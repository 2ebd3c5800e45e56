"""A layer's gradient against its three matrix products in NumPy; and a small network, where calls cost."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import exprgrad
from benchmarks.measure import Call, Report, interleaved, peer, table, times

__all__ = ["report"]

LAYERS = {"sum((X @ W)*G)": "XWG", "sum(tanh(X @ W + b))": "XWb"}
NETWORK = "H = tanh(X @ W1 + b1); Y = H @ W2 + b2; cross_entropy(Y, y)"

Arrays = dict[str, Any]
Gradient = Mapping[str, Any]


def report(*, quick: bool) -> Report:
    """The tables: a wide layer in products and in bytes, and a small network in calls."""
    return Report(layers(quick) + "\n" + network(quick))


# A wide layer.


def layers(quick: bool) -> str:
    """Time in products of the same size, and memory in the layer's arrays X, W and Y = X @ W."""
    width, batch, rounds = (1024, 64, 5) if quick else (4096, 64, 9)
    rng = np.random.default_rng(0)
    given: Arrays = {
        "X": rng.normal(size=(batch, width)),
        "W": rng.normal(size=(width, width)) / width**0.5,
        "b": rng.normal(size=width),
        "G": rng.normal(size=(batch, width)),
    }
    arrays = 2 * given["X"].nbytes + given["W"].nbytes

    def products() -> object:
        x, w, g = (given[name] for name in "XWG")
        return x @ w, g @ w.T, x.T @ g

    rows = []
    for text, names in LAYERS.items():
        inputs = {name: given[name] for name in names}
        wrt = [name for name in names if name != "G"]
        ours = gradient_of(text, inputs, wrt)
        calls: dict[str, Call] = {"products": products, "exprgrad": ours}
        torch = peer("torch")
        if torch is not None:
            theirs = calls["PyTorch"] = layer_in_torch(torch, inputs, wrt)
            agree(ours(), theirs())
        found = interleaved(calls, rounds)
        held = sum(array.nbytes for array in inputs.values()) + peak(ours)
        rows.append(
            [
                f"`{text}`, {batch} × {width}",
                *[times(found[name] / found["products"]) for name in calls if name != "products"],
                times(held / arrays),
            ]
        )
    head = ["layer", "time", *(["PyTorch"] if peer("torch") is not None else []), "memory"]
    return table(head, rows)


def gradient_of(text: str, inputs: Arrays, wrt: list[str]) -> Callable[[], Gradient]:
    """exprgrad's gradient of a formula read once."""
    expression = exprgrad.parse(text)
    return lambda: expression.gradient(inputs, wrt=wrt).gradient


def layer_in_torch(torch: Any, inputs: Arrays, wrt: list[str]) -> Callable[[], Gradient]:
    """The same in PyTorch, on as many threads as NumPy's products take."""
    leaves = {
        name: torch.tensor(array, requires_grad=name in wrt) for name, array in inputs.items()
    }

    def call() -> Gradient:
        for leaf in leaves.values():
            leaf.grad = None
        y = leaves["X"] @ leaves["W"]
        out = (y * leaves["G"]).sum() if "G" in leaves else torch.tanh(y + leaves["b"]).sum()
        out.backward()
        return {name: leaves[name].grad.numpy() for name in wrt}

    return call


def peak(call: Call) -> int:
    """The most bytes that a call holds at once, beside what is there already."""
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def agree(one: Gradient, other: Gradient) -> None:
    """Raise ``ValueError`` where two gradients differ by more than rounding."""
    for name, array in one.items():
        apart = np.linalg.norm(array - other[name]) / np.linalg.norm(other[name])
        if not apart < 1e-11:
            raise ValueError(f"the gradients by {name} differ by {apart}")


# A small network.


def network(quick: bool) -> str:
    """Two layers on 150 flowers: what others take, in calls of exprgrad's ``gradient``."""
    rng = np.random.default_rng(0)
    given: Arrays = {
        "X": rng.normal(size=(150, 4)),
        "y": rng.integers(0, 3, size=150).astype(float),
        "W1": rng.normal(size=(4, 8)),
        "b1": rng.normal(size=8),
        "W2": rng.normal(size=(8, 3)),
        "b2": rng.normal(size=3),
    }
    wrt = ["W1", "b1", "W2", "b2"]
    ours = gradient_of(NETWORK, given, wrt)
    calls: dict[str, Callable[[], Gradient]] = {
        "exprgrad": ours,
        "NumPy by hand": lambda: by_hand(given),
    }
    torch = peer("torch")
    if torch is not None:
        calls["PyTorch"] = network_in_torch(torch, given, wrt)
    for call in calls.values():
        agree(ours(), call())
    found = interleaved(calls, 3 if quick else 9, 100 if quick else 500)
    others = [name for name in calls if name != "exprgrad"]
    row = ["150 × 4, 8, 3", *[times(found[name] / found["exprgrad"]) for name in others]]
    return table(["network", *others], [row])


def by_hand(given: Arrays) -> Gradient:
    """Loss and backpropagation as a lesson writes them."""
    x, y = given["X"], given["y"].astype(int)
    rows = np.arange(len(y))
    hidden = np.tanh(x @ given["W1"] + given["b1"])
    scores = hidden @ given["W2"] + given["b2"]
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    d_scores = raised / raised.sum(axis=1, keepdims=True)
    _ = -np.log(d_scores[rows, y]).mean()
    d_scores[rows, y] -= 1
    d_scores /= len(y)
    d_sums = d_scores @ given["W2"].T * (1 - hidden * hidden)
    return {
        "W1": x.T @ d_sums,
        "b1": d_sums.sum(axis=0),
        "W2": hidden.T @ d_scores,
        "b2": d_scores.sum(axis=0),
    }


def network_in_torch(torch: Any, given: Arrays, wrt: list[str]) -> Callable[[], Gradient]:
    """The same in PyTorch."""
    leaves = {name: torch.tensor(array, requires_grad=name in wrt) for name, array in given.items()}
    labels = leaves["y"].long()

    def call() -> Gradient:
        for leaf in leaves.values():
            leaf.grad = None
        hidden = torch.tanh(leaves["X"] @ leaves["W1"] + leaves["b1"])
        scores = hidden @ leaves["W2"] + leaves["b2"]
        torch.nn.functional.cross_entropy(scores, labels).backward()
        return {name: leaves[name].grad.numpy() for name in wrt}

    return call

"""A network of two layers on Fisher's iris, from files, as one command; PyTorch says what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exprgrad import parse
from exprgrad.cli.main import main
from programs import require

DATA = Path(__file__).parents[1] / "data"
TEXT = "Z = X @ W1 + b1; H = tanh(Z); Y = H @ W2 + b2; loss = cross_entropy(Y, y)"
RECTIFIED = TEXT.replace("tanh", "relu")


def weights() -> dict[str, Any]:
    """Two layers of 8 and 3, drawn once and for all."""
    rng = np.random.default_rng(1936)
    return {
        "W1": rng.normal(scale=0.5, size=(4, 8)),
        "b1": rng.normal(scale=0.1, size=8),
        "W2": rng.normal(scale=0.5, size=(8, 3)),
        "b2": rng.normal(scale=0.1, size=3),
    }


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Every input from a file."""
    given = [f"X=@{DATA / 'iris.csv'}:*", f"y=@{DATA / 'iris_species.csv'}"]
    for name, array in weights().items():
        np.save(tmp_path / f"{name}.npy", array)
        given.append(f"{name}=@{tmp_path / name}.npy")
    return given


def iris() -> tuple[Any, Any]:
    """Measures and species."""
    measures = np.loadtxt(DATA / "iris.csv", delimiter=",", skiprows=1)
    return measures, np.loadtxt(DATA / "iris_species.csv", skiprows=1)


def in_torch(activation: str) -> tuple[float, dict[str, Any]]:
    """The loss and its gradients."""
    import torch

    x, y = iris()
    leaves = {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=True)
        for name, array in {"X": x, **weights()}.items()
    }
    z = leaves["X"] @ leaves["W1"] + leaves["b1"]
    scores = getattr(torch, activation)(z) @ leaves["W2"] + leaves["b2"]
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(y).long())
    loss.backward()
    grads = {name: leaf.grad for name, leaf in leaves.items()}
    assert None not in grads.values()
    return loss.item(), {name: grad.numpy() for name, grad in grads.items() if grad is not None}


def test_the_data_are_fishers() -> None:
    x, y = iris()
    assert x.shape == (150, 4)
    assert [round(total, 9) for total in x.sum(axis=0)] == [876.5, 458.6, 563.7, 179.9]
    assert [list(y).count(species) for species in range(3)] == [50, 50, 50]


@pytest.mark.parametrize(("text", "activation"), [(TEXT, "tanh"), (RECTIFIED, "relu")])
def test_one_command_finds_what_torch_finds(
    text: str, activation: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The loss and every gradient, to 1e-12 of the array's norm."""
    require("torch")
    assert main(["grad", text, *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    loss, grads = in_torch(activation)
    assert abs(found["value"] - loss) <= 1e-12 * loss
    assert set(found["gradient"]) == {*grads, "y"}
    for name, grad in grads.items():
        ours = np.array(found["gradient"][name])
        assert ours.shape == grad.shape
        assert np.linalg.norm(ours - grad) <= 1e-12 * np.linalg.norm(grad), name


def test_the_patterns_of_a_layer_are_in_the_trace(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """dX = dY @ W.T and dW = X.T @ dY, as CS231n has them; a bias sums over the rows."""
    assert main(["grad", TEXT, *arguments, "--trace"]) == 0
    trace = capsys.readouterr().out
    for line in (
        "H.grad += (H @ W2).grad @ W2.T",
        "W2.grad += H.T @ (H @ W2).grad",
        "X.grad += (X @ W1).grad @ W1.T",
        "W1.grad += X.T @ (X @ W1).grad",
        "diag(1 - H^2)",
    ):
        assert line in trace.replace("−", "-"), line


def test_descending_the_gradient_learns_the_flowers() -> None:
    """The gradients lead where they should: most flowers are told apart."""
    x, y = iris()
    text = TEXT.replace("X @", "(X - mean(X, axis=0)) @")
    f, values = parse(text), weights()
    for _ in range(200):
        run = f.gradient(values, X=x, y=y, wrt=list(values))
        values = {name: array - 0.5 * run.gradient[name] for name, array in values.items()}
    scores = parse(text.replace("; loss = cross_entropy(Y, y)", "")).evaluate(values, X=x).value
    assert np.mean(np.argmax(scores, axis=1) == y) > 0.95

"""Runs over tensors that the tests of tables and traces look at."""

from __future__ import annotations

from exprgrad import Run, parse

LAYER = "Y = X @ W + b; L = sum(Y^2)"
NETWORK = "H = relu(X @ W1 + b1); Z = H @ W2 + b2; loss = cross_entropy(Z, y)"


def ramp(rows: int, columns: int, scale: float = 1.0) -> list[list[float]]:
    """A matrix of numbers that are easy to tell apart."""
    numbers = [((7 * at) % 11 - 5) * scale / 4 for at in range(rows * columns)]
    return [numbers[row * columns : (row + 1) * columns] for row in range(rows)]


def network(rows: int) -> Run:
    """Two layers and a loss."""
    return parse(NETWORK).gradient(
        X=ramp(rows, 4),
        W1=ramp(4, 3, 0.5),
        b1=[0.51, 0.01, -0.26],
        W2=ramp(3, 3),
        b2=[0.1, 0.2, -0.3],
        y=[at % 3 for at in range(rows)],
    )


RUNS: dict[str, Run] = {
    "layer": parse(LAYER).gradient(
        X=[[1, 2, 3], [4, 5, 6]], W=[[1, 0], [0, 1], [1, 1]], b=[0.5, -0.5]
    ),
    "network": network(150),
    "vector": parse("sum(relu(x)^2)").gradient(x=[1, -2, 3]),
    "forward": parse(LAYER).evaluate(X=ramp(2, 3), W=ramp(3, 2), b=[0.5, -0.5]),
    "list": parse("a = [1, 2]; a*x").evaluate(x=[[1, 2], [3, 4]]),
    "holes": parse("y = log(X); z = y*exp(900*X); sum(where(X > 0, z, X))").gradient(
        X=[[-1, 0, 1], [2, -1, 1], [-1, -1, -1]]
    ),
    "wrt": parse("t = 2*x; c*sum(w*x + 1) + sin(k)").gradient(
        x=[1, 2], w=[3, 4], c=2, k=1, wrt=["w", "k"]
    ),
    "reuse": parse("u = x*x; u @ u + sum(u[0:2])").gradient(x=[1, 2, 3]),
    "branches": parse("sum(where(x > 0, log(x), sign(x)*x)) + where(c > 0, c, log(c))").gradient(
        x=[2, -1], c=3
    ),
    "labels": parse("m = onehot(y, 3); trace(m.T @ P) + max(P)").gradient(
        y=[0, 2], P=[[1, 2, 3], [4, 5, 6]]
    ),
}

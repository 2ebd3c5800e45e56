import numpy as np


@np.errstate(all="ignore")
def f(X, W1, b1, W2, b2, y, k):
    """f: the value and the gradient of a formula, by exprgrad.

      h = relu(X @ W1 + b1)
      z = h @ W2 + b2
      loss = cross_entropy(z, y) + k*norm(W1)^2

    Inputs, in order: X (150, 4), W1 (4, 8), b1 (8,), W2 (8, 3), b2 (3,), y (150,), k (a
    number).
    Returns loss and the tuple of its derivatives with respect to the inputs, in this order.
    The program is for exactly these shapes; each derivative has the shape of its input.
    """
    X = f_input(X, (150, 4))
    W1 = f_input(W1, (4, 8))
    b1 = f_input(b1, (8,))
    W2 = f_input(W2, (8, 3))
    b2 = f_input(b2, (3,))
    y = f_input(y, (150,))
    k = f_input(k, ())
    t1 = X @ W1 + b1
    h = np.maximum(t1, 0.0)
    z = h @ W2 + b2
    t2 = f_norm(W1)
    t3 = t2*t2
    loss = f_cross_entropy(z, y) + k*t3
    t4 = (f_softmax(z) - f_onehot(y))/150.0
    t5 = (t4 @ W2.T)*np.where(t1 > 0.0, 1.0, 0.0)
    return loss, (
        t5 @ W1.T, k*(2.0*t2)*np.where(t2 == 0.0, 0.0, W1/t2) + X.T @ t5, np.sum(t5, axis=0),
        h.T @ t4, np.sum(t4, axis=0), np.full((150,), 0.0), t3
    )


def f_input(x, shape):
    """x as an array of doubles."""
    x = np.asarray(x, dtype=np.float64)[()]
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_onehot(y):
    """onehot of y (150,), classes=3: a row for each label from 0 up: 1 in the label's place, 0
    elsewhere."""
    t1 = np.reshape(y, (150, 1))
    t2 = ((t1 == np.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    return np.where(t2, np.where(t1 == np.arange(3.0), 1.0, 0.0), np.nan)


def f_softmax(x):
    """softmax of x (150, 3): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = np.max(x, axis=1, keepdims=True)
    t2 = np.exp(np.where(x == t1, 0.0, x - t1))
    return t2/np.sum(t2, axis=1, keepdims=True)


def f_norm(x):
    """norm of x (4, 8): the root of the sum of squares, of all numbers or along an axis."""
    t1 = np.max(np.abs(x), axis=(0, 1), keepdims=True)
    t2 = np.power(2.0, np.minimum(np.floor(np.log2(t1)), 1023.0))
    t3 = np.where((t1 > 0.0) & (np.abs(t1) < np.inf), t2, 1.0)
    t4 = x/t3
    t5 = t3*np.sqrt(np.sum(t4*t4, axis=(0, 1), keepdims=True))
    return np.reshape(t5, ())[()]


def f_cross_entropy(x, y):
    """cross_entropy of x (150, 3), y (150,): of scores x: mean over rows of -log(softmax(x))
    at the labels y, or weighted by probabilities y."""
    t1 = np.reshape(y, (150, 1))
    t2 = ((t1 == np.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    t3 = np.where(t2, np.where(t1 == np.arange(3.0), 1.0, 0.0), np.nan)
    t4 = np.max(x, axis=1, keepdims=True)
    t5 = np.where(np.abs(t4) < np.inf, t4, 0.0)
    t6 = np.where(x == t5, 1.0, 0.0)
    t7 = np.sum(np.where(t6 != 0.0, 0.0, np.exp(x - t5)), axis=1, keepdims=True)
    t8 = t3*(t5 - x + np.log1p(t7 + (np.sum(t6, axis=1, keepdims=True) - 1.0)))
    return np.sum(np.where(t3 == 0.0, 0.0, t8))/150.0

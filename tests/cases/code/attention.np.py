import numpy as np


@np.errstate(all="ignore")
def f(Q, K, V):
    """f: the value and the gradient of a formula, by exprgrad.

      w = softmax((Q @ K.T)/sqrt(8))
      mean((w @ V - [[1, 2], [3, 4], [5, 6]])^2)

    Inputs, in order: Q (3, 8), K (5, 8), V (5, 2).
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    The program is for exactly these shapes; each derivative has the shape of its input.
    """
    Q = f_input(Q, (3, 8))
    K = f_input(K, (5, 8))
    V = f_input(V, (5, 2))
    t1 = np.sqrt(8.0)
    w = f_softmax((Q @ K.T)/t1)
    t2 = w @ V - np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    t3 = np.float64(1.0)/6.0*(2.0*t2)
    t4 = t3 @ V.T
    t5 = w*(t4 - np.sum(w*t4, axis=1, keepdims=True))*(1.0/t1)
    return np.mean(t2*t2), (t5 @ K, (Q.T @ t5).T, w.T @ t3)


def f_input(x, shape):
    """x as an array of doubles."""
    x = np.asarray(x, dtype=np.float64)[()]
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_softmax(x):
    """softmax of x (3, 5): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = np.max(x, axis=1, keepdims=True)
    t2 = np.exp(np.where(x == t1, 0.0, x - t1))
    return t2/np.sum(t2, axis=1, keepdims=True)

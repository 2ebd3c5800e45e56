import numpy as np


@np.errstate(all="ignore")
def f(X, k, v):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(X, axis=1)
      concat(m, [k, 1], v[1:3]) @ [0, 1, 2, 3, 4, 5] + X[0, 1]*prod(v)

    Inputs, in order: X (2, 3), k (a number), v (4,).
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    The program is for exactly these shapes; each derivative has the shape of its input.
    """
    X = f_input(X, (2, 3))
    k = f_input(k, ())
    v = f_input(v, (4,))
    m = np.max(X, axis=1)
    t1 = np.arange(6.0)
    t2 = X[0, 1]
    t3 = np.prod(v)
    t4 = v[2:4]
    t5 = v[0:2]
    t6 = t5*t4
    t7 = np.concatenate((t6[1:2], t6[0:1]))
    t8 = np.where(X == np.reshape(m, (2, 1)), 1.0, 0.0)
    t9 = np.reshape(t1[0:2], (2, 1))*(t8/np.reshape(np.sum(t8, axis=1), (2, 1)))
    value = np.concatenate((m, np.stack((k, 1.0)), v[1:3])) @ t1 + t2*t3
    return value, (
        np.pad(np.reshape(t3, (1, 1)), ((0, 1), (1, 1))) + t9, t1[2:4][0],
        t2*np.concatenate((t7*t4, t7*t5)) + np.pad(t1[4:6], ((1, 1),))
    )


def f_input(x, shape):
    """x as an array of doubles."""
    x = np.asarray(x, dtype=np.float64)[()]
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x

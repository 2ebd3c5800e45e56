import numpy as np


@np.errstate(all="ignore")
def f(a, b):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(a, b, 2)
      where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)

    Inputs, in order: a, b.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    a, b = map(np.float64, (a, b))
    m = np.maximum(np.maximum(a, b), 2.0)
    t1 = (a < b) & (b < 3.0)
    t2 = np.mod(m, a)
    t3 = np.maximum(a, 0.0) + np.sign(b)*np.power(np.round(a/b), 3.0)
    t4 = np.where(a == 0.0, np.nan, 1.0)
    t5 = np.where(a == m, 1.0, 0.0)
    t6 = np.where(b == m, 1.0, 0.0)
    t7 = t5 + t6 + np.where(2.0 == m, np.inf, 0.0)
    t8 = np.where(t1, 0.0, np.where(a > 0.0, 1.0, 0.0))
    t9 = t8 + np.where(t1, -np.round(m/a - t2/a), 0.0)
    return np.where(t1, t2, t3), (
        t9 + np.where(t1, t4*(t5/t7), 0.0), np.where(t1, t4*(t6/t7), 0.0)
    )

import numpy as np


@np.errstate(all="ignore")
def f(x1, w1, x2, w2, b):
    """f: the value and the gradient of a formula, by exprgrad.

      o = tanh(x1*w1 + x2*w2 + b)

    Inputs, in order: x1, w1, x2, w2, b.
    Returns o and the tuple of its derivatives with respect to the inputs, in this order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    x1, w1, x2, w2, b = map(np.float64, (x1, w1, x2, w2, b))
    t1 = x1*w1 + x2*w2 + b
    o = np.tanh(t1)
    t2 = np.cosh(t1)
    t3 = 1.0/t2/t2
    return o, (t3*w1, t3*x1, t3*w2, t3*x2, t3)

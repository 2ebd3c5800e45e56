import math


def f(x1, w1, x2, w2, b):
    """f: the value and the gradient of a formula, by exprgrad.

      o = tanh(x1*w1 + x2*w2 + b)

    Inputs, in order: x1, w1, x2, w2, b.
    Returns o and the tuple of its derivatives with respect to the inputs, in this order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    t1 = x1*w1 + x2*w2 + b
    o = math.tanh(t1)
    t2 = f_cosh(t1)
    t3 = 1.0/t2/t2
    return o, (t3*w1, t3*x1, t3*w2, t3*x2, t3)


def f_cosh(x):
    """math.cosh, infinite where it overflows."""
    try:
        return math.cosh(x)
    except OverflowError:
        return math.inf

import math


def short_f(x, y):
    """short_f: the values and the Jacobian of a formula, by exprgrad.

      u = x*y^2
      v = exp(x)/y
      u*v

    Inputs, in order: x, y.
    Returns the values of u, v and their Jacobian: a row for each, a column for each of the
    inputs, in this order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    t1 = y*y
    u = x*t1
    t2 = short_f_exp(x)
    v = short_f_div(t2, y)
    value = (u, v)
    jacobian = (
        (t1, x*(2.0*y)),
        (short_f_div(1.0, y)*t2, short_f_div(-v, y)),
    )
    return value, jacobian


def short_f_exp(x):
    """math.exp, infinite where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def short_f_div(x, y):
    """IEEE's x/y: infinite or nan where y is 0."""
    if y != 0.0:
        return x/y
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x)*math.copysign(1.0, y)

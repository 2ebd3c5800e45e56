import math


def f(a, b):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(a, b, 2)
      where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)

    Inputs, in order: a, b.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    m = f_max(f_max(a, b), 2.0)
    t1 = a < b and b < 3.0
    t2 = f_mod(m, a)
    t3 = math.nan if a == 0.0 else 1.0
    t4 = float(a == m)
    t5 = float(b == m)
    t6 = t4 + t5 + (math.inf if 2.0 == m else 0.0)
    t7 = -f_round(f_div(m, a) - f_div(t2, a)) if t1 else 0.0
    value = t2 if t1 else f_max(a, 0.0) + f_sign(b)*f_pow(f_round(f_div(a, b)), 3.0)
    return value, (
        (0.0 if t1 else float(a > 0.0)) + t7 + (t3*f_div(t4, t6) if t1 else 0.0),
        t3*f_div(t5, t6) if t1 else 0.0
    )


def f_round(x):
    """The nearest whole number; halves go to the even one."""
    return math.copysign(round(x), x) if math.isfinite(x) else x


def f_div(x, y):
    """IEEE's x/y: infinite or nan where y is 0."""
    if y != 0.0:
        return x/y
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x)*math.copysign(1.0, y)


def f_mod(x, y):
    """x % y, with the sign of y; nan where y is 0."""
    return x % y if y != 0.0 else math.nan


def f_pow(x, y):
    """IEEE's x to the power y."""
    if y == 2.0:
        return x*x
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2.0 == 1.0 else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf


def f_sign(x):
    """-1, 0 or 1; nan for nan."""
    return math.copysign(1.0, x) if x != 0.0 and x == x else x


def f_max(x, y):
    """The greater; nan if either is nan."""
    return x if x > y or x != x else y

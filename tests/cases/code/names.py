import math


def f(lambda_, ψ, y1, class_, gradient, value, t1, exp):
    """f: the value and the gradient of a formula, by exprgrad.

      lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)

    Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
    In the code, lambda is called lambda_, class is called class_.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    t2 = class_*class_
    t3 = f_sin(exp)
    value_ = lambda_*ψ + y1*t2 + gradient*value + t1 + exp*t3
    return value_, (ψ, lambda_, t2, y1*(2.0*class_), value, gradient, 1.0, t3 + exp*f_cos(exp))


def f_sin(x):
    """math.sin, with IEEE's answer outside its domain."""
    return math.sin(x) if math.isfinite(x) else math.nan


def f_cos(x):
    """math.cos, with IEEE's answer outside its domain."""
    return math.cos(x) if math.isfinite(x) else math.nan

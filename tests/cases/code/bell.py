import math


def f(x, mu, sigma):
    """f: the value and the gradient of a formula, by exprgrad.

      z = (x - mu)/sigma
      exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)

    Inputs, in order: x, mu, sigma.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    z = f_div(x - mu, sigma)
    t1 = f_exp(-(z*z)/2.0)
    t2 = f_sqrt(2.0*math.pi)
    t3 = sigma*t2
    t4 = f_div(t1, t3)
    t5 = f_round(16.0*z)/16.0
    t6 = f_exp(46.0 - t5*t5)*f_exp((t5 - z)*(z + t5))
    t7 = 0.0 if abs(z) > 28.0 else t6*(-2.0/f_sqrt(math.pi)*f_exp(-46.0))
    t8 = t7 + -(f_div(1.0, t3)*t1*0.5)*(2.0*z)
    t9 = t8*f_div(1.0, sigma)
    return t4 + math.erfc(z), (t9, -t9, f_div(-t4, t3)*t2 + t8*f_div(-z, sigma))


def f_sqrt(x):
    """math.sqrt, with IEEE's answer outside its domain."""
    return math.sqrt(x) if x >= 0.0 else math.nan


def f_exp(x):
    """math.exp, infinite where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def f_round(x):
    """The nearest whole number; halves go to the even one."""
    return math.copysign(round(x), x) if math.isfinite(x) else x


def f_div(x, y):
    """IEEE's x/y: infinite or nan where y is 0."""
    if y != 0.0:
        return x/y
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x)*math.copysign(1.0, y)

import numpy as np


@np.errstate(all="ignore")
def short_f(x, y):
    """short_f: the value, the gradient and the Hessian of a formula, by exprgrad.

      u = x*y^2
      v = exp(x)/y
      u*v

    Inputs, in order: x, y.
    Returns the value, the gradient with respect to the inputs, in this order, and the
    Hessian: a row and a column for each.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    x, y = map(np.float64, (x, y))
    t1 = y*y
    u = x*t1
    t2 = np.exp(x)
    v = t2/y
    t3 = 1.0/y
    t4 = -v/y
    t5 = u*t3*t2
    t6 = v*x
    t7 = 2.0*y
    t8 = t3*t2
    t9 = t4*t1 + u*(t3*-t8) + t7*(x*t8 + v)
    t10 = -t4
    value = u*v
    gradient = (t5 + v*t1, u*t4 + t6*t7)
    hessian = (
        (t2*(t3*t1) + t5 + t1*t8, t9),
        (t9, t4*(x*t7) + u*(t3*t10 + t10/y) + (t7*(x*t4) + t6*2.0)),
    )
    return value, gradient, hessian

import numpy as np


@np.errstate(all="ignore")
def short_f(x, y):
    """short_f: the values and the Jacobian of a formula, by exprgrad.

      u = x*y^2
      v = exp(x)/y
      u*v

    Inputs, in order: x, y.
    Returns the values of u, v and their Jacobian: a row for each, a column for each of the
    inputs, in this order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    x, y = map(np.float64, (x, y))
    t1 = y*y
    u = x*t1
    t2 = np.exp(x)
    v = t2/y
    shape = np.broadcast_shapes(x.shape, y.shape)
    value = (u, v)
    jacobian = (
        (np.broadcast_to(t1, shape)[()], x*(2.0*y)),
        (1.0/y*t2, -v/y),
    )
    return value, jacobian

import numpy as np


@np.errstate(all="ignore")
def f():
    """f: the value and the gradient of a formula, by exprgrad.

      2 + 2

    Inputs, in order: none.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    return np.float64(4.0), ()

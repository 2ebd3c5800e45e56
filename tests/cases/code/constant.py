import math


def f():
    """f: the value and the gradient of a formula, by exprgrad.

      2 + 2

    Inputs, in order: none.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Python 3.11 or later.  Inputs are floats.  IEEE answers (inf, nan), never an exception.
    """
    return 4.0, ()

import numpy as np


@np.errstate(all="ignore")
def f(lambda_, ψ, y1, class_, gradient, value, t1, exp):
    """f: the value and the gradient of a formula, by exprgrad.

      lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)

    Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
    In the code, lambda is called lambda_, class is called class_.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    lambda_ = np.float64(lambda_)
    ψ = np.float64(ψ)
    y1 = np.float64(y1)
    class_ = np.float64(class_)
    gradient = np.float64(gradient)
    value = np.float64(value)
    t1 = np.float64(t1)
    exp = np.float64(exp)
    t2 = class_*class_
    t3 = np.sin(exp)
    value_ = lambda_*ψ + y1*t2 + gradient*value + t1 + exp*t3
    shape = np.broadcast_shapes(
        lambda_.shape, ψ.shape, y1.shape, class_.shape, gradient.shape, value.shape, t1.shape,
        exp.shape
    )
    return value_, (
        np.broadcast_to(ψ, shape)[()], np.broadcast_to(lambda_, shape)[()],
        np.broadcast_to(t2, shape)[()], np.broadcast_to(y1*(2.0*class_), shape)[()],
        np.broadcast_to(value, shape)[()], np.broadcast_to(gradient, shape)[()],
        np.broadcast_to(np.float64(1.0), shape)[()],
        np.broadcast_to(t3 + exp*np.cos(exp), shape)[()]
    )

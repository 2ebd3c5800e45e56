import torch


def short_f(x, y):
    """short_f: the values and the Jacobian of a formula, by exprgrad.

      u = x*y^2
      v = exp(x)/y
      u*v

    Inputs, in order: x, y.
    Returns the values of u, v and their Jacobian: a row for each, a column for each of the
    inputs, in this order.
    Inputs are numbers or tensors that broadcast; all that is returned is float64, of their
    shape.
    """
    x, y = map(short_f_tensor, (x, y))
    t1 = y*y
    u = x*t1
    t2 = torch.exp(x)
    v = t2/y
    shape = torch.broadcast_shapes(x.shape, y.shape)
    value = (u, v)
    jacobian = (
        (torch.broadcast_to(t1, shape), x*(2.0*y)),
        (1.0/y*t2, -v/y),
    )
    return value, jacobian


def short_f_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)

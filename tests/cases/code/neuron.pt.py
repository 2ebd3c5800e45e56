import torch


def f(x1, w1, x2, w2, b):
    """f: the value and the gradient of a formula, by exprgrad.

      o = tanh(x1*w1 + x2*w2 + b)

    Inputs, in order: x1, w1, x2, w2, b.
    Returns o and the tuple of its derivatives with respect to the inputs, in this order.
    Inputs are numbers or tensors that broadcast; all that is returned is float64, of their
    shape.
    """
    x1, w1, x2, w2, b = map(f_tensor, (x1, w1, x2, w2, b))
    t1 = x1*w1 + x2*w2 + b
    o = torch.tanh(t1)
    t2 = torch.cosh(t1)
    t3 = 1.0/t2/t2
    return o, (t3*w1, t3*x1, t3*w2, t3*x2, t3)


def f_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)

import torch


def f(a, b):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(a, b, 2)
      where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)

    Inputs, in order: a, b.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or tensors that broadcast; all that is returned is float64, of their
    shape.
    """
    a, b = map(f_tensor, (a, b))
    m = torch.maximum(torch.maximum(a, b), f_tensor(2.0))
    t1 = (a < b) & (b < 3.0)
    t2 = torch.remainder(m, a)
    t3 = f_sign(b)*torch.pow(torch.round(a/b), f_tensor(3.0))
    t4 = torch.where(a == 0.0, f_tensor(torch.nan), f_tensor(1.0))
    t5 = (a == m).double()
    t6 = (b == m).double()
    t7 = t5 + t6 + torch.where(2.0 == m, f_tensor(torch.inf), f_tensor(0.0))
    t8 = torch.where(t1, -torch.round(m/a - t2/a), f_tensor(0.0))
    t9 = torch.where(t1, f_tensor(0.0), (a > 0.0).double()) + t8
    value = torch.where(t1, t2, torch.maximum(a, f_tensor(0.0)) + t3)
    return value, (
        t9 + torch.where(t1, t4*(t5/t7), f_tensor(0.0)),
        torch.where(t1, t4*(t6/t7), f_tensor(0.0))
    )


def f_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)


def f_sign(x):
    """-1, 0 or 1; nan for nan, where torch.sign gives 0."""
    return torch.where(x == x, torch.sign(x), x)

import torch


def f(X, k, v):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(X, axis=1)
      concat(m, [k, 1], v[1:3]) @ [0, 1, 2, 3, 4, 5] + X[0, 1]*prod(v)

    Inputs, in order: X (2, 3), k (a number), v (4,).
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    The program is for exactly these shapes; each derivative has the shape of its input.  All
    is float64, and nothing is recorded for autograd.
    """
    X = f_input(X, (2, 3))
    k = f_input(k, ())
    v = f_input(v, (4,))
    m = torch.amax(X, dim=1)
    t1 = X.new_tensor(range(6))
    t2 = X[0, 1]
    t3 = torch.prod(v)
    t4 = v[2:4]
    t5 = v[0:2]
    t6 = t5*t4
    t7 = torch.cat((t6[1:2], t6[0:1]))
    t8 = (X == torch.reshape(m, (2, 1))).double()
    t9 = t8/torch.reshape(torch.sum(t8, dim=1), (2, 1))
    t10 = torch.nn.functional.pad(torch.reshape(t3, (1, 1)), (1, 1, 0, 1))
    value = torch.cat((m, torch.stack((k, X.new_tensor(1.0))), v[1:3])) @ t1 + t2*t3
    return value, (
        t10 + torch.reshape(t1[0:2], (2, 1))*t9, t1[2:4][0],
        t2*torch.cat((t7*t4, t7*t5)) + torch.nn.functional.pad(t1[4:6], (1, 1))
    )


def f_input(x, shape):
    """x as a tensor of doubles, whose history autograd does not see."""
    x = torch.as_tensor(x, dtype=torch.float64).detach()
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x

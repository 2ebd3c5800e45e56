import torch


def f(Q, K, V):
    """f: the value and the gradient of a formula, by exprgrad.

      w = softmax((Q @ K.T)/sqrt(8))
      mean((w @ V - [[1, 2], [3, 4], [5, 6]])^2)

    Inputs, in order: Q (3, 8), K (5, 8), V (5, 2).
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    The program is for exactly these shapes; each derivative has the shape of its input.  All
    is float64, and nothing is recorded for autograd.
    """
    Q = f_input(Q, (3, 8))
    K = f_input(K, (5, 8))
    V = f_input(V, (5, 2))
    t1 = torch.sqrt(Q.new_tensor(8.0))
    w = f_softmax((Q @ K.T)/t1)
    t2 = w @ V - Q.new_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    t3 = Q.new_tensor(1.0)/6.0*(2.0*t2)
    t4 = t3 @ V.T
    t5 = w*(t4 - torch.sum(w*t4, dim=1, keepdim=True))*(1.0/t1)
    return torch.mean(t2*t2), (t5 @ K, (Q.T @ t5).T, w.T @ t3)


def f_input(x, shape):
    """x as a tensor of doubles, whose history autograd does not see."""
    x = torch.as_tensor(x, dtype=torch.float64).detach()
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_softmax(x):
    """softmax of x (3, 5): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = torch.amax(x, dim=1, keepdim=True)
    t2 = torch.exp(torch.where(x == t1, x.new_tensor(0.0), x - t1))
    return t2/torch.sum(t2, dim=1, keepdim=True)

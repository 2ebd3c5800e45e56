import torch


def f(X, W1, b1, W2, b2, y, k):
    """f: the value and the gradient of a formula, by exprgrad.

      h = relu(X @ W1 + b1)
      z = h @ W2 + b2
      loss = cross_entropy(z, y) + k*norm(W1)^2

    Inputs, in order: X (150, 4), W1 (4, 8), b1 (8,), W2 (8, 3), b2 (3,), y (150,), k (a
    number).
    Returns loss and the tuple of its derivatives with respect to the inputs, in this order.
    The program is for exactly these shapes; each derivative has the shape of its input.  All
    is float64, and nothing is recorded for autograd.
    """
    X = f_input(X, (150, 4))
    W1 = f_input(W1, (4, 8))
    b1 = f_input(b1, (8,))
    W2 = f_input(W2, (8, 3))
    b2 = f_input(b2, (3,))
    y = f_input(y, (150,))
    k = f_input(k, ())
    t1 = X @ W1 + b1
    h = torch.maximum(t1, X.new_tensor(0.0))
    z = h @ W2 + b2
    t2 = f_norm(W1)
    t3 = t2*t2
    loss = f_cross_entropy(z, y) + k*t3
    t4 = (f_softmax(z) - f_onehot(y))/150.0
    t5 = (t4 @ W2.T)*(t1 > 0.0).double()
    return loss, (
        t5 @ W1.T, k*(2.0*t2)*torch.where(t2 == 0.0, X.new_tensor(0.0), W1/t2) + X.T @ t5,
        torch.sum(t5, dim=0), h.T @ t4, torch.sum(t4, dim=0), X.new_full((150,), 0.0), t3
    )


def f_input(x, shape):
    """x as a tensor of doubles, whose history autograd does not see."""
    x = torch.as_tensor(x, dtype=torch.float64).detach()
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_onehot(y):
    """onehot of y (150,), classes=3: a row for each label from 0 up: 1 in the label's place, 0
    elsewhere."""
    t1 = torch.reshape(y, (150, 1))
    t2 = ((t1 == torch.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    t3 = (t1 == y.new_tensor(range(3))).double()
    return torch.where(t2, t3, y.new_tensor(torch.nan))


def f_softmax(x):
    """softmax of x (150, 3): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = torch.amax(x, dim=1, keepdim=True)
    t2 = torch.exp(torch.where(x == t1, x.new_tensor(0.0), x - t1))
    return t2/torch.sum(t2, dim=1, keepdim=True)


def f_norm(x):
    """norm of x (4, 8): the root of the sum of squares, of all numbers or along an axis."""
    t1 = torch.amax(torch.abs(x), dim=(0, 1), keepdim=True)
    t2 = torch.minimum(torch.floor(torch.log2(t1)), x.new_tensor(1023.0))
    t3 = (t1 > 0.0) & (torch.abs(t1) < torch.inf)
    t4 = torch.where(t3, torch.pow(x.new_tensor(2.0), t2), x.new_tensor(1.0))
    t5 = x/t4
    t6 = t4*torch.sqrt(torch.sum(t5*t5, dim=(0, 1), keepdim=True))
    return torch.reshape(t6, ())


def f_cross_entropy(x, y):
    """cross_entropy of x (150, 3), y (150,): of scores x: mean over rows of -log(softmax(x))
    at the labels y, or weighted by probabilities y."""
    t1 = torch.reshape(y, (150, 1))
    t2 = ((t1 == torch.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    t3 = (t1 == x.new_tensor(range(3))).double()
    t4 = torch.where(t2, t3, x.new_tensor(torch.nan))
    t5 = torch.amax(x, dim=1, keepdim=True)
    t6 = torch.where(torch.abs(t5) < torch.inf, t5, x.new_tensor(0.0))
    t7 = (x == t6).double()
    t8 = torch.where(t7 != 0.0, x.new_tensor(0.0), torch.exp(x - t6))
    t9 = torch.sum(t7, dim=1, keepdim=True) - 1.0
    t10 = t4*(t6 - x + torch.log1p(torch.sum(t8, dim=1, keepdim=True) + t9))
    return torch.sum(torch.where(t4 == 0.0, x.new_tensor(0.0), t10))/150.0

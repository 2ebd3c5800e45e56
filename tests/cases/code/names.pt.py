import torch


def f(lambda_, ψ, y1, class_, gradient, value, t1, exp):
    """f: the value and the gradient of a formula, by exprgrad.

      lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)

    Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
    In the code, lambda is called lambda_, class is called class_.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or tensors that broadcast; all that is returned is float64, of their
    shape.
    """
    lambda_ = f_tensor(lambda_)
    ψ = f_tensor(ψ)
    y1 = f_tensor(y1)
    class_ = f_tensor(class_)
    gradient = f_tensor(gradient)
    value = f_tensor(value)
    t1 = f_tensor(t1)
    exp = f_tensor(exp)
    t2 = class_*class_
    t3 = torch.sin(exp)
    value_ = lambda_*ψ + y1*t2 + gradient*value + t1 + exp*t3
    shape = torch.broadcast_shapes(
        lambda_.shape, ψ.shape, y1.shape, class_.shape, gradient.shape, value.shape, t1.shape,
        exp.shape
    )
    return value_, (
        torch.broadcast_to(ψ, shape), torch.broadcast_to(lambda_, shape),
        torch.broadcast_to(t2, shape), torch.broadcast_to(y1*(2.0*class_), shape),
        torch.broadcast_to(value, shape), torch.broadcast_to(gradient, shape),
        torch.broadcast_to(f_tensor(1.0), shape),
        torch.broadcast_to(t3 + exp*torch.cos(exp), shape)
    )


def f_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)

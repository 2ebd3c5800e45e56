import torch


def f(x, mu, sigma):
    """f: the value and the gradient of a formula, by exprgrad.

      z = (x - mu)/sigma
      exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)

    Inputs, in order: x, mu, sigma.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or tensors that broadcast; all that is returned is float64, of their
    shape.
    """
    x, mu, sigma = map(f_tensor, (x, mu, sigma))
    z = (x - mu)/sigma
    t1 = torch.exp(-(z*z)/2.0)
    t2 = torch.sqrt(f_tensor(2.0)*torch.pi)
    t3 = sigma*t2
    t4 = t1/t3
    t5 = torch.round(16.0*z)/16.0
    t6 = -2.0/torch.sqrt(f_tensor(torch.pi))*torch.exp(f_tensor(-46.0))
    t7 = torch.exp(46.0 - t5*t5)*torch.exp((t5 - z)*(z + t5))*t6
    t8 = torch.where(torch.abs(z) > 28.0, f_tensor(0.0), t7)
    t9 = t8 + -(1.0/t3*t1*0.5)*(2.0*z)
    t10 = t9*(1.0/sigma)
    return t4 + torch.erfc(z), (t10, -t10, -t4/t3*t2 + t9*(-z/sigma))


def f_tensor(x):
    """x as a tensor of doubles."""
    return torch.as_tensor(x, dtype=torch.float64)

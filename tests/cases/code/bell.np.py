import numpy as np


@np.errstate(all="ignore")
def f(x, mu, sigma):
    """f: the value and the gradient of a formula, by exprgrad.

      z = (x - mu)/sigma
      exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)

    Inputs, in order: x, mu, sigma.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    x, mu, sigma = map(np.float64, (x, mu, sigma))
    z = (x - mu)/sigma
    t1 = np.exp(-(z*z)/2.0)
    t2 = np.sqrt(np.float64(2.0)*np.pi)
    t3 = sigma*t2
    t4 = t1/t3
    t5 = np.round(16.0*z)/16.0
    t6 = np.exp(46.0 - t5*t5)*np.exp((t5 - z)*(z + t5))
    t7 = np.where(np.abs(z) > 28.0, 0.0, t6*(-2.0/np.sqrt(np.pi)*np.exp(-46.0)))
    t8 = t7 + -(1.0/t3*t1*0.5)*(2.0*z)
    t9 = t8*(1.0/sigma)
    return t4 + f_erfc(z), (t9, -t9, -t4/t3*t2 + t8*(-z/sigma))


def f_erfc(x):
    """1 - erf(x), exact in the tail."""
    s = x*x
    t1 = (-3.307424347149491e-06*s - 9.968500709461738e-05)*s
    t2 = ((t1 - 0.0062597805658704845)*s - 0.03169064187892366)*s
    t3 = (0.00022238327327855578*s + 0.005984657255496839)*s
    t4 = ((t3 + 0.06966706841428245)*s + 0.4080340100583768)*s + 1.0
    more = x*((t2 - 0.3237433226739001)*s + 0.12837916709551256)/t4
    t5 = np.abs(x)
    z = np.minimum(t5, 28.0)
    h = np.round(16.0*z)/16.0
    w = z + 1.0
    t = 1.0/w
    t6 = ((284.04142154259205*t + 642.972766837198)*t + 785.7516489763349)*t
    t7 = ((t6 + 658.295586127321)*t + 406.0411903399069)*t + 193.98371875146682
    t8 = ((t7*t + 69.23568240193875)*t + 19.85205737674614)*t + 3.578449132731795
    t9 = ((56.762352926424576*t + 254.15963530869197)*t + 541.7273827281094)*t
    t10 = ((t9 + 716.301218455881)*t + 672.7888471577957)*t + 453.8140329711412
    t11 = ((t10*t + 241.87488322917187)*t + 91.201514319532)*t
    t12 = ((t11 + 29.344219600236848)*t + 5.342635945579957)*t + 1.0
    scaled = (t8*t + 0.5641895835477563)/t12/w
    tail = scaled*np.exp(-h*h)*np.exp((h - z)*(h + z))
    t13 = np.where(x < 0.0, 2.0 - tail, tail)
    return np.where(t5 < 0.84375, 0.5 - (x - 0.5 + more), t13)

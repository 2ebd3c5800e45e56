import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision


def f(x1, w1, x2, w2, b):
    """f: the value and the gradient of a formula, by exprgrad.

      o = tanh(x1*w1 + x2*w2 + b)

    Inputs, in order: x1, w1, x2, w2, b.
    Returns o and the tuple of its derivatives with respect to the inputs, in this order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    x1, w1, x2, w2, b = map(jnp.float64, (x1, w1, x2, w2, b))
    t1 = x1*w1 + x2*w2 + b
    o = jnp.tanh(t1)
    t2 = f_cosh(t1)
    t3 = 1.0/t2/t2
    return o, (t3*w1, t3*x1, t3*w2, t3*x2, t3)


def f_cosh(x):
    """The hyperbolic cosine."""
    a = jnp.abs(x)
    e = jnp.exp(a)
    h = jnp.exp(a/2.0)
    return jnp.where(a < 700.0, e/2.0 + 0.5/e, h/2.0*h)

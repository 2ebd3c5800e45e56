import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision


def f(a, b):
    """f: the value and the gradient of a formula, by exprgrad.

      m = max(a, b, 2)
      where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)

    Inputs, in order: a, b.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    a, b = map(jnp.float64, (a, b))
    m = jnp.maximum(jnp.maximum(a, b), 2.0)
    t1 = (a < b) & (b < 3.0)
    t2 = jnp.mod(m, a)
    t3 = jnp.maximum(a, 0.0) + jnp.sign(b)*jnp.power(jnp.round(a/b), 3.0)
    t4 = jnp.where(a == 0.0, jnp.nan, 1.0)
    t5 = jnp.where(a == m, 1.0, 0.0)
    t6 = jnp.where(b == m, 1.0, 0.0)
    t7 = t5 + t6 + jnp.where(2.0 == m, jnp.inf, 0.0)
    t8 = jnp.where(t1, 0.0, jnp.where(a > 0.0, 1.0, 0.0))
    t9 = t8 + jnp.where(t1, -jnp.round(m/a - t2/a), 0.0)
    return jnp.where(t1, t2, t3), (
        t9 + jnp.where(t1, t4*(t5/t7), 0.0), jnp.where(t1, t4*(t6/t7), 0.0)
    )

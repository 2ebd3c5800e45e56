import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision


def f(lambda_, ψ, y1, class_, gradient, value, t1, exp):
    """f: the value and the gradient of a formula, by exprgrad.

      lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)

    Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
    In the code, lambda is called lambda_, class is called class_.
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    Inputs are numbers or arrays that broadcast; all that is returned has their common shape.
    """
    lambda_ = jnp.float64(lambda_)
    ψ = jnp.float64(ψ)
    y1 = jnp.float64(y1)
    class_ = jnp.float64(class_)
    gradient = jnp.float64(gradient)
    value = jnp.float64(value)
    t1 = jnp.float64(t1)
    exp = jnp.float64(exp)
    t2 = class_*class_
    t3 = jnp.sin(exp)
    value_ = lambda_*ψ + y1*t2 + gradient*value + t1 + exp*t3
    shape = jnp.broadcast_shapes(
        lambda_.shape, ψ.shape, y1.shape, class_.shape, gradient.shape, value.shape, t1.shape,
        exp.shape
    )
    return value_, (
        jnp.broadcast_to(ψ, shape), jnp.broadcast_to(lambda_, shape),
        jnp.broadcast_to(t2, shape), jnp.broadcast_to(y1*(2.0*class_), shape),
        jnp.broadcast_to(value, shape), jnp.broadcast_to(gradient, shape),
        jnp.broadcast_to(jnp.float64(1.0), shape), jnp.broadcast_to(t3 + exp*jnp.cos(exp), shape)
    )

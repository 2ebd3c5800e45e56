import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision


def f(Q, K, V):
    """f: the value and the gradient of a formula, by exprgrad.

      w = softmax((Q @ K.T)/sqrt(8))
      mean((w @ V - [[1, 2], [3, 4], [5, 6]])^2)

    Inputs, in order: Q (3, 8), K (5, 8), V (5, 2).
    Returns the value and the tuple of its derivatives with respect to the inputs, in this
    order.
    The program is for exactly these shapes; each derivative has the shape of its input.
    """
    Q = f_input(Q, (3, 8))
    K = f_input(K, (5, 8))
    V = f_input(V, (5, 2))
    t1 = jnp.sqrt(8.0)
    w = f_softmax((Q @ K.T)/t1)
    t2 = w @ V - jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    t3 = jnp.float64(1.0)/6.0*(2.0*t2)
    t4 = t3 @ V.T
    t5 = w*(t4 - jnp.sum(w*t4, axis=1, keepdims=True))*(1.0/t1)
    return jnp.mean(t2*t2), (t5 @ K, (Q.T @ t5).T, w.T @ t3)


def f_input(x, shape):
    """x as an array of doubles."""
    x = jnp.asarray(x, dtype=jnp.float64)
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_softmax(x):
    """softmax of x (3, 5): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = jnp.max(x, axis=1, keepdims=True)
    t2 = jnp.exp(jnp.where(x == t1, 0.0, x - t1))
    return t2/jnp.sum(t2, axis=1, keepdims=True)

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision


def f(X, W1, b1, W2, b2, y, k):
    """f: the value and the gradient of a formula, by exprgrad.

      h = relu(X @ W1 + b1)
      z = h @ W2 + b2
      loss = cross_entropy(z, y) + k*norm(W1)^2

    Inputs, in order: X (150, 4), W1 (4, 8), b1 (8,), W2 (8, 3), b2 (3,), y (150,), k (a
    number).
    Returns loss and the tuple of its derivatives with respect to the inputs, in this order.
    The program is for exactly these shapes; each derivative has the shape of its input.
    """
    X = f_input(X, (150, 4))
    W1 = f_input(W1, (4, 8))
    b1 = f_input(b1, (8,))
    W2 = f_input(W2, (8, 3))
    b2 = f_input(b2, (3,))
    y = f_input(y, (150,))
    k = f_input(k, ())
    t1 = X @ W1 + b1
    h = jnp.maximum(t1, 0.0)
    z = h @ W2 + b2
    t2 = f_norm(W1)
    t3 = t2*t2
    loss = f_cross_entropy(z, y) + k*t3
    t4 = (f_softmax(z) - f_onehot(y))/150.0
    t5 = (t4 @ W2.T)*jnp.where(t1 > 0.0, 1.0, 0.0)
    return loss, (
        t5 @ W1.T, k*(2.0*t2)*jnp.where(t2 == 0.0, 0.0, W1/t2) + X.T @ t5, jnp.sum(t5, axis=0),
        h.T @ t4, jnp.sum(t4, axis=0), jnp.full((150,), 0.0), t3
    )


def f_input(x, shape):
    """x as an array of doubles."""
    x = jnp.asarray(x, dtype=jnp.float64)
    if x.shape != shape:
        raise ValueError(f"an input has shape {tuple(x.shape)}, and the program is for {shape}")
    return x


def f_onehot(y):
    """onehot of y (150,), classes=3: a row for each label from 0 up: 1 in the label's place, 0
    elsewhere."""
    t1 = jnp.reshape(y, (150, 1))
    t2 = ((t1 == jnp.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    return jnp.where(t2, jnp.where(t1 == jnp.arange(3.0), 1.0, 0.0), jnp.nan)


def f_softmax(x):
    """softmax of x (150, 3): exp(x)/sum(exp(x)) along an axis, the last by default."""
    t1 = jnp.max(x, axis=1, keepdims=True)
    t2 = jnp.exp(jnp.where(x == t1, 0.0, x - t1))
    return t2/jnp.sum(t2, axis=1, keepdims=True)


def f_norm(x):
    """norm of x (4, 8): the root of the sum of squares, of all numbers or along an axis."""
    t1 = jnp.max(jnp.abs(x), axis=(0, 1), keepdims=True)
    t2 = jnp.power(2.0, jnp.minimum(jnp.floor(jnp.log2(t1)), 1023.0))
    t3 = jnp.where((t1 > 0.0) & (jnp.abs(t1) < jnp.inf), t2, 1.0)
    t4 = x/t3
    return jnp.reshape(t3*jnp.sqrt(jnp.sum(t4*t4, axis=(0, 1), keepdims=True)), ())


def f_log1p(x):
    """log(1 + x), exact near 0."""
    u = 1.0 + x
    t1 = jnp.log(u)
    t2 = jnp.where((u > 0.0) & (u < jnp.inf), t1 + (x - (u - 1.0))/u, t1)
    return jnp.where(u == 1.0, x, t2)


def f_cross_entropy(x, y):
    """cross_entropy of x (150, 3), y (150,): of scores x: mean over rows of -log(softmax(x))
    at the labels y, or weighted by probabilities y."""
    t1 = jnp.reshape(y, (150, 1))
    t2 = ((t1 == jnp.floor(t1)) & (t1 >= 0.0)) & (t1 < 3.0)
    t3 = jnp.where(t2, jnp.where(t1 == jnp.arange(3.0), 1.0, 0.0), jnp.nan)
    t4 = jnp.max(x, axis=1, keepdims=True)
    t5 = jnp.where(jnp.abs(t4) < jnp.inf, t4, 0.0)
    t6 = jnp.where(x == t5, 1.0, 0.0)
    t7 = jnp.where(t6 != 0.0, 0.0, jnp.exp(x - t5))
    t8 = jnp.sum(t6, axis=1, keepdims=True) - 1.0
    t9 = t3*(t5 - x + f_log1p(jnp.sum(t7, axis=1, keepdims=True) + t8))
    return jnp.sum(jnp.where(t3 == 0.0, 0.0, t9))/150.0

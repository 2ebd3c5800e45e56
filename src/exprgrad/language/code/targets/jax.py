"""JAX: NumPy's functions, traced."""

from __future__ import annotations

from exprgrad.language.code.target import ArrayTarget, Form, Repeat, Target, functions_of_rows
from exprgrad.language.code.targets.numpy import (
    ABOUT,
    FUNCTIONS,
    elementwise_forms,
    structural_spellings,
    take_input,
)
from exprgrad.language.code.targets.python import LIBRARY, RESERVED, python_layout

__all__ = ["JAX"]

REPEAT = Repeat(
    "{name} = jnp.full_like({first}, {text})",
    "def turn(state):\n    {states} = state",
    "{name} = jnp.where({go}, {text}, {name})",
    "    return {states}\nstate = {states}\n"
    "{states} = jax.lax.while_loop(lambda state: jnp.any(state[-1] != 0.0), turn, state)",
    "{operands} = jnp.broadcast_arrays(*(jnp.float64(x) for x in ({operands})))",
)
"""A loop over whole arrays, which ends once every element is done; ``jax.jit`` takes it, too."""

JAX = Target(
    name="jax",
    title="JAX",
    place=5,
    ending=".py",
    layout=python_layout(
        "import jax\nimport jax.numpy as jnp\n\n"
        'jax.config.update("jax_enable_x64", True)  # doubles; else JAX has single precision',
        repeat=REPEAT,
    ),
    forms=elementwise_forms("jnp", Form("jnp.where({0}, 1.0, 0.0)")),
    # jnp.log1p is off by up to 120 ulp, jnp.exp2 by 680, jnp.sinh and jnp.cosh by 500, jax.lax.erfc by
    # 360, jnp.arctanh by 60, jax.nn.gelu by 1,300, elu and selu by 3 and 4: lowered.
    calls={
        **functions_of_rows("jnp.", FUNCTIONS),
        "erf": "jax.lax.erf",
        "xlogy": "jax.scipy.special.xlogy",
    },
    constants={"pi": "jnp.pi", "inf": "jnp.inf", "nan": "jnp.nan"},
    reserved=RESERVED,
    library=LIBRARY,
    about=ABOUT,
    helpers={
        "input": take_input("jnp.asarray(x, dtype=jnp.float64)", "an array of doubles"),
        "solve": '''def F_solve(a, y):
    """The solution of a @ out = y: nan for a singular matrix, where JAX has infinities too."""
    if y.ndim == 1:
        return F_solve(a, y[:, None])[..., 0]
    found = jnp.linalg.solve(a, y.reshape((1,)*(a.ndim - y.ndim) + y.shape))
    pivots = jnp.diagonal(jax.lax.linalg.lu(a)[0], axis1=-2, axis2=-1)
    return jnp.where((pivots == 0).any(-1)[..., None, None], jnp.nan, found)
''',
    },
    slack=4.0,  # XLA's expm1 is off by 2.3 ulp
    arrays=ArrayTarget(
        spellings=structural_spellings("jnp"),
        make="jnp.float64",
        broadcast="jnp.broadcast_to({text}, {shape})",
        shapes="jnp.broadcast_shapes",
        literal="jnp.array({0})",
        range="jnp.arange({0}.0)",
    ),
)

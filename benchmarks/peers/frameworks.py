"""Libraries that differentiate what is written once, forward: JAX, PyTorch and autograd."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchmarks.measure import peer
from benchmarks.problems import Answer, Columns, Problem

__all__ = ["autograd", "jax", "jax_function", "pytorch"]


def jax_function(problem: Problem) -> Any:
    """Value and gradient of a row, for all rows, jitted."""
    module = peer("jax")
    from jax.scipy.special import erfc

    m = SimpleNamespace(
        tanh=module.numpy.tanh,
        exp=module.numpy.exp,
        log=module.numpy.log,
        sqrt=module.numpy.sqrt,
        erfc=erfc,
    )
    every = tuple(range(len(problem.ranges)))
    both = module.value_and_grad(lambda *x: problem.formula(m, *x), argnums=every)
    return module.jit(module.vmap(both))


def jax(problem: Problem, given: Columns) -> Answer:
    """The jitted function of arrays that are JAX's own, waited for."""
    module = peer("jax")
    module.config.update("jax_enable_x64", True)
    function = jax_function(problem)
    arrays = [module.numpy.array(column) for column in given.values()]

    def call() -> Any:
        value, gradient = module.block_until_ready(function(*arrays))
        return [value, *gradient]

    return call


def pytorch(problem: Problem, given: Columns) -> Answer:
    """Eager, on tensors of doubles."""
    module = peer("torch")
    module.set_num_threads(1)
    m = SimpleNamespace(
        tanh=module.tanh, exp=module.exp, log=module.log, sqrt=module.sqrt, erfc=module.erfc
    )
    tensors = [module.from_numpy(column).requires_grad_() for column in given.values()]
    ones = module.ones_like(tensors[0])

    def call() -> Any:
        value = problem.formula(m, *tensors)
        return [value.detach(), *module.autograd.grad(value, tensors, ones)]

    return call


def autograd(problem: Problem, given: Columns) -> Answer:
    """What ``elementwise_grad`` does for one input, for all of them after one forward pass."""
    module = peer("autograd")
    from autograd import numpy
    from autograd.differential_operators import make_vjp

    special = peer("autograd.scipy.special")
    if special is None and problem.name == "black_scholes":
        raise NotImplementedError("NumPy has no erfc")
    m = SimpleNamespace(
        tanh=numpy.tanh,
        exp=numpy.exp,
        log=numpy.log,
        sqrt=numpy.sqrt,
        erfc=getattr(special, "erfc", None),
    )
    assert module is not None
    every = tuple(range(len(given)))
    walk = make_vjp(lambda *x: problem.formula(m, *x), argnum=every)
    arrays = list(given.values())
    ones = numpy.ones(len(arrays[0]))

    def call() -> Any:
        back, value = walk(*arrays)
        return [value, *back(ones)]

    return call

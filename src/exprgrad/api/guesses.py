"""Names known from other libraries, and what to use here instead.

Reading such a name raises an error that says so.  A ``__getattr__`` would do as well, but slow down all
other attributes.  Commands do not need it: expressions and runs get the names once a program reads
``exprgrad.Expression``, ``exprgrad.parse`` or the like.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TypeVar

__all__ = [
    "EXPRESSION", "MODULE", "RUN", "VALUE", "Elsewhere", "answer_other_names", "introduce_guesses",
    "missing_attribute",
]  # fmt: skip

Owner = TypeVar("Owner")

COLUMNS = "f.compile()(columns) has value and gradient for many points, and f(x=array) the value"
FORMULA = "a formula is a string whose names are its inputs: exprgrad.parse('x^2*y')"
RECORDED = "a number that remembers how it came about is exprgrad.Value(2.0)"
REPLACED = (
    "f.subs(x='2*t') puts a formula or a number in the place of an input; f(x=2) is the value"
)
SIMPLIFIED = "exprgrad.parse('x^2 + x^2').simplify() is the formula in fewer operations"
BOTH = "run = f.gradient(x=2) has both: run.value and run.gradient"
NOT_HERE = "there is none here; exprgrad finds values, derivatives and what may be wrong with them"
PICTURE = "exprgrad.draw(f) is the picture of a formula, a run or a Value"

ROOTS_OF = "exprgrad.solve('x = cos(x)', x=1) finds a root, x=(-10, 10) all in a range"
MODULE = {
    "exprgrad.grad('x^2', x=2) is the gradient, by name":
        "gradient value_grad grad_fn gradients autograd backward",
    "exprgrad.diff('x^2', 'x') is the derivative as a formula":
        "derivative differentiate derivatives D Derivative",
    "exprgrad.eval('x^2', x=2)": "value forward calculate compute",
    "exprgrad.parse('x^2').gradient(x=2) has both: .value and .gradient": "value_and_grad",
    "exprgrad.hessian('x^2*y', x=1, y=2)": "hess",
    "exprgrad.jacobian('x*y', x=1, y=2)": "jac jacrev jacfwd",
    "it is a method of exprgrad.parse('x^2*y'), or of a run of it":
        "jvp vjp trace steps paths explore descend code dot json expand",
    "exprgrad.parse('x^2').compile()({'x': xs}) has both in every row":
        "compile jit vmap lambdify vectorize pmap function",
    FORMULA: "sympify expression expr formula string Formula Function S symbols Symbol symbol var",
    f"{RECORDED}; {FORMULA}": "Variable variable Tensor tensor array Scalar Parameter Param",
    SIMPLIFIED: "simplify factor collect",
    "exprgrad.parse('x^2').latex()": "latex tex to_latex",
    PICTURE: "draw_dot plot_graph picture",
    "exprgrad.parse('x^2').plot(x=(-5, 5)) is the curve, and .save('x.svg') writes it": "plot",
    "exprgrad.check('x^2', x=2)": "verify gradcheck check_grad check_grads",
    ROOTS_OF: "nsolve fsolve findroot find_root root roots brentq newton",
    NOT_HERE: "optimize integrate limit series",
    "exprgrad.__version__": "version",
    "formulas take NumPy's arrays: exprgrad.parse('x^2')(x=array)": "numpy np",
}  # fmt: skip
"""What to use instead → names that others have for it, in the module."""
EXPRESSION = {
    "f.evaluate(x=2) is a run; f(x=2) is the number": "eval value forward run calculate compute n",
    REPLACED: "substitute replace bind compose",
    "f(x=2) is the value, f.evaluate(x=2).true the number that is known to be right": "evalf",
    BOTH: "gradients backward value_and_grad backprop",
    "f.derivative('x') is a formula again": "derive differentiate partial",
    "f.hessian(x=2)": "hess",
    "f.jacobian(x=2)": "jac",
    "f.simplify() is the formula in fewer operations": "factor collect together",
    "f.inputs are the names that it reads":
        "free_symbols variables args names symbols vars parameters atoms",
    COLUMNS: "lambdify jit vmap vectorize to_function",
    "f.latex()": "tex to_latex",
    "f.code('numpy'), or 'python', 'c', 'javascript', 'jax', 'torch'":
        "to_python to_numpy to_c to_jax to_torch source codegen",
    "exprgrad.draw(f) is the picture, f.save('f.svg') writes it":
        "draw show picture render graphviz view",
    NOT_HERE: "integrate limit series",
    "f.gradient(x=2) is a run, which has it": "trace map paths trust explore nodes edges",
    "f.check(x=2)": "verify gradcheck",
    "f.graph is the graph": "tree ops",
}  # fmt: skip
"""The same for an expression ``f``."""
RUN = {
    "run.gradient is the gradient by name, run['x'] one of its numbers":
        "grads derivatives jac partials",
    "run.value is the value": "data result output out val item",
    "a run of f.gradient(x=2) has been through both sweeps": "backward backprop",
    "the derivative as a formula is f.derivative('x')": "derivative diff",
    "exprgrad.draw(run) is the picture, run.save('run.svg') writes it":
        "draw show picture render graphviz view",
    "run.trace() is the reverse sweep, step by step": "steps",
    "it is a method of the expression: f.hessian(x=2)": "hessian jacobian jvp vjp check",
    "run.diagnostics": "warnings messages",
    "run.trust() and run.digits": "accuracy precision error",
}  # fmt: skip
"""The same for a run."""
VALUE = {
    "a.data is the number, and so is float(a)": "item value numpy val tolist",
    "a.grad = 0.0": "zero_grad zero_ zero",
    "Value(a.data) is a new number": "detach clone",
    "a.grad, after backward() of a result that uses a": "gradient derivative grads",
    "every Value has a grad": "requires_grad requires_grad_ retain_grad",
    "a.operands": "parents children prev inputs",
    "a.kind": "op grad_fn",
    "a Value is one number, sum([a, b]) adds some; formulas have tensors":
        "sum mean softmax matmul dot_product norm prod",
    "exprgrad.draw(a) is the picture": "draw show picture draw_dot",
    "a.run() has it": "trace table",
    "a.log()": "ln",
    "a.atan()": "arctan",
}  # fmt: skip
"""The same for a value ``a``."""


class Elsewhere:
    """A name known from other libraries: reading it is an error that says what to use instead."""

    def __init__(self, name: str, help: str) -> None:
        self.name = name
        self.help = help

    def __repr__(self) -> str:
        return f"<not here: {self.help}>"

    def __get__(self, instance: object, owner: type | None = None) -> Elsewhere:
        if instance is None:
            return self
        owner_name = type(instance).__name__
        raise AttributeError(f"'{owner_name}' object has no attribute '{self.name}': {self.help}")


def answer_other_names(known: Mapping[str, str]) -> Callable[[type[Owner]], type[Owner]]:
    """Return a decorator by which a class answers to the names of a table."""

    def decorated(owner: type[Owner]) -> type[Owner]:
        names = {name: help for help, names in known.items() for name in names.split()}
        for name, help in names.items():
            setattr(owner, name, Elsewhere(name, help))

        def listed(self: Owner) -> Iterable[str]:
            return [name for name in object.__dir__(self) if name not in names]

        owner.__dir__ = listed  # type: ignore[method-assign, assignment]
        return owner

    return decorated


@cache
def introduce_guesses() -> None:
    """Have expressions and runs answer to the names known from other libraries."""
    from exprgrad.api.expression import Expression, Run

    answer_other_names(EXPRESSION)(Expression)
    answer_other_names(RUN)(Run)


def missing_attribute(name: str, attributes: Collection[str]) -> AttributeError:
    """Make the error for a name that the module lacks, with what to use instead or a likely spelling."""
    from exprgrad.language.mistakes.hints import nearest_word

    help = next((help for help, names in MODULE.items() if name in names.split()), None)
    if help is None:
        near = nearest_word(name, attributes)
        help = f"did you mean '{near}'?" if near else None
    said = f": {help}" if help else ""
    return AttributeError(f"module 'exprgrad' has no attribute '{name}'{said}")

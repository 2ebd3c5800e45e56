"""exprgrad: type a formula, and see its value, its gradient and why.

>>> import exprgrad
>>> f = exprgrad.parse("(a+b)*c")
>>> f.gradient(a=2, b=-3, c=10).gradient
{'a': 10.0, 'b': 10.0, 'c': -1.0}

Everything but the errors loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exprgrad.errors import (
    DigitsWarning,
    ExprgradError,
    InputError,
    LanguageError,
    MissingExtraError,
    RequestError,
    ShapeError,
)

if TYPE_CHECKING:
    from exprgrad.api import Expression, Run, from_latex, parse
    from exprgrad.api.course import write_course
    from exprgrad.api.fits import fit
    from exprgrad.api.functions import (
        arrow_function,
        check,
        diff,
        eval,
        evaluate,
        grad,
        hessian,
        jacobian,
        minimize,
    )
    from exprgrad.api.roots import solve
    from exprgrad.api.value import Value
    from exprgrad.explain.checking.check import Check
    from exprgrad.graph.graph import Graph
    from exprgrad.graph.ops import OPS, Op
    from exprgrad.run.evaluation import Diagnostic, Edge, Node
    from exprgrad.run.values.constants import codata
    from exprgrad.run.values.inputs import file
    from exprgrad.run.values.uncertain import Uncertain, uncertain
    from exprgrad.show.page.lessons import LESSONS, Lesson
    from exprgrad.show.page.page import Page
    from exprgrad.show.picture.picture import Picture, draw

__all__ = [
    "LESSONS", "OPS", "Check", "Diagnostic", "DigitsWarning", "Edge", "Expression", "ExprgradError",
    "Graph", "InputError", "LanguageError", "Lesson", "MissingExtraError", "Node", "Op", "Page", "Picture",
    "RequestError", "Run", "ShapeError", "Uncertain", "Value", "__version__", "arrow_function", "check",
    "codata", "diff", "draw", "eval", "evaluate", "file", "fit", "from_latex", "grad", "hessian",
    "jacobian", "minimize", "parse", "solve", "uncertain", "write_course",
]  # fmt: skip

__version__ = "0.2.0"

LAZY = {
    "LESSONS": "show.page.lessons",
    "OPS": "graph.ops",
    "Check": "explain.checking.check",
    "Diagnostic": "run.evaluation",
    "Edge": "run.evaluation",
    "Expression": "api",
    "Graph": "graph.graph",
    "Lesson": "show.page.lessons",
    "Node": "run.evaluation",
    "Op": "graph.ops",
    "Page": "show.page.page",
    "Picture": "show.picture.picture",
    "Run": "api",
    "Uncertain": "run.values.uncertain",
    "Value": "api.value",
    "arrow_function": "api.functions",
    "check": "api.functions",
    "codata": "run.values.constants",
    "diff": "api.functions",
    "draw": "show.picture.picture",
    "eval": "api.functions",
    "evaluate": "api.functions",
    "file": "run.values.inputs",
    "fit": "api.fits",
    "grad": "api.functions",
    "hessian": "api.functions",
    "jacobian": "api.functions",
    "minimize": "api.functions",
    "from_latex": "api",
    "parse": "api",
    "uncertain": "run.values.uncertain",
    "solve": "api.roots",
    "write_course": "api.course",
}


if not TYPE_CHECKING:  # which would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name in LAZY:
            from importlib import import_module

            value = getattr(import_module(f"exprgrad.{LAZY[name]}"), name)
            if LAZY[name].startswith("api"):
                from exprgrad.api.guesses import introduce_guesses

                introduce_guesses()
            return value
        if name.startswith("_"):  # a caller that looks for those can do without
            raise AttributeError(f"module 'exprgrad' has no attribute '{name}'")
        from exprgrad.api.guesses import missing_attribute

        raise missing_attribute(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)

"""A call as another tool has it, in our words: ``np.max(X, 0)`` is ``max(X, axis=0)`` here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from exprgrad.graph.tensors import WORDS
from exprgrad.language.mistakes.call_text import WHOLE, atom, bare, elements, squared, whole_numbers
from exprgrad.language.mistakes.foreign import ABSENT, OTHER_SPELLINGS, SETTINGS

__all__ = ["new_axis_hint", "norm_hint", "rewritten", "swap_hint"]

ELEMENTWISE = frozenset({"fmax", "fmin", "logaddexp", "maximum", "minimum"})
"""Functions of two operands, whose second is never an axis."""
REDUCTIONS = frozenset({"logsumexp", "max", "mean", "min", "prod", "softmax", "sum"})
SHAPED = frozenset({"broadcast", "reshape"})
JOINING = frozenset({"concat", "stack"})


def call(word: str, operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """A call as it is written here, without the settings that there are none of."""
    known = [parameter.name for parameter in WORDS[word].parameters] if word in WORDS else []
    ours = {name if name in known else SETTINGS.get(name): settings[name] for name in settings}
    given = [squared(text) if text[:1] == "(" else text for text in map(bare, operands)]
    named = [f"{name}={squared(ours[name])}" for name in known if name in ours]
    return f"{word}({', '.join([*given, *named])})"


def rewritten(
    word: str, operands: Sequence[str], settings: Mapping[str, str], functions: frozenset[str]
) -> str | None:
    """How a call of another tool is written here, or what to do instead; None if nobody knows.

    The operands of a method begin with what it belongs to.
    """
    if not operands:
        return None
    if word in ABSENT:
        return ABSENT[word]
    name = OTHER_SPELLINGS.get(word, word)
    if word in TEMPLATES:
        return TEMPLATES[word](list(operands), settings)
    if name == "norm":
        return norm_hint(operands, settings)
    if name == "clamp":
        return clamp_hint(operands, settings)
    if name not in functions:
        return None
    operands, settings = list(operands), dict(settings)
    listed = elements(operands[0])
    if name in JOINING and len(operands) <= 2 and listed is not None:
        settings = ({"axis": operands[1]} if len(operands) > 1 else {}) | settings
        operands = listed
    elif word in ("swapaxes", "transpose") and len(operands) == 3:
        return swap_hint(operands[0], operands[1:])
    elif name in SHAPED or name == "transpose":
        numbers = whole_numbers(operands[1:])
        if numbers:
            setting = "axes=" if name == "transpose" else ""
            return f"write {name}({bare(operands[0])}, {setting}[{', '.join(numbers)}])"
    elif name in REDUCTIONS and word not in ELEMENTWISE and len(operands) > 1:
        operands, settings = along(operands, settings)
    return f"write {call(name, operands, settings)}"


def along(operands: Sequence[str], settings: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The operands and the settings of a reduction whose second operand is an axis."""
    first, second, *more = operands
    if whole_numbers([second]) is None and second != "None":
        return list(operands), dict(settings)
    found = {} if second == "None" else {"axis": bare(second)}
    if more and more[0].casefold() in ("true", "false"):
        found["keepdims"] = more[0]
    return [first], found | dict(settings)


def norm_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """``norm(x, 1)``: the second operand of other tools is an order, and not an axis."""
    if len(operands) > 2 and whole_numbers(operands[2:3]):
        settings = {"axis": operands[2], **settings}
    order = operands[1] if len(operands) > 1 else settings.get("ord", settings.get("p"))
    if order is None or order in ("2", "None") or order[:1] in "'\"":
        note = "; of a matrix that is over all its numbers" if order == "2" else ""
        return (
            f"write {call('norm', operands[:1], settings)}{note if 'axis' not in settings else ''}"
        )
    x = bare(operands[0])
    other = f"the 1-norm of a vector is sum(abs({x}))"
    if order in ("inf", "np.inf", "torch.inf", "math.inf", "float('inf')"):
        other = f"the greatest of absolutes is max(abs({x}))"
    return f"norm({x}) is the 2-norm, of all numbers; {other}; an axis is given as axis=…"


def swap_hint(x: str, axes: Sequence[str]) -> str | None:
    """``transpose(X, 0, 1)``: a swap of two axes; a new order of all of them is written here."""
    if not all(map(WHOLE.fullmatch, axes)):
        return None
    one, other = sorted(map(int, axes))
    if (one, other) in ((0, 1), (-2, -1)):
        return f"the transpose of a matrix is {atom(x)}.T, or transpose({bare(x)}, axes=[1, 0])"
    if one < 0 or one == other:
        return "its setting is the new order of all axes, such as axes=[0, 2, 1]"
    order = list(range(other + 1))
    order[one], order[other] = other, one
    return f"write transpose({bare(x)}, axes={order})"


def clamp_hint(operands: Sequence[str], settings: Mapping[str, str]) -> str:
    """``x.clip(0, 1)``, ``torch.clamp(x, min=0)``."""
    ends: list[str | None] = [
        settings.get(name, settings.get(f"a_{name}")) for name in ("min", "max")
    ]
    for at, end in enumerate(operands[1:3]):
        ends[at] = end
    low, high = [None if end == "None" else end for end in ends]
    x = bare(operands[0])
    if low is not None and high is not None:
        return f"write clamp({x}, {bare(low)}, {bare(high)})"
    if low is None and high is None:
        return f"write clamp({x}, 0, 1)"
    return (
        f"write max({x}, {bare(low)})" if low is not None else f"write min({x}, {bare(high or '')})"
    )


Template = Callable[[list[str], Mapping[str, str]], str]


def filled(value: str | None) -> Template:
    """``zeros((2, 3))``: a number, or the second operand, repeated."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        last = value or (operands[1] if len(operands) > 1 else settings.get("fill_value", "1"))
        sizes = whole_numbers(operands if value else operands[:1])
        return f"write broadcast({bare(last)}, shape=[{', '.join(sizes or ['3', '4'])}])"

    return hint


def identity(operands: list[str], settings: Mapping[str, str]) -> str:
    """``eye(3)``."""
    size = operands[0] if WHOLE.fullmatch(operands[0]) else "3"
    return f"write diag(broadcast(1, shape=[{size}]))"


def between(symbol: str) -> Template:
    """``np.dot(X, W)`` and other operators that have a name elsewhere."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        one, other = [*map(atom, operands), "…"][:2]
        space = "" if symbol == "^" else " "
        return f"write {one}{space}{symbol}{space}{other}"

    return hint


def log_softmax(operands: list[str], settings: Mapping[str, str]) -> str:
    """``Z.log_softmax(1)``: over the last axis where none is given, as the most use it."""
    x, axis = operands[0], axis_of(operands, settings) or "-1"
    return f"write {operand(x)} - logsumexp({bare(x)}, axis={axis}, keepdims=True)"


def axis_of(operands: Sequence[str], settings: Mapping[str, str]) -> str | None:
    """The axis of a reduction, behind its operand or by name; None if there is none."""
    axis = operands[1] if len(operands) > 1 else settings.get("axis", settings.get("dim", "None"))
    return squared(axis) if whole_numbers([axis]) else None


def operand(text: str) -> str:
    """An operand of a sum or a difference."""
    return atom(text) if re.search(r"[+\-<>=]", text) else text


def spread(root: bool) -> Template:
    """``std`` and ``var``, over the number of all: as NumPy has them."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        x, axis = operands[0], axis_of(operands, settings)
        inner, outer = (f", axis={axis}, keepdims=True", f", axis={axis}") if axis else ("", "")
        text = f"mean(({operand(x)} - mean({bare(x)}{inner}))^2{outer})"
        word = "deviation" if root else "variance"
        note = f"that is the population's {word}, and PyTorch's divides by n - 1"
        return f"write {f'sqrt({text})' if root else text}; {note}"

    return hint


def new_axis_hint(x: str, *, first: bool) -> str:
    """``x[None]`` and ``x[:, None]``."""
    if first:
        return f"to make a row of a vector write reshape({x}, [1, -1])"
    return f"to make a column of a vector write reshape({x}, [-1, 1])"


def unsqueezed(operands: list[str], settings: Mapping[str, str]) -> str:
    """``unsqueeze(x, 0)``, of a vector."""
    axis = axis_of(operands, settings)
    return new_axis_hint(bare(operands[0]), first=axis in ("0", "-2"))


def listed_numbers(operands: list[str], settings: Mapping[str, str]) -> str:
    """``np.array([1, 2])``."""
    return f"write {squared(operands[0])}"


def flattened(operands: list[str], settings: Mapping[str, str]) -> str:
    """``x.flatten()``."""
    return f"write reshape({bare(operands[0])}, -1)"


def error_of(form: str) -> Template:
    """``mse_loss(x, y)`` and the like."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        one, other = [*map(operand, operands), "…"][:2]
        return f"write {form.format(f'{one} - {other}')}"

    return hint


def side_by_side(form: str) -> Template:
    """``hstack((x, y))`` and the like."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        listed = elements(operands[0]) if len(operands) == 1 else None
        return form.format(", ".join(map(bare, listed or operands)))

    return hint


def like(form: str) -> Template:
    """``ones_like(x)``."""
    return lambda operands, settings: f"write {form.format(atom(operands[0]))}"


def by_second(form: str, usual: str, plain: str, setting: str = "") -> Template:
    """``elu(x, 2)``: a function that has one operand here, and elsewhere a second one or a setting."""

    def hint(operands: list[str], settings: Mapping[str, str]) -> str:
        x, second = operands[0], [*operands, settings.get(setting, usual)][1]
        if second in (usual, usual.removeprefix("0"), usual.removesuffix(".0")):
            return f"write {plain}({bare(x)})"
        return f"write {form.format(atom(x), atom(second))}"

    return hint


TEMPLATES: dict[str, Template] = {
    "add": between("+"),
    "array": listed_numbers,
    "asarray": listed_numbers,
    "column_stack": side_by_side("for vectors write stack({0}, axis=1)"),
    "div": between("/"),
    "divide": between("/"),
    "dot": between("@"),
    "elu": by_second("where({0} > 0, {0}, {1}*expm1({0}))", "1.0", "elu", "alpha"),
    "expand_dims": unsqueezed,
    "eye": identity,
    "flatten": flattened,
    "full": filled(None),
    "heaviside": by_second("where({0} == 0, {1}, {0} > 0)", "0.5", "heaviside"),
    "hstack": side_by_side("for vectors write concat({0}), for matrices concat({0}, axis=1)"),
    "identity": identity,
    "leaky_relu": by_second("where({0} > 0, {0}, {1}*{0})", "0.01", "leaky_relu", "negative_slope"),
    "log_softmax": log_softmax,
    "mae": error_of("mean(abs({0}))"),
    "matmul": between("@"),
    "mm": between("@"),
    "mse": error_of("mean(({0})^2)"),
    "mse_loss": error_of("mean(({0})^2)"),
    "mul": between("*"),
    "multiply": between("*"),
    "mv": between("@"),
    "ones": filled("1"),
    "ones_like": like("0*{0} + 1"),
    "pow": between("^"),
    "power": between("^"),
    "ravel": flattened,
    "row_stack": side_by_side("for vectors write [{0}], for matrices concat({0})"),
    "sinc": like("sinc(pi*{0})"),  # elsewhere the zeros are the whole numbers
    "square": like("{0}^2"),
    "std": spread(root=True),
    "sub": between("-"),
    "subtract": between("-"),
    "tensor": listed_numbers,
    "unsqueeze": unsqueezed,
    "var": spread(root=False),
    "vstack": side_by_side("for vectors write [{0}], for matrices concat({0})"),
    "zeros": filled("0"),
    "zeros_like": like("0*{0}"),
}
"""What each call becomes that is no call of one function here."""

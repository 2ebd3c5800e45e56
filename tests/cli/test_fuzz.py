"""No input makes anything but an answer or an ``ExprgradError``, in the library as in the command."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from exprgrad import ExprgradError, ShapeError, parse
from exprgrad.graph.ops import OPS
from invariants import check
from shell import command

quick = settings(derandomize=True, max_examples=60, suppress_health_check=list(HealthCheck))
CALLS = [op.name for op in OPS if not op.infix and not op.prefix]
PIECES = [
    *CALLS, *"abcxyzπé長", "pi", "inf", "nan", "tau", "e", "0", "1", "2.5", "1e308", "1e-308", ".5",
    "3.", "1e999", "+", "-", "*", "/", "%", "^", "**", "<", "<=", ">", ">=", "==", "!=", "=", "(",
    ")", "(", ")", ",", ";", "\n", "\r\n", " ", "\t", "#", "[", "]", ".", "@", "'", '"', "\\", "²",
    "\0", "\x1b", "\ud800", "\u202e", "😀",
]  # fmt: skip
VALID = [
    "(a+b)*c", "tanh(x1*w1 + x2*w2 + b)", "b=a+1; c=a*3; d=b*c", "where(x > 0, log(x), -x)",
    "max(a, b, 2)^-x", "e = a + b # sum\nf = e*c\nf", "clamp(x, -1, 1) % 3", "2^3^2 - -x", "pi*r^2",
    "(x <= y)*hypot(x, y)",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid formula with a few pieces cut out, put in or exchanged."""
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(start + 3, len(text))))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text


words = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
anything = st.text(max_size=40) | words | mutated()
numbers = st.floats(allow_nan=True, allow_infinity=True)


@quick
@given(anything, st.lists(numbers, min_size=1, max_size=4))
@example("x", [float("nan")])
@example("a\ud800", [1.0])
def test_the_library_answers_or_raises_its_own_error(text: str, values: list[float]) -> None:
    try:
        expression = parse(text)
    except ExprgradError as error:
        assert error.message and "error" not in str(error)[:5]
        assert error.span is None or 0 <= error.span[0] <= error.span[1] <= len(text)
        return
    check(expression.graph)
    given_values = {name: values[i % len(values)] for i, name in enumerate(expression.inputs)}
    try:
        run = expression.gradient(given_values)
    except ShapeError as error:
        assert error.span is not None and 0 <= error.span[0] < error.span[1] <= len(text)
        return
    assert list(run.gradient) == list(expression.inputs)
    document = json.loads(run.json())
    assert len(document["nodes"]) == len(run.graph)
    assert run.table() and run.trace() and str(expression)
    again = parse(str(expression))
    assert repr(again.evaluate(given_values).value) == repr(run.value)


OPTIONS = [
    "--json",
    "-q",
    "--csv",
    "--trace",
    "--wrt",
    "--digits",
    "-f",
    "--all",
    "--",
    "-",
    "--strict",
    "--of",
    "--tangent",
    "--cotangent",
]
COMMANDS = ["eval", "grad", "grad", "jac", "hess", "jvp", "vjp", "dot", "ops"]
values = st.builds(
    "{}={}".format, st.sampled_from(["a", "b", "c", "x", "y", "é"]), anything | numbers.map(repr)
)
arguments = st.lists(anything | st.sampled_from(OPTIONS) | values, max_size=6)


@quick
@given(st.sampled_from(COMMANDS), arguments, st.binary(max_size=30))
@example("eval", ["-"], b"\xff\xfe")
@example("grad", ["x", "x=\ud800"], b"")
@example("grad", ["a", "a=1", "--digits", "\n"], b"")
def test_the_command_answers_or_refuses(name: str, argv: list[str], stdin: bytes) -> None:
    """Status 0 with an answer, or 2 with one error; 1 only where --strict asks for it."""
    if "-o" in argv or "--output" in argv:
        return
    status, out, err = command(name, *argv, stdin=stdin)
    assert status in ((0, 1, 2) if "--strict" in argv else (0, 2)), argv
    assert "Traceback" not in err
    if status == 2:
        assert (out == "") != ("--json" in argv), argv
        assert err.startswith("error: ") or "--json" in argv
    assert all(c.isprintable() or c == "\n" or not c.isascii() for c in err), argv


@quick
@given(st.binary(max_size=60))
def test_bytes_on_standard_input(content: bytes) -> None:
    status, out, err = command("grad", "--json", "-", "a=1", stdin=content)
    assert status in (0, 2) and err == ""
    document = json.loads(out)
    assert ("error" in document) == (status == 2)

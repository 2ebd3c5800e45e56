"""LaTeX as papers write it: read rightly, or refused where it has two meanings; ours reads back."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given, settings

import exprgrad
import golden
from exprgrad import LanguageError, ShapeError
from exprgrad.graph.graph import Graph
from exprgrad.graph.ops import FAMILIES, OPS, Op
from exprgrad.language.read.latex import equations_from_latex, formula_from_latex, is_latex
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.infix import program_text
from exprgrad.language.write.latex import graph_latex
from latex_formulas import listed
from shell import command
from strategies import programs
from together import together

steady = settings(derandomize=True)

TYPED = (golden.CASES / "latex-read" / "typed.txt").read_text(encoding="utf-8").splitlines()


def answer(text: str) -> str:
    """What is read, or why it is not, and where."""
    try:
        return f"= {formula_from_latex(text)}"
    except LanguageError as error:
        place = "" if error.span is None else text[slice(*error.span)]
        return f"! {place} | {error.message} | {error.help}"


def test_two_hundred_formulas_are_read_rightly_or_refused() -> None:
    assert sum(not line.startswith("#") for line in TYPED) >= 200
    lines = [line if line.startswith("#") else f"{line}\n    {answer(line)}" for line in TYPED]
    golden.agree("latex-read/read.txt", "\n".join(lines) + "\n")


TENSORS = (
    "@",
    "[",
    "dot(",
    ".T",
    "axis=",
    "outer",
    "trace",
    "shape",
    "onehot",
    "broadcast",
    "place",
)
"""What has no way back: LaTeX has one sign for all products, and an index looks like a part of a name."""


def of_numbers() -> list[str]:
    """The formulas of the LaTeX tests that are about numbers, or reduce a tensor."""
    return [text for text in listed() if not any(sign in text for sign in TENSORS)]


@together(of_numbers())
def test_what_we_write_reads_back(text: str) -> None:
    written = graph_latex(parse_text(text))
    assert graph_latex(parse_text(formula_from_latex(written))) == written, written


def alone(op: Op) -> Graph:
    """The operation on inputs of its own."""
    operands = [name * 2 for name in op.names] * (1 + op.variadic)
    if op.prefix:
        return parse_text(f"{op.prefix}{operands[0]}")
    infix = f"{operands[0]} {op.infix} {operands[-1]}"
    return parse_text(infix if op.infix else f"{op.name}({', '.join(operands)})")


def looks_like_its_definition(op: Op) -> bool:
    """Whether a row's LaTeX is that of other operations: ``log1p(x)`` is ``\\ln(1 + x)``."""
    graph = alone(op)
    return parse_text(formula_from_latex(graph_latex(graph))).kinds != graph.kinds


SHARED = frozenset(op.name for op in OPS if looks_like_its_definition(op))


def test_few_rows_look_like_their_definitions() -> None:
    assert {"exp2", "expm1", "hypot", "log1p", "logaddexp", "where"} == SHARED


MEMBERS = [
    f"{family.name}({number}, x)"
    for family in FAMILIES.values()
    for number in (family.least, family.least + 1, 12, family.greatest)
]
CALLS = [program_text(alone(op)) for op in OPS if op.name not in SHARED] + MEMBERS


@together(CALLS)
def test_every_row_reads_back_as_itself(call: str) -> None:
    """Of operands that are sums, in a power, before a factor and behind one, too."""
    sums = re.sub(r"\b(xx|x)\b", "(a + b)", call)
    for text in (call, sums, f"({call})^2", f"({call})*c", f"c*({call})"):
        graph = parse_text(text)
        assert parse_text(formula_from_latex(graph_latex(graph))).kinds == graph.kinds, graph_latex(
            graph
        )


@steady
@given(programs())
def test_any_program_of_numbers_reads_back(text: str) -> None:
    """Names may change their spelling, as ``x1`` and ``x_1`` look alike; the formula does not."""
    graph = parse_text(text)
    assume(SHARED.isdisjoint(graph.kinds))
    written = graph_latex(graph)
    assert graph_latex(parse_text(formula_from_latex(written))) == written, written


def test_a_deep_formula_is_read() -> None:
    depth = 5_000
    assert formula_from_latex("(" * depth + "x" + ")" * depth) == "x"
    assert formula_from_latex(r"\sqrt{" * depth + "x" + "}" * depth).count("sqrt") == depth


@pytest.mark.parametrize("text", ["(a+b)*c", "x^{2}", "tanh(x)", "a = 1; a*b"])
def test_our_own_language_is_no_latex(text: str) -> None:
    assert not is_latex(text)


def test_the_command_line_reads_latex_by_its_commands() -> None:
    done = command("grad", "-q", r"\frac{1}{2} m v^2", "m=2", "v=3")
    assert (done.status, done.out) == (0, "m=4.5\nv=6.0\n")
    assert done.err == "note: read as 1/2*m*v^2\n"
    found = json.loads(command("eval", "--json", r"\sqrt{x}", "x=4").out)
    assert (found["expression"], found["value"]) == ("sqrt(x)", 2.0)


def test_a_notation_can_be_said() -> None:
    assert command("eval", "-q", "--from", "latex", "ab", "a=2", "b=3").out == "6.0\n"
    assert command("eval", "-q", "ab", "ab=2").out == "2.0\n"
    done = command("eval", "--from", "exprgrad", r"\sqrt{x}", "x=4")
    assert done.status == 2 and "this is LaTeX: write sqrt(x); --from latex reads" in done.err


def test_an_error_points_into_the_latex() -> None:
    done = command("eval", r"\frac{a}{b} + \sin x/2")
    assert done.status == 2 and done.err.splitlines()[1:3] == [
        r"  1 │ \frac{a}{b} + \sin x/2",
        "    │                     ^",
    ]


def test_the_library_reads_latex() -> None:
    assert exprgrad.from_latex(r"\frac{1}{2} m v^2").text == "1/2*m*v^2"
    with pytest.raises(LanguageError, match="a function here"):
        exprgrad.from_latex("N(x)")
    with pytest.raises(TypeError):
        exprgrad.from_latex(2)  # type: ignore[arg-type]


@together(
    [
        (r"\mathrm{sin} x", "sin(x)"),
        (r"\mathrm{ReLU}(x)", "relu(x)"),
        (r"\mathit{sin} x", "sin*x"),
        (r"\mathrm{rate} x", "rate*x"),
        (r"\log\det A", "log(det(A))"),
        (r"\operatorname{solve}(A, b)", "solve(A, b)"),
    ]
)
def test_an_upright_function_is_one(written: str, ours: str) -> None:
    assert formula_from_latex(written) == ours


@together([r"\alpha x\,\mathrm{d}x", r"\alpha x & y"])
def test_what_belongs_to_no_formula_is_refused(written: str) -> None:
    with pytest.raises(LanguageError):
        formula_from_latex(written)


@together(
    [
        (r"\cos(x) = \frac{x}{2}", "cos(x) = x/2"),
        (r"\frac{1}{x}\;=\;2", "1/x = 2"),
        (r"\sum_{k=1}^{3} x^k = 2", "sum(x^k for k in 1..3) = 2"),
        (r"x^{2} + y^2 = \frac{4}{y}; y = x", "x^2 + y^2 = 4/y; y = x"),
        (r"\sqrt{x} = y \\ y = 2", "sqrt(x) = y; y = 2"),
        (r"$\frac{x}{3} = 1$", "x/3 = 1"),
        (r"\frac{x}{3}", "x/3"),
    ]
)
def test_equations_are_read_side_by_side(text: str, ours: str) -> None:
    assert equations_from_latex(text) == ours


def test_a_side_of_an_equation_is_not_empty() -> None:
    with pytest.raises(LanguageError) as caught:
        equations_from_latex(r"\frac{x}{2} =")
    assert (caught.value.message, caught.value.span) == ("a side of the equation is empty", (0, 13))


@together(
    [
        ("2 \\sqrt3 x", "2*sqrt(3)*x"),
        (r"\frac12 x", "1/2*x"),
        (r"2 \frac32", "2*(3/2)"),
        (r"2 \frac{x}{3}", "2*(x/3)"),
        (r"2 \frac{1}{2x}", "2*(1/(2*x))"),
        (r"2.5 \frac12", "2.5*(1/2)"),
        (r"3^2 \frac12", "3^2*(1/2)"),
        (r"2 \cdot \frac12", "2*(1/2)"),
        ("{x^2}^3", "(x^2)^3"),
        ("x^2y^3 + x_1^2", "x^2*y^3 + x_1^2"),
    ]
)
def test_what_has_one_reading_only_is_read(text: str, ours: str) -> None:
    assert formula_from_latex(text) == ours


@together(
    [
        (r"\left. x", r"\left", r"'\left' has no bracket"),
        (r"\left\langle x \right\rangle", r"\langle", r"'\langle' opens nothing"),
        (r"\begin x", r"\begin", "needs a name"),
        (r"\mathrm x", r"\mathrm", "needs a word"),
        (r"\sum_{k=1", "{", "never closed"),
        ("2 + {}", "{}", "nothing inside"),
        ("(x)_1", "_", "only a name"),
        (r"\hat{2}", r"\hat", "is not a name"),
        (r"2 + \top", r"\top", "cannot be read here"),
        (r"\sqrt\top", r"\sqrt\top", "one letter or digit"),
        ("x^-2", "^-", "one letter or digit"),
        (r"\sqrt{}", r"\sqrt{}", "nothing follows"),
        (r"\sqrt12", r"\sqrt12", r"'\sqrt' takes only the first digit of 12"),
        (r"\frac1 23", r"1 23", r"'\frac' takes only the first digit of 23"),
        (r"\frac123", r"\frac", "one digit each"),
        (r"\operatorname{foo} x", r"\operatorname{foo}", "no function 'foo'"),
        (r"\exp^{-1}(x)", r"\exp", "the inverse, or the reciprocal"),
        (r"\operatorname{besselj}_2 x", r"\operatorname{besselj}_2", "no operand"),
        (r"\sin + x", "+", "no operand"),
        (r"\sin_2(x)", "_2", "no meaning here"),
        (r"\sum_{k}(x)", "_{k}", "an index runs"),
        (r"\begin{cases} x \\ y & x > 0\end{cases}", None, "a case has no condition"),
        (r"\begin{cases} \end{cases}", None, "nothing inside"),
        ("x =", "x =", "a side of the equation is empty"),
        (r"2 \frac12 x", r"2 \frac12", "a product, or a mixed number"),
        (r"1\frac{2}{3}", r"1\frac{2}{3}", "a product, or a mixed number"),
        (r"x - {2} {\tfrac1{12}}", r"{2} {\tfrac1{12}", "a product, or a mixed number"),
        ("x^{2}^{3}", "^", "two readings"),
        ("y + x_1^2^3", "^", "two readings"),
        (r"A^\top^2", "^", "two readings"),
        (r"\sin^2^3 x", "^", "two readings"),
        ("a_{1}_{2}", "_", "one subscript"),
        ("x_1^2_3", "_", "one subscript"),
        (r"_~\sum_+-", "_", "cannot be read"),
    ]
)
def test_what_is_wrong_is_shown_where_it_stands(text: str, place: str | None, why: str) -> None:
    with pytest.raises(LanguageError, match=re.escape(why)) as caught:
        formula_from_latex(text)
    assert caught.value.span is not None
    assert text[slice(*caught.value.span)] == (place or text)


@together(
    [
        ("[a, b]", "[a, b]"),
        ("2é", "2*é"),
        (r"\frac 12", "1/2"),
        (r"\operatorname*{sum}(x)", "sum(x)"),
        (r"\sum (x)^2", "sum(x^2)"),
        (r"\operatorname{mean}_{\text{axes }0, 1}(x)", "mean(x, axis=[0, 1])"),
        (
            r"\operatorname{mean}_{\text{axis }0, \text{keepdims}}(x)",
            "mean(x, axis=0, keepdims=True)",
        ),
        (r"x^{\top}", "x.T"),
    ]
)
def test_rare_notations_are_read(written: str, ours: str) -> None:
    assert formula_from_latex(written) == ours


@pytest.mark.parametrize("sign", [r"\cdot", r"\times", "·"])
def test_a_product_of_vectors_by_a_sign_with_two_readings_is_refused(sign: str) -> None:
    formula = exprgrad.from_latex(rf"\frac{{a {sign} b}}{{2}}")
    assert formula.evaluate(a=6, b=3).value == 9
    with pytest.raises(ShapeError, match="two meanings") as caught:
        formula.evaluate(a=[1, 2], b=[3, 4])
    assert "dot(a, b)" in str(caught.value.help) and "a*b" in str(caught.value.help)

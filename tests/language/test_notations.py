"""Notations from elsewhere: read with their one meaning, or refused with the whole formula mended."""

from __future__ import annotations

import pytest

import golden
from exprgrad import LanguageError, ShapeError, parse
from exprgrad.language.read.names import CONSTANT_SIGNS, LOOK_ALIKES
from exprgrad.language.write.infix import program_text
from together import together

TYPED = (golden.CASES / "notations" / "typed.txt").read_text(encoding="utf-8").splitlines()
HEADING = "["
MENDED = "mended: "


def is_notation(line: str) -> bool:
    """Whether a line is what somebody types, and no heading or comment."""
    return not line.startswith("# ") and not (line.startswith(HEADING) and line[1:2].isupper())


def answer(text: str) -> str:
    """What exprgrad makes of a text: the formula in our spelling, or the message and the help."""
    try:
        return f"= {program_text(parse(text).graph)}"
    except LanguageError as error:
        return f"! {error.message} | {error.help}"


def test_three_hundred_notations_are_read_rightly_or_refused() -> None:
    assert sum(map(is_notation, TYPED)) >= 300
    lines = [f"{line:28} {answer(line)}" if is_notation(line) else line for line in TYPED]
    golden.agree("notations/read.txt", "\n".join(lines) + "\n")


def test_what_is_mended_reads_as_it_is() -> None:
    """A mended formula needs no further mend, and means what it says."""
    answers = [answer(line) for line in TYPED if is_notation(line)]
    mended = [text.partition(MENDED)[2] for text in answers if MENDED in text]
    assert len(mended) > 60
    for text in mended:
        assert answer(text).startswith("= "), text


SAME = {
    "a·b×c⋅d∗e∙f": "a*b*c*d*e*f", "a÷b": "a/b", "−a − b": "-a - b", "a ≤ b": "a <= b", "a ≥ b": "a >= b",
    "a ≠ b": "a != b", "x²": "x^2", "x⁻¹²": "x^-12", "x⁺²": "x^2", "-x²": "-x^2", "2^x²": "2^x^2",
    "√2*x": "sqrt(2)*x", "√√x": "sqrt(sqrt(x))", "√x[0]": "sqrt(x[0])", "√f": "sqrt(f)",
    "√(x + 1)/2": "sqrt(x + 1)/2", "-√x": "-sqrt(x)", "2^√x": "2^sqrt(x)", "|x|": "abs(x)",
    "|x|*|y|": "abs(x)*abs(y)", "||x| - 1|": "abs(abs(x) - 1)", "|x + |y||": "abs(x + abs(y))",
    "|(|x|)|": "abs(abs(x))", "|x|²": "abs(x)^2", "1e−3": "0.001", "π": "pi", "∞": "inf",
    "2*π": "2*pi", "π = 3; π + 1": "pi = 3; pi + 1", "ln(x)": "log(x)", "sgn(x)": "sign(x)",
    "tg(x)": "tan(x)",
    "arcsin(x)": "asin(x)", "arccos(x)": "acos(x)", "arctan(x)": "atan(x)", "arsinh(x)": "asinh(x)",
    "arcosh(x)": "acosh(x)", "artanh(x)": "atanh(x)",
    "log(x, b)": "log(x)/log(b)",
    "pow(x, y)": "x^y",
    "A.T·B": "A.T*B", "\u0387".join("ab"): "a*b",
}  # fmt: skip
"""Spellings with one meaning, and ours."""


@together(SAME.items())
def test_a_spelling_with_one_meaning_is_written_back_in_ours(typed: str, ours: str) -> None:
    assert program_text(parse(typed).graph) == ours
    assert program_text(parse(ours).graph) == ours


@together(["a·b", "x²", "√x", "|x|", "x⁻¹", "π*r", "log(x, b)"])
def test_every_node_has_its_place_in_what_was_typed(typed: str) -> None:
    graph = parse(typed).graph
    for node in range(len(graph)):
        start, end = graph.span(node)
        assert 0 <= start < end <= len(typed)
    assert graph.span(graph.output) == (0, len(typed))


@together([*LOOK_ALIKES, "ⁿ", "ᵀ", "ª", "²"])
def test_what_looks_like_an_operator_is_never_part_of_a_name(character: str) -> None:
    with pytest.raises(LanguageError):
        parse(f"x{character}y")


DEFAULT_IGNORABLE = (
    "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 "
    "FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
"""Unicode's property Default_Ignorable_Code_Point: what is not to be seen."""


def test_what_cannot_be_seen_is_never_part_of_a_name() -> None:
    ends = [part.partition("-") for part in DEFAULT_IGNORABLE.split()]
    hidden = [
        character
        for low, _, high in ends
        for character in map(chr, range(int(low, 16), int(high or low, 16) + 1))
    ]
    for character in [*hidden, "\u2800", "\U00016fe4"]:  # Braille's and Khitan's blanks
        for text in (f"x{character}*2", f"{character}*2", f"a{character}b = 2; a{character}b"):
            with pytest.raises(LanguageError) as caught:
                parse(text)
            assert caught.value.code == "syntax"
    with pytest.raises(LanguageError, match=r"U\+3164") as caught:
        parse("x\u3164 + x")
    assert (caught.value.span, caught.value.help) == ((1, 2), "it does not print: delete it")


@together(CONSTANT_SIGNS.items())
def test_a_constant_s_sign_takes_no_value(sign: str, name: str) -> None:
    assert program_text(parse(f"{sign}*x").graph) == f"{name}*x"
    assert list(parse(f"{sign}*x").graph.inputs) == ["x"]


def test_the_power_of_a_matrix_has_two_meanings() -> None:
    with pytest.raises(ShapeError, match="two meanings"):
        parse("A²").evaluate(A=[[1, 2], [3, 4]])
    assert parse("v²").evaluate(v=[1, 2]).value.tolist() == [1, 4]
    for inverse in ("A⁻¹ @ b", "A^-1 @ b", "A**(-1) @ b"):
        with pytest.raises(ShapeError, match="two meanings") as caught:
            parse(inverse).evaluate(A=[[1, 2], [3, 4]], b=[1, 2])
        assert "the inverse is inv(A)" in str(caught.value)
    assert parse("v^-1").evaluate(v=[1, 2]).value.tolist() == [1, 0.5]
    with pytest.raises(ShapeError, match="the determinant is det"):
        parse("|A|*2").evaluate(A=[[1, 2], [3, 4]])
    assert parse("|v| + |-2|").evaluate(v=[1, -2]).value.tolist() == [3, 4]


def test_a_sign_does_not_become_a_part_of_a_name() -> None:
    with pytest.raises(LanguageError) as caught:
        parse("2*x∞")
    assert "mended: 2*x*inf" in str(caught.value)

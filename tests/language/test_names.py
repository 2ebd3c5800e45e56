"""Names for programs, for what is shared, and for LaTeX."""

from __future__ import annotations

import pytest

from exprgrad import parse
from exprgrad.language.code.statements import Names, name_in_ascii
from exprgrad.language.write.infix import fresh_names, name_shared, program_text
from exprgrad.language.write.latex import latex_symbol


def test_a_taken_name_gets_another() -> None:
    names = Names(["int", "t1"], ascii=True)
    assert [names.claim(wanted) for wanted in ("int", "int", "x", "α")] == [
        "int_", "int__", "x", "alpha",
    ]  # fmt: skip
    assert [names.temporary(), names.temporary()] == ["t2", "t3"]


@pytest.mark.parametrize(
    ("name", "written"),
    [("x", "x"), ("é", "e"), ("Δx", "Deltax"), ("名", "u540d"), ("_X", "v_X"), ("__x", "v__x")],
)
def test_names_in_ascii(name: str, written: str) -> None:
    assert name_in_ascii(name) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [("x", "x"), ("x1", "x_{1}"), ("x_max", r"x_{\mathrm{max}}"), ("beta2", r"\beta_{2}")],
)
def test_names_in_latex(name: str, written: str) -> None:
    assert latex_symbol(name) == written


def test_what_is_shared_gets_a_name_where_it_is_first_needed() -> None:
    graph = parse("t1 = a*b; exp(t1) + t1").graph
    assert next(fresh_names(graph, "t")) == "t2"
    graph = parse("s = sin(a*b); s + s*s").graph
    name_shared(graph)
    assert program_text(graph) == "s = sin(a*b); s + s*s"
    derived = parse("exp(a*b)*exp(a*b)").derivative("a").graph
    assert program_text(derived).count("exp(") == 1

"""Which sums of products are rounded once."""

from __future__ import annotations

import pytest

from exprgrad.graph.graph import CONST, INPUT, Program
from exprgrad.language.read.parse import parse_text
from exprgrad.run.engines.programs import FMA, contract_polynomials


def kinds(program: Program) -> list[str]:
    return [kind for kind in program.graph.kinds if kind not in (INPUT, CONST)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("((2*x + 3)*x + 4)*x + 5", [FMA, FMA, FMA]),
        ("(2*x - 3)*x + 4", [FMA, FMA]),
        ("4 - (3 + 2*x)*x", [FMA, "neg", FMA]),
        ("1 + x*(2 + x*y)", [FMA, FMA]),
        ("2*x + 3", ["mul", "add"]),
        ("x*y + 3", ["mul", "add"]),
        ("x*y + z", ["mul", "add"]),
        ("(x*y + z)*y + z", ["mul", "add", "mul", "add"]),
        ("(2*x + 3)*y + 4", ["mul", "add", "mul", "add"]),
        ("p = 2*x; (p + 3)*x + p", ["mul", "add", "mul", "add"]),
    ],
)
def test_polynomials_alone(text: str, left: list[str]) -> None:
    graph = parse_text(text)
    assert kinds(contract_polynomials(Program(graph, (graph.output,)))) == left


def test_a_product_with_another_user_stays() -> None:
    graph = parse_text("p = 2*x; q = (p + 3)*x; q + 4 + p + q")
    assert FMA not in kinds(contract_polynomials(Program(graph, (graph.output,))))


def test_a_product_that_is_asked_for_stays() -> None:
    graph = parse_text("p = (2*x + 3)*x; p + 4")
    assert kinds(contract_polynomials(Program(graph, (graph.output,)))) == [FMA, FMA]
    product = graph.bindings[0].node
    found = contract_polynomials(Program(graph, (graph.output, product)))
    assert FMA not in kinds(found)
    assert [found.graph.kinds[output] for output in found.outputs] == ["add", "mul"]


def test_the_operands_are_the_products() -> None:
    graph = parse_text("(2*x - 3)*x - 4")
    found = contract_polynomials(Program(graph, (graph.output,))).graph
    x = found.inputs["x"]
    inner, last = [node for node, kind in enumerate(found.kinds) if kind == FMA]
    *factors, constant = found.operands[last]
    assert set(factors) == {x, inner}
    assert found.payloads[constant] == -4
    assert found.payloads[found.operands[inner][2]] == -3

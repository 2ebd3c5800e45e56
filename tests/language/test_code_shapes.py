"""Programs of every structural operation at shapes and settings that hypothesis draws."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from exprgrad.derive.build import GraphBuilder
from exprgrad.derive.lower.translate import translate_formula
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, shape_size
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.run.arrays import arrays
from programs import call, near, require
from structures import Case, case_of

np = pytest.importorskip("numpy")


def weighted(one: Case) -> Graph:
    """The sum of an operation's numbers, each times itself and a number of an input's, c."""
    builder = GraphBuilder(Graph([]), plain=True)
    operands = [builder.input(f"a{at}", x.shape) for at, x in enumerate(one.operands)]
    output = builder.apply(one.name, *operands, settings=one.settings)
    weights = builder.input("c", builder.shape(output))
    product = builder.apply("mul", builder.apply("mul", output, output), weights)
    return builder.program([builder.apply("sum", product, settings=(None, False))]).graph


@pytest.mark.parametrize("name", STRUCTURAL)
@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_programs_of_any_shapes_and_settings_find_what_the_engine_finds(
    name: str, count: int
) -> None:
    require("torch")

    @settings(max_examples=count)
    @given(case=case_of(name))
    def check(case: Case) -> None:
        graph = weighted(case)
        assert graph.shapes
        weights = np.linspace(0.5, 1.5, shape_size(graph.shapes[graph.inputs["c"]]))
        values = [*case.operands, weights.reshape(graph.shapes[graph.inputs["c"]])]
        program = gradient(graph, [*graph.inputs])
        wanted = arrays.forward_arrays(program.graph, dict(zip(graph.inputs, values, strict=True)))
        for target in ("numpy", "torch"):
            value, found = call(target, translate_formula(graph, target), "f", values)
            for output, array in zip(program.outputs, [value, *found], strict=True):
                assert near(array, wanted[output]), (target, case)

    check()

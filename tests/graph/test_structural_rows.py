"""The structural rows of the op table: each says all that is read from it."""

from __future__ import annotations

import re

import pytest

from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.structural import Parameter, Structural
from exprgrad.graph.tensors import STRUCTURAL, WORDS
from exprgrad.language.read.parse import parse_text
from exprgrad.show.text.operations import example_cases

ROWS = pytest.mark.parametrize("row", STRUCTURAL.values(), ids=lambda row: row.name)
SOURCE = re.compile(r"(Giles|Griewank and Walther|Boyd and Vandenberghe|Bishop) \((\d{4})\)")
SETTINGS: dict[str, tuple[type, ...]] = {
    "axis": (int, type(None)),
    "axes": (int, type(None)),
    "order": (tuple, type(None)),
    "flag": (bool,),
    "size": (int,),
    "shape": (tuple,),
    "places": (tuple,),
}


@ROWS
def test_a_row_is_complete(row: Structural) -> None:
    assert row.about and row.gate and row.names
    for name in row.names:
        assert re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", row.latex), (
            "its LaTeX has each operand"
        )
    assert bool(row.kink) == bool(row.kink_words)
    assert "\n" not in row.about and not row.about.endswith(".")


@ROWS
def test_the_rule_names_its_source(row: Structural) -> None:
    passes = any(text != "nothing" for case in example_cases(row.name) for text in case.cotangents)
    told = " ".join((row.vjp.__doc__ or "").split())
    assert told
    assert SOURCE.search(told) or not passes, told


def test_a_name_is_one_rows() -> None:
    assert not STRUCTURAL.keys() & BY_NAME.keys()
    shared = {word for word, row in WORDS.items() if word in BY_NAME}
    assert shared == {"max", "min", "logsumexp"}
    assert all(WORDS[word].name == f"reduce_{word}" for word in shared)


@ROWS
def test_settings_are_of_known_kinds(row: Structural) -> None:
    names = [parameter.name for parameter in row.parameters]
    assert len(set(names)) == len(names)
    required = [parameter.default is ... for parameter in row.parameters]
    assert required == sorted(required, reverse=True), "those that must be given come first"
    for parameter in row.parameters:
        assert isinstance(parameter, Parameter)
        assert parameter.default is ... or isinstance(parameter.default, SETTINGS[parameter.kind])


@ROWS
def test_examples_are_what_a_person_writes(row: Structural) -> None:
    found = example_cases(row.name)
    assert found
    for case in found:
        graph = parse_text(case.written)
        assert graph.kinds[graph.output] == row.name
        assert len(case.cotangents) == len(case.shapes) == len(graph.inputs)

"""The op table is well formed: every text in it parses and uses legal names and rows only."""

from __future__ import annotations

import re
import subprocess
import sys
from random import Random

from exprgrad.derive.rules import rule_slots, template
from exprgrad.graph.graph import CONST, INPUT
from exprgrad.graph.op import GATES
from exprgrad.graph.ops import BY_INFIX, BY_NAME, COMMON, FUNCTIONS, OPS, Op
from invariants import check
from oracles import Real, evaluate, has_own_reference, holds, mp, mpf, reference, ulp
from strategies import points
from together import together

each_row = together(OPS)


def texts(op: Op) -> list[tuple[str, tuple[str, ...]]]:
    """Every text of a row with the names that it may use."""
    rules = [(text, rule_slots(op)) for text in (*op.partials, *op.display_partials)]
    rules += [(special.where, rule_slots(op)) for special in op.special]
    names = ("x", "y") if op.variadic else op.names
    moving = [text for name in names for text in (f"d{name}", f"moves_{name}")]
    beside = (*op.names, "out", "same", *moving) if not op.variadic else ("dx", "dy")
    rules += [
        (text, beside)
        for special in op.special
        for text in (special.side, special.slope, special.undecided)
        if text
    ]
    rules += [(text, op.fallback_names) for text in (op.value, op.fallback, op.definition) if text]
    plain = [op.domain, *(text for pole in op.poles for text in pole)]
    rules += [(text, op.names) for text in plain if text]
    return rules + ([(op.ties, (*op.names, "out", "varies"))] if op.ties else [])


@each_row
def test_texts_parse_and_use_legal_names_and_rows(op: Op) -> None:
    for text, names in texts(op):
        graph = template(text)
        check(graph)
        assert set(graph.inputs) <= set(names), text
        assert all(kind in BY_NAME or kind in (INPUT, CONST) for kind in graph.kinds), text


@each_row
def test_rows_are_complete(op: Op) -> None:
    assert op.name.isidentifier()
    assert op.about and not op.about.endswith(".")
    assert op.gate in GATES
    assert op.names and all(name.isidentifier() for name in op.names)
    assert len(op.partials) == (1 if op.variadic else len(op.names))
    assert len(op.display_partials) in (0, len(op.partials))
    assert op.variadic == bool(op.ties)
    assert all(special.code in ("kink", "jump") and special.why for special in op.special)
    assert all(position < len(op.names) for position in op.branches)
    assert op.value_ulp >= 0 and op.partial_ulp >= 0
    widest = 1e-14 if op.value and not op.definition else 1e-15  # an approximation, or none
    assert 0 <= op.value_abs < widest and 0 <= op.partial_abs < widest
    assert op.arity_words().startswith("two or more" if op.variadic else str(len(op.names)))


@each_row
def test_latex_mentions_each_operand(op: Op) -> None:
    plain = re.sub(r"\\operatorname\{[^}]*\}|\\[a-zA-Z]+", " ", op.latex)
    assert plain.count("{") == plain.count("}")
    for name in op.names:
        assert re.search(rf"(?<![a-z]){name}(?![a-z])", plain), (op.latex, name)


@each_row
def test_a_row_has_one_spelling(op: Op) -> None:
    called = op.name in FUNCTIONS and op.name not in op.spellings.split()
    assert [called, bool(op.infix), bool(op.prefix)].count(True) == 1
    assert not op.infix or len(op.names) == 2


def test_every_gate_has_its_sentence_and_there_is_no_other() -> None:
    assert {op.gate for op in OPS} == set(GATES)
    assert len(set(GATES.values())) == len(GATES)


def test_names_and_symbols_are_unique() -> None:
    assert len({op.name for op in OPS}) == len(OPS)
    assert len(BY_INFIX) == sum(bool(op.infix) for op in OPS)


def test_pages_of_the_language_are_there() -> None:
    wanted = ["+", "-", "*", "/", "%", "^", "<", "<=", ">", ">=", "==", "!="]
    assert sorted(BY_INFIX) == sorted(wanted)


def same_real(one: Real, other: Real) -> bool:
    return bool(abs(one - other) <= mp.ldexp(max(abs(one), abs(other)), -60) + mp.ldexp(1, -1100))


@together([op for op in OPS if op.definition or op.value])
def test_definition_and_value_agree_with_mpmath(op: Op) -> None:
    """Where mpmath knows the row, its definition is held to it, and so is its value.

    A value without a definition may be an approximation: it is within the accuracy that the row states.
    """
    tried = 0
    for args in points(Random(f"{op.name} formula"), len(op.fallback_names), 80):
        if not holds(op.domain, op.names, args) or any(abs(x) > 1e4 for x in args):
            continue
        with mp.workprec(2400):
            exact = [mp.mpf(x) for x in args]
            true = reference(op.name, *exact)
            given = dict(zip(op.fallback_names, exact, strict=True))
            for text in filter(None, (op.value, op.definition)):
                found = evaluate(template(text), given)[-1]
                apart = abs(found - true)
                near = apart <= op.value_abs or apart <= op.value_ulp * ulp(true)
                near = near or min(abs(found), abs(true)) > mp.ldexp(
                    1, 1024
                )  # what is no double is infinite
                assert same_real(found, true) or (near and not op.definition), (text, args)
                tried += 1
        if tried > 8:
            break
    assert tried > 8


@each_row
def test_every_row_has_a_reference(op: Op) -> None:
    assert has_own_reference(op.name) or op.definition


def test_rows_are_loaded_when_a_formula_names_them() -> None:
    """In a process of its own: an ordinary formula loads none, a special function all before it."""
    script = """
import sys
from exprgrad import parse
from exprgrad.graph.ops import BY_NAME, COMMON, FURTHER
def loaded():
    return [name for name in ("functions", "special") if f"exprgrad.graph.{name}" in sys.modules]
assert parse("tanh(a*x)^2/(1 + x)").derivative("x").gradient(a=1, x=2).value
assert not loaded() and len(BY_NAME) == len(COMMON)
assert parse("sigmoid(x)").gradient(x=0).gradient == {"x": 0.25} and loaded() == ["functions"]
assert parse("sum(x)").gradient(x=[1, 2]).value == 3 and loaded() == ["functions"]
assert parse("deg(x)").gradient(x=0).value == 0 and len(loaded()) == 2 and FURTHER == ["integrals"]
assert parse("airyai(x)").gradient(x=0).value and not FURTHER
assert parse("Si(x)").gradient(x=0).value == 0 and parse("elliptic_k(x)").gradient(x=0).value
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_is_gathered_at_the_start_is_of_common_rows() -> None:
    """Sets of rows are made before the others are loaded: ``COMPARISONS``, ``SUMS`` and their like."""
    gathered = ("infix", "prefix", "signs", "powers", "branches", "winner", "opposite", "logic")
    for op in OPS[len(COMMON) :]:
        assert not [field for field in gathered if getattr(op, field)], op.name


def test_squares_are_what_rows_say() -> None:
    squared = [op for op in OPS if op.square]
    assert len(squared) >= 4
    for op in squared:
        assert op.square is not None
        partner, a, b = op.square
        assert BY_NAME[partner].square is not None
        with mp.workdps(40):
            for x in (mpf("0.7"), mpf("-2.5")):
                square = a + b * reference(partner, x) ** 2
                assert mp.almosteq(reference(op.name, x) ** 2, square, mpf(10) ** -35), op.name

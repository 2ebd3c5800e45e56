"""What ``exprgrad ops NAME --lint`` finds: nothing in the table, and each fault in a row that has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exprgrad.derive.lower.lower import routine_program
from exprgrad.errors import RequestError
from exprgrad.graph.ops import BY_NAME, FAMILIES, FUNCTIONS, OPS, Op, family_member
from exprgrad.graph.tensors import STRUCTURAL
from exprgrad.language.code import targets
from exprgrad.language.code.program import find_target
from exprgrad.language.write.latex import latex_form
from exprgrad.run.balls.balls import has_balls
from exprgrad.show.text import row_faults
from exprgrad.show.text.operations import Row
from exprgrad.show.text.row_faults import find_row_faults
from shell import command
from together import together

MEMBERS = [family_member(family, family.least) for family in FAMILIES.values()]
VERSIN = Op(
    "versin", "x", ("sin(x)",), "the versed sine", value="2*sin(x/2)^2", definition="1 - cos(x)",
    domain="abs(x) < inf", latex=r"\operatorname{versin} x",
)  # fmt: skip


@pytest.mark.slow
@together([*OPS, *MEMBERS, *STRUCTURAL.values()])
def test_every_row_is_clean(row: Row) -> None:
    assert find_row_faults(row) == []


@pytest.fixture(autouse=True)
def forget_rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is kept of rows is not kept for the next test; these are the truths, wherever the package is."""
    monkeypatch.setattr(row_faults, "ORACLES", Path(__file__).parents[1] / "oracles.py")
    kept = (row_faults.formula_error, row_faults.load_oracles, latex_form, routine_program)
    for function in kept:
        function.cache_clear()
    yield
    for function in kept:
        function.cache_clear()


def put(monkeypatch: pytest.MonkeyPatch, row: Op) -> Op:
    """Put a row into the table for one test."""
    monkeypatch.setitem(BY_NAME, row.name, row)
    monkeypatch.setitem(FUNCTIONS, row.name, row)
    return row


def test_the_page_s_row_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_row_faults(put(monkeypatch, VERSIN)) == []


FAULTS = {
    "balls don't know it, .*: add a definition, or arb,": {"definition": ""},
    "mpmath has no function versin: add a definition, or a function to CORE": {"definition": ""},
    "its partial_abs is for zeros alone: add away_from_zeros": {"partial_abs": 1e-16},
    r"its LaTeX '\\log\\cosh x' does not read back .* write \\operatorname\{versin\}": {
        "latex": r"\log\cosh x"
    },
    r"its LaTeX '\\versine x' does not read back": {"latex": r"\versine x"},
    "row 'versin' needs a value or a formula: .* mend its texts": {"value": ""},
    "unknown function 'cosinus': mend its texts": {"partials": ("cosinus(x)",)},
}


@pytest.mark.parametrize("wanted", FAULTS)
def test_each_fault_is_a_sentence_that_says_what_to_add(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "balls" in wanted and not has_balls():
        pytest.skip("there is no python-flint")
    row = put(monkeypatch, VERSIN._replace(**FAULTS[wanted]))  # type: ignore[arg-type]
    found = find_row_faults(row)
    assert [fault for fault in found if re.search(wanted, fault)], found
    assert all("\n" not in fault and ": " in fault for fault in found)


def test_a_row_is_blamed_for_the_formulas_of_those_it_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a target lacks tanh, its definition has no right digits for small operands."""
    lossy = "1 - 2/(exp(2*x) + 1)"
    tanh = put(monkeypatch, BY_NAME["tanh"]._replace(fallback=lossy))
    row = put(monkeypatch, VERSIN._replace(value="2*tanh(x)"))
    wanted = "tanh, for which a formula is computed where a target lacks it, off by .* ulp at x = "
    assert any(re.match(f"it calls {wanted}", fault) for fault in find_row_faults(row))
    assert any(re.match(wanted, fault) for fault in find_row_faults(tanh))


def test_a_target_without_a_form_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every row, and wherever a program is asked for: before, that was a KeyError."""
    target = targets.TARGETS["c"]
    forms = {name: form for name, form in target.forms.items() if name != "flag"}
    monkeypatch.setitem(targets.TARGETS, "c", target._replace(forms=forms))
    (fault,) = find_row_faults(BY_NAME["sin"])
    assert fault.startswith(
        "it cannot be written in C99, the target 'c' has no form 'flag': add it"
    )
    with pytest.raises(RequestError, match="the target 'c' has no form 'flag'"):
        find_target("c")


def test_a_structural_row_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    prod = STRUCTURAL["prod"]
    assert find_row_faults(prod._replace(bound=None)) == ["no digit of it is trusted: add a bound"]
    (fault,) = find_row_faults(prod._replace(vjp=lambda b, p: None))
    assert fault == "its vjp names no source: add a docstring that does"
    lacking = find_row_faults(STRUCTURAL["inv"]._replace(fallback=None))
    wanted = "has no function for it: add a fallback, or a spelling to its target"
    assert lacking == [f"{title} {wanted}" for title in ("NumPy", "JAX", "PyTorch")]


def test_the_command_ends_with_1_if_something_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("ops", "max", "--lint") == (0, "nothing is missing: 2 rows looked at\n", "")
    put(monkeypatch, VERSIN._replace(partial_abs=1e-17))
    (message,) = find_row_faults(BY_NAME["versin"])
    assert command("ops", "versin", "--lint") == (1, f"versin: {message}\n", "")
    done = command("ops", "versin", "--lint", "--json")
    faults = [{"operation": "versin", "message": message}]
    assert done.status == 1
    assert json.loads(done.out) == {"schema": "exprgrad/1", "command": "ops", "faults": faults}
    done = command("ops", "max", "--lint", "--csv")
    assert done.status == 2 and "--lint and --csv cannot be combined" in done.err


def test_without_a_checkout_the_tests_are_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_faults, "ORACLES", tmp_path / "oracles.py")
    row = put(monkeypatch, VERSIN._replace(definition=""))
    assert not [fault for fault in find_row_faults(row) if "mpmath" in fault]

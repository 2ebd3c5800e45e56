"""CODATA's constants: the table is the published one, and a value by name is found or refused."""

from __future__ import annotations

import json
import math
import re

import pytest

import exprgrad
from exprgrad.run.values.constants import codata, find_constants, list_constants
from shell import command


def test_the_table_is_that_of_scipy() -> None:
    constants = pytest.importorskip("scipy.constants")
    theirs = constants.physical_constants
    if theirs["electron mass"][0] != 9.1093837139e-31:
        pytest.skip("this SciPy has the values of another year")
    assert len(list_constants()) == 355
    for one in list_constants():
        if one.name.startswith("natural unit of momentum"):
            continue  # by this name SciPy has the values of 2014
        value, unit, deviation = theirs[one.name]
        number, digits, exponent = re.fullmatch(
            r"([-\d.]+)(?:\((\d+)\))?((?:e[-+]?\d+)?)", one.value
        ).groups("")  # type: ignore[union-attr]
        places = len(number.partition(".")[2])
        assert float(number + exponent) == value, one.name
        assert one.unit == unit, one.name
        assert float(f"{digits or 0}e{int(exponent[1:] or 0) - places}") == deviation, one.name


def test_a_symbol_stands_for_one_constant() -> None:
    symbols = [symbol for one in list_constants() for symbol in one.symbols]
    assert len(symbols) == len({*symbols}) > 60
    for one in list_constants():
        assert find_constants(one.name) == [one]
        assert all(codata(symbol) == one.value for symbol in one.symbols)


def test_values_in_a_shell() -> None:
    found = json.loads(command("eval", "G*m", "G=@codata", "m=@codata:electron mass", "--json").out)
    assert found["value"] == 6.67430e-11 * 9.1093837139e-31
    parts = math.hypot(0.00015 / 6.67430, 0.0000000028 / 9.1093837139)
    assert found["uncertainty"]["value"] == pytest.approx(found["value"] * parts, rel=1e-12)
    exact = json.loads(command("eval", "c/ħ", "c=@codata", "ħ=@CODATA", "--json").out)
    assert "uncertainty" not in exact and exact["value"] == 299792458 / 1.0545718176461565e-34
    plain = command("minimize", "(x - G)^2", "G=@codata", "x=1", "--wrt", "x", "--json")
    assert json.loads(plain.out)["point"]["x"] == pytest.approx(6.67430e-11)


def test_what_is_none() -> None:
    several = command("eval", "m", "m=@codata:mass")
    assert several.status == 2
    assert "no constant of CODATA's is called 'mass'" in several.err
    assert "say which: 'alpha particle-electron mass ratio', 'alpha particle mass'" in several.err
    assert "exprgrad constants WORD finds them" in command("eval", "m", "m=@codata:phlogiston").err
    assert "all of them" in command("constants", "phlogiston").err
    with pytest.raises(exprgrad.InputError, match="does not open files") as caught:
        exprgrad.eval("m", m="@codata:electron mass")
    assert caught.value.help == "if the constant is meant, write exprgrad.codata('electron mass')"


def test_in_python() -> None:
    run = exprgrad.parse("G*M").gradient(G=exprgrad.codata("G"), M=2)
    assert run.uncertainty.value == pytest.approx(3e-15)


def test_the_list() -> None:
    assert command("constants").out.count("\n") == 356
    assert command("constants", "m_e", "--csv").out == (
        "symbols,value,unit,name\nm_e me,9.1093837139(28)e-31,kg,electron mass\n"
    )

"""Sixty claims, true and false: near misses, narrow features, tiny terms; what each verdict rests on."""

from __future__ import annotations

import json
import re

import mpmath
import pytest

from exprgrad import parse
from shell import command

TRUE = """
x^2*y | x = 2*x*y
sin(x)^2 | x = sin(2*x)
sin(x)^2 | x = 2*sin(x)*cos(x)
cos(x)^2 | x = -sin(2*x)
atan(x) + atan(1/x) + x | x = 1
asin(tanh(x)) - atan(sinh(x)) + x | x = 1
log(x^2 + 2*x + 1) | x = 2/(x + 1)
log(exp(x)) | x = 1
exp(log(x)) | x = 1
sqrt(x^2 + 2*x + 1) | x = sign(x + 1)
tanh(x) | x = 1 - tanh(x)^2
tanh(x) | x = 4/(exp(x) + exp(-x))^2
sigmoid(x) | x = sigmoid(x)*sigmoid(-x)
tanh(1000*(x - 7.77)) + x | x = 1 + 1000*(1 - tanh(1000*(x - 7.77))^2)
exp(-1e8*(x - 7.77)^2) + x | x = 1 - 2e8*(x - 7.77)*exp(-1e8*(x - 7.77)^2)
x + 1e-300*x^2 | x = 1 + 2e-300*x
0.1*x | x = 1/10
x^2.2 | x = 2.2*x^1.2
x^x | x = x^x*(log(x) + 1)
sin(x)*cos(y) | x = (cos(x + y) + cos(x - y))/2
sinh(x)*cosh(x) | x = cosh(2*x)
log(sqrt(x)) | x = 1/(2*x)
log(x*y) | y = 1/y
atan2(y, x) | x = -y/(x^2 + y^2)
abs(x)*x | x = 2*abs(x)
relu(x)^2 | x = 2*relu(x)
erf(x) | x = 2/sqrt(pi)*exp(-x^2)
(x + 1)^3 - x^3 - 3*x^2 - 3*x | x = 0
(x^2 - 1)/(x - 1) | x = 1
hypot(x, y) | x = x/hypot(x, y)
"""

FALSE = """
tanh(1000*(x - 7.77)) + x | x = 1
exp(-1e8*(x - 7.77)^2) + x | x = 1
x + 1e-300*x^2 | x = 1
x + 1e-300*x^2 | x = 1 + 1e-300*x
x + 1e-30*sin(x) | x = 1
x + 1e-200*exp(x) | x = 1
exp(-1e12*(x - 3.21)^2) + y*x | x = y
exp(-1e8*((x - 7.77)^2 + (y - 1.23)^2)) + x*y | x = y
tanh(1e6*(x - 123.456)) + x | x = 1
sigmoid(1e4*(x + 5.55)) + x^2 | x = 2*x
erf(1000*(x - 2.7)) + sin(x) | x = cos(x)
atan(x) + atan(1/x) + x + 1e-300*x^2 | x = 1
atan(x) + atan(1/x) + x + exp(-1e8*(x - 7.77)^2) | x = 1
asin(tanh(x)) - atan(sinh(x)) + x + tanh(1000*(x - 7.77)) | x = 1
1/(1 + 1e10*(x - 7.77)^2) + x | x = 1
log(cosh(1000*(x - 7.77)))/1000 + x | x = 1 + tanh(999.999*(x - 7.77))
x^2 | x = 1.9999999999999999999*x
x^2 | x = 2*x + 1e-25
0.1*x | x = 0.1000000000000000055511151231257827
pi*x | x = 3.14159265358979323846264338327950288
sin(x) | x = cos(x)*(1 + 1e-100)
exp(x) | x = exp(x) - 1e-90
sin(x)^2 | x = sin(2*x) + 1e-250
x^3 | x = 3*x^2 + 1e-280*x^5
sqrt(x) | x = 0.5*x^-0.5 + 1e-150
x*y | x = y*(1 + 1e-140*x)
x | x = 1 + exp(-1e4*(x - 0.123)^2)
x^2 | x = 2*x + exp(-1e6*(x - 11.11)^2)
cos(x) | x = -sin(x) - 1e-60*x
x^2.2 | x = 2.2*x^1.2000000000000000001
"""


def claim_in(line: str) -> tuple[str, str, str]:
    text, _, claim = line.partition(" | ")
    name, _, formula = claim.partition(" = ")
    return text, name, formula


CASES = [(claim_in(line), True) for line in TRUE.strip().splitlines()]
CASES += [(claim_in(line), False) for line in FALSE.strip().splitlines()]
AT = ({"x": "0.6", "y": "0.3"}, {"x": "1.7", "y": "2.9"}, {"x": "7.77001", "y": "1.23"})


def is_true(text: str, name: str, claim: str) -> bool:
    """Whether a claim is the derivative by mpmath's differences of 700 digits; literals are decimals."""
    words = re.findall(
        "[a-z]+2?", "sin cos exp log sqrt tanh sinh cosh asin atan atan2 erf sign hypot pi"
    )
    known = {one: getattr(mpmath, one) for one in words}
    known |= {"abs": abs, "relu": lambda x: max(x, mpmath.mpf(0)), "N": mpmath.mpf}
    known["sigmoid"] = lambda x: 1 / (1 + mpmath.exp(-x))

    def read(formula: str) -> str:
        numbers = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)(?![\w.])")
        return numbers.sub(r"N('\1')", formula).replace("^", "**")

    with mpmath.workdps(1500):
        h = mpmath.mpf(10) ** -700
        for point in AT:
            inputs = {one: mpmath.mpf(value) for one, value in point.items()}
            ahead, behind = ({**inputs, name: inputs[name] + side} for side in (h, -h))
            values = [eval(read(text), known | here) for here in (ahead, behind)]
            slope = (values[0] - values[1]) / (2 * h)
            said = eval(read(claim), known | inputs)
            if abs(slope - said) > mpmath.mpf(10) ** -600:
                return False
    return True


def test_there_are_sixty() -> None:
    assert len(CASES) == 60


@pytest.mark.parametrize(("case", "expected"), CASES, ids=[f"{c[0]} {c[2]}" for c, _ in CASES])
def test_verdicts(case: tuple[str, str, str], expected: bool) -> None:
    """The truth is known by construction; mpmath sees it, too, where it can see the feature."""
    text, name, claim = case
    features = ("123.456", "5.55", "3.21", "2.7)", "11.11", "0.123")
    if not any(feature in text + claim for feature in features):
        assert is_true(text, name, claim) is expected
    (check,) = parse(text).check(claims={name: claim})
    assert check.verdict == ("agrees" if expected else "disagrees"), check.message
    assert (check.proof is not None) is expected
    assert (check.width is not None) is (check.proof == "enclosed")


def test_what_a_verdict_rests_on() -> None:
    def proof(text: str, claim: str, **given: float) -> tuple[str | None, float | None]:
        (check,) = parse(text).check(given, claims={"x": claim})
        return check.proof, check.width

    assert proof("x^2", "2*x") == ("formulas", None)
    assert proof("atan(x) + atan(1/x) + x", "1") == ("samples", None)
    kind, width = proof("atan(x) + atan(1/x) + x", "1", x=2)
    assert kind == "enclosed" and width is not None and width < 1e-100
    kind, width = proof("asin(tanh(x)) - atan(sinh(x)) + x", "1")
    assert kind == "enclosed" and width is not None and width < 0.1


def test_samples_are_doubted_under_strict_alone() -> None:
    arguments = ["check", "atan(x) + atan(1/x) + x", "--claim", "x=1"]
    assert command(*arguments)[0] == 0
    assert command(*arguments, "--strict")[0] == 1
    assert command("check", "x^2", "--claim", "x=2*x", "--strict")[0] == 0
    (check,) = json.loads(command(*arguments, "--json")[1])["checks"]
    assert check["verdict"] == "agrees" and check["proof"] == "samples" and check["width"] is None


def test_a_given_point_is_judged_there() -> None:
    f = parse("exp(-1e8*(x - 7.77)^2) + x")
    (there,) = f.check(x=7.77, claims={"x": "1"})
    assert there.verdict == "agrees" and there.proof == "enclosed"
    (beside,) = f.check(x=7.7701, claims={"x": "1"})
    assert beside.verdict == "disagrees"

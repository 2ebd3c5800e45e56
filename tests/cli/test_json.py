"""JSON: the published schema, the contract's own example field by field, and its fine print."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from exprgrad.run.values.directions import WHAT_0_DOES
from shell import command
from together import together

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

MATRICES = [
    "jac|(a+b)*c|a=2|b=-3|c=10",
    "jac|y1 = a/b; y2 = 1/a; z = 3|a=0|b=2|--of|y1,y2,z|--wrt|a",
    "jac|2+2",
    "hess|x^2*y + sin(z)|x=1|y=2|z=3",
    "hess|x^1.5|x=0",
    "hess|2+2",
    "jvp|x^2*y|x=1|y=2|--tangent|x=1,y=0",
    "jvp|y1 = x; y2 = log(x)|x=0|--of|y2|--tangent|x=inf",
    "vjp|x^2*y|x=1|y=2|--cotangent|nan",
    "vjp|y1 = a*b; y2 = a/b|a=1|b=2|--of|y1,y2|--cotangent|y1=1,y2=0",
]
RANGES = [
    "eval|sin(x)|x=0:1:3",
    "eval|unused = 2; x*y|x=0:1:2|y=3",
    "grad|log(x)*y|x=-1:1:3|y=1:10:log:2",
    "grad|sum(w*x)|x=0:1:3|w=[1,2]|--wrt|w",
    "hess|x*y^2 + abs(x)|x=-1:1:3|y=2",
    "grad|x*y^2|x=-1:1:3|y=2|--elastic",
    "grad|x|x=0:1",
    "grad|x|x=0:1:3|--trace",
    "jac|x|x=0:1:3",
]
DESCENTS = [
    "descend|(x-3)^2|x=0|--max-steps|2",
    "descend|y = (x-3)^2*a|x=0|a=1|--wrt|x|--rate|1/2",
    "descend|x^2|x=3|--rate|1",
    "descend|x^2|x=3|--rate|1e200",
    "descend|log(x)|x=0.05",
    "descend|sum((X @ w)^2)|X=[[1,2],[3,4]]|w=[1,-1]|--max-steps|1",
    "descend|x^2|x=3|--momentum|0.9|--max-steps|2|--every|2",
    "descend|x^2|x=3|--adam|--max-steps|2",
    "descend|x^2|x=3|--line-search",
    "descend|x^2|x=3|--adam|--line-search",
    "descend|x^2|x=3|--momentum|1",
    "descend|x^2|x=3|--rate|0",
    "descend|2+2",
    "minimize|(x-1)^2 + y^2|x=3|y=1",
    "minimize|x*sin(x)|x=1|--maximize|--trace",
    "minimize|sum((X @ w)^2)|X=[[1,2],[3,4]]|w=[1,-1]|--wrt|w|--bounds|w=0.5:inf",
    "minimize|log(x)|x=-1",
    "minimize|abs(x) + y^2|x=1|y=1",
    "minimize|x + y|x=0|y=0|--subject|x^2 + y^2 <= 1|--subject|x == y",
    "minimize|x^4 - x^2|x=1|--starts|5",
    "minimize|x|x=1|--subject|x",
    "minimize|x^3|x=1",
    "minimize|x^2|x=1|--bounds|x=1",
    "minimize|2+2",
]
MISRA = f"y ~ b1*(1 - exp(-b2*x))|--data|{ROOT / 'tests/cases/docs/misra1a.csv'}"
PLOTS = [
    "plot|max(x, 1/x)|x=-2:2|--order|2|--tangent|-1.5",
    "plot|abs(x)|x=-2:2|--tangent|0",
    "plot|sin(a*x)/x + floor(x)|x=-2:2|a=1/2|--y|-1:1",
    "plot|log(-1 - x^2)|x=0:1",
    "plot|x|x=1:0",
    "plot|x*y|x=0:1|y=0:1:3",
    "plot|x^2*y + a|x=-1:1|y=-1:1|a=2|--descend-from|x=1,y=1|--max-steps|2",
    "plot|log(x*y)|x=-1:1|y=-1:1",
    "plot|x*y*z|x=-1:1|y=-1:1|z=0:1",
    "plot|x|--order|0",
]
NORMAL = MISRA.replace("y ~ b1*(1 - exp(-b2*x))", "log(s) + (y - b1*(1 - exp(-b2*x)))^2/(2*s^2)")
REQUESTS = [
    *PLOTS,
    "grad|(a+b)*c|a=2|b=-3|c=10",
    "eval|(a+b)*c|a=2|b=-3|c=10",
    "grad|e=a+b; f=e*c; f|a=2|b=-3|c=10|--wrt|a",
    "grad|log(x)/0 + nan|x=-1",
    "grad|max(a,b,c) + abs(a)|a=0|b=0|c=0",
    "grad|relu(x) - relu(-x)|x=0",
    "grad|floor(x) + sqrt(y^2) + cbrt(abs(z))|x=1|y=0|z=0",
    "grad|where(x > 0, log(x), 0)|x=-1",
    "grad|log(1 + x)|x=1e-10|--trust",
    "grad|exp(x) + sqrt(2)^2 - 2 + relu(y) - relu(-y)|x=1000|y=0|--trust",
    "grad|sqrt(x - pi) + 1/y|x=3|y=0|--trust|--strict",
    "grad|exp(exp(exp(x)))|x=100|--trust",
    "grad|sum(x)|x=[1,2]|--trust",
    "grad|sum((1-cos(x))/x^2)|x=[1e-7,1]|--trust",
    "eval|2+2",
    "grad|2+2",
    "grad|2+2|--trust",
    "grad|unused = 2*x; y = x + 1|x=1",
    "grad|sqrt(x)|x=0",
    "ops",
    "ops|tanh",
    "ops|+",
    "ops|@",
    "ops|max",
    "ops|max|--lint",
    "eval",
    "eval|2x",
    "eval|a|b=1",
    "gard|x",
    "ops|tahn",
    "constants|electron mass",
    "constants|phlogiston",
    "eval|x*y|x=2.0±0.1|y=3.00(5)|--correlation|x,y=0.3|--mc|100",
    "eval|[x, x^2]*y|x=2.0±0.1|y=[1±5%, 2]",
    "grad|sqrt(x)*y|x=0±1|y=2±0",
    "grad|abs(x) + y^2|x=0.1±0.1|y=3|--elastic",
    "grad|sum(w)*x|w=[1,0]|x=3|--elastic",
    "grad|x|x=2±",
    *MATRICES,
    *RANGES,
    "jac|y = x|x=1|--of|z",
    "jvp|x*y|x=1|y=2|--tangent|x=1",
    "vjp|y1 = a; y2 = a|a=1|--of|y1,y2",
    "check|(a+b)*c|a=2|b=-3|c=10",
    "check|abs(x)*y + log(z)|x=0|y=1|z=1e-320",
    "check|exp(x)|x=1000",
    "check|(1 - cos(x))/x^2|x=1e-8|--strict",
    "check|log(x)|x=-1",
    "check|2+2",
    "check|e=a*b; e+c|a=2|b=-3|c=10|--node|e|--node|2|--h|0.001",
    "check|e=a*b; e+c|a=2|b=-3|c=10|--node|d",
    "check|a + a|a=2|--node|2",
    "check|a + 3|a=2|--node|3",
    "check|a + 3|a=2|--h|0",
    "check|a*b*c|--claim|a=b*c|--claim|b=-a*c|b=2",
    "check|a*b|--claim|a=d",
    "check|log(-1 - a^2)|--claim|a=1",
    "check|sum(x^2)*y|x=[1,2]|y=3",
    "check|sum(x^2)*y|x=[1,2]|y=3|--h|0.1",
    "diff|o = tanh(x*w + b)",
    "diff|x^2*y|--order|3",
    "diff|x^2*y|--to|latex",
    "diff|u = x*w + b; tanh(u)*u|--steps",
    "diff|max(x, 2)*floor(x) + 3*y|--steps",
    "diff|x^2|--steps|--order|2",
    "diff|x^2|--wrt|y",
    "diff|x^2|x=2",
    "diff|x^2|--order|0",
    "diff|a*b*c*d*e*f|--order|6",
    "code|a*b|--to|c",
    "code|a*b|--to|python|--value-only",
    "code|a*b|--to|rust",
    "code|a*b|--to|c|--name|int",
    "dot|a*b",
    "dot|a*b|a=1|b=2",
    "dot|a*",
    "dot|a|-o|x.gif",
    f"fit|{MISRA}|b1=500|b2=1e-4",
    f"fit|{MISRA}|b1=500|b2=1e-4|--fix|b1|--loss|cauchy|--starts|3",
    f"fit|{MISRA}|b1=200|b2=1e-4|--bounds|b1=0:230|--sigma|x",
    "solve|x = cos(x)|x=1",
    "solve|a*(x - 1)^2 = 0|a=2|x=-3:3|--wrt|x",
    "solve|x^2 + 1 = 0|x=-inf:inf",
    "solve|A @ x = b|x=[1,1]|A=[[2,1],[1,3]]|b=[1,2]|--wrt|x",
    "solve|x*exp(-x) = 0.1|x=0:inf",
    "solve|x^2 + y^2 = 1|x=1|y=1",
    "solve|y = 2*x|x=1",
    f"fit|--objective|{NORMAL}|b1=250|b2=5e-4|s=1",
    f"fit|{MISRA}|b1=500",
    f"fit|{MISRA}|b1=500|b2=1e-4|b3=1",
    "explore|a*b|a=1|b=inf",
    "explore|--lesson|neuron",
    "explore|--lesson|neurone",
    "explore|a*b|a=1|b=2|-o|x.svg",
    "grad|a|--digits|99",
    "eval|X @ w|X=[[1,2],[3,4]]|w=[1,-1]",
    "eval|[1, 2]",
    "grad|h = relu(X @ w + b); cross_entropy(h, 0)|X=[[1,2],[3,4]]|w=[1,-1]|b=0",
    "grad|sum(log(x)/c)|x=[1,0,-1]|c=0",
    "grad|sum(x)*y|x=[1,2]|y=3|--wrt|y",
    "grad|x*2|x=[1,2]",
    "grad|x @ y|x=[1,2]|y=[1,2,3]",
    "eval|x[3]|x=[1,2]",
    "grad|tanh(x)|x=1|--expand|tanh",
    "grad|tanh(x)|x=1|--expand|tahn",
    "eval|sum(relu(x))|x=[1,-2]|--expand|all",
    *DESCENTS,
    "paths|b=a+1; c=a*3; d=b*c|a=2",
    "paths|tanh(x*w + b)|x=1|w=2|b=3|-k|0",
    "paths|where(x > 0, x, y) + x/0|x=1|y=2|--wrt|y",
    "paths|2+2",
    "paths|sum(x)|x=[1,2]",
    "grad|h = x*x; sum(h)|x=[1,2]|--order|h[0], x[0], h[1]",
    "paths|a|a=1|-k|-1",
    "grad|t=a*b; y=t+t*a|a=2|b=-3|--order|preorder",
    "grad|t=a*b; y=t+t*a|a=2|b=-3|--order|naive",
    "grad|t=a*b; y=t+t*a|a=2|b=-3|--order|naive|--accumulate|set",
    "grad|t=a*b; y=t+t*a|a=2|b=-3|--accumulate|set",
    "grad|t=a*b; y=t+t*a|a=2|b=-3|--order|y,a,t",
    "grad|1/x + x|x=0|--order|3,x",
    "grad|a*b|a=2|b=-3|--order|a,a",
    "grad|a*b|a=2|b=-3|--order|c",
    "grad|sum(x)|x=[1,2]|--order|x",
    "grad|a|a=1|--order|bfs",
]


CALL = re.compile(r"""\b(import_extra|fail|\w*Error)\(\s*["']([^"']*)["']""")
"""A call that says a code, or the extra that is missing."""


def document(*argv: str) -> Any:
    """What a command prints under --json, held to the schema."""
    _, out, err = command(argv[0], "--json", *argv[1:])
    assert err == ""
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    VALIDATOR.validate(found)
    return found


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@together(REQUESTS)
def test_every_document_is_as_the_schema_says(request_line: str) -> None:
    found = document(*request_line.split("|"))
    assert found["schema"] == "exprgrad/1"
    assert found["command"] == request_line.split("|")[0]


def test_schema_is_strict() -> None:
    """A field more, a field less, a null or a number in other words is refused."""
    found = document("grad", "a*b", "a=1", "b=2")
    changes: list[dict[str, Any]] = [
        {"surprise": 1},
        {"value": None},
        {"value": "NaN"},
        {"digits": {"value": 17, "gradient": {}}},
        {"digits": {"value": 16}},
        {"corrected_value": {"sweep": 1.0}},
        {"nodes": []},
        {"nodes": [{**found["nodes"][0], "colour": "red"}]},
        {"edges": [{**found["edges"][0], "local": "NaN"}]},
        {"diagnostics": [{"code": "new"}]},
        {"command": "eval"},
    ]
    for change in changes:
        assert not VALIDATOR.is_valid({**found, **change}), change
    for field in found.keys() - {"digits"}:
        assert not VALIDATOR.is_valid({k: v for k, v in found.items() if k != field}), field


@together(DESCENTS[:6], every=5)
def test_schema_is_strict_about_descents(request_line: str) -> None:
    found = document(*request_line.split("|"))
    step: dict[str, object] = found["steps"][0]
    steps: list[object] = [
        {**step, "step": -1}, {**step, "update": {"x": None}}, {"step": 0}, {**step, "x": 1},
    ]  # fmt: skip
    changes: list[dict[str, object]] = [{"steps": [one]} for one in steps]
    changes += [{"surprise": 1}, {"verdict": "done"}, {"rate": 0}, {"value": "NaN"}, {"steps": []}]
    for change in changes:
        assert not VALIDATOR.is_valid({**found, **change}), change
    for field in found.keys() - {"digits"}:
        assert not VALIDATOR.is_valid({k: v for k, v in found.items() if k != field}), field


@together(MATRICES, every=2)
def test_schema_is_strict_about_matrices(request_line: str) -> None:
    found = document(*request_line.split("|"))
    changes: list[dict[str, object]] = [
        {"surprise": 1}, {"diagnostics": [{"code": "new"}]}, {"command": "jax"},
        {"digits": {"value": 17}}, {"corrected_value": {"sweep": 1.0}},
    ]  # fmt: skip
    for change in changes:
        assert not VALIDATOR.is_valid({**found, **change}), change
    for field in found.keys() - {"digits"}:
        assert not VALIDATOR.is_valid({k: v for k, v in found.items() if k != field}), field
        if field in (
            "value",
            "jacobian",
            "gradient",
            "hessian",
            "jvp",
            "vjp",
            "tangent",
            "cotangent",
        ):
            wrong: Any
            for wrong in (None, "NaN", {"a": None}, {"a": {"b": "NaN"}}, []):
                assert not VALIDATOR.is_valid({**found, field: wrong}), (field, wrong)
    if "pattern" in found:
        for wrong in (None, [["a"]], [["a", 1]], [["a", "a"], ["a", "a"]]):
            assert not VALIDATOR.is_valid({**found, "pattern": wrong}), wrong


def test_every_error_code_is_in_the_schema() -> None:
    """The codes in the source and in the schema are the same, but for what only Python can be asked."""
    codes = {f"missing-{kind}" for kind in WHAT_0_DOES}
    for path in (ROOT / "src/exprgrad").rglob("*.py"):
        if path.parent.name == "engines":  # ``compile`` is asked for in Python alone.
            continue
        for name, first in CALL.findall(path.read_text(encoding="utf-8")):
            codes.add(f"missing-{first.partition('.')[0]}" if name == "import_extra" else first)
    codes = {code for code in codes if re.fullmatch("[a-z_-]+", code)} - {
        "no-gradient",
        "bad-order",
        "no-formula",
        "which-input",
    }
    error = SCHEMA["$defs"]["failure"]["properties"]["error"]["properties"]["code"]["enum"]
    assert sorted(error) == sorted(codes)


def test_the_contract_s_example() -> None:
    """(a+b)*c, every field."""
    found = document("grad", "(a+b)*c", "a=2", "b=-3", "c=10")
    node = ["id", "name", "op", "operands", "text", "span", "data", "grad"]
    edge = ["user", "position", "operand", "rule", "local", "contribution", "span"]
    assert found == {
        "schema": "exprgrad/1",
        "command": "grad",
        "expression": "(a+b)*c",
        "inputs": {"a": 2.0, "b": -3.0, "c": 10.0},
        "output": {"node": 4, "name": None},
        "value": -10.0,
        "gradient": {"a": 10.0, "b": 10.0, "c": -1.0},
        "digits": {"value": 16, "gradient": {"a": 16, "b": 16, "c": 16}},
        "nodes": [
            dict(zip(node, values, strict=True))
            for values in (
                [0, "a", "input", [], "a", [1, 2], 2.0, 10.0],
                [1, "b", "input", [], "b", [3, 4], -3.0, 10.0],
                [2, None, "add", [0, 1], "a + b", [1, 4], -1.0, 10.0],
                [3, "c", "input", [], "c", [6, 7], 10.0, -1.0],
                [4, None, "mul", [2, 3], "(a + b)*c", [0, 7], -10.0, 1.0],
            )
        ],
        "edges": [
            dict(zip(edge, values, strict=True))
            for values in (
                [4, 0, 2, "c", 10.0, 10.0, [1, 4]],
                [4, 1, 3, "a + b", -1.0, -1.0, [6, 7]],
                [2, 0, 0, "1", 1.0, 10.0, [1, 2]],
                [2, 1, 1, "1", 1.0, 10.0, [3, 4]],
            )
        ],
        "order": [4, 3, 2, 1, 0],
        "diagnostics": [],
    }


def test_a_layer_every_field() -> None:
    """Y = X @ w, the loss its sum of squares: worked out by hand."""
    found = document("grad", "Y = X @ w; sum(Y^2)", "X=[[1,2],[3,4]]", "w=[1,-1]")
    assert found["value"] == 2.0
    assert found["gradient"] == {"X": [[-2.0, 2.0], [-2.0, 2.0]], "w": [-8.0, -12.0]}
    assert found["nodes"][2] == {
        "id": 2,
        "name": "Y",
        "op": "matmul",
        "operands": [0, 1],
        "text": "X @ w",
        "span": [4, 9],
        "data": [-1.0, -1.0],
        "grad": [-2.0, -2.0],
        "shape": [2],
    }
    assert found["edges"] == [
        {
            "user": 5,
            "position": 0,
            "operand": 4,
            "rule": "broadcast(·, shape=[2])",
            "local": None,
            "contribution": [1.0, 1.0],
            "span": [15, 18],
            "jacobian": {"shape": [[], [2]], "bytes": 16},
        },
        {
            "user": 4,
            "position": 0,
            "operand": 2,
            "rule": "diag(2*Y)",
            "local": [-2.0, -2.0],
            "contribution": [-2.0, -2.0],
            "span": [15, 16],
            "jacobian": {"shape": [[2], [2]], "bytes": 32},
        },
        {
            "user": 2,
            "position": 0,
            "operand": 0,
            "rule": "outer(·, w)",
            "local": None,
            "contribution": [[-2.0, 2.0], [-2.0, 2.0]],
            "span": [4, 5],
            "jacobian": {"shape": [[2], [2, 2]], "bytes": 64},
        },
        {
            "user": 2,
            "position": 1,
            "operand": 1,
            "rule": "X.T @ ·",
            "local": None,
            "contribution": [-8.0, -12.0],
            "span": [8, 9],
            "jacobian": {"shape": [[2], [2]], "bytes": 32},
        },
    ]
    assert found["order"] == [5, 4, 3, 2, 1, 0]


def test_numbers_alone_have_no_shapes() -> None:
    found = document("grad", "a*b", "a=1", "b=2")
    assert all("shape" not in node for node in found["nodes"])
    assert all("jacobian" not in edge for edge in found["edges"])


def test_eval_leaves_the_reverse_sweep_out() -> None:
    found = document("eval", "(a+b)*c", "a=2", "b=-3", "c=10")
    fields = [
        "schema",
        "command",
        "expression",
        "inputs",
        "output",
        "value",
        "digits",
        "nodes",
        "diagnostics",
    ]
    assert list(found) == fields
    assert all("grad" not in node for node in found["nodes"])


def test_numbers_that_are_not_finite_are_strings() -> None:
    found = document("grad", "a = 1/x; a*0 + y", "x=0", "y=-inf")
    assert found["inputs"] == {"x": 0.0, "y": "-inf"}
    assert found["value"] == "nan"
    assert {node["data"] for node in found["nodes"]} >= {"inf", "nan", "-inf"}
    assert found["gradient"]["x"] == "nan"
    assert found["edges"][-1]["local"] == "-inf"


def test_numbers_read_back_as_the_same_doubles() -> None:
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2.5e-310, 123456789.123456789]
    for value in values:
        found = document("eval", "x", f"x={value!r}")
        assert math.copysign(1, found["value"]) == math.copysign(1, value)
        assert found["value"] == value == found["inputs"]["x"]


def test_an_unused_statement_has_grad_0_and_is_not_visited() -> None:
    found = document("grad", "t = 2*x; u = y; x*x", "x=3", "y=1")
    by_name = {node["name"]: node for node in found["nodes"]}
    assert by_name["t"]["grad"] == 0.0
    assert found["gradient"] == {"x": 6.0, "y": 0.0}
    assert by_name["t"]["id"] not in found["order"] and by_name["y"]["id"] not in found["order"]


def test_a_constant_s_grad_is_null() -> None:
    found = document("grad", "2*pi*x", "x=3")
    assert {n["text"]: n["grad"] for n in found["nodes"] if n["op"] == "const"} == {
        "2": None,
        "pi": None,
    }
    assert all(found["nodes"][edge["operand"]]["op"] != "const" for edge in found["edges"])


def test_wrt_leaves_the_others_null_and_their_edges_out() -> None:
    found = document("grad", "a*b + c", "a=2", "b=3", "c=4", "--wrt", "b")
    assert found["gradient"] == {"b": 2.0}
    grads = {node["name"]: node["grad"] for node in found["nodes"] if node["op"] == "input"}
    assert grads == {"a": None, "b": 2.0, "c": None}
    assert [(edge["rule"], edge["operand"]) for edge in found["edges"]] == [("1", 2), ("a", 1)]
    assert found["order"] == [4, 3, 2, 1, 0]


def test_names_of_the_output() -> None:
    assert document("grad", "y = a*a", "a=3")["output"] == {"node": 1, "name": "y"}
    assert document("grad", "y = a*a; y", "a=3")["output"] == {"node": 1, "name": "y"}
    assert document("grad", "y = a*a; y + 1", "a=3")["output"] == {"node": 3, "name": None}


def test_texts_and_rules_are_cut_to_60_characters() -> None:
    long = "+".join(f"input_number_{i}" for i in range(8))
    found = document("grad", f"({long})*({long})", *(f"input_number_{i}=1" for i in range(8)))
    top = found["nodes"][-1]
    assert len(top["text"]) == 60 and top["text"].endswith("…")
    assert all(
        len(edge["rule"]) == 60 and edge["rule"].endswith("…") for edge in found["edges"][:2]
    )
    start, end = top["span"]
    assert found["expression"][start:end] == f"({long})*({long})"
    assert document("eval", "a" * 60, "a" * 60 + "=1")["nodes"][0]["text"] == "a" * 60


def test_spans_count_code_points() -> None:
    formula = "𝑥 = 2 # 😀\nk = é*長い + 𝑥"
    found = document("grad", formula, "é=1", "長い=2")
    spans = {formula[slice(*node["span"])]: node["op"] for node in found["nodes"]}
    assert spans == {
        "2": "const",
        "é": "input",
        "長い": "input",
        "é*長い": "mul",
        "é*長い + 𝑥": "add",
    }


def test_an_operand_s_occurrence() -> None:
    """An input's span is its first occurrence; each edge has its own."""
    found = document("grad", "x + (x)*x", "x=3")
    assert found["nodes"][0]["span"] == [0, 1]
    assert [edge["span"] for edge in found["edges"]] == [[0, 1], [4, 9], [5, 6], [8, 9]]


def test_errors_say_where() -> None:
    found = document("eval", "a = 1\r\nb = 2 $ 3")
    error = found["error"]
    assert (error["code"], error["span"], error["line"], error["column"]) == (
        "syntax",
        [13, 14],
        2,
        7,
    )
    error = document("eval", "a", "a=2x")["error"]
    assert (error["span"], error["line"], error["column"]) == (None, None, None)


def test_the_document_is_ascii() -> None:
    """So that it survives any encoding of a pipe."""
    assert command("grad", "--json", "é*長い", "é=1", "長い=2").out.isascii()


def test_ops_lists_every_row() -> None:
    from exprgrad.graph.ops import OPS

    found = document("ops")["operations"]
    assert [row["name"] for row in found] == [op.name for op in OPS]
    assert all(len(row["shown"]) == len(row["operands"]) for row in found)

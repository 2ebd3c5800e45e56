"""Operations taken apart: the same value and gradient in real arithmetic, from what is simpler."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from exprgrad import RequestError, parse
from exprgrad.derive.lower.expand import expand_text, rows_to_expand
from exprgrad.derive.rules import shown
from exprgrad.derive.sweeps.gradient import gradient
from exprgrad.graph.graph import Graph, same_graph
from exprgrad.graph.ops import BY_NAME, OPS, Op
from invariants import check
from oracles import Real, agree, evaluate, graph_of, holds, is_special, mp, mpf
from shell import command
from strategies import points, programs
from together import together

DEFINED = [op for op in OPS if op.definition]
EVERY = [op.name for op in DEFINED]


def slopes(graph: Graph, at: dict[str, Real]) -> list[Real]:
    """The value and every derivative, by the rules that people read, at mpmath's working precision."""
    program = gradient(graph, list(graph.inputs), shown)
    found = evaluate(program.graph, at)
    return [found[output] for output in program.outputs]


@together(DEFINED)
def test_value_and_gradient_stay(op: Op) -> None:
    """Of every row with a definition, alone and all the way down; its own rules are the other side."""
    tried = 0
    for args in points(Random(f"{op.name} expanded"), 3 if op.variadic else len(op.names), 24):
        if any(abs(x) > 300 for x in args) or not holds(op.domain, op.names, args):
            continue
        if is_special(op, args):
            continue
        graph = graph_of(op, len(args))
        with mp.workprec(3000):
            at = {name: mpf(x) for name, x in zip(graph.inputs, args, strict=True)}
            true = slopes(graph, at)
            if not all(map(mp.isfinite, true)):
                continue
            for kinds in ([op.name], EVERY):
                found = slopes(parse(expand_text(graph, kinds)).graph, at)
                for one, other in zip(found, true, strict=True):
                    near = agree(one, other, 60) or abs(one - other) < mp.ldexp(1, -1500)
                    assert near, (op.name, args, kinds)
        tried += 1
        if tried == 6:
            break
    assert tried >= 4


def test_definitions_do_not_go_in_circles() -> None:
    """Taken apart as far as it goes, every row ends in rows without a definition."""
    for op in DEFINED:
        kinds = set(parse(expand_text(graph_of(op, len(op.fallback_names)), EVERY)).graph.kinds)
        assert not kinds & set(EVERY)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_any_program(text: str) -> None:
    formula = parse(text)
    whole = formula.expand("all")
    check(whole.graph)
    assert not set(whole.graph.kinds) & set(EVERY)
    assert set(whole.inputs) == set(formula.inputs)
    kept = [binding.name for binding in formula.graph.bindings]
    assert [b.name for b in whole.graph.bindings if b.name in kept] == kept
    assert whole.graph.output_name == formula.graph.output_name
    left = formula.expand([name for name in EVERY if name not in formula.graph.kinds])
    assert same_graph(left.graph, formula.graph)


def test_texts() -> None:
    """As one would write it: what is used twice is a statement, names stay, spans are in the new text."""
    neuron = parse("n = x*w + b; o = tanh(n)").expand(["tanh"])
    assert neuron.text == "n = x*w + b; t1 = exp(2*n); o = (t1 - 1)/(t1 + 1)"
    assert str(parse("tan(a*b) + t1").expand("tan")) == "t2 = a*b; sin(t2)/cos(t2) + t1"
    assert str(parse("sigmoid(relu(x))").expand(["relu"])) == "sigmoid(max(x, 0))"
    assert (
        str(parse("logsumexp(a, b, c)").expand("all")) == "log(exp(log(exp(a) + exp(b))) + exp(c))"
    )
    assert str(parse("x % y").expand("%")) == "x - y*floor(x/y)"
    assert str(parse("u = tan(x); v = u; u + v").expand("tan")) == "u = sin(x)/cos(x); v = u; u + u"
    assert str(parse("hypot(x, y)").expand("hypot")) == "sqrt(x^2 + y^2)"
    assert str(parse("hypot(x, y)").expand(["hypot", "sqrt"])) == "(x^2 + y^2)^(1/2)"
    node = neuron.gradient(x=2, w=0.5, b=1).nodes[-1]
    assert neuron.text[slice(*node.span)] == "(t1 - 1)/(t1 + 1)"


def test_a_constant_s_name_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = Op("turn", "x", ("2*pi",), "turns in radians", definition="x*pi")
    graph = parse("pi = 3; a = 2*pi; tan(x) + a").graph
    graph.kinds[graph.kinds.index("tan")] = "turn"
    monkeypatch.setitem(BY_NAME, "turn", turn)
    assert expand_text(graph, ["turn"]) == "pi = 3; a = 2*pi; x*3.141592653589793 + a"


def test_definitions_need_no_infinity() -> None:
    """A formula may give the names ``inf`` and ``nan`` to nodes: definitions do without."""
    for op in DEFINED:
        assert not {"inf", "nan"} & {*graph_of(op, len(op.fallback_names)).symbols.values()}
        assert "inf" not in op.definition and "nan" not in op.definition


def test_tensors_and_derivatives() -> None:
    layer = parse("sum(tanh(X @ w))", shapes={"X": (2, 2), "w": (2,)}).expand(["tanh"])
    assert str(layer) == "t1 = exp(2*(X @ w)); sum((t1 - 1)/(t1 + 1))"
    found = layer.gradient(X=[[1, 2], [3, -4]], w=[0, 0])  # where every step is exact
    assert found.value == 0 and found.gradient["w"].tolist() == [4, -2]
    assert layer.shapes == {"X": (2, 2), "w": (2,)}
    slope = parse("x*y").derivative("x").expand("all")
    assert slope.evaluate(x=1, y=2).value == 2


def test_depth_and_size_are_no_limits() -> None:
    formula = parse("tanh(" * 1200 + "x" + ")" * 1200).expand("tanh")
    assert len(formula.text) < 100_000 and len(formula.graph) == 1 + 1200 * 8
    found = formula.gradient(x=0)  # where every step is exact
    assert (found.value, found.gradient) == (0, {"x": 1})


@pytest.mark.parametrize(
    ("name", "code", "help"),
    [
        ("tahn", "unknown-operation", "did you mean 'tanh'?"),
        ("exp", "no-definition", "of this formula's operations these can be taken apart: tanh"),
        ("+", "no-definition", "of this formula's operations these can be taken apart: tanh"),
        ("softmax", "no-definition", "of this formula's operations these can be taken apart: tanh"),
        ("", "unknown-operation", "[op.name for op in exprgrad.OPS] lists the operations"),
    ],
)
def test_refusals(name: str, code: str, help: str) -> None:
    with pytest.raises(RequestError) as caught:
        rows_to_expand([name], parse("tanh(x) + exp(x)").graph)
    assert (caught.value.code, caught.value.help) == (code, help)


def test_the_option() -> None:
    status, out, err = command("grad", "tanh(x)", "x=0.5", "--expand", "tanh", "--csv")
    assert (status, err) == (0, "") and "t1 = exp" not in out and ",t1,exp," in out
    status, out, err = command("eval", "tanh(x) + 1", "x=0.5", "--expand", "sigmoid", "-q")
    assert (status, err) == (
        0,
        "note: the formula has nothing to take apart for --expand sigmoid\n",
    )
    status, out, err = command("dot", "sigmoid(x)", "--expand", "all")
    assert status == 0 and "sigmoid" not in out
    status, out, err = command("eval", "tanh(x)", "--expand", "tanh")
    assert status == 2 and "1 │ tanh(x)\n" in err
    status, out, err = command("grad", "tanh(x)", "x=1", "--expand", "tahn")
    assert status == 2 and "did you mean 'tanh'?" in err and "│ ^^^^" in err

"""Layers and neurons by their names, and what is seen of them from afar."""

from __future__ import annotations

import re

from exprgrad import parse
from exprgrad.show.page.picture import FEWEST_FOLDED, network_layers, page_picture
from networks import network


def test_neurons_are_in_layers() -> None:
    text, values = network(2, 4, 3, 1)
    run = parse(text).gradient(values)
    found = network_layers(run)
    assert len(run.shown) >= FEWEST_FOLDED
    assert {*found.values()} == {
        *[("a1", f"a1_{at}") for at in range(1, 5)],
        *[("a2", f"a2_{at}") for at in range(1, 4)],
        ("out",),
    }
    inputs = run.graph.inputs
    assert found[inputs["w1_2_1"]] == ("a1", "a1_2"), "what nothing else uses is the neuron's own"
    assert inputs["x1"] not in found, "several neurons use it"


def test_a_chain_is_no_layer() -> None:
    """Each of these reads the one before; the neurons beside them are a layer still."""
    chain = "; ".join(f"u{at} = tanh(u{at - 1}*w + x*{at})" for at in range(1, 16))
    beside = "; ".join(f"h{at} = tanh(v{at}*x + {at})" for at in range(1, 5))
    text = f"u0 = x; {chain}; {beside}; y = u15 + h1*h2*h3*h4"
    run = parse(text).gradient({"w": 0.5, "x": 1} | {f"v{at}": 0.1 * at for at in range(1, 5)})
    found = {*network_layers(run).values()}
    assert ("u7",) in found and not any(len(path) > 1 and path[0] == "u" for path in found)
    assert {("h", f"h{at}") for at in range(1, 5)} <= found


def test_small_graphs_are_not_folded() -> None:
    text, values = network(2, 2, 1)
    assert network_layers(parse(text).gradient(values)) == {}


def test_a_neuron_s_card_has_the_numbers_of_its_node() -> None:
    text, values = network(2, 4, 3, 1)
    run = parse(text).gradient(values)
    svg = page_picture(run, 6)
    named = dict(re.findall(r'class="cover neuron" data-result="(\d+)">.*?<text>(\w+)</text>', svg))
    places = {run.shown.index(binding.node): binding.name for binding in run.graph.bindings}
    assert {int(place): name for place, name in named.items()} == places
    layers_seen = re.findall(r'class="cover layer">.*?<text>(\w+)</text><text>(.*?)<', svg)
    assert sorted(layers_seen) == [("a1", "4 neurons"), ("a2", "3 neurons")]

"""Random graphs whose arithmetic is exact, and every path of a run, walked one by one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from exprgrad import Edge, Run, parse
from exprgrad.graph.graph import CONST


def exact_run(random: Random) -> Run:
    """A run of a few sums and products of small whole numbers; every product of locals is a double."""
    while True:
        names = ["a", "b", "c"][: random.randint(1, 3)]
        inputs = names.copy()
        statements = []
        for number in range(random.randint(1, 7)):
            left, right = (random.choice([*names, *names[-2:]]) for _ in range(2))
            if random.random() < 0.15:
                right = random.choice("123")
            if random.random() < 0.2:
                left = f"({left} {random.choice('+*')} {random.choice(names)})"
            statements.append(f"t{number} = {left} {random.choice('++-**')} {right}")
            names.append(f"t{number}")
        expression = parse("\n".join([*statements, names[-1]]))
        values = {name: random.choice((-3, -2, -1, 1, 2, 3, 0)) for name in inputs}
        run = expression.gradient({name: values[name] for name in expression.inputs})
        product = 1.0
        for edge in run.edges:
            product *= max(abs(edge.local), 1.0)
        if product < 2.0**46 and run.wrt and len(run.edges) <= 24:
            return run


def walks(run: Run, node: int) -> list[tuple[Edge, ...]]:
    """Every path from the output to a node, as its edges; an edge that passes nothing is on none."""
    above: dict[int, list[Edge]] = {}
    for edge in run.edges:
        if edge.local != 0 or edge.rule != "0":
            above.setdefault(edge.operand, []).append(edge)

    def up(node: int) -> Iterator[tuple[Edge, ...]]:
        if node == run.graph.output:
            yield ()
        for edge in above.get(node, ()):
            for path in up(edge.user):
                yield (*path, edge)

    return list(up(node))


def product_of(path: tuple[Edge, ...]) -> float:
    """The product of the local derivatives on a path."""
    product = 1.0
    for edge in path:
        product *= edge.local
    return product


def nodes_of(run: Run, path: tuple[Edge, ...]) -> tuple[int, ...]:
    """The nodes of a path, from the output on."""
    return (run.graph.output, *(edge.operand for edge in path))


def random_order(random: Random, run: Run) -> list[int]:
    """Nodes in any order; often nearly the right one, sometimes with nodes left out."""
    order = [node for node in run.order if run.graph.kinds[node] != CONST]
    if random.random() < 0.3:
        random.shuffle(order)
    for _ in range(random.randint(0, 3)):
        at, to = random.randrange(len(order)), random.randrange(len(order))
        order.insert(to, order.pop(at))
    return [node for node in order if random.random() > 0.06]

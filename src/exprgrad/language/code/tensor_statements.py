"""The statements of a program of tensors: structural operations, and tensors that are written out.

Broadcasting is explicit in graphs and implicit in array libraries: an operand is written as it was before
it was stretched wherever the result has its shape without that.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from exprgrad.graph.graph import Program
from exprgrad.graph.literal import Literal
from exprgrad.graph.ops import BY_NAME
from exprgrad.graph.shapes import broadcast_shape
from exprgrad.language.code.identifiers import Names
from exprgrad.language.code.libraries import Library
from exprgrad.language.code.spellings import LIKE, operation, variant
from exprgrad.language.code.statements import LONGEST, Need, Statements, Text, call, number
from exprgrad.language.code.target import ATOM, Form, Row, Target

__all__ = ["TensorStatements"]

WIDTH = 92
"""Where a tensor that is written out is broken, in characters."""
VIEWS = {"broadcast", "diag", "index", "reshape", "transpose"}
"""Operations that may look at the numbers where they are."""
COUNTED = 3
"""The length from which 0, 1, 2… is written as a range."""


class TensorStatements(Statements):
    """The body of one function of tensors."""

    def __init__(
        self,
        program: Program,
        target: Target,
        names: Names,
        inputs: dict[str, str],
        prefix: str,
        called: Mapping[Row, str],
        library: Library,
    ) -> None:
        self.library = library
        super().__init__(program, target, names, inputs, prefix, called)

    def is_structural(self, node: int) -> bool:
        """Whether a node is a structural operation."""
        return bool(self.graph.operands[node]) and self.graph.kinds[node] not in BY_NAME

    def deserves_name(self, node: int) -> bool:
        """Whether a node is more than a name or a number."""
        return super().deserves_name(node) or isinstance(self.graph.payloads[node], Literal)

    def is_number(self, node: int) -> bool:
        """Whether a node is a number that is written out."""
        return super().is_number(node) and not isinstance(self.graph.payloads[node], Literal)

    def form(self, node: int) -> tuple[str, tuple[Need, ...]]:
        """How a node is written, with operands that are not stretched needlessly."""
        if self.is_structural(node):
            needs = tuple([Need(operand, False) for operand in self.graph.operands[node]])
            return self.graph.kinds[node], needs
        form, needs = super().form(node)
        return form, self.unstretched(node, needs) if needs else needs

    def unstretched(self, node: int, needs: Sequence[Need]) -> tuple[Need, ...]:
        """An elementwise node's operands, before they were stretched where they stretch by themselves."""
        graph, shapes = self.graph, self.graph.shapes
        assert shapes is not None
        before = tuple(
            [
                Need(graph.operands[operand][0], condition)
                if graph.kinds[operand] == "broadcast"
                else Need(operand, condition)
                for operand, condition in needs
            ]
        )
        shape = broadcast_shape([shapes[operand] for operand, _ in before])
        return before if shape == shapes[node] else tuple(needs)

    def leaf(self, node: int) -> Text:
        """An input or a constant, be it a tensor."""
        payload = self.graph.payloads[node]
        if not isinstance(payload, Literal):
            return super().leaf(node)
        count = len(payload.numbers)
        if count >= COUNTED and payload == ((count,), tuple(range(count))):
            return Text(self.alike(self.library.count).format(count), ATOM, False)
        rows = [number(value, self.target) for value in payload.numbers]
        for length in reversed(payload.shape):
            rows = [f"[{', '.join(rows[at : at + length])}]" for at in range(0, len(rows), length)]
        return Text(self.alike(self.library.literal).format(rows[0]), ATOM, False)

    def alike(self, text: str) -> str:
        """The text of a new tensor: on the device of the inputs, where the library has devices."""
        if LIKE not in text:
            return text
        shapes = self.graph.shapes or []
        tensors = [name for name in self.inputs if shapes[self.graph.inputs[name]]]
        first = next(iter(tensors or self.inputs), None)
        model = f"{self.array_function()}(0.0)" if first is None else self.inputs[first]
        return text.replace(LIKE, model)

    def array(self, literal: Text) -> Text:
        """A literal as an array of one double."""
        return Text(self.alike(self.library.number).format(literal.text), ATOM, False)

    def spelling(self, node: int, form: str, count: int) -> tuple[Form, bool]:
        """The form of an operation, and whether it takes no plain numbers."""
        if not self.is_structural(node):
            return super().spelling(node, form, count)
        given = operation(self.graph, node)
        found = self.library.spellings.get(form)
        if found is not None:
            fills = form == "broadcast" and given.literal
            text, level, operands = found(given)
            return Form(self.alike(text), level, operands), self.target.strict and not fills
        return call(self.helper(variant(self.graph, node)), count), True

    def answers(self) -> Iterator[str]:
        """The outputs, no two of which share memory, nor with an input: people change arrays in place."""
        taken = set(self.graph.inputs.values())
        for output, text in zip(self.outputs, super().answers(), strict=True):
            own = self.owner(output)
            shared = own in taken and (self.graph.shapes or [])[output]
            taken.add(own)
            yield self.library.copy.format(text) if shared else text

    def owner(self, node: int) -> int:
        """The node whose array another may only look at in another way."""
        while self.graph.kinds[node] in VIEWS:
            (node,) = self.graph.operands[node]
        return node

    def name(self, node: int, name: str | None = None) -> None:
        """Give a node a name, and its statement, on several lines where a tensor is written out."""
        super().name(node, name)
        if isinstance(self.graph.payloads[node], Literal) and len(self.lines[-1]) > LONGEST:
            line = self.lines.pop()
            self.lines += textwrap.wrap(
                line,
                WIDTH - len(self.target.layout.indent),
                subsequent_indent=self.target.layout.indent,
                break_long_words=False,
                break_on_hyphens=False,
            )

"""Reading formulas of 10² to 10⁶ tokens, against Lark's own loop over the same tables."""

from __future__ import annotations

from typing import Any

import exprgrad
from benchmarks.formulas import tree
from benchmarks.measure import interleaved, peer, table, times
from exprgrad.language.grammar import grammar_text, lark_parser, load

__all__ = ["report"]


def report(*, quick: bool) -> str:
    """The table: how many times exprgrad's time Lark takes, and exprgrad's time per token."""
    grammar = grammar_text()
    to_tree = lark_parser(grammar)
    to_nothing = with_callbacks(grammar)
    rows = []
    first = 0.0
    for size in (100, 1000, 10_000) if quick else (100, 1000, 10_000, 100_000, 1_000_000):
        text = tree(round(size / 2.3))
        tokens = sum(1 for _ in to_tree.lex(text))
        calls = {
            "exprgrad": lambda text=text: exprgrad.parse(text),
            "tree": lambda text=text: to_tree.parse(text),
            "nothing": lambda text=text: to_nothing.parse(text),
        }
        found = interleaved(calls, max(2, min(50, 100_000 // size)))
        each = found["exprgrad"] / tokens
        first = first or each
        ratios = [found[name] / found["exprgrad"] for name in ("tree", "nothing")]
        rows.append([f"{tokens:,} tokens", *map(times, ratios), times(each / first)])
    head = ["text", "Lark, a tree", "Lark, callbacks that do nothing", "time per token"]
    return table(head, rows)


def with_callbacks(grammar: str) -> Any:
    """Lark's parser with a callback inlined for each action, which builds nothing."""
    lark = peer("lark")
    callbacks = lark.Transformer()
    for _, _, action in load().rules:
        if action is not None:
            setattr(callbacks, action, lambda children: None)
    return lark.Lark(grammar, parser="lalr", lexer="basic", start="start", transformer=callbacks)

"""Reading formulas of 10² to 10⁵ tokens, against Lark's own loop over the same tables."""

from __future__ import annotations

from typing import Any

import exprgrad
from benchmarks.formulas import tree
from benchmarks.measure import Report, medians, peer, ratio, table, times, turns
from exprgrad.language.read.lalr import grammar_text, load_tables

__all__ = ["report"]


def report(*, quick: bool) -> Report:
    """The table: tokens a second, Lark's time in exprgrad's, and how time per token grows."""
    grammar = grammar_text()
    to_tree = peer("lark").Lark(grammar, parser="lalr", lexer="basic", start="start")
    to_nothing = with_callbacks(grammar)
    rows = []
    first = 0.0
    figures = {}
    for size in (100, 1000, 10_000) if quick else (100, 1000, 10_000, 100_000):
        text = tree(round(size / 2.3))
        tokens = sum(1 for _ in to_tree.lex(text))
        calls = {
            "exprgrad": lambda text=text: exprgrad.parse(text),
            "tree": lambda text=text: to_tree.parse(text),
            "nothing": lambda text=text: to_nothing.parse(text),
        }
        taken = turns(calls, max(5, min(50, 50_000 // size)), seldom=("tree",))
        each = medians(taken)["exprgrad"] / tokens
        first = first or each
        ratios = {name: ratio(taken, name, "exprgrad") for name in ("tree", "nothing")}
        said = [times(found.median) for found in ratios.values()]
        rows.append([f"{tokens:,} tokens", f"{1e-3 / each:.0f},000", *said, times(each / first)])
        figures = {"parse": ratios["nothing"]}
    head = [
        "text",
        "tokens a second",
        "Lark, a tree",
        "Lark, callbacks that do nothing",
        "time per token",
    ]
    return Report(table(head, rows), figures)


def with_callbacks(grammar: str) -> Any:
    """Lark's parser with a callback inlined for each action, which builds nothing."""
    lark = peer("lark")
    callbacks = lark.Transformer()
    for _, _, action in load_tables().rules:
        if action is not None:
            setattr(callbacks, action, lambda children: None)
    return lark.Lark(grammar, parser="lalr", lexer="basic", start="start", transformer=callbacks)

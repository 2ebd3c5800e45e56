"""Texts that relate two sides: equations, ``L = R``, and models, ``y ~ EXPR``.

The grammar has no such statement.  The sign between two sides is read as a comparison, which binds less
tightly than all other operators and does not chain: the scanner gets a text with ``<`` for each such sign,
and errors show the text as typed.  The graph holds the difference, the left side less the right.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

from exprgrad.errors import LanguageError
from exprgrad.graph.graph import Graph
from exprgrad.language.read import lalr
from exprgrad.language.read.names import plain_name
from exprgrad.language.read.parse import builder_of
from exprgrad.source import Source, Span

__all__ = ["Relation", "Relations", "read_relations"]

IN_PLACE = "<"
"""The operator that the scanner reads in place of the sign: as long, and of the same precedence."""
SEPARATORS = ("NEWLINE", "SEMICOLON")


class Relation(NamedTuple):
    """A statement without a name of its own: ``L = R``, ``L ~ R``, or an expression alone.

    ``node``   the left side less the right one, or the expression
    ``left``   the left side's node, or the expression's
    ``right``  the right side's node; None for an expression alone
    ``span``   where the statement is written
    """

    node: int
    left: int
    right: int | None
    span: Span


class Relations(NamedTuple):
    """A text's graph, whose output is the last statement, and its relations in order."""

    graph: Graph
    relations: tuple[Relation, ...]


def read_relations(text: str, sign: str = "=", unknowns: Collection[str] = ()) -> Relations:
    """Read a text whose statements relate two sides by a sign, ``=`` or ``~``.

    With ``=`` a statement whose left side is one name binds that name, unless it is one of the
    ``unknowns``; so does ``f(x) = …`` define a function, unless there is one, and ``x[0] = …`` begin a
    recurrence.  Raises ``LanguageError``, with carets in the text as typed.
    """
    read = partial(read_related, sign=sign, unknowns=frozenset(unknowns))
    try:
        return read(text)
    except (lalr.Unexpected, LanguageError) as wrong:
        from exprgrad.language.mistakes.complaints import explain_mistake

        raise explain_mistake(text, wrong, read).at(Source(text)) from None


def read_related(text: str, sign: str, unknowns: frozenset[str]) -> Relations:
    """Read such a text; raise the first mistake in it.

    A formula pasted over two lines must not be read as two statements.
    """
    places = list(relating_signs(text, sign, unknowns))
    scanned = list(text)
    for start, _ in places:
        scanned[start] = IN_PLACE
    try:
        builder = builder_of(text, "".join(scanned))
    except lalr.Unexpected as wrong:  # with the sign as it was typed
        kind = "EQUALS" if sign == "=" else lalr.UNKNOWN
        last = (kind, *wrong.last[1:]) if wrong.last[1:] in places else wrong.last
        kind = kind if wrong.span in places else wrong.kind
        raise lalr.Unexpected(kind, wrong.span, wrong.expected, last) from None
    relations: list[Relation] = []
    for node, start, end, *_ in builder.results:
        before = relations[-1].span[1] if relations else start
        if text[start] in "+-−" and any(newline in text[before:start] for newline in "\r\n"):
            raise LanguageError(
                "unused-statement",
                f"this line begins with '{text[start]}', and the one above it is a statement of its own",
                span=(start, start + 1),
                help="put a formula that spans lines in parentheses",
            )
        left, right = node, None
        if bisect(places, (start, 0)) < bisect(places, (end, 0)):
            left, right = builder.graph.operands[node]
        relations.append(Relation(node, left, right, (start, end)))
    return Relations(builder.graph, tuple(relations))


# Where the signs are.


class Token(NamedTuple):
    """A token outside of brackets, or a bracket that opens: its terminal, its place, its text."""

    kind: str
    span: Span
    word: str


def relating_signs(text: str, sign: str, unknowns: frozenset[str]) -> Iterator[Span]:
    """The places of the signs that relate two sides."""
    defined: set[str] = set()
    for statement in statement_tokens(text):
        here = [at for at, token in enumerate(statement) if token.word == sign]
        if not here:
            continue
        at = here[0]
        left, right = statement[:at], statement[at + 1 :]
        if sign == "=" and is_binding(left, unknowns, defined, text[statement[-1].span[1] :]):
            if len(left) > 1:
                defined.add(left[0].word)
            continue
        refuse_no_side(statement[at], sign, left, right)
        refuse_second_sign(statement, at)
        yield statement[at].span


def statement_tokens(text: str) -> Iterator[list[Token]]:
    """The tokens of each statement, without those in brackets."""
    depth, tokens = 0, list[Token]()
    for match in lalr.language_parser().scan(text.isascii()).finditer(text):
        kind = match.lastgroup or lalr.UNKNOWN
        if kind == "END" or (kind in SEPARATORS and depth <= 0):
            yield tokens
            tokens = []
            continue
        turn = lalr.BRACKETS.get(kind, 0)
        if depth <= 0 or (turn < 0 and depth == 1):
            tokens.append(Token(kind, match.span(kind), match[kind]))
        depth += turn


def is_binding(
    left: list[Token], unknowns: frozenset[str], defined: Collection[str], rest: str
) -> bool:
    """Tell whether ``=`` gives its left side a meaning: a name, ``f(x)`` or ``x[0]``.

    ``sech(x) = 1/2`` is an equation, unless the ``rest`` of the text mentions ``sech``.
    """
    kinds = [token.kind for token in left]
    if not kinds or kinds[0] != "NAME" or plain_name(left[0].word) in unknowns:
        return False
    if kinds == ["NAME", "LPAR", "RPAR"]:
        from exprgrad.language.mistakes.hints import FUNCTION_WORDS, is_reserved
        from exprgrad.language.read.expansion import BUILT_IN

        word = left[0].word
        is_row = is_reserved(word) or (word in FUNCTION_WORDS and word not in rest)
        return not (is_row or word in BUILT_IN or word in defined)
    return kinds in (["NAME"], ["NAME", "LSQB", "RSQB"])


def refuse_second_sign(statement: list[Token], at: int) -> None:
    """Refuse a second sign in a statement that relates two sides."""
    sign = statement[at]
    for token in statement[:at] + statement[at + 1 :]:
        if token.kind == "COMPARISON" or token.word in ("=", sign.word):
            help = "put the comparison in parentheses"
            if token.kind != "COMPARISON":
                help = "separate statements by ';'"
            raise LanguageError(
                "syntax",
                f"'{sign.word}' relates two sides, and '{token.word}' is one sign too many",
                span=token.span,
                help=help,
            )


def refuse_no_side(at: Token, sign: str, left: list[Token], right: list[Token]) -> None:
    """Refuse a sign with an empty side."""
    if not left or not right:
        where = "before" if not left else "after"
        example = "x^2 = 2" if sign == "=" else "y ~ a + b*x"
        raise LanguageError(
            "syntax",
            f"there is nothing {where} '{sign}'",
            span=at.span,
            help=f"write both sides, such as {example}",
        )

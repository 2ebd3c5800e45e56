"""The page's HTML: one file that needs nothing else, and whose policy lets nothing else run.

Whatever a user typed is escaped as text here, or stands in the script's JSON, from where the script
only ever writes it as text.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files

from exprgrad.explain.diagnostics import Run
from exprgrad.show.page.arithmetic import SPECIAL, arithmetic
from exprgrad.show.page.lessons import Lesson
from exprgrad.show.page.model import model
from exprgrad.show.page.picture import picture
from exprgrad.show.picture import theme as look
from exprgrad.show.text.lines import is_rightward
from exprgrad.source import cut, printable

__all__ = ["document", "squeezed_script", "squeezed_style"]

SWEEPS = ("numbers", "engine", "paths", "timeline", "kinks")
VIEWS = (
    "dom",
    "app",
    "graph",
    "marks",
    "steps",
    "inputs",
    "closer",
    "conventions",
    "order",
    "ask",
    "tables",
    "address",
    "start",
)
"""The files of the script, in an order in which each knows those before it; the views share a block."""
AT_KINKS = {"kinks", "conventions"}
"""Those for formulas that can meet a kink or a jump, or a number that is not finite, and lessons do not."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; "
    "base-uri 'none'; form-action 'none'"
)
LONG = 600
"""A formula of more characters is folded away."""
HEAD = 60
"""The most characters of a formula in the window's title, and of a long one in the page's."""

QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`|/\^?[\\\[(][^\n]*?/[a-z]*(?=[,.)])'
"""A text, a template or a pattern in a script."""
IDLE = re.compile(
    rf"({QUOTED})|[,;](?=\s*[}}\]])| ?([=*<>?:,;{{}}()\[\]&|]) ?|(?<=\w) ([+/-]) (?=[\w(\"`])"
)
"""What may lack the blanks around it, or go because a bracket closes behind it; quoted parts stay."""

SLOT = re.compile(r"\{\{(\w+)\}\}")
SURROGATE = re.compile(r"[\ud800-\udfff]")


def document(run: Run, *, digits: int = 6, lesson: Lesson | None = None) -> str:
    """The page of a run of numbers with its reverse sweep.

    Raises ``MissingExtraError`` without Graphviz.
    """
    script = script_of(run, digits)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    parts = {
        "policy": POLICY.format(digest),
        "title": escape(lesson.title if lesson else cut(printable(run.text), HEAD)),
        "style": style(),
        "head": head(run.text, lesson),
        "tasks": tasks(lesson) if lesson else "",
        "picture": picture(run, digits),
        "script": script,
    }
    html = "\n".join(line.strip() for line in asset("page.html").splitlines())
    page = SLOT.sub(lambda slot: parts[slot[1]], html)
    return SURROGATE.sub("\ufffd", page)


def asset(name: str) -> str:
    """One of the files that the page is made of."""
    return files("exprgrad.show.page").joinpath("assets", name).read_text(encoding="utf-8")


# The script.


def script_of(run: Run, digits: int) -> str:
    """All of the script: the operations, the page's data, the sweeps, the views."""
    told, operations = model(run, digits=digits), arithmetic(run)
    left_out = set() if "corrected" in told or SPECIAL in operations else AT_KINKS
    data = json.dumps(
        told,
        allow_nan=False,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    for character in "<\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    sweeps, views = (
        "\n".join(asset(f"{name}.js") for name in names if name not in left_out)
        for names in (SWEEPS, VIEWS)
    )
    code = squeezed_script("\n".join([operations, sweeps, "{", views, "}"]))
    return SURROGATE.sub("\ufffd", f'"use strict";\nconst PAGE={data};\n{code}')


def squeezed_script(script: str) -> str:
    """A script of ours without comments, indentation and idle blanks; declarations in a row are one.

    A ``const`` is a ``let`` there: it held while the script was written.  It is for the assets, in which
    comments and declarations stand on lines of their own, each statement ends in a ``;`` or a ``}``, and no
    template stands in another; not for any script there is.
    """
    lines = [line.strip() for line in script.split("\n")]
    text = "\n".join(line for line in lines if line and not line.startswith("//"))
    text = re.sub(r"\bconst (?=[\w$\[{])", "let ", text)
    text = re.sub(r"(?m)^(let [^;\n]*);\n(?=let )", r"\1,\n", text)
    text = IDLE.sub(lambda part: part[1] or part[2] or part[3] or "", text.replace(",\nlet ", ","))
    return re.sub(r"(?<=[{(\[,;?:&|=])\n|\n(?=[})\],;?:&|.])", "", text)


# The style.


def style() -> str:
    """The style sheet, with the picture's colours as properties: light, and dark where preferred."""
    names = {
        "data": look.DATA, "grad": look.GRAD, "ink": look.INK, "muted": look.MUTED, "card": look.CARD,
        "line": look.LINE, "pill": look.PILL, "pill-line": look.PILL_LINE, "constant": look.CONSTANT,
        "chip": look.CHIP, "chip-line": look.CHIP_LINE, "wire": look.WIRE,
    }  # fmt: skip
    colours = {
        "light": properties(names.items()),
        "dark": properties((name, look.DARK[c]) for name, c in names.items() if c in look.DARK),
    }
    return SLOT.sub(lambda slot: colours[slot[1]], squeezed_style(asset("page.css")))


def squeezed_style(style: str) -> str:
    """A style sheet without comments and idle blanks."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = re.sub(r"\s+", " ", style).strip()
    style = re.sub(r" ?([{};,>!]) ?", r"\1", style)
    return re.sub(r"(?<=[\w-]): ", ":", style).replace(";}", "}")


def properties(colours: Iterable[tuple[str, str]]) -> str:
    """Colours by name as CSS properties."""
    return ";".join(f"--{name}:{colour}" for name, colour in colours)


# The head.


def head(text: str, lesson: Lesson | None) -> str:
    """The formula, and a lesson's title and its question; a long formula is folded away."""
    formula = code(text)
    if lesson:
        question = f"<p>{escape(lesson.question)}</p>" if lesson.question else ""
        return f"<h1>{escape(lesson.title)}</h1>\n<div>{formula}</div>\n{question}"
    if len(text) <= LONG:
        return f"<h1>{formula}</h1>"
    whole = f"<details><summary>All {len(text):,} characters</summary>{formula}</details>"
    return f"<h1>{code(cut(text, HEAD))}</h1>\n{whole}"


def code(text: str) -> str:
    """A formula as it was typed, each name of it in its place whatever way its script is written."""
    whole = "\n".join(printable(line) for line in re.split(r"\r\n|\r|\n", text.strip()))
    pieces = re.split(r"(\w+)", whole)
    pieces[0::2] = map(escape, pieces[0::2])
    # A word needs no escape.
    pieces[1::2] = [
        f"<bdi>{word}</bdi>" if any(map(is_rightward, word)) else word for word in pieces[1::2]
    ]
    return f'<code dir="ltr">{"".join(pieces)}</code>'


def tasks(lesson: Lesson) -> str:
    """What a lesson is about, and what to try, to be ticked off."""
    items = "".join(
        f'<li><label><input type="checkbox"> <span>{escape(task)}</span></label></li>\n'
        for task in lesson.tasks
    )
    head = (
        f'<section id="tasks" data-tab="Try this"><h2>Try this</h2>\n<p>{escape(lesson.about)}</p>'
    )
    return f"{head}\n<ol>\n{items}</ol></section>"

"""The page to step through a formula: an object that a notebook shows, and its HTML.

The HTML is one file that needs nothing else, and whose policy lets nothing else run.  Whatever a user typed
is escaped as text here, or stands in the script's JSON, from where the script only ever writes it as text.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import chain, combinations, product
from pathlib import Path
from string import ascii_letters, ascii_uppercase
from typing import Any, NamedTuple
from urllib.parse import quote

from exprgrad.errors import RequestError, command_or_python, require_kind
from exprgrad.explain.diagnostics import DiagnosedRun
from exprgrad.explain.limits import check_significant_digits
from exprgrad.graph.calls import open_calls
from exprgrad.graph.graph import Graph, check_scalars_only
from exprgrad.graph.ops import BY_NAME
from exprgrad.run.evaluation import adjoints_of
from exprgrad.show.page.arithmetic import (
    SPECIAL,
    expand_tensor_nodes,
    page_arithmetic,
    tensor_program,
)
from exprgrad.show.page.lessons import (
    BUILT_IN,
    LIVE,
    TOOLS,
    Formula,
    Lesson,
    LessonPart,
    Task,
    all_tasks,
    find_lesson,
    functions_as_formulas,
    goals_by_task,
    nodes_in_task,
    set_columns,
)
from exprgrad.show.page.model import (
    call_key,
    call_program,
    nonempty_fields,
    pack_page,
    page_model,
    sentence_names,
    tensor_key,
)
from exprgrad.show.page.picture import WORDS, network_layers, page_picture
from exprgrad.show.picture import theme as look
from exprgrad.show.picture.dot import LARGEST
from exprgrad.show.picture.picture import write_file, wrong_ending_error
from exprgrad.show.text.lines import is_right_to_left
from exprgrad.source import cut_text, printable_text

__all__ = [
    "ENDINGS", "SLOT", "Page", "check_page_path", "content_policy", "lesson_link",
    "links_between_sheets", "make_page", "page_document", "page_style", "read_asset", "script_literal",
    "sheets_with_opened_calls", "squeeze_script", "squeeze_style", "text_html",
]  # fmt: skip

ENDINGS = (".html", ".htm")
"""The endings of a page's file name; browsers rely on them."""

SHOWN = 60
"""The most characters of a formula in an error."""

SHOWN_NAMES = 12
"""The most names of nodes in an error."""

FRAME = (
    '<iframe title="exprgrad: step through a formula" sandbox="allow-scripts" '
    'style="border: 0; width: 100%; height: min(56rem, 85vh); min-height: 32rem; resize: vertical" '
    'srcdoc="{}"></iframe>'
)
"""A page inside of another: it runs its own script, gets at nothing around it, and fits a window."""


class Page:
    """A page to step through a formula: ``html`` is the whole of it; a notebook shows it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | Path) -> None:
        """Write the page to an ``.html`` file."""
        check_page_path(path)
        write_file(self.html, path)

    def __str__(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<Page: {len(self.html.encode()):,} bytes of HTML>"

    def _repr_html_(self) -> str:
        return FRAME.format(escape(self.html))


def check_page_path(path: str | Path) -> None:
    """Raise ``RequestError`` unless a file's name ends as that of a page does."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise wrong_ending_error(path, "a web page", "the ending is .html")


def make_page(
    run: DiagnosedRun,
    *,
    digits: int = 6,
    all: bool = False,
    lesson: Lesson | str | None = None,
    descend: bool = False,
    run_of: Callable[[Formula], DiagnosedRun] | None = None,
    course: Sequence[Lesson] = (),
) -> Page:
    """The page of a run of ``gradient``; with a lesson, its texts and tasks; with ``descend``, a panel of
    gradient descent.

    ``run_of`` runs the further formulas of a lesson on several.  In a ``course`` the page leads to those
    of the lessons before and after, and notes what is answered.
    Raises ``RequestError`` for other runs, for an invalid number of digits, for a lesson on something
    else, for a descent over tensors or without inputs, above ``LARGEST`` nodes unless ``all`` is true, and
    for tensors too large to be written out; ``MissingExtraError`` without Graphviz.
    """
    adjoints_of(run, "a page")
    digits = check_significant_digits(digits)
    if isinstance(lesson, str):
        lesson = find_lesson(lesson)
    runs, insides = [run], {}
    if lesson is not None:
        require_kind(lesson, Lesson, "a lesson is a Lesson, or the name of one")
        check_lesson(lesson, run)
        if run_of is not None:
            runs += map(run_of, lesson.formulas[1:])
            if any(part.live == "training" for part in lesson.parts):
                insides = {
                    one.name: run_of(one) for one in functions_as_formulas(lesson.expression)
                }
        check_goals(lesson, runs)
    check_runs(runs, lesson, descend=descend, all=all)
    html = page_document(
        *runs,
        digits=digits,
        lesson=lesson,
        descend=descend,
        insides=insides,
        most=None if all else LARGEST,
        course=course,
    )
    return Page(html)


def refuse_tensor_page(run: DiagnosedRun, what: str, help: str) -> None:
    """Raise ``RequestError`` for a run over tensors, given what it is that takes numbers alone."""
    message = f"{what} is for formulas of numbers: this one has tensors"
    check_scalars_only(run.graph, lambda _: RequestError("no-tensors", message, help=help))


def check_runs(
    runs: Sequence[DiagnosedRun], lesson: Lesson | None, *, descend: bool, all: bool
) -> None:
    """Raise ``RequestError`` for what is too large to read, and where something moves over tensors.

    A descent needs an input to move as well.
    """
    is_live = lesson is not None and any(part.live for part in lesson.parts)
    for one in runs:
        if descend:
            advice = command_or_python("descend", "descend()") + " takes tensors"
            refuse_tensor_page(one, "descent on a page", advice)
            if not one.wrt:
                raise RequestError("usage", "the formula has no inputs to move")
        if is_live:
            refuse_tensor_page(one, "what moves in a lesson", "leave out the part's live")
        if len(one.shown) > LARGEST and not all:
            raise RequestError(
                "too-large",
                f"a page of {len(one.shown):,} nodes is too large to read: the limit is {LARGEST}",
                help=command_or_python("--all", "all=True") + " makes it anyway",
            )


def check_lesson(lesson: Lesson, run: DiagnosedRun) -> None:
    """Raise ``RequestError`` unless a run is the one that a lesson's tasks are about."""
    if run.text != lesson.expression:
        what = "another formula"
        given, own = (
            cut_text(printable_text(text), SHOWN) for text in (run.text, lesson.expression)
        )
    elif (inputs := tensors_as_lists(run.inputs)) != tensors_as_lists(lesson.values):
        what = "other inputs"
        given, own = (
            ", ".join(f"{name}={value}" for name, value in found.items())
            for found in (inputs, lesson.values)
        )
    else:
        return
    raise RequestError(
        "usage",
        f"the lesson '{lesson.name}' is about {what}: {own} instead of {given}",
        help="its run is parse(lesson.expression).gradient(lesson.values)",
    )


def tensors_as_lists(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs, of which tensors are lists."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in inputs.items()
    }


def check_goals(lesson: Lesson, runs: Sequence[DiagnosedRun]) -> None:
    """Raise ``RequestError`` where a task speaks of a node that no formula of the page has."""
    from exprgrad.language.mistakes.hints import did_you_mean

    names = [name for run in runs for name in sentence_names(run).values()]
    spoken = [
        (name, f"'{part.title}'")
        for part in lesson.parts
        for name in [*part.data, *part.points, part.shows]
        if name
    ]
    spoken += [
        (name, f"task {number}")
        for number, task in enumerate(all_tasks(lesson), 1)
        for name in nodes_in_task(task)
    ]
    for name, speaker in spoken:
        if name not in names:
            raise RequestError(
                "usage",
                f"'{name}', of which {speaker} speaks, is not a node of the formula",
                help=did_you_mean(name, names, f"the nodes are {', '.join(names[:SHOWN_NAMES])}"),
            ).about(name)


# The HTML.


SWEEPS = (
    "filled",
    "numbers",
    "products",
    "engine",
    "orders",
    "tensors",
    "adjoints",
    "paths",
    "timeline",
    "blame",
    "kinks",
    "sides",
    "progress",
)
VIEWS = (
    "closed",
    "sheets",
    "dom",
    "choices",
    "app",
    "exact",
    "vague",
    "graph",
    "marks",
    "wrong",
    "steps",
    "motion",
    "map",
    "layers",
    "sight",
    "inputs",
    "closer",
    "drag",
    "wiggle",
    "heat",
    "trouble",
    "conventions",
    "order",
    "ask",
    "mistakes",
    "goals",
    "kept",
    "answers",
    "course",
    "tables",
    "listing",
    "tour",
    "code",
    "address",
    "formulas",
    "live",
    "plots",
    "crossings",
    *(f"live-{name}" for name in LIVE),
    "moving",
    "lesson",
    "start",
    "worksheet",
    "projector",
    "inside",
    "front",
    "calls",
)
"""The files of the script: each may use those before it, and the views share a block."""
AT_KINKS = {"kinks", "sides", "conventions"}
"""The files for formulas that can meet a kink, a jump or the edge of a domain; most lessons cannot."""
OF_NUMBERS = {
    "products",
    "blame",
    "drag",
    "wiggle",
    "wiggle.css",
    "trouble",
    "trouble.css",
    "mistakes",
}
"""The files for formulas without tensors."""
OF_ORDERS = {"orders", "paths", "wrong", "order", "order.css"}
"""The files for orders of visits that may be wrong."""
OF_CODE = {"listing", "code.css"}
"""The files for the formula's code."""
IN_LESSONS = {"goals", "lesson"}
"""The files for lessons; each of ``LIVE`` has its own."""
IN_COURSES = ("progress", "course", "course.css")
"""The files for lessons in a course; outside of one a lesson keeps only its ticks."""
PLOTTED = {"descent", "training"}
"""Those of ``LIVE`` that draw curves and maps; the others draw bars and tables."""
STYLES = (
    "choices.css",
    "code.css",
    "order.css",
    "trouble.css",
    "wiggle.css",
    "calls.css",
    "map.css",
    "layers.css",
    "tensors.css",
    "lesson.css",
    "moving.css",
    "plots.css",
    "descent.css",
    "bars.css",
    "course.css",
    "front.css",
    "tour.css",
)
"""The style sheets beside the page's own."""
CODE = '<section id="code" data-tab="Code"><h2>Code</h2></section>'
"""The panel with the formula's code."""
VISITS = '<section id="visits" data-tab="Order"><h2>Visit order</h2></section>'
"""The panel with the orders of visits."""
CODE_BLOCK = '<pre tabindex="0" role="group" aria-label="Code"><code>{}</code></pre>'
"""A program to read; where it is too wide, the keyboard can scroll it."""
MANY = 30
"""The fewest nodes of a graph with a map."""
LARGE = 200
"""The fewest nodes of a graph that is drawn in parts, as they come in sight."""
MOST_NAMES = 3
"""The most names of calls of which each can be opened by itself."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; "
    "base-uri 'none'; form-action 'none'"
)
DESCENT = (
    '<section id="descent" data-tab="Descent"><h2>Descent</h2>'
    f'<div data-live="descent" data-rate="{LessonPart("").rate:g}"></div></section>'
)
"""The panel of descent on a formula's page."""
LONG = 600
"""A formula of more characters is folded away."""
HEAD = 60
"""The most characters of a formula in the window's title, and of a long one in the page's."""

QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`|/\^?[\\\[(][^\n]*?/[a-z]*(?=[,.)])'
"""A text, a template or a pattern in a script."""
REMOVABLE_TEXT = re.compile(
    rf"({QUOTED})|[,;](?=\s*[}}\]])| ?([!=*<>?:,;{{}}()\[\]&|]) ?|(?<=[\w\"`]) ([+/-]) (?=[\w(\"`])"
    r"|(?<=[)\]] )([+/-]) (?=[\w(\"`])"
)
"""Signs that need no blanks around them, or none before a closing bracket; quoted parts stay."""

SCRIPT_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`"""
    r"|(?<=[(,=:?!&|])/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+/[a-z]*"
    r"|(?P<word>[A-Za-z_$][\w$]*)|\d[\w.]*|=>|\.\.\.|[^\s]"
)
"""A text, a pattern, a word, a number or a sign of a script."""
PROPERTY = re.compile(
    rf"\.\.\.|(?<=[{{,])[A-Za-z_$][\w$]*:|(?P<dot>\??\.)(?P<property>[A-Za-z_$][\w$]*)|{SCRIPT_TOKEN.pattern}"
)
"""A token of a script, or a property with its point."""
GLOBALS = {
    "Array", "Boolean", "Infinity", "Map", "Math", "Number", "Object", "Set", "String", "clearTimeout",
    "document", "false", "isFinite", "location", "null", "setTimeout", "true", "undefined",
}  # fmt: skip
"""Globals of the browser that a script may keep in variables with short names."""
BUILDER = "build"
"""The function in which the views are, where they are built anew."""
BEFORE_BLOCKS = ("", ")", ";", "}", "{", "=>", "else", "try", "do")
"""The texts after which a brace opens a block, not an object."""
BEFORE_CONDITIONS = ("if", "for", "while", "switch")
"""The words whose parentheses hold a condition, not parameters, before a block."""
OWN_PROPERTIES = {
    "about", "above", "active", "again", "asked", "asking", "below", "bends", "best", "blamed", "bound",
    "box", "branch", "carried", "corrected", "count", "counted", "crossing", "digits", "domain",
    "drawn", "edge", "edges", "factors", "field", "flows", "form", "found", "gate", "gated", "given",
    "got", "grads", "grid", "group", "head", "heights", "hides", "high", "ids", "isAway", "isLayer",
    "jacobian", "kind", "knob", "label", "late", "libraries", "lines", "local", "locals", "loose",
    "losses", "lost", "low", "made", "middle", "missing", "mistake", "more", "moved", "node", "nodes",
    "notes", "operand", "operands", "origin", "output", "outputs", "overwrite", "panel", "partials",
    "passage", "passed", "passes", "pattern", "phase", "picked", "place", "placeCode", "position",
    "predicted", "preset", "product", "programs", "progress", "reads", "recallOrder", "replaced",
    "result", "reveal", "room", "row", "rows", "rule", "said", "scrolled", "shape", "sheets", "short",
    "sideVerdict", "signs", "slide", "slopes", "spans", "special", "spots", "start", "steps",
    "tellOrder", "terms", "text", "ticks", "todo", "toured", "tries", "truth", "uncover", "user",
    "vague", "verdict", "visit", "visits", "ways", "wire", "wires", "words", "wrt",
}  # fmt: skip
"""Properties that are ours alone, in the script and in the page's data; no text names one."""
SHORT_KEYWORDS = ("do", "if", "in", "of", "as")

STYLE_NAME = re.compile(r"--(?!part\b|columns\b)([a-z][a-z-]+)")
"""A property of the style: pages write it with one letter, unless a script sets it."""
QUOTED_KEY = re.compile(r'(?<!\\)"([a-z]+)":')
"""A key in JSON that a script need not quote; a text has its quotes behind a backslash."""
NEEDLESS_ZERO = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\d)\.0(?![\de])|(?<![\d.])0(?=\.0?[1-9]|\.00)')
"""A text in JSON, or a zero that a script's number need not have: ``1.0`` is 1, and ``0.5`` is .5."""
REPEATED_TEXT = re.compile(r'"(?:[^"\\]|\\.)*":?')
"""A text in a script's data; that of a key ends with its colon."""
NUMBER_IN_PICTURE = re.compile(r'(<text class="(?:data|grad)"[^>]*>)[^<]*')
"""A number on a card, with the tag before it."""
SLOT = re.compile(r"\{\{(\w+)\}\}")
SURROGATE = re.compile(r"[\ud800-\udfff]")


def page_document(
    *runs: DiagnosedRun,
    digits: int = 6,
    lesson: Lesson | None = None,
    descend: bool = False,
    insides: Mapping[str, DiagnosedRun] | None = None,
    most: int | None = None,
    course: Sequence[Lesson] = (),
) -> str:
    """The page of a run of numbers with its reverse sweep, or of several, the formulas of a lesson.

    With ``descend`` it has a panel of descent.  Calls can be opened and closed on it, as long as it has at
    most so many nodes then; those of functions of which there are ``insides`` open beside the graph.
    Raises ``MissingExtraError`` without Graphviz.
    """
    groups = [[run] if insides else sheets_with_opened_calls(run, most) for run in runs]
    moves = {part.live for part in lesson.parts if part.live} if lesson else set()
    moves |= {"descent"} if descend else set()
    marks = [f"{place}." if len(groups) > 1 else "" for place in range(len(groups))]
    has_code = "code" in page_tools(lesson)
    models = [
        [pack_page(page_model(one, digits=digits, mark=mark, has_code=has_code)) for one in group]
        for mark, group in zip(marks, groups, strict=True)
    ]
    written = [expand_tensor_nodes(run) for run in runs]
    operations = page_arithmetic(*runs, *(one.run for own in written for one in own.values()))
    needed = needed_assets(groups, models, operations, lesson, moves, bool(course))
    links = lesson_links(lesson, course) if lesson and course else ("", "")
    tensors: dict[str, Any] = {}
    for run, mark, own in zip(runs, marks, written, strict=True):
        tensors |= {tensor_key(run, n, mark): tensor_program(run, n, one) for n, one in own.items()}
    script = page_script(groups, models, operations, tensors, lesson, needed)
    parts = {
        "policy": content_policy(script),
        "title": escape(lesson.title if lesson else cut_text(printable_text(runs[0].text), HEAD)),
        "style": page_style("page.css", *(name for name in STYLES if needed[name])),
        "head": links[0] + page_head([run.text for run in runs], lesson),
        "tasks": lesson_html(lesson, links[1]) if lesson else "",
        # A lesson's tasks are about the panels before.
        "code": "" if lesson else CODE,
        "later": CODE if lesson and has_code else "",
        "visits": VISITS if needed["order"] else "",
        "descent": DESCENT if descend else "",
        "picture": page_pictures([*chain.from_iterable(groups)], insides or {}, digits),
        "script": script,
    }
    html = "\n".join(line.strip() for line in read_asset("page.html").splitlines())
    page = SLOT.sub(lambda slot: parts[slot[1]], html)
    return SURROGATE.sub("\ufffd", page)


def content_policy(script: str) -> str:
    """The policy of a page that may run this script and load nothing."""
    return POLICY.format(b64encode(sha256(script.encode()).digest()).decode())


def read_asset(name: str) -> str:
    """One of the files that the page is made of."""
    return files("exprgrad.show.page").joinpath("assets", name).read_text(encoding="utf-8")


# The script.


def page_script(
    groups: Sequence[Sequence[DiagnosedRun]],
    models: Sequence[Sequence[dict[str, Any]]],
    operations: str,
    tensors: Mapping[str, Any],
    lesson: Lesson | None,
    needed: Mapping[str, bool],
) -> str:
    """All of the script: the operations, the page's data, the sweeps, the views.

    A group has the sheets of a formula: it as it is, and with calls opened.
    """
    sweeps, views = (
        "\n".join(read_asset(f"{name}.js") for name in names if needed.get(name, True))
        for names in (SWEEPS, VIEWS)
    )
    parts = [operations, sweeps]
    parts += (
        [views, "}", "lay(asked());"] if needed["sheets"] else ["filled(PAGE);", "{", views, "}"]
    )
    code = name_builtins(squeeze_script("\n".join(parts)))
    names = choose_short_names(code)
    keys = {word: short for word, short in names.items() if word in OWN_PROPERTIES}
    data = {} if lesson is None else {"LESSON": script_literal(lesson_script_data(lesson))}
    if tensors:
        data["TENSORS"] = script_literal(tensors, keys)
    if needed["sheets"]:
        data["CALLS"] = sheets_literal(groups, models, keys)
    else:
        data["PAGE"] = script_literal(models[0][0], keys)
    told = share_texts("".join(f"const {name}={text};\n" for name, text in data.items()))
    return SURROGATE.sub("\ufffd", f'"use strict";\n{told}{shorten_script(code, names)}')


def needed_assets(
    groups: Sequence[Sequence[DiagnosedRun]],
    models: Sequence[Sequence[dict[str, Any]]],
    operations: str,
    lesson: Lesson | None,
    moves: Collection[str],
    is_in_course: bool,
) -> dict[str, bool]:
    """Whether a page needs those of the script's and the style's files that not every page does, by name.

    ``moves`` are those of ``LIVE`` that the page has.
    """
    runs = [group[0] for group in groups]
    has_calls = any(run.graph.calls and not run.graph.shapes for run in runs)
    has_code = "code" in page_tools(lesson)
    has_orders = "orders" in page_tools(lesson) and not any(run.graph.shapes for run in runs)
    return {
        **assets_for_graphs(groups, models, operations),
        "adjoints": has_calls or "training" in moves,
        **dict.fromkeys(("inside", "front", "front.css"), has_calls and "training" in moves),
        "formulas": len(runs) > 1,
        **dict.fromkeys(("live", "moving", "moving.css"), bool(moves)),
        **dict.fromkeys(("plots", "plots.css"), bool(PLOTTED & {*moves})),
        "bars.css": bool({*moves} - PLOTTED),
        "lesson.css": lesson is not None and bool(lesson.parts or lesson.formulas),
        "descent.css": "descent" in moves,
        "crossings": SPECIAL in operations and "descent" in moves,
        **dict.fromkeys(OF_ORDERS, has_orders),
        **dict.fromkeys(OF_CODE, has_code),
        **dict.fromkeys(("choices", "choices.css"), has_orders or has_code),
        **dict.fromkeys(IN_LESSONS, lesson is not None),
        **dict.fromkeys(IN_COURSES, is_in_course),
        "kept": lesson is not None and not is_in_course,
        # Who comes to a second lesson knows the page.
        **dict.fromkeys(("tour", "tour.css"), lesson is None or lesson.name == BUILT_IN[0]),
        "answers": lesson is not None
        and any(task.answer is not None for task in all_tasks(lesson)),
        **{f"live-{name}": name in moves for name in LIVE},
    }


def assets_for_graphs(
    groups: Sequence[Sequence[DiagnosedRun]],
    models: Sequence[Sequence[dict[str, Any]]],
    operations: str,
) -> dict[str, bool]:
    """Whether a page needs the files for what not every graph has, by name."""
    runs = [group[0] for group in groups]
    has_calls = any(run.graph.calls and not run.graph.shapes for run in runs)
    has_tensors = any(run.graph.shapes for run in runs)
    has_edges = any(
        has_domain_edge(run.graph, node) for run in runs for node in range(len(run.graph))
    )
    told = {field for group in models for sheet in group for field in sheet}
    has_kinks = (has_edges or "corrected" in told or SPECIAL in operations) and not has_tensors
    return {
        "sheets": has_calls or len(runs) > 1,
        **dict.fromkeys(("calls", "closed", "calls.css"), has_calls),
        # A graph so large that one may lose one's way in it.
        **dict.fromkeys(("map", "map.css"), any(len(s.shown) >= MANY for g in groups for s in g)),
        "sight": any(len(s.shown) >= LARGE for g in groups for s in g),
        **dict.fromkeys(("layers", "layers.css"), any(network_layers(run) for run in runs)),
        **dict.fromkeys(("tensors", "heat", "tensors.css"), has_tensors),
        **dict.fromkeys(OF_NUMBERS, not has_tensors),
        **dict.fromkeys(AT_KINKS, has_kinks),
        "vague": bool({"losses", "vague"} & told),
        "exact": not {"losses", "vague"} & told,
    }


def page_tools(lesson: Lesson | None) -> Collection[str]:
    """Those of ``TOOLS`` that a page has: all, unless its lesson can do without."""
    return TOOLS if lesson is None else lesson.tools


def has_domain_edge(graph: Graph, node: int) -> bool:
    """Whether an operation's domain may end: not that of a power with the exponent 1, 2, … or of x/2."""
    kind, (*_, last) = graph.kinds[node], (node, *graph.operands[node])
    second = graph.payloads[last] if kind in ("pow", "div") else None
    is_safe = isinstance(second, float) and (kind == "div" or (second > 0 and second.is_integer()))
    return kind in BY_NAME and bool(BY_NAME[kind].domain) and not is_safe


def sheets_literal(
    groups: Sequence[Sequence[DiagnosedRun]],
    models: Sequence[Sequence[dict[str, Any]]],
    keys: Mapping[str, str],
) -> str:
    """The models of all sheets, each with the ways to others, and the programs of closed calls."""
    for place, (group, sheets) in enumerate(zip(models, groups, strict=True)):
        before = sum(map(len, groups[:place]))
        for at, (sheet, run) in enumerate(zip(group, sheets, strict=True)):
            turns = [(node, before + to) for node, to in links_between_sheets(run, sheets)]
            sheet |= {"sheet": before + at, "formula": place, "ways": turns}
    rows: dict[str, Any] = {}
    for sheet in chain.from_iterable(models):
        sheet["rows"] = {
            k: row for k, row in sheet["rows"].items() if rows.setdefault(k, row) != row
        }
    calls = {
        call_key(node): pack_page(call_program(other, closed))
        for group in groups
        for other in group
        for node, closed in other.closed.items()
    }
    # Calls of the same function have one program.
    found = {key: script_literal(program, keys) for key, program in calls.items()}
    texts = [*dict.fromkeys(found.values())]
    told = {key: texts.index(program) for key, program in found.items()}
    all_models = [sheet for group in models for sheet in group]
    programs = ",".join(texts)
    sheets_told = script_literal({"sheets": all_models, "calls": told, "rows": rows}, keys)
    return f"{sheets_told[:-1]},{keys.get('programs', 'programs')}:[{programs}]}}"


def lesson_script_data(lesson: Lesson) -> dict[str, Any]:
    """A lesson's fields for the script: its goals, and the points to train on."""
    found: dict[str, Any] = {"goals": goals_by_task(lesson)}
    for part in lesson.parts:
        if part.live == "training" and "sets" not in found:
            named = {
                name: dict(zip(part.points, set_columns(name), strict=True)) for name in part.sets
            }
            sets = {"": part.data} if part.data else named
            found |= {"sets": [*sets.items()], "shows": part.shows}
    answers = [
        {
            "task": at,
            "answer": task.answer,
            **nonempty_fields(choices=task.choices, grad=task.grad, wrong=task.wrong),
        }
        for at, task in enumerate(all_tasks(lesson))
        if task.answer is not None
    ]
    return found | nonempty_fields(answers=answers)


def share_texts(data: str) -> str:
    """A script's data, with long texts that it has several times in a list ``$T`` before it."""
    counts = Counter(REPEATED_TEXT.findall(data))
    shared = [
        text
        for text, count in counts.items()
        if text[-1] != ":" and (count - 1) * len(text) > 7 * count
    ]
    places = {text: f"$T[{place}]" for place, text in enumerate(shared)}
    rest = REPEATED_TEXT.sub(lambda found: places.get(found[0], found[0]), data)
    return f"const $T=[{','.join(shared)}];\n{rest}" if shared else data


def script_literal(data: Any, keys: Mapping[str, str] = {}) -> str:
    """Data as a script has it, with the script's names for its ``keys``."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    text = NEEDLESS_ZERO.sub(lambda found: found[1] or "", text)
    text = QUOTED_KEY.sub(lambda key: f"{keys.get(key[1], key[1])}:", text)
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


# Calls that open: a sheet for each choice of names.


def sheets_with_opened_calls(run: DiagnosedRun, most: int | None) -> list[DiagnosedRun]:
    """The run as it is, and with calls of other names opened: all choices of names, if they are few.

    What has too many nodes is left out, and what looks like another.  Over tensors all calls are open.
    """
    words = [*dict.fromkeys(call.word for call in run.graph.calls)]
    if not words or run.graph.shapes:
        return [run_with_opened(run, words)] if words else [run]
    choices: list[tuple[str, ...]] = [(), tuple(words)]
    if len(words) <= MOST_NAMES:
        choices = [c for count in range(len(words) + 1) for c in combinations(words, count)]
    found = {visible_part(run): run}
    for names in choices:
        other = run_with_opened(run, names)
        if most is None or len(other.shown) <= most:
            found.setdefault(visible_part(other), other)
    return [*found.values()]


def run_with_opened(run: DiagnosedRun, names: Collection[str]) -> DiagnosedRun:
    """The run with only the calls of these names opened."""
    other = DiagnosedRun.__new__(type(run))
    vars(other).update(vars(run), graph=open_calls(run.graph, names, others=False))
    vars(other).pop("folded", None)
    return other


def visible_part(run: DiagnosedRun) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The visible part of a run: its nodes, and its opened calls."""
    return tuple(run.shown), tuple(dict.fromkeys(run.opened.values()))


def links_between_sheets(
    run: DiagnosedRun, sheets: Sequence[DiagnosedRun]
) -> list[tuple[int, int]]:
    """Each node that is a closed call or in an opened one, and the sheet where that is opened or closed."""
    graph, looks = run.graph, {visible_part(sheet): at for at, sheet in enumerate(sheets)}
    words = {call.word for call in graph.calls if call.opened}
    found = []
    for place, node in enumerate(run.shown):
        if node in run.closed:
            wanted = words | {run.closed[node].call.word}
        elif node in run.opened:
            wanted = words - {graph.calls[run.opened[node]].word}
        else:
            continue
        at = looks.get(visible_part(run_with_opened(run, wanted)))
        if at is not None:
            found.append((place, at))
    return found


def page_pictures(
    sheets: Sequence[DiagnosedRun], insides: Mapping[str, DiagnosedRun], digits: int
) -> str:
    """The picture of the first sheet; those of the others, and of the functions, wait to be opened."""
    first, *others = [page_picture(sheet, digits) for sheet in sheets]
    functions = [
        page_picture(run, digits).replace('id="graph"', f'data-name="{escape(name)}"', 1)
        for name, run in insides.items()
    ]
    waiting = {"<template>": others, '<template id="insides">': functions}
    templates = [tag + "\n".join(drawn) + "</template>" for tag, drawn in waiting.items() if drawn]
    # The script writes numbers, and the words that stand in the first picture alone.
    templates = [NUMBER_IN_PICTURE.sub(r"\1", one.replace(f"{WORDS}\n", "")) for one in templates]
    return "\n".join([first, *templates])


def squeeze_script(script: str) -> str:
    """A script of ours without comments, indentation and idle blanks; declarations in a row are one.

    A ``const`` is a ``let`` there: it held while the script was written.  It is for the assets, in which
    comments and declarations stand on lines of their own, each statement ends in a ``;`` or a ``}``, and no
    template stands in another; not for any script there is.
    """
    lines = [line.strip() for line in script.split("\n")]
    text = "\n".join(line for line in lines if line and not line.startswith(("//", "/**")))
    text = re.sub(r"\bconst (?=[\w$\[{])", "let ", text)
    text = re.sub(r"(?m)^(let [^;\n]*);\n(?=let )", r"\1,\n", text)
    text = REMOVABLE_TEXT.sub(
        lambda part: next(filter(None, part.groups()), ""), text.replace(",\nlet ", ",")
    )
    return re.sub(r"(?<=[{()\[,;?:&|=])\n|\n(?=[})\],;?:&|.])", "", text)


def name_builtins(script: str) -> str:
    """A squeezed script in which long properties and globals of the browser that recur are variables, too.

    ``x.textContent`` becomes ``x[$textContent]`` where that is shorter in all, with its short name.
    """
    saved: Counter[str] = Counter()

    def within(part: re.Match[str]) -> str:
        text, word = part[0], part["property"] or part["word"]
        if text[0] == "`":
            return re.sub(
                r"\$\{([^{}]*)\}", lambda held: "${" + PROPERTY.sub(within, held[1]) + "}", text
            )
        if not word or (word in GLOBALS) != bool(part["word"]) or word in OWN_PROPERTIES:
            return text
        # A short name has up to two letters, and two brackets around it; its declaration has more signs.
        saved[word] += len(text.lstrip("?")) - (4 if part["property"] else 2)
        if text not in worth:
            return text
        return f"{'?.' * text.startswith('?')}[${word}]" if part["property"] else f"${word}"

    worth: set[str] = set()
    PROPERTY.sub(within, script)
    found = sorted(word for word, gain in saved.items() if gain > len(word) + 8)
    worth = {sign + word for word in found for sign in ("", ".", "?.")}
    told = ",".join(f"${word}={word}" if word in GLOBALS else f'${word}="{word}"' for word in found)
    return f"let {told};\n{PROPERTY.sub(within, script)}" if told else script


def choose_short_names(script: str) -> dict[str, str]:
    """Short names for a squeezed script's variables, the most frequent the shortest.

    A word is taken if it is declared somewhere, and is nowhere a property, a key or part of a shorthand,
    or if it is one of ``OWN_PROPERTIES``: then all its places are ours, and may have another word together.
    Words that are known in some statements alone may have the same name if no statement has two of them.
    """
    words, spoken, declared, common, places = script_names(script)
    common |= OWN_PROPERTIES
    renamed = sorted(
        (
            word
            for word in (declared - spoken | OWN_PROPERTIES & {*words}) - {*SHORT_KEYWORDS}
            if len(word) > 1
        ),
        key=lambda word: (-words[word] * (len(word) - 1), word),
    )
    letters = ascii_letters + "_"
    free = [
        name
        for name in chain(letters, map("".join, product(letters, letters + "0123456789")))
        if name not in words and name not in SHORT_KEYWORDS
    ]
    used: Counter[str] = Counter()
    taken: set[str] = set()
    names = {}
    for word in renamed:
        for name in free:
            if len(name) >= len(word):
                break
            if not (used[name] & places[word] or (word in common and name in taken)):
                names[word] = name
                used[name] |= places[word]
                taken |= {name} if word in common else set()
                break
    return names


def shorten_script(script: str, names: Mapping[str, str]) -> str:
    """A squeezed script of ours with other names for its variables."""

    def within(part: re.Match[str]) -> str:
        text = part[0]
        if part["word"]:
            return names.get(text, text)
        if text[0] != "`":
            return text
        return re.sub(
            r"\$\{([^{}]*)\}", lambda held: "${" + SCRIPT_TOKEN.sub(within, held[1]) + "}", text
        )

    return SCRIPT_TOKEN.sub(within, script)


class ScriptNames(NamedTuple):
    """The words of a script with their counts: those spoken as properties, declared, or common.

    A common word is known in all statements; ``places`` has a bit for each outer statement with the word.
    """

    words: Counter[str]
    spoken: set[str]
    declared: set[str]
    common: set[str]
    places: Counter[str]


def is_assigned(after: str) -> bool:
    """Whether the text assigns, and does not compare, the name before it."""
    return after[:1] == "=" and after[1:2] != "="


def add_script_names(found: ScriptNames, more: ScriptNames) -> None:
    """Add the names of a part of a script, which declares none that are common."""
    found.words.update(more.words)
    found.spoken.update(more.spoken)
    found.declared.update(more.declared)
    for word, bits in more.places.items():
        found.places[word] |= bits


def script_names(script: str, at: int = 0) -> ScriptNames:
    """The names of a script, whose first statement has a number.

    A bracket's words are declared if what follows says so: parameters, and patterns.
    """
    found = ScriptNames(Counter(), set(), set(), set(), Counter())
    counts, seen, declared, common, places = found
    brackets: list[tuple[str, bool, list[str]]] = [("", False, [])]
    before, head, outer, inside = "", "", 1, [""]
    for part in SCRIPT_TOKEN.finditer(script):
        text, after = part[0], script[part.end() : part.end() + 3]
        is_outer = len(brackets) == outer
        if part["word"]:
            counts[text] += 1
            places[text] |= 1 << at
            _, is_object, inside = brackets[-1]
            if before in ("(", "[", "{", ",", ":"):
                inside.append(text)
            ends = ("", ",", "}", ":", "=", "(") if is_object else (":",)
            if before == "." or (before in ("{", ",") and after[:1] in ends):  # a property
                seen.add(text)
            elif before in ("let", "function") or after.startswith("=>") or is_assigned(after):
                declared.add(text)
            if is_outer and (before in ("let", "function", ",") or re.match("=(?![=>])", after)):
                common.add(text)
        elif text in ("(", "[", "{"):
            brackets.append((before, text == "{" and before not in BEFORE_BLOCKS, []))
            # What all views share stands in a block, or in a function of their own.
            if text == "{" and is_outer and (before in ("", ";") or head == BUILDER):
                common.update(inside)
                outer += 1
        elif text in (")", "]", "}"):
            head, _, inside = brackets.pop()
            outer = min(outer, len(brackets))
            is_pattern = after.startswith("of ") or is_assigned(after)
            if is_pattern or (text == ")" and after[:1] == "{" and head not in BEFORE_CONDITIONS):
                declared.update(inside)
            if is_pattern and len(brackets) == outer:
                common.update(inside)
            at += text == "}" and len(brackets) == outer and after[:1] in ("\n", "}")
        elif text[0] == "`":
            for held in re.findall(r"\$\{([^{}]*)\}", text):
                add_script_names(found, script_names(held, at))
        at += is_outer and text in (";", ",")
        before = text if text != "..." else ","
    return found


# The style.


def page_style(*names: str) -> str:
    """Style sheets, with the picture's colours as properties: light, and dark where preferred."""
    hues = {
        "data": look.DATA, "grad": look.GRAD, "ink": look.INK, "muted": look.MUTED, "card": look.CARD,
        "line": look.LINE, "pill": look.PILL, "pill-line": look.PILL_LINE, "constant": look.CONSTANT,
        "chip": look.CHIP, "chip-line": look.CHIP_LINE, "wire": look.WIRE, "wrong": look.WRONG,
    }  # fmt: skip
    colours = {
        "light": css_properties(hues.items()),
        "dark": css_properties((name, look.DARK[c]) for name, c in hues.items() if c in look.DARK),
    }
    sheet = squeeze_style("".join(map(read_asset, names)))
    style = SLOT.sub(lambda slot: colours[slot[1]], sheet)
    letters = dict(zip(sorted({*STYLE_NAME.findall(style)}), ascii_uppercase, strict=False))
    return STYLE_NAME.sub(lambda name: f"--{letters.get(name[1], name[1])}", style)


def squeeze_style(style: str) -> str:
    """A style sheet without comments and idle blanks."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = re.sub(r"\s+", " ", style).strip()
    style = re.sub(r" ?([{};,>!]) ?", r"\1", style)
    return re.sub(r"(?<=[\w-]): ", ":", style).replace(";}", "}")


def css_properties(colours: Iterable[tuple[str, str]]) -> str:
    """Colours by name as CSS properties."""
    return ";".join(f"--{name}:{colour}" for name, colour in colours)


# The head.


def page_head(texts: Sequence[str], lesson: Lesson | None) -> str:
    """The formula, and a lesson's title and its question; a long formula is folded away.

    Of several formulas one is shown at a time.
    """
    text = texts[0]
    if lesson:
        question = f"<p>{escape(lesson.question)}</p>" if lesson.question else ""
        shown = "".join(
            f"<div{' hidden' if at else ''}>{code_html(one)}</div>" for at, one in enumerate(texts)
        )
        if len(texts) > 1:
            names = json.dumps([formula.name for formula in lesson.formulas], ensure_ascii=False)
            shown = f'<div id="formulas" data-names="{escape(names)}">{shown}</div>'
        return f"<h1>{escape(lesson.title)}</h1>\n{shown}\n{question}"
    formula = code_html(text)
    if len(text) <= LONG:
        return f"<h1>{formula}</h1>"
    whole = f"<details><summary>All {len(text):,} characters</summary>{formula}</details>"
    return f"<h1>{code_html(cut_text(text, HEAD), is_whole=False)}</h1>\n{whole}"


def code_html(text: str, *, is_whole: bool = True) -> str:
    """A formula as it was typed, each name of it in its place whatever way its script is written.

    The script finds a whole one by its class, and makes pieces of it.
    """
    whole = "\n".join(printable_text(line) for line in re.split(r"\r\n|\r|\n", text.strip()))
    pieces = re.split(r"(\w+)", whole)
    pieces[0::2] = map(escape, pieces[0::2])
    # A word needs no escape.
    pieces[1::2] = [
        f"<bdi>{word}</bdi>" if any(map(is_right_to_left, word)) else word for word in pieces[1::2]
    ]
    kind = ' class="whole"' if is_whole else ""
    return f'<code dir="ltr"{kind}>{"".join(pieces)}</code>'


def lesson_links(lesson: Lesson, course: Sequence[Lesson]) -> tuple[str, str]:
    """The links of a lesson in a course: those at its head, and those at its end."""
    at = [one.name for one in course].index(lesson.name)
    index = '<a href="index.html">All lessons</a>'
    before = [lesson_link(one, "Previous") for one in course[max(at - 1, 0) : at]]
    after = [lesson_link(one, "Next") for one in course[at + 1 : at + 2]]
    links = "\n".join([f"<span>Lesson {at + 1} of {len(course)}</span>", index, *before, *after])
    head = (
        f'<div id="course" role="navigation" aria-label="Course" data-lesson="{escape(lesson.name)}">'
        f"{links}</div>\n"
    )
    return head, f'<p class="on">{" ".join([index, *after])}</p>'


def lesson_link(lesson: Lesson, words: str = "") -> str:
    """A link to a lesson of the course by its title; after words it is left out where there is no room."""
    text = f"{words}<span>: {escape(lesson.title)}</span>" if words else escape(lesson.title)
    return f'<a href="{quote(lesson.name)}.html">{text}</a>'


def lesson_html(lesson: Lesson, onward: str = "") -> str:
    """A lesson as HTML: its subject, its tasks to tick off, its parts, and the links onward."""
    name = "Lesson" if lesson.parts else "Try this"
    places = {formula.name: place for place, formula in enumerate(lesson.formulas)}
    about = f"<p>{escape(lesson.about)}</p>" if lesson.about else ""
    parts = "".join(
        lesson_part_html(part, places.get(part.formula), is_open=not at)
        for at, part in enumerate(lesson.parts)
    )
    own = task_list_html(all_tasks(lesson._replace(parts=())))
    return f'<section id="tasks" data-tab="{name}"><h2>{name}</h2>\n{about}\n{own}{parts}{onward}</section>'


def task_list_html(listed: Sequence[Task]) -> str:
    """Tasks as a list, each with what one sees below it."""
    rows = "".join(
        f'<li><label><input type="checkbox"> <span>{text_html(task.text)}</span></label>'
        + (f'<p class="seen">{text_html(task.seen)}</p>' if task.seen else "")
        + "</li>\n"
        for task in listed
    )
    return f"<ol>\n{rows}</ol>" if rows else ""


def lesson_part_html(part: LessonPart, formula: int | None, *, is_open: bool) -> str:
    """A part of a lesson, which opens where its title is clicked."""
    attributes = (" open" if is_open else "") + (
        "" if formula is None else f' data-formula="{formula}"'
    )
    rate = f' data-rate="{part.rate:g}"' if part.live in ("descent", "training") else ""
    paragraphs = [
        " ".join(lines.split()) for lines in re.split(r"\n\s*\n", part.text) if lines.strip()
    ]
    return "\n".join(
        [
            f'<details name="part"{attributes}><summary>{escape(part.title)}</summary>',
            *(f"<p>{text_html(paragraph)}</p>" for paragraph in paragraphs),
            CODE_BLOCK.format(escape(part.code.strip())) if part.code else "",
            f'<div class="moving" data-live="{part.live}"{rate}></div>' if part.live else "",
            task_list_html(part.tasks),
            "</details>\n",
        ]
    )


def text_html(text: str) -> str:
    """A text as HTML; text between backticks becomes code."""
    pieces = [escape(piece) for piece in text.split("`")]
    if len(pieces) % 2 == 0:
        return escape(text)
    pieces[1::2] = [f"<code>{piece}</code>" for piece in pieces[1::2]]
    return "".join(pieces)

"""What a shell offers when someone presses Tab: commands, options, their values, functions, inputs, files.

A shell asks by setting ``_EXPRGRAD_COMPLETE``, as for other programs made with click: ``bash_source``
prints the script that a shell reads once, and ``bash_complete`` the words that fit the line typed so far,
which is in ``COMP_LINE``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import split_arg_string

from exprgrad.cli.command import Words, load, write
from exprgrad.cli.commands import COMMANDS
from exprgrad.errors import ExprgradError, RequestError

__all__ = ["VARIABLE", "candidates", "complete"]

VARIABLE = "_EXPRGRAD_COMPLETE"
SCRIPTS = {
    "bash": """_exprgrad() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}"
    COMPREPLY=($(COMP_LINE="$line" COMP_WORD="$2" _EXPRGRAD_COMPLETE=bash_complete "$1"))
}
complete -o nospace -F _exprgrad exprgrad
""",
    "zsh": """#compdef exprgrad
_exprgrad() {
    local -a found words_done words_begun
    found=("${(@f)$(COMP_LINE="${(j: :)words[1,CURRENT]}" _EXPRGRAD_COMPLETE=zsh_complete ${words[1]})}")
    words_done=(${(M)found:#* }) words_begun=(${found:#(* |)})
    (( $#words_done )) && compadd -U -- ${words_done% }
    (( $#words_begun )) && compadd -U -S '' -- $words_begun
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u -D }
compdef _exprgrad exprgrad
""",
    "fish": """complete --command exprgrad --no-files --arguments \
"(COMP_LINE=(commandline --cut-at-cursor | string collect) _EXPRGRAD_COMPLETE=fish_complete exprgrad)"
""",
}
"""What each shell reads once."""
ENDINGS = {
    "--file": (), "--inputs": (".json",), "--output": (), "@": (".csv", ".json", ".npy"),
    "--data": (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".gz"),
}  # fmt: skip
"""Where a file stands → how the names of those that fit end; any, if none is said."""


def complete(instruction: str) -> int:
    """Print a shell's script, or what may stand where the cursor is; return the exit status."""
    shell, _, what = instruction.partition("_")
    if shell not in SCRIPTS:
        help = f"{VARIABLE} is bash_source, zsh_source or fish_source"
        raise RequestError("usage", f"there is no completion for '{shell}'", help=help)
    if what == "source":
        write([SCRIPTS[shell]])
        return 0
    line = os.environ.get("COMP_LINE", "")
    *words, last = split_arg_string(line + "\0")
    typed = last.removesuffix("\0")
    found = [word for word in candidates(words[1:], typed) if word.startswith(typed)]
    if len(found) == 1 and found[0].endswith("("):  # what is alone gets a blank, or a closing quote
        found.append(f"{found[0]})")
    if (
        shell == "bash"
    ):  # it parts words at = and @, too, replaces the last part, and quotes nothing
        kept = len(typed) - len(os.environ.get("COMP_WORD", typed).lstrip("'\""))
        found = [word[kept:] if is_quoted(line) else escaped(word[kept:]) for word in found]
    elif shell == "fish":  # which adds its own blank
        found = [word.rstrip() for word in found]
    write(f"{word}\n" for word in dict.fromkeys(found))
    return 0


def is_quoted(line: str) -> bool:
    """Whether a line ends inside quotes."""
    outside = re.sub(r"""\\\\.|'[^']*'|"(?:[^"\\\\]|\\\\.)*\"""", "", line)
    return "'" in outside or '"' in outside


def escaped(word: str) -> str:
    """A word with backslashes before what a shell would read as its own, but for a blank at its end."""
    return re.sub(r"([^\w@%+=:,./ -]|[ ](?!$))", r"\\\1", word)


def candidates(words: Sequence[str], typed: str) -> Iterator[str]:
    """What may stand behind some words, ``typed`` being its beginning; a blank ends what is whole."""
    if not words:
        yield from ended([*COMMANDS, "--help", "--version"])
        yield from calls(typed)
        return
    name, *rest = words if words[0].isidentifier() else ["grad", *words]
    if name not in COMMANDS:
        return
    command = load(name)
    options = {opt: p for p in command.params if isinstance(p, click.Option) for opt in p.opts}
    others = [word for at, word in enumerate(rest) if not is_taken(rest, at, options)]
    formula = next(iter(others), "")
    before = options.get(rest[-1]) if rest else None
    if before is not None and not before.is_flag:
        yield from values_of(before, typed, formula)
        return
    if typed.startswith("-"):
        yield from ended([*(option for option in options if option[:2] == "--"), "--help"])
    if name == "ops":
        yield from ended(functions())
    elif not formula and not {"-f", "--file"} & {*rest}:
        yield from calls(typed)
    elif "--inputs" in options:
        yield from values(typed, formula, others[1:])


def is_taken(words: Sequence[str], at: int, options: dict[str, click.Option]) -> bool:
    """Whether a word is an option, or an option's value."""
    before = options.get(words[at - 1]) if at else None
    return words[at].partition("=")[0] in options or (before is not None and not before.is_flag)


def ended(words: Iterable[str]) -> Iterator[str]:
    """Words that nothing is added to."""
    return (f"{word} " for word in words)


def functions() -> list[str]:
    """The names of all functions and operations."""
    from exprgrad.graph.ops import FAMILIES, OPS
    from exprgrad.graph.tensors import WORDS

    return [*(op.name for op in OPS), *FAMILIES, *WORDS]


def calls(typed: str) -> Iterator[str]:
    """A formula that goes on with a function, or over an index."""
    from exprgrad.language.mistakes.hints import FUNCTION_WORDS
    from exprgrad.language.read.expansion import BUILT_IN

    start = len(typed)
    while start and (typed[start - 1].isalnum() or typed[start - 1] == "_"):
        start -= 1
    if typed[start:]:
        yield from (f"{typed[:start]}{word}(" for word in sorted({*FUNCTION_WORDS, *BUILT_IN}))
        if typed[:start].endswith(" ") and {*typed[:start]} & {*"([;"}:
            yield f"{typed[:start]}for k in 1.."


def names(formula: str) -> tuple[list[str], list[str], list[str]]:
    """A formula's inputs, its named statements, and what it calls; none while it is no formula."""
    from exprgrad.api import parse

    with suppress(ExprgradError):
        graph = parse(formula).graph
        calls = dict.fromkeys(call.word for call in graph.calls)
        return [*graph.inputs], [binding.name for binding in graph.bindings], [*calls]
    return [], [], []


def values(typed: str, formula: str, others: Sequence[str]) -> Iterator[str]:
    """Values of the formula's inputs: the names of those that have none, files, and columns of files."""
    name, equals, value = typed.partition("=")
    if not equals:
        given = {word.partition("=")[0] for word in others}
        yield from (f"{wanted}=" for wanted in names(formula)[0] if wanted not in given)
    elif value.startswith("@"):
        path, colon, _ = value[1:].rpartition(":")
        if colon and path.lower().endswith(".csv"):
            yield from ended(f"{name}=@{path}:{column}" for column in columns(path))
        yield from files(value[1:], "@", f"{name}=@")


def columns(path: str) -> Iterator[str]:
    """The names of a CSV file's columns, as far as a line of text can say them."""
    with suppress(OSError, UnicodeDecodeError, ValueError):
        with Path(path).open(encoding="utf-8-sig") as file:
            header = file.readline()
        separator = next((mark for mark in ",;\t" if mark in header), ",")
        yield from (cell.strip().strip('"') for cell in header.split(separator))


def values_of(option: click.Option, typed: str, formula: str) -> Iterator[str]:
    """What an option may have for a value."""
    from exprgrad.show.page.lessons import LESSONS

    key = option.opts[-1]
    inputs, statements, calls = (
        names(formula) if key in ("--wrt", "--of", "--expand") else ([], [], [])
    )
    listed = {
        "--lesson": LESSONS, "--expand": [*calls, "all", *functions()], "--wrt": inputs,
        "--of": statements,
    }  # fmt: skip
    before = typed[: typed.rfind(",") + 1]
    if isinstance(option.type, Words):
        yield from ended(option.type.choices)
    elif key in listed:
        yield from (before + word for word in ended(listed[key]))
    elif key in ENDINGS:
        yield from files(typed, key)


def files(typed: str, where: str, before: str = "") -> Iterator[str]:
    """The files that a path may become, and folders on the way."""
    name = os.path.basename(typed)  # noqa: PTH119
    folder = typed[: len(typed) - len(name)]
    with suppress(OSError, ValueError):
        for entry in sorted(os.scandir(folder or "."), key=lambda entry: entry.name):
            if not entry.name.startswith(name) or entry.name[0] == "." != name[:1]:
                continue
            path = before + folder + entry.name
            if entry.is_dir():
                yield f"{path}/"
            elif not ENDINGS[where] or entry.name.lower().endswith(ENDINGS[where]):
                yield f"{path} "

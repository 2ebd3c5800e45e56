"""The program without a command: its list, its version, hints for mistyped commands, completion."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import click

from exprgrad import __version__
from exprgrad.cli.answer import write_text
from exprgrad.cli.command import load_command, no_such_option, options_as_typed
from exprgrad.cli.commands import COMMANDS
from exprgrad.cli.options import Words
from exprgrad.errors import RequestError

__all__ = ["Group", "complete_line"]

EXTRAS = {
    "draw": "pygraphviz", "native": "llvmlite", "data": "pyarrow", "cluster": "distributed", "fit": "scipy",
    "plot": "matplotlib", "jax": "jax", "xlsx": "python_calamine",
}  # fmt: skip
"""Extra → the module that it installs."""
ABSENT = {
    "integrate": "there are no integrals here, only derivatives",
    "version": "did you mean 'exprgrad --version'?",
    "simplify": "only derivatives are simplified: 'diff' writes them",
}
"""Commands that people may expect but that do not exist → what to say about them."""


def show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and the installed extras, and exit, if that is ``wanted``."""
    if not wanted:
        return
    found = {extra: find_spec(module) is not None for extra, module in EXTRAS.items()}
    parts = [
        f"{what}: {', '.join(extra for extra, there in found.items() if there == is_there)}"
        for what, is_there in (("extras", True), ("not installed", False))
        if is_there in found.values()
    ]
    click.echo(f"exprgrad {__version__}\n{'; '.join(parts)}")
    ctx.exit()


class Group(click.Group):
    """All commands, in the order of the lesson, each loaded on first use."""

    def __init__(self) -> None:
        super().__init__(
            "exprgrad",
            callback=self.show,
            invoke_without_command=True,
            subcommand_metavar="[COMMAND] [ARGS]...",
            context_settings={"help_option_names": ["-h", "--help"]},
            help="Type a formula, and see its value, its gradient and why.",
            epilog='A formula without a command runs grad: exprgrad "(a+b)*c" a=2 b=-3 c=10',
        )
        shown = click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show_version,
            help="Show the version and which extras are installed, and exit.",
        )  # fmt: skip
        self.params.append(shown)

    def show(self) -> None:
        """Print the help where no command was given."""
        ctx = click.get_current_context()
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, if there is one of that name."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that belongs to a command or to none; ``help grad`` is ``grad --help``."""
        if args[:1] in (["-h"], ["--help"], ["help"]) and {*args[1:2]} <= COMMANDS.keys():
            args = [*args[1:2], "--help"]
        if args[:1] == ["--version"]:
            args = args[:1]
        if args and args[0].startswith("-"):
            head = args[0].partition("=")[0]
            known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            if head not in known:
                args = self.without_options(ctx, args)
        return super().parse_args(ctx, args)

    def without_options(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments after options of ``grad``; an error for unknown options or a command."""
        from exprgrad.cli.commands.eval_grad import behind_options, grad_command

        rest = behind_options(args)
        if len(rest) == len(args):
            options = [name for parameter in grad_command.params for name in parameter.opts]
            known = dict(zip(options, options, strict=True)) | options_as_typed(self, ctx)
            raise no_such_option(args[0], args[1:], known)
        if rest[0] in COMMANDS:
            first = " ".join(args[: len(args) - len(rest)])
            raise RequestError(
                "usage",
                f"'{rest[0]}' is a command, and comes first",
                help=f"options follow the command: exprgrad {rest[0]} {first} …",
            ).about(rest[0])
        return rest

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        word, *rest = args
        if word in COMMANDS:
            return super().resolve_command(ctx, args)
        from exprgrad.language.mistakes.hints import guess_word
        from exprgrad.language.read.builder import CONSTANTS

        help = ABSENT.get(word.casefold())
        known = None if help else guess_word(word, COMMANDS)
        if word == "help":
            word, known = rest[0], guess_word(rest[0], COMMANDS)
            known = known and f"exprgrad {known} --help"
        has_value = known is None and any(arg.startswith(f"{word}=") for arg in rest)
        if word in CONSTANTS or (has_value and not help):
            command = "grad" if has_value else "eval"
            help = f"as a formula it follows a command: exprgrad {command} {word}"
        help = help or (f"did you mean '{known}'?" if known else "--help lists the commands")
        raise RequestError("usage", f"there is no command '{word}'", help=help).about(word)


# What a shell offers when someone presses Tab: commands, options, their values, functions, inputs, files.
#
# A shell asks by setting ``_EXPRGRAD_COMPLETE``, as for other programs made with click: ``bash_source``
# prints the script that a shell reads once, and ``bash_complete`` the words that fit the line typed so far,
# which is in ``COMP_LINE``.

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
"""Shell → the script that it reads once."""
ENDINGS = {
    "--file": (), "--inputs": (".json",), "--output": (), "@": (".csv", ".json", ".npy"), "--data": (),
}  # fmt: skip
"""Option or sign before a file → the endings to offer; all files where there are none."""


def complete_line(instruction: str) -> int:
    """Print a shell's script, or the completions at the cursor; return the exit status."""
    from click.shell_completion import split_arg_string

    shell, _, what = instruction.partition("_")
    if shell not in SCRIPTS:
        raise RequestError(
            "usage",
            f"there is no completion for '{shell}'",
            help=f"{VARIABLE} is bash_source, zsh_source or fish_source",
        )
    if what == "source":
        write_text([SCRIPTS[shell]])
        return 0
    line = os.environ.get("COMP_LINE", "")
    *words, last = split_arg_string(line + "\0")
    typed = last.removesuffix("\0")
    found = [word for word in completions(words[1:], typed) if word.startswith(typed)]
    if len(found) == 1 and found[0].endswith("("):  # what is alone gets a blank, or a closing quote
        found.append(f"{found[0]})")
    if (
        shell == "bash"
    ):  # it parts words at = and @, too, replaces the last part, and quotes nothing
        kept = len(typed) - len(os.environ.get("COMP_WORD", typed).lstrip("'\""))
        found = [word[kept:] for word in found]
        unquoted = re.sub(r"""\\\\.|'[^']*'|"(?:[^"\\\\]|\\\\.)*\"""", "", line)
        if not {"'", '"'}.intersection(unquoted):
            # What the shell would read as its own is escaped, except a blank at the end.
            found = [re.sub(r"([^\w@%+=:,./ -]|[ ](?!$))", r"\\\1", word) for word in found]
    elif shell == "fish":  # which adds its own blank
        found = [word.rstrip() for word in found]
    write_text(f"{word}\n" for word in dict.fromkeys(found))
    return 0


def completions(words: Sequence[str], typed: str) -> Iterator[str]:
    """Completions after some words, given the beginning ``typed``; a blank ends a whole word."""
    if not words:
        yield from whole_words([*COMMANDS, "--help", "--version"])
        yield from complete_calls(typed)
        return
    name, *rest = words if words[0].isidentifier() else ["grad", *words]
    if name not in COMMANDS:
        return
    command = load_command(name)
    options = {opt: p for p in command.params if isinstance(p, click.Option) for opt in p.opts}
    others: list[str] = []
    before = None
    for word in rest:
        is_value = before is not None and not before.is_flag
        if not is_value and word.partition("=")[0] not in options:
            others.append(word)
        before = options.get(word)
    formula = next(iter(others), "")
    if before is not None and not before.is_flag:
        yield from values_of(before, typed, formula)
        return
    if typed.startswith("-"):
        yield from whole_words([*(option for option in options if option[:2] == "--"), "--help"])
    if name == "ops":
        yield from whole_words(function_names())
    elif not formula and not {"-f", "--file"} & {*rest}:
        yield from complete_calls(typed)
    elif "--inputs" in options:
        yield from complete_values(typed, formula, others[1:])


def whole_words(words: Iterable[str]) -> Iterator[str]:
    """Words that are complete: each gets a blank."""
    return (f"{word} " for word in words)


def function_names() -> list[str]:
    """The names of all functions and operations."""
    from exprgrad.graph.ops import FAMILIES, OPS
    from exprgrad.graph.tensors import WORDS

    return [*(op.name for op in OPS), *FAMILIES, *WORDS]


def complete_calls(typed: str) -> Iterator[str]:
    """Complete a formula by a function's name, or by a loop over an index."""
    from exprgrad.language.mistakes.hints import FUNCTION_WORDS
    from exprgrad.language.read.expansion import BUILT_IN

    before = re.split(r"\w*$", typed)[0]
    if before != typed:
        yield from (f"{before}{word}(" for word in sorted({*FUNCTION_WORDS, *BUILT_IN}))
        if before.endswith(" ") and {*before} & {*"([;"}:
            yield f"{before}for k in 1.."


def complete_values(typed: str, formula: str, others: Sequence[str]) -> Iterator[str]:
    """Complete a value: the names of inputs without one, files, and columns of files."""
    from exprgrad.cli.assignments import formula_names
    from exprgrad.run.values.layouts import Layout, detect_layout

    name, equals, value = typed.partition("=")
    if not equals:
        given = {word.partition("=")[0] for word in others}
        yield from (f"{wanted}=" for wanted in formula_names(formula)[0] if wanted not in given)
    elif value.startswith("@"):
        path, colon, _ = value[1:].rpartition(":")
        if colon and path.lower().endswith(".csv"):
            with (
                suppress(OSError, UnicodeDecodeError, ValueError),
                Path(path).open(encoding="utf-8-sig") as file,
            ):
                columns = detect_layout(file.read(2**16), Layout(), ()).names
                yield from whole_words(f"{name}=@{path}:{column}" for column in columns)
        yield from complete_paths(value[1:], "@", f"{name}=@")


def values_of(option: click.Option, typed: str, formula: str) -> Iterator[str]:
    """Complete the value of an option."""
    from exprgrad.cli.assignments import formula_names
    from exprgrad.show.page.lessons import LESSONS

    key = option.opts[-1]
    inputs, statements, calls = (
        formula_names(formula) if key in ("--wrt", "--of", "--expand") else ([], [], [])
    )
    listed = {
        "--lesson": LESSONS, "--expand": [*calls, "all", *function_names()], "--wrt": inputs,
        "--of": statements,
    }  # fmt: skip
    before = typed[: typed.rfind(",") + 1]
    if isinstance(option.type, Words):
        yield from whole_words(option.type.choices)
    elif key in listed:
        yield from (before + word for word in whole_words(listed[key]))
    elif key in ENDINGS:
        yield from complete_paths(typed, key)


def complete_paths(typed: str, where: str, before: str = "") -> Iterator[str]:
    """Complete a path by folders, and by files with fitting endings."""
    name, endings = os.path.basename(typed), ENDINGS[where]  # noqa: PTH119
    if where == "--data":  # as the formats say
        from exprgrad.data.formats import BY_ENDING
        from exprgrad.data.places import PACKED

        endings = (*BY_ENDING, *PACKED)
    folder = typed[: len(typed) - len(name)]
    with suppress(OSError, ValueError):
        for entry in sorted(os.scandir(folder or "."), key=lambda entry: entry.name):
            if not entry.name.startswith(name) or entry.name[0] == "." != name[:1]:
                continue
            path = before + folder + entry.name
            if entry.is_dir():
                yield f"{path}/"
            elif not endings or entry.name.lower().endswith(endings):
                yield f"{path} "

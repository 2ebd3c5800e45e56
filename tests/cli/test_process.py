"""What only a process of its own can show: pipes, signals, terminals, encodings, a full device."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from shell import PROGRAM, command, process

PRODUCT = ("grad", "(a+b)*c", "a=2", "b=-3", "c=10")
SUM = "+".join(["x*y"] * 2_000)
PATIENCE = 30
"""Seconds: far longer than anything here takes, on a machine that is much slower or has much else to do."""


def test_python_m() -> None:
    assert process(*PRODUCT) == command(*PRODUCT)
    assert process("grad", "2x").status == 2


def test_standard_input() -> None:
    assert process("eval", "-q", "-", "a=2", stdin=b"(a\r\n*3)\r\n").out == "6.0\n"
    outcome = process("eval", "-", stdin=b"a = \xff\n")
    assert outcome.status == 2
    assert outcome.err.startswith(
        "error: standard input is not UTF-8 text: byte 0xff at offset 4\n"
    )


def test_arguments_that_are_not_utf8() -> None:
    for argv in (["eval", b"a\xff+1"], ["eval", "a", b"a=\xff", "--json"], [b"\xff"]):
        status, out, err = process(*argv)
        as_json = argv[-1] == "--json"
        assert (status, not out) == (2, not as_json), argv
        assert as_json or err.startswith("error: ")
        assert "Traceback" not in err


def test_a_reader_that_leaves() -> None:
    """``exprgrad grad … | head -1`` ends quietly, however much was still to come."""
    for form in ("--json", "--csv", "--all"):
        running = subprocess.Popen(
            [*PROGRAM, "grad", "-", "x=1", "y=2", form],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert running.stdin and running.stdout and running.stderr
        running.stdin.write(SUM.encode())
        running.stdin.close()
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait(60) == 0, form
        assert running.stderr.read() == b"", form
        running.stderr.close()


def started(*argv: str, given: bytes) -> subprocess.Popen[bytes]:
    """A command that has begun to read what it is given, however long it took to start."""
    # A shell's background jobs, and what they start, ignore interrupts; what has a handler here does not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    running = subprocess.Popen([*PROGRAM, *argv], stdin=pipe, stdout=pipe, stderr=pipe)
    signal.signal(signal.SIGINT, before)
    assert running.stdin is not None
    running.stdin.write(given)
    running.stdin.flush()
    end = time.monotonic() + PATIENCE
    while left_in(running.stdin.fileno()) and time.monotonic() < end:
        time.sleep(0.01)
    return running


def left_in(pipe: int) -> int:
    """How many bytes nobody has read yet."""
    count = fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", count)[0])


def test_an_interrupt_while_formulas_are_made() -> None:
    """It ends as interrupted, and not as done: nothing is finished first."""
    running = started("diff", "--order", "100", "-", given=b"x^x*sin(x)")
    assert running.stdin is not None
    running.stdin.close()
    running.stdin = None
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 130
    assert b"Traceback" not in errors


def test_an_interrupt() -> None:
    """Ctrl-C: status 130 and no traceback."""
    running = started("eval", "-", given=b"a +")
    assert running.stdin and running.stderr and running.stdout
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert b"Traceback" not in running.stderr.read()
    for stream in (running.stdin, running.stdout, running.stderr):
        stream.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "argv", [["eval", "1+1"], ["eval", "-q", "1"], ["ops", "--json"], ["--help"]]
)
def test_a_full_device(argv: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *argv], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the answer: No space left on device\n"


def test_closed_streams() -> None:
    script = '"$@" >&-; a=$?; "$@" 2>&- >/dev/null; b=$?; "$@" <&- >/dev/null; echo $a $b $?'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *PROGRAM, "eval", "1+1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("0 0 0\n", "")


def test_an_encoding_without_our_signs() -> None:
    """Signs of ours become ASCII, the user's letters a question mark; never an error."""
    env = {"PYTHONIOENCODING": "ascii"}
    assert "? += 1 " in process("grad", "--trace", "a*ж", "a=-1", "ж=2", env=env).out
    for encoding in ("ascii", "latin-1", "cp1252"):
        status, out, err = command("grad", "--trace", "a*ж", "a=-1", "ж=2", encoding=encoding)
        assert (status, err) == (0, "")
        assert "? += 1 " in out
        status, out, err = command("grad", "abs(ж)", "ж=0", "--color", "always", encoding=encoding)
        assert status == 0 and "\x1b[" in out and "abs(?)" in err
        found = command("eval", "ж$", encoding=encoding)
        assert found.err.startswith("error: the character '$'")


@pytest.mark.parametrize(
    "argv",
    [
        ["eval", "λ+β", "--csv"], ["grad", "λ+β", "-q"], ["grad", "λ+β", "--order", "naive", "-q"],
        ["jac", "λ+β", "-q"], ["paths", "λ+β", "--csv"], ["descend", "λ+β", "-q"], ["check", "λ+β", "-q"],
    ],
)  # fmt: skip
def test_what_programs_read_confuses_no_names(argv: list[str]) -> None:
    """As question marks λ and β would be one."""
    done = command(*argv, "λ=1", "β=2", encoding="ascii")
    assert done.status == 2 and "?" not in done.out and "lacks the letter U+03" in done.err


def test_our_own_signs_in_csv_where_the_encoding_lacks_them() -> None:
    formula = "+".join(f"x*{n}" for n in range(60))
    done = command("grad", formula, "x=1", "--csv", encoding="ascii")
    assert done.status == 0 and "+...," in done.out
    done = command("grad", "aéb", "aéb=1", "-q", encoding="ascii")
    assert done.status == 2 and "U+00E9" in done.err


def test_colour_as_asked() -> None:
    always = (["--color", "always"], ["--color=always"])
    for argv, colored in (([], False), *((a, True) for a in always), (["--color", "never"], False)):
        _, out, err = command("grad", "abs(x)", "x=0", *argv)
        assert ("\x1b[" in out, "\x1b[" in err) == (colored, colored), argv
    assert "\x1b[" in command("grad", "2x", "--color", "always").err
    assert "\x1b[" not in process("grad", "2x").err


def test_every_form_is_uncoloured_where_it_is_read_by_programs() -> None:
    for form in ("--json", "--csv", "-q"):
        assert "\x1b" not in command(*PRODUCT, form, "--color", "always").out


def on_terminal(argv: list[str], columns: int, env: dict[str, str] | None = None) -> str:
    """What a command prints on a terminal so many columns wide."""
    leader, follower = pty.openpty()
    import fcntl

    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    running = subprocess.Popen(
        [sys.executable, "-m", "exprgrad", *argv],
        stdin=follower, stdout=follower, stderr=follower, env={**clean, "TERM": "xterm", **(env or {})},
    )  # fmt: skip
    os.close(follower)
    content = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        content += piece
    os.close(leader)
    assert running.wait(30) in (0, 2)
    return content.decode().replace("\r\n", "\n")


NUMBERS = [
    "grad",
    "alpha*beta*gamma + alpha/beta",
    "alpha=-1.2345678e-205",
    "beta=9.87654321e+107",
    "gamma=-3.25",
]


@pytest.mark.parametrize("columns", [40, 200])
def test_a_table_on_a_terminal(columns: int) -> None:
    """Coloured, no wider than the terminal, and no digit of a number is lost."""
    shown = on_terminal(NUMBERS, columns)
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines()[:-1])) <= columns
    for line in command(*NUMBERS).out.splitlines()[1:-2]:
        for number in line.split()[-2:]:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", plain), number


def test_the_formula_as_a_map_on_a_terminal() -> None:
    """In colour, or with marks under it where there is none; in a pipe only where it is asked for."""
    colored = on_terminal([*PRODUCT], 40)
    assert colored.startswith("\x1b[36m(\x1b[0m\x1b[1;37;41ma\x1b[0m\x1b[1;37;41m+\x1b[0m")
    marked = on_terminal([*PRODUCT], 40, {"NO_COLOR": "1"})
    assert marked.startswith("(a+b)*c\n▁▇▇▇▁▁▁\n|grad|  ▁ to 2.5  ▃ to 5  ▅ to 7.5\n▇ to 10\n")
    assert "|grad|" not in process(*PRODUCT).out
    plain = process(*PRODUCT, "--heatmap", env={"PYTHONIOENCODING": "ascii"}).out
    assert plain.startswith("(a+b)*c\n_***___\n|grad|  _ to 2.5  : to 5  = to 7.5  * to 10\n")


def test_no_color_and_dumb_terminals() -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[3" not in on_terminal(NUMBERS, 80, env)
    assert "\x1b[31m" in on_terminal(["eval", "2x"], 80)
    assert "\x1b" not in on_terminal(["eval", "2x"], 80, {"NO_COLOR": "1"})


def test_an_error_fits_a_narrow_terminal() -> None:
    shown = on_terminal(["eval", "+".join(["abc"] * 40) + "+$", "--color", "never"], 40)
    lines = shown.splitlines()
    assert max(map(len, lines[1:3])) <= 40
    assert lines[2].index("^") == lines[1].index("$")


def loaded(script: str) -> set[str]:
    """The modules that are loaded when a script has run."""
    code = f"import sys\n{script}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_what_is_loaded() -> None:
    """``import exprgrad`` loads nothing heavy, and a command only what it needs."""
    heavy = {
        "click",
        "lark",
        "rich",
        "numpy",
        "graphviz",
        "mpmath",
        "json",
        "exprgrad.api",
        "unicodedata",
    }
    assert loaded("import exprgrad") & heavy == set()
    run = "from exprgrad.cli.main import main\nmain({!r})"
    unneeded = {"lark", "rich", "numpy", "graphviz", "pygraphviz", "exprgrad.graph.structural"}
    answers = ([*PRODUCT, "--json"], [*PRODUCT], [*PRODUCT, "--trace"])
    assert loaded("\n".join(map(run.format, answers))) & unneeded == set()
    helped = "\n".join(
        f"try: main([{name!r}, '--help'])\nexcept SystemExit: pass" for name in ("batch", "fit")
    )
    assert "numpy" not in loaded(f"from exprgrad.cli.main import main\n{helped}")
    others = (["eval", "2x"], ["ops"])
    assert loaded("\n".join(map(run.format, others))) & unneeded <= {"exprgrad.graph.structural"}
    assert loaded(run.format(["dot", "a*b"])) & unneeded <= {
        "graphviz",
        "exprgrad.graph.structural",
    }
    assert "rich" in loaded(run.format([*PRODUCT, "--color", "always"]))


def test_what_the_smallest_request_loads() -> None:
    """The answer to a small formula needs, beside click, small modules of ours and little of Python's."""
    run = f"import click\nfrom exprgrad.cli.main import main\nmain({[*PRODUCT, '--json']!r})"
    more = loaded(run) - loaded("import click")
    ours = {name for name in more if name.startswith("exprgrad")}
    of_json = {"_json", "json", "json.decoder", "json.encoder", "json.scanner"}
    assert more - ours <= {"__future__", "array", "gc", "importlib", "math", *of_json}
    assert len(ours) <= 46, sorted(ours)

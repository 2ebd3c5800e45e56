"""Texts as a stranger may send them, short and hostile, and a run of each within bounds of memory and time.

``python tests/strangers.py COUNT [SEED]`` runs many, and prints those that are not answered as they should.
Of these one in ``HOSTILE`` has a shape that grows; the others are formulas of the corpora, mixed and
damaged, and words and signs that follow no grammar.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["LONGEST", "Outcome", "drawn_texts", "outcomes"]

LONGEST = 200
"""The longest text, in characters."""
MEMORY, SECONDS = 2**30, 60
"""The bounds of a process's memory, and of a text's processor time: far more than a quiet machine takes."""

NAMES = ("x", "y", "a")
FUNCTIONS = [
    "sin",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "gamma",
    "erf",
    "atan",
    "abs",
    "floor",
    "besselj0",
    "elliptic_k",
    "normcdf",
    "cbrt",
    "cosh",
]
WHOLES = (
    "0",
    "1",
    "2",
    "3",
    "7",
    "40",
    "100",
    "1000",
    "30000",
    "1000000",
    "2000000000",
    "10000000000000000000",
)
NUMBERS = (
    *WHOLES,
    "0.5",
    "1e308",
    "1e-308",
    "1e999",
    "123456789.123456789",
    "5e-324",
    "-1",
    "0.1",
    "inf",
    "nan",
    "pi",
)


class Drawer:
    """Draws texts, by the grammar's own shapes and what makes them large."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        """One text of at most ``LONGEST`` characters."""
        while True:
            text = self.random.choice(
                (self.formula, self.defined, self.recurrence, self.doubled, self.tensor)
            )(4)
            if len(text) <= LONGEST:
                return self.damaged(text) if self.random.random() < 0.05 else text

    def damaged(self, text: str) -> str:
        """A text with a character lost, or put in."""
        at = self.random.randrange(len(text))
        return (
            text[:at]
            + self.random.choice(("", "(", ")", "|", "^", "[", ";", "2", " "))
            + text[at + 1 :]
        )

    def formula(self, depth: int) -> str:
        """A formula of numbers."""
        if depth <= 0:
            return (
                self.random.choice(NAMES)
                if self.random.random() < 0.7
                else self.random.choice(NUMBERS)
            )
        make = self.random.choice(
            (self.infix, self.infix, self.infix, self.call, self.call, self.power, self.over_index,
             self.derivative, self.root, self.choice, self.nested)
        )  # fmt: skip
        return make(depth - 1)

    def infix(self, depth: int) -> str:
        """An operation on two."""
        return f"({self.formula(depth)}{self.random.choice('+-*/%')}{self.formula(depth)})"

    def call(self, depth: int) -> str:
        """A function's call."""
        return f"{self.random.choice(FUNCTIONS)}({self.formula(depth)})"

    def power(self, depth: int) -> str:
        """A power, or a power of powers."""
        base = self.formula(depth)
        return f"({base})" + "".join(
            f"^{self.formula(0)}" for _ in range(self.random.randint(1, 4))
        )

    def over_index(self, depth: int) -> str:
        """A sum or such over one index or more."""
        word = self.random.choice(("sum", "prod", "max", "mean", ""))
        index = self.random.choice("ijkmn")
        body = self.formula(depth).replace("y", index)
        low, high = self.random.choice(("0", "1", "-3", index)), self.random.choice(WHOLES)
        return f"{word}{'(' if word else 'sum(['}{body} for {index} in {low}..{high}{')' if word else '])'}"

    def derivative(self, depth: int) -> str:
        """A derivative of some order."""
        order = self.random.choice(("", ", 2", ", 5", ", 30", ", 1000", ", 1000000"))
        return f"d({self.formula(depth)}, {self.random.choice(NAMES)}{order})"

    def root(self, depth: int) -> str:
        """A root, which may stand in a root."""
        unknown = self.random.choice("EFGx")
        body = self.formula(depth).replace("y", unknown)
        ends = self.random.choice(("1", "0, 2", self.random.choice(NAMES), "-1e308, 1e308", "0.1"))
        return f"root({unknown}+{body}, {unknown}, {ends})"

    def choice(self, depth: int) -> str:
        """A choice."""
        return f"where({self.formula(0)} < {self.formula(0)}, {self.formula(depth)}, {self.formula(depth)})"

    def nested(self, depth: int) -> str:
        """A call within itself."""
        times, word = (
            self.random.randint(2, 12),
            self.random.choice(("sin", "exp", "sqrt", "abs", "-", "1/", "|")),
        )
        close = {"-": ")", "1/": ")", "|": ")|"}.get(word, ")")
        return f"{word}(" * times + self.formula(depth) + close * times

    def defined(self, depth: int) -> str:
        """A function of one's own, called in itself."""
        times = self.random.randint(1, 20)
        body = self.formula(depth - 2).replace("y", "x")
        return f"f(x)={body}*x; " + "f(" * times + self.formula(0) + ")" * times

    def doubled(self, depth: int) -> str:
        """Functions that call the one before twice."""
        sign = self.random.choice("+*/^")
        steps = [
            f"{b}(x)={a}(x){sign}{a}(x+1)" for a, b in zip("fghpqrstu", "ghpqrstuv", strict=True)
        ]
        count = self.random.randint(1, len(steps))
        body = self.formula(depth - 3).replace("y", "x")
        return f"f(x)={body}; {'; '.join(steps[:count])}; {'fghpqrstuv'[count]}(x)"

    def recurrence(self, depth: int) -> str:
        """A recurrence."""
        step = self.formula(depth - 1).replace("y", "s[k-1]")
        count = self.random.choice(("3", "20", "1000", "100000", "10000000"))
        ends = self.random.choice(
            (f"s[{count}]", f"d(s[{count}], x)", f"sum(s[k] for k in 1..{count})")
        )
        return f"s[0]=x; s[k]={step} for k in 1..{count}; {ends}"

    def tensor(self, depth: int) -> str:
        """Tensors of large shapes, and what mixes them."""
        n, m = (
            self.random.choice(("2", "30", "1000", "3000", "100000", "2000000000")) for _ in "nm"
        )
        made = self.random.choice(
            (f"broadcast({self.formula(depth - 3)}, shape=[{n},{m}])", f"linspace(0,x,{n})", f"eye({n})*x",
             f"[{self.formula(1)}, {self.formula(1)}]", f"[x*k for k in 1..{n}]",
             f"reshape(linspace(0,x,{n}),shape=[{m},-1])")
        )  # fmt: skip
        around = (
            "sum({})", "norm({})", "prod({})", "sum({}@{}.T)", "logdet({})", "sum(inv({}))",
            "sum(exp({})*{})", "sum(softmax({}))", "max({})", "{}", "mean({}^2)",
            "det({}@{})", "sum(cumsum({}))",
        )  # fmt: skip
        pattern = self.random.choice(around)
        return pattern.replace("{}", made)


HOSTILE = 20
"""One text in so many is drawn by the shapes that grow, for these take a second or more."""
SIGNS = "()()()[]|,;=+-*/%^<>!'_.:@{}$\\&~#\" \n²½√∑πé"
WORDS = [
    "for",
    "in",
    "..",
    "sum(",
    "d(",
    "where(",
    "root(",
    "and",
    "not",
    "\\frac",
    "\\sum_",
    "x_1",
    "2x",
]
SOUP = (*NAMES, *FUNCTIONS, *NUMBERS, *SIGNS, *WORDS)


def corpus() -> list[str]:
    """The formulas of the corpora, and what people type first."""
    cases = Path(__file__).parent / "cases"
    lines = [
        (line, column)
        for file, column in (("corpus", 1), ("textbook", 0), ("trades", 0), ("meant", 0))
        for line in (cases / f"{file}.txt").read_text().splitlines()
        if line and not line.startswith("#") and line.count(" | ") >= column
    ]
    return [line.split(" | ")[column] for line, column in lines]


def mixed_texts(count: int, seed: int) -> Iterator[str]:
    """So many texts of three kinds: of shapes that grow, cut from two formulas, and of no grammar."""
    formulas = corpus()
    for at in range(count):
        drawer = Drawer(seed * 1_000_003 + at)
        draw = drawer.random
        if at % HOSTILE == 0:
            yield drawer.text()
        elif at % 3:
            first, second = draw.choice(formulas), draw.choice(formulas)
            cut = first[: draw.randint(0, len(first))] + second[draw.randint(0, len(second)) :]
            joined = draw.choice(
                (cut, f"({first}){draw.choice('+-*/^%')}({second})", f"f(x)={first}; f({second})")
            )
            whole = joined[:LONGEST] or first[:LONGEST]
            yield drawer.damaged(whole) if draw.random() < 0.3 else whole
        else:
            yield "".join(draw.choices(SOUP, k=draw.randint(1, 60)))[:LONGEST]


def drawn_texts(count: int, seed: int) -> list[str]:
    """So many texts, each drawn by a number of its own."""
    return [Drawer(seed * 1_000_003 + at).text() for at in range(count)]


class Outcome(NamedTuple):
    """What became of a text: by step the code of an error, ``""`` for an answer, or a failure in words.

    ``seconds`` are those that the processor takes to read it and for the longest step after that, as one
    command does; ``megabytes`` are the most that its process has taken so far.
    """

    text: str
    steps: dict[str, str]
    seconds: float
    megabytes: float

    @property
    def failures(self) -> list[str]:
        """What no text may lead to."""
        return [f"{step}: {said}" for step, said in self.steps.items() if " " in said]


def outcomes(texts: Sequence[str], limit: int | None = None) -> Iterator[Outcome]:
    """What becomes of texts, in processes with bounds; one that a process dies of is told as a failure."""
    left = list(texts)
    settings = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    while left:
        process = subprocess.Popen(
            [sys.executable, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=settings,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        while left:
            try:
                process.stdin.write(json.dumps([left[0], limit]) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            text = left.pop(0)
            if not line:
                yield Outcome(text, {"process": f"died with {process.wait()}"}, SECONDS, 0.0)
                break
            found = Outcome(text, *json.loads(line))
            yield found
            if (
                found.failures or found.megabytes > 200
            ):  # a fresh one, so that the next is measured alone
                break
        process.stdin.close()
        process.stdout.close()
        process.wait()


def run_text(text: str, limit: int | None) -> tuple[dict[str, str], float, float]:
    """Every step of the work on one text."""
    import exprgrad

    steps: dict[str, str] = {}
    seconds: list[float] = []

    def attempt(step: str, action: Any) -> Any:
        start = time.process_time()
        try:
            return tried(step, action)
        finally:
            seconds.append(time.process_time() - start)

    def tried(step: str, action: Any) -> Any:
        try:
            found = action()
        except exprgrad.ExprgradError as error:
            steps[step] = error.code
            str(error)
            return None
        except TimeoutError:
            steps[step] = "took too long"
        except MemoryError:
            steps[step] = "took too much memory"
        except Exception as error:
            steps[step] = f"raised {type(error).__name__}: {error}"[:200]
        else:
            steps[step] = ""
            return found
        return None

    formula = attempt("parse", lambda: exprgrad.parse(text, limit=limit))
    if formula is not None:
        values = dict.fromkeys(formula.inputs, 0.7)
        attempt("eval", lambda: formula.evaluate(values))
        attempt("grad", lambda: formula.gradient(values).gradient)
        if formula.inputs:
            attempt("diff", lambda: formula.derivative(formula.inputs[0]).text)
        attempt("code", lambda: formula.code("python"))
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return steps, round(seconds[0] + max(seconds[1:], default=0.0), 2), round(used)


def work() -> None:
    """Read texts from standard input, one in a line, and write what becomes of each."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    for line in sys.stdin:
        used = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + 3 * SECONDS, resource.RLIM_INFINITY))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        found = run_text(*json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(found), flush=True)  # noqa: T201


def report(count: int, seed: int, slow: float) -> None:
    """Run so many texts, and print what fails, or takes long."""
    slowest = 0.0
    for at, found in enumerate(outcomes(list(mixed_texts(count, seed))), 1):
        slowest = max(slowest, found.seconds)
        if found.failures or found.seconds > slow or found.megabytes > 1000:
            told = f"{found.steps}, {found.seconds} s, {found.megabytes} MB"
            print(at, repr(found.text), told, flush=True)  # noqa: T201
    print(f"{count} texts, seed {seed}: the slowest took {slowest} s")  # noqa: T201


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        report(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 1, 10.0)

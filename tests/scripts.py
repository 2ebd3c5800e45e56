"""Running the page's script without a page: its sweeps, paths and steps, in Node."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from exprgrad import Run
from exprgrad.show.page.arithmetic import expand_tensor_nodes, page_arithmetic, tensor_program
from exprgrad.show.page.model import page_model, tensor_key
from exprgrad.show.page.page import squeeze_script
from programs import require

PARTS = ("numbers", "products", "engine", "orders", "paths", "timeline", "blame", "kinks", "sides")
"""The files of the script that do not touch the document, in their order."""
TENSOR_PARTS = ("numbers", "engine", "tensors", "timeline")
"""Those of a page over tensors."""
NODE = """
const {parts, cases} = JSON.parse(require("fs").readFileSync(0));
const given = x => typeof x === "string" ? Number(x.replace("inf", "Infinity")) : x;
const plain = x => typeof x === "bigint" ? {count: String(x)} : x instanceof Set ? [...x]
  : typeof x !== "number" || Number.isFinite(x) && !Object.is(x, -0) ? x
  : {number: Object.is(x, -0) ? "-0" : String(x).replace("Infinity", "inf")};
const answers = cases.map(({ops, page, args, body, over}) => {
  const source = `"use strict";${ops}\\nconst PAGE = ${JSON.stringify(page)};\\n${parts[over]}`;
  return new Function("ARGS", "given", `${source}\\n${body}`)(args, given) ?? null;
});
console.log(JSON.stringify(answers, (key, x) => plain(x)));
"""


def as_json(x: float) -> float | str:
    """A number as JSON has it; ``given`` reads it."""
    return x if math.isfinite(x) else str(x)


@cache
def script(names: tuple[str, ...]) -> str:
    """Some of the script's files as one, squeezed as on the page."""
    folder = files("exprgrad.show.page").joinpath("assets")
    parts = [folder.joinpath(f"{part}.js").read_text("utf-8") for part in names]
    return "\n".join(map(squeeze_script, parts))


def ask(cases: Sequence[tuple[Run | None, str, Any]]) -> list[Any]:
    """What the script answers: for each case a run, the body of a function of ``ARGS``, and its ARGS.

    The body sees ``PAGE``, ``OPS`` and all that the script defines; ``given`` reads a number that JSON has
    as a text.  A case without a run has no page.
    """
    require("javascript")
    asked = [
        {
            "ops": "" if run is None else operations(run),
            "page": None if run is None else page_model(run),
            "over": "tensors" if run is not None and run.graph.shapes else "numbers",
            "args": args,
            "body": body,
        }
        for run, body, args in cases
    ]
    parts = {"numbers": script(PARTS), "tensors": script(TENSOR_PARTS)}
    done = subprocess.run(
        ["node", "-e", NODE],
        input=json.dumps({"parts": parts, "cases": asked}, allow_nan=False),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]
    return [read(answer) for answer in json.loads(done.stdout)]


def complaint(source: str) -> str:
    """What Node says against a script's syntax; nothing where it is in order."""
    require("javascript")
    done = subprocess.run(
        ["node", "--check", "-"], input=source, capture_output=True, text=True, check=False
    )
    return done.stderr


def operations(run: Run) -> str:
    """What a script works with: operations on numbers, and those on tensors as programs over them."""
    written = expand_tensor_nodes(run)
    told = {
        tensor_key(run, node, ""): tensor_program(run, node, one) for node, one in written.items()
    }
    over = f"const TENSORS = {json.dumps(told)};\n" if told else ""
    return over + squeeze_script(page_arithmetic(run, *(one.run for one in written.values())))


def read(answer: Any) -> Any:
    """An answer with its numbers as Python's."""
    if isinstance(answer, int) and abs(answer) > 2**53:
        return float(answer)
    if isinstance(answer, list):
        return [read(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    if answer.keys() == {"number"}:
        return float(answer["number"])
    if answer.keys() == {"count"} and isinstance(answer["count"], str):
        return int(answer["count"])
    return {key: read(item) for key, item in answer.items()}

"""Rows and their results as Python has them: frames, record batches, files, and what rows come to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike, fspath
from typing import Any, NamedTuple

from exprgrad.data.batch import Done, carried_out, results
from exprgrad.data.blocks import Tally
from exprgrad.data.frames import frame_reduced, framed
from exprgrad.data.groups import labelled
from exprgrad.data.job import Job, result_fields
from exprgrad.data.plans import BAD_ROWS, BatchPlan, job_of, planned
from exprgrad.data.sums import REDUCTIONS, finished
from exprgrad.errors import RequestError
from exprgrad.run.engines.compiled import cores, counted

__all__ = ["Grouped", "Manner", "Reduced", "batched"]


class Manner(NamedTuple):
    """How rows are worked on: what ``exprgrad batch`` says by its options of the same names."""

    only: bool = False
    prefix: str = ""
    bad_rows: str = "null"
    reduce: str | None = None
    by: str | Iterable[str] = ()
    output: str | PathLike[str] | None = None
    to: str | None = None
    resume: bool = False
    check_content: bool = False
    cluster: str | None = None
    threads: int | None = None


class Reduced(NamedTuple):
    """What rows come to: how many ``rows`` they are, ``bad`` ones not counted, and how many meet ``kinks``.

    Of several outputs ``value`` has one for each, and ``jacobian`` their derivatives.
    """

    value: Any
    gradient: Mapping[str, float]
    rows: int
    bad: Mapping[str, int]
    kinks: int
    jacobian: Mapping[str, Mapping[str, float]] = {}
    hessian: Mapping[str, Mapping[str, float]] = {}


class Grouped(dict[Any, Reduced]):
    """What the rows of each group come to: by its cell, or by a tuple of several.

    ``bad`` rows, by reason, and those at ``kinks`` are counted over all groups.
    """

    bad: Mapping[str, int]
    kinks: int


def batched(text: str, data: object, manner: Manner, **asked: Any) -> Any:
    """A frame with its results, files' record batches with theirs, or what the rows come to.

    ``asked`` is for ``job_of``.  With an ``output`` it is what is told of the rows written: a ``Tally``.
    """
    by = (manner.by,) if isinstance(manner.by, str) else tuple(dict.fromkeys(manner.by))
    listed = data if isinstance(data, list | tuple) else [data]
    has_files = bool(listed) and all(isinstance(path, str | PathLike) for path in listed)
    refuse(manner, by, has_files)
    if not has_files:
        job = job_of(text, **asked)._replace(bad=manner.bad_rows, reduce=manner.reduce or "", by=by)
        if manner.reduce:
            return reduced_answer(job, frame_reduced(job, data))
        return framed(job, data, only=manner.only, prefix=manner.prefix)
    output = None if manner.output is None else fspath(manner.output)
    plan = planned(
        text,
        [*map(fspath, listed)],
        **{name: getattr(manner, name) for name in ("only", "prefix", "bad_rows")},
        reduce=manner.reduce or "",
        by=by,
        path=output,
        to=manner.to if output else "arrow",
        **asked,
    )
    if manner.reduce:
        return reduced_answer(plan.job, done(plan, manner))
    return (
        results(plan, counted(manner.threads) or cores())
        if output is None
        else done(plan, manner).tally
    )


def refuse(manner: Manner, by: tuple[str, ...], has_files: bool) -> None:
    """Errors for words that are none, and for arguments that have no room beside each other."""
    words: tuple[tuple[str, str | None, Collection[str]], ...] = (
        ("bad_rows", manner.bad_rows, BAD_ROWS),
        ("reduce", manner.reduce or None, REDUCTIONS),
    )
    for name, word, known in words:
        if word is not None and word not in known:
            message = f"there is no {name}={word!r}"
            raise RequestError("usage", message, help=f"it is {', '.join(map(repr, known))}")
    rows_alone = manner.only or manner.output is not None or manner.to is not None
    files_alone = manner.output is not None or manner.cluster is not None
    for is_wrong, why in (
        (by and not manner.reduce, "by= needs reduce=: groups are of rows that are reduced"),
        (rows_alone and manner.reduce, "only=, output= and to= are for rows, and reduce= leaves none"),
        (manner.to and manner.output is None, "to= needs output="),
        (manner.resume and manner.output is None, "resume= needs output="),
        (manner.check_content and manner.output is None, "check_content= needs output="),
        (files_alone and not has_files, "output= and cluster= need files, and no frame"),
        (manner.cluster and not (manner.reduce or manner.output), "cluster= needs output= or reduce="),
    ):  # fmt: skip
        if is_wrong:
            raise RequestError("usage", why)


def done(plan: BatchPlan, manner: Manner) -> Done:
    """Carry a plan out, so that another run can go on with it."""
    from exprgrad.data.manifests import manifest_beside, resumable

    with ExitStack() as around:
        kept = workers = None
        if plan.path is not None and resumable(plan, plan.path):
            how = manner.resume, manner.check_content
            kept = around.enter_context(manifest_beside(plan.path, plan, *how))
        elif manner.resume or manner.check_content:
            raise RequestError("usage", "resume= and check_content= need files on this machine")
        if manner.cluster is not None:
            from exprgrad.data.cluster import cluster_at

            workers = around.enter_context(cluster_at(manner.cluster))
        return carried_out(
            plan, kept=kept, workers=workers, threads=counted(manner.threads) or cores()
        )


def reduced_answer(job: Job, found: Done) -> Reduced | Grouped:
    """What rows come to, all of them or by group."""
    assert found.partial is not None
    groups = finished(job.reduce, found.partial, job.by)
    if not job.by:
        return answer_of(job, *groups[()], found.tally)
    answer = Grouped()
    answer.bad, answer.kinks = dict(found.tally.bad), found.tally.kinks
    for key, (rows, values) in zip(labelled(job, [*groups]), groups.values(), strict=True):
        answer[key[0] if len(key) == 1 else key] = answer_of(job, rows, values, Tally())
    return answer


def answer_of(job: Job, rows: int, values: Sequence[float], tally: Tally) -> Reduced:
    """What some rows come to."""
    fields = {"gradient": {}, **result_fields(job, values)}
    return Reduced(rows=rows, bad=dict(tally.bad), kinks=tally.kinks, **fields)

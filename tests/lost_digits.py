"""Of which numbers warnings about lost digits speak."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exprgrad.run.evaluation import SweptRun
from exprgrad.source import cut_text

VALUE = "value"
LABEL = 40
"""Where the text is cut by which messages call a value."""
ABOUT = re.compile(r"right digit|known to be right|no true value|depends? on how")


def about(run: SweptRun, messages: Iterable[str]) -> set[str]:
    """The numbers of a run that some messages name: ``VALUE``, and inputs for the derivatives by them.

    A message that stops naming numbers, and says how many more there are, may mean any.
    """
    told = [message for message in messages if ABOUT.search(message)]
    label = cut_text(run.label(run.graph.output), LABEL)
    found = {VALUE} if any(label in message.replace(".grad", "\n") for message in told) else set()
    for name in run.graph.inputs:
        slope = re.compile(rf"(?<!\w){re.escape(name)}\.grad(?!\w)|\d more ")
        if any(slope.search(message) for message in told):
            found.add(name)
    return found

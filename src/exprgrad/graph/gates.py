"""The gates of the op table as sentences: what an operation does with the grad that reaches it.

A row's ``gate`` is a key of ``GATES``; a row with a new one says here, too, what it does.
"""

from __future__ import annotations

__all__ = ["GATES"]

GATES = {
    "distributor": "it passes its grad unchanged to each operand",
    "distributor, sign flipped": "it passes its grad unchanged to the first operand, and with the sign "
    "flipped to the second",
    "swap multiplier": "it passes to each operand its grad times the other operand",
    "sign flipper": "it passes its grad on with the sign flipped",
    "scaler": "it passes its grad on times its own slope",
    "scales by its own output": "it passes its grad on times its own result",
    "power": "it passes its grad on times the slope of the power",
    "blocker": "it is flat wherever it does not jump, so it passes nothing on",
    "switch": "it passes its grad to the branch that was taken, and nothing to the other",
    "router": "it passes its grad to the operand that is the result, and 0 to the others; ties share it",
    "sign router": "it passes its grad on, with the sign flipped where its operand is negative",
    "gate": "it passes its grad on unchanged where its operand is positive, and 0 elsewhere",
    "leaky gate": "it passes its grad on unchanged where its operand is positive, little of it elsewhere",
    "soft gate": "it passes its grad on nearly unchanged where its operand is large, and hardly any where "
    "it is very negative",
    "softmax router": "it shares its grad out among its operands, most of it to the largest",
}
"""By gate: a sentence without its subject's name."""

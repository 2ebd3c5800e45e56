"""Networks of neurons as formulas."""

from __future__ import annotations

__all__ = ["network"]


def network(*widths: int) -> tuple[str, dict[str, float]]:
    """A network of neurons, and numbers for its inputs."""
    values = {f"x{at}": at / 4 for at in range(1, widths[0] + 1)}
    lines, before = [], [*values]
    for layer, width in enumerate(widths[1:], 1):
        names = [f"a{layer}_{at}" for at in range(1, width + 1)] if width > 1 else ["out"]
        for at, name in enumerate(names, 1):
            weights = [f"w{layer}_{at}_{place}" for place in range(1, len(before) + 1)]
            values |= {w: ((at + 2 * place) % 5 - 2) / 4 for place, w in enumerate(weights)}
            terms = [f"{w}*{x}" for w, x in zip(weights, before, strict=True)]
            lines.append(f"{name} = tanh({' + '.join(terms)})")
        before = names
    return "; ".join(lines), values

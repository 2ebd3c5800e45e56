r"""Names in LaTeX: ``w12`` is ``w_{12}``, ``sigma_x`` is ``\sigma_{x}``, ``rate`` is ``\mathit{rate}``.

Words are italic, for functions are upright: ``\mathit{sin}`` is an input, ``\sin x`` a sine.
"""

from __future__ import annotations

import re

from exprgrad.graph.graph import Literal, in_lists
from exprgrad.language.write.infix import number

__all__ = ["GREEK", "lettered", "literal", "numeral", "symbol"]

ALPHABET = "αβγδεζηθικλμνξοπρστυφχψω"
NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "
    "nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
)
CAPITALS = "AB  EZH IK MN O P T  X  "
"""The Latin capitals that Greek ones look like: TeX has no commands for these."""


MOST_COLUMNS = 10
"""The most columns that amsmath gives a matrix, unless it is told otherwise."""


def greek() -> dict[str, str]:
    """The Greek letters, and a few that keep them company, by name and by themselves."""
    table = {name: rf"\{name}" for name in ("ell", "hbar", "varphi", "vartheta")}
    table |= {"ς": r"\varsigma", "ϵ": r"\epsilon", "ϕ": r"\phi", "ϑ": r"\vartheta", "µ": r"\mu"}
    table |= {"ℓ": r"\ell", "ħ": r"\hbar"}
    for letter, name, capital in zip(ALPHABET, NAMES.split(), CAPITALS, strict=True):
        small = {"epsilon": r"\varepsilon", "omicron": "o"}.get(name, rf"\{name}")
        large = rf"\{name.capitalize()}" if capital == " " else rf"\mathrm{{{capital}}}"
        table |= {name: small, letter: small, name.capitalize(): large, letter.upper(): large}
    return table


GREEK = greek()


def symbol(name: str) -> str:
    r"""One name in LaTeX; trailing digits and what follows ``_`` go below: ``x_{\mathrm{max}}``.

    Letters beyond ASCII and Greek are text, ``\textit{…}``: KaTeX, MathJax, XeLaTeX and LuaLaTeX set all
    of these, given a font that has them, pdfLaTeX the accented Latin ones.
    """
    first, *below = name.split("_")
    if not first or not all(below):
        return lettered(name, r"\mathit")
    split = re.fullmatch(r"(.*[^0-9])([0-9]+)", first)
    head, digits = split.groups() if split else (first, "")
    subscripts = [digits] * bool(digits) + [word(part, r"\mathrm") for part in below]
    return word(head, r"\mathit") + (f"_{{{', '.join(subscripts)}}}" if subscripts else "")


def word(text: str, font: str) -> str:
    r"""A letter, a number or a word; a difference such as ``Δx`` is ``\Delta x``."""
    simple = short(text)
    if simple:
        return simple
    rest = text[1:]
    if text[0] in "Δδ" and (rest.isascii() or rest in GREEK):
        return f"{GREEK[text[0]]} {short(rest) or lettered(rest, font)}"
    return lettered(text, font)


def short(text: str) -> str:
    """A Greek letter, an ASCII letter or a number; else nothing."""
    plain = text.isascii() and (len(text) == 1 or text.isdecimal())
    return GREEK.get(text) or (text if plain else "")


def lettered(name: str, font: str) -> str:
    """A name letter by letter in a font; as text, if math fonts lack one of its letters."""
    if all(letter.isascii() or letter in GREEK for letter in name):
        letters = [c if c.isascii() else f"{{{GREEK[c]}}}" for c in name]
        return f"{font}{{{''.join(letters)}}}".replace("_", r"\_")
    font = font.replace("math", "text")
    return f"{font}{{{name}}}".replace("_", rf"}}\_{font}{{")


def numeral(text: str) -> str:
    """A number, in scientific notation if it is long; anything else as it is."""
    sign, size = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, exponent = size.partition("e") if size[:1].isdecimal() else (size, "", "")
    if not exponent:
        return text
    power = f"10^{{{int(exponent)}}}"
    return sign + (power if mantissa == "1" else rf"{mantissa} \cdot {power}")


def literal(value: Literal) -> str:
    """A tensor that is written out."""
    entries = [numeral(number(entry)) for entry in value.numbers]
    if len(value.shape) == 2 and value.shape[1] <= MOST_COLUMNS:
        width = value.shape[1]
        lines = [" & ".join(entries[at : at + width]) for at in range(0, len(entries), width)]
        return r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"
    return in_lists(entries, value.shape)

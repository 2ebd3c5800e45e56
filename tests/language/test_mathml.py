"""MathML: sound elements, and the same to be read as in the LaTeX that it was made from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exprgrad.graph.ops import OPS, Op
from exprgrad.language.read.parse import parse_text
from exprgrad.language.write.latex import graph_latex, latex_symbol
from exprgrad.language.write.mathml import mathml_of_latex
from golden import CASES
from strategies import programs
from together import together

steady = settings(derandomize=True)

CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "munder": 2, "mroot": 2}
TEXTS = {"mi", "mn", "mo", "mtext"}
OTHERS = {"math", "mrow", "msqrt", "mtable", "mtr", "mtd", "mspace"}
ATTRIBUTES = {"stretchy", "form", "lspace", "rspace", "width", "mathvariant", "style"}

GREEK = {
    "lambda": "SMALL LETTER LAMDA", "Lambda": "CAPITAL LETTER LAMDA", "epsilon": "LUNATE EPSILON SYMBOL",
    "varepsilon": "SMALL LETTER EPSILON", "phi": "PHI SYMBOL", "varphi": "SMALL LETTER PHI",
    "vartheta": "THETA SYMBOL", "varsigma": "SMALL LETTER FINAL SIGMA",
}  # fmt: skip
SIGNS = {
    "infty": "INFINITY", "ell": "SCRIPT SMALL L", "hbar": "LATIN SMALL LETTER H WITH STROKE",
    "top": "DOWN TACK", "cdot": "DOT OPERATOR", "odot": "CIRCLED DOT OPERATOR", "|": "DOUBLE VERTICAL LINE",
    "otimes": "CIRCLED TIMES", "times": "MULTIPLICATION SIGN", "le": "LESS-THAN OR EQUAL TO",
    "ge": "GREATER-THAN OR EQUAL TO", "ne": "NOT EQUAL TO", "sum": "N-ARY SUMMATION",
    "prod": "N-ARY PRODUCT", "lfloor": "LEFT FLOOR", "rfloor": "RIGHT FLOOR", "lceil": "LEFT CEILING",
    "rceil": "RIGHT CEILING",
}  # fmt: skip
THIN = '<mspace width="0.17em"/>'
OPENED, CLOSED = '<mo stretchy="false">[</mo>', '<mo stretchy="false">]</mo>'
SILENT = {"left", "right", "frac", "sqrt", ",", "\\"}


def read(text: str) -> str:
    """What is to be read in LaTeX, by the Unicode names of its commands; blanks aside."""
    text = text.replace(r"\begin{cases}", "\1").replace(r"\begin{pmatrix}", "(")
    text = text.replace(r"\end{pmatrix}", ")")
    text = re.sub(r"\\(?:begin|end)\{\w+\}|\\(?:operatorname|text\w*|math\w*)(?=\{)", "", text)
    text = re.sub(r"\\([A-Za-z]+|.)", lambda command: letter(command[1]), text)
    text = re.sub(r"[{}^_&\s]", "", text)
    return text.replace("\1", "{").replace("\2", "_").replace("-", "−")


def letter(command: str) -> str:
    """What a command looks like: a letter, a sign, or its own name in print."""
    if command in SILENT:
        return " "
    if command == "_":
        return "\2"
    if command in SIGNS:
        return unicodedata.lookup(SIGNS[command])
    if command == "bmod":
        return "mod"
    size = "CAPITAL" if command[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup("GREEK " + GREEK.get(command, f"{size} LETTER {command.upper()}"))
    except KeyError:
        return command


def shown(element: Element) -> Iterator[str]:
    """What is to be read in MathML; a root's index comes first, as in LaTeX."""
    todo = [element]
    while todo:
        found = todo.pop()
        yield found.text or ""
        children = list(found)
        todo += children if found.tag == "mroot" else children[::-1]


def sound(text: str) -> Element:
    """The element of a text, after a look at all elements in it."""
    root = ElementTree.fromstring(text)
    assert root.tag == "math"
    for element in root.iter():
        assert element.tag in TEXTS | OTHERS | CHILDREN.keys(), element.tag
        assert element.attrib.keys() <= ATTRIBUTES
        assert len(element) == CHILDREN.get(element.tag, len(element)), text
        assert bool(element.text) == (element.tag in TEXTS), text
        assert element.tag != "mrow" or len(element) != 1, text
        assert not element.tail
    return root


def holds(written: str) -> None:
    """MathML of a LaTeX text is sound and says the same."""
    root = sound(mathml_of_latex(written))
    visible = re.sub("[\u2061\u00a0]", "", "".join(shown(root)))
    assert visible == read(re.sub(r"\\sqrt\[3\]", "3", written)), written


def looked_at() -> list[str]:
    """The LaTeX of the formulas and the names that were looked at in print."""
    blocks = (CASES / "latex" / "formulas.txt").read_text("utf-8").strip().split("\n\n")
    names = (CASES / "latex" / "names.txt").read_text("utf-8").strip().split("\n")
    return [block.partition("\n")[2] for block in blocks] + [n.partition("  ")[2] for n in names]


def test_what_was_looked_at() -> None:
    written = looked_at()
    assert len(written) > 200
    for text in written:
        holds(text)


@together(OPS)
def test_every_row(op: Op) -> None:
    for names in (op.names, tuple(f"({name} + 1)" for name in op.names)):
        if op.infix:
            text = op.infix.join(names)
        elif op.prefix:
            text = op.prefix + names[0]
        else:
            text = f"{op.name}({', '.join([*names, 'z'] if op.variadic else names)})"
        holds(graph_latex(parse_text(text)))


@together(
    [
        "det(A)*x",
        "logdet(A)",
        "sum(A)",
        "max(A)",
        "norm(A)",
        "A.T @ v",
        "A[0, 1]*x",
        "trace(A)",
        "dot(u, v)",
    ]
)
def test_operations_on_tensors(text: str) -> None:
    holds(graph_latex(parse_text(text)))


@settings(steady, max_examples=120)
@given(programs())
def test_every_formula(text: str) -> None:
    holds(graph_latex(parse_text(text)))


letters = st.characters(categories=("L", "N", "Mn", "Pc"))


@settings(steady, max_examples=120)
@given(st.text(letters, min_size=1, max_size=6).filter(str.isidentifier))
def test_every_name(name: str) -> None:
    root = sound(mathml_of_latex(latex_symbol(name)))
    assert root.find(".//msup") is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2", "<mn>2</mn>"),
        ("x*y", "<mi>x</mi><mi>y</mi>"),
        ("a - b", "<mi>a</mi><mo>−</mo><mi>b</mi>"),
        ("-a", '<mo form="prefix">−</mo><mi>a</mi>'),
        ("y = -a", '<mi>y</mi><mo>=</mo><mo form="prefix">−</mo><mi>a</mi>'),
        ("x^2", "<msup><mi>x</mi><mn>2</mn></msup>"),
        ("x1^(a*b)", "<msubsup><mi>x</mi><mn>1</mn><mrow><mi>a</mi><mi>b</mi></mrow></msubsup>"),
        ("a/b", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        ("cbrt(x)", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
        ("sqrt(x + 1)", "<msqrt><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></msqrt>"),
        ("sin(x)^2", f"<msup><mi>sin</mi><mn>2</mn></msup><mo>\u2061</mo>{THIN}<mi>x</mi>"),
        ("rate*x", f'<mi style="font-style:italic">rate</mi>{THIN}<mi>x</mi>'),
        ("Gamma", '<mi mathvariant="normal">Γ</mi>'),
        ("abs(x)", "<mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow>"),
        ("1 < y", f"<mrow>{OPENED}<mn>1</mn><mo>&lt;</mo><mi>y</mi>{CLOSED}</mrow>"),
    ],
)  # fmt: skip
def test_elements(text: str, written: str) -> None:
    assert mathml_of_latex(graph_latex(parse_text(text))) == f"<math>{written}</math>"


def test_text_is_escaped() -> None:
    root = sound(mathml_of_latex(r"\textit{<b>&amp;'} + \text{</math><script>}"))
    assert "".join(shown(root)) == "<b>&amp;'+</math><script>"


@together(["{", "}", "(a", "a)", "(a]", r"\left(a)", r"\frac a b", "^{2}", "a & b", r"a \\ b", "#", "é",
     r"\begin{matrix} a \end{matrix}", r"\begin{cases} a", r"\left.a\right)", r"x^2", r"\'",
     r"\alpah", r"\foo x", r"\textit{\foo}"])  # fmt: skip
def test_other_latex_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not LaTeX that exprgrad writes"):
        mathml_of_latex(text)


@pytest.mark.parametrize(
    ("opening", "closing"), [("sin(", ")"), ("-(", ")"), ("x^(", ")"), ("1/(", "+1)")]
)
@pytest.mark.parametrize("depth", [1_500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_depth_does_not_recurse(opening: str, closing: str, depth: int) -> None:
    written = mathml_of_latex(graph_latex(parse_text(opening * depth + "x" + closing * depth)))
    expat.ParserCreate().Parse(written, True)
    assert len(written) < 200 * depth

"""Every way to get a formula wrong: what is said, where the caret stands, and the mend.

The golden files hold, for each formula, what people read on stderr and what programs read as JSON.
"""

from __future__ import annotations

import json
import re

import pytest

import golden
from exprgrad import LanguageError, parse
from exprgrad.source import display_width, printable_text
from shell import command, spelled
from together import together

GROUPS: dict[str, list[str]] = {
    "functions": [
        "tahn(x1*w1 + b)", "sinn(x)", "Sin(x)", "EXP(x)", "sgimoid(x)", "ln(x)", "arctan(x)",
        "arcsin(x)", "pow(x, 2)", "square(x)", "fmod(a, b)", "if(a > 0, a, b)", "foo(x)", "x(2)",
        "a = 1; a(2)", "pi(2)", "e(x)", "len(x)", "np.exp(x)", "math.sin(x)", "torch.relu(x)",
        "np.pi", "numpy.square(x)", "self.x", "math.e", "sqrt(x) + tanhh(x) + 1", "gellu(x)",
        "swish(x)", "step(x)", "LeakyReLU(x)", "F.gelu(x)", "nn.SiLU()(x)", "np.sinc(x)",
        "np.heaviside(x, 1)", "F.leaky_relu(x, 0.2)", "elu(x, 2)", "heaviside(x, 1)",
        "sin()", "sin(x, y)", "max()", "where(a, b)", "atan2(x)",
        "clamp(x, 0)", "log(x, 10)", "np.linalg.norm(x)", "tf.nn.tanh(x)", "π*r^2", "e^x", "sin",
        "sin + 1", "sin x", "sin 2", "exp -x", "sin^2(x)",
    ],
    "juxtaposed": [
        "2x", "2(a+b)", "2 x", "a b", "(a)(b)", "(a+b)c", "(a)2", "a 2", "2 3", "1,000", "1_000",
        "1e", "1e+", "2.5.1", "0x10", "1.2e3x", "3j", "x2 y2", "2pi", "2sin(x)", "a and b",
        "a or b", "not a", "a if b else c", "lambda x: x^2", "10 mod 3", "a\n(b)", "1 000",
        "12,345,678", "1,5", "sin**2 (x)", "x (y)",
    ],
    "short": [
        "2*sum(x^k, k, 1, 10)", "prod(k, 1, 10, x + k)", "sum(a, b, c, d)",
        "d(r=2, r)", "root(E=2, E, 1)", "a[k] = [a] for k in 1..3; a[1]",
        "f(x) = g(x); g(x) = f(x); f(2)",
        "f(x) = f(x-1) + 1; f(3)",
        "f(x) = x^2; f + 1",
        "f(x) = x^2; f",
        "sin(x) = x; sin(2)",
        "d(x) = x; d(2)",
        "pi(x) = x; pi(2)",
        "f() = 3; f()",
        "f(x, x) = x; f(1, 2)",
        "f(2) = 3; f(2)",
        "f(x+1) = x; f(2)",
        "f(x) = x; f(1, 2)",
        "f(x) = x; f(a=1)",
        "y = f*2; f(x) = x; f(y)",
        "f(x) = a*x; a = 3; f(2)",
        "f(x) = x; f = 3; f",
        "f = 3; f(x) = x; f(2)",
        "f(x) = x; f(x) = x^2; f(2)",
        "f(x) := x^2; f(3)",
        "def f(x): return x^2",
        "f = lambda x: x^2; f(3)",
        "f: x -> x^2; f(3)",
        "f(x) == x^2; f(3)",
        "f(x): x^2",
        "let f(x) = x^2; f(2)",
        "sum(x^k for k in 1..n)",
        "sum(x^k for k in 1..T, axis=0)",
        "sum(x^k for k in 1..3 if k > 1)",
        "sum(axis=0 for k in 1..3)",
        "sum(x^k for k in 1.5..5)",
        "sum(x^k for k in 1..10/2)",
        "sum(x^k for k in range(1, 11))",
        "sum(x^k for k in range(10))",
        "sum(x^k for k = 1..10)",
        "sum(x^k for k in 1:10)",
        "sum(x^k for k in 1...10)",
        "sum(x^k for k in [1, 2, 3])",
        "sum(x^k for k in 1..10 by 2)",
        "sum(k, 1, 10, x^k)",
        "sum(x^k, k, 1, 10)",
        "sum(x^k, {k, 1, 10})",
        "Sum[x^k, {k, 1, 10}]",
        "sum(x^k, k=1..10)",
        "sum(x^k, k = 1:10)",
        "∑(x^k, k, 1, 10)",
        "Σ(x^k, k=1, 10)",
        "k*sum(x^k for k in 1..3)",
        "sum(x^k for k in 1..3) + k",
        "k = 3; sum(x^k for k in 1..3)",
        "sum(sum(k for k in 1..3) for k in 1..2)",
        "f(k) = sum(k for k in 1..3); f(2)",
        "norm(x for k in 1..3)",
        "foo(x for k in 1..3)",
        "max(k for k in 3..1)",
        "[k for k in 3..1]",
        "for k in 1..3: x",
        "for k in range(10): s = s + k",
        "[x^k for k in 1..3 for k in 1..3]",
        "x[k] = x[k-1]/2 for k in 1..10; x[10]",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 1..10; x",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 1..10; x[-1]",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 1..10; x[1:3]",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 1..10; x[11]",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 1..10",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 0..10; x[10]",
        "x[0] = 1; x[k] = x[k+1]/2 for k in 1..10; x[10]",
        "x[0] = 1; x[2*k] = x[k]/2 for k in 1..10; x[10]",
        "x[0] = 1; x[k] = x[k-1]/2 for k in 10..1; x[10]",
        "x[0] = 1; x[k] = x[k-1]/2; x[10]",
        "x[0] = 1; x[k] = x[k-1]/2 for j in 1..10; x[10]",
        "y = x + 1; x[0] = 1; x[k] = x[k-1]/2 for k in 1..10; x[10]",
        "x = 1; x[k] = x[k-1]/2 for k in 1..10; x[10]",
        "x[0] = 1; x = 3; x",
        "x[0, 0] = 1; x[1]",
        "x(0) = 1; x(k) = x(k-1)/2; x(10)",
        "x_0 = 1; x_k = x_{k-1}/2 for k in 1..10; x_10",
        "x[n+1] = x[n]/2; x[10]",
        "x[1..3]",
        "[1..3]",
        "S[0]=1; I[0]=2; S[k]=S[k-1]-I[k-1]; I[k]=I[k-1]*2 for k in 1..3; I[3]",
        "d(x)",
        "d(x^2, 2*x)",
        "d(x^2, x, 0)",
        "d(x^2, x, n)",
        "sum(d(x^k, k) for k in 1..2)",
        "root(x^2 - 2)",
        "root(x^2 - 2, 1)",
        "root(x^2 = 2, x, 1)",
        "2..T",
        "x[i]",
        "x[n]",
        "sum x^k for k in 1..10",
        "sum(x^k) for k in 1..10",
        "x^k for k in 1..10",
        "sum(x^k for k from 1 to 10)",
        "sum(x^k for k in 1 to 10)",
        "sum(x^k for k=1 to 10)",
        "sum(w_k for k in 1..3)",
        "sum(x_k for k in 1..3)",
        "sum(x[k] for k in x)",
        "sum(x for x in X)",
        "f(x,y)=x*y; f 2 3",
        "x[0]=1; x[k]=x[k-1]+1 for k in 1..2000000; x[9]",
        "sum(x for k in 1..10000000000)",
    ],
    "characters": [
        "x²", "x³ + 1", "(a+b)²", "x⁻¹", "x¹²", "√x", "√(x)", "a×b", "a·b", "a÷b", "a−b", "a – b",
        "π r²", "½x", "a ≤ b", "a ≠ b", "∂x", "∑x",
        r"\frac{a}{b", r"\sin x/2", r"a\\b", r"\foo", "{a}",
        "|x|", "a & b", "a && b", "a || b", "5!", "a ? b : c", "x := 2",
        "$x", "'a'", '"a"', "`a`", "f'(x)", "~a", "a^^b", "x٣", "٣", "x€", "a b", "a.b", ".",
        "1..2", "a,b", "(a, b)", "a;;b", "xⁿ", "xⁿ⁺¹", "Aᵀ", "xˆ2", "ǀxǀ", "πr", "x₁₂", "sin(30°)", "√x^2",
        "√(x + 1)²", "||x||", "|a|b|c|", "|a||b|", "2|x|", "x²^3", "sin²(x)", "sin⁻¹ x", "∛x^2", "２x",
    ],
    "operators": [
        "a +", "a -", "a *", "* a", "/ a", "a + * b", "a ** ** b", "a // b", "a <> b", "a += b",
        "x++", "x++ + 1", "a --", "a ^", "2 ^", "a +\nb", "a\n+ b", "+", "a < b < c", "a == b == c",
        "1 < x <= 2", "a = = b", "a =< b", "a => b", "a === b", "a !== b", "%", "a %% b", "a < ",
        "1 + a < b < c", "max(a<b<c, 1)", "x -> x + 1", "(a +)", "sin(+)", "a + # b",
    ],
    "lists": [
        "[]", "[[]]", "[1 2]", "[1 -2 3 x]", "[1, 2", "[[1, 2], [3, 4]", "[1, 2)", "(1, 2]", "(1, 2)",
        "1]", "[1; 2]", "[1 2; 3 4]", "[1, 2; x, 4]", "[a b]", "[1,]", "[,1]", "[1,,2]", "[1:3]",
        "[2x, 1]", "[1 +]", "[1, 2](3)", "[1, 2]3", "[a=1]", "[", "[1\n2]", "[1, # two\n", "{1, 2}",
        "[1, 2][1, 2", "[x for x in y]", "concat([a, b])", "stack([[1, 2], [3, 4]])", "array([1, 2])",
        "np.array([1, 2])", "[1, 2].sum()", "ones((2, 2))", "concatenate((x, y))",
    ],
    "indices": [
        "x[]", "x[", "x[0", "x[0)", "x(0]", "x]", "x[a]", "x[i+1]", "x[1/1]", "x[1.5]", "x[1e3]",
        "x[-a]", "x[::2]", "x[0:4:2]", "x[:, ::-1]", "x[0,]", "x[,0]", "x[0,,1]", "x[1:", "x[...]",
        "x[None]", "x[:, np.newaxis]", "x[[0, 1]]", "x[x > 0]", "x[(0.5)]", "x[99999999999999999999]",
        "x[0] y", "x[0]2", "x[0](y)", "x[0 1]", "x[a:b]", "x[0];y[", "x[0, 1] = 2", "index(x, 0)",
    ],
    "tensors": [
        "x'", "(x + y)'", "X ⊙ W", "x ⊗ y", "‖x‖", "∑x", "Xᵀ @ W", "x.t", "x.T.t", "x.t()",
        "x.transpose()", "x.shape", "x.T.shape", "x.sum()", "(a + b).sum()", "x.mean(axis=1)",
        "X.dot(W)", "X.matmul(W)", "x.view(2, 3)", "x.reshape(2, -1)", "x.flatten()", "x.argmax()",
        "x.foo()", "x.T2", "x.T y", "x.T(2)", ".T", "x.T = 2", "np.sum(x)", "np.dot(a, b)",
        "np.concatenate([a, b])", "torch.softmax(x, 1)", "F.log_softmax(x)",
        "torch.nn.functional.cross_entropy(x, y)", "x @", "@ x", "x @@ y", "x @= y", "x @ * y", "sum x",
        "sofmax(x)", "sotfmax(x)", "matmull(x, y)", "reshap(x, 1)", "cross_entrpy(x, y)",
        "log_sumexp(x)", "amax(x)", "argmax(x)", "log_softmax(x)", "mse_loss(x, y)", "linalg.norm(x)",
        "einsum(x, y)", "vstack(a, b)", "hstack(a, b)", "concatenate(a, b)", "mm(x, y)", "bmm(x, y)",
        "t(x)", "t = 2; t(3)", "permute(x, 1, 0)", "view(x, 2)", "flatten(x)", "squeeze(x)", "ones(3)",
        "zeros(3)", "eye(3)", "var(x)", "tensordot(a, b)", "sum()", "sum(x, y)", "sum(a, b, c, d)",
        "mean(a, b)", "softmax(a, b)", "dot(x)", "dot(x, y, z)", "transpose(x, 1, 0)",
        "reshape(x, 2, 3)", "reshape(x, (2, 3))", "trace(x, 1)", "concat()", "cross_entropy(x)",
        "np.max(X, 0)", "X.norm(1)", "norm(x, ord=1)", "transpose(x, 0, 1)", "Z.log_softmax(1)", "X.T()",
        "x.grad", "X.H", "x.detach()", "slogdet(X)", "np.linalg.inv(X) @ y", "X.I",
        "torch.bmm(X, Y)", "np.ones((2, 2))",
        "np.std(x)", "np.hstack((x, y))", "(x + 1).mean(dim=0)", "mylib.exp(x)", "sum(1, 2, 3)",
        "x.clip(0, 1)", "Math.max(x, 0)",
    ],
    "settings": [
        "sum(x, axis=a)", "sum(x, axis=1.5)", "sum(x, axis=-a)", "sum(x, axis=(0, 1))",
        "sum(x, axis=0+1)", "sum(x, axis=)", "sum(x, axis=[])", "sum(x, axis=True)",
        "sum(x, axis=[0, [1]])", "sum(x, axis=0", "sum(x, axis=[0", "sum(x, axis=0, axis=1)",
        "sum(x, 0, axis=1)", "sum(x, 0, True)", "sum(x, keepdims=3)", "sum(axis=0)", "sum(x, dim=1)",
        "sum(x, keepdim=True)", "sum(x, axes=0)", "sum(x, axsi=0)", "sum(x, foo=1)", "trace(x, axis=0)",
        "tanh(a=2)", "max(a, b=1)", "max(x, y, axis=1)", "max(axis=0)", "softmax(x, 0.5)", "reshape(x)",
        "reshape(x, 0)", "reshape(x, [2, 0])", "reshape(x, y)", "reshape(x, size=2)",
        "reshape(x, [[1]])", "broadcast(x, -1)", "transpose(x, axes=1)", "onehot(y)", "onehot(y, 0)",
        "onehot(y, num_classes=3)", "place(x, shape=[2])", "place(x, shape=[2], at=0)",
        "foo(x, axis=1)", "x(axis=1)", "sum(x, axis=1e99)", "sum(x, axis=sum(x))", "sum(x, axis='a')",
        "sum(x, axis==1)", "sum(x axis=0)",
    ],
    "brackets": [
        "(a+b", "((a+b)", "a+b)", "(a+b))*c", ")", "(", "()", "sin(", "sin(x", "max(a,", "max(a, b",
        "max(a,,b)", "max(,a)", "max(a,)", "(a;b)", "(a\n", "a*(b+c*(d+e)", "a)*(b", "(a}", "(a]",
        "[a)", "tanh(a=2)", "max(a, b=1)", "(# )\na", "f(x) = x^2",
    ],
    "statements": [
        "", " ", "\n\n", ";", ";;", "# nothing here", "a = 1; a = 2", "a + 1; a = 2; a",
        "a = a + 1", "x = x", "pi + 1; b = 2", "t = pi; pi = 3; t*pi", "a + 1\nb + 2",
        "a\n+ b\n+ c", "a; b", "2 = a", "a + b = c", "(a) = 2", "a = ", "= 2", "a = b = c", "a =",
        "b = 2;\nb = 3;\nb", "a = 1\nb = 2\na = 3", "if x > 0 then 1", "def f(x): return x",
        "import os", "__import__('os').system('true')", "x -> x^2", "y'' = 1", "sin = 2; sin(1); 3",
    ],
    "layout": [
        "a +\tb +\t2x", "\t2x", "a + b\n  + 2x", "a = 1\nb = 2 $ 3\na*b",
        "a = 1\r\nb = 2 $ 3\r\na*b", "a = 1\rb = $", "# first\n\n(a + b\n", "長い名前 = 2; 長い名前 $ 3",
        "ｘ + 2ｙ", "変数*(a+b", "é$", "e\u0301$", "a\u0301\u0301 $ b", "x" * 100_000 + "$",
        "$" + "x" * 100_000, "+".join(["abc"] * 25_000) + "+$+" + "+".join(["abc"] * 25_000),
        "(" + "a+" * 50_000 + "a", "長" * 60 + "$" + "長" * 60, "a" * 90 + "(b)(c)",
        "f" * 100_000 + "(x)", "a = 1; " + "b" * 200 + " = 2; a = 3", "\n" * 1200 + "2x",
    ],
    "binary": [
        "a\0b", "\0", "a\x1b[31mb", "\x1b]0;title\x07", "a\x7fb", "a\x80b", "a\u200fb", "\u202ea+b",
        "a\u200bb", "\ufeffa", "a\udc80b", "\ud800", "\udcff\udcfe", "a\u2028b$", "a\x0bb",
        "a\x0cb", "a\xa0b", "\x01\x02\x03", "😀", "a😀b", "👩‍👩‍👧 + 1", "שלום $", "א + ב)", "\u0301a",
        "a\U000e0001b", "tan\u200bh(x)", "\x9b31m",
    ],
}  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_formulas(group: str) -> None:
    """Each is refused with status 2, nothing but the error, and the same error as JSON."""
    pieces = []
    for formula in GROUPS[group]:
        status, out, err = command("eval", "--", formula)
        assert (status, out) == (2, ""), formula
        assert "Traceback" not in err
        status, out, nothing = command("eval", "--json", "--", formula)
        assert (status, nothing) == (2, ""), formula
        error = json.loads(out)["error"]
        held = json.dumps(error, ensure_ascii=False)
        pieces.append(f"{spelled(['eval', formula])}\n{err}{held}\n")
        carets_agree(formula, err, error)
    golden.agree(f"errors/{group}.txt", "\n".join(pieces))


def carets_agree(formula: str, err: str, error: dict[str, object]) -> None:
    """Carets, and nothing else, stand under what the JSON's span covers on its first line."""
    assert all(c.isprintable() or c == "\n" or display_width(c) == 0 for c in err), formula
    lines = err.splitlines()
    assert max(map(display_width, lines)) <= 250
    place = error["span"]
    assert isinstance(place, list)
    start, end = place
    assert 0 <= start <= end <= len(formula)
    covered = printable_text(re.split("\r\n|\r|\n", formula[start:end])[0])
    spots = [i for i in range(1, len(lines)) if re.fullmatch(r" +│ +\^+( .*)?", lines[i])]
    shown = [under(lines[i - 1], lines[i]) for i in spots]
    assert any(agrees(text, covered) for text in shown), (covered, shown)
    label, line = lines[spots[0] - 1].split("│")[0], error["line"]
    assert len(spots) > 1 or int(label) == line, formula


def agrees(shown: str, covered: str) -> bool:
    """Whether what stands above the carets is what the span covers, or as much as there was room for."""
    if display_width(covered) == 0:  # the caret marks a place, or the letter that bears a mark
        return display_width(shown) <= 1
    return shown.strip() == covered.strip() or ("…" in shown and shown.strip("…") in covered)


def under(line: str, carets: str) -> str:
    """What stands above the carets, by terminal cells."""
    before, marks = carets.split("^", 1)[0], carets.count("^")
    cells = []
    for character in line:
        if display_width(character):
            cells += [character, *[""] * (display_width(character) - 1)]
        else:
            cells[-1] += character
    return "".join(cells[len(before) : len(before) + marks])


@together(
    [
        ("NORM.S.DIST(x, TRUE)", "write normcdf(x)"),
        ("NORM.S.DIST( , TRUE)", "write functions without a prefix"),
        ("Sum[k^2, {k, 1, 9, 2}]", "write sum((1 + 2*k)^2 for k in 0..4)"),
        ("Sum[k^2, {k, 1, 9, 0}]", "write sum(…)"),
        ("Piecewise[{{x}}, 2]", "write ("),
        ("np.linalg.norm(v, np.inf)", "the greatest of absolutes is max(abs(v))"),
        ("norm(v, inf)", "the greatest of absolutes is max(abs(v))"),
        ("torch.transpose(x, -3, 2)", "the new order of all axes"),
        ("x.clip()", "write clamp(x, 0, 1)"),
        ("diff(x^2)", "a derivative is d(x^3, x)"),
        ("erf^-1(x)", "written erfinv(x)"),
        ("sin^2(x", "written sin(…)^2"),
        ("n = 2.5; v[n]", "a name bound to a whole number"),
        ("[1..n]", "write sum(x^k for k in 1..3)"),
    ]
)
def test_what_is_half_of_another_language_is_told_what_to_write(text: str, help: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert help in (caught.value.help or "")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("|x", 0), ("|x|+|y", 4), ("||x|", 0), ("|", 0), ("||", 1), ("(|x)", 1), ("[|x", 1), ("|x)", 0),
        ("sin(|x)", 4), ("|x|*|", 4), ("|x; y", 0), ("max(|x, y)", 4), ("|x²", 0), ("|x # |", 0),
        ("|(|x|)", 0), ("a = |x; b = y", 4), ("|A.T", 0), ("|x\n+ y", 0),
        ("|" + "(" * 3000 + "x" + ")" * 3000, 0),
    ],
)  # fmt: skip
def test_a_bar_that_is_never_closed_is_shown(text: str, place: int) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert caught.value.message == "this '|' is never closed"
    assert caught.value.span == (place, place + 1)


@pytest.mark.parametrize("text", ["|x+", "|x, y|", "|(x|)", "(|x|", "|x|y|", "max(|x, |y|)"])
def test_other_mistakes_beside_bars_keep_their_words(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert "'|' is never closed" not in caught.value.message

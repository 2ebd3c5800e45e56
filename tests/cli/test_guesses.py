"""What people type first who know micrograd, SymPy, bc, gnuplot or curl: it works, or is answered.

Most lines were written down before anybody looked at what the command line takes, the others while it was
mended.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import golden
from shell import Outcome, command

GUESSES = r"""
exprgrad "a*b + c" a=2 b=-3 c=10
exprgrad "x^2" x=3
exprgrad "x**2" x=3
exprgrad backward "tanh(w*x+b)" w=-3 x=2 b=6.88
exprgrad grad "relu(x)" --x 3
exprgrad grad "x^2" -x 3
exprgrad grad "x^2" x = 3
exprgrad grad "x^2" "x=3, y=2"
exprgrad grad "f = x^2" --at x=3
exprgrad gradient "x^2 + y^2" x=1 y=2
exprgrad train "(x-3)^2" x=0 --lr 0.1 --steps 50
exprgrad minimize "(x-3)^2" x=0
exprgrad descend "(x-3)^2" x=0 --learning-rate 0.1
exprgrad diff "x^2*sin(x)" x
exprgrad "diff(x^2, x)"
exprgrad "d/dx x^2"
exprgrad derivative of x^2
exprgrad "derivative of x^2"
exprgrad simplify "sin(x)^2 + cos(x)^2"
exprgrad diff "ln(x)" --order 2
exprgrad diff "2x"
exprgrad diff "sin x"
exprgrad diff "x^2" --latex
exprgrad diff "x^2" --format latex
exprgrad diff "x^2*y" --var x
exprgrad hessian "x^2*y" x=1 y=2
exprgrad jacobian "x*y; x+y" x=1 y=2
exprgrad solve "x^2 = 4"
exprgrad "2+3*4"
exprgrad pi
exprgrad "sum(k^2 for k in 1:10)"
exprgrad "sum(k^2 for k=1..10)"
exprgrad "f(x) = x^2; f(3)"
exprgrad "integral(x^2, x, 0, 1)"
exprgrad "fsolve(x^2 - 2, 1)"
exprgrad "diff(x^2, x)" x=3
exprgrad "P*(1+r)^n" P=1000 r=5% n=10
exprgrad "x => x^2" x=3
exprgrad -q "x^2" x=3
exprgrad -x x=3
exprgrad -q -x x=3
exprgrad --digits 3 "x/3" x=1
exprgrad -f model.txt x=3
exprgrad -q eval "x^2" x=3
exprgrad -q x x=3
exprgrad --jsn "x^2" x=3
exprgrad -t "x^2" x=3
exprgrad grad "x₁^2" x₁=3
exprgrad grad "arctan(y, x)" x=1 y=2
exprgrad grad "sh(x) + arctg(x)" x=1
exprgrad grad "x/3" x=1 --digits 20
exprgrad code "[x*y, x+y]" --to c
exprgrad code "x*y" -o mm.cpp
exprgrad code "x^4" --to c --order 3
exprgrad code "x*y" --to c --jacobian
exprgrad code "sum(x^2)" --to numpy --hessian --shape x=3
exprgrad code "u = 2*x; sum(u)" --to numpy --of u --shape x=3
exprgrad ops tanh -o tanh.csv
echo "x^2" | exprgrad grad x=3
exprgrad
exprgrad eval "sqrt(2)" --precision 50
exprgrad plot "sin(x)" x=-3..3
exprgrad plot "sin(x)" -o sin.png
exprgrad graph "a*b+c" -o graph.svg
exprgrad draw "a*b+c" --format svg
exprgrad table "sin(x)" x=0:1:0.1
exprgrad help
exprgrad help grad
exprgrad --help grad
exprgrad version
exprgrad -V
exprgrad grad "x^2" x=3 --format json
exprgrad grad "x^2" x=3 -o out.json
exprgrad grad "x^2" x=3 --quiet
exprgrad grad "x^2" x=3 -v
exprgrad grad -f model.txt x=3
exprgrad grad "sum((y-p)^2)" y=@data.csv:y p=0
exprgrad grad "x^2"
exprgrad code "x^2" --to js
exprgrad code "x^2" --lang python
exprgrad export "x^2" --to c
exprgrad compile "x^2" --to c
exprgrad code "x^2" -o square.c
exprgrad examples
exprgrad tutorial
exprgrad learn
exprgrad functions
exprgrad list
exprgrad "derivative of x^2 at x=3"
exprgrad "x^2 at x=3"
exprgrad "x^2" 3
exprgrad "x^2" x:3
exprgrad "f(x)=x^2" x=3
exprgrad "y=x^2" x=3
exprgrad "y=e^x" x=3
exprgrad grad "x^2" "{x: 3}"
exprgrad grad "x^2" --inputs '{"x": 3}'
exprgrad eval "sin(30 deg)"
exprgrad eval "sin(x)" x=0:1:0.1
exprgrad eval "sin(x)" x=-3..3
exprgrad check "x^2" x=3 --claim "2*x"
exprgrad diff "x^2" --at x=3
exprgrad diff "x^2" x=3
exprgrad diff "x^2" --n 2
exprgrad diff "x^2*y" --wrt x y
exprgrad grad "x^2 y" x=1 y=2
exprgrad hess
exprgrad dot "a*b" -o x.jpg
exprgrad descend "(x-3)^2"
exprgrad ops sine
exprgrad ops "tanh(x)"
exprgrad grad "x^2; y^2" x=1 y=2
exprgrad grad "[x^2, y^2]" x=1 y=2
exprgrad jac "[x*y, x+y]" x=1 y=2
exprgrad grad "sum(x^2)" x=1,2,3
exprgrad grad "sum(x^2)" "x=[1 2 3]"
exprgrad grad "x^2" x=3 y=4
exprgrad explore
exprgrad explore neuron
exprgrad grad "max(x, 0)" x=0
exprgrad grad --trace
exprgrad grad "log(x)" x=-1
exprgrad "1/0"
exprgrad grad "x^2" x=3.0f
exprgrad grad "x^2" x=three
exprgrad gard "x^2" x=3
exprgrad grad "sin(x)^2" x=1 -d 3
exprgrad vjp "x*y" x=1 y=2 --v 1
exprgrad jvp "x*y" x=1 y=2 --direction 1,0
exprgrad paths "x*x" x=2 --top 3
exprgrad descend "x^2" x=1 -n 5
echo "x^2" | exprgrad grad x=3
echo "x^2" | exprgrad grad - x=3
"""
FILES = {"data.csv": "t,y\n0,1\n1,2\n2,4\n", "model.txt": "x^2\n"}


def typed(line: str) -> Outcome:
    """What a line does; ``echo … |`` before it is standard input."""
    *piped, called = line.split(" | ")
    stdin = shlex.split(piped[0])[1].encode() if piped else b""
    return command(*shlex.split(called)[1:], stdin=stdin)


def test_first_guesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each works, or is an error whose help says what does; none is answered with a list of everything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    there, pieces = {*FILES}, []
    for line in GUESSES.strip().splitlines():
        status, out, err = typed(line)
        assert status == 0 or (status == 2 and "  help: " in err and out == ""), line
        assert "--help lists" not in err and "Traceback" not in err, line
        new = sorted({path.name for path in tmp_path.iterdir()} - there)
        there.update(new)
        written = "".join(f"({name} is written)\n" for name in new)
        shown, *more = out.split("\n\n") if "Usage:" in out else [out]
        pieces.append(f"$ {line}\n{shown}{' …' * bool(more)}{err}{written}")
    golden.agree("guesses/commands.txt", "\n".join(pieces))

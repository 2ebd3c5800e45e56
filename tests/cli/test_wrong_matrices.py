"""Every way to ask wrongly for Jacobians, Hessians and products with vectors."""

from __future__ import annotations

import json

import golden
from shell import command, spelled

AT = ["a=1", "b=2"]
TWO = "y1 = a*b; y2 = a/b"
WRONG: list[list[str]] = [
    ["jac", TWO, *AT, "--of", "y3"], ["jac", TWO, *AT, "--of", "why"],
    ["jac", TWO, *AT, "--of", "a"], ["jac", "a*b", *AT, "--of", "y"],
    ["jac", "y = a*b", *AT, "--of", "z"], ["jac", TWO, *AT, "--of", ""],
    ["jac", TWO, *AT, "--of", "y1,"], ["jac", TWO, *AT, "--of"], ["jac", "a*pi", "a=1", "--of", "pi"],
    ["jac", TWO, *AT, "--wrt", "c"], ["jac", TWO, *AT, "--wrt", "y1"], ["jac", TWO, "a=1"],
    ["jac", TWO, *AT, "--csv", "-q"], ["jac", TWO, *AT, "--tangent", "a=1"], ["jac"],
    ["jac", "; ".join(f"out{i} = a" for i in range(20)), "a=1", "--of", "nothing"],
    ["hess", "a*b", *AT, "--of", "y"], ["hess", "a*b", *AT, "--wrt", "c"], ["hess", "a*b", *AT, "--wrt="],
    ["hess", "2x", "x=1"], ["hess", "a*b", *AT, "--digits", "0"],
    ["jvp", "a*b", *AT], ["jvp", "a*b", *AT, "--tangent", "a=1"],
    ["jvp", "a*b", *AT, "--tangent", "b=1/3"], ["jvp", "a*b", *AT, "--tangent", "a=1,c=0"],
    ["jvp", "alpha*b", "alpha=1", "b=1", "--tangent", "alhpa=1,b=0"],
    ["jvp", "a*b", *AT, "--tangent", "a=1,b=1,a=2"], ["jvp", "a*b", *AT, "--tangent", "a=1,b=two"],
    ["jvp", "a*b", *AT, "--tangent", "a=1, b=max(1, "], ["jvp", "a*b", *AT, "--tangent", "a=1,b="],
    ["jvp", "a*b", *AT, "--tangent", "a=1,,b=1"], ["jvp", "a*b", *AT, "--tangent", "1,0"],
    ["jvp", "a*b", *AT, "--tangent", "a=1,b=tahn(2)"], ["jvp", "a*b", *AT, "--tangent", "a=1,b=2x"],
    ["jvp", "a*b", *AT, "--tangent", "a=1;b=2"], ["jvp", "a*b", *AT, "--tangent", "a==1,b=1"],
    ["jvp", "a*b", *AT, "--tangent", "a=[1,2],b=1"], ["jvp", "a*b", *AT, "--tangent"],
    ["jvp", "a*b", *AT, "--tangent", "a=1 b = 0"], ["jvp", "y=a", "a=1", "--tangent", "y=1,a=1"],
    ["jvp", "2+2", "--tangent", "a=1"], ["jvp", "a*b", *AT, "--wrt", "a"],
    ["jvp", TWO, *AT, "--tangent", "a=1,b=0", "--of", "y"],
    ["jvp", "+".join(f"x{i}" for i in range(12)), *[f"x{i}=0" for i in range(12)]],
    ["vjp", TWO, *AT, "--of", "y1,y2"], ["vjp", TWO, *AT, "--of", "y1,y2", "--cotangent", "2"],
    ["vjp", TWO, *AT, "--of", "y1,y2", "--cotangent", "1,0"],
    ["vjp", TWO, *AT, "--of", "y1,y2", "--cotangent", "y2=1"],
    ["vjp", TWO, *AT, "--of", "y1", "--cotangent", "y1=1,y2=1"],
    ["vjp", TWO, *AT, "--of", "y1", "--cotangent", "y3=1"], ["vjp", TWO, *AT, "--cotangent", "y1=1"],
    ["vjp", "a*b", *AT, "--cotangent", "y=1"], ["vjp", "a*b", *AT, "--cotangent", "two"],
    ["vjp", "a*b", *AT, "--cotangent", "Pi"], ["vjp", "a*b", *AT, "--cotangent", "1 2"],
    ["vjp", "a*b", *AT, "--cotangent", ""], ["vjp", "a*b", *AT, "--cotangent", "\x1b[31m"],
    ["vjp", TWO, *AT, "--cotangent", "y2=1,y2=1"], ["vjp", TWO, *AT, "--cotangent", "a=1"],
]  # fmt: skip


def test_wrong_requests() -> None:
    """Each has status 2, one error with its place, and the same error as JSON."""
    pieces = []
    for argv in WRONG:
        status, out, err = command(*argv)
        assert (status, out) == (2, ""), argv
        assert err.startswith("error: ") and err.count("error:") == 1, argv
        assert all(c.isprintable() or c == "\n" for c in err), argv
        status, out, silent = command(argv[0], "--json", *argv[1:])
        assert (status, silent) == (2, ""), argv
        error = json.dumps(json.loads(out)["error"], ensure_ascii=False)
        pieces.append(f"{spelled(argv)}\n{err}{error}\n")
    golden.agree("requests/matrices.txt", "\n".join(pieces))

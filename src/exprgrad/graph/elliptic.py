"""Rows of the op table: complete elliptic integrals, of the parameter m, which is the modulus squared.

What a row holds is told in ``op.py``, and what its texts may say in ``ops.py``.
"""

from __future__ import annotations

from exprgrad.graph.op import Op, horner

__all__ = ["ROWS"]

MIXED = (
    4.330487224260457e-10, 8.359453516035425e-10, -1.4157374301106179e-09, -2.5162282253002276e-09,
    5.029804436801488e-09, 9.14486180160067e-09, -7.357453209674957e-10, 8.876423418177291e-10,
    2.6964884776752066e-08, 5.3540070488023655e-08, 9.029525564631092e-08, 1.9238178604719493e-07,
    4.1954925936782843e-07, 8.862288506966781e-07, 1.8751700806816984e-06, 3.996186289598597e-06,
    8.553433595117824e-06, 1.839313731242062e-05, 3.977604201481526e-05, 8.658733477920699e-05,
    0.0001899645193326965, 0.00042068266845556555, 0.0009423291715969542, 0.0021411503073755695,
    0.004954727984315067, 0.011744540407252578, 0.02876213977285568, 0.07363107781851076, 0.19634954084936207,
)  # fmt: skip
"""The integral of sin(t)^2*cos(t)^2/(1 - x*sin(t)^2)^1.5 from 0 to pi/2, of 2*x, for x from -0.5 to 0.5.

Fitted for exprgrad at Chebyshev's points in 60 digits.
"""

STEPS = 11
"""How often the means are taken: from 1e-154 on, which is what the greatest negative double leads to."""

MODULUS = "k = sqrt(1 - x); big = k > 1; q0 = where(big, 1/k, k); m0 = 1; e0 = q0; p0 = 1"
"""What is complementary to the modulus, or its reciprocal, at which the cosine and the sine change places."""


def means() -> str:
    """The means that all these integrals share."""
    lines = [MODULUS]
    for n in range(STEPS + 1):
        lines.append(
            f"g{n} = e{n}/p{n}; p{n + 1} = g{n} + p{n}; m{n + 1} = q{n} + m{n}; "
            f"q{n + 1} = 2*sqrt(e{n}); e{n + 1} = q{n + 1}*m{n + 1}"
        )
    return "; ".join(lines)


def integral(name: str, cosine: str, sine: str) -> str:
    """The integral of (cosine*cos(t)^2 + sine*sin(t)^2)/sqrt(cos(t)^2 + q0^2*sin(t)^2) from 0 to pi/2, by ``means``.

    All that is added up is positive, and nothing cancels: R. Bulirsch, Numerical calculation of elliptic
    integrals and elliptic functions III, Numer. Math. 13 (1969), 305-315.
    """
    a, b, last = f"{name}a", f"{name}b", STEPS + 1
    lines = [f"{a}0 = {cosine}; {b}0 = {sine}"]
    for n in range(last):
        lines.append(f"{a}{n + 1} = {a}{n} + {b}{n}/p{n}; {b}{n + 1} = 2*({b}{n} + {a}{n}*g{n})")
    lines.append(f"{name} = pi/2*({b}{last} + {a}{last}*m{last})/(m{last}*(m{last} + p{last}))")
    return "; ".join(lines)


MEANS = means()
ELLIPTIC_K = f"{MEANS}; {integral('both', '1', '1')}; where(x == 1, inf, both/max(k, 1))"
ELLIPTIC_E = f"{MEANS}; {integral('both', '1', 'q0*q0')}; where(x == 1, 1, both*max(k, 1))"
COSINE = f"{integral('cosine', '1 - big', 'big')}; b = cosine/max(k, 1)"
"""(E - (1 - x)*K)/x: the integral of cos(t)^2/sqrt(1 - x*sin(t)^2)."""
SINE = f"{integral('sine', 'big', '1 - big')}; d = sine/max(k, 1)"
"""(K - E)/x: the integral of sin(t)^2/sqrt(1 - x*sin(t)^2)."""
INTEGRALS = f"{MEANS}; {COSINE}; {SINE}; near = abs(x) < 0.5; c = where(near, {horner(MIXED, '(2*x)')}, (d - b)/x)"

# fmt: off
ROWS: tuple[Op, ...] = (
    Op(
        "elliptic_k", "x", (f"{MEANS}; {COSINE}; b/(1 - x)/2",),
        "the complete elliptic integral of the first kind, of the parameter x: the integral of 1/sqrt(1 - x*sin(t)^2) from 0 to pi/2",
        shown=("(elliptic_e(x)/(1 - x) - elliptic_k(x))/(2*x)",),
        seconds=(f"{INTEGRALS}; (c/2 + b/(1 - x))/(1 - x)/2",),
        value=ELLIPTIC_K, domain="x < 1", poles=(("x == 1", "inf"),), latex=r"\operatorname{elliptic\_k}(x)", not_negative=True,
        value_ulp=7.0, partial_ulp=10.0, second_ulp=20.0, elsewhere="ellipk EllipticK", monotone=1,
    ),
    Op(
        "elliptic_e", "x", (f"{MEANS}; {SINE}; where(x == 1, -inf, -d/2)",),
        "the complete elliptic integral of the second kind, of the parameter x: the integral of sqrt(1 - x*sin(t)^2) from 0 to pi/2",
        shown=("(elliptic_e(x) - elliptic_k(x))/(2*x)",),
        seconds=(f"{INTEGRALS}; -where(near, (d - c)/(1 - x), (b/(1 - x) - d)/x)/4",),
        value=ELLIPTIC_E, domain="x <= 1", latex=r"\operatorname{elliptic\_e}(x)", not_negative=True,
        value_ulp=11.0, partial_ulp=10.0, second_ulp=20.0, elsewhere="ellipe EllipticE", monotone=-1,
    ),
)
# fmt: on

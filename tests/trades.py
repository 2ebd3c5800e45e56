"""The truth about the formulas of many trades, ``cases/trades.txt``.

They are written again here, from the textbooks and where possible otherwise, in mpmath's functions; nothing
of exprgrad is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oracles import Real, mp, mpf

__all__ = ["TRUTHS", "slopes"]

Truth = Callable[..., Real]


def slopes(truth: Truth, values: dict[str, Any]) -> dict[str, Any]:
    """By input, the derivative of a truth, of a list entry by entry, by mpmath's differences."""
    return {name: slope(truth, values, name, values[name], ()) for name in values}


def slope(
    truth: Truth, values: dict[str, Any], name: str, value: Any, index: tuple[int, ...]
) -> Any:
    """The derivative by a number, or by each number of a list."""
    if isinstance(value, list):
        return [slope(truth, values, name, one, (*index, at)) for at, one in enumerate(value)]
    return mp.diff(lambda x: truth(**{**values, name: put(values[name], index, x)}), value)


def put(value: Any, index: Sequence[int], x: Real) -> Any:
    """A number, or lists, with another number at a place."""
    if not index:
        return x
    first, *rest = index
    return [put(one, rest, x) if at == first else one for at, one in enumerate(value)]


def phi(x: Real) -> Real:
    """The normal distribution."""
    return mp.erfc(-x / mp.sqrt(2)) / 2


def call(S: Real, K: Real, r: Real, s: Real, T: Real) -> Real:
    """Black and Scholes' price."""
    d = (mp.log(S / K) + (r + s**2 / 2) * T) / (s * mp.sqrt(T))
    return S * phi(d) - K * mp.exp(-r * T) * phi(d - s * mp.sqrt(T))


def dot(x: Sequence[Real], y: Sequence[Real]) -> Real:
    """A product of vectors."""
    return mp.fsum(a * b for a, b in zip(x, y, strict=True))


def vasicek(r: Real, k: Real, theta: Real, sigma: Real, T: Real) -> Real:
    """The price of a bond that pays 1 after a time T."""
    b = -mp.expm1(-k * T) / k
    return mp.exp((theta - sigma**2 / (2 * k**2)) * (b - T) - sigma**2 * b**2 / (4 * k) - b * r)


def turned(qw: Real, qx: Real, qy: Real, qz: Real, x: Real, y: Real, z: Real) -> Real:
    """The first number of a turned vector: the first row of the matrix of a quaternion."""
    rows = [1 - 2 * qy**2 - 2 * qz**2, 2 * qx * qy - 2 * qz * qw, 2 * qx * qz + 2 * qy * qw]
    return dot(rows, [x, y, z])


def odometry(v: Real, w: Real, dt: Real) -> Real:
    """How far a robot is that turns evenly: the length of a sum of unit vectors."""
    return abs(mp.fsum(v * dt * mp.expj(w * dt * k) for k in range(50)))


def bateman(F: Real, D: Real, ka: Real, ke: Real, V: Real, t: Real) -> Real:
    """The concentration after one dose by mouth."""
    return F * D / V * ka / (ka - ke) * (mp.exp(-ke * t) - mp.exp(-ka * t))


def sir(i0: Real, beta: Real, gamma: Real) -> Real:
    """Who is infected after 60 days."""
    s, i = 1 - i0, i0
    for _ in range(60):
        s, i = s - beta * s * i, i + beta * s * i - gamma * i
    return i


def infonce(sp: Real, sn: Sequence[Real], T: Real) -> Real:
    """The loss of one pair among others."""
    return mp.log(1 + mp.fsum(mp.exp((x - sp) / T) for x in sn))


def smoothed(z: Sequence[Real], eps: Real) -> Real:
    """Cross-entropy with a part of the weight spread over all labels."""
    return mp.log(mp.fsum(map(mp.exp, z))) - (1 - eps) * z[0] - eps * mp.fsum(z) / len(z)


def logistic(X: Sequence[Sequence[Real]], b: Sequence[Real], y: Sequence[Real]) -> Real:
    """The log-likelihood: log p where y is 1, log(1 - p) where it is 0."""
    etas = [dot(row, b) for row in X]
    terms = ((y_, 1 / (1 + mp.exp(-eta))) for y_, eta in zip(y, etas, strict=True))
    return mp.fsum(y_ * mp.log(p) + (1 - y_) * mp.log(1 - p) for y_, p in terms)


def probit(X: Sequence[Sequence[Real]], b: Sequence[Real], y: Sequence[Real]) -> Real:
    """The same with the normal distribution."""
    pairs = zip(X, y, strict=True)
    return mp.fsum(mp.log(phi((2 * y_ - 1) * dot(row, b))) for row, y_ in pairs)


def lennard_jones(eps: Real, s: Real, r: Real) -> Real:
    """The force: minus the derivative of the energy, worked out by hand."""
    return 24 * eps / r * (2 * (s / r) ** 12 - (s / r) ** 6)


def haversine(lat1: Real, lon1: Real, lat2: Real, lon2: Real, R: Real) -> Real:
    """The distance on a sphere: here by the angle between two unit vectors."""
    a, b, c, d = (mp.radians(x) for x in (lat1, lon1, lat2, lon2))
    cosine = mp.sin(a) * mp.sin(c) + mp.cos(a) * mp.cos(c) * mp.cos(d - b)
    return R * mp.acos(cosine)


def mercator(a: Real, e: Real, phi: Real) -> Real:
    """The northing on an ellipsoid."""
    return a * (mp.atanh(mp.sin(phi)) - e * mp.atanh(e * mp.sin(phi)))


def pseudorange(x: Real, y: Real, z: Real, xs: Real, ys: Real, zs: Real, c: Real, dt: Real) -> Real:
    """A distance, and what the clock adds to it."""
    return mp.norm([x - xs, y - ys, z - zs]) + c * dt


def diode(V: Real, R: Real, Is: Real, n: Real, VT: Real) -> Real:
    """The current through a diode behind a resistor: Lambert's W says it."""
    w = mp.lambertw(R * Is / (n * VT) * mp.exp((V + R * Is) / (n * VT)))
    return mp.re(w) * n * VT / R - Is


def fresnel(n1: Real, n2: Real, i: Real) -> Real:
    """How much of light polarised across is reflected."""
    t = mp.asin(n1 / n2 * mp.sin(i))
    return (mp.sin(i - t) / mp.sin(i + t)) ** 2


def sellmeier(B: Sequence[Real], C: Sequence[Real], L: Real) -> Real:
    """The index of a glass."""
    return mp.sqrt(1 + mp.fsum(b * L**2 / (L**2 - c) for b, c in zip(B, C, strict=True)))


def airy(D: Real, theta: Real, lam: Real) -> Real:
    """The light behind a round hole."""
    x = mp.pi * D * mp.sin(theta) / lam
    return (2 * mp.besselj(1, x) / x) ** 2


def anomaly(e: Real, M: Real) -> Real:
    """The eccentric anomaly."""
    return mp.findroot(lambda u: u - e * mp.sin(u) - M, M)


def newton(e: Real, M: Real) -> Real:
    """Six of Newton's steps towards it."""
    u = M
    for _ in range(6):
        u -= (u - e * mp.sin(u) - M) / (1 - e * mp.cos(u))
    return u


def redshift(c: Real, H0: Real, z: Real, Om: Real) -> Real:
    """A comoving distance by the rule of midpoints."""
    places = (1 + z * (k + mpf(1) / 2) / 100 for k in range(100))
    return c / H0 * mp.fsum(z / 100 / mp.sqrt(Om * a**3 + 1 - Om) for a in places)


def step(z: Real, w: Real, t: Real) -> Real:
    """The step response of a damped oscillator: the solution of its equation, in sines and cosines."""
    wd = w * mp.sqrt(1 - z**2)
    return 1 - mp.exp(-z * w * t) * (mp.cos(wd * t) + z * w / wd * mp.sin(wd * t))


def pid(kp: Real, ki: Real, a: Real, dt: Real) -> Real:
    """The squared error of a loop of 50 steps."""
    x, s, e, total = mpf(0), mpf(0), mpf(1), mpf(1)
    for _ in range(50):
        x += dt * (kp * e + ki * s - a * x)
        e = 1 - x
        s += e * dt
        total += e**2
    return dt * total


def riccati(a: Real, b: Real, q: Real, r: Real) -> Real:
    """The gain: the equation is quadratic."""
    return b / r * (r * a + mp.sqrt((r * a) ** 2 + b**2 * q * r)) / b**2


def colebrook(eps: Real, D: Real, Re: Real) -> Real:
    """The friction factor."""

    def off(f: Real) -> Real:
        root = mp.sqrt(f)
        return 1 / root + 2 * mp.log(eps / D * 10 / 37 + mpf("2.51") / (Re * root), 10)

    return mp.findroot(off, mpf("0.02"))


def heat(a: Real, b: Real, k: Real, x: Real, t: Real) -> Real:
    """The residual of exp(-b*t)*sin(k*x)."""
    return (a * k**2 - b) * mp.exp(-b * t) * mp.sin(k * x)


def phong(
    ka: Real, kd: Real, ks: Real, s: Real, n: Sequence[Real], l: Sequence[Real],
    r: Sequence[Real], v: Sequence[Real],
) -> Real:  # fmt: skip
    """Light from all around, scattered, and reflected."""
    return ka + kd * max(dot(n, l), 0) + ks * max(dot(r, v), 0) ** s


def thick_lens(n: Real, R1: Real, R2: Real, d: Real) -> Real:
    """The focal length: two refracting surfaces, one after another."""
    p1, p2 = (n - 1) / R1, (1 - n) / R2
    return 1 / (p1 + p2 - d / n * p1 * p2)


def miss(a: Real, b: Real, l1: Real, l2: Real, px: Real, py: Real) -> Real:
    """How far an arm misses."""
    return abs(l1 * mp.expj(a) + l2 * mp.expj(a + b) - mp.mpc(px, py))


def weak_acid(Ka: Real, C: Real, Kw: Real) -> Real:
    """The pH of a weak acid: the charges balance."""

    def charge(h: Real) -> Real:
        return h - Kw / h - C * Ka / (Ka + h)

    return -mp.log(mp.findroot(charge, mp.sqrt(Ka * C)), 10)


def implied(S: Real, K: Real, r: Real, T: Real, C: Real) -> Real:
    """The volatility at which a call has this price."""
    return mp.findroot(lambda s: call(S, K, r, s, T) - C, mpf("0.2"))


def irr(C: Real, a: Real, b: Real, c: Real) -> Real:
    """The rate at which three payments are worth what was paid."""
    return mp.findroot(lambda r: ((c / (1 + r) + b) / (1 + r) + a) / (1 + r) - C, mpf("0.1"))


TRUTHS: dict[str, Truth] = {
    "The price of a bond": lambda c, y, F: c * (1 - (1 + y) ** -10) / y + F * (1 + y) ** -10,
    "The price of a call (Black and Scholes)": lambda S, K, r, sigma, T: call(S, K, r, sigma, T),
    "Implied volatility": implied,
    "The payment of a mortgage": lambda P, r, n: P * r / (1 - 1 / (1 + r) ** n),
    "The internal rate of return": irr,
    "A zero-coupon bond (Vasicek)": vasicek,
    "How far a two-link arm misses its target": miss,
    "A vector turned by a quaternion": turned,
    "Odometry of a wheeled robot, 50 steps": odometry,
    "The Lagrangian of a cart with a pole": lambda M, m, l, v, w, th, g: (
        M * v**2 / 2
        + m * ((v + l * w * mp.cos(th)) ** 2 + (l * w * mp.sin(th)) ** 2) / 2
        - m * g * l * mp.cos(th)
    ),
    "A dose by mouth (Bateman)": bateman,
    "Effect of a concentration (Hill)": lambda E0, Emax, EC50, n, C: (
        E0 + Emax / (1 + (EC50 / C) ** n)
    ),
    "Six doses, one every T hours": lambda D, V, ke, T, t: mp.fsum(
        D / V * mp.exp(-ke * (t - k * T)) for k in range(6)
    ),
    "An enzyme with a competitive inhibitor (Michaelis and Menten)": lambda Vmax, S, Km, I, Ki: (
        Vmax * S / (Km + Km * I / Ki + S)
    ),
    "Clearance of creatinine (Cockcroft and Gault)": lambda age, weight, Scr: (
        (140 - age) / 72 * weight / Scr
    ),
    "An epidemic after 60 days (SIR)": sir,
    "The final size of an epidemic": lambda R0: 1 + mp.re(mp.lambertw(-R0 * mp.exp(-R0))) / R0,
    "Cases that grow logistically": lambda K, N0, r, t: (
        K * N0 * mp.exp(r * t) / (K + N0 * mp.expm1(r * t))
    ),
    "The log odds ratio, in standard errors": lambda a, b, c, d: (
        (mp.log(a) - mp.log(b) - mp.log(c) + mp.log(d)) / mp.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    ),
    "Focal loss": lambda z, alpha, gamma: (
        alpha * (1 / (1 + mp.exp(z))) ** gamma * mp.log(1 + mp.exp(-z))
    ),
    "Cross-entropy with smoothed labels": smoothed,
    "Huber's loss": lambda r, delta: r**2 / 2 if abs(r) <= delta else delta * abs(r) - delta**2 / 2,
    "A Gaussian's negative log-likelihood": lambda y, mu, sigma: -mp.log(mp.npdf(y, mu, sigma)),
    "Divergence of two Gaussians (Kullback and Leibler)": lambda m1, s1, m2, s2: (
        mp.log(s2) - mp.log(s1) + ((s1 / s2) ** 2 + ((m1 - m2) / s2) ** 2 - 1) / 2
    ),
    "Contrastive loss (InfoNCE)": infonce,
    "GELU by tanh": lambda x: (
        x / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)))
    ),
    "The log-density of a beta distribution": lambda x, a, b: mp.log(
        x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
    ),
    "The log-density of Student's t": lambda t, n: mp.log(
        (1 + t**2 / n) ** (-(n + 1) / 2) / (mp.sqrt(n) * mp.beta(mpf(1) / 2, n / 2))
    ),
    "The log-likelihood of a Poisson count": lambda k, mu: mp.log(
        mu**k * mp.exp(-mu) / mp.gamma(k + 1)
    ),
    "The log-density of a gamma distribution": lambda x, a, b: mp.log(
        b**a / mp.gamma(a) * x ** (a - 1) * mp.exp(-b * x)
    ),
    "The log-density of a Weibull distribution": lambda x, k, l: mp.log(
        k / l * (x / l) ** (k - 1) * mp.exp(-((x / l) ** k))
    ),
    "The log-likelihood of a logistic regression": logistic,
    "The log-likelihood of a probit regression": probit,
    "The rate of a reaction (Arrhenius)": lambda A, Ea, R, T: A / mp.exp(Ea / R / T),
    "The potential of a cell (Nernst)": lambda E0, R, T, n, F, Q: E0 - R * T / n / F * mp.log(Q),
    "Pressure of a real gas (van der Waals)": lambda n, R, T, V, a, b: (
        R * T / (V / n - b) - a / (V / n) ** 2
    ),
    "The pH of a weak acid": weak_acid,
    "An activity coefficient (Debye and Hückel)": lambda A, z, I, B, a: (
        -A * z**2 / (1 / mp.sqrt(I) + B * a)
    ),
    "The force between two atoms (Lennard-Jones)": lennard_jones,
    "A bond's energy (Morse)": lambda D, a, r, re: D * mp.expm1(-a * (r - re)) ** 2,
    "A distance on the sphere (haversine)": haversine,
    "Curvature of the meridian": lambda a, e2, phi: (
        a * (1 - e2) / mp.sqrt(1 - e2 * mp.sin(phi) ** 2) ** 3
    ),
    "Gravity on the ellipsoid (Somigliana)": lambda ge, k, e2, phi: (
        ge * (1 + k * mp.sin(phi) ** 2) * (1 - e2 * mp.sin(phi) ** 2) ** mpf(-0.5)
    ),
    "Mercator's northing on the ellipsoid": mercator,
    "A pseudorange of a satellite": pseudorange,
    "A diode behind a resistor": diode,
    "The impedance of a series resonator": lambda R, w, L, C: abs(
        mp.mpc(R, w * L) + 1 / mp.mpc(0, w * C)
    ),
    "The gain of a low-pass filter, in decibels": lambda f, R, C: (
        20 * mp.log(abs(1 / mp.mpc(1, 2 * mp.pi * f * R * C)), 10)
    ),
    "A transistor in saturation": lambda k, Vgs, Vt, lam, Vds: (
        k * (Vgs - Vt) ** 2 / 2 * (1 + lam * Vds)
    ),
    "A thermistor's temperature (Steinhart and Hart)": lambda A, B, C, R: (
        1 / (A + mp.log(R) * (B + C * mp.log(R) ** 2))
    ),
    "Reflected light (Fresnel, with Snell)": fresnel,
    "The index of a glass (Sellmeier)": sellmeier,
    "The focal length of a thick lens": thick_lens,
    "The width of a laser beam": lambda w0, z, lam: mp.sqrt(w0**2 + (z * lam / (mp.pi * w0)) ** 2),
    "The Airy disc": airy,
    "A planet's distance (Kepler's equation)": lambda e, M, a: a * (1 - e * mp.cos(anomaly(e, M))),
    "The same anomaly by Newton's steps": newton,
    "Radiation of a black body (Planck)": lambda h, c, k, L, T: (
        2 * h * c**2 / (L**5 * (mp.exp(h * c / (L * k * T)) - 1))
    ),
    "How far a galaxy is, by its redshift": redshift,
    "A rocket's change of speed (Tsiolkovsky)": lambda ve, m0, m1, g, t: (
        ve * (mp.log(m0) - mp.log(m1)) - g * t
    ),
    "The step response of a second-order system": step,
    "A PID loop of 50 steps, its squared error": pid,
    "The gain of a regulator (Riccati)": riccati,
    "Friction in a pipe (Colebrook)": colebrook,
    "Vapour pressure (Clausius and Clapeyron)": lambda p0, L, R, T, T0: (
        p0 * mp.exp(L / R * (T - T0) / (T * T0))
    ),
    "The mean difference of a heat exchanger": lambda a, b: (a - b) / (mp.log(a) - mp.log(b)),
    "How well a trial solution solves the heat equation": heat,
    "A point of a Bézier curve": lambda t, p0, p1, p2, p3: (
        p0 * (1 - t) ** 3 + t * (3 * p1 * (1 - t) ** 2 + t * (3 * p2 * (1 - t) + t * p3))
    ),
    "A lit surface (Phong)": phong,
    "The curve of a screen (sRGB)": lambda c: (
        mpf("12.92") * c
        if c <= mpf("0.0031308")
        else mpf("1.055") * c ** (1 / mpf("2.4")) - mpf("0.055")
    ),
    "Two shapes melted together": lambda a, b, k: -mp.log(mp.exp(-k * a) + mp.exp(-k * b)) / k,
    "Reflection at a grazing angle (Schlick)": lambda f0, n, v: (
        f0 + (1 - f0) * (1 - dot(n, v)) ** 5
    ),
}
"""Title → the formula's truth, its inputs as arguments."""

"""The 30 real models of lmfit 1.3 (``lmfit.models``) as formulas, with lmfit's names.

The data are NumPy's and SciPy's, by the formulas of ``lmfit.lineshapes``; parameters go by name, such as
``sigma=…``, beside the options of ``fit``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import exprgrad
from exprgrad import ExprgradError

special = pytest.importorskip("scipy.special")
X = np.linspace(0.1, 10.0, 120)
ROOT = np.sqrt(2 * np.pi)


class Model(NamedTuple):
    """A formula, the same in NumPy, and the parameters that made the data."""

    formula: str
    made: Callable[..., Any]
    at: dict[str, float]


PEAK = {"amplitude": 3.0, "center": 5.0, "sigma": 0.8}


def gaussian(x: Any, amplitude: float, center: float, sigma: float) -> Any:
    return amplitude / (ROOT * sigma) * np.exp(-((x - center) ** 2) / (2 * sigma**2))


def lorentzian(x: Any, amplitude: float, center: float, sigma: float) -> Any:
    return amplitude / np.pi * sigma / ((x - center) ** 2 + sigma**2)


def pseudo_voigt(x: Any, amplitude: float, center: float, sigma: float, fraction: float) -> Any:
    narrow = gaussian(x, amplitude, center, sigma / np.sqrt(2 * np.log(2)))
    return (1 - fraction) * narrow + fraction * lorentzian(x, amplitude, center, sigma)


def pearson7(x: Any, amplitude: float, center: float, sigma: float, expon: float) -> Any:
    scale = special.gamma(expon) / (special.gamma(expon - 0.5) * sigma * np.sqrt(np.pi))
    return amplitude * scale * (1 + ((x - center) / sigma) ** 2) ** -expon


def students_t(x: Any, amplitude: float, center: float, sigma: float) -> Any:
    scale = special.gamma((sigma + 1) / 2) / np.sqrt(sigma * np.pi) / special.gamma(sigma / 2)
    return amplitude * scale * (1 + (x - center) ** 2 / sigma) ** (-(sigma + 1) / 2)


def breit_wigner(x: Any, amplitude: float, center: float, sigma: float, q: float) -> Any:
    return amplitude * (q * sigma / 2 + x - center) ** 2 / ((sigma / 2) ** 2 + (x - center) ** 2)


def exponential_gaussian(
    x: Any, amplitude: float, center: float, sigma: float, gamma: float
) -> Any:
    spread = gamma * sigma**2
    tail = special.erfc((center + spread - x) / (np.sqrt(2) * sigma))
    return amplitude * gamma / 2 * np.exp(gamma * (center - x + spread / 2)) * tail


def doniach(x: Any, amplitude: float, center: float, sigma: float, gamma: float) -> Any:
    arg, power = (x - center) / sigma, (1 - gamma) / 2
    angle = np.pi * gamma / 2 + (1 - gamma) * np.arctan(arg)
    return amplitude / sigma ** (1 - gamma) * np.cos(angle) / (1 + arg**2) ** power


GAUSS = "amplitude/(sigma*sqrt(2*pi))*exp(-(x - center)^2/(2*sigma^2))"
ARG = "a = (x - center)/sigma; "
SIDES = {"amplitude": 3.0, "center1": 3.0, "sigma1": 0.5, "center2": 7.0, "sigma2": 0.7}
MODELS = {
    "Constant": Model("c + 0*x", lambda x, c: c + 0 * x, {"c": 2.5}),
    "Linear": Model(
        "slope*x + intercept",
        lambda x, slope, intercept: slope * x + intercept,
        {"slope": 2.0, "intercept": -1.0},
    ),
    "Quadratic": Model(
        "a*x^2 + b*x + c", lambda x, a, b, c: a * x**2 + b * x + c, {"a": 0.5, "b": -2.0, "c": 1.0}
    ),
    "Polynomial": Model(
        "c0 + c1*x + c2*x^2 + c3*x^3",
        lambda x, c0, c1, c2, c3: c0 + c1 * x + c2 * x**2 + c3 * x**3,
        {"c0": 1.0, "c1": -2.0, "c2": 0.5, "c3": 0.125},
    ),
    "Sine": Model(
        "amplitude*sin(frequency*x + shift)",
        lambda x, amplitude, frequency, shift: amplitude * np.sin(frequency * x + shift),
        {"amplitude": 3.0, "frequency": 1.3, "shift": 0.4},
    ),
    "Gaussian": Model(GAUSS, gaussian, PEAK),
    "Gaussian2d": Model(
        "amplitude/(2*pi*sigmax*sigmay)*exp(-(x - centerx)^2/(2*sigmax^2) - (z - centery)^2/(2*sigmay^2))",
        lambda x, amplitude, centerx, sigmax, centery, sigmay: (
            amplitude * gaussian(x, 1, centerx, sigmax) * gaussian(np.sin(x), 1, centery, sigmay)
        ),
        {"amplitude": 3.0, "centerx": 5.0, "sigmax": 1.5, "centery": 0.2, "sigmay": 0.9},
    ),
    "Lorentzian": Model("amplitude/pi*sigma/((x - center)^2 + sigma^2)", lorentzian, PEAK),
    "SplitLorentzian": Model(
        "s = where(x < center, sigma, sigma_r); "
        "2*amplitude/(pi*(sigma + sigma_r))*s^2/((x - center)^2 + s^2)",
        lambda x, amplitude, center, sigma, sigma_r: (
            2
            * amplitude
            / (np.pi * (sigma + sigma_r))
            * np.where(
                x < center,
                sigma**2 / ((x - center) ** 2 + sigma**2),
                sigma_r**2 / ((x - center) ** 2 + sigma_r**2),
            )
        ),
        {**PEAK, "sigma_r": 1.3},
    ),
    "PseudoVoigt": Model(
        "(1 - fraction)*amplitude*sqrt(log(2)/pi)/sigma*exp(-log(2)*(x - center)^2/sigma^2)"
        " + fraction*amplitude/pi*sigma/((x - center)^2 + sigma^2)",
        pseudo_voigt,
        {**PEAK, "fraction": 0.4},
    ),
    "Moffat": Model(
        "amplitude*(((x - center)/sigma)^2 + 1)^(-beta)",
        lambda x, amplitude, center, sigma, beta: (
            amplitude * (((x - center) / sigma) ** 2 + 1) ** -beta
        ),
        {**PEAK, "beta": 1.7},
    ),
    "Pearson4": Model(  # scaled by its height, as |gamma(m + i*skew/2)| would need complex numbers
        ARG + "amplitude*(1 + a^2)^(-expon)*exp(-skew*atan(a))",
        lambda x, amplitude, center, sigma, expon, skew: (
            amplitude
            * (1 + ((x - center) / sigma) ** 2) ** -expon
            * np.exp(-skew * np.arctan((x - center) / sigma))
        ),
        {**PEAK, "expon": 1.8, "skew": 0.6},
    ),
    "Pearson7": Model(
        "amplitude*gamma(expon)/(gamma(expon - 1/2)*sigma*sqrt(pi))*(1 + ((x - center)/sigma)^2)^(-expon)",
        pearson7,
        {**PEAK, "expon": 2.2},
    ),
    "StudentsT": Model(
        "amplitude*gamma((sigma + 1)/2)/(sqrt(sigma*pi)*gamma(sigma/2))"
        "*(1 + (x - center)^2/sigma)^(-(sigma + 1)/2)",
        students_t,
        PEAK,
    ),
    "BreitWigner": Model(
        "amplitude*(q*sigma/2 + x - center)^2/((sigma/2)^2 + (x - center)^2)",
        breit_wigner,
        {**PEAK, "q": 1.5},
    ),
    "Lognormal": Model(
        "amplitude/(x*sigma*sqrt(2*pi))*exp(-(log(x) - center)^2/(2*sigma^2))",
        lambda x, amplitude, center, sigma: gaussian(np.log(x), amplitude, center, sigma) / x,
        {"amplitude": 3.0, "center": 1.0, "sigma": 0.6},
    ),
    "DampedOscillator": Model(
        "amplitude/sqrt((1 - (x/center)^2)^2 + (2*sigma*x/center)^2)",
        lambda x, amplitude, center, sigma: (
            amplitude / np.sqrt((1 - (x / center) ** 2) ** 2 + (2 * sigma * x / center) ** 2)
        ),
        {"amplitude": 3.0, "center": 5.0, "sigma": 0.2},
    ),
    "DampedHarmonicOscillator": Model(
        "amplitude*sigma/pi/(1 - exp(-x/gamma))"
        "*(sigma/((x - center)^2 + sigma^2) - sigma/((x + center)^2 + sigma^2))",
        lambda x, amplitude, center, sigma, gamma: (
            amplitude
            * sigma
            / np.pi
            / (1 - np.exp(-x / gamma))
            * (sigma / ((x - center) ** 2 + sigma**2) - sigma / ((x + center) ** 2 + sigma**2))
        ),
        {**PEAK, "gamma": 1.2},
    ),
    "ExponentialGaussian": Model(
        "amplitude*gamma/2*exp(gamma*(center - x + gamma*sigma^2/2))"
        "*erfc((center + gamma*sigma^2 - x)/(sqrt(2)*sigma))",
        exponential_gaussian,
        {**PEAK, "center": 3.0, "gamma": 0.9},
    ),
    "SkewedGaussian": Model(
        GAUSS + "*(1 + erf(gamma*(x - center)/(sigma*sqrt(2))))",
        lambda x, amplitude, center, sigma, gamma: (
            gaussian(x, amplitude, center, sigma)
            * (1 + special.erf(gamma * (x - center) / (sigma * np.sqrt(2))))
        ),
        {**PEAK, "gamma": 1.5},
    ),
    "ThermalDistribution": Model(
        "1/(amplitude*exp((x - center)/kt) + 1)",
        lambda x, amplitude, center, kt: 1 / (amplitude * np.exp((x - center) / kt) + 1),
        {"amplitude": 1.0, "center": 5.0, "kt": 0.8},
    ),
    "Doniach": Model(
        ARG
        + "amplitude/sigma^(1 - gamma)*cos(pi*gamma/2 + (1 - gamma)*atan(a))/(1 + a^2)^((1 - gamma)/2)",
        doniach,
        {**PEAK, "gamma": 0.2},
    ),
    "PowerLaw": Model(
        "amplitude*x^exponent",
        lambda x, amplitude, exponent: amplitude * x**exponent,
        {"amplitude": 3.0, "exponent": -0.7},
    ),
    "Exponential": Model(
        "amplitude*exp(-x/decay)",
        lambda x, amplitude, decay: amplitude * np.exp(-x / decay),
        {"amplitude": 3.0, "decay": 2.5},
    ),
    "Step": Model(
        "amplitude*(1 + erf((x - center)/sigma))/2",
        lambda x, amplitude, center, sigma: amplitude * (1 + special.erf((x - center) / sigma)) / 2,
        PEAK,
    ),
    "Rectangle": Model(
        "amplitude/2*(erf((x - center1)/sigma1) + erf((center2 - x)/sigma2))",
        lambda x, amplitude, center1, sigma1, center2, sigma2: (
            amplitude
            / 2
            * (special.erf((x - center1) / sigma1) + special.erf((center2 - x) / sigma2))
        ),
        SIDES,
    ),
    "Expression": Model(
        "off + amplitude*exp(-x/x0)*sin(phase*x)",
        lambda x, off, amplitude, x0, phase: off + amplitude * np.exp(-x / x0) * np.sin(phase * x),
        {"off": 0.5, "amplitude": 3.0, "x0": 4.0, "phase": 2.0},
    ),
}
"""Those that are formulas of elementary and special functions of real numbers."""
WANTING = {
    "Voigt": ("voigt(x - center, sigma, gamma)*amplitude", "pseudo-Voigt"),
    "SkewedVoigt": (
        "voigt(x - center, sigma, gamma)*amplitude*(1 + erf(skew*(x - center)/(sigma*sqrt(2))))",
        "pseudo-Voigt",
    ),
    "Spline": ("spline(x, [0, 5, 10], [s0, s1, s2])", "no tables of data"),
}
"""Those that are not, with words of the help."""


def test_there_are_30() -> None:
    assert len(MODELS) + len(WANTING) == 30


@pytest.mark.parametrize("name", MODELS)
def test_models_find_the_parameters_that_made_the_data(name: str) -> None:
    model = MODELS[name]
    data = {"x": X, "z": np.sin(X), "y": model.made(X, **model.at)}
    start: dict[str, Any] = {key: value * 1.06 + 0.02 for key, value in model.at.items()}
    if name == "ThermalDistribution":  # amplitude and center say the same; lmfit holds one, too
        start["fix"] = {"amplitude": 1.0}
    text = model.formula
    head, mark, last = text.rpartition("; ")
    found = exprgrad.fit(f"{head}{mark}y ~ {last}", data, **start)
    assert found.converged, found
    for key, value in model.at.items():
        assert found.parameters[key].value == pytest.approx(value, rel=1e-7), key


@pytest.mark.parametrize("name", WANTING)
def test_models_that_are_no_formulas_are_refused(name: str) -> None:
    formula, word = WANTING[name]
    data = {"x": X, "y": X}
    with pytest.raises(ExprgradError) as caught:
        exprgrad.fit(f"y ~ {formula}", data, amplitude=1, center=5, sigma=1, gamma=1)
    assert word in (caught.value.help or "")


def test_the_pseudo_voigt_of_the_help_is_lmfits() -> None:
    """Its fraction f and half width g are those of ``lmfit.lineshapes.pvoigt`` for a unit amplitude."""
    with pytest.raises(ExprgradError) as caught:
        exprgrad.parse("voigt(x, s, g)")
    formula = str(caught.value.help).partition("pseudo-Voigt, ")[2]
    for f, g in ((0.0, 0.5), (0.3, 1.2), (1.0, 2.0)):
        found = exprgrad.parse(formula)(x=X - 5, f=f, g=g)
        assert found == pytest.approx(pseudo_voigt(X, 1.0, 5.0, g, f), rel=1e-13)

"""Words and calls of other languages and libraries, with our spellings: tables alone.

A line of a table has words, two blanks, and their spelling here; indented lines continue it.  ``#`` stands
for each digit.
"""

from __future__ import annotations

from exprgrad.graph.ops import COMMON

__all__ = [
    "ABSENT", "ATTRIBUTES", "CALLS", "DERIVATIVES", "ELSEWHERE", "EXAMPLES", "MODULES",
    "MODULE_CONSTANTS", "NOT_INPUTS", "OVER_RANGES", "ROOTS", "SETTINGS",
]  # fmt: skip


def read_table(text: str) -> dict[str, str]:
    """Read a table: its words → their spelling here."""
    rows = [line.partition("  ") for line in text.strip().replace("\n    ", "  ").splitlines()]
    return {
        word.replace("#", digit): " ".join(here.replace("#", digit).split())
        for words, _, here in rows
        if here
        for word in words.split()
        for digit in ("0123456789" if "#" in word else "#")
    }


CALLS = read_table(
    """
# Arithmetic and comparisons
add plus  {x_term} + {y_term}
sub minus subtract  {x_term} - {y_term}
mul multiply times  {x_factor}*{y_factor}
divide rdivide Rational  {x_factor}/{y_factor}
div  for a quotient write {x_factor}/{y_factor}, for its whole part floor({x_factor}/{y_factor})
mod  {x_factor}%{y_factor}
fmod rem  {x_term} - {y_factor}*trunc({x_factor}/{y_factor})
pow power  {x_factor}^{y_factor}
recip reciprocal  1/{x_factor}
sqr square  {x_factor}^2
cube  {x_factor}^3
exp10  10^{x_factor}
pow2  2^{x_factor}
nthroot surd  {x_factor}^(1/{y_factor})
CubeRoot[1]  cbrt({x})
inversesqrt rsqrt  1/sqrt({x})
sqrtpi  sqrt(pi*{x_factor})
frac fract  {x_term} - floor({x})
ROUND/2 round/2  round({x_factor}*10^{y_factor})/10^{y_factor}
lerp mix  {x_term} + ({y_term} - {x_factor})*{z_factor}
Clip[1]  clamp({x}, -1, 1)
Clip[2]  clamp({x}, {y_inside})
Eq  {x_term} == {y_term}
Ne  {x_term} != {y_term}
and logical_and  {both}
or logical_or  max({either})
not logical_not  {x_term} == 0
Float Integer Rational/1 expand/1 factor/1 simplify/1  {x}
S  for SymPy's number write {x}, for a product S*({x})
D[2]  d({x}, {y_inside})

# Logarithms and angles
LOG/1  log10({x})
LOG/2  log({x}, {y})
Log[2]  log({y}, {x})
log_a  log({x}, a)
logbase/2  log({y}, {x})
log_b  log({x}, b)
log_n  log({x}, n)
sind  sin(rad({x}))
cosd  cos(rad({x}))
tand  tan(rad({x}))
cotd  cot(rad({x}))
secd  sec(rad({x}))
cscd  csc(rad({x}))
asind  deg(asin({x}))
acosd  deg(acos({x}))
atand  deg(atan({x}))
atan2d  deg(atan2({x}, {y}))
sinpi  sin(pi*{x_factor})
cospi  cos(pi*{x_factor})
tanpi  tan(pi*{x_factor})
sinc  sinc(pi*{x_factor})
Sinc[1]  sinc({x})
ArcTan[2]  atan2({y}, {x})

# Steps, and what networks are made of
heaviside/2  where({x_factor} == 0, {y_factor}, {x_factor} > 0)
HeavisideTheta[1]  heaviside({x})
UnitStep[1]  {x_term} >= 0
Ramp[1]  relu({x})
elu/2  where({x_factor} > 0, {x_factor}, {y_factor}*expm1({x_factor}))
leaky_relu/2  where({x_factor} > 0, {x_factor}, {y_factor}*{x_factor})
inv_logit invlogit plogis sigm LogisticSigmoid[1]  sigmoid({x})
qlogis  logit({x})
log_softmax  {x_term} - logsumexp({x}, axis={last}, keepdims=True)
mae  mean(abs({x_term} - {y_term}))
mse mse_loss  mean(({x_term} - {y_term})^2)

# Combinatorics and special functions
binom choose comb combin nCr nchoosek ncr C/2  binomial({x}, {y})
CatalanNumber[1]  catalan({x})
lchoose  log(binomial({x}, {y}))
PERMUT nPr perm permutations  factorial({x})/factorial({x_term} - {y_factor})
B/2 Β/2  beta({x}, {y})
GAMMALN.PRECISE/1  lgamma({x})
PolyGamma[1]  digamma({x})
trigamma  polygamma(1, {x})
Psi/2 psi/2 ψ/2  polygamma({x}, {y})
psigamma/2  polygamma({y}, {x})
ERF.PRECISE/1  erf({x})
ERFC.PRECISE/1  erfc({x})
Erf[2]  erf2({x}, {y})
InverseErf[1]  erfinv({x})
erfcinv  -norminv({x_factor}/2)/sqrt(2)
expint/1  E1({x})
ExpIntegralE[2]  E{x}({y})
Li  li({x}) - li(2)
ellipke  elliptic_k({x})
E  for the complete elliptic integral write elliptic_e({x}), for a product E*({x})
K  for the complete elliptic integral write elliptic_k({x}), for a product K*({x})
W  for Lambert's function write lambertw({x}), for a product W*({x})
xlogx  xlogy({x}, {x})
BesselI iv  besseli({x}, {y_term})
BesselJ jv  besselj({x}, {y_term})
BesselK kv  besselk({x}, {y_term})
BesselY yv  bessely({x}, {y_term})
BESSELI/2 besselI/2  besseli({y}, {x})
BESSELJ/2 besselJ/2  besselj({y}, {x})
BESSELK/2 besselK/2  besselk({y}, {x})
BESSELY/2 besselY/2  bessely({y}, {x})
i0  besseli(0, {x})
i1  besseli(1, {x})
k0  besselk(0, {x})
k1  besselk(1, {x})
y0  bessely(0, {x})
y1  bessely(1, {x})
I# I_#  besseli(#, {x})
J# J_#  besselj(#, {x})
K# K_#  besselk(#, {x})
Y# Y_#  bessely(#, {x})

# Statistics
N  for the normal distribution write normcdf({x}), for a product N*({x})
cdf Phi Φ  for the standard normal distribution write normcdf({x})
pdf  for the standard normal distribution write normpdf({x})
phi φ  for the standard normal density write normpdf({x})
NORM.S.DIST:TRUE/1  normcdf({x})
NORM.S.DIST:FALSE/1 dnorm/1  normpdf({x})
NORM.S.INV/1  norminv({x})
NORM.DIST:TRUE/3 cdf/3 normalcdf/3 normcdf/3 pnorm/3  normcdf(({x_term} - {y_factor})/{z_factor})
NORM.DIST:FALSE/3 dnorm/3 normalpdf/3 normpdf/3 pdf/3
    normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor}
NORM.INV/3 ppf/3 qnorm/3  {y_term} + {z_factor}*norminv({x})
NORMDIST/4 normdist/4  for TRUE write normcdf(({x_term} - {y_factor})/{z_factor}),
    for FALSE normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor}
dbinom/3  binomial({y}, {x})*{z_factor}^{x_factor}*(1 - {z_factor})^({y_term} - {x_factor})
dexp/2  {y_factor}*exp(-{y_factor}*{x_factor})
dpois/2  exp(-{y_factor})*{y_factor}^{x_factor}/factorial({x})
gauss/3 gaussian/3  for a density write normpdf(({x_term} - {y_factor})/{z_factor})/{z_factor},
    for the height 1 exp(-(({x_term} - {y_factor})/{z_factor})^2/2)
lorentz/3 lorentzian/3  for a density write {z_factor}/pi/(({x_term} - {y_factor})^2 + {z_factor}^2),
    for the height 1 1/(1 + (({x_term} - {y_factor})/{z_factor})^2)
cov  mean(({x_term} - mean({x}))*({y_term} - mean({y}))); that is the population's covariance
sd stdev  for n numbers write sqrt(sum(({x_term} - mean({x}))^2)/(n - 1))
std  sqrt(mean(({x_term} - mean({x}{kept}))^2{axis})); that is the population's deviation,
    and PyTorch's divides by n - 1
var  mean(({x_term} - mean({x}{kept}))^2{axis}); that is the population's variance,
    and PyTorch's divides by n - 1

# Finance
FV/3  -{z_factor}*((1 + {x_factor})^{y_factor} - 1)/{x_factor}
PMT/3  -{z_factor}*{x_factor}/(1 - (1 + {x_factor})^(-{y_factor}))
PV/3  -{z_factor}*(1 - (1 + {x_factor})^(-{y_factor}))/{x_factor}

# Tensors
array asarray tensor  {x_list}
zeros  broadcast(0, shape=[{sizes}])
zeros_like  0*{x_factor}
ones  broadcast(1, shape=[{sizes}])
ones_like  0*{x_factor} + 1
full  broadcast({fill}, shape=[{x_sizes}])
eye identity  diag(broadcast(1, shape=[{size}]))
flatten ravel  reshape({x}, -1)
column_stack  for vectors write stack({all}, axis=1)
hstack  for vectors write concat({all}), for matrices concat({all}, axis=1)
row_stack vstack  for vectors write [{all}], for matrices concat({all})
bmm dot matmul mm mv  {x_factor} @ {y_factor}
adjugate  cofactors({x}).T
lstsq  for full rank write solve({x_factor}.T @ {x_factor}, {x_factor}.T @ {y_factor})
pinv  for full rank write solve({x_factor}.T @ {x_factor}, {x_factor}.T)
Tr[1]  trace({x})
Total[1] reduce_sum  sum({x})
reduce_max  max({x})
reduce_mean  mean({x})
reduce_min  min({x})
reduce_prod  prod({x})
sumproduct  sum({x_factor}*{y_factor})
sumsq  sum([{all}]^2)
Σ  for a sum write sum({x}), for a product Σ*({x})
Π  for a product of all write prod({x}), for a product Π*({x})
"""
)
"""A foreign function without a counterpart → the form of its call here, which ``form_slots`` fills.

``word/2`` is a call with two operands, settings included; ``Word[2]`` one in brackets, as in Mathematica;
``WORD:TRUE`` a spreadsheet's cumulative function.
"""
DERIVATIVES = (
    "inside a formula a derivative is d(x^3, x), the second one d(x^3, x, 2); "
    "diff gives the formula's own"
)
ROOTS = "a root is root(x^2 - 2, x, 1), searched for from 1, or root(x^2 - 2, x, 0, 2), between two ends"
INCOMPLETE = (
    "there are no incomplete elliptic integrals; the complete ones are elliptic_k and elliptic_e"
)
BESSEL_ORDERS = "a Bessel function's order is a whole number, as in besselj(0, x)"
ABSENT = read_table(
    f"""
D Derivative Diff derivative diff grad gradient  {DERIVATIVES}
FindRoot brentq find_root findroot fsolve fzero newton nsolve uniroot  {ROOTS}
Int Integral NIntegrate int/2 int/3 int/4 integral integrate quad  there are no integrals
Limit lim limit  there are no limits; beside a kink grad says both slopes
Im Re arg conj conjugate im re  numbers are real
double float  numbers are doubles: leave it out
rand randn random rnd  formulas have no random numbers
lg  lg is log10(x) to some and log2(x) to others: write the one that is meant
atan/2 arctan/2 arctg/2  the angle of the point (x, y) is atan2(y, x)
ATAN2  a spreadsheet's ATAN2(x, y) is atan2(y, x) here
DiracDelta  it is no function; heaviside(x) is its integral
CDF  that of the standard normal distribution is normcdf(x)
PDF  that of the standard normal distribution is normpdf(x)
I_n I_m I_k I_l I_nu I_ν I_alpha I_α J_n J_m J_k J_l J_nu J_ν J_alpha J_α  {BESSEL_ORDERS}
K_n K_m K_k K_l K_nu K_ν K_alpha K_α Y_n Y_m Y_k Y_l Y_nu Y_ν Y_alpha Y_α  {BESSEL_ORDERS}
jn yn  spherical Bessel functions are not here
hermite laguerre legendre  polynomials are written out, power by power
gammainc gammaincc igamma lowergamma uppergamma gamma/2 Gamma/2 Γ/2  there is no incomplete gamma function
betainc btdtr  there is no incomplete beta function
ellipeinc ellipf ellipkinc elliptic_f elliptic_pi ellippi ellint_2/2 ellipe/2 ellipk/2  {INCOMPLETE}
elliptic_e/2 elliptic_k/2  {INCOMPLETE}
Li2 Li_2 Li_s dilog polylog spence zeta  there are no zeta functions and polylogarithms
voigt voigt_profile wofz  there is no Voigt profile; near it is the pseudo-Voigt,
    f/pi*g/(x^2 + g^2) + (1 - f)*sqrt(log(2)/pi)/g*exp(-log(2)*x^2/g^2)
expint expn  the exponential integrals here are E1(x) and Ei(x)
interp interp1 spline  formulas have no tables of data
argmax  the place of the greatest has no derivative; max(x) is the greatest itself
argmin  the place of the least has no derivative; min(x) is the least itself
cholesky eig eigh eigvals eigvalsh lu qr svd
    matrices are not factorized here: solve, inv, det and logdet take them whole
expm logm sqrtm  functions go element by element, and matrices have none of their own
slogdet  the second of what it gives is logdet(x), log|det(x)|
einsum tensordot  write it with @, sum, outer, trace and x.T
softmax_cross_entropy  write cross_entropy of classes and logits; 'exprgrad ops' shows how
len  sizes are not part of a formula; mean(x) is the sum over the count
t  the transpose is written x.T; for a product write t*(…)
"""
)
"""A function that is not here → advice."""

OVER_RANGES = {
    **dict.fromkeys(("Sum", "sum", "summation", "Σ", "∑", "add"), "sum({})"),
    **dict.fromkeys(("Product", "product", "prod", "Π", "∏", "mul"), "prod({})"),
    **dict.fromkeys(("Table", "seq"), "[{}]"),
}
"""A function of Mathematica, SymPy or Maple with an index → its form here."""
EXAMPLES = {
    **{op.name: f"x {op.infix} y" for op in COMMON if op.opposite},
    **{op.name: f"{op.prefix}x" for op in COMMON if op.prefix},
    **read_table(
        """
arange  [0, 1, 2]
array asarray tensor  [1, 2]
column_stack  stack(x, y, axis=1)
expand_dims unsqueeze  reshape(x, [-1, 1])
full  broadcast(2, shape=[3, 4])
gather index take  x[0]
hstack  concat(x, y, axis=1), for vectors concat(x, y)
piecewise  where(condition, x, y)
row_stack vstack  concat(x, y), for vectors [x, y]
slice  x[1:3]
squeeze  x[0] or x[:, 0]
"""
    ),
}
"""A foreign function → an example of its spelling here."""
SETTINGS = {
    "axes": "axis", "depth": "classes", "dim": "axis", "dims": "axis", "keep_dims": "keepdims",
    "keepdim": "keepdims", "newshape": "shape", "num": "n", "num_classes": "classes", "perm": "axes",
    "size": "shape", "steps": "n",
}  # fmt: skip
"""A foreign setting → ours."""
MODULES = frozenset({
    "F", "Math", "autograd", "cmath", "jax", "jnp", "linalg", "math", "nn", "norm", "np", "numpy",
    "scipy", "sp", "special", "stats", "sympy", "tf", "torch",
})  # fmt: skip
"""Modules: a word before a function's dot that is no operand."""
ATTRIBUTES = read_table(
    """
I  the inverse is written inv({0})
H t() transpose() t. transpose.  the transpose is written {0}.T
mH mT  the transpose is written {0}.T, of a stack of matrices transpose({0}, axes=[0, 2, 1])
dtype ndim numel shape size  shapes are not part of a formula; {eval} shows every node's
backward grad  {grad} gives the gradient; write the formula alone
clone() contiguous() copy() cpu() detach() double() float() item() numpy() tolist()
    write {0} alone: all is a tensor of doubles
"""
)
"""A foreign attribute → its form here; ``{0}`` is the text before the dot.

``word()`` is called without operands, ``word.`` is not called.
"""
MODULE_CONSTANTS = read_table(
    """
e E  exp(1)
pi PI  pi
tau  (2*pi)
inf oo  inf
nan  nan
LN2  log(2)
LN10  log(10)
SQRT2  sqrt(2)
Half  (1/2)
NegativeOne  (-1)
One  1
Zero  0
"""
)
"""A constant after a module's dot → its spelling here."""
NOT_INPUTS = {
    **dict.fromkeys("eE", "there is no constant e: exp(1), or exp(x) for e^x"),
    **dict.fromkeys("iI", "there is no imaginary unit: numbers are real"),
    **dict.fromkeys(("Pi", "PI", "M_PI", "Π"), "the constant is written pi"),
    **dict.fromkeys(("Inf", "infinity", "Infinity", "INF"), "infinity is written inf"),
    **dict.fromkeys(("tau", "τ"), "if you mean 2*pi, write 2*pi"),
}
"""A name of a constant or a unit elsewhere → help."""
ELSEWHERE = {
    # Commands.
    "grad": "gradient backward backprop backpropagate backpropagation autograd autodiff ad nabla slope",
    "grad --trace": "trace steps explain",
    "grad --trust": "trust digits precision accuracy",
    "eval": "table evaluate value val calc calculate calculator compute run forward print bc",
    "diff": "derivative derivatives derive deriv differentiate symbolic formula d dx",
    "diff --to latex": "latex tex",
    "diff --steps": "worksheet byhand",
    "dot": "draw graph graphviz picture image svg png pdf diagram tree show view render visualize",
    "explore": "page html web browser interactive step debug learn teach tutorial demo gui",
    "explore --lesson": "lesson lessons example examples course",
    "descend": "train gd sgd descent gradient-descent",
    "minimize": "optimize optimise minimise minimum min fmin argmin",
    "solve": "root roots zero zeros fsolve",
    "fit": "curve-fit curvefit regress regression",
    "check": "verify test validate gradcheck numeric numerical finite-difference claim prove",
    "jac": "jacobian jacobi",
    "hess": "hessian",
    "jvp": "pushforward tangent directional",
    "vjp": "pullback cotangent",
    "code": "compile export codegen generate translate convert transpile c cpp python numpy js javascript",
    "ops": "list functions function funcs operations operators rules",
    # Options.
    "rate": "lr learning-rate step-size stepsize alpha eta gamma",
    "version": "v ver",
    "order": "n degree nth derivative",
    "max-steps": "steps n iterations iters iter epochs max-iter maxiter num-steps count",
    "wrt": "var vars variable variables by respect with-respect-to dx param params inputs",
    "tangent": "direction vector v seed",
    "tangent-at": "tangent",
    "descend-from": "descend start from path",
    "heatmap": "map heat",
    "cotangent": "weights vector v seed grad-output",
    "trace": "t v verbose visits",
    "all": "v verbose full everything no-limit",
    "to": "format lang language target type",
    "digits": "d precision prec decimals places round",
    "quiet": "silent short raw plain value",
    "output": "out save save-as write to-file outfile file",
    "h": "eps epsilon delta bump step",
    "of": "outputs",
    "by": "group groupby group-by",
    "delimiter": "sep separator",
    "value-only": "no-grad no-gradient forward",
    "file": "formula expr expression e input",
    "inputs": "data values params",
    "color": "colour",
    "open": "browser show view",
    "most": "top max limit",
    "shape": "shapes size sizes",
    "strict": "werror fail",
    # Values.
    "javascript": "js node nodejs ecmascript typescript ts es6",
    "python": "py python3",
    "numpy": "np",
    "c": "c99 cpp c++ clang gcc",
    "torch": "pytorch",
    "latex": "tex",
    "infix": "text plain string exprgrad",
    "never": "no none off false no-color no-colour",
    "always": "yes on true force",
    "set": "= assign overwrite replace",
    "add": "+= sum plus accumulate",
}  # fmt: skip
"""A word of our command line → its names elsewhere, which several may share."""

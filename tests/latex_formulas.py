"""Formulas whose LaTeX was looked at in print."""

from __future__ import annotations

__all__ = ["listed"]

FORMULAS = r"""
# products
2*x | x*2 | 2*3 | 2*3^x | 2*(1/2) | x1*w1 + x2*w2 + b | 2*pi*r | (a + b)*c | c*(a + b) | 2*(a + b)
(a + b)*(c + d) | x*(y*z) | x*y*z | rate*time | 2*rate*sin(x) | rate*(1 + x) | x^2*(1 + x) | a % b + c*d | (a*b) % (c + d)
# sums and signs
a + b - c | a - (b - c) | a + (b + c) | a - (-b) | a + (-b) | a + (-b)*c | a*(-b) | -a*b | -(a + b)*c | -(-x) | -(a + b) | (-2)*x
# quotients
a/b | a/(b/c) | a/b/c/d | (x - y)/(x + y) | -a*b/c | a/b*c | -x/2 + y | 1/(1 + exp(-x)) | x*(-a/b)
# powers
x^2 | -x^2 | (-x)^2 | (a^b)^c | a^b^c | (a/b)^2 | (a + b)^2 | (2*x)^2 | exp(x)^2 | x^-2 | x^(1/2) | x1^2 | 2^-x | x^(a/(b*c)) | x^(a/b*c)
# functions
sin(x) | sin(2*x) | sin(x/2) | sin(x)^2 | sin(x)^2*y | sin(x)*y | sin(x)*cos(x) | sin(x)^y | tan(x)^-1 | sin(cos(x)) | sin(-x)
sin(x)/2 | exp(sin(x)/2) | x*sin(y)*z | 2*log(2) | log(abs(x)) | log(sqrt(x)) | log2(x)^2 | log10(x + 1) | sqrt(x/y) | cbrt(x)^2
exp(-x^2/2) | exp(-(x - mu)^2/(2*sigma^2))/sqrt(2*pi*sigma^2) | expm1(x) | 2*expm1(x) | log1p(x) | log1p(-x) | log1p(x/y) | hypot(a + b, -c)
max(a, b/c, 2) | min(x, y)^2 | clamp(x, 0, 1) | sigmoid(x)*(1 - sigmoid(x)) | erf(x/sqrt(2)) | floor(x/2) | atan2(y, x) | asinh(x)*x | relu(x) | log(sigmoid(x)) | log(max(x, y))*z | sin(x)^1 | sin(cos(x)^2) | sin(x)*-2 | atan(y/x)
# choices
x < y | (x < y)*z | z*(x <= y) | (a < b) < c | (a/b < c)*2 | where(x < 0, -x, x) | where(c, x, y/2) + 1 | where((a < b)*(c != d), x, y) | where(a % 2, 1, 0)
where(x < 0, 0, where(x < 1, x, 1))
# numbers
6.02e23*x | x*6.02e23 | 1e22*x | 1e-7 | 0.5*x | inf - nan | pi*inf | 2e300^2
# names
alpha*x + beta | lambda*exp(-lambda*t) | (x - x_max)/v_x | Δx/Δt | Δ*x*Δx^2 | e^x | e^x + exp(x) | sin*sin(x) | x1 + x_1 | naïve^2 | _ + _x + x_ | sigma_x^2*Gamma
# programs
t = a + b | t = a + b; t*t | t = a + b; u = t^2; f = t/u | d = a*b; e = d + c; L = e*f | k = 2; k*x | y = x^2; z = -y; z^2 + z | t = a; u = t; u + t | p = x < 0; where(p, 1, 2)
# products of matrices
X@W | X@W + b | (a + b)@c | X@(A@x) | x@A@x | X.T@g | (X@W).T | x.T.T | sin(x)@y | -x@y | x@-y | 2*X@w | 2*(X@w) | a*b@c | a*(b@c) | (X@W)*G | c*sum(x)@A
dot(x, y + z) | dot(a, b)*c | outer(x, y)@z | trace(A@B) | diag(x)@A | exp(-x@A@x/2) | where(x@w > 0, 1, -1) | (x@y < 1)*2
# reductions
sum(x) | sum(x^2) | sum(x)^2 | sum(x + y) | sum(x)*y | y*sum(x) | sum(x, axis=0) | sum(x/y, axis=[0, 1], keepdims=True) | sum(-x) | sum(sum(x, axis=1)^2)
mean(x, axis=-1) | prod(x + 1) | max(x, axis=1)/2 | min(x^2) | logsumexp(x, axis=0) | softmax(x, axis=0)@W | norm(x - [1, 2, 3]) | norm(x)^2 | norm(x, axis=1)^2 | norm(x/y)
# places and lists
x[0] | x[0, 1:3] | x[:, -1] | x[2:]^2 | (x@A)[0] | x1[0] + x[1] + x1 | sin(x)[0] | x[0][1] | rate[0]*t | x[1]*(a + b) | x.T[0] | norm(x, axis=1)[0] | x[0].T
[1, 2, 3] | x*[1, 2] | [[1, 2], [3, 4]]@x | [a, b + c, -2] | [[a, b], [c, d]] | [x < y] | [[5]] | [1e-30, -2] | relu(x)*[1, 2] | x*[y, 2] | stack(x, y, axis=1) | concat(x, y) | concat(x, y, axis=1)
reshape(x, [2, 3]) | broadcast(x, [3]) | transpose(x, [1, 0, 2]) | onehot(y, 3) | place(x, shape=[3, 4], at=[0, [1, 3]])
# networks
h = relu(X@W1 + b1); cross_entropy(h@W2 + b2, y) | sum((X@w - y)^2)/2 + lambda*norm(w)^2
"""  # noqa: E501


def listed() -> list[str]:
    """Every formula of the table."""
    lines = [line for line in FORMULAS.strip().split("\n") if not line.startswith("#")]
    return [text for line in lines for text in line.split(" | ")]

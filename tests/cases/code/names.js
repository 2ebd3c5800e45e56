/**
 * f: the value and the gradient of a formula, by exprgrad.
 *
 *   lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)
 *
 * Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
 * In the code, class is called class_.
 * Returns {value, gradient}: the value, and by name its derivatives with respect to the
 * inputs, in this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function f(lambda, ψ, y1, class_, gradient, value, t1, exp) {
  const t2 = class_*class_;
  const t3 = Math.sin(exp);
  const value_ = lambda*ψ + y1*t2 + gradient*value + t1 + exp*t3;
  return {value: value_, gradient: {
    lambda: ψ, "ψ": lambda, y1: t2, class: y1*(2*class_), gradient: value, value: gradient,
    t1: 1, exp: t3 + exp*Math.cos(exp)
  }};
}

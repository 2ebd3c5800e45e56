/**
 * f: the value and the gradient of a formula, by exprgrad.
 *
 *   o = tanh(x1*w1 + x2*w2 + b)
 *
 * Inputs, in order: x1, w1, x2, w2, b.
 * Returns {value, gradient}: o, and by name its derivatives with respect to the inputs, in
 * this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function f(x1, w1, x2, w2, b) {
  const t1 = x1*w1 + x2*w2 + b;
  const o = Math.tanh(t1);
  const t2 = Math.cosh(t1);
  const t3 = 1/t2/t2;
  return {value: o, gradient: {x1: t3*w1, w1: t3*x1, x2: t3*w2, w2: t3*x2, b: t3}};
}

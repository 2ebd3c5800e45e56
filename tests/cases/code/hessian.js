/**
 * short_f: the value, the gradient and the Hessian of a formula, by exprgrad.
 *
 *   u = x*y^2
 *   v = exp(x)/y
 *   u*v
 *
 * Inputs, in order: x, y.
 * Returns the value, the gradient with respect to the inputs, in this order, and the
 * Hessian: a row and a column for each.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function short_f(x, y) {
  const t1 = y*y;
  const u = x*t1;
  const t2 = Math.exp(x);
  const v = t2/y;
  const t3 = 1/y;
  const t4 = -v/y;
  const t5 = u*t3*t2;
  const t6 = v*x;
  const t7 = 2*y;
  const t8 = t3*t2;
  const t9 = t4*t1 + u*(t3*-t8) + t7*(x*t8 + v);
  const t10 = -t4;
  const value = u*v;
  const gradient = {x: t5 + v*t1, y: u*t4 + t6*t7};
  const hessian = {
    x: {x: t2*(t3*t1) + t5 + t1*t8, y: t9},
    y: {x: t9, y: t4*(x*t7) + u*(t3*t10 + t10/y) + (t7*(x*t4) + t6*2)},
  };
  return {value: value, gradient: gradient, hessian: hessian};
}

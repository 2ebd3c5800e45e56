/**
 * short_f: the values and the Jacobian of a formula, by exprgrad.
 *
 *   u = x*y^2
 *   v = exp(x)/y
 *   u*v
 *
 * Inputs, in order: x, y.
 * Returns the values of u, v and their Jacobian: a row for each, a column for each of the
 * inputs, in this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function short_f(x, y) {
  const t1 = y*y;
  const u = x*t1;
  const t2 = Math.exp(x);
  const v = t2/y;
  const value = {u: u, v: v};
  const jacobian = {
    u: {x: t1, y: x*(2*y)},
    v: {x: 1/y*t2, y: -v/y},
  };
  return {value: value, jacobian: jacobian};
}

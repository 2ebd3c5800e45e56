/**
 * f: the value and the gradient of a formula, by exprgrad.
 *
 *   m = max(a, b, 2)
 *   where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)
 *
 * Inputs, in order: a, b.
 * Returns {value, gradient}: the value, and by name its derivatives with respect to the
 * inputs, in this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function f(a, b) {
  const m = Math.max(Math.max(a, b), 2);
  const t1 = a < b && b < 3;
  const t2 = f_mod(m, a);
  const t3 = a === 0 ? NaN : 1;
  const t4 = Number(a === m);
  const t5 = Number(b === m);
  const t6 = t4 + t5 + (2 === m ? Infinity : 0);
  const t7 = (t1 ? 0 : Number(a > 0)) + (t1 ? -f_round(m/a - t2/a) : 0);
  const value = t1 ? t2 : Math.max(a, 0) + Math.sign(b)*f_pow(f_round(a/b), 3);
  return {value: value, gradient: {a: t7 + (t1 ? t3*(t4/t6) : 0), b: t1 ? t3*(t5/t6) : 0}};
}

/** The floor modulus, with the sign of y; NaN where y is 0. */
function f_mod(x, y) {
  const r = x % y;
  if (r === 0) return y < 0 ? -0 : 0;
  return (r < 0) !== (y < 0) ? r + y : r;
}

/** IEEE's x to the power y: unlike Math.pow, 1 for the bases 1, and -1 if y is infinite. */
function f_pow(x, y) {
  return x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : Math.pow(x, y);
}

/** The nearest whole number; halves go to the even one, unlike those of Math.round. */
function f_round(x) {
  const r = Math.round(x);
  return Math.abs(x - Math.trunc(x)) === 0.5 ? 2*Math.round(x/2) : r;
}

/**
 * f: the value and the gradient of a formula, by exprgrad.
 *
 *   2 + 2
 *
 * Inputs, in order: none.
 * Returns {value, gradient}: the value, and by name its derivatives with respect to the
 * inputs, in this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function f() {
  return {value: 4, gradient: {}};
}

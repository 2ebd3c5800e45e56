/**
 * f: the value and the gradient of a formula, by exprgrad.
 *
 *   z = (x - mu)/sigma
 *   exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)
 *
 * Inputs, in order: x, mu, sigma.
 * Returns {value, gradient}: the value, and by name its derivatives with respect to the
 * inputs, in this order.
 * ES2015, for browsers and Node.  Inputs are numbers.
 */
function f(x, mu, sigma) {
  const z = (x - mu)/sigma;
  const t1 = Math.exp(-(z*z)/2);
  const t2 = Math.sqrt(2*Math.PI);
  const t3 = sigma*t2;
  const t4 = t1/t3;
  const t5 = f_round(16*z)/16;
  const t6 = Math.exp(46 - t5*t5)*Math.exp((t5 - z)*(z + t5));
  const t7 = Math.abs(z) > 28 ? 0 : t6*(-2/Math.sqrt(Math.PI)*Math.exp(-46));
  const t8 = t7 + -(1/t3*t1*0.5)*(2*z);
  const t9 = t8*(1/sigma);
  return {value: t4 + f_erfc(z), gradient: {x: t9, mu: -t9, sigma: -t4/t3*t2 + t8*(-z/sigma)}};
}

/** The nearest whole number; halves go to the even one, unlike those of Math.round. */
function f_round(x) {
  const r = Math.round(x);
  return Math.abs(x - Math.trunc(x)) === 0.5 ? 2*Math.round(x/2) : r;
}

/** 1 - erf(x), exact in the tail */
function f_erfc(x) {
  const s = x*x;
  const t1 = (-3.307424347149491e-06*s - 9.968500709461738e-05)*s;
  const t2 = ((t1 - 0.0062597805658704845)*s - 0.03169064187892366)*s;
  const t3 = (0.00022238327327855578*s + 0.005984657255496839)*s;
  const t4 = ((t3 + 0.06966706841428245)*s + 0.4080340100583768)*s + 1;
  const more = x*((t2 - 0.3237433226739001)*s + 0.12837916709551256)/t4;
  const t5 = Math.abs(x);
  const z = Math.min(t5, 28);
  const h = f_round(16*z)/16;
  const w = z + 1;
  const t = 1/w;
  const t6 = ((284.04142154259205*t + 642.972766837198)*t + 785.7516489763349)*t;
  const t7 = ((t6 + 658.295586127321)*t + 406.0411903399069)*t + 193.98371875146682;
  const t8 = ((t7*t + 69.23568240193875)*t + 19.85205737674614)*t + 3.578449132731795;
  const t9 = ((56.762352926424576*t + 254.15963530869197)*t + 541.7273827281094)*t;
  const t10 = ((t9 + 716.301218455881)*t + 672.7888471577957)*t + 453.8140329711412;
  const t11 = ((t10*t + 241.87488322917187)*t + 91.201514319532)*t;
  const t12 = ((t11 + 29.344219600236848)*t + 5.342635945579957)*t + 1;
  const scaled = (t8*t + 0.5641895835477563)/t12/w;
  const tail = scaled*Math.exp(-h*h)*Math.exp((h - z)*(h + z));
  return t5 < 0.84375 ? 0.5 - (x - 0.5 + more) : x < 0 ? 2 - tail : tail;
}

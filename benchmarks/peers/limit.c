/* The limit: value and gradient of three formulas for every row, written by hand as a compiler for
 * derivatives would write them: equal parts once, reverse mode, no row depends on another.
 *
 * Built with gcc -O3 -march=native -ffast-math -fopenmp-simd, which makes vectors of all of it and calls
 * glibc's vector functions.  The pragma is needed: without it gcc finds too many pointers to check that they
 * do not overlap, and makes scalar code.  `in` are the inputs' columns; `out` the value's column, then those of
 * the derivatives.
 */

#include <math.h>

#define HALF_ROOT 0.70710678118654752440 /* 1/sqrt(2) */
#define DENSITY 0.39894228040143267794   /* 1/sqrt(2 pi) */

/* tanh(x1*w1 + x2*w2 + b) */
void neuron(long rows, const double *const *in, double *const *out)
{
    const double *x1 = in[0], *w1 = in[1], *x2 = in[2], *w2 = in[3], *b = in[4];
    double *value = out[0], *dx1 = out[1], *dw1 = out[2], *dx2 = out[3], *dw2 = out[4], *db = out[5];
#pragma omp simd
    for (long i = 0; i < rows; i++) {
        double t = tanh(x1[i] * w1[i] + x2[i] * w2[i] + b[i]);
        double g = 1 - t * t;
        value[i] = t;
        dx1[i] = g * w1[i];
        dw1[i] = g * x1[i];
        dx2[i] = g * w2[i];
        dw2[i] = g * x2[i];
        db[i] = g;
    }
}

/* the sum over k of 100*(x[k+1] - x[k]^2)^2 + (1 - x[k])^2, for ten inputs */
void rosenbrock(long rows, const double *const *in, double *const *out)
{
    const double *x0 = in[0], *x1 = in[1], *x2 = in[2], *x3 = in[3], *x4 = in[4];
    const double *x5 = in[5], *x6 = in[6], *x7 = in[7], *x8 = in[8], *x9 = in[9];
    double *value = out[0], *d0 = out[1], *d1 = out[2], *d2 = out[3], *d3 = out[4], *d4 = out[5];
    double *d5 = out[6], *d6 = out[7], *d7 = out[8], *d8 = out[9], *d9 = out[10];
#pragma omp simd
    for (long i = 0; i < rows; i++) {
        double sum = 0, back = 0;
#define TERM(x, next, d)                                                                           \
    {                                                                                              \
        double here = x[i], e = next[i] - here * here, f = 1 - here, g = 200 * e;                  \
        sum += 100 * e * e + f * f;                                                                \
        d[i] = back - 2 * here * g - 2 * f;                                                        \
        back = g;                                                                                  \
    }
        TERM(x0, x1, d0)
        TERM(x1, x2, d1)
        TERM(x2, x3, d2)
        TERM(x3, x4, d3)
        TERM(x4, x5, d4)
        TERM(x5, x6, d5)
        TERM(x6, x7, d6)
        TERM(x7, x8, d7)
        TERM(x8, x9, d8)
        d9[i] = back;
        value[i] = sum;
    }
}

/* a European call by Black and Scholes: inputs S, K, T, r, v */
void black_scholes(long rows, const double *const *in, double *const *out)
{
    const double *S = in[0], *K = in[1], *T = in[2], *r = in[3], *v = in[4];
    double *value = out[0], *dS = out[1], *dK = out[2], *dT = out[3], *dr = out[4], *dv = out[5];
#pragma omp simd
    for (long i = 0; i < rows; i++) {
        double root = sqrt(T[i]), spread = v[i] * root, drift = r[i] + 0.5 * v[i] * v[i];
        double d1 = (log(S[i] / K[i]) + drift * T[i]) / spread, d2 = d1 - spread;
        double n1 = 0.5 * erfc(-HALF_ROOT * d1), n2 = 0.5 * erfc(-HALF_ROOT * d2);
        double discount = exp(-r[i] * T[i]), now = K[i] * discount;
        double g2 = -now * (DENSITY * exp(-0.5 * d2 * d2));
        double g1 = S[i] * (DENSITY * exp(-0.5 * d1 * d1)) + g2;
        double g_top = g1 / spread, g_spread = -g2 - g_top * d1, g_drift = g_top * T[i];
        double g_power = -n2 * now; /* of the discount's exponent, -r*T */
        value[i] = S[i] * n1 - now * n2;
        dS[i] = n1 + g_top / S[i];
        dK[i] = -n2 * discount - g_top / K[i];
        dT[i] = g_top * drift - g_power * r[i] + 0.5 * g_spread * v[i] / root;
        dr[i] = g_drift - g_power * T[i];
        dv[i] = g_drift * v[i] + g_spread * root;
    }
}

/* the same from the textbook's greeks, where S*density(d1) = K*discount*density(d2) saves an exponential */
void black_scholes_greeks(long rows, const double *const *in, double *const *out)
{
    const double *S = in[0], *K = in[1], *T = in[2], *r = in[3], *v = in[4];
    double *value = out[0], *dS = out[1], *dK = out[2], *dT = out[3], *dr = out[4], *dv = out[5];
#pragma omp simd
    for (long i = 0; i < rows; i++) {
        double root = sqrt(T[i]), spread = v[i] * root;
        double d1 = (log(S[i] / K[i]) + (r[i] + 0.5 * v[i] * v[i]) * T[i]) / spread;
        double n1 = 0.5 * erfc(-HALF_ROOT * d1), n2 = 0.5 * erfc(-HALF_ROOT * (d1 - spread));
        double discount = exp(-r[i] * T[i]), later = K[i] * discount * n2;
        double vega = S[i] * (DENSITY * exp(-0.5 * d1 * d1)) * root;
        value[i] = S[i] * n1 - later;
        dS[i] = n1;
        dK[i] = -discount * n2;
        dT[i] = 0.5 * vega * v[i] / T[i] + r[i] * later;
        dr[i] = T[i] * later;
        dv[i] = vega;
    }
}

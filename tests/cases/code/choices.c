/* f: the value and the gradient of a formula, by exprgrad.

     m = max(a, b, 2)
     where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)

   Inputs, in order: a, b.
   Returns the value; stores its derivatives with respect to the inputs, in this order, in
   gradient.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

/* the floor modulus, with the sign of y; nan where y is 0 */
static double f_mod(double x, double y)
{
    const double r = fmod(x, y);
    return r == 0.0 ? copysign(r, y) : (r < 0.0) == (y < 0.0) ? r : r + y;
}

/* -1, 0 or 1; nan for nan */
static double f_sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

/* the greater; nan if either is nan, which fmax would ignore */
static double f_max(double x, double y)
{
    return x > y || x != x ? x : y;
}

double f(double a, double b, double gradient[2])
{
    const double m = f_max(f_max(a, b), 2.0);
    const int t1 = a < b && b < 3.0;
    const double t2 = f_mod(m, a);
    const double t3 = a == 0.0 ? NAN : 1.0;
    const double t4 = (double)(a == m);
    const double t5 = (double)(b == m);
    const double t6 = t4 + t5 + (2.0 == m ? INFINITY : 0.0);
    const double t7 = (t1 ? 0.0 : (double)(a > 0.0)) + (t1 ? -nearbyint(m/a - t2/a) : 0.0);
    const double value = t1 ? t2 : f_max(a, 0.0) + f_sign(b)*pow(nearbyint(a/b), 3.0);
    gradient[0] = t7 + (t1 ? t3*(t4/t6) : 0.0);
    gradient[1] = t1 ? t3*(t5/t6) : 0.0;
    return value;
}

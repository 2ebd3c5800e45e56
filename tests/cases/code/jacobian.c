/* short_f: the values and the Jacobian of a formula, by exprgrad.

     u = x*y^2
     v = exp(x)/y
     u*v

   Inputs, in order: x, y.
   Finds the values of u, v and their Jacobian: a row for each, a column for each of the
   inputs, in this order.  Stores them in value and jacobian.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

void short_f(double x, double y, double value[2], double jacobian[2][2])
{
    const double t1 = y*y;
    const double u = x*t1;
    const double t2 = exp(x);
    const double v = t2/y;
    value[0] = u;
    value[1] = v;
    jacobian[0][0] = t1;
    jacobian[0][1] = x*(2.0*y);
    jacobian[1][0] = 1.0/y*t2;
    jacobian[1][1] = -v/y;
}

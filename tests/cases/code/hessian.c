/* short_f: the value, the gradient and the Hessian of a formula, by exprgrad.

     u = x*y^2
     v = exp(x)/y
     u*v

   Inputs, in order: x, y.
   Finds the value, the gradient with respect to the inputs, in this order, and the Hessian:
   a row and a column for each.  Returns the value; stores the rest in gradient and hessian.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double short_f(double x, double y, double gradient[2], double hessian[2][2])
{
    const double t1 = y*y;
    const double u = x*t1;
    const double t2 = exp(x);
    const double v = t2/y;
    const double t3 = 1.0/y;
    const double t4 = -v/y;
    const double t5 = u*t3*t2;
    const double t6 = v*x;
    const double t7 = 2.0*y;
    const double t8 = t3*t2;
    const double t9 = t4*t1 + u*(t3*-t8) + t7*(x*t8 + v);
    const double t10 = -t4;
    gradient[0] = t5 + v*t1;
    gradient[1] = u*t4 + t6*t7;
    hessian[0][0] = t2*(t3*t1) + t5 + t1*t8;
    hessian[0][1] = t9;
    hessian[1][0] = t9;
    hessian[1][1] = t4*(x*t7) + u*(t3*t10 + t10/y) + (t7*(x*t4) + t6*2.0);
    return u*v;
}

/* f: the value and the gradient of a formula, by exprgrad.

     o = tanh(x1*w1 + x2*w2 + b)

   Inputs, in order: x1, w1, x2, w2, b.
   Returns o; stores its derivatives with respect to the inputs, in this order, in gradient.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double f(double x1, double w1, double x2, double w2, double b, double gradient[5])
{
    const double t1 = x1*w1 + x2*w2 + b;
    const double o = tanh(t1);
    const double t2 = cosh(t1);
    const double t3 = 1.0/t2/t2;
    gradient[0] = t3*w1;
    gradient[1] = t3*x1;
    gradient[2] = t3*w2;
    gradient[3] = t3*x2;
    gradient[4] = t3;
    return o;
}

/* f: the value and the gradient of a formula, by exprgrad.

     x*y

   Inputs, in order: x, y.
   Returns the value; stores its derivatives with respect to the inputs, in this order, in
   gradient.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double f(double x, double y, double gradient[2])
{
    gradient[0] = y;
    gradient[1] = x;
    return x*y;
}

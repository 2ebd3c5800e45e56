/* f: the value and the gradient of a formula, by exprgrad.

     lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)

   Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
   In the code, ψ is called psi, exp is called exp_.
   Returns the value; stores its derivatives with respect to the inputs, in this order, in
   gradient_.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double f(
    double lambda, double psi, double y1, double class, double gradient, double value,
    double t1, double exp_, double gradient_[8]
)
{
    const double t2 = class*class;
    const double t3 = sin(exp_);
    const double value_ = lambda*psi + y1*t2 + gradient*value + t1 + exp_*t3;
    gradient_[0] = psi;
    gradient_[1] = lambda;
    gradient_[2] = t2;
    gradient_[3] = y1*(2.0*class);
    gradient_[4] = value;
    gradient_[5] = gradient;
    gradient_[6] = 1.0;
    gradient_[7] = t3 + exp_*cos(exp_);
    return value_;
}

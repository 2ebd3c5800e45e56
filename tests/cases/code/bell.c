/* f: the value and the gradient of a formula, by exprgrad.

     z = (x - mu)/sigma
     exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)

   Inputs, in order: x, mu, sigma.
   Returns the value; stores its derivatives with respect to the inputs, in this order, in
   gradient.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double f(double x, double mu, double sigma, double gradient[3])
{
    const double z = (x - mu)/sigma;
    const double t1 = exp(-(z*z)/2.0);
    const double t2 = sqrt(2.0*3.141592653589793);
    const double t3 = sigma*t2;
    const double t4 = t1/t3;
    const double t5 = nearbyint(16.0*z)/16.0;
    const double t6 = exp(46.0 - t5*t5)*exp((t5 - z)*(z + t5));
    const double t7 = fabs(z) > 28.0 ? 0.0 : t6*(-2.0/sqrt(3.141592653589793)*exp(-46.0));
    const double t8 = t7 + -(1.0/t3*t1*0.5)*(2.0*z);
    const double t9 = t8*(1.0/sigma);
    gradient[0] = t9;
    gradient[1] = -t9;
    gradient[2] = -t4/t3*t2 + t8*(-z/sigma);
    return t4 + erfc(z);
}

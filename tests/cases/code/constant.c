/* f: the value and the gradient of a formula, by exprgrad.

     2 + 2

   Inputs, in order: none.
   Returns the value.
   C99; needs only <math.h> (link with -lm). */
#include <math.h>

double f(void)
{
    return 4.0;
}

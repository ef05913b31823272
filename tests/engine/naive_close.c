#include "tests/engine/naive_shares.h"

#include <math.h>

static bool was_close;

bool naive_less(double a, double b, bool is_exact)
{
    double near = 1e-9 * fmax(fabs(a), fabs(b));
    if (fabs(a - b) <= near && !(is_exact && a == b) && near > 0)
        was_close = true;
    return a < b;
}

void naive_close_mark(void)
{
    was_close = true;
}

void naive_close_forget(void)
{
    was_close = false;
}

bool naive_close_was(void)
{
    return was_close;
}

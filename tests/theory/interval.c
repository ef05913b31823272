#include "tests/theory/interval.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sample_add(struct sample *s, double batch_mean)
{
    cr_assert_lt(s->n, (uint32_t)SAMPLE_ROOM);
    s->mean[s->n++] = batch_mean;
}

struct interval interval_of(const struct sample *s)
{
    cr_assert_geq(s->n, 10u);
    double n = (double)s->n, sum = 0, squares = 0, products = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += s->mean[i];
    double mean = sum / n;
    for (uint32_t i = 0; i < s->n; i++) {
        double d = s->mean[i] - mean;
        squares += d * d;
        products += i > 0 ? d * (s->mean[i - 1] - mean) : 0;
    }
    double each = (1 - FAMILY_CONFIDENCE) / FAMILY_COMPARISONS;
    double t = gsl_cdf_tdist_Qinv(each / 2, n - 1);
    return (struct interval){mean, t * sqrt(squares / (n - 1) / n), squares > 0 ? products / squares : 0};
}

bool interval_holds(const struct interval *i, double exact)
{
    return fabs(i->mean - exact) <= i->half_width;
}

void report_line(const char *format, ...)
{
    const char *path = getenv("BRAID_REPORT");
    if (path == NULL)
        return;
    char line[512]; /* written at once: tests run beside each other */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof line);
    FILE *f = fopen(path, "a");
    cr_assert_not_null(f, "cannot append to %s", path);
    fprintf(f, "%s\n", line);
    cr_assert_eq(fclose(f), 0);
}

void compare(const char *model, const char *quantity, double load, double exact, const struct sample *s, double tolerance)
{
    struct interval i = interval_of(s);
    report_line("theory\t%s\t%s\t%g\t%.9g\t%.9g\t%.3g\t%g\t%u", model, quantity, load, exact, i.mean, i.half_width,
                tolerance, s->n);
    cr_expect(interval_holds(&i, exact), "%s, load %g: %s is %g, theory says %g (half-width %g)", model, load, quantity,
              i.mean, exact, i.half_width);
    cr_expect_leq(i.half_width, tolerance * exact, "%s, load %g: the half-width of %s is %.2f %%, allowed %.2f %%", model,
                  load, quantity, i.half_width / exact * 100, tolerance * 100);
    cr_expect_lt(i.correlation, 4 / sqrt((double)s->n), "%s, load %g: batches of %s are correlated by %g", model, load,
                 quantity, i.correlation);
}

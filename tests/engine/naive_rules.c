#include "tests/engine/naive_rules.h"

#include <stdio.h>

void naive_param_s(struct test_case *t, const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g s", seconds);
    case_param(t, name, text);
}

void naive_param_number(struct test_case *t, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    case_param(t, name, text);
}

void naive_param_list(struct test_case *t, const char *name, const double *values, uint32_t n)
{
    char text[128] = "[";
    size_t at = 1;
    for (uint32_t i = 0; i < n; i++)
        if (values[i] > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g", at > 1 ? ", " : "", values[i]);
    snprintf(text + at, sizeof text - at, "]");
    case_param(t, name, text);
}

void naive_param_weights(const struct naive_case *c, struct test_case *t, const double weights[NAIVE_USERS])
{
    static char text[128]; /* the run reads it */
    size_t at = 0;
    text[0] = '\0';
    for (int u = 0; u < NAIVE_USERS; u++)
        for (uint32_t j = 0; j < c->n_jobs; j++)
            if (c->jobs[j].user == u) {
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%c=%.17g", at > 0 ? ", " : "", "uvw"[u],
                                       weights[u]);
                break;
            }
    case_param(t, "weights", text);
}

#include "experiment/run_title.h"

#include <stdio.h>
#include <string.h>

bool run_key_is_telling(const struct experiment *x, uint32_t key)
{
    if (strcmp(x->runs[0].swept[key].key, "policy") == 0)
        return false;
    for (uint32_t i = 1; i < x->n_runs; i++)
        if (strcmp(x->runs[i].swept[key].value, x->runs[0].swept[key].value) != 0)
            return true;
    return false;
}

const char *run_title(const struct experiment *x, const struct run_config *run, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", run->policy.label);
    for (uint32_t k = 0; k < run->n_swept && n >= 0 && (size_t)n < size; k++)
        if (run_key_is_telling(x, k))
            n += snprintf(out + n, size - (size_t)n, ", %s %s", run->swept[k].key, run->swept[k].value);
    return out;
}

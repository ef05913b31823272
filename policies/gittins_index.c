#include "policies/gittins_index.h"

#include <stdlib.h>

static int value_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The step at whose end, or before it, a job of `value` > 0 is done: step x delta < value <= (step + 1) x delta. */
static int64_t step_of(int64_t value, int64_t delta)
{
    return (value - 1) / delta;
}

static size_t count_steps(const int64_t *values, size_t n, int64_t delta)
{
    size_t steps = 0;
    for (size_t i = 0; i < n; i++)
        steps += i == 0 || step_of(values[i], delta) != step_of(values[i - 1], delta);
    return steps;
}

bool gittins_index_init(struct gittins_index *g, int64_t *values, size_t n, int64_t delta)
{
    *g = (struct gittins_index){.delta = delta};
    if (n > 0)
        qsort(values, n, sizeof *values, value_compare);
    for (; n > 0 && *values == 0; n--)
        values++;
    g->n = count_steps(values, n, delta);
    g->step = malloc((g->n + 1) * sizeof *g->step);
    g->index = malloc((g->n + 1) * sizeof *g->index);
    if (g->step == NULL || g->index == NULL) {
        gittins_index_fini(g);
        return false;
    }
    size_t k = 0;
    for (size_t i = 0, end; i < n; i = end, k++) {
        int64_t step = step_of(values[i], delta), begin = step * delta;
        unsigned __int128 spent = 0;
        for (end = i; end < n && step_of(values[end], delta) == step; end++)
            spent += (uint64_t)(values[end] - begin);
        spent += (unsigned __int128)(n - end) * (uint64_t)delta;
        g->step[k] = step;
        g->index[k] = (double)(end - i) / (double)spent;
    }
    return true;
}

void gittins_index_fini(struct gittins_index *g)
{
    free(g->step);
    free(g->index);
    *g = (struct gittins_index){0};
}

/* Position of the first step >= `step`. */
static size_t position(const struct gittins_index *g, int64_t step)
{
    size_t low = 0, high = g->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->step[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double gittins_index_at(const struct gittins_index *g, int64_t step)
{
    size_t i = position(g, step);
    return i < g->n && g->step[i] == step ? g->index[i] : 0;
}

int64_t gittins_index_next(const struct gittins_index *g, int64_t step)
{
    size_t i = position(g, step);
    if (i == g->n)
        return INT64_MAX;
    if (g->step[i] != step)
        return g->step[i];
    for (; i + 1 < g->n && g->step[i + 1] == g->step[i] + 1; i++)
        if (g->index[i + 1] != g->index[i])
            return g->step[i + 1];
    return g->step[i] + 1;
}

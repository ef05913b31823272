#include "policies/gittins_index.h"

#include "policies/gittins_law.h"

#include <stdlib.h>
#include <string.h>

static const int64_t UNIT = 1000000000; /* the least step under delta 0 */

enum { OCTAVE_BITS = 5, OCTAVE = 1 << OCTAVE_BITS };

int64_t gittins_index_step(int64_t delta, int64_t service)
{
    if (delta > 0)
        return service / delta;
    int64_t units = service / UNIT;
    if (units < OCTAVE)
        return units;
    int octave = 63 - __builtin_clzll((unsigned long long)units) - OCTAVE_BITS;
    return octave * OCTAVE + (units >> octave);
}

int64_t gittins_index_begin(int64_t delta, int64_t step)
{
    int64_t service;
    if (delta > 0)
        return __builtin_mul_overflow(step, delta, &service) ? INT64_MAX : service;
    int64_t octave = step < 2 * OCTAVE ? 0 : step / OCTAVE - 1;
    bool is_late = octave > 32 || __builtin_mul_overflow((step - octave * OCTAVE) << octave, UNIT, &service);
    return is_late ? INT64_MAX : service;
}

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

/* The end of the run of values that are in the step which begins at `begin`; `i` is the first. Ascending values need no more divisions. */
static size_t step_end(const int64_t *values, size_t n, size_t i, int64_t begin, int64_t delta)
{
    while (i < n && values[i] - begin <= delta)
        i++;
    return i;
}

static size_t count_steps(const int64_t *values, size_t n, int64_t delta)
{
    size_t steps = 0;
    for (size_t i = 0; i < n; steps++)
        i = step_end(values, n, i, step_of(values[i], delta) * delta, delta);
    return steps;
}

/* Sort values of which all but the last few may be in order already: those that came since the last time are merged in. */
static bool sort_values(int64_t *values, size_t n)
{
    size_t sorted = n > 0, rest;
    while (sorted < n && values[sorted - 1] <= values[sorted])
        sorted++;
    rest = n - sorted;
    if (rest == 0)
        return true;
    int64_t *tail = malloc(rest * sizeof *tail);
    if (tail == NULL)
        return false;
    memcpy(tail, values + sorted, rest * sizeof *tail);
    qsort(tail, rest, sizeof *tail, value_compare);
    for (size_t to = n; rest > 0;)
        values[--to] = sorted > 0 && values[sorted - 1] > tail[rest - 1] ? values[--sorted] : tail[--rest];
    free(tail);
    return true;
}

bool gittins_index_init(struct gittins_index *g, int64_t *values, size_t n, int64_t delta)
{
    *g = (struct gittins_index){.delta = delta};
    if (!sort_values(values, n))
        return false;
    for (; n > 0 && *values == 0; n--)
        values++;
    if (delta == 0)
        return gittins_best_of_values(g, values, n);
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
        end = step_end(values, n, i, begin, delta);
        for (size_t v = i; v < end; v++)
            spent += (uint64_t)(values[v] - begin);
        spent += (unsigned __int128)(n - end) * (uint64_t)delta;
        g->step[k] = step;
        g->index[k] = (double)(end - i) / (double)spent;
    }
    return true;
}

bool gittins_index_init_law(struct gittins_index *g, const struct gittins_law *law, int64_t delta)
{
    bool is_closed = delta > 0 || law->kind == LAW_EXPONENTIAL; /* that one has a single index */
    *g = (struct gittins_index){.delta = delta, .law = is_closed ? law : NULL};
    return is_closed || gittins_best_of_law(g, law);
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
    if (g->law != NULL)
        return gittins_law_index(g->law, (double)step * (double)g->delta, (double)g->delta); /* delta 0: a constant */
    size_t i = position(g, step);
    return i < g->n && g->step[i] == step ? g->index[i] : 0;
}

int64_t gittins_index_next(const struct gittins_index *g, int64_t step)
{
    if (g->law != NULL)
        return gittins_law_is_steady(g->law, (double)step * (double)g->delta) ? INT64_MAX : step + 1;
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

#include "tests/policies/grouping_rounds.h"

#include "policies/matching.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static int compare_rows(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The set of the jobs of two; NONE: there is no such set. */
static uint32_t join(const struct grouping *g, uint32_t a, uint32_t b)
{
    struct grouping_set both = g->sets[a];
    if (both.n + g->sets[b].n > GROUPING_MEMBERS)
        return NONE;
    memcpy(both.rows + both.n, g->sets[b].rows, g->sets[b].n * sizeof *both.rows);
    both.n = (uint16_t)(both.n + g->sets[b].n);
    qsort(both.rows, both.n, sizeof *both.rows, compare_rows);
    for (uint32_t i = 0; i < g->n_sets; i++)
        if (g->sets[i].n == both.n && memcmp(g->sets[i].rows, both.rows, both.n * sizeof *both.rows) == 0)
            return i;
    return NONE;
}

/* Groups as numbers of sets, a set being a class of the matching. */
struct round {
    uint32_t *of, *class_of, *mate, *sets, *both; /* both: by pair of classes, what they make together */
    double *weights;
    void *memory;
};

static bool round_init(struct round *r, uint32_t n)
{
    size_t square = (size_t)n * n + 1;
    *r = (struct round){malloc(square * sizeof *r->of),   malloc(square * sizeof *r->class_of),
                        malloc(square * sizeof *r->mate), malloc(square * sizeof *r->sets),
                        malloc(square * sizeof *r->both), malloc(square * sizeof *r->weights),
                        malloc(matching_memory(n))};
    return r->of != NULL && r->class_of != NULL && r->mate != NULL && r->sets != NULL && r->both != NULL &&
           r->weights != NULL && r->memory != NULL;
}

static void round_fini(struct round *r)
{
    free(r->of);
    free(r->class_of);
    free(r->mate);
    free(r->sets);
    free(r->both);
    free(r->weights);
    free(r->memory);
}

static uint32_t classify(struct round *r, const struct grouping *g, uint32_t n)
{
    uint32_t n_classes = 0;
    for (uint32_t u = 0; u < n; u++) {
        uint32_t c = 0;
        while (c < n_classes && r->sets[c] != r->of[u])
            c++;
        r->class_of[u] = c;
        if (c == n_classes)
            r->sets[n_classes++] = r->of[u];
    }
    for (uint32_t a = 0; a < n_classes; a++)
        for (uint32_t b = 0; b < n_classes; b++) {
            uint32_t both = join(g, r->sets[a], r->sets[b]);
            r->both[a * n_classes + b] = both;
            r->weights[a * n_classes + b] = both != NONE ? g->sets[both].value : 0;
        }
    return n_classes;
}

/* One round; how many groups there are behind it. */
static uint32_t merge(struct round *r, const struct grouping *g, uint32_t n, uint32_t *copies)
{
    uint32_t n_classes = classify(r, g, n), out = 0;
    matching_solve_classes(n, r->class_of, n_classes, r->weights, r->mate, r->memory);
    for (uint32_t u = 0; u < n; u++) {
        uint32_t v = r->mate[u];
        if (v == NONE) {
            r->of[out++] = r->sets[r->class_of[u]];
        } else if (v > u) {
            uint32_t a = r->class_of[u], b = r->class_of[v], both = r->both[a * n_classes + b];
            if (grouping_gpus(g, copies) <= g->capacity) { /* it stays a pair of groups */
                r->of[out++] = r->sets[a];
                r->of[out++] = r->sets[b];
                continue;
            }
            r->of[out++] = both;
            copies[r->sets[a]]--;
            copies[r->sets[b]]--;
            copies[both]++;
        }
    }
    return out;
}

bool grouping_rounds(const struct grouping *g, uint32_t *copies)
{
    struct round r;
    uint32_t n = 0, before = 0;
    memset(copies, 0, g->n_sets * sizeof *copies);
    for (uint32_t i = 0; i < g->n_rows; i++) {
        copies[i] = g->rows[i].count;
        n += copies[i];
    }
    bool is_fine = round_init(&r, n);
    for (uint32_t i = 0, at = 0; i < g->n_rows && is_fine; i++)
        for (uint32_t k = 0; k < g->rows[i].count; k++)
            r.of[at++] = i;
    for (int round = 0; round < GROUPING_MEMBERS && is_fine && n != before; round++) {
        if (grouping_gpus(g, copies) <= g->capacity)
            break;
        before = n;
        n = merge(&r, g, n, copies);
    }
    round_fini(&r);
    return is_fine;
}

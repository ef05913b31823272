#include "policies/lines.h"

#include <string.h>

/* A key of the same order as the doubles; -0 counts as 0. */
static int64_t key_of(double x)
{
    int64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >= 0 ? bits : bits ^ INT64_MAX;
}

static double at_of(int64_t key)
{
    int64_t bits = key >= 0 ? key : key ^ INT64_MAX;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool is_same(double a, double b)
{
    return key_of(a) == key_of(b);
}

bool lines_insert(struct lines *l, struct jobset_pool *pool, double slope, double at, uint32_t turn, uint32_t id)
{
    uint32_t i = 0;
    while (i < l->n && !is_same(l->slopes[i].slope, slope))
        i++;
    if (i == l->room) {
        uint32_t room = l->room * 2 + 4;
        struct lines_slope *grown = sched_alloc(pool->s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (l->n > 0)
            memcpy(grown, l->slopes, l->n * sizeof *grown);
        l->slopes = grown;
        l->room = room;
    }
    if (i == l->n) {
        l->slopes[i].slope = slope;
        jobset_init(&l->slopes[i].ids, pool);
        l->n++;
    }
    return jobset_insert(&l->slopes[i].ids, key_of(at), turn, id);
}

void lines_erase(struct lines *l, double slope, double at, uint32_t turn)
{
    uint32_t i = 0;
    while (i < l->n && !is_same(l->slopes[i].slope, slope))
        i++;
    if (i == l->n)
        return;
    jobset_erase(&l->slopes[i].ids, key_of(at), turn);
    if (l->slopes[i].ids.count == 0)
        l->slopes[i] = l->slopes[--l->n];
}

static double value_of(const struct lines_slope *p, uint32_t node, double q)
{
    return at_of(jobset_node(&p->ids, node)->key) * q + p->slope;
}

uint32_t lines_first(const struct lines *l, double q, double *value, uint32_t *turn)
{
    uint32_t best = JOBSET_NONE;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct lines_slope *p = &l->slopes[i];
        const struct jobset_node *n = jobset_node(&p->ids, p->ids.first);
        double v = value_of(p, p->ids.first, q);
        if (best == JOBSET_NONE || v < *value || (v <= *value && n->job < *turn)) {
            best = (uint32_t)n->length;
            *value = v;
            *turn = n->job;
        }
    }
    return best;
}

void lines_walk(struct lines *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        l->slopes[i].cursor = l->slopes[i].ids.last;
}

uint32_t lines_walk_next(struct lines *l, double q, double *value)
{
    struct lines_slope *from = NULL;
    uint32_t turn = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct lines_slope *p = &l->slopes[i];
        if (p->cursor == JOBSET_NONE)
            continue;
        double v = value_of(p, p->cursor, q);
        uint32_t t = jobset_node(&p->ids, p->cursor)->job;
        if (from == NULL || v > *value || (v >= *value && t > turn)) {
            from = p;
            turn = t;
            *value = v;
        }
    }
    if (from == NULL)
        return JOBSET_NONE;
    const struct jobset_node *n = jobset_node(&from->ids, from->cursor);
    from->cursor = n->prev;
    return (uint32_t)n->length;
}

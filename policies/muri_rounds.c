/* muri_rounds.c - groups of candidates by rounds of pairs, or of neighbours in the order.
 *
 * The weight of a pair depends on the kinds of its two groups alone, so that the matching is given the weights by class (matching.h). But the
 * sum over the members of a pair is rounded, and in another way when the other group comes first, and the one earlier in the order does. Where that
 * makes a difference each group is a class of its own; it never does in the first round, which is the costly one.
 */
#include "policies/matching.h"
#include "policies/muri.h"

#include <string.h>

/* Room for `n` groups. */
static bool lists_grow(struct muri *m, struct sched *s, uint32_t n)
{
    if (n <= m->matching_room)
        return true;
    uint32_t room = n * 2;
    m->mate = sched_alloc(s, room, sizeof *m->mate);
    m->class_of = sched_alloc(s, room, sizeof *m->class_of);
    m->kinds = sched_alloc(s, room, sizeof *m->kinds);
    bool has_all = m->mate != NULL && m->class_of != NULL && m->kinds != NULL;
    m->matching_room = has_all ? room : 0;
    return has_all;
}

/* Room for a matching of n groups of n_classes classes. */
static bool tables_grow(struct muri *m, struct sched *s, uint32_t n, uint32_t n_classes)
{
    size_t weights = (size_t)n_classes * n_classes, memory = matching_memory_classes(n, n_classes);
    if (weights > m->weights_room) {
        m->weights = sched_alloc(s, weights * 2, sizeof *m->weights);
        m->weights_room = m->weights != NULL ? weights * 2 : 0;
    }
    if (memory > m->memory_room) {
        m->memory = sched_alloc(s, 2, memory);
        m->memory_room = m->memory != NULL ? memory * 2 : 0;
    }
    return m->weights_room >= weights && m->memory_room >= memory;
}

/* The classes of n groups: those of one kind. A group without a kind is a class of its own. */
static uint32_t classify(struct muri *m, const struct muri_group *groups, uint32_t n)
{
    uint32_t n_classes = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = 0;
        while (c < n_classes && (groups[i].kind == MURI_NONE || m->kinds[c] != groups[i].kind))
            c++;
        m->class_of[i] = c;
        if (c == n_classes)
            m->kinds[n_classes++] = groups[i].kind;
    }
    return n_classes;
}

static double weight(struct muri *m, struct sched *s, uint32_t a, uint32_t b)
{
    uint32_t kind = muri_kind_together(&m->worth, s, a, b, m->group);
    return kind != MURI_NONE ? m->worth.kinds[kind].use : 0;
}

/* By class. False: for some two it matters which comes first. */
static bool weigh_classes(struct muri *m, struct sched *s, uint32_t n_classes)
{
    for (uint32_t a = 0; a < n_classes; a++)
        for (uint32_t b = a; b < n_classes; b++) {
            double w = weight(m, s, m->kinds[a], m->kinds[b]), turned = weight(m, s, m->kinds[b], m->kinds[a]);
            if (w < turned || w > turned)
                return false;
            m->weights[(size_t)a * n_classes + b] = m->weights[(size_t)b * n_classes + a] = w;
        }
    return true;
}

static void weigh_all(struct muri *m, struct sched *s, const struct muri_group *groups, uint32_t n)
{
    for (uint32_t u = 0; u < n; u++) {
        m->class_of[u] = u;
        m->weights[(size_t)u * n + u] = 0;
        for (uint32_t v = u + 1; v < n; v++)
            m->weights[(size_t)u * n + v] = m->weights[(size_t)v * n + u] =
                weight(m, s, groups[u].kind, groups[v].kind);
    }
}

/* The weights of pairs of n groups. False: memory is out. */
static bool weigh(struct muri *m, struct sched *s, const struct muri_group *groups, uint32_t n, uint32_t *n_classes)
{
    if (!lists_grow(m, s, n))
        return false;
    *n_classes = classify(m, groups, n);
    if (!tables_grow(m, s, n, *n_classes))
        return false;
    if (weigh_classes(m, s, *n_classes))
        return true;
    *n_classes = n;
    if (!tables_grow(m, s, n, n))
        return false;
    weigh_all(m, s, groups, n);
    return true;
}

/* One round over n groups of one bucket: merged ones go to `next`. Returns how many there are. */
static uint32_t match_bucket(struct muri *m, struct sched *s, const struct muri_group *groups, uint32_t n,
                             struct muri_group *next, uint64_t *required, uint64_t capacity)
{
    uint32_t n_classes;
    if (n < 2 || *required <= capacity || !weigh(m, s, groups, n, &n_classes)) {
        memcpy(next, groups, n * sizeof *next);
        return n;
    }
    matching_solve_classes(n, m->class_of, n_classes, m->weights, m->mate, m->memory);
    uint32_t out = 0;
    for (uint32_t u = 0; u < n; u++) {
        uint32_t v = m->mate[u];
        if (v != MATCHING_NONE && v < u)
            continue; /* came with its partner */
        next[out] = groups[u];
        if (v != MATCHING_NONE && *required > capacity) {
            muri_merge(&next[out], &groups[v]);
            next[out].kind = muri_kind_together(&m->worth, s, groups[u].kind, groups[v].kind, m->group);
            *required -= m->buckets[groups[u].bucket].gpus;
        } else if (v != MATCHING_NONE) {
            next[++out] = groups[v];
        }
        out++;
    }
    return out;
}

/* Without matching: each group takes the next one of its bucket while that is needed. */
static uint32_t chain_bucket(struct muri *m, struct sched *s, const struct muri_group *groups, uint32_t n,
                             struct muri_group *next, uint64_t *required, uint64_t capacity)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct muri_group *last = out > 0 ? &next[out - 1] : NULL;
        if (last != NULL && *required > capacity && last->n + groups[i].n <= m->group) {
            struct muri_group both = *last;
            muri_merge(&both, &groups[i]);
            if (muri_group_speed(s, both.jobs, both.n) > 0) {
                *last = both;
                *required -= m->buckets[groups[i].bucket].gpus;
                continue;
            }
        }
        next[out++] = groups[i];
    }
    return out;
}

uint32_t muri_rounds(struct muri *m, struct sched *s, uint32_t n, uint64_t required, uint64_t capacity)
{
    uint32_t rounds = m->has_matching ? m->group : 1;
    for (uint32_t r = 0; r < rounds && required > capacity; r++) {
        uint32_t at = 0, out = 0, before = n;
        while (at < n) {
            uint32_t k = 1;
            while (at + k < n && m->groups[at + k].bucket == m->groups[at].bucket)
                k++;
            out += (m->has_matching ? match_bucket : chain_bucket)(m, s, &m->groups[at], k, &m->next[out], &required,
                                                                   capacity);
            at += k;
        }
        struct muri_group *swap = m->groups;
        m->groups = m->next;
        m->next = swap;
        n = out;
        if (n == before)
            break; /* nothing more to merge */
    }
    return n;
}

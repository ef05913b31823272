/* muri_pairs.c - groups by rounds of pairs: in each round the groups of a bucket are matched so that the pairs use the resources best, and
 * pairs become groups as long as the candidates need more GPUs than there are. The first round is held in any case: where nothing need be
 * merged it only changes the order of the groups, and so who comes first among equals.
 *
 * The weight of a pair depends on the profiles of its members alone, of which a trace has some dozens: it is computed once for each pair of
 * classes, a class being a sequence of profiles.
 */
#include "compat/muri_group.h"
#include "policies/matching.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

double muri_group_period(struct muri_grouping *g, const struct muri_group *group)
{
    uint32_t profiles[MURI_GROUP_MAX];
    for (uint32_t i = 0; i < group->n; i++)
        profiles[i] = g->profile[group->jobs[i]];
    return interleave_period(&g->policy, profiles, group->n);
}

/* ---- classes --------------------------------------------------------------------------------------- */

static uint32_t *class_slot(uint32_t *slots, uint32_t n_slots, const struct muri_class *classes,
                            const struct muri_class *c)
{
    uint32_t h = c->n;
    for (uint32_t i = 0; i < c->n; i++)
        h = (h ^ c->profiles[i]) * 2654435761u;
    for (h ^= h >> 15;; h++) {
        uint32_t *slot = &slots[h & (n_slots - 1)];
        if (*slot == NONE || memcmp(&classes[*slot], c, sizeof *c) == 0)
            return slot;
    }
}

static bool classes_grow(struct muri_grouping *g)
{
    uint32_t room = g->classes_room > 0 ? g->classes_room * 2 : 256;
    struct muri_class *classes = realloc(g->classes, room * sizeof *classes);
    if (classes != NULL)
        g->classes = classes;
    uint32_t *local_of = realloc(g->local_of, room * sizeof *local_of);
    if (local_of != NULL)
        g->local_of = local_of;
    uint32_t *slots = malloc((size_t)room * 2 * sizeof *slots);
    if (classes == NULL || local_of == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    memset(slots, 0xff, (size_t)room * 2 * sizeof *slots);
    for (uint32_t i = 0; i < g->n_classes; i++)
        *class_slot(slots, room * 2, classes, &classes[i]) = i;
    for (uint32_t i = g->classes_room; i < room; i++)
        local_of[i] = NONE;
    free(g->class_slots);
    g->class_slots = slots;
    g->n_class_slots = room * 2;
    g->classes_room = room;
    return true;
}

/* NONE when memory is out. */
static uint32_t class_of(struct muri_grouping *g, const struct muri_group *group)
{
    struct muri_class c = {.n = group->n};
    for (uint32_t i = 0; i < group->n; i++)
        c.profiles[i] = g->profile[group->jobs[i]];
    if (g->n_classes == g->classes_room && !classes_grow(g))
        return NONE;
    uint32_t *slot = class_slot(g->class_slots, g->n_class_slots, g->classes, &c);
    if (*slot == NONE) {
        *slot = g->n_classes;
        g->classes[g->n_classes++] = c;
    }
    return *slot;
}

/* ---- weights --------------------------------------------------------------------------------------- */

static double compute_weight(struct muri_grouping *g, const struct muri_class *u, const struct muri_class *v)
{
    uint32_t profiles[MURI_GROUP_MAX], n = 0;
    double sum = 0;
    if (u->n + v->n > g->group_most)
        return 0;
    for (uint32_t i = 0; i < u->n; i++)
        profiles[n++] = u->profiles[i];
    for (uint32_t i = 0; i < v->n; i++)
        profiles[n++] = v->profiles[i];
    for (uint32_t i = 0; i < n; i++)
        sum += g->profile_sum_s[profiles[i]];
    double weight = sum / (interleave_period(&g->policy, profiles, n) * 4);
    return weight > 0 ? weight : 0;
}

static struct muri_pair_weight *pair_slot(struct muri_pair_weight *pairs, uint32_t room, uint32_t u, uint32_t v)
{
    uint32_t h = (u * 2654435761u ^ v) * 2246822519u;
    for (h ^= h >> 15;; h++) {
        struct muri_pair_weight *p = &pairs[h & (room - 1)];
        if (p->u == NONE || (p->u == u && p->v == v))
            return p;
    }
}

static bool pairs_grow(struct muri_grouping *g)
{
    uint32_t room = g->pairs_room > 0 ? g->pairs_room * 2 : 4096;
    struct muri_pair_weight *pairs = room <= 1u << 24 ? malloc(room * sizeof *pairs) : NULL;
    if (pairs == NULL)
        return false;
    for (uint32_t i = 0; i < room; i++)
        pairs[i].u = NONE;
    for (uint32_t i = 0; i < g->pairs_room; i++)
        if (g->pairs[i].u != NONE)
            *pair_slot(pairs, room, g->pairs[i].u, g->pairs[i].v) = g->pairs[i];
    free(g->pairs);
    g->pairs = pairs;
    g->pairs_room = room;
    return true;
}

static double weight(struct muri_grouping *g, uint32_t u, uint32_t v)
{
    bool has_room = g->n_pairs * 2 < g->pairs_room || pairs_grow(g);
    struct muri_pair_weight *p = g->pairs_room > 0 ? pair_slot(g->pairs, g->pairs_room, u, v) : NULL;
    if (p != NULL && p->u != NONE)
        return p->weight;
    double w = compute_weight(g, &g->classes[u], &g->classes[v]);
    if (has_room) {
        *p = (struct muri_pair_weight){u, v, w};
        g->n_pairs++;
    }
    return w;
}

/* ---- one round ------------------------------------------------------------------------------------- */

static bool make_room(struct muri_grouping *g, uint32_t n)
{
    if (n <= g->n_most)
        return true;
    uint32_t room = n + n / 2;
    room = room > MATCHING_VERTICES_MAX && n <= MATCHING_VERTICES_MAX ? MATCHING_VERTICES_MAX : room;
    free(g->mate);
    free(g->locals);
    free(g->local_classes);
    g->mate = malloc(room * sizeof *g->mate);
    g->locals = malloc(room * sizeof *g->locals);
    g->local_classes = malloc(room * sizeof *g->local_classes);
    bool has_all = g->mate != NULL && g->locals != NULL && g->local_classes != NULL;
    g->n_most = has_all ? room : 0;
    return has_all;
}

/* For `n` groups of n_locals classes. */
static bool make_room_for_classes(struct muri_grouping *g, uint32_t n, uint32_t n_locals)
{
    size_t weights = (size_t)n_locals * n_locals, memory = matching_memory_classes(n, n_locals);
    if (weights > g->local_weights_room) {
        free(g->local_weights);
        g->local_weights = malloc(weights * 2 * sizeof *g->local_weights);
        g->local_weights_room = g->local_weights != NULL ? weights * 2 : 0;
    }
    if (memory > g->memory_room) {
        free(g->memory);
        g->memory = malloc(memory * 2);
        g->memory_room = g->memory != NULL ? memory * 2 : 0;
    }
    return g->local_weights_room >= weights && g->memory_room >= memory;
}

/* Fill g->local_classes and g->local_weights for the bucket; false: memory is out. `*has_edge`: there is something to match. */
static bool weigh(struct muri_grouping *g, struct muri_bucket *b, uint32_t *n_locals, bool *has_edge)
{
    uint32_t n = b->n_groups;
    *has_edge = false;
    *n_locals = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t class = class_of(g, &b->groups[i]);
        if (class == NONE)
            return false;
        if (g->local_of[class] == NONE) {
            g->local_of[class] = *n_locals;
            g->locals[(*n_locals)++] = class;
        }
        g->local_classes[i] = g->local_of[class];
    }
    for (uint32_t i = 0; i < *n_locals; i++)
        g->local_of[g->locals[i]] = NONE;
    if (!make_room_for_classes(g, n, *n_locals))
        return false;
    for (uint32_t i = 0; i < *n_locals; i++)
        for (uint32_t k = 0; k < *n_locals; k++) {
            double w = weight(g, g->locals[i], g->locals[k]);
            g->local_weights[(size_t)i * *n_locals + k] = w;
            *has_edge |= w > 0;
        }
    return true;
}

static struct muri_group join(const struct muri_group *a, const struct muri_group *b)
{
    struct muri_group joined = *a;
    for (uint32_t i = 0; i < b->n; i++)
        joined.jobs[joined.n++] = b->jobs[i];
    return joined;
}

/* Groups in order of the later partner; pairs are joined while too many GPUs are wanted, and stay apart behind that. Where rounding has brought
 * the ends of pairs apart a group may come twice or not at all, as there. */
static void merge(struct muri *m, struct muri_grouping *g, struct muri_bucket *b, bool is_matched)
{
    uint32_t n_next = 0;
    for (uint32_t u = 0; u < b->n_groups; u++) {
        uint32_t v = is_matched ? g->mate[u] : MATCHING_NONE;
        if (n_next + 2 > b->room) {
            error_set(m->err, BRAID_FAILED, "rounding has broken too many pairs of %u groups", b->n_groups);
            m->has_failed = true;
            return;
        }
        if (v == MATCHING_NONE) {
            b->next[n_next++] = b->groups[u];
        } else if (v < u && g->required > m->n_gpus) {
            b->next[n_next++] = join(&b->groups[v], &b->groups[u]);
            g->required -= b->gpus;
        } else if (v < u) {
            b->next[n_next++] = b->groups[v];
            b->next[n_next++] = b->groups[u];
        }
    }
    struct muri_group *t = b->groups;
    b->groups = b->next;
    b->next = t;
    b->n_groups = n_next;
}

static bool match(struct muri *m, struct muri_grouping *g, struct muri_bucket *b)
{
    uint32_t n = b->n_groups;
    uint32_t n_locals;
    bool has_edge;
    if (n > MATCHING_VERTICES_MAX) {
        error_set(m->err, BRAID_FAILED, "%u groups of one size are candidates at once, at most %d can be matched", n,
                  MATCHING_VERTICES_MAX);
        m->has_failed = true;
        return true;
    }
    if (!make_room(g, n) || !weigh(g, b, &n_locals, &has_edge))
        return false;
    if (has_edge && !matching_solve_released(n, g->local_classes, n_locals, g->local_weights, g->mate, g->memory))
        matching_solve_classes(n, g->local_classes, n_locals, g->local_weights, g->mate, g->memory);
    merge(m, g, b, has_edge);
    return true;
}

bool muri_pairs_form(struct muri *m, struct muri_grouping *g)
{
    for (uint32_t round = 0; round < g->group_most; round++) {
        for (uint32_t i = 0; i < g->n_buckets && !m->has_failed; i++)
            if (!match(m, g, &g->buckets[g->order[i]]))
                return false;
        if (g->required <= m->n_gpus)
            break;
    }
    return true;
}

void muri_pairs_fini(struct muri_grouping *g)
{
    free(g->classes);
    free(g->local_of);
    free(g->class_slots);
    free(g->pairs);
    free(g->locals);
    free(g->local_weights);
    free(g->local_classes);
    free(g->mate);
    free(g->memory);
}

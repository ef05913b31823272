/* What the facts of a scene say about the cluster. */
#include "check.h"

uint32_t facts_nodes(const struct scene *s)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < s->n_groups; g++)
        n += s->groups[g].count;
    return n;
}

const struct scene_group *facts_node(const struct scene *s, uint32_t node)
{
    uint32_t g = 0;
    while (node >= s->groups[g].count)
        node -= s->groups[g++].count;
    return &s->groups[g];
}

void facts_vc_nodes(const struct scene *s, uint32_t vc, uint32_t *first, uint32_t *end)
{
    uint32_t at = 0;
    for (uint32_t v = 0; v < s->n_vcs; v++) {
        if (s->vcs[v].is_quota)
            continue;
        if (v == vc) {
            *first = at;
            *end = at + s->vcs[v].amount;
            return;
        }
        at += s->vcs[v].amount;
    }
    *first = at; /* what is left is shared */
    *end = facts_nodes(s);
}

uint64_t facts_gpus(const struct scene *s, uint32_t first, uint32_t end)
{
    uint64_t sum = 0;
    for (uint32_t node = first; node < end; node++)
        sum += facts_node(s, node)->gpus;
    return sum;
}

uint64_t facts_quota(const struct scene *s, uint32_t vc, int64_t at_ns)
{
    const struct scene_vc *v = &s->vcs[vc];
    uint64_t gpus = v->amount;
    for (uint32_t i = 0; i < v->n_changes; i++)
        if (v->changes[i].at_ns <= at_ns)
            gpus = v->changes[i].gpus;
    return gpus;
}

uint64_t facts_capacity(const struct scene *s, uint32_t vc, int64_t at_ns)
{
    uint32_t first, end;
    facts_vc_nodes(s, vc, &first, &end);
    uint64_t all = facts_gpus(s, first, end);
    if (s->n_vcs == 0 || !s->vcs[vc].is_quota)
        return all;
    uint64_t quota = facts_quota(s, vc, at_ns);
    return quota < all ? quota : all;
}

uint32_t facts_n_queues(const struct scene *s)
{
    return s->n_vcs > 0 ? s->n_vcs : 1;
}

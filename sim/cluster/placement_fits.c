/* Whether a job can be placed, by counting alone: the same answer as a module's `pick`, without choosing.
 *
 * PACKED beyond one node, on counts (node sizes 8 and 4, 22 GPUs wanted):
 *
 *     size 8: 2 wholly free ──▶ 16 taken, 6 missing      size 4: 3 wholly free ──▶ 4 taken, 2 missing ──▶ one node with >= 2
 *
 * Which of several wholly free nodes of a size are taken cannot matter: where more are free than taken, one that is left serves
 * the rest, as the rest asks less of it. So the answer is the same for every module. The same holds with CPU and memory,
 * as a whole node asks more of both than the rest does; only the counting is slower then.
 */
#include "cluster/cluster_state.h"
#include "cluster/placement.h"

/* What decides in a pool whether a node will do. */
struct view {
    const struct cluster *c;
    const struct demand *d;
    bool is_empty; /* as if nothing ran */
};

static uint32_t node_most(const struct view *v, const struct pool *p, const struct node *n, uint32_t gpus)
{
    uint64_t cpu = v->is_empty ? p->cpu_milli : n->cpu_free_milli;
    uint64_t mem = v->is_empty ? p->mem_kib : n->mem_free_kib;
    if (p->cpu_milli != CPU_UNLIMITED)
        gpus = sched_part_most(v->d->cpu_milli, cpu, gpus, v->d->gpus);
    if (p->mem_kib != MEM_UNLIMITED)
        gpus = sched_part_most(v->d->mem_kib, mem, gpus, v->d->gpus);
    return gpus;
}

static bool pool_is_bounded(const struct pool *p, const struct demand *d)
{
    return (d->cpu_milli > 0 && p->cpu_milli != CPU_UNLIMITED) || (d->mem_kib > 0 && p->mem_kib != MEM_UNLIMITED);
}

/* How many nodes of `pool`, counted up to `enough`, can take `gpus` GPUs; `low`: those with at least so many visible free ones. */
static uint32_t pool_count(const struct view *v, uint32_t pool, uint32_t low, uint32_t gpus, uint32_t enough)
{
    const struct pool *p = &v->c->pools[pool];
    uint32_t count = 0;
    if (v->is_empty) {
        if (low <= p->gpus && node_most(v, p, NULL, gpus) >= gpus)
            count = p->n_nodes;
        return count < enough ? count : enough;
    }
    bool is_bounded = pool_is_bounded(p, v->d);
    for (uint32_t f = level_next(v->c, pool, low); f != NODESET_NONE && count < enough;
         f = level_next(v->c, pool, f + 1)) {
        const struct nodeset *set = &p->by_free[f];
        if (!is_bounded) {
            count += set->count;
            continue;
        }
        for (uint32_t i = nodeset_first(set); i != NODESET_NONE && count < enough; i = nodeset_next(set, i + 1))
            count += node_most(v, p, &v->c->nodes[p->nodes[i]], gpus) >= gpus;
    }
    return count < enough ? count : enough;
}

static bool packed_fits(const struct view *v, const struct partition *q)
{
    uint32_t missing = v->d->gpus;
    uint32_t end = q->first_pool + q->n_pools, pool = q->first_pool;
    while (pool < end && !pool_matches(&v->c->pools[pool], v->d))
        pool++;
    if (pool == end)
        return false;
    if (missing > v->c->pools[pool].gpus) {
        while (pool < end && missing > 0) { /* a size at a time: pools of one size are neighbours */
            uint32_t size = v->c->pools[pool].gpus;
            for (; pool < end && v->c->pools[pool].gpus == size; pool++)
                if (size <= missing && pool_matches(&v->c->pools[pool], v->d))
                    missing -= size * pool_count(v, pool, size, size, missing / size);
        }
        if (missing == 0)
            return true;
    }
    /* One node for the rest: one more than the wholly free nodes that are taken already. */
    uint32_t rest = missing, before = v->d->gpus;
    for (pool = q->first_pool; pool < end;) {
        uint32_t size = v->c->pools[pool].gpus, taken = 0;
        uint32_t begin = pool;
        if (v->d->gpus > rest && size <= before && size > 0) {
            for (; pool < end && v->c->pools[pool].gpus == size; pool++)
                if (pool_matches(&v->c->pools[pool], v->d))
                    taken += pool_count(v, pool, size, size, before / size - taken);
            before -= taken * size;
        }
        uint32_t found = 0;
        for (pool = begin; pool < end && v->c->pools[pool].gpus == size; pool++)
            if (size >= rest && pool_matches(&v->c->pools[pool], v->d))
                found += pool_count(v, pool, rest, rest, taken + 1 - found);
        if (found > taken)
            return true;
    }
    return false;
}

static bool pool_fits(const struct view *v, const struct partition *q)
{
    uint64_t found = 0, wanted = v->d->gpus;
    for (uint32_t i = 0; i < q->n_pools && found < wanted; i++) {
        uint32_t pool = q->first_pool + i;
        const struct pool *p = &v->c->pools[pool];
        if (!pool_matches(p, v->d))
            continue;
        if (v->is_empty) {
            found += (uint64_t)p->n_nodes * node_most(v, p, NULL, p->gpus);
        } else if (!pool_is_bounded(p, v->d)) {
            found += p->free_gpus;
        } else {
            for (uint32_t f = level_next(v->c, pool, 1); f != NODESET_NONE && found < wanted;
                 f = level_next(v->c, pool, f + 1))
                for (uint32_t n = nodeset_first(&p->by_free[f]); n != NODESET_NONE && found < wanted;
                     n = nodeset_next(&p->by_free[f], n + 1))
                    found += node_most(v, p, &v->c->nodes[p->nodes[n]], f);
        }
    }
    return found >= wanted;
}

bool placement_fits(const struct cluster *c, uint32_t partition, const struct demand *d, enum placement_rule rule)
{
    const struct view v = {c, d, false};
    const struct partition *q = &c->partitions[partition];
    if (d->gpus == 0 || d->gpus > q->free_gpus)
        return false;
    return rule == PLACEMENT_PACKED ? packed_fits(&v, q) : pool_fits(&v, q);
}

static bool fits_empty(const struct cluster *c, const struct partition *q, const struct demand *d, bool packed)
{
    const struct view v = {c, d, true};
    return packed ? packed_fits(&v, q) : pool_fits(&v, q);
}

const char *cluster_never_fits(const struct cluster *c, uint32_t vc, const struct demand *d, bool packed)
{
    const struct partition *q = &c->partitions[c->vcs[vc].partition];
    if (d->gpus > c->n_gpus)
        return "too_large_for_cluster";
    const char *too_large = c->has_named_vcs ? "too_large_for_vc" : "too_large_for_cluster";
    if (d->gpus > c->vc_most_gpus[vc])
        return too_large;
    bool has_type = false;
    for (uint32_t i = 0; i < q->n_pools; i++)
        has_type |= pool_matches(&c->pools[q->first_pool + i], d);
    if (!has_type)
        return "gpu_type_absent";
    struct demand part = *d;
    part.cpu_milli = 0;
    part.mem_kib = 0;
    if (!fits_empty(c, q, &part, packed))
        return too_large;
    part.cpu_milli = d->cpu_milli;
    if (!fits_empty(c, q, &part, packed))
        return "too_much_cpu";
    return fits_empty(c, q, d, packed) ? NULL : "too_much_memory";
}

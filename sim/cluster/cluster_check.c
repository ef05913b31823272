/* The books: everything that is kept incrementally, recomputed from who holds what and compared. */
#include "cluster/cluster_state.h"

#include <inttypes.h>
#include <string.h>

/* Returns false, so that `return differs(...)` reads well. */
static bool differs(struct error *err, const char *what, uint64_t number, const char *quantity, uint64_t kept,
                    uint64_t found)
{
    error_set(err, BRAID_FAILED,
              "the books of %s %" PRIu64 " do not balance: %s is kept as %" PRIu64 ", counted %" PRIu64, what, number,
              quantity, kept, found);
    return false;
}

/* GPUs of the span list that lie on `node`, and whether GPU `gpu` of it is the first of them in the list. */
static uint32_t gpus_on_node(const struct alloc *a, uint32_t node, uint32_t gpu, bool *is_first, bool *has_gpu)
{
    uint32_t count = 0;
    *is_first = *has_gpu = false;
    for (uint32_t i = 0; i < a->n_spans; i++) {
        const struct span *s = &a->spans[i];
        if (s->node != node)
            continue;
        if (count == 0)
            *is_first = s->gpu_first == gpu;
        *has_gpu |= gpu >= s->gpu_first && gpu < s->gpu_first + s->gpu_count;
        count += s->gpu_count;
    }
    return count;
}

/* One allocation as seen from `node`: its place there, and CPU and memory that it holds there. */
static bool check_holding(const struct cluster *c, uint32_t node, uint32_t handle, uint32_t span_gpus, uint64_t *cpu,
                          uint64_t *mem, struct error *err)
{
    const struct alloc *a = alloc_at(c, handle);
    uint32_t before = 0, place_gpus = 0;
    for (uint32_t i = 0; i < a->n_places; i++) {
        if (a->places[i].node == node) {
            if (place_gpus > 0)
                return differs(err, "allocation", handle, "places on one node", 2, 1);
            place_gpus = a->places[i].gpus;
            *cpu += sched_part(a->cpu_milli, before, place_gpus, a->gpus);
            *mem += sched_part(a->mem_kib, before, place_gpus, a->gpus);
        }
        before += a->places[i].gpus;
    }
    if (place_gpus != span_gpus)
        return differs(err, "allocation", handle, "GPUs of its place on a node", place_gpus, span_gpus);
    if (before != a->gpus)
        return differs(err, "allocation", handle, "GPUs of its job", a->gpus, before);
    return true;
}

static bool check_tenants(const struct cluster *c, uint32_t node, uint32_t owner, struct error *err)
{
    uint64_t shares = 0;
    uint32_t steps = 0;
    for (uint32_t t = owner - OWNER_SHARED; t != UINT32_MAX; t = c->tenants[t].next) {
        if (t >= c->n_tenants || ++steps > c->n_tenants)
            return differs(err, "node", node, "tenants of a GPU", t, c->n_tenants);
        shares += c->tenants[t].share_milli;
    }
    return (shares >= 1 && shares <= 1000) || differs(err, "node", node, "milli-shares of a GPU", 1000, shares);
}

static bool check_node(const struct cluster *c, uint32_t node, struct error *err)
{
    const struct node *n = &c->nodes[node];
    const struct pool *p = &c->pools[n->pool];
    uint32_t free = 0;
    uint64_t cpu = 0, mem = 0;
    if (p->nodes[n->position] != node || p->gpus != n->gpus)
        return differs(err, "node", node, "position in its pool", node, p->nodes[n->position]);
    for (uint32_t g = 0; g < n->gpus; g++) {
        bool is_free = (c->words[n->word_at + g / 64] >> g % 64 & 1) != 0;
        uint32_t owner = c->owner[n->gpu_at + g];
        if (is_free != (owner == OWNER_FREE))
            return differs(err, "node", node, "the owner of a GPU that is free or not", owner, is_free);
        if (is_free) {
            free++;
            continue;
        }
        if (owner >= OWNER_SHARED) {
            if (!check_tenants(c, node, owner, err))
                return false;
            continue;
        }
        if (owner >= c->n_handles || alloc_at(c, owner)->state != ALLOC_LIVE)
            return differs(err, "node", node, "a GPU's allocation that lives", owner, c->n_handles);
        bool is_first, has_gpu;
        uint32_t gpus = gpus_on_node(alloc_at(c, owner), node, g, &is_first, &has_gpu);
        if (!has_gpu)
            return differs(err, "allocation", owner, "a GPU among its spans", g, 0);
        if (is_first && !check_holding(c, node, owner, gpus, &cpu, &mem, err))
            return false;
    }
    for (uint32_t g = n->gpus; g % 64 != 0; g++)
        if ((c->words[n->word_at + g / 64] >> g % 64 & 1) != 0)
            return differs(err, "node", node, "free GPUs behind the last", 1, 0);
    if (free != n->free_gpus)
        return differs(err, "node", node, "free GPUs", n->free_gpus, free);
    if (n->reserved_gpus > free)
        return differs(err, "node", node, "reserved GPUs of the free ones", n->reserved_gpus, free);
    if (p->cpu_milli == CPU_UNLIMITED ? n->cpu_free_milli != CPU_UNLIMITED : n->cpu_free_milli + cpu != p->cpu_milli)
        return differs(err, "node", node, "free milli-CPU", n->cpu_free_milli, p->cpu_milli - cpu);
    if (p->mem_kib == MEM_UNLIMITED ? n->mem_free_kib != MEM_UNLIMITED : n->mem_free_kib + mem != p->mem_kib)
        return differs(err, "node", node, "free KiB of memory", n->mem_free_kib, p->mem_kib - mem);
    if (!nodeset_has(&p->by_free[node_visible(n)], n->position))
        return differs(err, "node", node, "membership in the set of its free count", 0, 1);
    return true;
}

static bool check_pool(const struct cluster *c, uint32_t pool, struct error *err)
{
    const struct pool *p = &c->pools[pool];
    uint32_t members = 0, free = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        free += node_visible(&c->nodes[p->nodes[i]]);
    if (free != p->free_gpus)
        return differs(err, "pool", pool, "visible free GPUs", p->free_gpus, free);
    for (uint32_t f = 0; f <= p->gpus; f++) {
        const struct nodeset *s = &p->by_free[f];
        uint32_t counted = 0;
        for (uint32_t i = nodeset_first(s); i != NODESET_NONE; i = nodeset_next(s, i + 1))
            counted++;
        if (counted != s->count)
            return differs(err, "pool", pool, "nodes of one free count", s->count, counted);
        bool has_level = (c->levels[pool][f / 64] >> f % 64 & 1) != 0;
        if (has_level != (counted > 0))
            return differs(err, "pool", pool, "the mark of a free count that occurs", has_level, counted);
        members += counted;
    }
    /* Every node is in the set of its count (check_node), and there is no membership beside these. */
    return members == p->n_nodes ||
           differs(err, "pool", pool, "memberships in sets of free counts", members, p->n_nodes);
}

static bool check_partitions(const struct cluster *c, struct error *err)
{
    for (uint32_t i = 0; i < c->n_partitions; i++) {
        const struct partition *q = &c->partitions[i];
        uint32_t free = 0, gpus = 0;
        for (uint32_t k = 0; k < q->n_nodes; k++) {
            free += node_visible(&c->nodes[q->nodes[k]]);
            gpus += c->nodes[q->nodes[k]].gpus;
        }
        if (free != q->free_gpus)
            return differs(err, "partition", i, "visible free GPUs", q->free_gpus, free);
        if (gpus != q->gpus)
            return differs(err, "partition", i, "GPUs", q->gpus, gpus);
    }
    for (uint32_t i = 0; i < c->n_racks; i++) {
        const struct rack *r = &c->racks[i];
        uint32_t free = 0, gpus = 0;
        for (uint32_t k = 0; k < r->n_nodes; k++) {
            free += node_visible(&c->nodes[r->nodes[k]]);
            gpus += c->nodes[r->nodes[k]].gpus;
        }
        if (free != r->free_gpus)
            return differs(err, "rack", i, "visible free GPUs", r->free_gpus, free);
        if (gpus != r->gpus)
            return differs(err, "rack", i, "GPUs", r->gpus, gpus);
        if (c->has_rack_index && !nodeset_has(&c->racks_by_free, free * c->n_racks + i))
            return differs(err, "rack", i, "its place in the order of racks", 0, free);
    }
    return !c->has_rack_index || c->racks_by_free.count == c->n_racks ||
           differs(err, "cluster", 0, "racks in their order", c->racks_by_free.count, c->n_racks);
}

/* Live allocations hold exactly the GPUs that are neither free nor shared, and each VC's sum of them. */
static bool check_allocations(const struct cluster *c, struct error *err)
{
    uint64_t held = 0, owned = 0;
    for (uint32_t h = 0; h < c->n_handles; h++)
        if (alloc_at(c, h)->state == ALLOC_LIVE)
            held += alloc_at(c, h)->gpus;
    for (uint32_t g = 0; g < c->n_gpus; g++)
        owned += c->owner[g] < OWNER_SHARED;
    if (held != owned)
        return differs(err, "cluster", 0, "GPUs of live allocations", held, owned);
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        uint64_t used = 0;
        for (uint32_t h = 0; h < c->n_handles; h++)
            if (alloc_at(c, h)->state == ALLOC_LIVE && alloc_at(c, h)->vc == v)
                used += alloc_at(c, h)->gpus;
        if (used != c->vcs[v].used_gpus)
            return differs(err, "virtual cluster", v, "used GPUs", c->vcs[v].used_gpus, used);
    }
    uint32_t idle = 0, listed = 0;
    for (uint32_t h = 0; h < c->n_handles; h++)
        idle += alloc_at(c, h)->state == ALLOC_IDLE;
    for (uint32_t h = c->first_idle; h != ALLOC_NONE && listed <= idle; h = alloc_at(c, h)->next_idle)
        listed++;
    return idle == listed || differs(err, "cluster", 0, "idle handles in the list", listed, idle);
}

static bool check_load(const struct cluster *c, struct error *err)
{
    uint64_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        uint64_t held = c->nodes[i].gpus - c->nodes[i].free_gpus;
        sum += held;
        squares += held * held;
    }
    if (sum != c->load_sum)
        return differs(err, "cluster", 0, "sum of held GPUs", c->load_sum, sum);
    return squares == c->load_squares ||
           differs(err, "cluster", 0, "sum of squares of held GPUs", c->load_squares, squares);
}

bool cluster_check(const struct cluster *c, uint32_t node, struct error *err)
{
    if (node != NAMES_NONE)
        return check_node(c, node, err);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (!check_node(c, i, err))
            return false;
    for (uint32_t i = 0; i < c->n_pools; i++)
        if (!check_pool(c, i, err))
            return false;
    return check_partitions(c, err) && check_allocations(c, err) && check_load(c, err);
}

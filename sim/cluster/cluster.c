/* The cluster's accessors, quotas, reservations and the index of free GPUs. Building is in cluster_create.c, who holds what in
 * cluster_alloc.c and cluster_share.c, the books in cluster_check.c. */
#include "base/check.h"
#include "cluster/cluster_state.h"

#include <string.h>

uint32_t cluster_n_nodes(const struct cluster *c)
{
    return c->n_nodes;
}

uint32_t cluster_n_gpus(const struct cluster *c)
{
    return c->n_gpus;
}

uint32_t cluster_n_vcs(const struct cluster *c)
{
    return c->n_vcs;
}

uint32_t cluster_n_partitions(const struct cluster *c)
{
    return c->n_partitions;
}

const struct vc *cluster_vc(const struct cluster *c, uint32_t vc)
{
    return &c->vcs[vc];
}

uint32_t cluster_vc_find(const struct cluster *c, const char *name)
{
    return c->has_named_vcs ? names_find(&c->vc_names, name, strlen(name)) : 0;
}

const struct partition *cluster_partition(const struct cluster *c, uint32_t partition)
{
    return &c->partitions[partition];
}

const struct node *cluster_node(const struct cluster *c, uint32_t node)
{
    return &c->nodes[node];
}

const struct names *cluster_gpu_types(const struct cluster *c)
{
    return &c->gpu_types;
}

bool cluster_owns(const struct cluster *c, uint32_t partition, uint32_t node)
{
    return node < c->n_nodes && c->pools[c->nodes[node].pool].partition == partition;
}

uint32_t cluster_vc_free(const struct cluster *c, uint32_t vc)
{
    const struct vc *v = &c->vcs[vc];
    uint32_t free = c->partitions[v->partition].free_gpus;
    if (v->mode == VC_NODES)
        return free;
    uint32_t within = v->quota_gpus > v->used_gpus ? v->quota_gpus - v->used_gpus : 0;
    return within < free ? within : free;
}

/* The most of `total` that falls to one GPU of a job of `gpus`; a part of g GPUs never has more than g times that (cluster_part_bound). */
static uint64_t most_per_gpu(uint64_t total, uint32_t gpus)
{
    return total / gpus + (total % gpus > 0);
}

static bool may_lack(uint64_t per_gpu, const struct pool *p, uint64_t limit, uint64_t unlimited)
{
    return per_gpu > 0 && limit != unlimited && per_gpu > limit / p->gpus;
}

const char *cluster_beyond_counts(const struct cluster *c, const struct demand *demands, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct demand *d = &demands[i];
        uint64_t cpu = most_per_gpu(d->cpu_milli, d->gpus), memory = most_per_gpu(d->mem_kib, d->gpus);
        for (uint32_t k = 0; k < c->n_pools; k++) {
            const struct pool *p = &c->pools[k];
            if (p->gpus == 0)
                continue;
            if (d->gpu_type != NAMES_NONE && d->gpu_type != p->gpu_type)
                return "GPU types";
            if (may_lack(cpu, p, p->cpu_milli, CPU_UNLIMITED))
                return "CPU";
            if (may_lack(memory, p, p->mem_kib, MEM_UNLIMITED))
                return "host memory";
        }
    }
    return NULL;
}

uint64_t cluster_cpu_milli(const struct cluster *c, uint32_t partition)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_pools; i++) {
        const struct pool *p = &c->pools[i];
        if (partition != NAMES_NONE && p->partition != partition)
            continue;
        if (p->cpu_milli == CPU_UNLIMITED)
            return 0;
        sum += (uint64_t)p->cpu_milli * p->n_nodes;
    }
    return sum;
}

uint64_t cluster_memory_kib(const struct cluster *c, uint32_t partition)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n_pools; i++) {
        const struct pool *p = &c->pools[i];
        if (partition != NAMES_NONE && p->partition != partition)
            continue;
        uint64_t all;
        if (p->mem_kib == MEM_UNLIMITED || __builtin_mul_overflow(p->mem_kib, (uint64_t)p->n_nodes, &all) ||
            __builtin_add_overflow(sum, all, &sum))
            return 0;
    }
    return sum;
}

void cluster_vc_set_quota(struct cluster *c, uint32_t vc, uint32_t gpus)
{
    struct vc *v = &c->vcs[vc];
    require(v->mode == VC_GPUS, "virtual cluster '%s' owns its nodes and has no quota", v->name);
    v->quota_gpus = gpus;
    uint32_t all = c->partitions[v->partition].gpus;
    uint32_t usable = gpus < all ? gpus : all;
    if (usable > c->vc_most_gpus[vc])
        c->vc_most_gpus[vc] = usable;
}

void cluster_index_move(struct cluster *c, const struct node *n, uint32_t from, uint32_t to)
{
    struct pool *p = &c->pools[n->pool];
    uint64_t *levels = c->levels[n->pool];
    struct nodeset *left = &p->by_free[from], *entered = &p->by_free[to];
    nodeset_erase(left, n->position);
    if (left->count == 0)
        levels[from / 64] &= ~(UINT64_C(1) << from % 64);
    nodeset_insert(entered, n->position);
    levels[to / 64] |= UINT64_C(1) << to % 64;
    uint32_t change = to - from; /* modulo 2^32: a sum may also shrink */
    p->free_gpus += change;
    c->partitions[p->partition].free_gpus += change;
    struct rack *r = &c->racks[n->rack];
    if (c->has_rack_index) {
        nodeset_erase(&c->racks_by_free, r->free_gpus * c->n_racks + n->rack);
        nodeset_insert(&c->racks_by_free, (r->free_gpus + change) * c->n_racks + n->rack);
    }
    r->free_gpus += change;
}

void cluster_load_move(struct cluster *c, uint32_t from, uint32_t to)
{
    c->load_sum += (uint64_t)to - from;
    c->load_squares += (uint64_t)to * to - (uint64_t)from * from;
}

void cluster_load(const struct cluster *c, uint64_t *sum, uint64_t *sum_of_squares)
{
    *sum = c->load_sum;
    *sum_of_squares = c->load_squares;
}

bool cluster_reserve(struct cluster *c, uint32_t node, uint32_t gpus)
{
    struct node *n = &c->nodes[node];
    uint32_t visible = node_visible(n);
    if (gpus > visible)
        return false;
    if (gpus > 0) {
        cluster_index_move(c, n, visible, visible - gpus);
        n->reserved_gpus += gpus;
    }
    return true;
}

void cluster_unreserve(struct cluster *c, uint32_t node, uint32_t gpus)
{
    struct node *n = &c->nodes[node];
    require(gpus <= n->reserved_gpus, "node %u: %u GPUs given back of %u reserved", node, gpus, n->reserved_gpus);
    if (gpus > 0) {
        uint32_t visible = node_visible(n);
        cluster_index_move(c, n, visible, visible + gpus);
        n->reserved_gpus -= gpus;
    }
}

bool cluster_reserve_host(struct cluster *c, uint32_t node, uint32_t cpu_milli, uint64_t mem_kib)
{
    struct node *n = &c->nodes[node];
    if (cpu_milli > n->cpu_free_milli || mem_kib > n->mem_free_kib)
        return false;
    n->cpu_free_milli -= n->cpu_free_milli == CPU_UNLIMITED ? 0 : cpu_milli;
    n->mem_free_kib -= n->mem_free_kib == MEM_UNLIMITED ? 0 : mem_kib;
    return true;
}

void cluster_unreserve_host(struct cluster *c, uint32_t node, uint32_t cpu_milli, uint64_t mem_kib)
{
    struct node *n = &c->nodes[node];
    n->cpu_free_milli += n->cpu_free_milli == CPU_UNLIMITED ? 0 : cpu_milli;
    n->mem_free_kib += n->mem_free_kib == MEM_UNLIMITED ? 0 : mem_kib;
}

bool cluster_is_bounded(const struct cluster *c, uint32_t partition, const struct demand *d)
{
    if (d->cpu_milli == 0 && d->mem_kib == 0)
        return false;
    const struct partition *q = &c->partitions[partition];
    for (uint32_t i = 0; i < q->n_pools; i++) {
        const struct pool *p = &c->pools[q->first_pool + i];
        if ((d->cpu_milli > 0 && p->cpu_milli != CPU_UNLIMITED) || (d->mem_kib > 0 && p->mem_kib != MEM_UNLIMITED))
            return true;
    }
    return false;
}

bool cluster_places_fit(const struct cluster *c, const struct demand *d, const struct place *places, uint32_t n)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct node *node = &c->nodes[places[i].node];
        const struct pool *p = &c->pools[node->pool];
        uint32_t gpus = places[i].gpus;
        if (!pool_matches(p, d) || gpus > node_visible(node) || gpus > d->gpus - before ||
            sched_part(d->cpu_milli, before, gpus, d->gpus) > node->cpu_free_milli ||
            sched_part(d->mem_kib, before, gpus, d->gpus) > node->mem_free_kib)
            return false;
        before += gpus;
    }
    return before == d->gpus;
}

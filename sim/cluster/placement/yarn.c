/* The consolidating scheme of the Tiresias simulator, racks standing for its switches, taken in order:
 *
 *     g <= G GPUs (G: of a node)   the first node with g free GPUs, (g == 1 ? 2 : 6 g) free CPUs and 5 GB
 *     g >  G                       within one rack: the first floor(g / G) wholly free nodes with 6 G CPUs and (11 + g / 10) G GB,
 *                                  and for g mod G GPUs the first other node with 6 and (11 + g / 10) GB a GPU; never two racks
 *
 * These amounts do not depend on what the job asks, and are reckoned from who holds the node's GPUs; they are not charged in the
 * cluster's books. Where a job asks CPU or memory of its own, that must fit too. The scheme may refuse what the PACKED rule allows. */
#include "cluster/placement/modules.h"
#include "cluster/placement/want.h"

#include "base/check.h"

enum { CPU_ONE_MILLI = 2000, CPU_GPU_MILLI = 6000 };

static const uint64_t GB_BYTES = 1000000000, KIB_BYTES = 1024;

/* What a job of `gpus` GPUs, `here` of them on a node, takes there. */
static uint64_t cpu_taken(uint32_t gpus, uint32_t here)
{
    return gpus == 1 ? CPU_ONE_MILLI : (uint64_t)CPU_GPU_MILLI * here;
}

static uint64_t
memory_of_gpu(uint32_t gpus) /* of a job of several nodes: 11 GB + a tenth of a GB for every GPU of the job */
{
    return (110 + (uint64_t)gpus) * (GB_BYTES / 10) / KIB_BYTES;
}

static uint64_t memory_taken(uint32_t gpus, uint32_t here, bool is_single)
{
    return is_single ? 5 * GB_BYTES / KIB_BYTES : memory_of_gpu(gpus) * here;
}

static bool node_has_room(const struct cluster *c, uint32_t node, uint64_t cpu, uint64_t memory)
{
    const struct node *n = &c->nodes[node];
    const struct pool *p = &c->pools[n->pool];
    if (p->cpu_milli == CPU_UNLIMITED && p->mem_kib == MEM_UNLIMITED)
        return true;
    for (uint32_t g = 0; g < n->gpus; g++) {
        uint32_t owner = c->owner[n->gpu_at + g];
        if (owner >= OWNER_SHARED)
            continue;
        const struct alloc *a = alloc_at(c, owner);
        bool is_single = a->n_places == 1;
        cpu += cpu_taken(a->gpus, 1);
        if (!is_single || a->spans[0].gpu_first == g) /* a small job's memory does not grow with its GPUs */
            memory += memory_taken(a->gpus, 1, is_single);
    }
    return cpu <= p->cpu_milli && memory <= p->mem_kib;
}

/* The first node from `from` on with enough of everything; NODESET_NONE. */
static uint32_t next_node(const struct want *w, uint32_t from, bool is_single)
{
    uint64_t cpu = cpu_taken(w->d->gpus, w->gpus), memory = memory_taken(w->d->gpus, w->gpus, is_single);
    uint32_t node = want_lowest(w, from);
    while (node != NODESET_NONE && !node_has_room(w->c, node, cpu, memory))
        node = want_lowest(w, node + 1);
    return node;
}

/* GPUs of the largest node that the job may use; 0: none. */
static uint32_t largest_node(const struct cluster *c, const struct partition *q, const struct demand *d)
{
    for (uint32_t i = q->first_pool; i < q->first_pool + q->n_pools; i++)
        if (pool_matches(&c->pools[i], d))
            return c->pools[i].gpus;
    return 0;
}

/* A job of several nodes within nodes [begin, end): the number of places; 0: it does not fit. */
static uint32_t pick_in_rack(struct packed *taken, struct want *w, uint32_t size, uint32_t begin, uint32_t end,
                             struct place *out, uint32_t room)
{
    uint32_t n = 0, wanted = w->d->gpus / size, rest = w->d->gpus % size;
    taken->round++;
    w->gpus = size;
    w->is_whole = true;
    for (uint32_t from = begin; n < wanted; from = out[n - 1].node + 1) {
        uint32_t node = next_node(w, from, false);
        if (node >= end) /* NODESET_NONE too */
            return 0;
        require(n < room, "a job of %u GPUs needs more than %u places", w->d->gpus, room);
        out[n++] = (struct place){node, size};
        taken->stamp[node] = taken->round;
    }
    if (rest == 0)
        return n;
    w->gpus = rest;
    w->is_whole = false;
    uint32_t node = next_node(w, begin, false);
    if (node >= end)
        return 0;
    require(n < room, "a job of %u GPUs needs more than %u places", w->d->gpus, room);
    out[n++] = (struct place){node, rest};
    return n;
}

static uint32_t yarn_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d, gsl_rng *rng,
                          struct place *out, uint32_t room)
{
    struct packed *taken = self;
    (void)rng;
    const struct partition *q = &c->partitions[partition];
    uint32_t size = largest_node(c, q, d);
    if (size == 0 || d->gpus == 0 || d->gpus > q->free_gpus)
        return 0;
    struct want w = {.c = c, .q = q, .d = d, .gpus = d->gpus, .is_bounded = cluster_is_bounded(c, partition, d)};
    if (d->gpus <= size) { /* racks hold consecutive nodes: the first node of the first rack is the first of all */
        uint32_t node = next_node(&w, 0, true);
        if (node == NODESET_NONE)
            return 0;
        out[0] = (struct place){node, d->gpus};
        return 1;
    }
    w.taken = taken;
    uint32_t last = c->nodes[q->nodes[q->n_nodes - 1]].rack, q_end = q->nodes[q->n_nodes - 1] + 1;
    for (uint32_t rack = c->nodes[q->nodes[0]].rack; rack <= last; rack++) {
        const struct rack *k = &c->racks[rack];
        if (k->free_gpus < d->gpus)
            continue;
        uint32_t end = k->nodes[k->n_nodes - 1] + 1;
        uint32_t n = pick_in_rack(taken, &w, size, k->nodes[0], end < q_end ? end : q_end, out, room);
        if (n > 0)
            return n;
    }
    return 0;
}

/* Nodes [begin, end) of the type with room for `gpus` GPUs of a job when they are free, by the scheme's amounts and by the job's own;
 * `is_whole`: of exactly this size. */
static uint32_t count_nodes(const struct cluster *c, const struct demand *d, uint32_t gpus, bool is_whole,
                            bool is_single, uint32_t begin, uint32_t end)
{
    uint64_t cpu = cpu_taken(d->gpus, gpus), memory = memory_taken(d->gpus, gpus, is_single);
    uint32_t count = 0;
    for (uint32_t node = begin; node < end; node++) {
        const struct pool *p = &c->pools[c->nodes[node].pool];
        count += pool_matches(p, d) && (is_whole ? p->gpus == gpus : p->gpus >= gpus) && cpu <= p->cpu_milli &&
                 memory <= p->mem_kib && sched_part_bound(d->cpu_milli, gpus, d->gpus) <= p->cpu_milli &&
                 sched_part_bound(d->mem_kib, gpus, d->gpus) <= p->mem_kib;
    }
    return count;
}

static const char *yarn_never(const struct cluster *c, uint32_t partition, const struct demand *d)
{
    const struct partition *q = &c->partitions[partition];
    uint32_t size = largest_node(c, q, d), begin = q->nodes[0], q_end = q->nodes[q->n_nodes - 1] + 1;
    if (size == 0)
        return "gpu_type_absent";
    if (d->gpus <= size)
        return count_nodes(c, d, d->gpus, false, true, begin, q_end) > 0 ? NULL : "too_much_for_node";
    uint32_t wanted = d->gpus / size, rest = d->gpus % size;
    while (begin < q_end) {
        const struct rack *k = &c->racks[c->nodes[begin].rack];
        uint32_t end = k->nodes[k->n_nodes - 1] + 1;
        end = end < q_end ? end : q_end;
        if (count_nodes(c, d, size, true, false, begin, end) >= wanted &&
            (rest == 0 || count_nodes(c, d, rest, false, false, begin, end) > wanted))
            return NULL;
        begin = end;
    }
    return "too_large_for_rack";
}

const struct placement_ops placement_yarn = {
    .name = "yarn",
    .summary = "the first node, or the first nodes of one rack, with fixed amounts of CPU and memory a GPU",
    .source = "Tiresias simulator, scheme 'yarn' (Gu et al., NSDI 2019)",
    .rule = PLACEMENT_PACKED,
    .state_size = sizeof(struct packed),
    .init = packed_init,
    .pick = yarn_pick,
    .never = yarn_never,
};

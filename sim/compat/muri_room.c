/* The scheme "yarn": switches and nodes in order of number,
 *
 *     g <= G GPUs (G: of a node)   the first node with g free GPUs, (g == 1 ? 2 : 6 g) free CPUs and 5 GB
 *     g >  G                       under one switch, the first g / G wholly idle nodes, and one more for the rest; 6 CPUs and
 *                                  11 + g / 10 GB a GPU
 */
#include "compat/muri_run.h"

#include "cluster/cluster_state.h"

#include <string.h>

enum { CPU_ONE_MILLI = 2000, CPU_GPU_MILLI = 6000 };

static const uint64_t GB = 1000000000, KIB = 1024;

int muri_room_init(struct muri *m, const struct cluster *c)
{
    struct muri_room *r = &m->room;
    uint32_t n = cluster_n_nodes(c);
    uint32_t *switch_at = ARENA_NEW(&m->arena, uint32_t, (size_t)n + 1);
    *r = (struct muri_room){.n_nodes = n,
                            .node_gpus = cluster_node(c, 0)->gpus,
                            .switch_at = switch_at,
                            .free = ARENA_NEW(&m->arena, uint32_t, n),
                            .cpu = ARENA_NEW(&m->arena, uint64_t, n),
                            .memory = ARENA_NEW(&m->arena, uint64_t, n)};
    if (m->arena.is_short)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    const struct pool *p = &c->pools[cluster_node(c, 0)->pool];
    r->cpu_all = p->cpu_milli == CPU_UNLIMITED ? UINT64_MAX : p->cpu_milli;
    r->memory_all = p->mem_kib;
    for (uint32_t i = 0; i < n; i++) {
        if (cluster_node(c, i)->pool != cluster_node(c, 0)->pool)
            return error_set(m->err, BRAID_BAD_INPUT,
                             "the %s simulator has nodes of one kind alone, but node %u differs from node 0; use "
                             "compat: none",
                             MURI, i);
        if (i == 0 || cluster_node(c, i)->rack != cluster_node(c, i - 1)->rack)
            switch_at[r->n_switches++] = i;
    }
    switch_at[r->n_switches] = n;
    muri_room_clear(r);
    return BRAID_OK;
}

void muri_room_clear(struct muri_room *r)
{
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        r->free[i] = r->node_gpus;
        r->cpu[i] = r->cpu_all;
        r->memory[i] = r->memory_all;
    }
    r->n_free = r->n_nodes * r->node_gpus;
    r->least_refused = UINT32_MAX;
}

bool muri_room_is_full(const struct muri_room *r)
{
    return r->n_free == 0 || r->least_refused <= 1;
}

static uint64_t cpu_of(uint32_t gpus, uint32_t here)
{
    return gpus == 1 ? CPU_ONE_MILLI : (uint64_t)CPU_GPU_MILLI * here;
}

static uint64_t memory_of(const struct muri_room *r, uint32_t gpus, uint32_t here)
{
    return gpus <= r->node_gpus ? 5 * GB / KIB : (110 + (uint64_t)gpus) * (GB / 10) / KIB * here;
}

static bool has_room(const struct muri_room *r, uint32_t node, uint32_t gpus, uint32_t here)
{
    return r->free[node] >= here && r->cpu[node] >= cpu_of(gpus, here) && r->memory[node] >= memory_of(r, gpus, here);
}

static struct span give(struct muri_room *r, uint32_t node, uint32_t gpus, uint32_t here)
{
    struct span s = {node, r->node_gpus - r->free[node], here}; /* what is taken comes first */
    r->free[node] -= here;
    r->n_free -= here;
    r->cpu[node] -= r->cpu_all == UINT64_MAX ? 0 : cpu_of(gpus, here);
    r->memory[node] -= r->memory_all == UINT64_MAX ? 0 : memory_of(r, gpus, here);
    return s;
}

/* Whole nodes and a rest under the nodes [begin, end), in two walks: what is found, then what is taken. */
static uint32_t take_under(struct muri_room *r, uint32_t gpus, uint32_t begin, uint32_t end, struct span *out)
{
    uint32_t whole = gpus / r->node_gpus, rest = gpus % r->node_gpus, n = 0, last = UINT32_MAX, idle = 0;
    uint32_t rest_at = UINT32_MAX;
    for (uint32_t i = begin; i < end && idle < whole; i++)
        if (r->free[i] == r->node_gpus && has_room(r, i, gpus, r->node_gpus)) {
            idle++;
            last = i;
        }
    if (idle < whole)
        return 0;
    for (uint32_t i = begin; i < end && rest > 0 && rest_at == UINT32_MAX; i++) {
        bool is_taken = i <= last && r->free[i] == r->node_gpus && has_room(r, i, gpus, r->node_gpus);
        if (!is_taken && has_room(r, i, gpus, rest))
            rest_at = i;
    }
    if (rest > 0 && rest_at == UINT32_MAX)
        return 0;
    for (uint32_t i = begin; i <= last; i++)
        if (r->free[i] == r->node_gpus && has_room(r, i, gpus, r->node_gpus)) {
            struct span s = give(r, i, gpus, r->node_gpus);
            if (out != NULL)
                out[n] = s;
            n++;
        }
    if (rest > 0) {
        struct span s = give(r, rest_at, gpus, rest);
        if (out != NULL)
            out[n] = s;
        n++;
    }
    return n;
}

uint32_t muri_room_take(struct muri_room *r, uint32_t gpus, struct span *out)
{
    if (gpus > r->n_free || gpus >= r->least_refused)
        return 0;
    if (gpus <= r->node_gpus) {
        for (uint32_t i = 0; i < r->n_nodes; i++)
            if (has_room(r, i, gpus, gpus)) {
                struct span s = give(r, i, gpus, gpus);
                if (out != NULL)
                    *out = s;
                return 1;
            }
    } else {
        for (uint32_t i = 0; i < r->n_switches; i++) {
            uint32_t n = take_under(r, gpus, r->switch_at[i], r->switch_at[i + 1], out);
            if (n > 0)
                return n;
        }
    }
    r->least_refused = gpus; /* until the cluster is emptied nothing larger fits either */
    return 0;
}

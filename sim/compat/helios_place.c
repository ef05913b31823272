/* helios_place.c - the placers, by scans over the nodes of a virtual cluster in order of number. */
#include "compat/helios_run.h"

enum { NODE_GPUS = 8, NO_NODE = -1 };

static uint32_t free_of(const struct helios *h, const struct partition *p, uint32_t i)
{
    return cluster_node(h->l.cluster, p->nodes[i])->free_gpus;
}

/* The node with the fewest free GPUs that are enough. */
static uint32_t place_small(struct helios *h, const struct partition *p, uint32_t gpus)
{
    int64_t best = NO_NODE;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (free_of(h, p, i) >= gpus && (best == NO_NODE || free_of(h, p, i) < free_of(h, p, (uint32_t)best)))
            best = i;
    if (best == NO_NODE)
        return 0;
    h->l.places[0] = (struct place){p->nodes[best], gpus};
    return 1;
}

/* The first wholly free nodes, and for the rest the node with the most free GPUs among the others. */
static uint32_t place_large(struct helios *h, const struct partition *p, uint32_t gpus)
{
    uint32_t n = 0, whole = gpus / NODE_GPUS, rest = gpus % NODE_GPUS;
    int64_t roomiest = NO_NODE;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t free = free_of(h, p, i);
        if (free == NODE_GPUS && n < whole)
            h->l.places[n++] = (struct place){p->nodes[i], NODE_GPUS};
        else if (free > 0 && (roomiest == NO_NODE || free > free_of(h, p, (uint32_t)roomiest)))
            roomiest = i;
    }
    if (n < whole || (rest > 0 && (roomiest == NO_NODE || free_of(h, p, (uint32_t)roomiest) < rest)))
        return 0;
    if (rest > 0)
        h->l.places[n++] = (struct place){p->nodes[roomiest], rest};
    return n;
}

bool helios_place(struct helios *h, const struct helios_vc *vc, uint32_t job)
{
    const struct partition *p = cluster_partition(h->l.cluster, h->l.queues[vc->index].partition);
    uint32_t gpus = h->l.w->gpus[job], n;
    if (p->free_gpus < gpus)
        return false;
    n = h->placer == HELIOS_RANDOM ? ledger_take_in_order(&h->l, vc->index, gpus)
        : gpus <= NODE_GPUS        ? place_small(h, p, gpus)
                                   : place_large(h, p, gpus);
    if (n > 0)
        ledger_start(&h->l, job, n);
    return n > 0;
}

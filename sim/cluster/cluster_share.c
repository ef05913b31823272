/* GPUs shared by several jobs: a list of tenants a GPU, in order of joining, from one table with a free list. */
#include "base/check.h"
#include "cluster/cluster_state.h"

#include <string.h>

enum { SHARE_WHOLE = 1000 };

static uint32_t tenant_take(struct cluster *c)
{
    if (c->first_tenant != UINT32_MAX) {
        uint32_t t = c->first_tenant;
        c->first_tenant = c->tenants[t].next;
        return t;
    }
    if (c->n_tenants == c->tenants_room) {
        uint32_t room = c->tenants_room == 0 ? 64 : c->tenants_room * 2;
        struct tenant *grown = ARENA_NEW(c->arena, struct tenant, room);
        if (grown == NULL)
            return UINT32_MAX;
        if (c->n_tenants > 0)
            memcpy(grown, c->tenants, c->n_tenants * sizeof *grown);
        c->tenants = grown;
        c->tenants_room = room;
    }
    return c->n_tenants++;
}

/* The GPU leaves the free ones (taken) or comes back. */
static void gpu_move(struct cluster *c, struct node *n, uint32_t gpu, bool is_taken)
{
    uint32_t visible = node_visible(n), held = n->gpus - n->free_gpus;
    uint64_t bit = UINT64_C(1) << gpu % 64;
    uint64_t *word = &c->words[n->word_at + gpu / 64];
    if (is_taken) {
        *word &= ~bit;
        cluster_index_move(c, n, visible, visible - 1);
        cluster_load_move(c, held, held + 1);
        n->free_gpus--;
    } else {
        *word |= bit;
        cluster_index_move(c, n, visible, visible + 1);
        cluster_load_move(c, held, held - 1);
        n->free_gpus++;
    }
}

bool cluster_share(struct cluster *c, uint32_t node, uint32_t gpu, uint32_t job, uint32_t share_milli)
{
    struct node *n = &c->nodes[node];
    require(gpu < n->gpus && share_milli > 0, "share of %u/1000 of GPU %u of node %u", share_milli, gpu, node);
    uint32_t *owner = &c->owner[n->gpu_at + gpu];
    uint32_t last = UINT32_MAX;
    uint64_t held = 0;
    if (*owner == OWNER_FREE) {
        if (node_visible(n) == 0) /* the rest is reserved */
            return false;
    } else if (*owner < OWNER_SHARED) {
        return false;
    } else {
        for (uint32_t t = *owner - OWNER_SHARED; t != UINT32_MAX; t = c->tenants[t].next) {
            if (c->tenants[t].job == job)
                return false;
            held += c->tenants[t].share_milli;
            last = t;
        }
    }
    if (held + share_milli > SHARE_WHOLE)
        return false;
    uint32_t t = tenant_take(c);
    if (t == UINT32_MAX)
        return false;
    c->tenants[t] = (struct tenant){job, share_milli, UINT32_MAX};
    if (last != UINT32_MAX) {
        c->tenants[last].next = t;
    } else {
        gpu_move(c, n, gpu, true);
        *owner = OWNER_SHARED + t;
    }
    return true;
}

bool cluster_unshare(struct cluster *c, uint32_t node, uint32_t gpu, uint32_t job)
{
    struct node *n = &c->nodes[node];
    require(gpu < n->gpus, "node %u has no GPU %u", node, gpu);
    uint32_t *owner = &c->owner[n->gpu_at + gpu];
    if (*owner == OWNER_FREE || *owner < OWNER_SHARED)
        return false;
    uint32_t before = UINT32_MAX, t = *owner - OWNER_SHARED;
    while (t != UINT32_MAX && c->tenants[t].job != job) {
        before = t;
        t = c->tenants[t].next;
    }
    if (t == UINT32_MAX)
        return false;
    uint32_t next = c->tenants[t].next;
    if (before != UINT32_MAX) {
        c->tenants[before].next = next;
    } else if (next != UINT32_MAX) {
        *owner = OWNER_SHARED + next;
    } else {
        *owner = OWNER_FREE;
        gpu_move(c, n, gpu, false);
    }
    c->tenants[t].next = c->first_tenant;
    c->first_tenant = t;
    return true;
}

uint32_t cluster_gpu_tenants(const struct cluster *c, uint32_t node, uint32_t gpu, uint32_t *jobs, uint32_t room)
{
    const struct node *n = &c->nodes[node];
    require(gpu < n->gpus, "node %u has no GPU %u", node, gpu);
    uint32_t owner = c->owner[n->gpu_at + gpu];
    uint32_t count = 0;
    if (owner == OWNER_FREE)
        return 0;
    if (owner < OWNER_SHARED) {
        if (room > 0)
            jobs[0] = alloc_at(c, owner)->job;
        return 1;
    }
    for (uint32_t t = owner - OWNER_SHARED; t != UINT32_MAX; t = c->tenants[t].next, count++)
        if (count < room)
            jobs[count] = c->tenants[t].job;
    return count;
}

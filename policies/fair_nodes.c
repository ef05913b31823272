/* fair_nodes.c - the shape of the tree: from the file of shares to nodes, from a job to its leaf, from guarantees to what they add up to. */
#include "policies/fair_tree.h"

#include <math.h>
#include <string.h>

static uint32_t node_add(struct fair_tree *t, uint32_t parent, double weight, int64_t guarantee)
{
    if (t->n_nodes == t->nodes_room) {
        uint32_t room = t->nodes_room * 2 + 64;
        struct fair_node *grown = sched_alloc(t->pool.s, room, sizeof *grown);
        if (grown == NULL)
            return FAIR_NONE;
        if (t->n_nodes > 0)
            memcpy(grown, t->nodes, t->n_nodes * sizeof *grown);
        t->nodes = grown;
        t->nodes_room = room;
    }
    struct fair_node *n = &t->nodes[t->n_nodes];
    *n = (struct fair_node){.parent = parent,
                            .first_bin = FAIR_NONE,
                            .weight = weight,
                            .guarantee = guarantee,
                            .turn = t->n_turns++,
                            .vc = FAIR_NONE,
                            .next_of_user = FAIR_NONE};
    n->at = t->measure == FAIR_GUARANTEE && guarantee > 0 ? -1 : 0; /* nothing is held yet */
    jobset_init(&n->running, &t->pool);
    return t->n_nodes++;
}

static uint32_t node_of_row(uint32_t row)
{
    return row == SHARES_ROOT ? 0 : row + 1;
}

/* The node of a user or virtual cluster: its row's, or a new one below the root. */
static int named_node(struct fair_tree *t, const char *name, bool is_leaf, uint32_t *node, struct error *err)
{
    uint32_t row;
    int status = shares_find(&t->shares, name, is_leaf, &row, err);
    if (status != BRAID_OK)
        return status;
    *node = row != SHARES_ROOT ? node_of_row(row) : node_add(t, 0, 1, 0);
    if (*node == FAIR_NONE)
        return error_set(err, BRAID_FAILED, "out of memory");
    t->nodes[*node].is_leaf = is_leaf;
    return BRAID_OK;
}

/* Sums of given guarantees from the leaves up; a node whose own is not given has its children's sum. */
static int guarantees_check(struct fair_tree *t, struct sched *s, struct error *err)
{
    const struct shares *g = &t->shares;
    int64_t *sum = sched_alloc(s, g->n + (size_t)1, sizeof *sum);
    uint32_t *n_below = sched_alloc(s, g->n + (size_t)1, sizeof *n_below),
             *ready = sched_alloc(s, g->n + (size_t)1, sizeof *ready);
    uint32_t n_ready = 0;
    if (sum == NULL || n_below == NULL || ready == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < g->n; i++)
        n_below[node_of_row(g->rows[i].parent)]++;
    for (uint32_t i = 0; i < g->n; i++)
        if (n_below[i + 1] == 0)
            ready[n_ready++] = i;
    for (uint32_t k = 0; k < n_ready; k++) {
        const struct share_row *r = &g->rows[ready[k]];
        uint32_t node = ready[k] + 1, up = node_of_row(r->parent);
        if (r->guarantee >= 0 && sum[node] > r->guarantee)
            return error_at(err, BRAID_BAD_INPUT, g->path, r->line, 0,
                            "'%s' guarantees %lld GPUs, but to those below it %lld; raise the one or lower the others",
                            r->name, (long long)r->guarantee, (long long)sum[node]);
        t->nodes[node].guarantee = r->guarantee >= 0 ? r->guarantee : sum[node];
        sum[up] += t->nodes[node].guarantee;
        if (up > 0 && --n_below[up] == 0)
            ready[n_ready++] = up - 1;
    }
    if (t->measure == FAIR_GUARANTEE && sum[0] > (int64_t)sched_capacity_gpus(s))
        return error_at(err, BRAID_BAD_INPUT, g->path, 0, 0,
                        "guarantees of %lld GPUs in all, but the cluster has %u; lower them", (long long)sum[0],
                        sched_capacity_gpus(s));
    for (uint32_t i = 0; i < g->n; i++)
        t->nodes[i + 1].at = t->measure == FAIR_GUARANTEE && t->nodes[i + 1].guarantee > 0 ? -1 : 0;
    return BRAID_OK;
}

static enum shares_of leaves_of(const struct fair_tree *t)
{
    return t->by == FAIR_BY_USER ? SHARES_OF_USERS : t->by == FAIR_BY_VC ? SHARES_OF_VCS : SHARES_OF_BOTH;
}

int fair_tree_init(struct fair_tree *t, struct sched *s, const char *shares_path, struct error *err)
{
    uint32_t n_users = sched_n_users(s), n_vcs = sched_n_vcs(s), n_demands = sched_n_demands(s);
    jobset_pool_init(&t->pool, s);
    t->worth = (double)t->half_life_ns / M_LN2;
    t->f = t->q = 1;
    t->class_of_demand = sched_alloc(s, n_demands + (size_t)1, sizeof *t->class_of_demand);
    t->leaf_of_user = sched_alloc(s, n_users + (size_t)1, sizeof *t->leaf_of_user);
    t->node_of_vc = sched_alloc(s, n_vcs + (size_t)1, sizeof *t->node_of_vc);
    if (t->class_of_demand == NULL || t->leaf_of_user == NULL || t->node_of_vc == NULL ||
        node_add(t, FAIR_NONE, 1, 0) == FAIR_NONE)
        return error_set(err, BRAID_FAILED, "out of memory");
    int status = shares_load(&t->shares, s, shares_path, err);
    for (uint32_t i = 0; i < t->shares.n && status == BRAID_OK; i++) {
        const struct share_row *r = &t->shares.rows[i];
        if (node_add(t, node_of_row(r->parent), r->weight, 0) == FAIR_NONE)
            status = error_set(err, BRAID_FAILED, "out of memory");
    }
    if (status == BRAID_OK)
        status = guarantees_check(t, s, err);
    t->is_even = t->by != FAIR_BY_VC_USER;
    for (uint32_t i = 0; i < t->shares.n && status == BRAID_OK; i++)
        t->is_even &=
            t->shares.rows[i].parent == SHARES_ROOT && t->shares.rows[i].weight >= 1 && t->shares.rows[i].weight <= 1;
    for (uint32_t u = 0; u < n_users && t->by == FAIR_BY_USER && status == BRAID_OK; u++) {
        uint32_t node = 0;
        status = named_node(t, sched_user_name(s, u), true, &node, err);
        t->leaf_of_user[u] = node + 1;
    }
    for (uint32_t v = 0; v < n_vcs && t->by != FAIR_BY_USER && status == BRAID_OK; v++) {
        uint32_t node = 0;
        status = named_node(t, sched_vc_name(s, v), t->by == FAIR_BY_VC, &node, err);
        t->node_of_vc[v] = node + 1;
    }
    if (status == BRAID_OK)
        status = shares_check(&t->shares, s, leaves_of(t), err);
    for (int r = 0; r < FAIR_RESOURCES && status == BRAID_OK; r++)
        t->capacity[r] = 0;
    if (status == BRAID_OK)
        fair_tree_measure_capacity(t, s);
    return status;
}

/* ---- users inside virtual clusters ---------------------------------------------------------------------- */

static uint32_t leaf_in_vc(struct fair_tree *t, struct sched *s, uint32_t user, uint32_t vc)
{
    for (uint32_t at = t->leaf_of_user[user]; at != 0 && at - 1 != FAIR_NONE; at = t->nodes[at - 1].next_of_user + 1)
        if (t->nodes[at - 1].vc == vc)
            return at - 1;
    uint32_t above = t->node_of_vc[vc] - 1;
    uint32_t vc_row = above > 0 && above <= t->shares.n ? above - 1 : SHARES_ROOT;
    uint32_t row =
        vc_row != SHARES_ROOT ? shares_find_below(&t->shares, sched_user_name(s, user), vc_row) : SHARES_ROOT;
    uint32_t leaf = row != SHARES_ROOT ? node_of_row(row) : node_add(t, above, 1, 0);
    if (leaf == FAIR_NONE)
        return FAIR_NONE;
    struct fair_node *n = &t->nodes[leaf];
    n->is_leaf = true;
    n->vc = vc;
    n->next_of_user = t->leaf_of_user[user] - 1; /* 0 - 1 is FAIR_NONE */
    t->leaf_of_user[user] = leaf + 1;
    return leaf;
}

uint32_t fair_tree_leaf(struct fair_tree *t, struct sched *s, uint32_t job)
{
    uint32_t user = sched_user(s, job), vc = sched_vc(s, job);
    switch (t->by) {
    case FAIR_BY_USER:
        return t->leaf_of_user[user] - 1;
    case FAIR_BY_VC:
        return t->node_of_vc[vc] - 1;
    case FAIR_BY_VC_USER:
        break;
    }
    return leaf_in_vc(t, s, user, vc);
}

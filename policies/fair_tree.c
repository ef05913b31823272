#include "policies/fair_tree.h"

#include <math.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------------------- */

static double quota_value(const struct fair_node *n, double held)
{
    double quota = (double)n->guarantee;
    return held < quota ? held / quota - 1 : (held - quota) / n->weight;
}

static double dominant_value(const struct fair_tree *t, const struct fair_node *n, const uint64_t held[FAIR_RESOURCES])
{
    double most = 0;
    for (int r = 0; r < FAIR_RESOURCES; r++) {
        double part = t->capacity[r] > 0 ? (double)held[r] / (double)t->capacity[r] : 0;
        most = part > most ? part : most;
    }
    return most / n->weight;
}

/* The line on which the node's value moves. */
static void node_line(const struct fair_tree *t, const struct fair_node *n, double *slope, double *at)
{
    double gpus = (double)n->held[FAIR_GPU];
    *slope = 0;
    switch (t->measure) {
    case FAIR_USAGE:
        *at = n->past / n->weight;
        *slope = gpus * (t->worth + t->ahead) / n->weight;
        return;
    case FAIR_GPUS:
        *at = gpus / n->weight;
        return;
    case FAIR_DOMINANT:
        *at = dominant_value(t, n, n->held);
        return;
    case FAIR_GUARANTEE:
        break;
    }
    *at = quota_value(n, gpus);
}

double fair_tree_value(const struct fair_tree *t, uint32_t node)
{
    return t->nodes[node].at * t->q + t->nodes[node].slope;
}

/* GPUs, CPU and memory that `job` demands. */
static void job_demand(struct sched *s, uint32_t job, uint64_t out[FAIR_RESOURCES])
{
    out[FAIR_GPU] = sched_gpus(s, job);
    out[FAIR_CPU] = sched_cpu_milli(s, job);
    out[FAIR_MEMORY] = sched_memory_kib(s, job);
}

double fair_tree_value_with(const struct fair_tree *t, struct sched *s, uint32_t node, uint32_t job, int sign)
{
    const struct fair_node *n = &t->nodes[node];
    if (t->measure == FAIR_USAGE)
        return fair_tree_value(t, node) + sign * (double)sched_gpus(s, job) * t->ahead / n->weight;
    struct fair_node with = {.weight = n->weight, .guarantee = n->guarantee};
    double slope, at;
    job_demand(s, job, with.held);
    for (int r = 0; r < FAIR_RESOURCES; r++)
        with.held[r] = sign > 0 ? n->held[r] + with.held[r] : n->held[r] - with.held[r];
    node_line(t, &with, &slope, &at);
    return at + slope;
}

/* ---- a node moves in the sets of its parent ------------------------------------------------------------ */

/* The node changes its line, or its turn, in all sets that it is in. */
static void node_place(struct fair_tree *t, uint32_t node, double slope, double at, uint32_t turn)
{
    struct fair_node *n = &t->nodes[node];
    for (uint32_t b = n->first_bin; b != FAIR_NONE && node != 0; b = t->bins[b].next_of_node) {
        if (!t->bins[b].is_active)
            continue;
        struct fair_bin *up = &t->bins[t->bins[b].up];
        lines_erase(&up->children, n->slope, n->at, n->turn);
        lines_insert(&up->children, &t->pool, slope, at, turn, node);
        up->cached_at = 0;
    }
    if (n->n_running > 0 && node != 0) {
        struct lines *rich = &t->nodes[n->parent].rich;
        lines_erase(rich, n->slope, n->at, n->turn);
        lines_insert(rich, &t->pool, slope, at, turn, node);
    }
    n->slope = slope;
    n->at = at;
    n->turn = turn;
}

static void node_reline(struct fair_tree *t, uint32_t node)
{
    const struct fair_node *n = &t->nodes[node];
    double slope, at;
    node_line(t, n, &slope, &at);
    if (slope < n->slope || slope > n->slope || at < n->at || at > n->at)
        node_place(t, node, slope, at, n->turn);
}

void fair_tree_serve(struct fair_tree *t, struct sched *s, uint32_t job)
{
    for (uint32_t i = fair_tree_leaf(t, s, job); i != FAIR_NONE; i = t->nodes[i].parent)
        node_place(t, i, t->nodes[i].slope, t->nodes[i].at, t->n_turns++);
}

static void path_hold(struct fair_tree *t, struct sched *s, uint32_t job, bool takes)
{
    uint64_t demand[FAIR_RESOURCES];
    uint32_t leaf = fair_tree_leaf(t, s, job);
    job_demand(s, job, demand);
    for (uint32_t i = leaf; i != FAIR_NONE; i = t->nodes[i].parent) {
        struct fair_node *n = &t->nodes[i];
        for (int r = 0; r < FAIR_RESOURCES; r++)
            n->held[r] = takes ? n->held[r] + demand[r] : n->held[r] - demand[r];
        if (t->measure == FAIR_USAGE) {
            double steady = (double)demand[FAIR_GPU] * t->worth * t->f;
            n->past = takes ? n->past - steady : n->past + steady;
            if (n->held[FAIR_GPU] == 0 && n->past < 0)
                n->past = 0; /* rounding */
        }
        node_reline(t, i);
    }
}

void fair_tree_take(struct fair_tree *t, struct sched *s, uint32_t job)
{
    path_hold(t, s, job, true);
}

void fair_tree_give(struct fair_tree *t, struct sched *s, uint32_t job)
{
    path_hold(t, s, job, false);
}

static void reline_all(struct fair_tree *t)
{
    for (uint32_t i = 0; i < t->n_nodes; i++)
        node_reline(t, i);
}

void fair_tree_measure_capacity(struct fair_tree *t, struct sched *s)
{
    uint64_t now[FAIR_RESOURCES] = {sched_capacity_gpus(s), sched_capacity_cpu_milli(s), sched_capacity_memory_kib(s)};
    if (memcmp(now, t->capacity, sizeof now) == 0)
        return;
    memcpy(t->capacity, now, sizeof now);
    if (t->measure == FAIR_DOMINANT)
        reline_all(t);
}

void fair_tree_clock(struct fair_tree *t, struct sched *s)
{
    enum { HALVINGS = 256 }; /* so often f may double before the epoch follows */
    int64_t now = sched_now(s);
    t->tick++;
    if (t->measure != FAIR_USAGE)
        return;
    if (!t->has_epoch) {
        t->has_epoch = true;
        t->epoch_ns = now;
    }
    int64_t halvings = (now - t->epoch_ns) / t->half_life_ns;
    if (halvings >= HALVINGS) {
        t->epoch_ns += halvings * t->half_life_ns;
        for (uint32_t i = 0; i < t->n_nodes; i++)
            t->nodes[i].past = scalbn(t->nodes[i].past, halvings < 4000 ? -(int)halvings : -4000);
        reline_all(t);
    }
    t->f = exp2((double)(now - t->epoch_ns) / (double)t->half_life_ns);
    t->q = 1 / t->f;
}

/* ---- bins ------------------------------------------------------------------------------------------- */

static uint32_t class_of(struct fair_tree *t, struct sched *s, uint32_t job)
{
    uint32_t demand = sched_demand(s, job), vc = sched_vc(s, job),
             first = t->class_of_demand[demand] - 1; /* 0 - 1: none */
    for (uint32_t k = first; k != FAIR_NONE; k = t->classes[k].next_of_demand)
        if (t->classes[k].vc == vc)
            return k;
    if (t->n_classes == t->classes_room) {
        uint32_t room = t->classes_room * 2 + 16;
        struct fair_class *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return FAIR_NONE;
        if (t->n_classes > 0)
            memcpy(grown, t->classes, t->n_classes * sizeof *grown);
        t->classes = grown;
        t->classes_room = room;
    }
    t->classes[t->n_classes] =
        (struct fair_class){.gpus = sched_gpus(s, job), .demand = demand, .vc = vc, .next_of_demand = first};
    t->class_of_demand[demand] = t->n_classes + 1;
    return t->n_classes++;
}

uint32_t fair_tree_bin(const struct fair_tree *t, uint32_t leaf, uint32_t class)
{
    uint32_t b = t->nodes[leaf].first_bin;
    while (b != FAIR_NONE && t->bins[b].class != class)
        b = t->bins[b].next_of_node;
    return b;
}

static uint32_t bin_make(struct fair_tree *t, uint32_t node, uint32_t class)
{
    uint32_t b = fair_tree_bin(t, node, class);
    if (b != FAIR_NONE)
        return b;
    if (t->n_bins == t->bins_room) {
        uint32_t room = t->bins_room * 2 + 64;
        struct fair_bin *grown = sched_alloc(t->pool.s, room, sizeof *grown);
        if (grown == NULL)
            return FAIR_NONE;
        if (t->n_bins > 0)
            memcpy(grown, t->bins, t->n_bins * sizeof *grown);
        t->bins = grown;
        t->bins_room = room;
    }
    b = t->n_bins++;
    t->bins[b] =
        (struct fair_bin){.node = node, .class = class, .next_of_node = t->nodes[node].first_bin, .up = FAIR_NONE};
    jobset_init(&t->bins[b].queue, &t->pool);
    t->nodes[node].first_bin = b;
    return b;
}

/* The bin has something to offer: so have those above it. */
static void bin_activate(struct fair_tree *t, uint32_t b)
{
    while (b != FAIR_NONE && !t->bins[b].is_active) {
        uint32_t node = t->bins[b].node, parent = t->nodes[node].parent;
        if (node != 0 && t->bins[b].up == FAIR_NONE) {
            uint32_t up = bin_make(t, parent, t->bins[b].class);
            if (up == FAIR_NONE)
                return; /* memory is out: the run ends */
            t->bins[b].up = up;
        }
        t->bins[b].is_active = true;
        if (node == 0)
            return;
        b = t->bins[b].up;
        lines_insert(&t->bins[b].children, &t->pool, t->nodes[node].slope, t->nodes[node].at, t->nodes[node].turn,
                     node);
        t->bins[b].cached_at = 0;
    }
}

static void bin_deactivate(struct fair_tree *t, uint32_t b)
{
    while (t->bins[b].is_active) {
        uint32_t node = t->bins[b].node;
        t->bins[b].is_active = false;
        if (node == 0)
            return;
        b = t->bins[b].up;
        lines_erase(&t->bins[b].children, t->nodes[node].slope, t->nodes[node].at, t->nodes[node].turn);
        t->bins[b].cached_at = 0;
        if (t->bins[b].children.n > 0)
            return;
    }
}

void fair_tree_hide(struct fair_tree *t, uint32_t bin)
{
    t->bins[bin].is_hidden = true;
    bin_deactivate(t, bin);
}

void fair_tree_show(struct fair_tree *t, uint32_t bin)
{
    t->bins[bin].is_hidden = false;
    if (t->bins[bin].queue.count > 0)
        bin_activate(t, bin);
}

void fair_tree_enqueue(struct fair_tree *t, struct sched *s, uint32_t job)
{
    uint32_t leaf = fair_tree_leaf(t, s, job), class = class_of(t, s, job);
    uint32_t b = leaf != FAIR_NONE && class != FAIR_NONE ? bin_make(t, leaf, class) : FAIR_NONE;
    if (b == FAIR_NONE || !jobset_insert(&t->bins[b].queue, job, job, 0))
        return;
    t->n_queued++;
    if (!t->bins[b].is_hidden)
        bin_activate(t, b);
}

void fair_tree_dequeue(struct fair_tree *t, struct sched *s, uint32_t job)
{
    uint32_t leaf = fair_tree_leaf(t, s, job), class = class_of(t, s, job);
    uint32_t b = leaf != FAIR_NONE && class != FAIR_NONE ? fair_tree_bin(t, leaf, class) : FAIR_NONE;
    if (b == FAIR_NONE || !jobset_erase(&t->bins[b].queue, job, job))
        return;
    t->n_queued--;
    if (t->bins[b].queue.count == 0)
        bin_deactivate(t, b);
}

/* ---- the first -------------------------------------------------------------------------------------- */

static void bin_look(struct fair_tree *t, struct fair_bin *b)
{
    if (b->cached_at == t->tick)
        return;
    b->best = lines_first(&b->children, t->q, &b->best_value, &b->best_turn);
    b->cached_at = t->tick;
}

static uint32_t first_child(struct fair_tree *t, uint32_t node)
{
    uint32_t best = FAIR_NONE, turn = 0;
    double value = 0;
    for (uint32_t i = t->nodes[node].first_bin; i != FAIR_NONE; i = t->bins[i].next_of_node) {
        struct fair_bin *b = &t->bins[i];
        if (!b->is_active || t->classes[b->class].is_closed)
            continue;
        bin_look(t, b);
        if (best == FAIR_NONE || b->best_value < value || (b->best_value <= value && b->best_turn < turn)) {
            best = b->best;
            value = b->best_value;
            turn = b->best_turn;
        }
    }
    return best;
}

uint32_t fair_tree_first(struct fair_tree *t, uint32_t *class)
{
    uint32_t node = 0, first = JOBSET_NONE;
    while (node != FAIR_NONE && !t->nodes[node].is_leaf)
        node = first_child(t, node);
    if (node == FAIR_NONE)
        return JOBSET_NONE;
    for (uint32_t i = t->nodes[node].first_bin; i != FAIR_NONE; i = t->bins[i].next_of_node) {
        const struct fair_bin *b = &t->bins[i];
        if (!b->is_active || t->classes[b->class].is_closed)
            continue;
        uint32_t job = jobset_node(&b->queue, b->queue.first)->job;
        if (first == JOBSET_NONE || job < first) {
            first = job;
            *class = b->class;
        }
    }
    return first;
}

/* ---- jobs that may be displaced --------------------------------------------------------------------------- */

void fair_tree_expose(struct fair_tree *t, struct sched *s, uint32_t job, int64_t since_ns)
{
    uint32_t leaf = fair_tree_leaf(t, s, job);
    if (leaf == FAIR_NONE || !jobset_insert(&t->nodes[leaf].running, since_ns, job, 0))
        return;
    for (uint32_t i = leaf; i != 0; i = t->nodes[i].parent)
        if (t->nodes[i].n_running++ == 0)
            lines_insert(&t->nodes[t->nodes[i].parent].rich, &t->pool, t->nodes[i].slope, t->nodes[i].at,
                         t->nodes[i].turn, i);
}

bool fair_tree_cover(struct fair_tree *t, struct sched *s, uint32_t job, int64_t since_ns)
{
    uint32_t leaf = fair_tree_leaf(t, s, job);
    if (leaf == FAIR_NONE || !jobset_erase(&t->nodes[leaf].running, since_ns, job))
        return false;
    for (uint32_t i = leaf; i != 0; i = t->nodes[i].parent)
        if (--t->nodes[i].n_running == 0)
            lines_erase(&t->nodes[t->nodes[i].parent].rich, t->nodes[i].slope, t->nodes[i].at, t->nodes[i].turn);
    return true;
}

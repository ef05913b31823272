/* fair_displace.c - whose running jobs give way to a job of somebody who has less.
 *
 *            root          the claimant is a job of `a1`. Siblings of its branch are asked from the top down:
 *          /  |  \         first c, then b (by value), below each the one with the greatest value, its latest
 *         a   b   c        job first; then, inside a, the siblings of a1
 *        / \
 *      a1   a2
 */
#include "policies/fair.h"

#include "policies/room.h"

#include <string.h>

enum { DEPTH_MAX = SHARES_DEPTH + 4 };

/* The node on the claimant's side and the one on the other, children of one node. */
struct exchange {
    uint32_t job; /* the claimant */
    uint32_t into, from;
    double into_now, into_then;
};

/* Could anything be due to the claimant's side? */
static bool may_receive(const struct fair *f, struct sched *s, const struct exchange *x)
{
    const struct fair_node *into = &f->tree.nodes[x->into];
    return f->rules.measure != FAIR_GUARANTEE ||
           into->held[FAIR_GPU] + sched_gpus(s, x->job) <= (uint64_t)into->guarantee;
}

/* May `victim`, below x->from, give way? */
static bool is_allowed(const struct fair *f, struct sched *s, const struct exchange *x, uint32_t victim)
{
    const struct fair_tree *t = &f->tree;
    if (f->rules.measure == FAIR_GUARANTEE) /* may_receive has looked at the one side, victim_below at the other */
        return true;
    return fair_tree_value(t, x->from) > x->into_now && fair_tree_value_with(t, s, x->from, victim, -1) >= x->into_then;
}

/* The job below `node` that gives way, JOBSET_NONE: none. No deeper than SHARES_DEPTH and the levels of fair_nodes.c. */
static uint32_t victim_below(struct fair *f, struct sched *s, const struct exchange *x, uint32_t node)
{
    struct fair_tree *t = &f->tree;
    struct fair_node *n = &t->nodes[node];
    if (f->rules.measure == FAIR_GUARANTEE && n->held[FAIR_GPU] <= (uint64_t)n->guarantee)
        return JOBSET_NONE; /* within its guarantee, whatever those beside it borrow */
    if (n->is_leaf) {
        for (uint32_t i = n->running.last; i != JOBSET_NONE; i = jobset_node(&n->running, i)->prev) {
            uint32_t job = jobset_node(&n->running, i)->job, demand = sched_demand(s, job);
            if (f->refused_at[demand] == f->n_asked) /* as is any job of this demand */
                continue;
            if (is_allowed(f, s, x, job))
                return job;
            f->refused_at[demand] = f->n_asked;
        }
        return JOBSET_NONE;
    }
    double value;
    lines_walk(&n->rich);
    for (uint32_t child; (child = lines_walk_next(&n->rich, t->q, &value)) != JOBSET_NONE;) {
        uint32_t victim = victim_below(f, s, x, child);
        if (victim != JOBSET_NONE)
            return victim;
    }
    return JOBSET_NONE;
}

static uint32_t find_victim(struct fair *f, struct sched *s, uint32_t job)
{
    struct fair_tree *t = &f->tree;
    uint32_t path[DEPTH_MAX], depth = 0;
    for (uint32_t i = fair_tree_leaf(t, s, job); i != 0 && depth < DEPTH_MAX; i = t->nodes[i].parent)
        path[depth++] = i;
    while (depth > 0) {
        struct exchange x = {.job = job, .into = path[--depth]};
        if (!may_receive(f, s, &x))
            continue;
        x.into_now = fair_tree_value(t, x.into);
        x.into_then = fair_tree_value_with(t, s, x.into, job, +1);
        double least = f->rules.measure == FAIR_GUARANTEE ? 0 : x.into_now,
               value; /* who has no more than this gives nothing */
        struct lines *rich = &t->nodes[t->nodes[x.into].parent].rich;
        lines_walk(rich);
        while ((x.from = lines_walk_next(rich, t->q, &value)) != JOBSET_NONE && value > least) {
            f->n_asked++;
            uint32_t victim = x.from != x.into ? victim_below(f, s, &x, x.from) : JOBSET_NONE;
            if (victim != JOBSET_NONE)
                return victim;
        }
    }
    return JOBSET_NONE;
}

static bool push_victim(struct fair *f, struct sched *s, uint32_t n, uint32_t job)
{
    if (n == f->victims_room) {
        uint32_t room = f->victims_room * 2 + 64;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (n > 0)
            memcpy(grown, f->victims, n * sizeof *grown);
        f->victims = grown;
        f->victims_room = room;
    }
    f->victims[n] = job;
    return true;
}

/* Who gave way and is still running, or runs again. */
static void stay(struct fair *f, struct sched *s, uint32_t job)
{
    int64_t since_ns = sched_since_ns(s, job);
    *sched_word(s, job) = (uint64_t)since_ns;
    fair_tree_take(&f->tree, s, job);
    fair_tree_expose(&f->tree, s, job, since_ns);
}

/* What is left of the victims goes back: first to their own GPUs, the last asked has the best claim; then, where nobody came in their stead, who
 * was started in this very round and has no place to go back to. */
static void settle_victims(struct fair *f, struct sched *s, uint32_t n, uint32_t n_taken, bool is_in)
{
    uint32_t n_left = 0;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t victim = f->victims[i];
        if (i >= n_taken || sched_restore(s, victim) == SCHED_OK)
            stay(f, s, victim);
        else
            f->victims[n - ++n_left] = victim; /* behind those that are still to come */
    }
    for (uint32_t i = n; i-- > n - n_left;) {
        uint32_t victim = f->victims[i];
        if (!is_in && sched_start(s, victim) == SCHED_OK) {
            stay(f, s, victim);
            continue;
        }
        f->displaced_at[victim] = f->tree.tick;
        fair_tree_enqueue(&f->tree, s, victim);
    }
}

bool fair_displace(struct fair *f, struct sched *s, uint32_t job)
{
    uint32_t n = 0, n_taken = 0;
    bool is_in = false;
    room_begin(f->room, s, sched_gpus(s, job));
    for (uint32_t victim; !is_in && (victim = find_victim(f, s, job)) != JOBSET_NONE;) {
        if (!push_victim(f, s, n, victim))
            break;
        n++;
        fair_leave(f, s, victim);
        if (n_taken == 0) { /* only asking so far */
            room_add(f->room, s, victim);
            if (!room_fits(f->room, s))
                continue;
        }
        for (; n_taken < n; n_taken++) {
            sched_because(s, "displaced by job %u", job);
            sched_preempt(s, f->victims[n_taken]);
        }
        is_in = fair_start(f, s, job) == SCHED_OK;
    }
    settle_victims(f, s, n, n_taken, is_in);
    return is_in;
}

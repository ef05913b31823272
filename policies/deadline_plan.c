/* deadline_plan.c - the plan as a tree over the jobs in order, and a heap of ends.
 *
 * Who gets GPUs goes from the left to the right: whoever fits into what those before it have left. An end leaves all to its left as they were,
 * so only *flaws* are looked for: one who waits but would fit, or one who is on and does not fit any more. The leftmost is put right, which can
 * make flaws to its right only, until there is none.
 *
 *     order          a     b     c     d     e        capacity 8
 *     GPUs           4     2     4     1     2
 *     on             x     x           x              b ends: c fits beside a, and then d does not fit any more
 *     GPUs before    0     4     6     6     7
 *
 * A node of the tree has the sum of GPUs that are on below it, and the least capacity with which somebody who waits below it would fit. Of
 * equal deadlines those who are on come first: each of such jobs has two places, one for when it is on, before all those for who waits.
 * Those who are on before all that wait stay on, and where nobody is preempted all who are on do: these are not in the tree, they leave
 * less capacity.
 */
#include "policies/deadline_plan.h"

#include "policies/instant.h"

static const int64_t NOBODY = INT64_MAX / 4;

enum { NONE = UINT32_MAX };

struct plan_node {
    int64_t on, need; /* GPUs; need: NOBODY waits */
};

struct plan {
    struct planned *jobs;
    struct plan_node *tree; /* leaves from `width` on */
    uint32_t *leaf_on, *leaf_off, *job_at;
    uint32_t *heap, *heap_at;                  /* jobs by end; a job's place in it */
    uint32_t width, n_leaves, n_on, n_waiting; /* waiting: with a deadline */
    int64_t capacity;
    int64_t now;
    bool can_preempt;
};

static uint32_t width_for(uint32_t n_leaves)
{
    uint32_t width = 1;
    while (width < n_leaves)
        width *= 2;
    return width;
}

size_t deadline_plan_bytes(uint32_t n)
{
    return 2 * (size_t)width_for(2 * n) * sizeof(struct plan_node) + 6 * (size_t)n * sizeof(uint32_t);
}

/* ---- the heap of ends ------------------------------------------------------------------------------ */

static void heap_put(struct plan *p, uint32_t at, uint32_t job)
{
    p->heap[at] = job;
    p->heap_at[job] = at;
}

static void heap_up(struct plan *p, uint32_t at, uint32_t job)
{
    while (at > 0 && p->jobs[p->heap[(at - 1) / 2]].end > p->jobs[job].end) {
        heap_put(p, at, p->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(p, at, job);
}

static void heap_down(struct plan *p, uint32_t at, uint32_t job)
{
    for (uint32_t child; (child = 2 * at + 1) < p->n_on; at = child) {
        if (child + 1 < p->n_on && p->jobs[p->heap[child + 1]].end < p->jobs[p->heap[child]].end)
            child++;
        if (p->jobs[p->heap[child]].end >= p->jobs[job].end)
            break;
        heap_put(p, at, p->heap[child]);
    }
    heap_put(p, at, job);
}

static void heap_push(struct plan *p, uint32_t job)
{
    heap_up(p, p->n_on++, job);
}

static void heap_remove(struct plan *p, uint32_t job)
{
    uint32_t at = p->heap_at[job], last = p->heap[--p->n_on];
    if (last == job)
        return;
    if (p->jobs[last].end < p->jobs[job].end)
        heap_up(p, at, last);
    else
        heap_down(p, at, last);
}

/* ---- the tree -------------------------------------------------------------------------------------- */

static struct plan_node combine(struct plan_node left, struct plan_node right)
{
    int64_t need = left.on + right.need;
    return (struct plan_node){left.on + right.on, left.need < need ? left.need : need};
}

static void leaf_set(struct plan *p, uint32_t leaf, int64_t on, int64_t need)
{
    uint32_t i = p->width + leaf;
    p->tree[i] = (struct plan_node){on, need};
    for (i /= 2; i > 0; i /= 2)
        p->tree[i] = combine(p->tree[2 * i], p->tree[2 * i + 1]);
}

static bool has_flaw(const struct plan_node *node, int64_t capacity)
{
    return node->on > capacity || node->need <= capacity;
}

/* The leftmost job that is on and does not fit or waits and does, or NONE. */
static uint32_t first_flaw(const struct plan *p)
{
    int64_t capacity =
        p->capacity > 0 ? p->capacity : 0; /* for what is looked at; below 0: more is held than a quota allows */
    uint32_t i = 1;
    if (!has_flaw(&p->tree[1], capacity))
        return NONE;
    while (i < p->width) {
        i *= 2;
        if (!has_flaw(&p->tree[i], capacity))
            capacity -= p->tree[i++].on;
    }
    return p->job_at[i - p->width];
}

/* ---- going on and off ------------------------------------------------------------------------------- */

/* Who has no place for being on stays so to its end and takes its GPUs from the capacity. */
static void set_on(struct plan *p, uint32_t job)
{
    uint32_t on = p->leaf_on[job], off = p->leaf_off[job];
    if (on != off)
        leaf_set(p, off, 0, NOBODY);
    if (on != NONE)
        leaf_set(p, on, p->jobs[job].gpus, NOBODY);
    else
        p->capacity -= p->jobs[job].gpus;
}

/* False: it starts too late. */
static bool turn_on(struct plan *p, uint32_t job)
{
    struct planned *j = &p->jobs[job];
    j->end = instant_after(p->now, j->left);
    j->is_on = true;
    heap_push(p, job);
    set_on(p, job);
    p->n_waiting -= j->deadline != SCHED_NEVER;
    return j->deadline == SCHED_NEVER || j->end <= j->deadline;
}

static void turn_off(struct plan *p, uint32_t job)
{
    struct planned *j = &p->jobs[job];
    heap_remove(p, job);
    j->left = j->end - p->now;
    j->is_on = false;
    if (p->leaf_on[job] != p->leaf_off[job])
        leaf_set(p, p->leaf_on[job], 0, NOBODY);
    leaf_set(p, p->leaf_off[job], 0, j->gpus);
    p->n_waiting += j->deadline != SCHED_NEVER;
}

static void finish(struct plan *p, uint32_t job)
{
    heap_remove(p, job);
    if (p->leaf_on[job] != NONE)
        leaf_set(p, p->leaf_on[job], 0, NOBODY);
    else
        p->capacity += p->jobs[job].gpus;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

/* What is due by some deadline is more than all GPUs together can do until then. */
static bool is_hopeless(const struct planned *jobs, uint32_t n, uint32_t gpus, int64_t now)
{
    __int128 work = 0;
    for (uint32_t i = 0; i < n && jobs[i].deadline != SCHED_NEVER; i++) {
        work += (__int128)jobs[i].left * jobs[i].gpus;
        if (jobs[i].gpus > gpus || work > ((__int128)jobs[i].deadline - now) * gpus)
            return true;
    }
    return false;
}

/* Where the deadlines begin that somebody waits for; 0 where those who are on before are too many. */
static uint32_t first_open(const struct plan *p, uint32_t n)
{
    int64_t on = 0;
    uint32_t i = 0;
    for (; i < n && p->jobs[i].is_on; i++)
        on += p->jobs[i].gpus;
    if (i == n || on > p->capacity)
        return 0;
    while (i > 0 && p->jobs[i - 1].deadline == p->jobs[i].deadline)
        i--;
    return i;
}

static void add_leaf(struct plan *p, uint32_t *leaf, uint32_t job)
{
    p->job_at[p->n_leaves] = job;
    *leaf = p->n_leaves++;
}

static void place_leaves(struct plan *p, uint32_t n)
{
    uint32_t open = p->can_preempt ? first_open(p, n) : 0;
    for (uint32_t i = 0; i < n; i++)
        p->leaf_on[i] = p->leaf_off[i] = NONE;
    for (uint32_t from = open, to; from < n; from = to) {
        to = from + 1;
        while (p->can_preempt && to < n && p->jobs[to].deadline == p->jobs[from].deadline)
            to++;
        for (uint32_t i = from; i < to && to - from > 1; i++)
            add_leaf(p, &p->leaf_on[i], i);
        for (uint32_t i = from; i < to; i++)
            if (p->can_preempt || !p->jobs[i].is_on)
                add_leaf(p, &p->leaf_off[i], i);
        if (p->can_preempt && to - from == 1)
            p->leaf_on[from] = p->leaf_off[from];
    }
}

static void plan_build(struct plan *p, uint32_t n)
{
    place_leaves(p, n);
    p->width = width_for(p->n_leaves);
    for (uint32_t i = 0; i < p->width; i++)
        p->tree[p->width + i] = (struct plan_node){0, NOBODY};
    for (uint32_t i = 0; i < n; i++) {
        struct planned *j = &p->jobs[i];
        if (!j->is_on) {
            p->tree[p->width + p->leaf_off[i]].need = j->gpus;
            p->n_waiting += j->deadline != SCHED_NEVER;
            continue;
        }
        j->end = instant_after(p->now, j->left);
        heap_put(p, p->n_on++, i);
        if (p->leaf_on[i] != NONE)
            p->tree[p->width + p->leaf_on[i]].on = j->gpus;
        else
            p->capacity -= j->gpus;
    }
    for (uint32_t i = p->width - 1; i > 0; i--)
        p->tree[i] = combine(p->tree[2 * i], p->tree[2 * i + 1]);
    for (uint32_t i = p->n_on / 2; i-- > 0;)
        heap_down(p, i, p->heap[i]);
}

static bool plan_run(struct plan *p)
{
    for (;;) {
        for (uint32_t job; (job = first_flaw(p)) != NONE;)
            if (p->jobs[job].is_on)
                turn_off(p, job);
            else if (!turn_on(p, job))
                return false;
        if (p->n_waiting == 0)
            return true; /* those who are on run on to their ends, which were looked at */
        if (p->n_on == 0)
            return false; /* what remains does not fit at all */
        p->now = p->jobs[p->heap[0]].end;
        while (p->n_on > 0 && p->jobs[p->heap[0]].end == p->now)
            finish(p, p->heap[0]);
    }
}

bool deadline_plan_is_met(struct planned *jobs, uint32_t n, uint32_t gpus, int64_t now, bool can_preempt, void *memory)
{
    uint64_t wanted = 0, held = 0;
    for (uint32_t i = 0; i < n; i++) {
        wanted += jobs[i].gpus;
        held += jobs[i].is_on ? jobs[i].gpus : 0;
        if (jobs[i].deadline != SCHED_NEVER && instant_after(now, jobs[i].left) > jobs[i].deadline)
            return false;
    }
    if (wanted <= gpus)
        return true;
    bool is_over = !can_preempt && held > gpus; /* a quota shrank, and who holds more than it allows goes on */
    if (!is_over && is_hopeless(jobs, n, gpus, now))
        return false;
    struct plan p = {.jobs = jobs, .tree = memory, .capacity = gpus, .now = now, .can_preempt = can_preempt};
    p.leaf_on = (uint32_t *)(p.tree + 2 * (size_t)width_for(2 * n));
    p.leaf_off = p.leaf_on + n;
    p.job_at = p.leaf_off + n;
    p.heap = p.job_at + 2 * (size_t)n;
    p.heap_at = p.heap + n;
    plan_build(&p, n);
    return plan_run(&p);
}

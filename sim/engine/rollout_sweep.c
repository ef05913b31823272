/* rollout_sweep.c - one plan from now to its last start.
 *
 *     order      3  0  5  1  4  2            positions 0..5, jobs by index in the window
 *     classes    A: 3, 5, 4   B: 0, 1, 2     jobs that ask the same start in their order among themselves
 *     heads      A at 0, B at 1              the first of each class that waits, by position: a scan tries these alone, and once
 *                                            a head finds no place, none of its class can at this instant
 *
 * Checkpoints. Two plans over the same jobs go the same way until one of them starts a job from a position where they differ: before that,
 * the same heads of the same demands are tried with the same outcome, and a try that fails changes nothing. So the state before a start
 * serves every plan that agrees with the old one in all positions started until then (`reach`). Plans with expected jobs go without.
 */
#include "engine/rollout_state.h"

#include <string.h>

enum { KEPT_UNNAMED = 1, KEPT_BY_PLAN }; /* victims: not in the plan; by it */

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

/* ---- the heap of ends ----------------------------------------------------------------------------- */

static void heap_push(struct rollout_lane *lane, int64_t end_ns, uint32_t index)
{
    struct rollout_run_end *h = lane->heap;
    uint32_t i = lane->at.n_heap++;
    for (; i > 0 && h[(i - 1) / 2].end_ns > end_ns; i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = (struct rollout_run_end){end_ns, index};
}

static uint32_t heap_pop(struct rollout_lane *lane)
{
    struct rollout_run_end *h = lane->heap;
    uint32_t index = h[0].index, n = --lane->at.n_heap, i = 0;
    struct rollout_run_end last = h[n];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && h[child + 1].end_ns < h[child].end_ns;
        if (h[child].end_ns >= last.end_ns)
            break;
        h[i] = h[child];
    }
    h[i] = last;
    return index;
}

/* ---- GPUs ------------------------------------------------------------------------------------------- */

static bool take(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    struct sweep *at = &lane->at;
    const struct rollout_class *k = &r->classes[r->class_of[index]];
    if (k->gpus > at->free_gpus || (uint64_t)at->used_gpus + k->gpus > r->quota_gpus)
        return false;
    if (r->kind == ROLLOUT_LEVELS) {
        struct place *out = lane->places + at->n_places;
        uint32_t n = levels_take(&r->levels, lane->state, k->pools, k->is_single, k->gpus, out);
        if (n == 0)
            return false;
        lane->where[index] = out;
        lane->where_n[index] = n;
        at->n_places += n;
    } else if (r->kind == ROLLOUT_SHADOW && !shadow_take(lane, index)) {
        return false;
    }
    at->free_gpus -= k->gpus;
    at->used_gpus += k->gpus;
    return true;
}

static void give(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    if (r->kind == ROLLOUT_LEVELS)
        levels_give(&r->levels, lane->state, lane->where[index], lane->where_n[index]);
    else if (r->kind == ROLLOUT_SHADOW)
        shadow_give(lane, index);
    lane->at.free_gpus += r->gpus[index];
    lane->at.used_gpus -= r->gpus[index];
}

/* The GPUs on which a victim runs. */
static void give_victim(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    if (r->kind == ROLLOUT_LEVELS)
        levels_give(&r->levels, lane->state, r->places + r->victim_at[index], r->victim_n[index]);
    else if (r->kind == ROLLOUT_SHADOW)
        shadow_give_victim(lane, index);
    lane->at.free_gpus += r->gpus[index];
    lane->at.used_gpus -= r->gpus[index];
}

static bool keep_victim(struct rollout_lane *lane, uint32_t index)
{
    const struct rollout *r = lane->r;
    struct sweep *at = &lane->at;
    uint32_t most = r->quota_gpus > r->used_gpus ? r->quota_gpus : r->used_gpus; /* a quota that shrank drains */
    if (r->gpus[index] > at->free_gpus || (uint64_t)at->used_gpus + r->gpus[index] > most)
        return false;
    if (r->kind == ROLLOUT_LEVELS &&
        !levels_take_at(&r->levels, lane->state, r->places + r->victim_at[index], r->victim_n[index]))
        return false;
    if (r->kind == ROLLOUT_SHADOW && !shadow_keep(lane, index))
        return false;
    at->free_gpus -= r->gpus[index];
    at->used_gpus += r->gpus[index];
    return true;
}

static void give_ending(struct rollout_lane *lane, uint32_t ending)
{
    const struct rollout *r = lane->r;
    const struct rollout_ending *e = &r->endings[ending];
    if (r->kind == ROLLOUT_LEVELS)
        levels_give(&r->levels, lane->state, r->places + e->places_at, e->n_places);
    else if (r->kind == ROLLOUT_SHADOW)
        shadow_give_ending(lane, ending);
    lane->at.free_gpus += e->gpus;
    lane->at.used_gpus -= e->is_ours ? e->gpus : 0;
}

/* ---- the beginning of a plan ------------------------------------------------------------------------- */

static void forget(struct rollout_lane *lane, uint32_t index)
{
    lane->start_ns[index] = lane->end_ns[index] = SCHED_NEVER;
}

/* The state as it was copied, nothing of the plan started. */
static void begin(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    if (r->kind == ROLLOUT_LEVELS)
        memcpy(lane->state, r->base, r->levels.n_words * sizeof *r->base);
    else if (r->kind == ROLLOUT_SHADOW)
        shadow_begin(lane);
    struct sweep *at = &lane->at;
    *at = (struct sweep){
        .now_ns = r->now_ns, .free_gpus = r->free_gpus, .used_gpus = r->used_gpus, .last_end_ns = r->now_ns};
    bool is_all = plan->n == r->n && plan->n_expected == 0;
    if (is_all)
        at->rest = r->all;
    for (uint32_t i = 0; i < plan->n; i++) {
        if (!is_all)
            rest_add(&at->rest, r, plan->order[i]);
        if (plan->order[i] >= r->n)
            lane->position[plan->order[i] - r->n] = (uint16_t)i;
        forget(lane, plan->order[i]);
    }
    lane->n_deadlines = at->rest.n_deadlines;
    memset(lane->taken, 0, r->n_classes * sizeof *lane->taken);
}

/* The class lists of the plan, without victims that keep their GPUs and without what has not arrived. */
static void fill_classes(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    for (uint32_t k = 0; k < r->n_classes; k++)
        lane->class_end[k] = r->classes[k].first;
    for (uint32_t i = 0; i < plan->n; i++) {
        uint32_t index = plan->order[i];
        if (index < r->n && (r->n == r->n_queued || !lane->is_kept[index]))
            lane->class_list[lane->class_end[r->class_of[index]]++] = (uint16_t)i;
    }
}

static void head_insert(struct rollout_lane *lane, uint32_t n, struct head h)
{
    uint32_t i = n;
    for (; i > 0 && lane->heads[i - 1].position > h.position; i--)
        lane->heads[i] = lane->heads[i - 1];
    lane->heads[i] = h;
}

/* Heads from what each class has started so far. */
static void fill_heads(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    lane->n_heads = 0;
    for (uint32_t k = 0; k < r->n_classes; k++) {
        uint32_t i = r->classes[k].first + lane->taken[k];
        if (i < lane->class_end[k])
            head_insert(lane, lane->n_heads++, (struct head){lane->class_list[i], k});
    }
}

/* Jobs that have come by now join the lists of their classes. */
static void arrive(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    bool is_new = false;
    for (; lane->at.arrived < plan->n_expected; lane->at.arrived++) {
        uint32_t i = plan->first_expected + lane->at.arrived;
        if (r->arrival_ns[i] > lane->at.now_ns)
            break;
        uint32_t k = r->class_of[r->n + i], from = r->classes[k].first + lane->taken[k], to = lane->class_end[k]++;
        for (; to > from && lane->class_list[to - 1] > lane->position[i]; to--)
            lane->class_list[to] = lane->class_list[to - 1];
        lane->class_list[to] = lane->position[i];
        is_new = true;
    }
    if (is_new)
        fill_heads(lane);
}

/* ---- checkpoints -------------------------------------------------------------------------------------- */

static bool has_marks(const struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    return r->n == r->n_queued && (r->kind != ROLLOUT_SHADOW || shadow_has_marks(lane));
}

static void mark_save(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    if (lane->n_marks == ROLLOUT_MARKS)
        return;
    struct mark *m = &lane->marks[lane->n_marks++];
    m->at = lane->at;
    memcpy(m->heap, lane->heap, lane->at.n_heap * sizeof *m->heap);
    memcpy(m->taken, lane->taken, r->n_classes * sizeof *m->taken);
    if (r->kind == ROLLOUT_LEVELS)
        memcpy(m->state, lane->state, r->levels.n_words * sizeof *m->state);
    else if (r->kind == ROLLOUT_SHADOW)
        shadow_save_rng(lane, m->rng);
    lane->since_mark = 0;
}

static void mark_load(struct rollout_lane *lane, const struct mark *m)
{
    const struct rollout *r = lane->r;
    uint32_t n_log = m->at.n_log;
    if (r->kind == ROLLOUT_LEVELS) {
        memcpy(lane->state, m->state, r->levels.n_words * sizeof *m->state);
    } else if (r->kind == ROLLOUT_SHADOW) {
        shadow_undo(lane, n_log);
        shadow_load_rng(lane, m->rng);
    }
    lane->at = m->at;
    memcpy(lane->heap, m->heap, m->at.n_heap * sizeof *m->heap);
    memcpy(lane->taken, m->taken, r->n_classes * sizeof *m->taken);
}

/* Go on where the last plan parts from this one, if a checkpoint lies before. */
static bool resume(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    bool is_alike = lane->version == r->version && lane->last_is_strict == plan->is_strict &&
                    lane->last_held == plan->n_held && lane->n_last == plan->n &&
                    plan->n == r->n; /* over the same jobs: all of them */
    uint32_t common = 0;
    while (is_alike && common < plan->n && lane->last[common] == plan->order[common])
        common++;
    while (lane->n_marks > 0 && (!is_alike || lane->marks[lane->n_marks - 1].at.reach > common))
        lane->n_marks--;
    if (lane->n_marks == 0)
        return false;
    mark_load(lane, &lane->marks[lane->n_marks - 1]);
    return true;
}

/* What the last plan said of jobs that have not started at this checkpoint. */
static void forget_rest(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    for (uint32_t i = lane->at.next; plan->is_strict && i < plan->n; i++)
        forget(lane, plan->order[i]);
    for (uint32_t k = 0; !plan->is_strict && k < r->n_classes; k++)
        for (uint32_t i = r->classes[k].first + lane->taken[k]; i < lane->class_end[k]; i++)
            forget(lane, plan->order[lane->class_list[i]]);
}

/* ---- starts --------------------------------------------------------------------------------------------- */

/* The job runs from now to `end_ns`: what that adds to the terms. */
static void account(struct rollout_lane *lane, uint32_t index, int64_t end_ns)
{
    const struct rollout *r = lane->r;
    struct sweep *at = &lane->at;
    lane->start_ns[index] = at->now_ns;
    lane->end_ns[index] = end_ns;
    int64_t counted = end_ns < r->horizon_ns ? end_ns : r->horizon_ns;
    at->jct_ns += (__int128)(counted - r->now_ns) + r->waited_ns[index];
    at->weighted_jct_s += r->weight[index] * (seconds(counted - r->now_ns) + r->waited_s[index]);
    at->busy_s += seconds(counted - at->now_ns) * r->gpus[index];
    at->last_end_ns = counted > at->last_end_ns ? counted : at->last_end_ns;
    at->n_missed += end_ns > r->deadline_ns[index];
    at->n_later += at->now_ns > r->now_ns && index < r->n;
    at->n_started++;
    rest_remove(&at->rest, r, index);
    heap_push(lane, end_ns, index);
}

static int64_t end_after(const struct rollout_lane *lane, int64_t length_ns)
{
    return time_after(lane->at.now_ns, length_ns);
}

static bool is_hopeless(const struct rollout_lane *lane, const struct rollout_limit *limit, uint32_t n)
{
    return limit != NULL && lane->r->horizon_ns == SCHED_NEVER &&
           lane_least_score(lane, limit->weights, n) > limit->score * (1 + 1e-9);
}

static void start(struct rollout_lane *lane, uint32_t index, uint32_t position)
{
    account(lane, index, end_after(lane, lane->r->run_ns[index]));
    lane->at.reach = position + 1 > lane->at.reach ? position + 1 : lane->at.reach;
    lane->n_placed++;
    lane->since_mark++;
}

static void maybe_mark(struct rollout_lane *lane)
{
    if (lane->since_mark >= lane->stride)
        mark_save(lane);
}

/* A preempted job may start again from a nanosecond later on. */
static bool must_wait(const struct rollout_lane *lane, const struct rollout_class *k)
{
    return k->is_victim && lane->at.now_ns == lane->r->now_ns;
}

/* The first position that is held back at this moment. */
static uint32_t first_held(const struct rollout_lane *lane, const struct rollout_plan *plan)
{
    return lane->at.now_ns < lane->r->hold_ns ? plan->n - plan->n_held : plan->n;
}

/* Start what can be started now. False: the limit is passed. */
static bool scan_strict(struct rollout_lane *lane, const struct rollout_plan *plan, const struct rollout_limit *limit)
{
    const struct rollout *r = lane->r;
    uint32_t held = first_held(lane, plan);
    for (; lane->at.next < held; lane->at.next++) {
        uint32_t index = plan->order[lane->at.next];
        if (r->n > r->n_queued) {
            if (lane->is_kept[index])
                continue;
            if (must_wait(lane, &r->classes[r->class_of[index]]))
                return true;
        }
        maybe_mark(lane);
        if (!take(lane, index))
            return true;
        start(lane, index, lane->at.next);
        if (is_hopeless(lane, limit, plan->n))
            return false;
    }
    return true;
}

/* The same over the heads; a strict plan, too, is gone through so when jobs arrive in its midst. */
static bool scan_heads(struct rollout_lane *lane, const struct rollout_plan *plan, const struct rollout_limit *limit)
{
    const struct rollout *r = lane->r;
    uint32_t held = first_held(lane, plan);
    for (uint32_t i = 0; i < lane->n_heads && lane->at.free_gpus > 0 && lane->heads[i].position < held;) {
        struct head h = lane->heads[i];
        const struct rollout_class *k = &r->classes[h.class];
        bool is_started = k->gpus <= lane->at.free_gpus && !must_wait(lane, k);
        if (is_started) {
            maybe_mark(lane);
            is_started = take(lane, plan->order[h.position]);
        }
        if (!is_started) {
            if (plan->is_strict)
                return true;
            i++;
            continue;
        }
        start(lane, plan->order[h.position], h.position);
        if (is_hopeless(lane, limit, plan->n))
            return false;
        uint32_t next = k->first + ++lane->taken[h.class], to = i;
        uint32_t position = next < lane->class_end[h.class] ? lane->class_list[next] : UINT32_MAX;
        for (; to + 1 < lane->n_heads && lane->heads[to + 1].position < position; to++)
            lane->heads[to] = lane->heads[to + 1];
        lane->heads[to] = (struct head){position, h.class};
        lane->n_heads -= position == UINT32_MAX; /* it came to stand last */
    }
    return true;
}

static bool is_victim(const struct rollout *r, uint32_t index)
{
    return index >= r->n_queued && index < r->n;
}

/* What becomes of the victims: go down the order as if all of them had just given up their GPUs. When this returns, those that do not
 * keep theirs have given them up. Victims that the plan does not name run on. */
static void settle_victims(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    uint32_t held = first_held(lane, plan);
    memset(lane->is_kept, KEPT_UNNAMED, r->n * sizeof *lane->is_kept);
    memset(lane->is_closed, 0, r->n_classes * sizeof *lane->is_closed);
    for (uint32_t i = 0; i < plan->n; i++) {
        lane->is_kept[plan->order[i]] = 0;
        if (is_victim(r, plan->order[i]))
            give_victim(lane, plan->order[i]);
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        uint32_t index = plan->order[i], k = r->class_of[index];
        bool is_placed;
        if (index >= r->n || (index < r->n_queued && i >= held))
            continue; /* not here yet, or held back */
        if (index >= r->n_queued) {
            is_placed = keep_victim(lane, index);
            lane->is_kept[index] = is_placed ? KEPT_BY_PLAN : 0;
        } else {
            is_placed = !lane->is_closed[k] && take(lane, index);
            lane->is_closed[k] = !is_placed;
        }
        if (!is_placed && plan->is_strict)
            break;
    }
    begin(lane, plan);
    for (uint32_t i = 0; i < plan->n; i++) {
        uint32_t index = plan->order[i];
        if (is_victim(r, index) && lane->is_kept[index])
            account(lane, index, r->keep_ns[index]);
        else if (is_victim(r, index))
            give_victim(lane, index);
    }
    for (uint32_t index = r->n_queued; index < r->n; index++)
        if (lane->is_kept[index] == KEPT_UNNAMED) {
            lane->at.busy_s += seconds(r->keep_ns[index] - r->now_ns) * r->gpus[index];
            heap_push(lane, r->keep_ns[index], index);
        }
}

/* ---- a plan ------------------------------------------------------------------------------------------------ */

/* The next instant at which something ends, arrives, or may start again; SCHED_NEVER. */
static int64_t next_instant(const struct rollout_lane *lane, const struct rollout_plan *plan)
{
    const struct rollout *r = lane->r;
    int64_t t = lane->at.n_heap > 0 ? lane->heap[0].end_ns : SCHED_NEVER;
    if (lane->at.next_ending < r->n_endings && r->endings[lane->at.next_ending].end_ns < t)
        t = r->endings[lane->at.next_ending].end_ns;
    if (r->n > r->n_queued && lane->at.now_ns == r->now_ns && r->now_ns < TIME_LAST && t > r->now_ns + 1)
        t = r->now_ns + 1;
    if (lane->at.arrived < plan->n_expected && r->arrival_ns[plan->first_expected + lane->at.arrived] < t)
        t = r->arrival_ns[plan->first_expected + lane->at.arrived];
    if (plan->n_held > 0 && lane->at.now_ns < r->hold_ns && r->hold_ns < t)
        t = r->hold_ns;
    return t;
}

static void end_all(struct rollout_lane *lane)
{
    const struct rollout *r = lane->r;
    int64_t now = lane->at.now_ns;
    while (lane->at.n_heap > 0 && lane->heap[0].end_ns <= now) {
        uint32_t index = heap_pop(lane);
        if (is_victim(r, index) && lane->is_kept[index])
            give_victim(lane, index);
        else
            give(lane, index);
    }
    while (lane->at.next_ending < r->n_endings && r->endings[lane->at.next_ending].end_ns <= now)
        give_ending(lane, lane->at.next_ending++);
}

static void remember(struct rollout_lane *lane, const struct rollout_plan *plan)
{
    memcpy(lane->last, plan->order, plan->n * sizeof *lane->last);
    lane->n_last = plan->n;
    lane->last_held = plan->n_held;
    lane->last_is_strict = plan->is_strict;
    lane->version = lane->r->version;
}

uint32_t rollout_run(struct rollout_lane *lane, const struct rollout_plan *plan, const struct rollout_limit *limit,
                     struct rollout_terms *out)
{
    const struct rollout *r = lane->r;
    bool by_position = plan->is_strict && plan->n_expected == 0;
    bool can_mark = has_marks(lane) && plan->n_expected == 0, is_resumed = can_mark && resume(lane, plan);
    if (!is_resumed) {
        lane->n_marks = 0;
        begin(lane, plan);
        if (r->n > r->n_queued)
            settle_victims(lane, plan);
    }
    lane->since_mark = 0;
    lane->stride = can_mark ? plan->n / ROLLOUT_MARKS + 1 : UINT32_MAX;
    remember(lane, plan);
    if (!by_position) {
        fill_classes(lane, plan);
        fill_heads(lane);
        arrive(lane, plan);
    }
    if (is_resumed)
        forget_rest(lane, plan);
    for (;;) {
        if (!(by_position ? scan_strict(lane, plan, limit) : scan_heads(lane, plan, limit)))
            return lane->at.n_started;
        if (lane->at.n_started == plan->n || lane->is_short)
            break;
        int64_t t = next_instant(lane, plan);
        if (t >= r->horizon_ns || t == SCHED_NEVER)
            break;
        lane->at.now_ns = t;
        end_all(lane);
        arrive(lane, plan);
    }
    lane_conclude(lane, plan, out);
    return ROLLOUT_WHOLE;
}

const int64_t *rollout_starts(const struct rollout_lane *lane)
{
    return lane->start_ns;
}

const int64_t *rollout_ends(const struct rollout_lane *lane)
{
    return lane->end_ns;
}

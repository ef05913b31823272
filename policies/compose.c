/* compose.c - a round of a composed policy: heads in order of value, each started, let to displace, or passed over. */
#include "policies/compose.h"

#include "policies/admission.h"
#include "policies/instant.h"
#include "policies/prospect.h"

#include <string.h>

enum { NO_SLOT = UINT32_MAX };

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

static int check_parts(const struct compose *c, struct sched *s, const char *preempt, struct error *err)
{
    int64_t probe;
    if (c->fill == FILL_EASY && c->preempt != PREEMPT_NEVER)
        return error_set(
            err, BRAID_BAD_INPUT,
            "fill: easy counts on running jobs to run on and cannot go with preempt: %s; use preempt: never, or "
            "fill: skip",
            preempt);
    if (c->order->takes_turns && c->preempt == PREEMPT_WHEN_BETTER)
        return error_set(err, BRAID_BAD_INPUT,
                         "order: %s takes turns and cannot go with preempt: when_better; use preempt: quantum",
                         c->order->name);
    bool needs_estimate = (c->order->knows & KNOWS_ESTIMATE) != 0 || c->fill == FILL_EASY;
    if (needs_estimate && sched_n_jobs(s) > 0 && sched_estimate_ns(s, 0, &probe) == SCHED_E_UNDECLARED)
        return error_set(
            err, BRAID_BAD_INPUT,
            "%s needs estimates of run time, which this policy does not declare to know; name the parts alone: "
            "policy: {order: %s, ...}",
            c->fill == FILL_EASY ? "fill: easy" : "this order", c->order->name);
    if ((c->order->knows & KNOWS_DEADLINE) != 0 && sched_n_jobs(s) > 0 &&
        sched_deadline_ns(s, 0, &probe) == SCHED_E_UNDECLARED)
        return error_set(err, BRAID_BAD_INPUT,
                         "this order looks at deadlines, which this policy does not declare to know; name the parts "
                         "alone: policy: {order: %s, ...}",
                         c->order->name);
    return BRAID_OK;
}

static int admission_init(struct compose *c, struct sched *s, const char *admission, struct error *err)
{
    int64_t probe;
    if (strcmp(admission, "feasible") != 0)
        return BRAID_OK;
    if (sched_n_jobs(s) > 0 && (sched_estimate_ns(s, 0, &probe) == SCHED_E_UNDECLARED ||
                                sched_deadline_ns(s, 0, &probe) == SCHED_E_UNDECLARED))
        return error_set(err, BRAID_BAD_INPUT,
                         "admission: feasible needs deadlines and estimates of run time, which this policy does not "
                         "declare to know; use edf or least_laxity, or name the parts alone: policy: {order: %s, "
                         "admission: feasible}",
                         c->order->name);
    c->admission = admission_create(s, c->preempt != PREEMPT_NEVER);
    return c->admission != NULL ? BRAID_OK : out_of_memory(err);
}

int compose_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct compose *c = self;
    const char *fill = v[COMPOSE_FILL].s, *preempt = v[COMPOSE_PREEMPT].s;
    c->order = order_find(v[COMPOSE_ORDER].s);
    c->params = (struct order_params){.ageing_ns = v[COMPOSE_AGEING].i,
                                      .doubles = strcmp(v[COMPOSE_OVERRUN].s, "double") == 0,
                                      .by_gpu_time = strcmp(v[COMPOSE_SERVICE].s, "gpu_time") == 0,
                                      .window_ns = v[COMPOSE_WINDOW].i};
    c->fill = strcmp(fill, "easy") == 0 ? FILL_EASY : strcmp(fill, "skip") == 0 ? FILL_SKIP : FILL_STRICT;
    c->preempt = strcmp(preempt, "never") == 0     ? PREEMPT_NEVER
                 : strcmp(preempt, "quantum") == 0 ? PREEMPT_QUANTUM
                                                   : PREEMPT_WHEN_BETTER;
    if (check_parts(c, s, preempt, err) != BRAID_OK)
        return BRAID_BAD_INPUT;
    int code = compose_setup(c, s, c->order, c->fill, c->preempt, v[COMPOSE_QUANTUM].i, err);
    return code == BRAID_OK ? admission_init(c, s, v[COMPOSE_ADMISSION].s, err) : code;
}

int compose_setup(struct compose *c, struct sched *s, const struct order_ops *order, enum fill fill,
                  enum preempt preempt, int64_t quantum_ns, struct error *err)
{
    c->order = order;
    c->fill = fill;
    c->preempt = preempt;
    c->quantum_ns = preempt == PREEMPT_QUANTUM ? quantum_ns : 0;
    c->free_slot = NO_SLOT;
    if (order == &order_random) {
        c->params.salt = sched_random(s) << 32;
        c->params.salt |= sched_random(s);
    }
    if (order->keeps_turns) {
        c->params.turns = sched_alloc(s, sched_n_jobs(s), sizeof *c->params.turns);
        if (c->params.turns == NULL)
            return out_of_memory(err);
    }
    jobset_pool_init(&c->pool, s);
    jobset_init(&c->leased, &c->pool);
    jobset_init(&c->by_end, &c->pool);
    jobset_init(&c->due, &c->pool);
    c->class_of = sched_alloc(s, sched_n_demands(s), sizeof *c->class_of);
    if (c->preempt != PREEMPT_NEVER) {
        c->walks = sched_alloc(s, sched_n_demands(s), sizeof *c->walks);
        if (c->walks == NULL || !victims_init(&c->victims, s, c->preempt == PREEMPT_WHEN_BETTER))
            return out_of_memory(err);
    }
    if (c->fill == FILL_EASY) {
        c->prospect = prospect_create(s);
        if (c->prospect == NULL)
            return out_of_memory(err);
    }
    return c->class_of != NULL ? BRAID_OK : out_of_memory(err);
}

static struct compose_class *class_of(struct compose *c, struct sched *s, uint32_t job)
{
    uint32_t demand = sched_demand(s, job);
    if (c->class_of[demand] == 0) {
        if (c->n_classes == c->classes_room) {
            uint32_t room = c->classes_room * 2 + 16;
            struct compose_class *grown = sched_alloc(s, room, sizeof *grown);
            if (grown == NULL)
                return NULL; /* the arena remembers: the run ends with "out of memory" */
            if (c->n_classes > 0)
                memcpy(grown, c->classes, c->n_classes * sizeof *grown);
            c->classes = grown;
            c->classes_room = room;
        }
        struct compose_class *k = &c->classes[c->n_classes];
        *k = (struct compose_class){.gpus = sched_gpus(s, job)};
        if (c->order->slope != NULL) {
            k->queued_slope = c->order->slope(&c->params, false);
            k->running_slope = c->order->slope(&c->params, true);
        }
        k->weight = c->order->is_by_gpus != NULL && c->order->is_by_gpus(&c->params) ? k->gpus : 1;
        jobset_init(&k->queued, &c->pool);
        jobset_init(&k->running, &c->pool);
        c->class_of[demand] = ++c->n_classes;
    }
    return &c->classes[c->class_of[demand] - 1];
}

/* ---- slots: what is kept of a job where values jump ------------------------------------------------- */

static bool slot_take(struct compose *c, struct sched *s, uint32_t job)
{
    uint32_t i = c->free_slot;
    if (i != NO_SLOT) {
        c->free_slot = c->slots[i].next;
    } else {
        if (c->n_slots == c->slots_room) {
            uint32_t room = c->slots_room * 2 + 64;
            struct compose_slot *grown = sched_alloc(s, room, sizeof *grown);
            if (grown == NULL)
                return false;
            if (c->n_slots > 0)
                memcpy(grown, c->slots, c->n_slots * sizeof *grown);
            c->slots = grown;
            c->slots_room = room;
        }
        i = c->n_slots++;
    }
    c->slots[i] = (struct compose_slot){.due_ns = SCHED_NEVER, .next = NO_SLOT};
    *sched_word(s, job) = i;
    return true;
}

static struct compose_slot *slot_of(const struct compose *c, struct sched *s, uint32_t job)
{
    return &c->slots[*sched_word(s, job)];
}

static void slot_forget_due(struct compose *c, struct compose_slot *slot, uint32_t job)
{
    if (slot->due_ns != SCHED_NEVER)
        jobset_erase(&c->due, slot->due_ns, job);
    slot->due_ns = SCHED_NEVER;
}

static void slot_release(struct compose *c, struct sched *s, uint32_t job)
{
    struct compose_slot *slot = slot_of(c, s, job);
    slot_forget_due(c, slot, job);
    slot->next = c->free_slot;
    c->free_slot = (uint32_t)*sched_word(s, job);
}

/* The job's value in this state from now on; with jumps, the next one is noted. */
static int64_t value_key(struct compose *c, struct sched *s, uint32_t job, bool is_running)
{
    if (c->order->jump == NULL)
        return c->order->key(s, job, &c->params, is_running);
    struct compose_slot *slot = slot_of(c, s, job);
    slot_forget_due(c, slot, job);
    slot->due_ns = c->order->jump(s, job, &c->params, &slot->mark, is_running);
    if (slot->due_ns != SCHED_NEVER)
        jobset_insert(&c->due, slot->due_ns, job, 0);
    return slot->mark.key;
}

/* ---- the sets: a job is in one at a time; the key it has there is its word or in its slot ------------ */

static void set_insert(struct compose *c, struct sched *s, struct jobset *set, int64_t key, uint32_t job,
                       int64_t length)
{
    if (c->order->jump == NULL)
        *sched_word(s, job) = (uint64_t)key;
    else
        slot_of(c, s, job)->key = key;
    jobset_insert(set, key, job, length);
}

static bool set_erase(struct compose *c, struct sched *s, struct jobset *set, uint32_t job)
{
    int64_t key = c->order->jump == NULL ? (int64_t)*sched_word(s, job) : slot_of(c, s, job)->key;
    return jobset_erase(set, key, job);
}

/* fill easy: from now, or from its start, to its predicted end. */
static int64_t predicted_run(const struct compose *c, struct sched *s, uint32_t job)
{
    int64_t run = 0;
    if (c->params.doubles)
        sched_expected_run_ns(s, job, &run);
    else
        sched_run_ns(s, job, &run);
    return run;
}

static void enqueue(struct compose *c, struct sched *s, uint32_t job)
{
    struct compose_class *k = class_of(c, s, job);
    if (k == NULL)
        return;
    int64_t length = c->fill == FILL_EASY ? predicted_run(c, s, job) : 0;
    set_insert(c, s, &k->queued, value_key(c, s, job, false), job, length);
    c->n_queued++;
    if (c->admission != NULL)
        admission_update(c->admission, s, job);
}

static void enter_running(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job)
{
    if (c->fill == FILL_EASY) {
        set_insert(c, s, &c->by_end, instant_after(sched_now(s), predicted_run(c, s, job)), job, 0);
    } else if (c->preempt == PREEMPT_QUANTUM) {
        int64_t slice = c->order->slice != NULL ? c->order->slice(s, job, &c->params, c->quantum_ns) : c->quantum_ns;
        set_insert(c, s, &c->leased, instant_after(sched_since_ns(s, job), slice), job,
                   0); /* not from now on, where it is back on its own GPUs */
    } else if (c->preempt == PREEMPT_WHEN_BETTER) {
        set_insert(c, s, &k->running, value_key(c, s, job, true), job, 0);
    }
    if (c->admission != NULL)
        admission_update(c->admission, s, job);
}

static void leave_running(struct compose *c, struct sched *s, uint32_t job)
{
    if (c->fill == FILL_EASY) {
        set_erase(c, s, &c->by_end, job);
    } else if (c->preempt != PREEMPT_NEVER) {
        struct compose_class *k = class_of(c, s, job);
        if (k != NULL && !set_erase(c, s, &k->running, job))
            set_erase(c, s, &c->leased, job);
    }
}

void compose_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct compose *c = self;
    if (c->admission != NULL)
        admission_push(c->admission, s, job); /* the round decides */
    else if (c->order->jump == NULL || slot_take(c, s, job)) /* else memory is out, and so the run will end */
        enqueue(c, s, job);
}

void compose_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct compose *c = self;
    if (c->admission != NULL)
        admission_forget(c->admission, s, job);
    leave_running(c, s, job);
    if (c->order->jump != NULL)
        slot_release(c, s, job);
}

void compose_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    struct compose *c = self;
    if (why != CAUSE_PREEMPTED) { /* our own preemptions are booked where they are decided */
        leave_running(c, s, job);
        if (c->order->jump != NULL)
            value_key(c, s, job, true); /* jumps of its running that nobody had to look at yet */
        enqueue(c, s, job);
    }
}

/* Bring up to date the values that have jumped by now. */
static void make_jumps(struct compose *c, struct sched *s)
{
    int64_t now = sched_now(s);
    while (c->due.first != JOBSET_NONE && jobset_node(&c->due, c->due.first)->key <= now) {
        uint32_t job = jobset_node(&c->due, c->due.first)->job;
        bool is_running = sched_is_running(s, job);
        struct compose_class *k = class_of(c, s, job);
        struct jobset *set = is_running ? &k->running : &k->queued;
        set_erase(c, s, set, job);
        set_insert(c, s, set, value_key(c, s, job, is_running), job, 0);
    }
}

/* ---- a round -------------------------------------------------------------------------------------- */

/* Where the line that began at `key` stands now. Beyond 292 GPU-years all are equal. */
static int64_t value_at(const struct compose_class *k, int64_t key, int64_t slope, int64_t now)
{
    int64_t line, value;
    if (__builtin_add_overflow(key, slope * now, &line))
        return key > 0 ? INT64_MAX : INT64_MIN;
    if (__builtin_mul_overflow(line, (int64_t)k->weight, &value))
        return line > 0 ? INT64_MAX : INT64_MIN;
    return !__builtin_add_overflow(value, k->offset, &line) ? line : value > 0 ? INT64_MAX : INT64_MIN;
}

int64_t compose_head_value(const struct compose_class *k, uint32_t node, int64_t now)
{
    return value_at(k, jobset_node(&k->queued, node)->key, k->queued_slope, now);
}

struct compose_class *compose_first(struct compose *c, int64_t now)
{
    struct compose_class *best = NULL;
    int64_t best_value = 0;
    uint32_t best_job = 0;
    for (uint32_t i = 0; i < c->n_classes; i++) {
        struct compose_class *k = &c->classes[i];
        if (k->is_closed || k->queued.first == JOBSET_NONE)
            continue;
        int64_t value = compose_head_value(k, k->queued.first, now);
        uint32_t job = jobset_node(&k->queued, k->queued.first)->job;
        if (best == NULL || value < best_value || (value == best_value && job < best_job)) {
            best = k;
            best_value = value;
            best_job = job;
        }
    }
    return best;
}

void compose_started(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job)
{
    set_erase(c, s, &k->queued, job);
    c->n_queued--;
    enter_running(c, s, k, job);
}

int compose_start(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job)
{
    int code = sched_start(s, job);
    if (code == SCHED_OK)
        compose_started(c, s, k, job);
    return code;
}

void compose_set_end(struct compose *c, struct sched *s, uint32_t job, int64_t end_ns)
{
    set_erase(c, s, &c->by_end, job);
    set_insert(c, s, &c->by_end, end_ns, job, 0);
}

/* overrun double: running jobs whose values have come to nothing are beyond their estimates. */
static void renew_overdue(struct compose *c, struct sched *s)
{
    int64_t now = sched_now(s);
    for (uint32_t i = 0; i < c->n_classes; i++) {
        struct jobset *set = &c->classes[i].running;
        while (set->first != JOBSET_NONE && jobset_node(set, set->first)->key <= now) {
            uint32_t job = jobset_node(set, set->first)->job;
            set_erase(c, s, set, job);
            set_insert(c, s, set, value_key(c, s, job, true), job, 0);
        }
    }
}

/* Look at the running jobs of each class from the worst on, as far as they are worse than `value`. */
static void begin_walks(struct compose *c, int64_t now, int64_t value)
{
    c->n_walks = 0;
    for (uint32_t i = 0; i < c->n_classes; i++) {
        const struct compose_class *k = &c->classes[i];
        if (k->running.last == JOBSET_NONE)
            continue;
        const struct jobset_node *n = jobset_node(&k->running, k->running.last);
        int64_t v = value_at(k, n->key, k->running_slope, now);
        if (v > value)
            c->walks[c->n_walks++] = (struct compose_walk){v, k->running.last, n->job, i};
    }
}

/* The worst that is left, JOBSET_NONE: none is worse; its class moves on. */
static uint32_t next_victim(struct compose *c, int64_t now, int64_t value)
{
    struct compose_walk *worst = NULL;
    for (uint32_t i = 0; i < c->n_walks; i++) {
        struct compose_walk *w = &c->walks[i];
        if (worst == NULL || w->value > worst->value || (w->value == worst->value && w->job > worst->job))
            worst = w;
    }
    if (worst == NULL)
        return JOBSET_NONE;
    const struct compose_class *k = &c->classes[worst->class];
    uint32_t job = worst->job;
    worst->node = jobset_node(&k->running, worst->node)->prev;
    if (worst->node != JOBSET_NONE) {
        const struct jobset_node *n = jobset_node(&k->running, worst->node);
        worst->value = value_at(k, n->key, k->running_slope, now);
        worst->job = n->job;
    }
    if (worst->node == JOBSET_NONE || worst->value <= value)
        *worst = c->walks[--c->n_walks];
    return job;
}

/* Put `job` at place `n` of a list with room for `*room`. */
static bool list_push(struct sched *s, uint32_t **list, uint32_t *room, uint32_t n, uint32_t job)
{
    if (n == *room) {
        uint32_t larger = *room * 2 + 64;
        uint32_t *grown = sched_alloc(s, larger, sizeof *grown);
        if (grown == NULL)
            return false;
        if (n > 0)
            memcpy(grown, *list, n * sizeof *grown);
        *list = grown;
        *room = larger;
    }
    (*list)[n] = job;
    return true;
}

/* A job that lost its GPUs queues up. Where values stand still many are equal, and who runs comes before its equals: that holds for it until the
 * round is over. */
static void enqueue_displaced(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job)
{
    if (c->order->jump != NULL && list_push(s, &c->displaced, &c->displaced_room, c->n_displaced, job)) {
        c->n_displaced++;
        c->n_queued++;
        set_insert(c, s, &k->queued, slot_of(c, s, job)->mark.key, job, 0);
    } else {
        enqueue(c, s, job);
    }
}

/* Those who found no other place wait from now on. */
static void settle_displaced(struct compose *c, struct sched *s)
{
    for (; c->n_displaced > 0; c->n_displaced--) {
        uint32_t job = c->displaced[c->n_displaced - 1];
        struct compose_class *k = class_of(c, s, job);
        if (!sched_is_queued(s, job))
            continue;
        set_erase(c, s, &k->queued, job);
        set_insert(c, s, &k->queued, value_key(c, s, job, false), job, 0);
    }
}

/* `victim`, which lost its GPUs to a job of `gpus`, goes elsewhere: whether it runs does not hang on which GPUs it had. Worse ones, the first `n`, have
 * no better claim to theirs. */
static bool find_other_place(struct compose *c, struct sched *s, uint32_t victim, uint32_t gpus, uint32_t n)
{
    if (sched_gpus(s, victim) < gpus) /* else it could go only where the job went: no other node has as much, whoever gives way */
        victims_take(&c->victims, s, n);
    return sched_start(s, victim) == SCHED_OK;
}

/* Take running jobs of a worse value, the worst first, until `job` fits; then give the rest back, the best first. */
static bool displace(struct compose *c, struct sched *s, struct compose_class *k, uint32_t job)
{
    int64_t now = sched_now(s), value = compose_head_value(k, k->queued.first, now);
    uint32_t gpus = k->gpus;
    bool is_in = false, is_short = false;
    begin_walks(c, now, value);
    victims_begin(&c->victims, s, job, "displaced by job");
    for (uint32_t victim; !is_in && (victim = next_victim(c, now, value)) != JOBSET_NONE;) {
        if (victims_add(&c->victims, s, victim, &is_short))
            is_in = compose_start(c, s, k, job) == SCHED_OK ||
                    (victims_take(&c->victims, s, c->victims.n) && compose_start(c, s, k, job) == SCHED_OK);
        if (is_short)
            break;
    }
    for (uint32_t i = c->victims.n; i-- > 0;) { /* the last named is the best */
        uint32_t victim = c->victims.list[i].job;
        if (!c->victims.list[i].is_taken || sched_restore(s, victim) == SCHED_OK)
            continue;
        struct compose_class *of = class_of(c, s, victim);
        leave_running(c, s, victim);
        if (c->order->jump != NULL && find_other_place(c, s, victim, gpus, i)) {
            enter_running(c, s, of, victim);
            continue;
        }
        enqueue_displaced(c, s, of, victim);
        if (jobset_node(&of->queued, of->queued.first)->job == victim)
            of->is_closed = false; /* its value jumped ahead of those that found no place */
    }
    return is_in;
}

static void set_rekey(struct compose *c, struct sched *s, struct jobset *set, bool is_running)
{
    uint32_t n = 0;
    for (uint32_t i = set->first; i != JOBSET_NONE; i = jobset_node(set, i)->next)
        n += list_push(s, &c->rekeyed, &c->rekeyed_room, n, jobset_node(set, i)->job);
    for (uint32_t i = 0; i < n; i++) {
        set_erase(c, s, set, c->rekeyed[i]);
        set_insert(c, s, set, value_key(c, s, c->rekeyed[i], is_running), c->rekeyed[i], 0);
    }
}

void compose_rekey(struct compose *c, struct sched *s)
{
    for (uint32_t i = 0; i < c->n_classes; i++) {
        set_rekey(c, s, &c->classes[i].queued, false);
        set_rekey(c, s, &c->classes[i].running, true);
    }
}

/* Leases that ran out: these jobs may be displaced from now on. */
static void end_leases(struct compose *c, struct sched *s)
{
    int64_t now = sched_now(s);
    while (c->leased.first != JOBSET_NONE) {
        const struct jobset_node *n = jobset_node(&c->leased, c->leased.first);
        uint32_t job = n->job;
        if (n->key > now)
            return;
        jobset_erase(&c->leased, n->key, job);
        struct compose_class *k = class_of(c, s, job);
        if (k != NULL)
            set_insert(c, s, &k->running, value_key(c, s, job, true), job, 0);
    }
}

/* While jobs wait for others that run: look again when the next lease ends, and every quantum for values that cross meanwhile. */
static void set_alarm(struct compose *c, struct sched *s)
{
    if (sched_held_gpus(s) == 0)
        return; /* nobody to displace: looking again would go on for ever */
    int64_t now = sched_now(s);
    sched_wake_at(s, instant_after(now, c->quantum_ns - now % c->quantum_ns));
    uint32_t i = c->leased.first; /* a lease that is over already ends in the next round */
    while (i != JOBSET_NONE && jobset_node(&c->leased, i)->key <= now)
        i = jobset_node(&c->leased, i)->next;
    if (i != JOBSET_NONE)
        sched_wake_at(s, jobset_node(&c->leased, i)->key);
}

static void admit(struct compose *c, struct sched *s)
{
    uint32_t job;
    for (bool is_accepted; admission_pop(c->admission, s, &job, &is_accepted);)
        if (is_accepted)
            enqueue(c, s, job);
        else
            sched_reject(s, job, "deadline_cannot_be_met");
}

void compose_schedule(void *self, struct sched *s)
{
    struct compose *c = self;
    if (c->admission != NULL)
        admit(c, s);
    if (c->n_queued == 0)
        return;
    int64_t now = sched_now(s);
    make_jumps(c, s);
    if (c->preempt == PREEMPT_QUANTUM)
        end_leases(c, s);
    if (c->order->is_remaining && c->params.doubles)
        renew_overdue(c, s);
    for (uint32_t i = 0; i < c->n_classes; i++) {
        struct compose_class *k = &c->classes[i];
        k->is_closed = false;
        k->offset = c->order->offset != NULL ? c->order->offset(s, k->gpus, &c->params) : 0;
    }
    bool can_displace = c->preempt != PREEMPT_NEVER;
    for (struct compose_class *k; (can_displace || sched_free_gpus(s) > 0) && (k = compose_first(c, now)) != NULL;) {
        uint32_t job = jobset_node(&k->queued, k->queued.first)->job;
        if (compose_start(c, s, k, job) == SCHED_OK || (can_displace && displace(c, s, k, job)))
            continue;
        k->is_closed = true;
        if (c->fill == FILL_EASY && c->n_queued > 1)
            compose_backfill(c, s, k);
        if (c->fill != FILL_SKIP)
            break;
    }
    if (c->preempt == PREEMPT_QUANTUM && c->n_queued > 0)
        set_alarm(c, s);
    settle_displaced(c, s);
    if (c->due.first != JOBSET_NONE && c->n_queued > 0) /* else nobody asks for values */
        sched_wake_at(s, jobset_node(&c->due, c->due.first)->key);
}

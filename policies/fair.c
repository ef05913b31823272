/* fair.c - a round of a fair policy: who has least starts a job, until nothing more fits. */
#include "policies/fair.h"

#include "policies/instant.h"
#include "policies/room.h"

#include <string.h>

static enum fair_by by_of(const char *text)
{
    return strcmp(text, "user") == 0 ? FAIR_BY_USER : strcmp(text, "vc") == 0 ? FAIR_BY_VC : FAIR_BY_VC_USER;
}

static enum fair_fill fill_of(const char *text)
{
    return strcmp(text, "strict") == 0 ? FAIR_STRICT : FAIR_SKIP;
}

static enum fair_preempt preempt_of(const char *text)
{
    return strcmp(text, "never") == 0 ? FAIR_NEVER : strcmp(text, "quantum") == 0 ? FAIR_QUANTUM : FAIR_WHEN_BETTER;
}

struct fair_rules fair_rules_of(const union param *v)
{
    return (struct fair_rules){.by = by_of(v[FAIR_PARAM_BY].s),
                               .shares_path = v[FAIR_PARAM_SHARES].s,
                               .fill = fill_of(v[FAIR_PARAM_FILL].s),
                               .preempt = preempt_of(v[FAIR_PARAM_PREEMPT].s),
                               .quantum_ns = v[FAIR_PARAM_QUANTUM].i};
}

int fair_setup(struct fair *f, struct sched *s, const struct fair_rules *rules, struct error *err)
{
    f->rules = *rules;
    f->tree.measure = rules->measure;
    f->tree.by = rules->by;
    f->tree.half_life_ns = rules->half_life_ns > 0 ? rules->half_life_ns : 1;
    f->tree.ahead = (double)rules->ahead_ns;
    int status = fair_tree_init(&f->tree, s, rules->shares_path, err);
    if (status != BRAID_OK)
        return status;
    jobset_init(&f->leased, &f->tree.pool);
    if (rules->preempt == FAIR_NEVER)
        return BRAID_OK;
    f->room = room_create(s);
    f->displaced_at = sched_alloc(s, sched_n_jobs(s) + (size_t)1, sizeof *f->displaced_at);
    f->refused_at = sched_alloc(s, sched_n_demands(s) + (size_t)1, sizeof *f->refused_at);
    bool is_ready = f->room != NULL && f->displaced_at != NULL && f->refused_at != NULL;
    return is_ready ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

/* ---- books ------------------------------------------------------------------------------------------- */

/* A running job's word is the instant under which it stands among those that may be displaced. */
void fair_enter(struct fair *f, struct sched *s, uint32_t job, int64_t since_ns)
{
    fair_tree_take(&f->tree, s, job);
    *sched_word(s, job) = (uint64_t)since_ns;
    if (f->rules.preempt == FAIR_QUANTUM)
        jobset_insert(&f->leased, since_ns, job, 0);
    else if (f->rules.preempt == FAIR_WHEN_BETTER)
        fair_tree_expose(&f->tree, s, job, since_ns);
}

void fair_leave(struct fair *f, struct sched *s, uint32_t job)
{
    int64_t since_ns = (int64_t)*sched_word(s, job);
    fair_tree_give(&f->tree, s, job);
    if (f->rules.preempt != FAIR_NEVER && !fair_tree_cover(&f->tree, s, job, since_ns))
        jobset_erase(&f->leased, since_ns, job);
}

int fair_start(struct fair *f, struct sched *s, uint32_t job)
{
    int code = sched_start(s, job);
    if (code != SCHED_OK)
        return code;
    fair_tree_dequeue(&f->tree, s, job);
    fair_tree_serve(&f->tree, s, job);
    fair_enter(f, s, job, sched_since_ns(s, job)); /* not now, where it is back on its own GPUs */
    return SCHED_OK;
}

void fair_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct fair *f = self;
    fair_tree_clock(&f->tree, s);
    fair_tree_enqueue(&f->tree, s, job);
}

void fair_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct fair *f = self;
    fair_tree_clock(&f->tree, s);
    fair_leave(f, s, job);
}

void fair_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    struct fair *f = self;
    if (why == CAUSE_PREEMPTED) /* our own preemptions are booked where they are decided */
        return;
    fair_tree_clock(&f->tree, s);
    fair_leave(f, s, job);
    fair_tree_enqueue(&f->tree, s, job);
}

void fair_on_capacity(void *self, struct sched *s)
{
    struct fair *f = self;
    fair_tree_clock(&f->tree, s);
    fair_tree_measure_capacity(&f->tree, s);
}

/* ---- a round ----------------------------------------------------------------------------------------- */

static void end_leases(struct fair *f, struct sched *s)
{
    int64_t now = sched_now(s);
    while (f->leased.first != JOBSET_NONE) {
        const struct jobset_node *n = jobset_node(&f->leased, f->leased.first);
        uint32_t job = n->job;
        int64_t since_ns = n->key;
        if (now - since_ns < f->rules.quantum_ns)
            return;
        jobset_erase(&f->leased, since_ns, job);
        fair_tree_expose(&f->tree, s, job, since_ns);
    }
}

/* While jobs wait for others that run: look again when the next lease ends, and every quantum for values that cross meanwhile. */
static void set_alarm(struct fair *f, struct sched *s)
{
    if (sched_held_gpus(s) == 0)
        return; /* nobody to displace: looking again would go on for ever */
    int64_t now = sched_now(s), quantum = f->rules.quantum_ns;
    sched_wake_at(s, instant_after(now, quantum - now % quantum));
    uint32_t i = f->leased.first; /* a lease that is over already ends in the next round */
    while (i != JOBSET_NONE && instant_after(jobset_node(&f->leased, i)->key, quantum) <= now)
        i = jobset_node(&f->leased, i)->next;
    if (i != JOBSET_NONE)
        sched_wake_at(s, instant_after(jobset_node(&f->leased, i)->key, quantum));
}

/* Does the job stay within the guarantees of its owner and all above? */
static bool is_guaranteed(struct fair *f, struct sched *s, uint32_t job)
{
    const struct fair_tree *t = &f->tree;
    for (uint32_t i = fair_tree_leaf(&f->tree, s, job); i != 0; i = t->nodes[i].parent)
        if (t->nodes[i].held[FAIR_GPU] + sched_gpus(s, job) > (uint64_t)t->nodes[i].guarantee)
            return false;
    return true;
}

/* Set aside what waits of this class with the job's owner until the round is over. */
static bool hide(struct fair *f, struct sched *s, uint32_t job, uint32_t class)
{
    if (f->n_hidden == f->hidden_room) {
        uint32_t room = f->hidden_room * 2 + 64;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (f->n_hidden > 0)
            memcpy(grown, f->hidden, f->n_hidden * sizeof *grown);
        f->hidden = grown;
        f->hidden_room = room;
    }
    uint32_t bin = fair_tree_bin(&f->tree, fair_tree_leaf(&f->tree, s, job), class);
    f->hidden[f->n_hidden++] = bin;
    fair_tree_hide(&f->tree, bin);
    return true;
}

static void open_all(struct fair *f)
{
    for (uint32_t k = 0; k < f->tree.n_classes; k++)
        f->tree.classes[k].is_full = f->tree.classes[k].is_closed = false;
    while (f->n_hidden > 0)
        fair_tree_show(&f->tree, f->hidden[--f->n_hidden]);
}

/* Nobody who comes later in order could displace more than who came first and tried, where one level orders all and a job raises the value of
 * each by the same: not where weights differ, or resources. */
static bool closes_class(const struct fair *f, bool has_tried)
{
    bool is_alike = f->tree.is_even && (f->rules.measure == FAIR_USAGE || f->rules.measure == FAIR_GPUS);
    return f->rules.preempt == FAIR_NEVER || (has_tried && is_alike);
}

void fair_schedule(void *self, struct sched *s)
{
    struct fair *f = self;
    struct fair_tree *t = &f->tree;
    if (t->n_queued == 0)
        return;
    fair_tree_clock(t, s);
    if (f->rules.preempt == FAIR_QUANTUM)
        end_leases(f, s);
    bool can_displace = f->rules.preempt != FAIR_NEVER;
    uint32_t class = 0;
    open_all(f);
    for (uint32_t job; (can_displace || sched_free_gpus(s) > 0) && (job = fair_tree_first(t, &class)) != JOBSET_NONE;) {
        if (f->rules.measure == FAIR_GUARANTEE && !f->rules.may_borrow && !is_guaranteed(f, s, job)) {
            if (!hide(f, s, job, class))
                return;
            continue;
        }
        if (!t->classes[class].is_full && fair_start(f, s, job) == SCHED_OK)
            continue;
        t->classes[class].is_full = true;
        bool may_displace = can_displace && f->displaced_at[job] != t->tick;
        if (may_displace && fair_displace(f, s, job)) {
            open_all(f); /* more may have come free than it took */
            continue;
        }
        if (f->rules.fill == FAIR_STRICT)
            break;
        if (closes_class(f, may_displace))
            t->classes[class].is_closed = true;
        else if (!hide(f, s, job, class))
            return;
    }
    open_all(f);
    if (f->rules.preempt == FAIR_QUANTUM && t->n_queued > 0)
        set_alarm(f, s);
}

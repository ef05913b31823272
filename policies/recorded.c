/* recorded.c - replay: each job starts when the trace says it did.
 *
 *   submitted --> (waits for its instant) --> due, first come first --> starts as soon as it fits
 *
 * A job is due at its recorded start, but not before its submission; a job without a record at its submission. Due jobs start in order of
 * that instant, each as soon as it fits, and who does not fit is passed over: then the replay departs from the record, which shows as
 * waiting time.
 */
#include "policies/compose.h"

struct recorded {
    struct compose c;      /* the due ones */
    struct jobset not_due; /* by the instant */
};

static int64_t due_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    int64_t submit = sched_submit_ns(s, job), start = submit;
    sched_recorded_start_ns(s, job, &start); /* absent: stays */
    return start < submit ? submit : start;
}

static const struct order_ops order_due = {.name = "recorded",
                                           .summary = "earliest recorded start first",
                                           .source = "the trace",
                                           .knows = KNOWS_RECORD,
                                           .key = due_key};

static int recorded_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    (void)v;
    struct recorded *r = self;
    int code = compose_setup(&r->c, s, &order_due, FILL_SKIP, PREEMPT_NEVER, 0, err);
    jobset_init(&r->not_due, &r->c.pool);
    return code;
}

static void recorded_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct recorded *r = self;
    int64_t due = due_key(s, job, NULL, false);
    if (due <= sched_now(s))
        compose_on_submit(&r->c, s, job);
    else
        jobset_insert(&r->not_due, due, job, 0);
}

static void recorded_schedule(void *self, struct sched *s)
{
    struct recorded *r = self;
    int64_t now = sched_now(s);
    while (r->not_due.first != JOBSET_NONE && jobset_node(&r->not_due, r->not_due.first)->key <= now) {
        const struct jobset_node n = *jobset_node(&r->not_due, r->not_due.first);
        jobset_erase(&r->not_due, n.key, n.job);
        compose_on_submit(&r->c, s, n.job);
    }
    compose_schedule(&r->c, s);
    if (r->not_due.first != JOBSET_NONE)
        sched_wake_at(s, jobset_node(&r->not_due, r->not_due.first)->key);
}

const struct policy_ops policy_recorded = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "recorded",
    .summary = "Starts each job when the trace says it started, or as soon after as it fits",
    .source = "the trace",
    .knows = KNOWS_RECORD,
    .scope = SCOPE_VC,
    .state_size = sizeof(struct recorded),
    .init = recorded_init,
    .on_submit = recorded_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = recorded_schedule,
};

/* tiresias.c - discretised two-dimensional least attained service.
 *
 *          service < limit 0     < limit 1           the rest
 *   submit --> [ queue 0 ] ----> [ queue 1 ] ----> [ queue 2 ]      demotion: at the very instant the service reaches the limit
 *                  ^                 |                  |
 *                  +-----------------+------------------+           promotion: waited `promote` times its executed time
 *
 * Jobs of a higher queue go first and displace running ones of lower queues. Inside a queue (`within`)
 *
 *   running   running jobs stay, the others follow in the order in which they entered it (a job that is displaced keeps its place)
 *   entry     who entered it first, running or not: that displaces jobs of the same queue
 *   submit    who was submitted first, running or not
 *
 * and who runs comes before its equals. Who does not fit is passed over. Service and waiting
 * are counted from the submission or the last promotion on, waiting only once the job has run. (What runs in the first queue is never
 * displaced, so all that waiting is in lower queues, unless a quota shrinks.)
 *
 * The order is a value that jumps (order.h): queue, then waiting or not (within running), then the time, in one number:
 *
 *      63     60   59   58                       0
 *     +---------+------+-------------------------+
 *     | queue-8 | waits| since, ns (18.2 years)   |
 *     +---------+------+-------------------------+
 */
#include "policies/compose.h"
#include "policies/instant.h"

#include <math.h>
#include <string.h>

enum { QUEUES_MAX = 16 };

static const int64_t WAITS = INT64_C(1) << 59;

struct tiresias {
    struct compose c;
    int64_t limits[QUEUES_MAX - 1];
};

/* Time on GPUs after which service reaches the limit of `level`. */
static int64_t time_to_limit(struct sched *s, uint32_t job, const struct order_params *p, uint32_t level)
{
    int64_t rate = p->by_gpu_time ? (int64_t)sched_gpus(s, job) : 1;
    return p->limits[level] / rate + (p->limits[level] % rate != 0);
}

static int64_t run_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                        int64_t executed)
{
    int64_t now = sched_now(s);
    if (executed == 0)
        m->queued_ns = sched_queued_ns(s, job); /* waiting counts from now on */
    for (; m->level < p->n_limits; m->level++) {
        int64_t needed = time_to_limit(s, job, p, m->level);
        if (executed < needed)
            return instant_after(now, needed - executed);
        m->entered_ns = now - (executed - needed);
    }
    return SCHED_NEVER;
}

static int64_t wait_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                         int64_t executed)
{
    if (executed == 0)
        m->entered_ns = m->executed_ns == 0 ? sched_submit_ns(s, job) : m->entered_ns;
    if (executed == 0 || m->level == 0 || p->promote == 0)
        return SCHED_NEVER;
    double limit = ceil(p->promote * (double)executed);
    int64_t now = sched_now(s), since = sched_since_ns(s, job), waited = sched_queued_ns(s, job) - m->queued_ns;
    int64_t enough = limit < 9e18 ? (int64_t)limit : SCHED_NEVER;
    if (waited < enough)
        return instant_after(now, enough - waited);
    m->level = 0;
    m->entered_ns = now - (waited - enough);
    m->entered_ns = m->entered_ns < since ? since : m->entered_ns;
    m->executed_ns += executed;
    return SCHED_NEVER;
}

static int64_t queue_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                          bool is_running)
{
    int64_t executed = sched_attained_ns(s, job) - m->executed_ns;
    int64_t due = is_running ? run_jump(s, job, p, m, executed) : wait_jump(s, job, p, m, executed);
    int64_t since = p->within == WITHIN_SUBMIT ? sched_submit_ns(s, job) : m->entered_ns;
    since = since < WAITS ? since : WAITS - 1;
    bool comes_later = p->within == WITHIN_RUNNING && !is_running;
    m->key = ((int64_t)m->level - QUEUES_MAX / 2) * (2 * WAITS) + (comes_later ? WAITS : 0) + since;
    return due;
}

static const struct order_ops order_queues = {.name = "tiresias",
                                              .summary = "highest queue first",
                                              .source = "Gu et al., NSDI'19 (Tiresias), discretised 2D-LAS",
                                              .jump = queue_jump};

enum param_of { THRESHOLDS, SERVICE, PROMOTE, WITHIN };

static int tiresias_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct tiresias *t = self;
    const double *limits = v[THRESHOLDS].list.v;
    uint32_t n = v[THRESHOLDS].list.n;
    if (n > QUEUES_MAX - 1)
        return error_set(err, BRAID_BAD_INPUT, "thresholds: %u values, at most %d", n, QUEUES_MAX - 1);
    for (uint32_t i = 0; i < n; i++) {
        t->limits[i] = llrint(limits[i] * 1e9);
        if (i > 0 && t->limits[i] <= t->limits[i - 1])
            return error_set(err, BRAID_BAD_INPUT, "thresholds must ascend, but %g follows %g", limits[i],
                             limits[i - 1]);
    }
    t->c.params = (struct order_params){.by_gpu_time = strcmp(v[SERVICE].s, "gpu_time") == 0,
                                        .limits = t->limits,
                                        .n_limits = n,
                                        .promote = v[PROMOTE].f,
                                        .within = strcmp(v[WITHIN].s, "running") == 0 ? WITHIN_RUNNING
                                                  : strcmp(v[WITHIN].s, "entry") == 0 ? WITHIN_ENTRY
                                                                                      : WITHIN_SUBMIT};
    return compose_setup(&t->c, s, &order_queues, FILL_SKIP, PREEMPT_WHEN_BETTER, 0, err);
}

static const struct param_spec tiresias_params[] = {
    [THRESHOLDS] =
        {"thresholds", PARAM_NUMBERS, "[3250, 7200]", 1e-9, 9e9, "GPU s or s", NULL,
         "attained service at which a job moves to the next queue, ascending; one queue more than values, at most 16"},
    [SERVICE] = {"service", PARAM_CHOICE, "gpu_time", 0, 0, "", "gpu_time|time",
                 "what counts as service: time on GPUs x GPUs, or time alone"},
    [PROMOTE] = {"promote", PARAM_NUMBER, "0", 0, 1e9, "", NULL,
                 "a job that has waited this many times its executed time returns to the first queue; 0: never"},
    [WITHIN] = {"within", PARAM_CHOICE, "running", 0, 0, "", "running|entry|submit",
                "who comes first in a queue: who runs, then who entered it first; or who entered it, or was submitted, "
                "first, running or not"},
};

const struct policy_ops policy_tiresias = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "tiresias",
    .summary = "Queues by attained service (discretised 2D-LAS), preemptive; in a queue who runs stays, then by entry "
               "(`within`)",
    .source = "Gu et al., NSDI'19 (Tiresias), section 3.3",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = tiresias_params,
    .n_params = sizeof tiresias_params / sizeof *tiresias_params,
    .state_size = sizeof(struct tiresias),
    .init = tiresias_init,
    .on_submit = compose_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = compose_schedule,
};

/* my_policy.c - a policy of your own, built outside of braid. Copy this folder, rename, and change what `better` says.
 *
 *     cc -shared -fPIC -O2 $(pkg-config --cflags braid) my_policy.c -o my_policy.so      (or -I TREE/sim/include)
 *
 * and in a config:  policy: {plugin: ./my_policy.so, favour: 4}
 *
 * What it does as it stands: jobs wait in one queue a virtual cluster, ordered by GPUs / (1 + favour x hours waited): small jobs first, but
 * whoever has waited long moves up. Those that do not fit are passed over. Everything that a policy may ask and do is in <braid/policy.h>.
 */
#include <braid/policy.h>

#include <stdlib.h>

/* One of these a virtual cluster. The engine owns the memory; it is zeroed before init. */
struct my_policy {
    double favour;
    uint32_t *queue, n_queued;
};

/* The parameters: names, types, defaults and ranges are checked by braid before init is called, and shown by `braid config check`. */
enum { FAVOUR, N_PARAMS };
static const struct param_spec params[N_PARAMS] = {
    [FAVOUR] = {.name = "favour", .type = PARAM_NUMBER, .def = "1", .min = 0, .max = 1e6, .unit = "1/h", .help = "what an hour of waiting is worth"},
};

/* Non-zero ends the run with the message; the other runs of a sweep go on. */
static int init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct my_policy *p = self;
    p->favour = v[FAVOUR].f;
    p->queue = sched_alloc(s, sched_n_jobs(s), sizeof *p->queue); /* memory of the run: never freed by you */
    return p->queue != NULL ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory for a queue of %u jobs", sched_n_jobs(s));
}

/* ---- keep your own books: verbs are not allowed here ------------------------------------------------- */

static void on_submit(void *self, struct sched *s, uint32_t job)
{
    struct my_policy *p = self;
    (void)s;
    p->queue[p->n_queued++] = job;
}

/* A job came back: preempted by you, by a quota that shrank, or by a fault. */
static void on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    (void)why;
    on_submit(self, s, job);
}

/* ---- decide: once a round, after all events of an instant --------------------------------------------- */

static double value(const struct my_policy *p, const struct sched *s, uint32_t job)
{
    double hours = (double)sched_queued_ns(s, job) / 3.6e12;
    return sched_gpus(s, job) / (1 + p->favour * hours);
}

/* Does `a` come before `b`? Equal values must be told apart by the job's number, or runs would not repeat. */
static bool is_before(const struct my_policy *p, const struct sched *s, uint32_t a, uint32_t b)
{
    double value_a = value(p, s, a), value_b = value(p, s, b);
    return value_a < value_b || (value_a == value_b && a < b);
}

static void schedule(void *self, struct sched *s)
{
    struct my_policy *p = self;
    for (uint32_t i = 1; i < p->n_queued; i++) /* nearly sorted since the last round: insertion is quick */
        for (uint32_t k = i; k > 0 && is_before(p, s, p->queue[k], p->queue[k - 1]); k--) {
            uint32_t job = p->queue[k];
            p->queue[k] = p->queue[k - 1];
            p->queue[k - 1] = job;
        }
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < p->n_queued; i++) {
        uint32_t job = p->queue[i];
        if (sched_free_gpus(s) < sched_gpus(s, job) || sched_start(s, job) != SCHED_OK)
            p->queue[n_left++] = job;
    }
    p->n_queued = n_left;
}

static const struct policy_ops ops = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "my_policy",
    .summary = "Small jobs first, those that have waited long moved up",
    .source = "policies/template",
    .knows = KNOWS_NOTHING, /* | KNOWS_ESTIMATE, …: what you do not declare you are not told */
    .scope = SCOPE_VC,      /* SCOPE_CLUSTER: one instance over all virtual clusters */
    .params = params,
    .n_params = N_PARAMS,
    .state_size = sizeof(struct my_policy),
    .init = init,
    .on_submit = on_submit,
    .on_requeue = on_requeue,
    .schedule = schedule,
};

/* The one name that braid looks for. */
const struct policy_ops *braid_policy(void);
const struct policy_ops *braid_policy(void)
{
    return &ops;
}

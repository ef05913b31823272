/* order.c - the orders. Keys are int64 ns (GPU-ns in qssf); products saturate, which only extremes beyond 292 GPU-years reach. */
#include "policies/order.h"

#include "policies/instant.h"

#include <string.h>

static int64_t times(int64_t ns, uint32_t gpus)
{
    int64_t product;
    return __builtin_mul_overflow(ns, (int64_t)gpus, &product) ? INT64_MAX / 4 : product;
}

static int64_t estimate(struct sched *s, uint32_t job)
{
    int64_t ns = 0;
    sched_estimate_ns(s, job, &ns);
    return ns;
}

static int64_t remaining(struct sched *s, uint32_t job, bool doubles)
{
    int64_t ns = 0;
    if (doubles)
        sched_expected_ns(s, job, &ns);
    else
        sched_remaining_ns(s, job, &ns);
    return ns;
}

static int64_t submit_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    return sched_submit_ns(s, job);
}

const struct order_ops order_fifo = {
    .name = "fifo", .summary = "earliest submission first", .source = "first come, first served", .key = submit_key};

static int64_t shortest_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    return estimate(s, job);
}

const struct order_ops order_sjf = {.name = "sjf",
                                    .summary = "shortest estimated run time first",
                                    .source = "shortest job first",
                                    .knows = KNOWS_ESTIMATE,
                                    .key = shortest_key};

static int64_t longest_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    return -shortest_key(s, job, p, is_running);
}

const struct order_ops order_ljf = {.name = "ljf",
                                    .summary = "longest estimated run time first",
                                    .source = "longest job first",
                                    .knows = KNOWS_ESTIMATE,
                                    .key = longest_key};

static int64_t smallest_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    return sched_gpus(s, job);
}

const struct order_ops order_smallest = {.name = "smallest",
                                         .summary = "fewest GPUs first",
                                         .source = "Gu et al., NSDI'19 (Tiresias), smallest-first baseline",
                                         .key = smallest_key};

/* Remaining time shrinks by one a nanosecond while the job runs. The line begins with what remains when it is taken, so an overhead that
 * is paid meanwhile counts as if it were work: a job just (re)started is taken to be nearer to its end by at most its overhead, and is not
 * displaced for less. (To add the overhead instead would let two jobs displace each other at once and for ever.) */
static int64_t remaining_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    int64_t left = remaining(s, job, p->doubles);
    return is_running ? instant_after(sched_now(s), left) : left;
}

static int64_t remaining_slope(const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? -1 : 0;
}

const struct order_ops order_srtf = {.name = "srtf",
                                     .summary = "shortest estimated remaining time first",
                                     .source = "shortest remaining time first (Schrage, 1968)",
                                     .knows = KNOWS_ESTIMATE,
                                     .key = remaining_key,
                                     .slope = remaining_slope,
                                     .is_remaining = true};

static bool always(const struct order_params *p)
{
    (void)p;
    return true;
}

const struct order_ops order_srsf = {.name = "srsf",
                                     .summary = "least estimated remaining time x GPUs first",
                                     .source = "Gu et al., NSDI'19 (Tiresias), SRSF",
                                     .knows = KNOWS_ESTIMATE,
                                     .key = remaining_key,
                                     .slope = remaining_slope,
                                     .is_by_gpus = always,
                                     .is_remaining = true};

static int64_t service_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    return times(estimate(s, job), sched_gpus(s, job));
}

const struct order_ops order_qssf = {.name = "qssf",
                                     .summary = "least estimated run time x GPUs first",
                                     .source = "Hu et al., SC'21 (Helios), quasi-shortest-service-first",
                                     .knows = KNOWS_ESTIMATE,
                                     .key = service_key};

static int64_t longest_waiting_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p;
    int64_t waited = sched_queued_ns(s, job);
    return is_running ? -waited : sched_now(s) - waited;
}

static int64_t waiting_slope(const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? 0 : -1;
}

const struct order_ops order_longest_waiting = {.name = "longest_waiting",
                                                .summary = "longest time without GPUs first",
                                                .source = "Gu et al., NSDI'19 (Tiresias), longest-pending-first",
                                                .key = longest_waiting_key,
                                                .slope = waiting_slope};

/* In units of waiting time: one point of priority is worth `ageing` of waiting. Without ageing: points alone. */
static int64_t priority_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    double points = sched_priority(s, job);
    double worth = p->ageing_ns > 0 ? (double)p->ageing_ns : 1e9;
    double ns = points * worth;
    ns = ns > 1e18 ? 1e18 : ns < -1e18 ? -1e18 : ns;
    int64_t key = -(int64_t)ns;
    return p->ageing_ns > 0 ? key + longest_waiting_key(s, job, p, is_running) : key;
}

static int64_t priority_slope(const struct order_params *p, bool is_running)
{
    return p->ageing_ns > 0 ? waiting_slope(p, is_running) : 0;
}

const struct order_ops order_priority = {.name = "priority",
                                         .summary = "highest priority first; waiting raises it (ageing)",
                                         .source = "multilevel priority with ageing, as batch systems do",
                                         .key = priority_key,
                                         .slope = priority_slope};

/* Who entered the queue earliest; a running job counts as if it had to queue up now, so it gives way to all that wait. */
static int64_t turn_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? 1 : sched_since_ns(s, job);
}

static int64_t turn_slope(const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? 1 : 0;
}

const struct order_ops order_round_robin = {.name = "round_robin",
                                            .summary = "earliest in the queue first; who ran goes to its end",
                                            .source = "round robin",
                                            .key = turn_key,
                                            .slope = turn_slope,
                                            .takes_turns = true};

static int64_t attained_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? sched_attained_ns(s, job) - sched_now(s) : sched_attained_ns(s, job);
}

static int64_t attained_slope(const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? 1 : 0;
}

static bool is_gpu_time(const struct order_params *p)
{
    return p->by_gpu_time;
}

const struct order_ops order_las = {.name = "las",
                                    .summary = "least attained service first",
                                    .source = "Nuyens and Wierman, 2008; Gu et al., NSDI'19, 2D-LAS",
                                    .key = attained_key,
                                    .slope = attained_slope,
                                    .is_by_gpus = is_gpu_time};

/* One draw a job for the whole run, hashed from its number and the instance's salt: drawn anew each time it is queued or started, the
 * jobs could displace each other without end. */
static int64_t random_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)s, (void)is_running;
    uint64_t h = (job + UINT64_C(1)) * 0x9e3779b97f4a7c15u ^ p->salt; /* splitmix64's finish */
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((h ^ h >> 31) >> 2);
}

const struct order_ops order_random = {
    .name = "random", .summary = "in random order", .source = "baseline", .key = random_key};

static int64_t chain_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    int64_t ns = 0;
    sched_chain_ns(s, job, &ns);
    return -ns;
}

const struct order_ops order_critical_path = {.name = "critical_path",
                                              .summary = "longest chain of jobs that wait for each other first",
                                              .source = "Hu, Operations Research 9(6), 1961; HEFT's upward rank",
                                              .knows = KNOWS_ESTIMATE,
                                              .key = chain_key};

static const struct order_ops *const orders[] = {
    &order_critical_path,
    &order_edf,         &order_fifo,   &order_las,  &order_least_laxity, &order_ljf,    &order_longest_waiting,
    &order_priority,    &order_qssf,   &order_random, &order_round_robin, &order_rr_sjf, &order_sjf,
    &order_smallest,    &order_srsf,   &order_srtf,  NULL};

const struct order_ops *const *order_list(void)
{
    return orders;
}

const struct order_ops *order_find(const char *name)
{
    for (const struct order_ops *const *o = orders; *o != NULL; o++)
        if (strcmp((*o)->name, name) == 0)
            return *o;
    return NULL;
}

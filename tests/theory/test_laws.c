/* Laws that hold exactly, in integer nanoseconds, on every run of every policy. */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = CASES(1500), BUSY_ROOM = 4096, SIZE_ROOM = 64 };

/* ---- what is seen while a run goes on -------------------------------------------------------------------- */

struct watcher {
    struct run_levels last[CASE_VCS]; /* of each queue */
    int64_t at_ns;
    int64_t queued_ns, running_ns, gpu_ns; /* integrals over time */
    uint64_t idle_while_fits; /* instants that leave a queued job although it would fit (one pool of GPUs, one queue) */
    const struct test_case *c;
    uint32_t queued_of_size[SIZE_ROOM];
    int64_t busy_ns[BUSY_ROOM]; /* begins and ends of busy periods, in turn */
    uint32_t n_busy;
};

static void watcher_advance(struct watcher *w, int64_t to_ns)
{
    int64_t length = to_ns - w->at_ns;
    cr_assert_geq(length, 0);
    for (uint32_t v = 0; v < CASE_VCS; v++) {
        w->queued_ns += length * w->last[v].queued_jobs;
        w->running_ns += length * w->last[v].running_jobs;
        w->gpu_ns += length * w->last[v].allocated_gpus;
    }
    if (length > 0)
        for (uint32_t size = 1; size < SIZE_ROOM; size++)
            w->idle_while_fits +=
                w->queued_of_size[size] > 0 && w->last[0].allocated_gpus + size <= w->last[0].capacity_gpus;
    w->at_ns = to_ns;
}

static void on_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct watcher *w = self;
    cr_assert_lt(instance, (uint32_t)CASE_VCS);
    watcher_advance(w, at_ns);
    w->last[instance] = *levels;
    bool is_busy = levels->running_jobs > 0, was_busy = w->n_busy % 2 == 1;
    if (is_busy != was_busy && w->n_busy < BUSY_ROOM) {
        if (is_busy && w->n_busy > 0 && w->busy_ns[w->n_busy - 1] == at_ns)
            w->n_busy--; /* a round in between, not a pause */
        else
            w->busy_ns[w->n_busy++] = at_ns;
    }
}

static void on_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc, const char *why)
{
    (void)vc, (void)why;
    struct watcher *w = self;
    watcher_advance(w, at_ns);
    if (job == UINT32_MAX)
        return;
    uint32_t *queued = &w->queued_of_size[w->c->jobs[job].gpus];
    if (kind == DECISION_SUBMIT || kind == DECISION_PREEMPT || kind == DECISION_REQUEUE)
        ++*queued;
    else if (kind == DECISION_START || kind == DECISION_RESUME || kind == DECISION_REJECT)
        --*queued;
}

/* ---- cases --------------------------------------------------------------------------------------------- */

/* Random jobs: exponential gaps and lognormal durations in whole milliseconds, so that instants coincide now and then. */
static void add_jobs(struct test_case *c, unsigned long seed, double mean_gap_s, uint32_t max_gpus)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_not_null(rng);
    gsl_rng_set(rng, seed);
    double at_s = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        at_s += round(gsl_ran_exponential(rng, mean_gap_s) * 1e3) * 1e-3;
        uint32_t gpus = max_gpus == 1 ? 1 : 1u << gsl_rng_uniform_int(rng, (unsigned long)log2(max_gpus) + 1);
        uint32_t job = case_job(c, at_s, round(gsl_ran_lognormal(rng, 4, 1) * 1e3) * 1e-3, gpus);
        c->jobs[job].priority = (double)gsl_rng_uniform_int(rng, 3);
        c->jobs[job].user = gsl_rng_uniform(rng) < 0.5 ? "ann" : "bob";
        c->jobs[job].recorded_start_ns = c->jobs[job].submit_ns + 1000 * S;
    }
    gsl_rng_free(rng);
}

static void watch_run(struct test_case *c, struct watcher *w)
{
    *w = (struct watcher){.c = c};
    c->spec.watch = (struct run_watch){.self = w, .levels = on_levels, .decision = on_decision};
    case_run(c);
    watcher_advance(w, c->r.totals.stop_ns > w->at_ns ? c->r.totals.stop_ns : w->at_ns);
}

static void little_holds(const struct test_case *c, const struct watcher *w, const char *policy)
{
    int64_t queued_ns = 0, running_ns = 0, gpu_ns = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct job *job = &c->r.jobs[j];
        if (job->end_ns < c->jobs[j].submit_ns)
            continue; /* submitted after the horizon */
        queued_ns += job->end_ns - c->jobs[j].submit_ns - job->run_ns;
        running_ns += job->run_ns;
        gpu_ns += job->gpu_ns;
    }
    cr_expect_eq(w->queued_ns, queued_ns, "%s: jobs queued over time", policy);
    cr_expect_eq(w->running_ns, running_ns, "%s: jobs running over time", policy);
    cr_expect_eq(w->gpu_ns, gpu_ns, "%s: GPUs held over time", policy);
}

/* Lets jobs wait though they could start: until the trace says, or until a window of arrivals closes. */
static bool is_idle_on_purpose(const struct policy_ops *ops)
{
    return strcmp(ops->name, "recorded") == 0 || strcmp(ops->name, "time_window") == 0;
}

/* ---- Little's law --------------------------------------------------------------------------------------- */

Test(laws, little_holds_to_the_nanosecond_under_every_policy)
{
    struct watcher *w = malloc(sizeof *w);
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (!case_any_size(*p))
            continue;
        struct test_case *c = case_create(4, 4);
        case_policy_quick(c, (*p)->name);
        c->spec.overhead.restart.constant_ns = 7 * S;
        add_jobs(c, 1, 40, 8);
        watch_run(c, w);
        little_holds(c, w, (*p)->name);
        cr_expect_gt(w->queued_ns, 0, "%s: nobody ever waited", (*p)->name);
        case_destroy(c);
    }
    free(w);
}

Test(laws, little_holds_with_virtual_clusters_quotas_that_change_and_a_horizon)
{
    static struct vc_change changes[] = {{5000 * S, 0}, {9000 * S, 12}, {20000 * S, 2}, {40000 * S, 12}};
    static const char *const policies[] = {"fifo", "easy", "srtf", "tiresias", "round_robin"};
    struct watcher *w = malloc(sizeof *w);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        for (int k = 0; k < 2; k++) {
            struct test_case *c = case_create(8, 4);
            case_policy(c, policies[i]);
            c->vcs[0] =
                (struct vc_spec){.name = "a", .mode = VC_GPUS, .amount = 12, .changes = changes, .n_changes = 4};
            c->vcs[0].shrink = k == 0 ? VC_DRAIN : VC_PREEMPT;
            c->vcs[1] = (struct vc_spec){.name = "b", .mode = VC_GPUS, .amount = 20};
            c->cluster.n_vcs = 2;
            add_jobs(c, 2 + (unsigned long)i, 30, 8);
            for (uint32_t j = 0; j < c->n_jobs; j++)
                c->jobs[j].vc = j % 3 == 0 ? "a" : "b";
            c->spec.stop.at_ns = k == 0 ? RUN_NO_LIMIT : c->jobs[JOBS * 2 / 3].submit_ns + S / 3;
            watch_run(c, w);
            little_holds(c, w, policies[i]);
            case_destroy(c);
        }
    }
    free(w);
}

/* ---- work conservation ---------------------------------------------------------------------------------- */

Test(laws, no_gpu_is_idle_while_a_job_of_one_gpu_waits)
{
    struct watcher *w = malloc(sizeof *w);
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (!case_any_size(*p))
            continue;
        if (is_idle_on_purpose(*p))
            continue;
        struct test_case *c = case_create(2, 4);
        case_policy_quick(c, (*p)->name);
        add_jobs(c, 3, 13, 1);
        watch_run(c, w);
        cr_expect_eq(w->idle_while_fits, UINT64_C(0), "%s: %llu times", (*p)->name,
                     (unsigned long long)w->idle_while_fits);
        case_destroy(c);
    }
    free(w);
}

Test(laws, fifo_skip_leaves_no_job_waiting_that_would_fit)
{
    struct watcher *w = malloc(sizeof *w);
    struct test_case *c = case_create(2, 8);
    case_policy(c, "fifo_skip");
    case_placement(c, "count");
    add_jobs(c, 4, 35, 16);
    watch_run(c, w);
    cr_expect_eq(w->idle_while_fits, UINT64_C(0));
    case_destroy(c);
    c = case_create(2, 8); /* the watcher does see it where it happens */
    case_placement(c, "count");
    add_jobs(c, 4, 35, 16);
    watch_run(c, w);
    cr_expect_gt(w->idle_while_fits, UINT64_C(0), "fifo holds small jobs back behind large ones");
    case_destroy(c);
    free(w);
}

/* On one GPU the unfinished work, and with it every busy period, does not depend on the order. */
Test(laws, busy_periods_of_one_gpu_are_the_same_under_every_policy)
{
    struct watcher *first = malloc(sizeof *first), *w = malloc(sizeof *w);
    first->n_busy = 0;
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (!case_any_size(*p))
            continue;
        if (is_idle_on_purpose(*p))
            continue;
        struct test_case *c = case_create(1, 1);
        case_policy_quick(c, (*p)->name);
        add_jobs(c, 5, 120, 1);
        watch_run(c, first->n_busy == 0 ? first : w);
        const struct watcher *seen = first->c == c ? first : w;
        cr_expect_gt(first->n_busy, (uint32_t)JOBS / 4);
        cr_expect_eq(seen->n_busy, first->n_busy, "%s: %u and %u", (*p)->name, seen->n_busy, first->n_busy);
        cr_expect_arr_eq(seen->busy_ns, first->busy_ns, first->n_busy * sizeof *first->busy_ns, "%s", (*p)->name);
        case_destroy(c);
    }
    free(first);
    free(w);
}

/* ---- recursions: when each job starts -------------------------------------------------------------------- */

/* First come, first served by `servers` GPUs: a job starts when it came, or when the first GPU falls free (Kiefer and Wolfowitz, 1955; with
 * one GPU: Lindley, 1952). */
static void starts_follow_recursion(uint32_t servers, const char *policy)
{
    struct test_case *c = case_create(1, servers);
    int64_t free_ns[16] = {0};
    case_policy(c, policy);
    add_jobs(c, 6 + servers, 80.0 / servers, 1);
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        uint32_t first = 0;
        for (uint32_t k = 1; k < servers; k++)
            if (free_ns[k] < free_ns[first])
                first = k;
        int64_t start_ns = c->jobs[j].submit_ns > free_ns[first] ? c->jobs[j].submit_ns : free_ns[first];
        free_ns[first] = start_ns + c->jobs[j].duration_ns;
        cr_assert_eq(c->r.jobs[j].start_ns, start_ns, "%s, %u GPUs, job %u", policy, servers, j);
        cr_assert_eq(c->r.jobs[j].end_ns, free_ns[first], "%s, %u GPUs, job %u", policy, servers, j);
    }
    case_destroy(c);
}

Test(laws, jobs_of_one_gpu_start_when_the_recursion_of_the_queue_says)
{
    static const char *const policies[] = {"fifo", "fifo_skip", "easy", "conservative", "smallest"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        for (uint32_t servers = 1; servers <= 16; servers *= 4)
            starts_follow_recursion(servers, policies[i]);
}

/* What is a share of something is never more than all of it, however a run ends and whatever becomes of quotas: every metric that is a
 * fraction, and every utilisation in the series. And what was allocated and available is added up again from the segments. */
#include "experiment/experiment.h"
#include "output/metrics.h"
#include "output/recorder.h"
#include "output/recorder_tables.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { JOBS = 60, GPUS = 16 };

static const struct ending {
    const char *name;
    int64_t stop_s; /* 0: none */
    uint32_t queue;
    struct measure_spec measure;
} endings[] = {
    {"whole", 0, UINT32_MAX, {.to_ns = RUN_NO_LIMIT}},
    {"stop at 1 s", 1, UINT32_MAX, {.to_ns = RUN_NO_LIMIT}},
    {"stop at 97 s", 97, UINT32_MAX, {.to_ns = RUN_NO_LIMIT}},
    {"stop at 340 s", 340, UINT32_MAX, {.to_ns = RUN_NO_LIMIT}},
    {"stop at 9 waiting", 0, 9, {.to_ns = RUN_NO_LIMIT}},
    {"measure 100 to 200 s", 0, UINT32_MAX, {.has_from = true, .from_ns = 100 * S, .to_ns = 200 * S}},
    {"stop and measure",
     260,
     UINT32_MAX,
     {.has_from = true, .from_ns = 50 * S, .to_ns = 300 * S, .warm_up_ns = 10 * S}},
};

/* Quotas: none; two that share the nodes and want more than there is; one that shrinks below what it holds, to nothing, and grows again. */
enum quotas { NO_QUOTAS, QUOTAS_OVERLAP, QUOTA_DRAINS, QUOTA_PREEMPTS, N_QUOTAS };
static struct vc_change shrinks[] = {{60 * S, 3}, {120 * S, 0}, {180 * S, 8}};

static struct test_case *make(enum quotas q, bool has_stages, const char *policy, const struct ending *e)
{
    struct test_case *c = case_create(4, 4);
    uint64_t x = 88172645463325252u;
    case_policy_quick(c, policy);
    for (uint32_t i = 0; i < JOBS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t job = case_job(c, i * 6, (double)(1 + x % 150), 1 + (uint32_t)(x >> 20) % 6);
        c->jobs[job].vc = i % 2 == 0 ? "a" : "b";
        for (int k = 0; k < WORKLOAD_STAGES && has_stages; k++)
            c->jobs[job].iteration_ns += c->jobs[job].stage_ns[k] = (int64_t)(1 + (x >> (8 * k)) % 9) * S / 10;
    }
    for (uint32_t v = 0; v < 2 && q != NO_QUOTAS; v++)
        c->vcs[v] =
            (struct vc_spec){.name = v == 0 ? "a" : "b", .mode = VC_GPUS, .amount = q == QUOTAS_OVERLAP ? 12 : 8};
    if (q == QUOTA_DRAINS || q == QUOTA_PREEMPTS) {
        c->vcs[0].changes = shrinks;
        c->vcs[0].n_changes = 3;
        c->vcs[0].shrink = q == QUOTA_DRAINS ? VC_DRAIN : VC_PREEMPT;
    }
    c->cluster.n_vcs = q == NO_QUOTAS ? 0 : 2;
    c->spec.overhead.start.constant_ns = c->spec.overhead.restart.constant_ns = 3 * S;
    if (has_stages)
        c->sharing = (struct sharing_spec){.fidelity = SHARING_STAGE, .groups = 2};
    c->spec.stop.at_ns = e->stop_s > 0 ? e->stop_s * S : RUN_NO_LIMIT;
    c->spec.stop.queue = e->queue;
    c->spec.measure = e->measure;
    return c;
}

static void expect_share(const char *what, const char *of, double value)
{
    cr_expect(isnan(value) || (value >= 0 && value <= 1 + 1e-12), "%s: %s is %.17g", what, of, value);
}

/* GPU time of the segments in [from, until): a group's GPUs once, by the member that is first in its order. */
static double held_gpu_s(const struct recorder_tables *t, const struct workload *w, int64_t from_ns, int64_t until_ns)
{
    double sum = 0;
    for (uint64_t i = 0; i < t->n_segments; i++) {
        const struct segment_row *s = &t->segments[i];
        int64_t begin = s->begin_ns > from_ns ? s->begin_ns : from_ns,
                end = s->end_ns < until_ns ? s->end_ns : until_ns;
        if (s->kind != SEGMENT_QUEUED && end > begin)
            sum += (double)(end - begin) / S * w->gpus[s->job];
    }
    return sum;
}

static void check(struct test_case *c, const struct ending *e, enum quotas q, bool has_stages, const char *policy)
{
    char what[160];
    struct metrics m;
    struct recorder_tables t;
    struct run_result r;
    snprintf(what, sizeof what, "%s, %s, quotas %d%s", policy, e->name, q, has_stages ? ", stages" : "");
    cr_assert_eq(case_try(c), BRAID_OK, "%s: %s", what, c->err.message); /* makes the workload */
    struct sharing_model *sharing = NULL;
    if (has_stages)
        cr_assert_eq(sharing_create(&sharing, &c->sharing, &c->w, NULL), 0);
    const struct output_spec output = {.series_step_ns = 7 * S, .segments = true};
    struct recorder *rec = recorder_create(&output, c->r.n_instances, NULL);
    cr_assert_eq(recorder_follow(rec, &c->w, &c->cluster, NULL), 0);
    struct run_spec spec = c->spec;
    spec.sharing = sharing;
    spec.watch = recorder_watch(rec);
    cr_assert_eq(run(&r, &spec, NULL), 0);
    cr_assert(recorder_finish(rec, &r));
    cr_assert_eq(metrics_compute(&m, &r, &c->w, &e->measure, NULL), 0);
    recorder_tables(rec, &t);

    size_t n;
    const struct metric_info *table = metrics_table(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i].unit, "fraction") == 0)
            expect_share(what, table[i].name, m.value[i]);
    for (uint64_t bin = 0; bin < t.n_bins; bin++)
        for (uint32_t scope = 0; scope < t.n_scopes; scope++)
            for (uint32_t k = 0; k < t.n_names; k++)
                if (k == SERIES_GPU_UTILIZATION || k >= SERIES_LEVELS)
                    expect_share(what, series_name_text((enum series_name)k),
                                 t.series[(bin * t.n_scopes + scope) * t.n_names + k]);
    static const char *const counts[] = {"finished", "unfinished", "rejected", "failed", "killed", "not_submitted"};
    double sum = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sum += m.value[metrics_find(counts[i])];
    cr_expect_eq(sum, m.value[metrics_find("jobs")], "%s: %g jobs of %g have a count", what, sum,
                 m.value[metrics_find("jobs")]);
    /* the series end where the run does */
    cr_expect_eq(t.end_ns,
                 r.totals.is_cut || r.totals.stop_ns % (7 * S) == 0 ? r.totals.stop_ns
                                                                    : (r.totals.stop_ns / (7 * S) + 1) * 7 * S,
                 "%s", what);
    cr_expect(e->stop_s == 0 || r.totals.stop_ns <= e->stop_s * S, "%s", what);
    /* added up again: groups count once, so only where no job shares */
    if (!has_stages) {
        const struct run_totals *all = &r.totals;
        int64_t until = all->last_submit_ns < all->stop_ns ? all->last_submit_ns : all->stop_ns;
        double window = held_gpu_s(&t, &c->w, 0, until), whole = held_gpu_s(&t, &c->w, 0, all->stop_ns);
        cr_expect_float_eq(all->allocated_gpu_ns_window / S, window, 1e-6 * window + 1e-9, "%s: %g, not %g", what,
                           all->allocated_gpu_ns_window / S, window);
        cr_expect_float_eq(all->allocated_gpu_ns_makespan / S, whole, 1e-6 * whole + 1e-9, "%s: %g, not %g", what,
                           all->allocated_gpu_ns_makespan / S, whole);
        if (q == NO_QUOTAS) {
            cr_expect_float_eq(all->capacity_gpu_ns_window / S, (double)GPUS * (double)until / S, 1e-6);
            cr_expect_float_eq(all->capacity_gpu_ns_makespan / S, (double)GPUS * (double)all->used_until_ns / S, 1e-6);
        }
    }
    /* what a job waited lies in its segments, to the last moment of the run */
    int64_t waited[JOBS] = {0};
    for (uint64_t i = 0; i < t.n_segments; i++)
        if (t.segments[i].kind == SEGMENT_QUEUED)
            waited[t.segments[i].job] += t.segments[i].end_ns - t.segments[i].begin_ns;
    for (uint32_t j = 0; j < r.n_jobs; j++)
        if (r.jobs[j].status != STATUS_NOT_SUBMITTED)
            cr_expect_eq(waited[j], r.jobs[j].end_ns - c->w.submit_ns[j] - r.jobs[j].run_ns, "%s: job %u", what, j);
    run_result_fini(&r);
    recorder_destroy(rec);
    sharing_destroy(sharing);
}

Test(fractions, no_share_is_more_than_all_of_it)
{
    static const char *const policies[] = {"fifo", "easy", "srtf", "las", "quota", "muri_s"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
            for (int q = 0; q < N_QUOTAS; q++) {
                bool has_stages = strcmp(policies[p], "muri_s") == 0;
                struct test_case *c = make((enum quotas)q, has_stages, policies[p], &endings[e]);
                check(c, &endings[e], (enum quotas)q, has_stages, policies[p]);
                case_destroy(c);
            }
}

/* One job of 8 GPUs under a quota that shrinks to 1 while it runs: it holds what it held, and that is what there is. */
Test(fractions, a_quota_that_drains_is_full_not_over_full)
{
    struct vc_change shrink[] = {{100 * S, 1}};
    struct test_case *c = case_create(1, 8);
    struct metrics m;
    c->vcs[0] = (struct vc_spec){.name = "v", .mode = VC_GPUS, .amount = 8, .changes = shrink, .n_changes = 1};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 1000, 8)].vc = "v";
    c->jobs[case_job(c, 900, 10, 1)].vc = "v";
    case_run(c);
    cr_assert_eq(metrics_compute(&m, &c->r, &c->w, &c->spec.measure, NULL), 0);
    cr_expect_eq(m.value[metrics_find("gpu_utilization")], 1);
    cr_expect_float_eq(m.value[metrics_find("gpu_utilization_makespan")], 1, 1e-12); /* then one GPU for 10 s of one */
    case_destroy(c);
}

/* How two runs must be related: the same twice, shifted, scaled, with idle nodes or hopeless jobs added, split, doubled. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct cases_shape shape = {
    .jobs = 120, .nodes = 6, .gpus = 8, .span_ns = 1500 * S, .longest_ns = 400 * S, .grain_ns = 1000, .largest = 20};
static const struct cases_shape two_vcs = {.jobs = 120,
                                           .nodes = 6,
                                           .gpus = 8,
                                           .span_ns = 1500 * S,
                                           .longest_ns = 400 * S,
                                           .grain_ns = 1000,
                                           .largest = 20,
                                           .n_vcs = 2};
static const struct cases_shape quotas = {.jobs = 120,
                                          .nodes = 6,
                                          .gpus = 8,
                                          .span_ns = 1500 * S,
                                          .longest_ns = 400 * S,
                                          .grain_ns = 1000,
                                          .largest = 20,
                                          .n_vcs = 2,
                                          .quotas = true};

static void set_if_there(struct test_case *c, const char *param, const char *value)
{
    if (case_has_param(c, param))
        case_param(c, param, value);
}

static struct test_case *create(const struct cases_shape *z, uint64_t seed, const char *policy)
{
    struct test_case *c = cases_create(z, seed);
    case_policy_quick(c, policy);
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->spec.overhead.restart.constant_ns = 5 * S;
    set_if_there(c, "quantum", "20 s");
    set_if_there(c, "half_life", "200 s");
    set_if_there(c, "lease", "20 s");
    set_if_there(c, "ahead", "10 s");
    set_if_there(c, "window", "20 s");
    set_if_there(c, "period", "30 s");
    set_if_there(c, "horizon", "800 s");
    set_if_there(c, "quanta", "[20, 60]");
    set_if_there(c, "boost", "500 s");
    set_if_there(c, "ageing", strcmp(policy, "priority") == 0 ? "100 s" : "0 s");
    return c;
}

#define FOR_EACH_POLICY(p)                                                                                             \
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)                                           \
        if (case_any_size(*p))

/* ---- the same twice ---------------------------------------------------------------------------------------- */

static void check_twice(const struct cases_shape *z)
{
    FOR_EACH_POLICY(p)
    {
        struct test_case *a = create(z, 11, (*p)->name), *b = create(z, 11, (*p)->name);
        case_run(a);
        case_run(b);
        cr_expect_eq(memcmp(a->r.jobs, b->r.jobs, a->n_jobs * sizeof *a->r.jobs), 0, "%s", (*p)->name);
        cr_expect_eq(memcmp(&a->r.totals, &b->r.totals, sizeof a->r.totals), 0, "%s", (*p)->name);
        case_destroy(a);
        case_destroy(b);
    }
}

Test(twice, two_runs_give_the_same_bytes)
{
    check_twice(&shape);
}

Test(twice, two_runs_over_quotas_give_the_same_bytes)
{
    check_twice(&quotas);
}

Test(twice, checking_changes_no_byte)
{
    FOR_EACH_POLICY(p)
    {
        struct test_case *a = create(&quotas, 12, (*p)->name), *b = create(&quotas, 12, (*p)->name);
        b->spec.check = false;
        case_run(a);
        case_run(b);
        cr_expect_eq(memcmp(a->r.jobs, b->r.jobs, a->n_jobs * sizeof *a->r.jobs), 0, "%s", (*p)->name);
        case_destroy(a);
        case_destroy(b);
    }
}

/* ---- shifted and scaled ------------------------------------------------------------------------------------- */

static void move_times(struct test_case *c, int64_t shift, int64_t scale)
{
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct case_job *job = &c->jobs[j];
        job->submit_ns = job->submit_ns * scale + shift;
        job->duration_ns *= scale;
        job->estimate_ns *= scale;
        job->recorded_start_ns = job->recorded_start_ns * scale + shift;
    }
    c->spec.overhead.restart.constant_ns *= scale;
    for (uint32_t v = 0; v < c->cluster.n_vcs; v++)
        for (uint32_t i = 0; i < c->vcs[v].n_changes; i++)
            c->vcs[v].changes[i].at_ns = c->vcs[v].changes[i].at_ns * scale + shift;
}

enum { SCALE = 16 }; /* a power of two, and small: sums of nanoseconds in doubles scale to the last bit */

/* Policies that search compare sums to the last nanosecond, and what remains of a job beyond its estimate is 1 ns at any scale: they get exact
 * estimates, and expect no arrivals, whose moments are drawn in whole nanoseconds. */
static void check_moved(const struct cases_shape *z, const char *policy, int64_t shift, int64_t scale)
{
    struct test_case *a = create(z, 21, policy);
    if (scale != 1 && case_has_param(a, "window_jobs")) {
        a->spec.estimate.source = ESTIMATE_EXACT;
        set_if_there(a, "lookout", "0 s");
    }
    case_run(a);
    struct test_case *b = create(z, 21, policy); /* from here on the changes of quota are b's */
    b->spec.estimate.source = a->spec.estimate.source;
    move_times(b, shift, scale);
    if (scale == SCALE) {
        set_if_there(b, "quantum", "320 s");
        set_if_there(b, "half_life", "3200 s");
        set_if_there(b, "lease", "320 s");
        set_if_there(b, "ahead", "160 s");
        set_if_there(b, "window", "320 s");
        set_if_there(b, "period", "480 s");
        set_if_there(b, "lookout", "0 s");
        set_if_there(b, "horizon", "12800 s");
        set_if_there(b, "quanta", "[320, 960]");
        set_if_there(b, "boost", "8000 s");
        set_if_there(b, "ageing", strcmp(policy, "priority") == 0 ? "1600 s" : "0 s");
    }
    case_run(b);
    cr_expect(cases_same(&a->r, &b->r, NULL, shift, scale), "%s", policy);
    case_destroy(a);
    case_destroy(b);
}

/* By a multiple of every quantum: alarms come at multiples of it. */
Test(moved, shifting_all_times_shifts_the_schedule)
{
    FOR_EACH_POLICY(p)
    {
        check_moved(&shape, (*p)->name, INT64_C(86400) * 400 * S, 1);
        check_moved(&quotas, (*p)->name, INT64_C(86400) * 400 * S, 1);
    }
}

/* Those whose parameters are times that cannot be set here stay out. */
Test(moved, scaling_all_times_scales_the_schedule)
{
    FOR_EACH_POLICY(p)
    {
        if (strcmp((*p)->name, "tiresias") == 0 || strncmp((*p)->name, "gittins", 7) == 0 ||
            strcmp((*p)->name, "auction") == 0 || strcmp((*p)->name, "proportional_price") == 0 ||
            strcmp((*p)->name, "dynamic_priority") == 0 ||
            strncmp((*p)->name, "themis", 6) == 0 /* parts of time are rounded to nanoseconds */)
            continue;
        check_moved(&shape, (*p)->name, 0, SCALE);
        check_moved(&quotas, (*p)->name, 0, SCALE);
    }
}

/* ---- added ----------------------------------------------------------------------------------------------------- */

Test(added, a_node_that_nobody_may_use_changes_nothing)
{
    FOR_EACH_POLICY(p)
    {
        struct test_case *a = create(&two_vcs, 31, (*p)->name), *b = create(&two_vcs, 31, (*p)->name);
        b->groups[b->cluster.n_groups++] = (struct node_group_spec){.count = 2, .gpus = 16, .gpu = "h100"};
        case_run(a);
        case_run(b);
        cr_expect(cases_same(&a->r, &b->r, NULL, 0, 1), "%s", (*p)->name);
        cr_expect_eq(a->r.totals.capacity_gpu_ns_window, b->r.totals.capacity_gpu_ns_window,
                     "nobody's nodes are no capacity");
        case_destroy(a);
        case_destroy(b);
    }
}

Test(added, a_node_without_gpus_changes_nothing)
{
    FOR_EACH_POLICY(p)
    {
        struct test_case *a = create(&shape, 32, (*p)->name), *b = create(&shape, 32, (*p)->name);
        b->groups[b->cluster.n_groups++] =
            (struct node_group_spec){.count = 3, .gpus = 0, .gpu = "", .cpu_milli = 64000};
        case_run(a);
        case_run(b);
        cr_expect(cases_same(&a->r, &b->r, NULL, 0, 1), "%s", (*p)->name);
        case_destroy(a);
        case_destroy(b);
    }
}

/* Jobs of `from` and, at every tenth place, one that cannot run; `map` tells the new numbers. */
static void add_hopeless(struct test_case *to, const struct test_case *from, uint32_t *map)
{
    to->n_jobs = 0;
    for (uint32_t j = 0; j < from->n_jobs; j++) {
        map[j] = to->n_jobs;
        to->jobs[to->n_jobs++] = from->jobs[j];
        if (j % 10 != 0)
            continue;
        struct case_job hopeless = from->jobs[j];
        if (j % 20 == 0)
            hopeless.vc = "elsewhere";
        else
            hopeless.gpus = 1000;
        to->jobs[to->n_jobs++] = hopeless;
    }
}

Test(added, rejected_jobs_change_nothing)
{
    FOR_EACH_POLICY(p)
    {
        if (strcmp((*p)->name, "random") == 0 || strcmp((*p)->name, "gittins") == 0)
            continue; /* the one draws by rank, the other learns from the lengths of all jobs of the trace */
        uint32_t map[CASE_JOBS];
        struct test_case *a = create(&two_vcs, 33, (*p)->name), *b = create(&two_vcs, 33, (*p)->name);
        add_hopeless(b, a, map);
        case_run(a);
        case_run(b);
        cr_expect(cases_same(&a->r, &b->r, map, 0, 1), "%s", (*p)->name);
        uint32_t n_rejected = 0;
        for (uint32_t j = 0; j < b->n_jobs; j++)
            n_rejected += b->r.jobs[j].status == STATUS_REJECTED;
        cr_expect_geq(n_rejected, 12u);
        case_destroy(a);
        case_destroy(b);
    }
}

/* ---- split -------------------------------------------------------------------------------------------------------- */

static void check_split(const char *policy, const char *placement)
{
    struct test_case *both = create(&two_vcs, 41, policy);
    case_placement(both, placement);
    case_run(both);
    for (uint32_t v = 0; v < 2; v++) {
        struct test_case *one = create(&two_vcs, 41, policy);
        uint32_t map[CASE_JOBS], n = 0;
        case_placement(one, placement);
        one->groups[0].count = one->vcs[v].amount;
        one->vcs[0] = one->vcs[v];
        one->cluster.n_vcs = 1;
        for (uint32_t j = 0; j < both->n_jobs; j++)
            if (strcmp(both->jobs[j].vc, both->vcs[v].name) == 0) {
                map[n] = j;
                one->jobs[n++] = both->jobs[j];
            }
        one->n_jobs = n;
        case_run(one);
        cr_expect(cases_same(&one->r, &both->r, map, 0, 1), "%s, %s", policy, placement);
        case_destroy(one);
    }
    case_destroy(both);
}

Test(split, independent_virtual_clusters_may_be_run_apart)
{
    FOR_EACH_POLICY(p)
    {
        /* random draws by rank; who rules all virtual clusters knows what their users have in the others */
        if (strcmp((*p)->name, "random") != 0 && (*p)->scope != SCOPE_CLUSTER)
            check_split((*p)->name, "consolidate");
    }
}

Test(split, placements_that_draw_or_take_turns_do_so_by_virtual_cluster)
{
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        check_split("srtf", (*p)->name);
}

/* ---- doubled -------------------------------------------------------------------------------------------------------- */

Test(doubled, twice_the_gpus_for_twice_the_demand_is_the_same_schedule)
{
    FOR_EACH_POLICY(p)
    {
        if (strcmp((*p)->name, "tiresias") == 0 || strcmp((*p)->name, "gittins") == 0)
            continue; /* their limits are GPU-times */
        struct test_case *a = create(&shape, 51, (*p)->name), *b = create(&shape, 51, (*p)->name);
        case_placement(a, "count");
        case_placement(b, "count");
        b->groups[0].gpus *= 2;
        set_if_there(a, "income", "1"); /* of a market: twice the GPUs cost twice as much */
        set_if_there(b, "income", "2");
        for (uint32_t j = 0; j < b->n_jobs; j++)
            b->jobs[j].gpus *= 2;
        case_run(a);
        case_run(b);
        cr_expect(cases_same(&a->r, &b->r, NULL, 0, 1), "%s", (*p)->name);
        cr_expect_eq(2 * a->r.totals.allocated_gpu_ns_makespan, b->r.totals.allocated_gpu_ns_makespan);
        case_destroy(a);
        case_destroy(b);
    }
}

/* ---- more of it ------------------------------------------------------------------------------------------------------ */

/* Where every job has GPUs at once, every work-conserving policy gives the same schedule. */
Test(plenty, nobody_waits_under_any_policy)
{
    FOR_EACH_POLICY(p)
    {
        if (strcmp((*p)->name, "time_window") == 0)
            continue; /* all wait for their window to close */
        struct test_case *c = create(&shape, 61, (*p)->name);
        c->groups[0].count = 1000;
        for (uint32_t j = 0; j < c->n_jobs; j++)
            c->jobs[j].recorded_start_ns = c->jobs[j].submit_ns;
        case_run(c);
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            const struct job *job = &c->r.jobs[j];
            cr_assert(job->start_ns == c->jobs[j].submit_ns && job->run_ns == c->jobs[j].duration_ns &&
                          job->end_ns == job->start_ns + job->run_ns && job->preemptions == 0 && job->moves == 0,
                      "%s: job %u", (*p)->name, j);
        }
        case_destroy(c);
    }
}

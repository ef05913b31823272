/* Policies that get nowhere are told by name, soon; and time ends after 292 years. */
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <string.h>

/* Starts what comes, but forgets every job that found no room. */
static void forgetful(struct sched *s, uint32_t round)
{
    (void)round;
    for (uint32_t job = 0; job < sched_n_jobs(s); job++)
        if (sched_is_queued(s, job) && sched_submit_ns(s, job) == sched_now(s))
            sched_start(s, job);
}

Test(stuck, jobs_that_a_policy_forgets_are_counted)
{
    struct test_case *c = case_create(1, 4);
    for (int i = 0; i < 3; i++)
        case_job(c, i, 10, 3); /* the second and the third find no room */
    case_job(c, 5, 1, 1);
    cases_run_script(c, forgetful);
    cr_expect_eq(c->r.totals.forgotten, 2u);
    case_destroy(c);
}

Test(stuck, jobs_that_a_quota_keeps_out_are_not_forgotten)
{
    struct vc_change shrink[] = {{5 * S, 0}};
    struct test_case *c = case_create(1, 4);
    c->vcs[0] = (struct vc_spec){.name = "v", .mode = VC_GPUS, .amount = 4, .changes = shrink, .n_changes = 1};
    c->cluster.n_vcs = 1;
    c->jobs[case_job(c, 0, 10, 4)].vc = "v";
    c->jobs[case_job(c, 1, 10, 4)].vc = "v";
    case_run(c);
    cr_expect_eq(c->r.jobs[1].status, STATUS_UNFINISHED);
    cr_expect_eq(c->r.totals.forgotten, 0u);
    case_destroy(c);
}

static void nosy(struct sched *s, uint32_t round)
{
    int64_t value = 0;
    (void)round;
    for (uint32_t job = 0; job < sched_n_jobs(s); job++) {
        cr_expect_eq(sched_estimate_ns(s, job, &value), SCHED_E_UNDECLARED);
        cr_expect_eq(sched_deadline_ns(s, job, &value), SCHED_E_UNDECLARED);
        cr_expect_eq(sched_remaining_ns(s, job, &value), SCHED_E_UNDECLARED);
    }
    cases_start_all(s);
}

Test(stuck, what_a_policy_asks_for_undeclared_is_counted)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    cases_run_script(c, nosy); /* is asked at 0 and at 10 s */
    cr_expect_eq(c->r.totals.undeclared[__builtin_ctz(KNOWS_ESTIMATE)], 2 * cases_n_rounds);
    cr_expect_eq(c->r.totals.undeclared[__builtin_ctz(KNOWS_DEADLINE)], cases_n_rounds);
    cr_expect_eq(c->r.totals.undeclared[__builtin_ctz(KNOWS_DURATION)], 0u);
    case_destroy(c);
}

static int64_t tick_ns;

static void ticking(struct sched *s, uint32_t round)
{
    (void)round;
    cases_start_all(s);
    sched_wake_at(s, sched_now(s) + tick_ns);
}

/* Whether a job of `duration_s` is waited for by a policy that wakes every `tick`. */
static const char *tick(struct test_case *c, int64_t tick, double duration_s)
{
    struct policy_ops ops = cases_script(ticking);
    tick_ns = tick;
    cases_use(c, &ops);
    c->spec.check = false;
    case_job(c, 0, duration_s, 1);
    return case_try(c) == BRAID_OK ? "" : c->err.message;
}

Test(stuck, a_clock_that_ticks_is_waited_for_one_that_crawls_is_an_error)
{
    struct test_case *c = case_create(1, 1);
    cr_expect_str_eq(tick(c, S, 2.5e6), "", "a month of seconds");
    case_destroy(c);
    c = case_create(1, 1);
    const char *said = tick(c, 1, 1000);
    cr_expect(strstr(said, "wakes itself again and again: 1000000 times") != NULL &&
                  strstr(said, "1000.000000000 s") != NULL,
              "%s", said);
    case_destroy(c);
}

static const struct {
    const char *name;
    double duration_s[3];
    bool ends;
} long_runs[] = {
    {"292 years", {9.2e9}, true},
    {"a job beyond", {9.3e9}, false},
    {"a queue beyond", {4e9, 4e9, 4e9}, false},
    {"what was cut short before", {9000000000.0}, true},
};

Test(stuck, a_schedule_that_passes_the_end_of_time_is_an_error)
{
    for (size_t i = 0; i < sizeof long_runs / sizeof *long_runs; i++) {
        struct test_case *c = case_create(1, 1);
        int64_t sum = 0;
        for (int k = 0; k < 3 && long_runs[i].duration_s[k] > 0; k++) {
            uint32_t job = case_job(c, 0, 1, 1);
            double ns = long_runs[i].duration_s[k] * 1e9;
            c->jobs[job].duration_ns = ns < 9.22e18 ? (int64_t)ns : INT64_MAX;
            sum += long_runs[i].ends ? c->jobs[job].duration_ns : 0;
        }
        int code = case_try(c);
        cr_expect_eq(code, long_runs[i].ends ? BRAID_OK : BRAID_BAD_INPUT, "%s: %s", long_runs[i].name, c->err.message);
        if (long_runs[i].ends)
            cr_expect_eq(c->r.jobs[0].end_ns, sum, "%s", long_runs[i].name);
        else
            cr_expect_not_null(strstr(c->err.message, "292 years"), "%s", c->err.message);
        case_destroy(c);
    }
}

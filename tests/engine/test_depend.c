/* Jobs that wait for other jobs: schedules solved by hand, and random graphs against a naive simulator. */
#include "tests/dice.h"
#include "tests/engine/cases.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t after(struct test_case *c, const char *depends, double submit, double duration, uint32_t gpus)
{
    uint32_t job = case_job(c, submit, duration, gpus);
    c->jobs[job].depends = depends;
    return job;
}

static void expect(const struct test_case *c, uint32_t job, double start, double end)
{
    cr_expect_float_eq(case_start_s(c, job), start, 1e-9, "job %u starts at %g, not %g", job, case_start_s(c, job),
                       start);
    cr_expect_float_eq(case_end_s(c, job), end, 1e-9, "job %u ends at %g, not %g", job, case_end_s(c, job), end);
}

static void expect_fate(const struct test_case *c, uint32_t job, enum job_status status, const char *reason)
{
    cr_expect_eq(c->r.jobs[job].status, status, "job %u: %s", job,
                 job_status_text((enum job_status)c->r.jobs[job].status));
    cr_expect_str_eq(c->r.jobs[job].reason, reason, "job %u", job);
}

Test(depend, a_job_enters_the_queue_when_the_last_before_it_has_ended)
{
    /*  GPU 0  AAAA DD          A 0-4, B 0-6; C (after A) 4-5 on the free one; D (after A, B) at 6; E (after A) is submitted
     *  GPU 1  BBBBBB           only at 20 */
    struct test_case *c = case_create(1, 2);
    case_job(c, 0, 4, 1);
    case_job(c, 0, 6, 1);
    after(c, "0", 1, 1, 1);
    after(c, "0;1", 1, 2, 2);
    after(c, "0", 20, 1, 1);
    case_run(c);
    expect(c, 2, 4, 5);
    expect(c, 3, 6, 8);
    expect(c, 4, 20, 21);
    case_destroy(c);
}

Test(depend, later_submissions_may_come_first)
{
    struct test_case *c = case_create(1, 4); /* job 0 waits for job 1, which is submitted at 5 */
    after(c, "1", 0, 2, 1);
    case_job(c, 5, 3, 1);
    case_run(c);
    expect(c, 1, 5, 8);
    expect(c, 0, 8, 10);
    cr_expect_eq(c->r.jobs[0].run_ns, 2 * S);
    case_destroy(c);
}

Test(depend, jobs_of_no_length_release_others_in_the_same_instant)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 0, 1);
    after(c, "0", 0, 0, 1);
    after(c, "1", 0, 0, 1);
    after(c, "2", 0, 1, 1);
    case_run(c);
    expect(c, 3, 0, 1);
    case_destroy(c);
}

Test(depend, a_waiting_job_holds_nobody_back)
{
    struct test_case *c = case_create(1, 1); /* fifo: job 1 of rank 1 is not in the queue until 10 */
    case_job(c, 0, 10, 1);
    after(c, "3", 1, 1, 1);
    case_job(c, 2, 1, 1);
    case_job(c, 3, 1, 1);
    case_run(c);
    expect(c, 2, 10, 11);
    expect(c, 3, 11, 12);
    expect(c, 1, 12, 13);
    case_destroy(c);
}

Test(depend, who_waits_for_a_job_that_never_ends_is_rejected)
{
    /* 0 is too large and rejected at 1; so are 1 and, by way of it, 2; 3 is when it comes; 4 waits for 5 as well, which runs on */
    struct test_case *c = case_create(1, 2);
    case_job(c, 1, 5, 99);
    after(c, "0", 1, 5, 1);
    after(c, "1", 1, 5, 1);
    after(c, "2", 7, 5, 1);
    after(c, "5;0", 7, 5, 1);
    case_job(c, 7, 5, 1);
    case_run(c);
    for (uint32_t j = 1; j <= 4; j++)
        expect_fate(c, j, STATUS_REJECTED, "dependency_failed");
    cr_expect_eq(c->r.jobs[2].end_ns, 1 * S);
    cr_expect_eq(c->r.jobs[3].end_ns, 7 * S);
    expect_fate(c, 5, STATUS_FINISHED, "");
    case_destroy(c);
}

Test(depend, a_killed_job_takes_its_successors_along)
{
    struct test_case *c = case_create(1, 1);
    c->spec.estimate.source = ESTIMATE_TRACE;
    c->spec.estimate.on_exceed = ESTIMATE_KILL;
    c->jobs[case_job(c, 0, 10, 1)].estimate_ns = 3 * S;
    c->jobs[after(c, "0", 0, 1, 1)].estimate_ns = 1 * S;
    case_run(c);
    expect_fate(c, 0, STATUS_KILLED, "estimate_exceeded");
    expect_fate(c, 1, STATUS_REJECTED, "dependency_failed");
    cr_expect_eq(c->r.jobs[1].end_ns, 3 * S);
    case_destroy(c);
}

Test(depend, at_the_end_it_is_said_who_still_waited)
{
    struct test_case *c = case_create(1, 1);
    case_job(c, 0, 10, 1);
    after(c, "0", 0, 1, 1);
    after(c, "0", 8, 1, 1);
    c->spec.stop.at_ns = 5 * S;
    case_run(c);
    expect_fate(c, 1, STATUS_UNFINISHED, "waits_for_dependency");
    expect_fate(c, 2, STATUS_NOT_SUBMITTED, "not_submitted");
    case_destroy(c);
}

/* Waiting for other jobs is waiting: it has segments, also of jobs that never get further. */
Test(depend, time_of_waiting_for_others_lies_in_segments)
{
    for (int is_stopped = 0; is_stopped < 2; is_stopped++) {
        struct test_case *c = case_create(1, 1);
        struct told *t = cases_watch(c);
        c->spec.estimate.source = ESTIMATE_TRACE;
        c->spec.estimate.on_exceed = ESTIMATE_KILL;
        c->jobs[case_job(c, 0, 10, 1)].estimate_ns = 3 * S;
        c->jobs[after(c, "0", 1, 1, 1)].estimate_ns = 1 * S;
        c->spec.stop.at_ns = is_stopped ? 2 * S : RUN_NO_LIMIT;
        case_run(c);
        expect_fate(c, 1, is_stopped ? STATUS_UNFINISHED : STATUS_REJECTED,
                    is_stopped ? "waits_for_dependency" : "dependency_failed");
        int64_t waited = 0;
        for (uint32_t i = 0; i < t->n_segments; i++)
            if (t->segments[i].job == 1 && t->segments[i].kind == SEGMENT_QUEUED)
                waited += t->segments[i].end - t->segments[i].begin;
        cr_expect_eq(waited, (is_stopped ? 1 : 2) * S);
        case_destroy(c);
    }
}

Test(depend, circles_are_refused)
{
    static const char *const circles[][3] = {{"0", NULL, NULL}, {"1", "0", NULL}, {"2", "0", "1"}};
    for (size_t i = 0; i < sizeof circles / sizeof *circles; i++) {
        struct test_case *c = case_create(1, 1);
        for (int j = 0; j < 3; j++)
            after(c, circles[i][j], 0, 1, 1);
        cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
        cr_expect_not_null(strstr(c->err.message, "depends on itself"), "%s", c->err.message);
        case_destroy(c);
    }
}

Test(critical_path, the_job_on_which_most_hangs_goes_first)
{
    /* one GPU; 0: 5 s, nothing after it. 1: 1 s, then 2 (2 s), then 3 (3 s): a chain of 6. */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "critical_path");
    case_job(c, 0, 5, 1);
    case_job(c, 0, 1, 1);
    after(c, "1", 0, 2, 1);
    after(c, "2", 0, 3, 1);
    case_run(c);
    expect(c, 1, 0, 1); /* 6 against 5 */
    expect(c, 0, 1, 6); /* 5 against 2 + 3: equal, the lower rank */
    expect(c, 2, 6, 8);
    expect(c, 3, 8, 11);
    case_destroy(c);
}

Test(critical_path, of_several_successors_the_longest_chain_counts)
{
    /* one GPU; 0: 4 s, nothing after it. 1: 1 s, then both 2 (5 s) and 3 (1 s): 6 by way of 2, 2 by way of 3. */
    struct test_case *c = case_create(1, 1);
    case_policy(c, "critical_path");
    case_job(c, 0, 4, 1);
    case_job(c, 0, 1, 1);
    after(c, "1", 0, 5, 1);
    after(c, "1", 0, 1, 1);
    case_run(c);
    expect(c, 1, 0, 1); /* 6 against 4 */
    expect(c, 2, 1, 6); /* 5 against 4 */
    expect(c, 0, 6, 10);
    expect(c, 3, 10, 11);
    case_destroy(c);
}

/* ---- random graphs ------------------------------------------------------------------------------------------------- */

enum { N = 50, WORD = 40 };

struct graph {
    struct test_case *c;
    char texts[N][WORD];
    uint32_t on[N][3], n_on[N];
    int64_t release[N], start[N], end[N]; /* s; -1: not yet, -2: rejected */
};

static uint32_t roll(uint64_t *state, uint32_t sides)
{
    return (uint32_t)dice_star(state, sides);
}

/* Edges go from lower to higher in a random order of the jobs, so that late submissions may be predecessors of early ones. */
static void graph_make(struct graph *g, uint64_t seed, const char *policy)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    uint32_t level[N];
    *g = (struct graph){.c = case_create(1, 8)};
    case_policy(g->c, policy);
    case_placement(g->c, "count");
    for (uint32_t j = 0, submit = 0; j < N; j++) {
        submit += roll(&state, 4);
        level[j] = roll(&state, 1000);
        case_job(g->c, submit, roll(&state, 12), roll(&state, 40) == 0 ? 9 : 1 + roll(&state, 5));
    }
    for (uint32_t j = 0; j < N; j++) {
        for (uint32_t k = roll(&state, 4); k > 0; k--) {
            uint32_t on = roll(&state, N);
            if (level[on] < level[j]) {
                size_t used = strlen(g->texts[j]);
                snprintf(g->texts[j] + used, WORD - used, "%s%u", used > 0 ? ";" : "", on);
                g->on[j][g->n_on[j]++] = on;
            }
        }
        g->c->jobs[j].depends = g->texts[j];
    }
}

/* Second by second: who is done, who may queue, then first come first served by submission and rank, whoever fits (fifo_skip). */
static void graph_naive(struct graph *g)
{
    uint32_t open = N, free = 8;
    for (uint32_t j = 0; j < N; j++)
        g->release[j] = g->start[j] = g->end[j] = -1;
    for (int64_t t = 0; open > 0; t++)
        for (bool again = true; again;) {
            again = false;
            for (uint32_t j = 0; j < N; j++)
                if (g->start[j] >= 0 && g->end[j] < 0 && g->start[j] + g->c->jobs[j].duration_ns / S == t) {
                    g->end[j] = t;
                    free += g->c->jobs[j].gpus;
                    open--;
                }
            for (uint32_t pass = 0; pass < N; pass++)
                for (uint32_t j = 0; j < N; j++) {
                    if (g->c->jobs[j].submit_ns > t * S || g->release[j] >= 0 || g->end[j] != -1)
                        continue;
                    bool failed = false, ready = true;
                    for (uint32_t k = 0; k < g->n_on[j]; k++) {
                        failed |= g->end[g->on[j][k]] == -2;
                        ready &= g->end[g->on[j][k]] >= 0;
                    }
                    if (failed || (ready && g->c->jobs[j].gpus > 8)) {
                        g->end[j] = -2;
                        open--;
                    } else if (ready) {
                        g->release[j] = t;
                    }
                }
            for (uint32_t j = 0; j < N; j++)
                if (g->release[j] >= 0 && g->start[j] < 0 && g->c->jobs[j].gpus <= free) {
                    g->start[j] = t;
                    free -= g->c->jobs[j].gpus;
                    again |= g->c->jobs[j].duration_ns == 0;
                }
        }
}

Test(depend, random_graphs_agree_with_a_naive_simulator)
{
    struct graph *g = malloc(sizeof *g);
    uint32_t n_edges = 0, n_lost = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        graph_make(g, seed, "fifo_skip");
        graph_naive(g);
        case_run(g->c);
        for (uint32_t j = 0; j < N; j++) {
            const struct job *job = &g->c->r.jobs[j];
            n_edges += g->n_on[j];
            n_lost += g->end[j] == -2;
            if (g->end[j] == -2)
                cr_assert_eq(job->status, STATUS_REJECTED, "seed %d, job %u", (int)seed, j);
            else
                cr_assert(job->start_ns == g->start[j] * S && job->end_ns == g->end[j] * S,
                          "seed %d: job %u runs %g to %g s, but the reference says %d to %d", (int)seed, j,
                          (double)job->start_ns * 1e-9, (double)job->end_ns * 1e-9, (int)g->start[j], (int)g->end[j]);
        }
        case_destroy(g->c);
    }
    cr_expect(n_edges > 2000 && n_lost > 100, "%u edges, %u rejected", n_edges, n_lost);
    free(g);
}

Test(depend, every_policy_keeps_to_the_graph)
{
    struct graph *g = malloc(sizeof *g);
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            if (strcmp((*p)->name, "recorded") == 0 || strcmp((*p)->name, "optimal") == 0)
                continue; /* the one needs recorded starts, the other takes few jobs */
            graph_make(g, seed, (*p)->name);
            case_run(g->c);
            for (uint32_t j = 0; j < N; j++)
                for (uint32_t k = 0; k < g->n_on[j] && g->c->r.jobs[j].status == STATUS_FINISHED; k++) {
                    const struct job *on = &g->c->r.jobs[g->on[j][k]];
                    cr_expect(on->status == STATUS_FINISHED && on->end_ns <= g->c->r.jobs[j].start_ns,
                              "%s, seed %d: job %u starts before job %u has ended", (*p)->name, (int)seed, j,
                              g->on[j][k]);
                }
            case_destroy(g->c);
        }
    free(g);
}

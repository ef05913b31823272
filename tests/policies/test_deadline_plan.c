/* The plan of admission: against one that gives out all GPUs anew at each end, job by job (200,000 plans, millions of starts and ends), and on cases
 * solved by hand. */
#include "policies/deadline_plan.h"
#include "tests/engine/cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 24 };

static bool is_met(const struct planned *jobs, uint32_t n, uint32_t gpus, int64_t now, bool can_preempt)
{
    struct planned copy[JOBS_MAX];
    memcpy(copy, jobs, n * sizeof *copy);
    void *memory = malloc(deadline_plan_bytes(n));
    cr_assert_not_null(memory);
    bool met = deadline_plan_is_met(copy, n, gpus, now, can_preempt, memory);
    free(memory);
    return met;
}

/* ---- the reference ------------------------------------------------------------------------------------ */

struct slow {
    struct planned p;
    bool is_held, is_given;
};

static void take(struct slow *j, bool is_on, uint32_t *free_gpus)
{
    j->p.is_on = is_on;
    if (is_on)
        *free_gpus -= j->p.gpus < *free_gpus ? j->p.gpus : *free_gpus;
}

static void hand_out(struct slow *j, uint32_t n, uint32_t free_gpus)
{
    for (uint32_t i = 0; i < n; i++) {
        j[i].is_given = j[i].p.left == 0 || j[i].is_held;
        if (j[i].p.left > 0 && j[i].is_held)
            take(&j[i], true, &free_gpus);
    }
    for (uint32_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && j[to].p.deadline == j[from].p.deadline;)
            to++;
        for (int was_on = 1; was_on >= 0; was_on--)
            for (uint32_t i = from; i < to; i++)
                if (!j[i].is_given && j[i].p.is_on == (was_on != 0)) {
                    j[i].is_given = true;
                    take(&j[i], j[i].p.gpus <= free_gpus, &free_gpus);
                }
    }
}

/* Every deadline is looked at after every step. */
static bool is_met_slowly(const struct planned *jobs, uint32_t n, uint32_t gpus, int64_t now, bool can_preempt)
{
    struct slow j[JOBS_MAX];
    for (uint32_t i = 0; i < n; i++)
        j[i] = (struct slow){.p = jobs[i], .is_held = jobs[i].is_on && !can_preempt};
    for (bool has_waiting = true; has_waiting;) {
        int64_t step = INT64_MAX;
        hand_out(j, n, gpus);
        for (uint32_t i = 0; i < n; i++)
            if (j[i].p.left > 0 && j[i].p.is_on && j[i].p.left < step)
                step = j[i].p.left;
        if (step == INT64_MAX)
            return false;
        now += step;
        has_waiting = false;
        for (uint32_t i = 0; i < n; i++) {
            if (j[i].p.left == 0)
                continue;
            if (j[i].p.is_on) {
                j[i].p.left -= step;
                j[i].is_held = !can_preempt;
            }
            if (j[i].p.deadline != SCHED_NEVER && now + j[i].p.left > j[i].p.deadline)
                return false;
            has_waiting |= !j[i].p.is_on && j[i].p.deadline != SCHED_NEVER;
        }
    }
    return true;
}

static int by_deadline(const void *a, const void *b)
{
    const struct planned *x = a, *y = b;
    return (x->deadline > y->deadline) - (x->deadline < y->deadline);
}

/* Some run already, within the GPUs; few distinct deadlines make equal ones. */
static uint32_t random_jobs(struct planned *jobs, uint32_t gpus, bool are_small, int64_t now, bool can_preempt, uint64_t *dice)
{
    uint32_t n = 1 + (uint32_t)cases_roll(dice, JOBS_MAX), free_gpus = gpus;
    uint64_t horizon = 4 + cases_roll(dice, 120);
    for (uint32_t i = 0; i < n; i++) {
        jobs[i] =
            (struct planned){.left = 1 + (int64_t)cases_roll(dice, 12), .gpus = 1 + (uint32_t)cases_roll(dice, gpus)};
        jobs[i].gpus = are_small && cases_roll(dice, 5) > 0 ? 1 : jobs[i].gpus;
        jobs[i].deadline = now + jobs[i].left + (int64_t)cases_roll(dice, horizon);
        if (!can_preempt && cases_roll(dice, 6) == 0)
            jobs[i].deadline = SCHED_NEVER;
        jobs[i].is_on = jobs[i].gpus <= free_gpus && cases_roll(dice, 2) == 0;
        free_gpus -= jobs[i].is_on ? jobs[i].gpus : 0;
    }
    qsort(jobs, n, sizeof *jobs, by_deadline);
    return n;
}

static void expect_as_slowly(bool can_preempt, bool are_small, uint64_t dice)
{
    uint32_t n_met = 0, rounds = 100000;
    for (uint32_t round = 0; round < rounds; round++) {
        struct planned jobs[JOBS_MAX];
        int64_t now = (int64_t)cases_roll(&dice, 50);
        uint32_t gpus = 1 + (uint32_t)cases_roll(&dice, are_small ? 16 : 8);
        uint32_t n = random_jobs(jobs, gpus, are_small, now, can_preempt, &dice);
        bool met = is_met(jobs, n, gpus, now, can_preempt);
        cr_assert_eq(met, is_met_slowly(jobs, n, gpus, now, can_preempt), "round %u: %u jobs on %u GPUs", round, n,
                     gpus);
        n_met += met;
    }
    cr_expect(n_met > rounds / 10 && n_met < rounds * 9 / 10, "%u of %u were met: the cases are too easy", n_met,
              rounds);
}

Test(deadline_plan, with_preemption_is_as_giving_out_all_anew)
{
    expect_as_slowly(true, false, 11);
}

Test(deadline_plan, many_small_jobs_come_and_go_as_when_all_is_given_out_anew)
{
    expect_as_slowly(true, true, 13);
}

Test(deadline_plan, without_preemption_is_as_giving_out_all_anew)
{
    expect_as_slowly(false, false, 12);
}

/* ---- by hand ------------------------------------------------------------------------------------------ */

Test(deadline_plan, an_end_lets_one_in_and_another_has_to_go)
{
    /* 8 GPUs: 4, 2, 1 are on and one of 4 waits. At 10 the one of 2 ends, the one of 4 fits beside the first, and the last is out from 10 to 20:
     * it has 15 left by then and ends at 35 */
    struct planned jobs[] = {{.deadline = 100, .left = 50, .gpus = 4, .is_on = true},
                             {.deadline = 101, .left = 10, .gpus = 2, .is_on = true},
                             {.deadline = 102, .left = 10, .gpus = 4, .is_on = false},
                             {.deadline = 103, .left = 25, .gpus = 1, .is_on = true}};
    cr_expect(is_met(jobs, 4, 8, 0, true));
    jobs[3].deadline = 35;
    struct planned first = jobs[3];
    memmove(&jobs[1], &jobs[0], 3 * sizeof *jobs); /* due first, it is not put out at all */
    jobs[0] = first;
    cr_expect(is_met(jobs, 4, 8, 0, true));
    jobs[0].deadline = 24;
    cr_expect_not(is_met(jobs, 4, 8, 0, true));
}

Test(deadline_plan, of_equal_deadlines_who_is_on_goes_on)
{
    /* one GPU, two jobs of 10 due at 20: the second is on and goes on. A third, due later, has the GPU from 20 to 25 */
    struct planned jobs[] = {{.deadline = 20, .left = 10, .gpus = 1, .is_on = false},
                             {.deadline = 20, .left = 10, .gpus = 1, .is_on = true},
                             {.deadline = 25, .left = 5, .gpus = 1, .is_on = false}};
    cr_expect(is_met(jobs, 3, 1, 0, true));
    jobs[2].deadline = 24;
    cr_expect_not(is_met(jobs, 3, 1, 0, true));
}

Test(deadline_plan, who_holds_gpus_beyond_a_quota_that_shrank_keeps_them)
{
    /* 6 GPUs are held where only 4 may be: one of 2 gets in when 4 of them have come back, at 30 */
    struct planned jobs[] = {{.deadline = 40, .left = 10, .gpus = 2, .is_on = false},
                             {.deadline = SCHED_NEVER, .left = 30, .gpus = 4, .is_on = true},
                             {.deadline = SCHED_NEVER, .left = 50, .gpus = 2, .is_on = true}};
    cr_expect(is_met(jobs, 3, 4, 0, false));
    jobs[0].deadline = 39;
    cr_expect_not(is_met(jobs, 3, 4, 0, false));
}

Test(deadline_plan, nobody_can_wait_for_more_than_there_is)
{
    struct planned jobs[] = {{.deadline = 1000, .left = 1, .gpus = 5, .is_on = false}};
    cr_expect_not(is_met(jobs, 1, 4, 0, true));
    cr_expect_not(is_met(jobs, 1, 4, 0, false));
    cr_expect(is_met(jobs, 1, 5, 0, true));
}

Test(deadline_plan, times_at_the_end_of_time_do_not_wrap)
{
    struct planned jobs[] = {{.deadline = SCHED_NEVER - 1, .left = INT64_MAX - 10, .gpus = 1, .is_on = true},
                             {.deadline = SCHED_NEVER - 1, .left = INT64_MAX - 10, .gpus = 1, .is_on = false}};
    cr_expect_not(is_met(jobs, 2, 1, 100, true));
    cr_expect_not(is_met(jobs, 2, 1, 0, false));
    cr_expect(is_met(jobs, 1, 1, 5, false));
}

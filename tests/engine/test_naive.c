/* The engine and every composition of parts against naive.c, on random cases with fixed seeds. */
#include "tests/engine/naive_match.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>

static bool is_composable(const struct naive_case *c)
{
    if (c->fill == N_EASY && c->preempt != N_NEVER)
        return false; /* refused: test_compose_parts */
    if ((c->order == N_ROUND_ROBIN || c->order == N_RR_SJF) && c->preempt == N_WHEN_BETTER)
        return false;
    return true;
}

static void compare(enum naive_fill fill, enum naive_preempt preempt, const struct naive_size *z, uint32_t n_cases)
{
    uint32_t n_wrong = 0;
    for (int order = 0; order < N_ORDERS; order++)
        for (uint32_t i = 0; i < n_cases; i++) {
            struct naive_dice d = {1 + i * 7919u + (uint64_t)order * 104729u + (uint64_t)fill * 1299709u +
                                   (uint64_t)preempt * 15485863u};
            for (int k = 0; k < 8; k++)
                naive_roll(&d, 2);
            struct naive_case c = {.order = (enum naive_order)order,
                                   .fill = fill,
                                   .preempt = preempt,
                                   .placement = (enum naive_placement)(i % N_PLACEMENTS),
                                   .may_admit = i % 3 == 0,
                                   .has_bounds = true,
                                   .has_types = true,
                                   .ends_now = i % 4 == 1,
                                   .has_chains = order == N_CRITICAL_PATH};
            if (!is_composable(&c))
                continue;
            naive_roll_case(&c, z, &d);
            if (naive_agree(&c, false))
                continue;
            fprintf(stderr, "case %u of order %s differs\n", i, naive_order_names[order]);
            if (n_wrong++ < 3) {
                naive_shrink(&c);
                naive_agree(&c, true);
            }
        }
    cr_assert_eq(n_wrong, 0u, "%u cases differ", n_wrong);
}

/* A comparison is worth as much as what happens in the cases. */
Test(naive, everything_happens_in_the_cases)
{
    uint32_t n_status[N_KILLED + 1] = {0}, preemptions = 0, moves = 0, restarts = 0, zero = 0;
    for (uint32_t i = 0; i < 200; i++) {
        struct naive_dice d = {i * 7919u + 1};
        struct naive_case c = {.order = (enum naive_order)(i % N_RANDOM),
                               .fill = N_SKIP,
                               .preempt = N_QUANTUM,
                               .placement = (enum naive_placement)(i % N_PLACEMENTS)};
        struct naive_result r[NAIVE_JOBS];
        naive_roll_case(&c, i % 4 == 0 ? &naive_middle : &naive_tiny, &d);
        naive_run(&c, r);
        for (uint32_t j = 0; j < c.n_jobs; j++) {
            n_status[r[j].status]++;
            preemptions += r[j].preemptions;
            moves += r[j].moves;
            restarts += r[j].restarts;
            zero += r[j].status == N_FINISHED && r[j].run == 0;
        }
    }
    cr_expect(n_status[N_FINISHED] > 1000 && n_status[N_UNFINISHED] > 50 && n_status[N_REJECTED] > 50 &&
                  n_status[N_KILLED] > 50,
              "finished %u, unfinished %u, rejected %u, killed %u", n_status[N_FINISHED], n_status[N_UNFINISHED],
              n_status[N_REJECTED], n_status[N_KILLED]);
    cr_expect(preemptions > 500 && moves > 50 && restarts > 500 && zero > 20,
              "preemptions %u, moves %u, restarts %u, zero %u", preemptions, moves, restarts, zero);
}

enum { N_TINY = CASES(300), N_MIDDLE = CASES(60) };

#define AGAINST(fill_name, fill, preempt_name, preempt)                                                                \
    Test(naive, tiny_##fill_name##_##preempt_name##_agrees)                                                            \
    {                                                                                                                  \
        compare(fill, preempt, &naive_tiny, N_TINY);                                                                   \
    }                                                                                                                  \
    Test(naive, middle_##fill_name##_##preempt_name##_agrees)                                                          \
    {                                                                                                                  \
        compare(fill, preempt, &naive_middle, N_MIDDLE);                                                               \
    }

AGAINST(strict, N_STRICT, never, N_NEVER)
AGAINST(skip, N_SKIP, never, N_NEVER)
AGAINST(easy, N_EASY, never, N_NEVER)
AGAINST(strict, N_STRICT, when_better, N_WHEN_BETTER)
AGAINST(skip, N_SKIP, when_better, N_WHEN_BETTER)
AGAINST(strict, N_STRICT, quantum, N_QUANTUM)
AGAINST(skip, N_SKIP, quantum, N_QUANTUM)

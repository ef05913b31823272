/* Named policies with a rule of their own against naive_rules.h, on random cases with fixed seeds. */
#include "tests/engine/naive_rules.h"
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { N_TINY = CASES(300), N_MIDDLE = CASES(60) };

static void compare(const struct naive_rules *rules, const struct naive_size *z, uint32_t n_cases)
{
    uint32_t n_wrong = 0;
    for (uint32_t i = 0; i < n_cases; i++) {
        struct naive_dice d = {1 + i * 7919u};
        for (int k = 0; k < 8; k++)
            naive_roll(&d, 2);
        struct naive_case c = {.rules = rules,
                               .may_admit =
                                   strcmp(rules->policy, "edf") == 0 || strcmp(rules->policy, "least_laxity") == 0,
                               .has_bounds = rules == &naive_conservative,
                               .has_types = rules == &naive_conservative,
                               .has_chains = strcmp(rules->policy, "critical_path") == 0,
                               .placement = (enum naive_placement)(i % N_PLACEMENTS)};
        naive_roll_case(&c, z, &d);
        if (naive_agree(&c, false))
            continue;
        fprintf(stderr, "case %u of %s differs\n", i, rules->policy);
        if (n_wrong++ < 2) {
            naive_shrink(&c);
            naive_agree(&c, true);
            for (uint32_t k = 0; k < NAIVE_OWN; k++)
                fprintf(stderr, "own[%u] = %.9g\n", k, c.own[k]);
        }
    }
    cr_assert_eq(n_wrong, 0u, "%u of %u cases differ", n_wrong, n_cases);
}

static void compare_named(const struct naive_size *z, uint32_t n_cases)
{
    for (uint32_t i = 0; i < NAIVE_N_NAMED; i++) {
        const struct naive_rules rules = naive_named(i);
        compare(&rules, z, n_cases);
    }
}

Test(naive_policies, tiny_compositions_with_a_name_agree)
{
    compare_named(&naive_tiny, N_TINY);
}

Test(naive_policies, middle_compositions_with_a_name_agree)
{
    compare_named(&naive_middle, N_MIDDLE);
}

#define AGAINST(rules)                                                                                                 \
    Test(naive_policies, tiny_##rules##_agrees)                                                                        \
    {                                                                                                                  \
        compare(&naive_##rules, &naive_tiny, N_TINY);                                                                  \
    }                                                                                                                  \
    Test(naive_policies, middle_##rules##_agrees)                                                                      \
    {                                                                                                                  \
        compare(&naive_##rules, &naive_middle, N_MIDDLE);                                                              \
    }

AGAINST(tiresias)
AGAINST(mlfq)
AGAINST(users_in_turn)
AGAINST(jobs_in_turn)
AGAINST(time_window)
AGAINST(recorded)
AGAINST(gittins)
AGAINST(gittins_past)
AGAINST(dynamic_priority)
AGAINST(conservative)

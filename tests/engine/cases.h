/* cases.h - random cases of any instants (not whole seconds) and a watcher that keeps all that a run tells. */
#ifndef TESTS_ENGINE_CASES_H
#define TESTS_ENGINE_CASES_H

#include "tests/harness.h"

/* A small generator of its own, so that cases are the same everywhere and for ever. */
uint64_t cases_roll(uint64_t *state, uint64_t sides);

struct cases_shape {
    uint32_t jobs, nodes, gpus;  /* nodes of so many GPUs */
    int64_t span_ns, longest_ns; /* submissions in [0, span], durations in [0, longest], a tenth of them 0 */
    int64_t grain_ns;            /* all are multiples of it */
    uint32_t largest;            /* GPUs of a job */
    uint32_t n_vcs;              /* 0: none named; the nodes are shared out */
    bool quotas;                 /* … or the VCs are quotas of two thirds of all GPUs that change */
};

/* Users "u0" … "u4", priorities, estimates (not exact) and recorded starts (`recorded`: with case_policy "recorded" in mind). */
struct test_case *cases_create(const struct cases_shape *shape, uint64_t seed);

struct told_segment {
    uint32_t job;
    int64_t begin, end;
    enum segment_kind kind;
    double rate;
    uint32_t n_spans;
    struct span spans[16];
};

struct told_decision {
    int64_t at;
    enum decision_kind kind;
    uint32_t job, vc;
    char why[64];
};

struct told_levels {
    int64_t at;
    uint32_t instance;
    struct run_levels levels;
};

enum { TOLD_MAX = 40000 };

struct told {
    uint32_t n_segments, n_decisions, n_levels;
    struct told_segment segments[TOLD_MAX];
    struct told_decision decisions[TOLD_MAX];
    struct told_levels levels[TOLD_MAX];
};

/* Watch the runs of `c` from now on; what they tell is added to the one table that is returned, emptied first. */
struct told *cases_watch(struct test_case *c);

/* "finish 0, submit 1, start 1": decisions at instant `at_ns`, in order. */
const char *told_at(const struct told *t, int64_t at_ns);

/* Are two tables of jobs equal in all that the outside sees? `map[j]` is the second table's number of job j (NULL: the same); times of the
 * second are shift + scale times those of the first. Prints the first difference. */
bool cases_same(const struct run_result *a, const struct run_result *b, const uint32_t *map, int64_t shift,
                int64_t scale);

/* A script: a policy that is one function, called once a round inside `schedule` with the number of the round. */
struct policy_ops cases_script(void (*f)(struct sched *s, uint32_t round));
extern uint32_t cases_n_rounds; /* since cases_script */
void cases_use(struct test_case *c, const struct policy_ops *ops);
void cases_run_script(struct test_case *c,
                      void (*f)(struct sched *s, uint32_t round)); /* and assert that it was asked */
void cases_start_all(struct sched *s);                             /* every queued job that fits, by rank */

#endif

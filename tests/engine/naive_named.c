/* Named compositions: what each is made of, as docs/policies.md says. */
#include "tests/engine/naive_rules.h"

#include <string.h>

static const struct {
    const char *policy;
    enum naive_order order;
    enum naive_fill fill;
    enum naive_preempt preempt;
} parts[NAIVE_N_NAMED] = {{"critical_path", N_CRITICAL_PATH, N_SKIP, N_NEVER},
                          {"easy", N_FIFO, N_EASY, N_NEVER},
                          {"edf", N_EDF, N_SKIP, N_WHEN_BETTER},
                          {"fifo", N_FIFO, N_STRICT, N_NEVER},
                          {"fifo_skip", N_FIFO, N_SKIP, N_NEVER},
                          {"las", N_LAS, N_SKIP, N_QUANTUM},
                          {"least_laxity", N_LEAST_LAXITY, N_SKIP, N_QUANTUM},
                          {"ljf", N_LJF, N_STRICT, N_NEVER},
                          {"longest_waiting", N_LONGEST_WAITING, N_STRICT, N_NEVER},
                          {"priority", N_PRIORITY, N_STRICT, N_NEVER},
                          {"qssf", N_QSSF, N_STRICT, N_NEVER},
                          {"random", N_RANDOM, N_STRICT, N_NEVER},
                          {"round_robin", N_ROUND_ROBIN, N_SKIP, N_QUANTUM},
                          {"rr_sjf", N_RR_SJF, N_SKIP, N_QUANTUM},
                          {"sjf", N_SJF, N_STRICT, N_NEVER},
                          {"sjf_easy", N_SJF, N_EASY, N_NEVER},
                          {"sjf_skip", N_SJF, N_SKIP, N_NEVER},
                          {"smallest", N_SMALLEST, N_SKIP, N_WHEN_BETTER},
                          {"srsf", N_SRSF, N_SKIP, N_WHEN_BETTER},
                          {"srtf", N_SRTF, N_SKIP, N_WHEN_BETTER}};

static void named_roll(struct naive_case *c, struct naive_dice *d)
{
    (void)d;
    for (uint32_t i = 0; i < NAIVE_N_NAMED; i++)
        if (strcmp(parts[i].policy, c->rules->policy) == 0) {
            c->order = parts[i].order;
            c->fill = parts[i].fill;
            c->preempt = parts[i].preempt;
        }
    c->by_gpu_time = true;
    c->ageing = INT64_C(3600000000000);
}

static void named_params(const struct naive_case *c, struct test_case *t)
{
    naive_param_s(t, "quantum", (double)c->quantum * 1e-9);
    naive_param_s(t, "window", (double)c->window * 1e-9);
    if (c->admission)
        case_param(t, "admission", "feasible");
}

struct naive_rules naive_named(uint32_t i)
{
    return (struct naive_rules){
        .policy = parts[i].policy, .params = named_params, .roll = named_roll, .is_composition = true};
}

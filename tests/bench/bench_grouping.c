/* bench_grouping - how good the ways to make groups are, and what they cost: plans for candidates drawn from the shipped profiles
 * (traces/generator_stages.c, one GPU each), with 0.3 GPUs a candidate. Prints a row of a Markdown table a number of candidates: the value of the
 * plans as share of the bound that the linear program gives, and mean CPU time a plan.
 */
#include "model/interleave.h"
#include "policies/grouping.h"
#include "tests/policies/grouping_rounds.h"
#include "traces/generator_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MODELS = GENERATOR_NETWORKS, SETS = 1024, PROBLEMS = 40, WAYS = 4 };

struct study {
    struct interleave model;
    uint32_t profile[MODELS];
    struct grouping_row rows[MODELS];
    struct grouping_set sets[SETS];
    struct grouping g;
    uint64_t draws;
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t draw(uint64_t *x, uint32_t below)
{
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return (uint32_t)((*x >> 32) % below);
}

/* The mean use of the four resources, as muri_s and muri_l value groups. */
static double use_of(struct study *s, const struct grouping_set *set)
{
    uint32_t profiles[GROUPING_MEMBERS];
    double worked = 0;
    for (uint32_t i = 0; i < set->n; i++) {
        profiles[i] = s->profile[set->rows[i]];
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            worked += s->model.profiles[profiles[i]].stage[k];
    }
    double alone = s->model.profiles[profiles[0]].iteration;
    return worked / 4 / (set->n > 1 ? interleave_period(&s->model, profiles, set->n) : alone);
}

static void list(struct study *s, struct grouping_set set)
{
    for (uint32_t r = set.rows[set.n - 1]; r < MODELS; r++) {
        struct grouping_set longer = set;
        longer.rows[longer.n++] = (uint16_t)r;
        longer.value = use_of(s, &longer);
        if (s->g.n_sets < SETS)
            s->sets[s->g.n_sets++] = longer;
        if (longer.n < GROUPING_MEMBERS)
            list(s, longer);
    }
}

static bool study_init(struct study *s)
{
    struct interleave_rule rule = {.form = INTERLEAVE_PHASES, .order = INTERLEAVE_BEST, .kinds = WORKLOAD_STAGES};
    interleave_init(&s->model, &rule);
    for (uint32_t m = 0; m < MODELS; m++) {
        int64_t stages[WORKLOAD_STAGES];
        struct interleave_profile p = {.iteration = (double)generator_network_stages(m, 1, stages)};
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            p.stage[k] = (double)stages[k];
        s->profile[m] = interleave_add(&s->model, &p);
        if (s->profile[m] == UINT32_MAX)
            return false;
        s->rows[m] = (struct grouping_row){.gpus = 1};
        s->sets[m] = (struct grouping_set){.rows = {(uint16_t)m}, .n = 1};
        s->sets[m].value = use_of(s, &s->sets[m]);
    }
    s->g = (struct grouping){.n_rows = MODELS, .n_sets = MODELS, .rows = s->rows, .sets = s->sets};
    for (uint32_t m = 0; m < MODELS; m++)
        list(s, s->sets[m]);
    s->draws = 88172645463325252u;
    return true;
}

static bool plan(const struct grouping *g, int way, uint32_t *copies, double *bound)
{
    switch (way) {
    case 0:
        return grouping_rounds(g, copies);
    case 1:
        return grouping_greedy(g, copies);
    case 2:
        return grouping_exact(g, copies);
    default:
        return grouping_relaxed(g, copies, bound);
    }
}

/* Plans that need more GPUs than there are are left out of the value; false: this way does not take problems of this size. */
static void row_print(struct study *s, uint32_t n_jobs)
{
    double share[WAYS] = {0}, took[WAYS] = {0};
    uint32_t n[WAYS] = {0}, n_solved[WAYS] = {0};
    static uint32_t copies[WAYS][SETS];
    for (int i = 0; i < PROBLEMS; i++) {
        double bound = 0;
        bool is_solved[WAYS];
        for (uint32_t m = 0; m < MODELS; m++)
            s->rows[m].count = 0;
        for (uint32_t k = 0; k < n_jobs; k++)
            s->rows[draw(&s->draws, MODELS)].count++;
        s->g.capacity = (n_jobs * 3 + 9) / 10;
        for (int way = 0; way < WAYS; way++) {
            double from = cpu_s();
            is_solved[way] = plan(&s->g, way, copies[way], &bound);
            took[way] += cpu_s() - from;
            n_solved[way] += is_solved[way];
        }
        for (int way = 0; way < WAYS; way++)
            if (is_solved[way] && grouping_gpus(&s->g, copies[way]) <= s->g.capacity) {
                share[way] += grouping_value(&s->g, copies[way]) / bound;
                n[way]++;
            }
    }
    printf("| %u |", n_jobs);
    for (int way = 0; way < WAYS; way++)
        if (n[way] > 0)
            printf(" %.1f %% |", 100 * share[way] / n[way]);
        else
            printf(" |");
    for (int way = 0; way < WAYS; way++)
        if (n_solved[way] > 0)
            printf(" %.3f |", took[way] / n_solved[way] * 1e3);
        else
            printf(" |");
    for (int way = 0; way < WAYS; way++)
        if (n_solved[way] > n[way])
            fprintf(stderr, "%u candidates, way %d: %u of %u plans need too many GPUs\n", n_jobs, way,
                    n_solved[way] - n[way], n_solved[way]);
    puts("");
}

int main(void)
{
    static const uint32_t sizes[] = {6, 8, 12, 32, 64, 128, 256};
    struct study *s = calloc(1, sizeof *s);
    int status = s == NULL || !study_init(s);
    puts(
        "| candidates | rounds | greedy | exact | by_profile | rounds, ms | greedy, ms | exact, ms | by_profile, ms |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == 0; i++)
        row_print(s, sizes[i]);
    if (s != NULL)
        interleave_fini(&s->model);
    free(s);
    return status;
}

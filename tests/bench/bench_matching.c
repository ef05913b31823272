/* bench_matching - what a grouping decision is made of: the period of a group of four, kept and computed anew, and maximum-weight matchings
 * of jobs of eight kinds (many ties, as in traces) and of all different ones. Prints CPU time each.
 */
#include "model/interleave.h"
#include "policies/matching.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double draw(uint64_t *x)
{
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return (double)(*x >> 11) * 0x1p-53;
}

static double periods(enum interleave_form form, uint64_t *x)
{
    enum { PROFILES = 48, LOOKUPS = 2000000, COMPUTED = 200000 };
    struct interleave_rule rule = {.form = form, .kinds = form == INTERLEAVE_MURI ? 3 : 4};
    struct interleave m;
    static uint32_t ids[4096][4];
    const struct interleave_profile *jobs[4];
    double sum = 0;
    interleave_init(&m, &rule);
    for (int i = 0; i < PROFILES; i++) {
        struct interleave_profile p = {.iteration = 1 + draw(x)};
        for (uint32_t k = 0; k < rule.kinds; k++)
            p.stage[k] = draw(x);
        (void)interleave_add(&m, &p);
    }
    for (size_t i = 0; i < 4096; i++)
        for (int k = 0; k < 4; k++)
            ids[i][k] = (uint32_t)(draw(x) * 10);
    for (size_t i = 0; i < 4096; i++)
        sum += interleave_period(&m, ids[i], 4);
    double from = cpu_s();
    for (size_t i = 0; i < LOOKUPS; i++)
        sum += interleave_period(&m, ids[i % 4096], 4);
    double kept = (cpu_s() - from) / LOOKUPS;
    from = cpu_s();
    for (size_t i = 0; i < COMPUTED; i++) {
        for (int k = 0; k < 4; k++)
            jobs[k] = &m.profiles[ids[i % 4096][k]];
        sum += interleave_compute(&rule, jobs, 4);
    }
    printf("interleave form %s ns_kept %.1f us_computed %.2f\n", form == INTERLEAVE_MURI ? "muri" : "phases",
           kept * 1e9, (cpu_s() - from) / COMPUTED * 1e6);
    interleave_fini(&m);
    return sum;
}

static void matchings(uint32_t n, uint32_t kinds, uint64_t *x)
{
    enum { ROUNDS = 20 };
    double *value = malloc((size_t)kinds * kinds * sizeof *value), worst = 0;
    uint32_t *mate = malloc(n * sizeof *mate), *kind = malloc(n * sizeof *kind);
    void *memory = malloc(matching_memory(n));
    double all = 0;
    for (int round = 0; round < ROUNDS && value != NULL && mate != NULL && kind != NULL && memory != NULL; round++) {
        for (uint32_t i = 0; i < kinds; i++)
            for (uint32_t k = 0; k <= i; k++)
                value[i * kinds + k] = value[k * kinds + i] = 0.2 + draw(x) * 0.3;
        for (uint32_t i = 0; i < n; i++)
            kind[i] = kinds == n ? i : (uint32_t)(draw(x) * kinds);
        double from = cpu_s();
        matching_solve_classes(n, kind, kinds, value, mate, memory);
        double took = cpu_s() - from;
        all += took;
        worst = took > worst ? took : worst;
    }
    printf("matching vertices %u kinds %u ms_mean %.3f ms_worst %.3f\n", n, kinds, all / ROUNDS * 1e3, worst * 1e3);
    free(value);
    free(mate);
    free(kind);
    free(memory);
}

int main(void)
{
    uint64_t x = 88172645463325252u;
    double sum = periods(INTERLEAVE_PHASES, &x) + periods(INTERLEAVE_MURI, &x);
    for (uint32_t n = 64; n <= 256; n *= 2) {
        matchings(n, 8, &x);
        matchings(n, n, &x);
    }
    return sum > 0 ? 0 : 1;
}

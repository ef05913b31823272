#include "tests/policies/search_cases.h"
#include "tests/dice.h"

uint32_t draw(uint64_t *state, uint32_t n)
{
    return (uint32_t)((dice_next(state) >> 32) * n >> 32);
}

void draw_jobs(struct test_case *c, uint64_t *state, uint32_t n, uint32_t most_gpus)
{
    for (uint32_t i = 0; i < n; i++) {
        double length = 1 + draw(state, 100) * (draw(state, 4) == 0 ? 10.0 : 1.0);
        uint32_t power = draw(state, 5), gpus = 1u << power;
        gpus = draw(state, 4) == 0 ? 1 + draw(state, most_gpus) : gpus < most_gpus ? gpus : most_gpus;
        case_job(c, 0, length, gpus);
    }
}

double mean_jct(const struct test_case *c)
{
    double sum = 0;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        sum += (double)(c->r.jobs[j].end_ns - c->jobs[j].submit_ns) * 1e-9;
    return sum / c->n_jobs;
}

#include "tests/policies/ticks.h"

#include <criterion/criterion.h>

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void ticks_random(struct ticks *x, uint32_t seed, int64_t longest)
{
    uint32_t state = seed * 2654435761u + 1;
    *x = (struct ticks){.n = 1 + draw(&state) % TICK_JOBS, .gpus = 8};
    int64_t submit = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        submit += draw(&state) % 2 == 0 ? 0 : draw(&state) % (uint32_t)(longest / 2);
        x->jobs[i] = (struct tick_job){.submit = submit,
                                       .duration = 1 + draw(&state) % (uint32_t)longest,
                                       .gpus = 1 << draw(&state) % 3,
                                       .start = -1,
                                       .end = -1};
    }
}

static bool is_present(const struct tick_job *j, int64_t t)
{
    return j->submit <= t && j->end < 0;
}

static bool is_before(const struct tick_rule *rule, const struct tick_job *a, const struct tick_job *b)
{
    int order = rule->first(rule->self, a, b);
    if (order == 0)
        order = (int)b->is_running - (int)a->is_running;
    if (order == 0 && rule->then != NULL)
        order = rule->then(rule->self, a, b);
    return order != 0 ? order < 0 : a < b;
}

static void hand_out(struct ticks *x, const struct tick_rule *rule, int64_t t)
{
    struct tick_job *order[TICK_JOBS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (is_present(&x->jobs[i], t)) {
            uint32_t k = n++;
            for (; k > 0 && is_before(rule, &x->jobs[i], order[k - 1]); k--)
                order[k] = order[k - 1];
            order[k] = &x->jobs[i];
        }
    int64_t free = x->gpus;
    for (uint32_t i = 0; i < n; i++) {
        struct tick_job *j = order[i];
        bool runs = j->gpus <= free;
        free -= runs ? j->gpus : 0;
        j->preemptions += j->is_running && !runs;
        j->start = runs && j->start < 0 ? t : j->start;
        j->is_running = runs;
    }
}

void ticks_run(struct ticks *x, const struct tick_rule *rule)
{
    uint32_t left = x->n;
    for (int64_t t = 0; left > 0; t++) {
        for (uint32_t i = 0; i < x->n; i++) {
            struct tick_job *j = &x->jobs[i];
            if (j->is_running && j->attained == j->duration) {
                j->end = t;
                j->is_running = false;
                left--;
            }
            if (is_present(j, t))
                rule->update(rule->self, j, t);
        }
        hand_out(x, rule, t);
        for (uint32_t i = 0; i < x->n; i++) {
            struct tick_job *j = &x->jobs[i];
            j->attained += j->is_running;
            j->executed += j->is_running;
            j->waited += is_present(j, t) && !j->is_running && j->executed > 0;
        }
    }
}

void ticks_compare(struct ticks *x, struct test_case *c, uint32_t seed)
{
    case_placement(c, "count");
    for (uint32_t i = 0; i < x->n; i++)
        case_job(c, (double)x->jobs[i].submit, (double)x->jobs[i].duration, (uint32_t)x->jobs[i].gpus);
    case_run(c);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct tick_job *want = &x->jobs[i];
        const struct job *have = &c->r.jobs[i];
        cr_assert(have->start_ns == want->start * S && have->end_ns == want->end * S &&
                      have->preemptions == want->preemptions,
                  "seed %u: job %u runs %g to %g s with %u preemptions, but the reference says %lld to %lld s with %u",
                  seed, i, (double)have->start_ns * 1e-9, (double)have->end_ns * 1e-9, have->preemptions,
                  (long long)want->start, (long long)want->end, want->preemptions);
    }
    case_destroy(c);
}

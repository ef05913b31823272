/* What backfilling promises, over random cases with a schedule taken apart afterwards: nobody is delayed beyond its first reservation. */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { CASES = 150, JOBS = 40, GPUS = 8 };

struct dice {
    uint64_t state;
};

static uint32_t dice_roll(struct dice *d, uint32_t n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(d->state >> 33) % n;
}

/* Many equal instants, all sizes; estimates are true, or up to three times too long. */
static struct test_case *random_case(uint64_t seed, const char *policy, bool is_exact)
{
    struct dice d = {seed * 2654435761u + 1};
    struct test_case *c = case_create(1, GPUS);
    case_policy(c, policy);
    case_placement(c, "count");
    for (int i = 0; i < JOBS; i++) {
        uint32_t job = case_job(c, dice_roll(&d, 200), 1 + dice_roll(&d, 40), 1 + dice_roll(&d, GPUS));
        c->jobs[job].estimate_ns = c->jobs[job].duration_ns * (is_exact ? 1 : 1 + dice_roll(&d, 3));
    }
    case_sort(c);
    c->spec.estimate.source = ESTIMATE_TRACE;
    return c;
}

/* Earliest instant at which the jobs that run at `now` (behind its decisions) leave `gpus` free, by their estimates. */
static int64_t shadow_of(const struct test_case *c, int64_t now, uint32_t gpus)
{
    int64_t best = INT64_MAX;
    for (uint32_t k = 0; k < c->n_jobs; k++) {
        const struct job *end = &c->r.jobs[k];
        int64_t at = end->start_ns + c->jobs[k].estimate_ns;
        uint32_t held = 0;
        if (end->start_ns > now || end->end_ns <= now || at >= best)
            continue;
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            const struct job *r = &c->r.jobs[j];
            if (r->start_ns <= now && r->end_ns > now && r->start_ns + c->jobs[j].estimate_ns > at)
                held += c->jobs[j].gpus;
        }
        if (GPUS - held >= gpus)
            best = at;
    }
    return best;
}

/* Of the jobs that wait behind the decisions of `now` the first one. */
static uint32_t head_at(const struct test_case *c, int64_t now)
{
    for (uint32_t j = 0; j < c->n_jobs; j++)
        if (c->jobs[j].submit_ns <= now && c->r.jobs[j].start_ns > now)
            return j;
    return JOB_NIL;
}

static uint32_t check_heads(const struct test_case *c, uint64_t seed)
{
    uint32_t checked = 0;
    for (uint32_t i = 0; i < 2 * c->n_jobs; i++) {
        int64_t now = i < c->n_jobs ? c->jobs[i].submit_ns : c->r.jobs[i - c->n_jobs].end_ns;
        uint32_t head = head_at(c, now);
        if (head == JOB_NIL)
            continue;
        int64_t reserved = shadow_of(c, now, c->jobs[head].gpus);
        cr_expect_leq(c->r.jobs[head].start_ns, reserved,
                      "case %llu: job %u, first in the queue at %lld s with a reservation at %lld s, starts at %lld s",
                      (unsigned long long)seed, head, (long long)(now / S), (long long)(reserved / S),
                      (long long)(c->r.jobs[head].start_ns / S));
        checked++;
    }
    return checked;
}

Test(reservations, easy_head_is_never_delayed_beyond_a_reservation)
{
    uint32_t checked = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct test_case *c = random_case(seed, "easy", seed % 2 == 0);
        case_run(c);
        checked += check_heads(c, seed);
        case_destroy(c);
    }
    cr_expect_gt(checked, (uint32_t)CASES, "too few heads waited");
}

/* Without its reservation the head is delayed: the property can fail. */
Test(reservations, a_head_without_a_reservation_is_delayed)
{
    uint32_t delayed = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct test_case *c = random_case(seed, "fifo_skip", true);
        case_run(c);
        for (uint32_t i = 0; i < c->n_jobs; i++) {
            uint32_t head = head_at(c, c->jobs[i].submit_ns);
            delayed +=
                head != JOB_NIL && c->r.jobs[head].start_ns > shadow_of(c, c->jobs[i].submit_ns, c->jobs[head].gpus);
        }
        case_destroy(c);
    }
    cr_expect_gt(delayed, 0u);
}

/* GPUs free from `begin` for `length` beside the reservations of the jobs before `job`; all instants are starts or ends. */
static uint32_t free_between(const struct test_case *c, const int64_t *start, uint32_t job, int64_t begin,
                             int64_t length)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k <= job; k++) {
        int64_t at = k == job ? begin : start[k];
        uint32_t held = 0;
        if (at < begin || at >= begin + length)
            continue;
        for (uint32_t j = 0; j < job; j++)
            if (start[j] <= at && start[j] + c->jobs[j].duration_ns > at)
                held += c->jobs[j].gpus;
        most = held > most ? held : most;
    }
    return GPUS - most;
}

/* The first reservation of each job: the earliest hole that the reservations of the jobs before it leave. True estimates never move one. */
Test(reservations, conservative_starts_no_job_later_than_its_first_reservation)
{
    uint32_t waited = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct test_case *c = random_case(seed, "conservative", true);
        int64_t first[JOBS];
        case_run(c);
        for (uint32_t job = 0; job < c->n_jobs; job++) {
            int64_t submit = c->jobs[job].submit_ns, length = c->jobs[job].duration_ns, best = INT64_MAX;
            for (uint32_t k = 0; k <= job; k++) { /* it starts at its submission or at an end */
                int64_t at = k == job ? submit : first[k] + c->jobs[k].duration_ns;
                if (at >= submit && at < best && free_between(c, first, job, at, length) >= c->jobs[job].gpus)
                    best = at;
            }
            first[job] = best;
            waited += best > submit;
            cr_expect_leq(c->r.jobs[job].start_ns, best,
                          "case %llu: job %u starts at %lld s, its reservation was at %lld s", (unsigned long long)seed,
                          job, (long long)(c->r.jobs[job].start_ns / S), (long long)(best / S));
        }
        case_destroy(c);
    }
    cr_expect_gt(waited, (uint32_t)CASES);
}

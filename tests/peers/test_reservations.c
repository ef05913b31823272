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

enum { GIB = 16 };

/* Many equal instants, all sizes; estimates are true, or up to three times too long; with memory that is short, too, or without. */
static struct test_case *random_case(uint64_t seed, const char *policy, bool is_exact, bool has_memory)
{
    struct dice d = {seed * 2654435761u + 1};
    struct test_case *c = case_create(1, GPUS);
    case_policy(c, policy);
    case_placement(c, "count");
    for (int i = 0; i < JOBS; i++) {
        uint32_t job = case_job(c, dice_roll(&d, 200), 1 + dice_roll(&d, 40), 1 + dice_roll(&d, GPUS));
        c->jobs[job].estimate_ns = c->jobs[job].duration_ns * (is_exact ? 1 : 1 + dice_roll(&d, 3));
        c->jobs[job].mem_kib = has_memory ? (uint64_t)dice_roll(&d, GIB + 1) << 20 : 0;
    }
    c->groups[0].memory_kib = has_memory ? (uint64_t)GIB << 20 : 0;
    case_sort(c);
    c->spec.estimate.source = ESTIMATE_TRACE;
    return c;
}

/* Earliest instant at which the jobs that run at `now` (behind its decisions) leave enough free for `head`, by their estimates. */
static int64_t shadow_of(const struct test_case *c, int64_t now, uint32_t head)
{
    int64_t best = INT64_MAX;
    for (uint32_t k = 0; k < c->n_jobs; k++) {
        const struct job *end = &c->r.jobs[k];
        int64_t at = end->start_ns + c->jobs[k].estimate_ns;
        uint32_t held = 0;
        uint64_t memory = 0;
        if (end->start_ns > now || end->end_ns <= now || at >= best)
            continue;
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            const struct job *r = &c->r.jobs[j];
            if (r->start_ns <= now && r->end_ns > now && r->start_ns + c->jobs[j].estimate_ns > at) {
                held += c->jobs[j].gpus;
                memory += c->jobs[j].mem_kib;
            }
        }
        if (GPUS - held >= c->jobs[head].gpus &&
            (c->groups[0].memory_kib == 0 || memory + c->jobs[head].mem_kib <= c->groups[0].memory_kib))
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
        int64_t reserved = shadow_of(c, now, head);
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
        struct test_case *c = random_case(seed, "easy", seed % 2 == 0, seed % 4 > 1);
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
        struct test_case *c = random_case(seed, "fifo_skip", true, seed % 4 > 1);
        case_run(c);
        for (uint32_t i = 0; i < c->n_jobs; i++) {
            uint32_t head = head_at(c, c->jobs[i].submit_ns);
            delayed += head != JOB_NIL && c->r.jobs[head].start_ns > shadow_of(c, c->jobs[i].submit_ns, head);
        }
        case_destroy(c);
    }
    cr_expect_gt(delayed, 0u);
}

/* Is there room for `job` from `begin` on for as long as it runs, beside the reservations of the jobs before it? All instants are starts or ends. */
static bool is_free(const struct test_case *c, const int64_t *start, uint32_t job, int64_t begin)
{
    int64_t length = c->jobs[job].duration_ns;
    for (uint32_t k = 0; k <= job; k++) {
        int64_t at = k == job ? begin : start[k];
        uint32_t gpus = c->jobs[job].gpus;
        uint64_t memory = c->jobs[job].mem_kib;
        if (at < begin || at >= begin + length)
            continue;
        for (uint32_t j = 0; j < job; j++)
            if (start[j] <= at && start[j] + c->jobs[j].duration_ns > at) {
                gpus += c->jobs[j].gpus;
                memory += c->jobs[j].mem_kib;
            }
        if (gpus > GPUS || (c->groups[0].memory_kib > 0 && memory > c->groups[0].memory_kib))
            return false;
    }
    return true;
}

/* The first reservation of each job: the earliest hole that the reservations of the jobs before it leave. True estimates never move one. */
Test(reservations, conservative_starts_no_job_later_than_its_first_reservation)
{
    uint32_t waited = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct test_case *c = random_case(seed, "conservative", true, seed % 2 == 1);
        int64_t first[JOBS];
        case_run(c);
        for (uint32_t job = 0; job < c->n_jobs; job++) {
            int64_t submit = c->jobs[job].submit_ns, best = INT64_MAX;
            for (uint32_t k = 0; k <= job; k++) { /* it starts at its submission or at an end */
                int64_t at = k == job ? submit : first[k] + c->jobs[k].duration_ns;
                if (at >= submit && at < best && is_free(c, first, job, at))
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

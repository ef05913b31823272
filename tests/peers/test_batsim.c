/* EASY backfilling beside a schedule that Batsim and its scheduler made of the same workload (801 jobs, 32 machines).
 *
 * A twin written here from the definition knows two rules for what may pass the head of the queue:
 *
 *      by count   a job that ends by the shadow time, or that needs no more machines than are left over then (ours)
 *      by name    the head's reservation is on machines by name, the lowest numbers that are free at the shadow time; a job that does not
 *                 end by then must find enough other machines among those that are free now (theirs)
 *
 * The twin by count equals our engine, the twin by name equals the other schedule, job for job: so the one rule is all that differs.
 * A job that starts elsewhere was either itself held back by name at an instant at which the count would have let it pass, or it
 * follows from such a job.
 */
#include "tests/peers/peers.h"

#include "base/number.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKLOAD "../shared/traces/batsim/medium_late.json"
#define SCHEDULE "../shared/traces/batsim/medium_late_easy_jobs.csv"

enum { MACHINES = 32, ROUNDING_NS = 1000 /* the schedule has six decimals of binary fractions */ };

struct machine {
    bool is_free;
    int64_t until_ns; /* expected */
};

struct twin {
    const struct workload *w;
    bool by_name;
    struct machine machine[MACHINES];
    int64_t *start_ns; /* -1: waits or is not there yet */
    bool *was_held;    /* by name, where the count would have let it pass */
    uint32_t (*held)[MACHINES];
};

static uint32_t count_free(const struct twin *t)
{
    uint32_t n = 0;
    for (int m = 0; m < MACHINES; m++)
        n += t->machine[m].is_free;
    return n;
}

/* On the lowest machines that are free and not forbidden. */
static void start(struct twin *t, uint32_t job, int64_t now, const bool *forbidden)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < MACHINES && n < t->w->gpus[job]; m++)
        if (t->machine[m].is_free && !(forbidden != NULL && forbidden[m])) {
            t->machine[m] = (struct machine){false, now + t->w->estimate_ns[job]};
            t->held[job][n++] = m;
        }
    cr_assert_eq(n, t->w->gpus[job]);
    t->start_ns[job] = now;
}

/* When the head can start at the latest, on which machines, and how many are left over. */
static int64_t shadow(const struct twin *t, uint32_t head, bool *reserved, uint32_t *extra)
{
    int64_t at = INT64_MAX;
    for (int k = 0; k < MACHINES; k++) {
        int64_t when = t->machine[k].until_ns;
        uint32_t n = 0;
        for (int m = 0; m < MACHINES; m++)
            n += t->machine[m].is_free || t->machine[m].until_ns <= when;
        if (!t->machine[k].is_free && n >= t->w->gpus[head] && when < at) {
            at = when;
            *extra = n - t->w->gpus[head];
        }
    }
    uint32_t n = 0;
    for (int m = 0; m < MACHINES; m++) {
        reserved[m] = n < t->w->gpus[head] && (t->machine[m].is_free || t->machine[m].until_ns <= at);
        n += reserved[m];
    }
    return at;
}

static void backfill(struct twin *t, uint32_t job, int64_t now, int64_t shadow_ns, const bool *reserved,
                     uint32_t *extra)
{
    uint32_t gpus = t->w->gpus[job], unreserved = 0;
    bool ends_in_time = now + t->w->estimate_ns[job] <= shadow_ns;
    if (gpus > count_free(t))
        return;
    for (int m = 0; m < MACHINES; m++)
        unreserved += t->machine[m].is_free && !reserved[m];
    bool count_lets = ends_in_time || gpus <= *extra, name_lets = ends_in_time || gpus <= unreserved;
    if (t->by_name ? !name_lets : !count_lets) {
        t->was_held[job] |= t->by_name && count_lets;
        return;
    }
    *extra -= ends_in_time ? 0 : gpus < *extra ? gpus : *extra;
    start(t, job, now, t->by_name && !ends_in_time ? reserved : NULL);
}

static void schedule(struct twin *t, uint32_t n_submitted, int64_t now)
{
    uint32_t head = 0, extra = 0;
    bool reserved[MACHINES];
    for (;; head++) {
        while (head < n_submitted && t->start_ns[head] >= 0)
            head++;
        if (head == n_submitted)
            return;
        if (t->w->gpus[head] > count_free(t))
            break;
        start(t, head, now, NULL);
    }
    int64_t shadow_ns = shadow(t, head, reserved, &extra);
    for (uint32_t job = head + 1; job < n_submitted; job++)
        if (t->start_ns[job] < 0)
            backfill(t, job, now, shadow_ns, reserved, &extra);
}

static void finish(struct twin *t, uint32_t job)
{
    for (uint32_t i = 0; i < t->w->gpus[job]; i++)
        t->machine[t->held[job][i]].is_free = true;
}

static void twin_run(struct twin *t, const struct workload *w, bool by_name)
{
    *t = (struct twin){.w = w, .by_name = by_name};
    t->start_ns = malloc(w->n_jobs * sizeof *t->start_ns);
    t->was_held = calloc(w->n_jobs, sizeof *t->was_held);
    t->held = calloc(w->n_jobs, sizeof *t->held);
    cr_assert(t->start_ns != NULL && t->was_held != NULL && t->held != NULL);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        t->start_ns[j] = -1;
    for (int m = 0; m < MACHINES; m++)
        t->machine[m].is_free = true;
    for (int64_t now = -1;;) {
        int64_t next = INT64_MAX;
        uint32_t n_submitted = 0;
        for (uint32_t j = 0; j < w->n_jobs; j++) {
            int64_t end = t->start_ns[j] + w->duration_ns[j];
            if (w->submit_ns[j] > now && w->submit_ns[j] < next)
                next = w->submit_ns[j];
            if (t->start_ns[j] >= 0 && end > now && end < next)
                next = end;
        }
        if (next == INT64_MAX)
            return;
        now = next;
        for (uint32_t j = 0; j < w->n_jobs; j++) {
            n_submitted += w->submit_ns[j] <= now;
            if (t->start_ns[j] >= 0 && t->start_ns[j] + w->duration_ns[j] == now)
                finish(t, j);
        }
        schedule(t, n_submitted, now);
    }
}

static void twin_fini(struct twin *t)
{
    free(t->start_ns);
    free(t->was_held);
    free(t->held);
}

static bool is_near(int64_t a, int64_t b)
{
    return a - b <= ROUNDING_NS && b - a <= ROUNDING_NS;
}

Test(batsim, easy_differs_only_where_the_reservation_of_the_head_names_machines)
{
    peer_need(WORKLOAD);
    peer_need(SCHEDULE);
    struct peer_run p;
    struct peer_table table;
    struct twin by_count, by_name;
    char *path = peer_path(WORKLOAD), yaml[1024];
    snprintf(yaml, sizeof yaml,
             "trace: %s\ncluster: {nodes: [{count: %d, gpus: 1}]}\npolicy: easy\nplacement: count\nestimate: trace\n",
             path, MACHINES);
    free(path);
    peer_run(&p, yaml);
    peer_table_read(&table, SCHEDULE);
    cr_assert_eq(table.n_rows, p.w.n_jobs);
    twin_run(&by_count, &p.w, false);
    twin_run(&by_name, &p.w, true);

    struct peer_score ours = {.peer = "batsim", .what = "medium_late.json, our engine and the twin by count"};
    struct peer_score theirs = {.peer = "batsim", .what = "medium_late.json, Batsim's EASY and the twin by name"};
    uint32_t n_differ = 0, n_held = 0, n_after = 0;
    bool has_differed = false;
    int64_t first_held_ns = INT64_MAX;
    for (uint32_t job = 0; job < p.w.n_jobs; job++)
        if (by_name.was_held[job] && by_count.start_ns[job] < first_held_ns)
            first_held_ns = by_count.start_ns[job];
    for (uint32_t row = 0; row < table.n_rows; row++) {
        const char *id = peer_text(&table, row, "job_id");
        uint32_t job = peer_job(&p.w, id, false);
        int64_t start_ns = peer_time_ns(&table, row, "starting_time"),
                end_ns = peer_time_ns(&table, row, "finish_time");
        ours.jobs++;
        theirs.jobs++;
        ours.mismatches += !peer_same(&ours, id, "start", p.r.jobs[job].start_ns, by_count.start_ns[job]);
        bool same =
            is_near(by_name.start_ns[job], start_ns) && is_near(by_name.start_ns[job] + p.w.duration_ns[job], end_ns);
        theirs.mismatches += !same;
        if (!same)
            peer_same(&theirs, id, "start", by_name.start_ns[job], start_ns);
        if (is_near(p.r.jobs[job].start_ns, start_ns))
            continue;
        has_differed = true;
        n_differ++;
        n_held += by_name.was_held[job];
        n_after += !by_name.was_held[job];
        printf("peers batsim job %s: ours starts at %.6f s, theirs at %.6f s: %s\n", id,
               (double)p.r.jobs[job].start_ns * 1e-9, (double)start_ns * 1e-9,
               by_name.was_held[job] ? "held back by name" : "follows from one that was");
        int64_t earlier = p.r.jobs[job].start_ns < start_ns ? p.r.jobs[job].start_ns : start_ns;
        cr_expect_geq(earlier, first_held_ns, "job %s differs before anything was held back by name", id);
    }
    peer_report(&ours);
    peer_report(&theirs);
    cr_expect(has_differed, "the two rules have nothing to tell apart here");
    printf("peers batsim medium_late.json, our engine and Batsim's EASY: jobs %u, start elsewhere %u (held back by "
           "name %u, "
           "follow from those %u)\n",
           table.n_rows, n_differ, n_held, n_after);
    fflush(stdout);
    twin_fini(&by_count);
    twin_fini(&by_name);
    peer_table_fini(&table);
    peer_run_fini(&p);
}

/* depend.c - jobs that wait for others to finish before they enter the queue.
 *
 *                       missing[job]
 *    submission --> 0:  queue            a predecessor finishes: one less; at 0 an arrival is due now
 *                   k:  waits            a predecessor is rejected, killed or fails: DEPEND_FAILED, and the arrival that
 *                                        is due now (or at the submission) is a rejection: "dependency_failed"
 *
 * A workload without the column has none of these tables.
 */
#include "engine/sim.h"
#include "traces/depends.h"

#include <string.h>

/* The successors of job j are next[first[j] .. first[j + 1]). */
static bool successors_make(struct sim *sim, const struct depends *d)
{
    uint32_t n = sim->w->n_jobs;
    struct sim_depend *x = &sim->depend;
    x->missing = ARENA_NEW(&sim->arena, uint32_t, (size_t)n + 1);
    x->first = ARENA_NEW(&sim->arena, uint32_t, (size_t)n + 2);
    x->next = ARENA_NEW(&sim->arena, uint32_t, (size_t)d->first[n] + 1);
    if (x->missing == NULL || x->first == NULL || x->next == NULL)
        return false;
    for (uint32_t j = 0; j < n; j++) {
        x->missing[j] = d->first[j + 1] - d->first[j];
        for (uint32_t i = d->first[j]; i < d->first[j + 1]; i++)
            x->first[d->on[i] + 2]++;
    }
    for (uint32_t j = 2; j <= n; j++)
        x->first[j] += x->first[j - 1];
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = d->first[j]; i < d->first[j + 1]; i++)
            x->next[x->first[d->on[i] + 1]++] = j;
    return true;
}

int depend_prepare(struct sim *sim, struct error *err)
{
    const struct workload *w = sim->w;
    if (w->depends == NULL)
        return BRAID_OK;
    struct depends d;
    if (!depends_build(&d, w))
        return error_set(err, BRAID_FAILED, "out of memory for the dependencies");
    sim->depend.order = ARENA_NEW(&sim->arena, uint32_t, (size_t)w->n_jobs + 1);
    uint32_t job = sim->depend.order != NULL ? depends_order(&d, w->n_jobs, sim->depend.order) : UINT32_MAX;
    bool ok = job == w->n_jobs && successors_make(sim, &d);
    depends_fini(&d);
    if (job < w->n_jobs)
        return error_set(err, BRAID_BAD_INPUT, "the job '%.*s' depends on itself, at once or by way of others",
                         (int)(w->id_at[job + 1] - w->id_at[job] < 100 ? w->id_at[job + 1] - w->id_at[job] : 100),
                         w->id_text + w->id_at[job]);
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory for the dependencies");
}

void depend_on_done(struct sim *sim, uint32_t job, enum job_status status)
{
    struct sim_depend *x = &sim->depend;
    if (status == STATUS_UNFINISHED || status == STATUS_NOT_SUBMITTED)
        return; /* the run is over */
    for (uint32_t i = x->first[job]; i < x->first[job + 1]; i++) {
        uint32_t next = x->next[i];
        if (x->missing[next] == DEPEND_FAILED)
            continue;
        x->missing[next] = status == STATUS_FINISHED ? x->missing[next] - 1 : DEPEND_FAILED;
        bool is_due = x->missing[next] == 0 || x->missing[next] == DEPEND_FAILED;
        if (is_due && next < sim->next_arrival) /* else its submission is to come */
            evq_set(&sim->events, next, sim->now_ns, EVENT_ARRIVAL);
    }
}

int64_t depend_chain_ns(struct sim *sim, uint32_t job)
{
    struct sim_depend *x = &sim->depend;
    if (x->missing == NULL)
        return estimate_of(sim, job);
    if (x->chain_ns == NULL) {
        x->chain_ns = ARENA_NEW(&sim->arena, int64_t, sim->w->n_jobs);
        if (x->chain_ns == NULL)
            return estimate_of(sim, job);             /* the run ends with "out of memory" */
        for (uint32_t k = sim->w->n_jobs; k-- > 0;) { /* successors first */
            uint32_t j = x->order[k];
            int64_t longest = 0;
            for (uint32_t i = x->first[j]; i < x->first[j + 1]; i++)
                longest = x->chain_ns[x->next[i]] > longest ? x->chain_ns[x->next[i]] : longest;
            x->chain_ns[j] = time_after(longest, estimate_of(sim, j));
        }
    }
    return x->chain_ns[job];
}

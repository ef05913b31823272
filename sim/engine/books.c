/* books.c - `--check`: after every instant what its events touched must balance, and everything every 4,096 events. */
#include "engine/sim.h"

#include <string.h>

enum { FULL_EVERY = 4096 };

void books_note(struct sim *sim, uint32_t handle)
{
    const struct place *places;
    uint32_t n = cluster_alloc_places(sim->cluster, handle, &places);
    for (uint32_t i = 0; i < n && sim->n_checked < sim->checked_room; i++)
        sim->checked_nodes[sim->n_checked++] = places[i].node;
}

static void books_fail(struct sim *sim, const char *what)
{
    sim_fail(sim, BRAID_FAILED, "the books do not balance at %.9f s: %s (a fault of braid: please report it)",
             (double)sim->now_ns * 1e-9, what);
}

static void books_nodes(struct sim *sim, bool all)
{
    struct error why = {0};
    bool good = true;
    if (all || sim->n_checked == sim->checked_room)
        good = cluster_check(sim->cluster, NAMES_NONE, &why);
    else
        for (uint32_t i = 0; i < sim->n_checked && good; i++)
            good = cluster_check(sim->cluster, sim->checked_nodes[i], &why);
    sim->n_checked = 0;
    if (!good)
        books_fail(sim, why.message);
}

static void books_counts(struct sim *sim)
{
    uint64_t done = 0;
    for (int k = 0; k < JOB_STATUSES; k++)
        done += sim->n_status[k];
    if (done != sim->n_done || sim->n_arrived != sim->n_done + sim->n_running + sim->n_queued)
        books_fail(sim, "submitted jobs are not finished + failed + killed + running + queued + rejected");
}

/* One job: its state, its times and its place agree. */
static const char *books_job(const struct sim *sim, uint32_t job)
{
    const struct job *j = &sim->jobs[job];
    int64_t submit = sim->w->submit_ns[job];
    if ((j->state == JOB_RUNNING) != (j->alloc != ALLOC_NONE))
        return "a job holds GPUs without running, or runs without";
    if ((j->state == JOB_RUNNING) != evq_is_pending(&sim->events, job))
        return "a running job has no completion pending, or another has";
    if (j->state == JOB_RUNNING && j->since_ns > sim->now_ns)
        return "a job runs from the future";
    if (j->state == JOB_RUNNING && hold_of(sim, j->alloc)->n_members == 1 && j->rate != 1.0)
        return "a job alone does not go at its own speed";
    if (j->start_ns >= 0 && j->start_ns < submit)
        return "a job started before its submission";
    if (j->run_ns < 0 || j->overhead_ns < 0 || j->overhead_ns + j->lost_ns > j->run_ns)
        return "overhead and lost time exceed the time a job held GPUs";
    if (j->gpu_ns != INT64_MAX && j->gpu_ns != j->run_ns * (int64_t)sim_gpus(sim, job))
        return "GPU-time is not time held x GPUs";
    if (j->state == JOB_DONE && j->end_ns >= 0 && j->end_ns - submit < j->run_ns) /* -1: not submitted yet at the end */
        return "a job held GPUs for longer than it existed";
    if (j->state == JOB_DONE && j->status == STATUS_FINISHED && j->work_done != (double)sim->w->duration_ns[job])
        return "a finished job has not done its work";
    /* alone on its GPUs it does a second of work a second; doubles are whole up to 2^53 ns */
    if (sim->spec->sharing == NULL && j->state == JOB_DONE && j->status == STATUS_FINISHED && j->work_done < 0x1p53 &&
        j->run_ns - j->overhead_ns - j->lost_ns != sim->w->duration_ns[job])
        return "the time that a finished job worked is not its work";
    return NULL;
}

void books_check_all(struct sim *sim)
{
    uint64_t queued = 0, running = 0, done = 0, held = 0, sum, squares;
    books_nodes(sim, true);
    books_counts(sim);
    if (!evq_check(&sim->events, sim->w->n_jobs + sim->n_instances))
        books_fail(sim, "the pending-event set is out of order");
    for (uint32_t job = 0; job < sim->w->n_jobs; job++) {
        const struct job *j = &sim->jobs[job];
        queued += j->state == JOB_QUEUED;
        running += j->state == JOB_RUNNING;
        done += j->state == JOB_DONE;
        held += j->state == JOB_RUNNING && hold_of(sim, j->alloc)->members[0] == job ? sim_gpus(sim, job) : 0;
        const char *why = books_job(sim, job);
        if (why != NULL)
            books_fail(sim, why);
    }
    cluster_load(sim->cluster, &sum, &squares);
    if (queued != sim->n_queued || running != sim->n_running || done != sim->n_done)
        books_fail(sim, "the counts of jobs by state are wrong");
    if (held != sum)
        books_fail(sim, "GPUs allocated are not the GPUs of the running jobs");
    for (uint32_t i = 0; i < sim->n_instances; i++) {
        const struct sched *s = &sim->instances[i];
        uint32_t n = 0;
        for (uint32_t job = s->running_first; job != JOB_NIL; job = sim->jobs[job].run_next)
            n += sim->jobs[job].state == JOB_RUNNING && sim->jobs[job].instance == i;
        if (n != s->running_jobs)
            books_fail(sim, "a queue's list of running jobs is wrong");
    }
    sim->last_full_check = sim->totals.events;
}

void books_check(struct sim *sim)
{
    books_counts(sim);
    if (sim->totals.events - sim->last_full_check >= FULL_EVERY)
        books_check_all(sim);
    else
        books_nodes(sim, false);
}

/* stuck.c - policies that get nowhere: found out while the run goes on, and told by name. */
#include "engine/sim.h"

#include <math.h>

enum {
    IDLE_STRETCH =
        1000000, /* instants in a row at which a policy woke only itself, between two looks at where that leads */
    FRUITLESS_ALWAYS =
        20000, /* so many preemptions in a row that let nothing be done are too many; in large traces a few more a job */
    FRUITLESS_A_JOB = 20,
    FRUITLESS_MAX = 1000000,
    ROUNDS_ALWAYS = 10000, /* at one instant; jobs of no length may take a round each */
    ROUNDS_A_JOB = 4,
};
#define IDLE_ROUNDS_MAX 1e9 /* more rounds than that until something happens will not be waited for */

bool stuck_in_rounds(struct sim *sim, uint64_t rounds)
{
    uint64_t most = ROUNDS_ALWAYS + (uint64_t)ROUNDS_A_JOB * sim->w->n_jobs;
    if (rounds < most)
        return false;
    sim_fail(sim, BRAID_FAILED, "policy %s does not settle: %llu rounds at %.9f s", sim->ops->name,
             (unsigned long long)most, (double)sim->now_ns * 1e-9);
    return true;
}

void stuck_note_leave(struct sim *sim, bool has_worked)
{
    sim->n_fruitless = has_worked ? 0 : sim->n_fruitless + 1;
    uint64_t most = FRUITLESS_ALWAYS + (uint64_t)FRUITLESS_A_JOB * sim->w->n_jobs;
    most = most < FRUITLESS_MAX ? most : FRUITLESS_MAX;
    if (sim->n_fruitless == most)
        sim_fail(sim, BRAID_FAILED,
                 "policy %s makes no progress: by %.9f s, %llu times in a row a job was preempted or moved before it "
                 "did any work; let "
                 "jobs run for longer (quantum) than their restart_overhead",
                 sim->ops->name, (double)sim->now_ns * 1e-9, (unsigned long long)most);
}

/* When anything will happen that is no timer of the policy: the next arrival, change of quota or end of a job. O(jobs). */
static int64_t next_change_ns(const struct sim *sim)
{
    int64_t t = INT64_MAX;
    if (sim->next_arrival < sim->w->n_jobs)
        t = sim->w->submit_ns[sim->next_arrival];
    if (sim->next_change < sim->n_changes && sim->changes[sim->next_change].at_ns < t)
        t = sim->changes[sim->next_change].at_ns;
    for (uint32_t i = 0; i < sim->n_instances; i++)
        for (uint32_t job = sim->instances[i].running_first; job != JOB_NIL; job = sim->jobs[job].run_next) {
            int64_t end = job_end_ns(sim, job);
            t = end < t ? end : t;
        }
    return t;
}

void stuck_look(struct sim *sim)
{
    struct idle *idle = &sim->idle;
    uint64_t done = sim->totals.decisions + sim->n_arrived + sim->n_done + sim->next_change;
    if (done != idle->done || idle->n == 0) {
        *idle = (struct idle){.done = done, .since_ns = sim->now_ns, .n = 1};
        return;
    }
    if (++idle->n % IDLE_STRETCH != 0)
        return;
    int64_t next = next_change_ns(sim);
    double pace_ns = (double)(sim->now_ns - idle->since_ns) / (double)idle->n;
    if (next == INT64_MAX && sim->n_running == 0)
        sim_fail(
            sim, BRAID_FAILED,
            "policy %s wakes itself again and again (%llu times by %.9f s) but starts none of the %llu jobs that wait",
            sim->ops->name, (unsigned long long)idle->n, (double)sim->now_ns * 1e-9, (unsigned long long)sim->n_queued);
    else if ((double)(next - sim->now_ns) > IDLE_ROUNDS_MAX * pace_ns)
        sim_fail(sim, BRAID_FAILED,
                 "policy %s wakes itself again and again: %llu times from %.9f to %.9f s, and nothing comes of it; the "
                 "next event is at %.9f "
                 "s, %.1e rounds from there: let it wake when something is due",
                 sim->ops->name, (unsigned long long)idle->n, (double)idle->since_ns * 1e-9, (double)sim->now_ns * 1e-9,
                 (double)next * 1e-9, (double)(next - sim->now_ns) / pace_ns);
}

void stuck_count_forgotten(struct sim *sim)
{
    if (sim->n_running > 0)
        return;
    for (uint32_t job = 0; job < sim->w->n_jobs; job++)
        sim->totals.forgotten +=
            sim->jobs[job].state == JOB_QUEUED && stage_fits(&sim->instances[sim->jobs[job].instance], job);
}

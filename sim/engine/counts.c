/* counts.c - what a run has that a plan by run times and counts of free GPUs alone would miss. */
#include "engine/sim.h"

static bool has_unlisted_vc(const struct sim *sim)
{
    for (uint32_t v = 0; v < sim->w->vcs.count; v++)
        if (sim->vc_of[v] == NAMES_NONE)
            return true;
    return false;
}

const char *sched_beyond_counts(const struct sched *s)
{
    const struct sim *sim = s->sim;
    const struct run_spec *spec = sim->spec;
    if (cluster_n_vcs(sim->cluster) > 1)
        return "several virtual clusters";
    if (has_unlisted_vc(sim))
        return "virtual clusters that are not listed";
    if (sim->n_changes > 0)
        return "a quota that changes";
    if (sim->depend.missing != NULL)
        return "dependencies";
    if (spec->estimate.on_exceed == ESTIMATE_KILL)
        return "estimates that end jobs (on_exceed: kill)";
    if (spec->sharing != NULL)
        return "jobs that share GPUs (model: {interleave: ..})";
    if (spec->stop.at_ns != RUN_NO_LIMIT || spec->stop.queue != UINT32_MAX)
        return "an end before all jobs have ended (stop:)";
    return cluster_beyond_counts(sim->cluster, sim->demands, sim->n_demands);
}

bool sched_gpus_decide(const struct sched *s)
{
    const struct sim *sim = s->sim;
    return sim->placement->never == NULL && cluster_beyond_counts(sim->cluster, sim->demands, sim->n_demands) == NULL;
}

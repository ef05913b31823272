#include "output/recorder_resources.h"

#include <stdlib.h>
#include <string.h>

bool recorder_resources_init(struct recorder_resources *r, const struct workload *w, const struct cluster_spec *cluster,
                             uint32_t n_queues, int64_t step_ns)
{
    *r = (struct recorder_resources){.w = w, .step_ns = step_ns, .n_queues = n_queues};
    r->queue_of = calloc((size_t)w->vcs.count + 1, sizeof *r->queue_of);
    if (r->queue_of == NULL)
        return false;
    for (uint32_t v = 0; v < w->vcs.count && n_queues > 1; v++) {
        uint32_t q = 0;
        while (q < cluster->n_vcs && strcmp(cluster->vcs[q].name, names_text(&w->vcs, v)) != 0)
            q++;
        r->queue_of[v] = q < n_queues ? q : NAMES_NONE;
    }
    return true;
}

void recorder_resources_fini(struct recorder_resources *r)
{
    free(r->queue_of);
    free(r->busy);
    *r = (struct recorder_resources){0};
}

static bool bins_grow(struct recorder_resources *r, size_t n)
{
    size_t size = (size_t)r->n_queues * WORKLOAD_STAGES * sizeof *r->busy;
    if (n > r->bins_room) {
        size_t room = n + n / 2 + 64;
        double *busy = room > SIZE_MAX / size ? NULL : realloc(r->busy, room * size);
        if (busy == NULL)
            return false;
        r->busy = busy;
        r->bins_room = room;
    }
    if (n > r->n_bins) {
        memset((char *)r->busy + r->n_bins * size, 0, (n - r->n_bins) * size);
        r->n_bins = n;
    }
    return true;
}

bool recorder_resources_add(struct recorder_resources *r, uint32_t job, int64_t begin_ns, int64_t end_ns, double rate)
{
    const struct workload *w = r->w;
    uint32_t queue = r->queue_of[w->vc[job]];
    if (end_ns <= begin_ns || w->iteration_ns[job] <= 0 || queue == NAMES_NONE)
        return true;
    size_t first = (size_t)(begin_ns / r->step_ns), last = (size_t)((end_ns - 1) / r->step_ns);
    if (!bins_grow(r, last + 1))
        return false;
    double iterations_per_ns = rate / (double)w->iteration_ns[job], use[WORKLOAD_STAGES];
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        use[k] = iterations_per_ns * (double)w->stage_ns[k][job] * w->gpus[job];
    for (size_t bin = first; bin <= last; bin++) {
        int64_t from = (int64_t)bin * r->step_ns;
        int64_t until = end_ns - from < r->step_ns ? end_ns : from + r->step_ns;
        double span = (double)(until - (begin_ns > from ? begin_ns : from));
        double *busy = r->busy + (bin * r->n_queues + queue) * WORKLOAD_STAGES;
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            busy[k] += span * use[k];
    }
    return true;
}

double recorder_resources_busy(const struct recorder_resources *r, size_t bin, uint32_t queue, int stage)
{
    return bin < r->n_bins ? r->busy[(bin * r->n_queues + queue) * WORKLOAD_STAGES + (size_t)stage] : 0;
}

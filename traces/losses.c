#include "traces/losses.h"

#include <string.h>

void losses_add(struct losses *l, const char *what, uint32_t jobs)
{
    if (jobs == 0 || l->n == LOSSES_MAX)
        return;
    l->all[l->n].what = what;
    l->all[l->n++].jobs = jobs;
}

static bool is_named(const struct names *names, const uint32_t *column, uint32_t j)
{
    return column != NULL && column[j] != NAMES_NONE && names_text(names, column[j])[0] != '\0';
}

static bool is_time(const int64_t *column, uint32_t j)
{
    return column != NULL && column[j] != WORKLOAD_ABSENT;
}

static bool has_vc(const struct workload *w, uint32_t j)
{
    return is_named(&w->vcs, w->vc, j);
}

static bool has_user(const struct workload *w, uint32_t j)
{
    return is_named(&w->users, w->user, j);
}

static bool has_status(const struct workload *w, uint32_t j)
{
    return w->trace_status[j] != TRACE_UNKNOWN;
}

static bool has_killed(const struct workload *w, uint32_t j)
{
    return w->trace_status[j] == TRACE_KILLED;
}

static bool has_start(const struct workload *w, uint32_t j)
{
    return is_time(w->start_ns, j);
}

static bool has_estimate(const struct workload *w, uint32_t j)
{
    return is_time(w->estimate_ns, j);
}

static bool has_deadline(const struct workload *w, uint32_t j)
{
    return is_time(w->deadline_ns, j);
}

static bool has_priority(const struct workload *w, uint32_t j)
{
    return w->priority != NULL && (w->priority[j] < 0 || w->priority[j] > 0);
}

static bool has_name(const struct workload *w, uint32_t j)
{
    return is_named(&w->names, w->name, j);
}

static bool has_model(const struct workload *w, uint32_t j)
{
    return is_named(&w->models, w->model, j);
}

static bool has_cpus(const struct workload *w, uint32_t j)
{
    return w->cpu_milli != NULL && w->cpu_milli[j] > 0;
}

static bool has_memory(const struct workload *w, uint32_t j)
{
    return w->mem_kib != NULL && w->mem_kib[j] > 0;
}

static bool has_gpu_type(const struct workload *w, uint32_t j)
{
    return w->gpu_type != NULL && w->gpu_type[j] != NAMES_NONE;
}

static bool has_gpu_memory(const struct workload *w, uint32_t j)
{
    return w->gpu_mem_kib != NULL && w->gpu_mem_kib[j] > 0;
}

static bool has_gpu_milli(const struct workload *w, uint32_t j)
{
    return w->gpu_milli != NULL && w->gpu_milli[j] != 1000;
}

static bool has_batch(const struct workload *w, uint32_t j)
{
    return w->batch != NULL && w->batch[j] > 0;
}

static bool has_iterations(const struct workload *w, uint32_t j)
{
    return is_time(w->iterations, j) || is_time(w->iteration_ns, j);
}

static bool has_stages(const struct workload *w, uint32_t j)
{
    for (int s = 0; s < WORKLOAD_STAGES && w->stage_ns[0] != NULL; s++)
        if (w->stage_ns[s][j] != 0)
            return true;
    return false;
}

static bool has_depends(const struct workload *w, uint32_t j)
{
    return is_named(&w->depends_texts, w->depends, j);
}

static const struct {
    const char *column, *what;
    bool (*has)(const struct workload *w, uint32_t j);
} columns[] = {
    {"vc", "virtual cluster", has_vc},
    {"user", "user", has_user},
    {"status", "recorded outcome", has_status},
    {"killed", "that it was killed", has_killed},
    {"start", "recorded start", has_start},
    {"estimate", "estimate", has_estimate},
    {"deadline", "deadline", has_deadline},
    {"priority", "priority", has_priority},
    {"name", "job name", has_name},
    {"model", "model", has_model},
    {"cpus", "CPUs", has_cpus},
    {"memory", "memory", has_memory},
    {"gpu_type", "GPU type", has_gpu_type},
    {"gpu_memory", "GPU memory", has_gpu_memory},
    {"gpu_milli", "share of a GPU", has_gpu_milli},
    {"batch", "batch size", has_batch},
    {"iterations", "iterations", has_iterations},
    {"stages", "stage times", has_stages},
    {"depends", "dependencies", has_depends},
};

static bool is_kept(const char *column, const char *const *kept)
{
    for (; *kept != NULL; kept++)
        if (strcmp(*kept, column) == 0)
            return true;
    return false;
}

void losses_add_columns(struct losses *l, const struct workload *w, const char *const *kept)
{
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        uint32_t jobs = 0;
        for (uint32_t j = 0; j < w->n_jobs && !is_kept(columns[c].column, kept); j++)
            jobs += columns[c].has(w, j);
        losses_add(l, columns[c].what, jobs);
    }
}

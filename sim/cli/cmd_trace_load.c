/* Offered load of a trace: the GPU time that its jobs ask for between first and last submission, over what a cluster has in that time. */
#include "base/number.h"
#include "cli/cmd_trace.h"
#include "experiment/experiment.h"
#include "experiment/load_capacity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row of the table: a scope, what its jobs ask for and what it has. */
struct load_row {
    const char *name;
    uint32_t jobs, rejected;
    double gpu_ns, capacity_gpu_ns;
};

static void print_head(const char *what)
{
    printf("\nOffered load by %s\n%-20s %10s %10s %14s %12s %8s\n", what, what, "jobs", "rejected", "GPU-hours",
           "mean GPUs", "load");
}

/* Returns whether the load is above 1. */
static bool print_row(const struct load_row *r, double span_ns)
{
    double load = r->capacity_gpu_ns > 0 ? r->gpu_ns / r->capacity_gpu_ns : 0;
    printf("%-20s %10" PRIu32 " %10" PRIu32 " %14.1f %12.1f ", r->name, r->jobs, r->rejected, r->gpu_ns / 3600e9,
           r->capacity_gpu_ns / span_ns);
    if (r->capacity_gpu_ns > 0)
        printf("%8.3f%s\n", load, load > 1 ? "  above 1: the queue grows without end" : "");
    else
        printf("%8s  no GPUs\n", "-");
    return load > 1;
}

static void count(struct load_row *r, const struct workload *w, uint32_t j, bool is_admissible)
{
    r->jobs++;
    if (is_admissible)
        r->gpu_ns += (double)w->gpus[j] * (double)w->duration_ns[j];
    else
        r->rejected++;
}

/* GPUs of type `type` ("": unnamed) in the cluster of `c`. */
static double gpus_of_type(const struct run_config *c, const char *type)
{
    double sum = 0;
    for (uint32_t g = 0; g < c->cluster.n_groups; g++) {
        const struct node_group_spec *group = &c->cluster.groups[g];
        if (strcmp(group->gpu != NULL ? group->gpu : "", type) == 0)
            sum += (double)group->count * group->gpus;
    }
    return sum;
}

static bool print_vcs(const struct workload *w, const struct trace_capacity *c, const bool *fits, struct load_row *rows,
                      int64_t from_ns, int64_t to_ns)
{
    bool is_above = false;
    for (uint32_t v = 0; v < w->vcs.count; v++)
        rows[v] = (struct load_row){.name = names_text(&w->vcs, v),
                                    .capacity_gpu_ns = c->integral(c->self, v, from_ns, to_ns)};
    for (uint32_t j = 0; j < w->n_jobs; j++)
        count(&rows[w->vc[j]], w, j, fits[j]);
    print_head("VC");
    for (uint32_t v = 0; v < w->vcs.count; v++)
        is_above |= print_row(&rows[v], (double)(to_ns - from_ns));
    return is_above;
}

static bool print_types(const struct workload *w, const struct run_config *config, const bool *fits,
                        struct load_row *rows, double span_ns)
{
    bool is_above = false;
    for (uint32_t t = 0; t < w->gpu_types.count; t++) {
        const char *type = names_text(&w->gpu_types, t);
        rows[t] = (struct load_row){.name = type, .capacity_gpu_ns = gpus_of_type(config, type) * span_ns};
    }
    struct load_row any = {.name = "any"};
    for (uint32_t j = 0; j < w->n_jobs; j++)
        count(w->gpu_type[j] == NAMES_NONE ? &any : &rows[w->gpu_type[j]], w, j, fits[j]);
    for (uint32_t g = 0; g < config->cluster.n_groups; g++)
        any.capacity_gpu_ns += (double)config->cluster.groups[g].count * config->cluster.groups[g].gpus * span_ns;
    print_head("GPU type");
    for (uint32_t t = 0; t < w->gpu_types.count; t++)
        is_above |= print_row(&rows[t], span_ns);
    return print_row(&any, span_ns) || is_above;
}

static void warn(const char *path)
{
    fflush(stdout);
    fprintf(stderr,
            "braid: %s: the offered load is above 1.0: more GPU time is asked for than there is, so waiting times grow "
            "with the "
            "length of the trace; scale it with trace.load\n",
            path);
}

static int print_config(const struct trace_arguments *a, const struct run_config *config, const struct workload *w,
                        struct error *err)
{
    int64_t from_ns = w->submit_ns[0], to_ns = w->submit_ns[w->n_jobs - 1];
    size_t n_rows = w->vcs.count > w->gpu_types.count ? w->vcs.count : w->gpu_types.count;
    struct load_capacity *capacity = load_capacity_create(config, w, err);
    struct load_row *rows = calloc(n_rows + 1, sizeof *rows);
    bool *fits = malloc(((size_t)w->n_jobs + 1) * sizeof *fits);
    int code = capacity == NULL ? err->code : BRAID_OK;
    if (code == BRAID_OK && (rows == NULL || fits == NULL))
        code = error_set(err, BRAID_FAILED, "out of memory");
    if (code == BRAID_OK) {
        struct trace_capacity c = load_capacity_view(capacity);
        struct load_row all = {.name = "all", .capacity_gpu_ns = c.integral(c.self, NAMES_NONE, from_ns, to_ns)};
        for (uint32_t j = 0; j < w->n_jobs; j++) {
            fits[j] = c.is_admissible(c.self, j);
            count(&all, w, j, fits[j]);
        }
        print_head("cluster");
        bool is_above = print_row(&all, (double)(to_ns - from_ns));
        if (config->cluster.n_vcs > 0)
            is_above |= print_vcs(w, &c, fits, rows, from_ns, to_ns);
        if (w->gpu_type != NULL && w->gpu_types.count > 0)
            is_above |= print_types(w, config, fits, rows, (double)(to_ns - from_ns));
        if (is_above)
            warn(a->paths[0]);
    }
    load_capacity_destroy(capacity);
    free(rows);
    free(fits);
    return code;
}

static int print_gpus(const struct trace_arguments *a, double gpus, const struct workload *w)
{
    double span_ns = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]);
    char name[32];
    snprintf(name, sizeof name, "%.0f GPUs", gpus);
    struct load_row all = {.name = name, .capacity_gpu_ns = gpus * span_ns};
    for (uint32_t j = 0; j < w->n_jobs; j++)
        count(&all, w, j, (double)w->gpus[j] <= gpus);
    print_head("cluster");
    if (print_row(&all, span_ns))
        warn(a->paths[0]);
    return BRAID_OK;
}

int trace_load_print(const struct trace_arguments *a, const struct workload *w, struct error *err)
{
    uint64_t gpus = 0;
    if (a->gpus != NULL && (!number_parse_u64(a->gpus, strlen(a->gpus), &gpus) || gpus == 0))
        return error_set(err, BRAID_BAD_INPUT, "--gpus is a number of GPUs above 0, not '%s'", a->gpus);
    if (w->submit_ns[w->n_jobs - 1] == w->submit_ns[0]) {
        puts("\nOffered load: not to be told, all jobs are submitted at one instant");
        return BRAID_OK;
    }
    if (a->gpus != NULL)
        return print_gpus(a, (double)gpus, w);
    /* The config's own trace, if it has one, is of no interest here. */
    static const char set[] = "trace={generate: {model: philly, jobs: 1}}";
    const struct config_override override = {.text = set};
    struct experiment x;
    int code = experiment_load(&x, a->cluster, &override, 1, err);
    if (code != BRAID_OK)
        return code;
    if (x.n_runs > 1)
        printf("\nCluster: that of the first of the config's %" PRIu32 " runs\n", x.n_runs);
    code = print_config(a, &x.runs[0], w, err);
    experiment_fini(&x);
    return code;
}

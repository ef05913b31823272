#include "experiment/survey.h"

#include "experiment/load_capacity.h"
#include "experiment/offered_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REASONS_MAX = 24, NAMED_MAX = 3, LIST_SIZE = 400, ROW_JOBS_MIN = 20 };

/* A load that was asked for as 1 comes out as 1 but for the grain of time. */
static const double load_tolerance = 1.005;

/* The share of a trace's jobs above which it is said that they are lost. */
static const double lost_share_max = 0.05;

struct survey {
    struct remarks *out;
    const struct run_config *config;
    const struct workload *w;
    const struct run_result *result; /* NULL: before the run */
    const struct load_capacity *capacity;
    const struct cluster *cluster;
};

/* Jobs that are rejected for one reason. */
struct rejections {
    const char *reason;
    uint32_t jobs, most_gpus, most_cpu_milli;
    uint64_t most_mem_kib;
    uint32_t *by_vc, *by_type; /* jobs, by the workload's */
};

static void run_short(struct survey *s)
{
    s->out->is_short = true;
}

/* ---- lists of names ------------------------------------------------------------------------------- */

/* "'a' (12), 'b' (3) and 4 more" of the names with a count above 0, the largest first; `is_counted`: with their counts. Returns how many. */
static uint32_t list_names(char out[LIST_SIZE], const struct names *names, const uint32_t *counts, bool is_counted)
{
    uint32_t n = 0, shown[NAMED_MAX], n_shown = 0;
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < names->count; i++)
        n += counts[i] > 0;
    while (n_shown < NAMED_MAX && n_shown < n) {
        uint32_t best = NAMES_NONE;
        for (uint32_t i = 0; i < names->count; i++) {
            bool is_shown = counts[i] == 0;
            for (uint32_t k = 0; k < n_shown; k++)
                is_shown |= shown[k] == i;
            if (!is_shown && (best == NAMES_NONE || counts[i] > counts[best]))
                best = i;
        }
        shown[n_shown++] = best;
        int printed =
            snprintf(out + used, LIST_SIZE - used, "%s'%.60s'", used > 0 ? ", " : "", names_text(names, best));
        used += (size_t)printed;
        if (is_counted && n > 1)
            used += (size_t)snprintf(out + used, LIST_SIZE - used, " (%u)", counts[best]);
    }
    if (n > n_shown)
        snprintf(out + used, LIST_SIZE - used, " and %u more", n - n_shown);
    return n;
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- rejections ------------------------------------------------------------------------------------ */

static const char *reason_of(const struct survey *s, uint32_t job)
{
    if (s->result == NULL)
        return load_capacity_refuses(s->capacity, job);
    const struct job *j = &s->result->jobs[job];
    return j->status != STATUS_REJECTED ? NULL : j->reason != NULL ? j->reason : "";
}

static struct rejections *rejections_of(struct rejections *all, uint32_t *n, const char *reason,
                                        const struct workload *w)
{
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp(all[i].reason, reason) == 0)
            return &all[i];
    if (*n == REASONS_MAX)
        return NULL;
    struct rejections *r = &all[(*n)++];
    *r = (struct rejections){.reason = reason};
    r->by_vc = calloc((size_t)w->vcs.count + 1, sizeof *r->by_vc);
    r->by_type = calloc((size_t)w->gpu_types.count + 1, sizeof *r->by_type);
    return r;
}

static void count_rejection(struct rejections *r, const struct workload *w, uint32_t job)
{
    r->jobs++;
    r->by_vc[w->vc[job]]++;
    if (w->gpu_type != NULL && w->gpu_type[job] != NAMES_NONE)
        r->by_type[w->gpu_type[job]]++;
    if (w->gpus[job] > r->most_gpus)
        r->most_gpus = w->gpus[job];
    if (w->cpu_milli != NULL && w->cpu_milli[job] > r->most_cpu_milli)
        r->most_cpu_milli = w->cpu_milli[job];
    if (w->mem_kib != NULL && w->mem_kib[job] > r->most_mem_kib)
        r->most_mem_kib = w->mem_kib[job];
}

/* What the reason means for these jobs: ": VC 'debug' is not in the cluster". */
static void explain(const struct survey *s, const struct rejections *r, char *out, size_t size)
{
    char vcs[LIST_SIZE], types[LIST_SIZE], in[LIST_SIZE + 16] = "";
    uint32_t n_vcs = list_names(vcs, &s->w->vcs, r->by_vc, true),
             n_types = list_names(types, &s->w->gpu_types, r->by_type, true);
    if (s->config->cluster.n_vcs > 0)
        snprintf(in, sizeof in, " (VC%s %s)", plural(n_vcs), vcs);
    out[0] = '\0';
    if (strcmp(r->reason, "unknown_vc") == 0)
        snprintf(out, size, ": VC%s %s %s not in the cluster", plural(n_vcs), vcs, n_vcs == 1 ? "is" : "are");
    else if (strcmp(r->reason, "gpu_type_absent") == 0 && n_types > 0)
        snprintf(out, size, ": no node that they may use has GPUs of type%s %s", plural(n_types), types);
    else if (strncmp(r->reason, "too_large", 9) == 0)
        snprintf(out, size, ": they ask for up to %u GPUs, more than ever fit%s", r->most_gpus, in);
    else if (strcmp(r->reason, "too_much_memory") == 0)
        snprintf(out, size, ": they ask for up to %.6g GiB of main memory, more than the nodes have%s",
                 (double)r->most_mem_kib / (1 << 20), in);
    else if (strcmp(r->reason, "too_much_cpu") == 0)
        snprintf(out, size, ": they ask for up to %.6g CPU cores, more than the nodes have%s",
                 r->most_cpu_milli / 1000.0, in);
    else
        snprintf(out, size, "%s", in);
}

static void survey_rejections(struct survey *s)
{
    struct rejections all[REASONS_MAX];
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->w->n_jobs; j++) {
        const char *reason = reason_of(s, j);
        struct rejections *r = reason != NULL ? rejections_of(all, &n, reason, s->w) : NULL;
        if (r != NULL && (r->by_vc == NULL || r->by_type == NULL))
            run_short(s);
        else if (r != NULL)
            count_rejection(r, s->w, j);
    }
    for (uint32_t i = 0; i < n; i++) {
        char kind[80], why[2 * LIST_SIZE + 100];
        snprintf(kind, sizeof kind, "rejected:%.60s", all[i].reason);
        if (all[i].by_vc != NULL && all[i].by_type != NULL) {
            explain(s, &all[i], why, sizeof why);
            remarks_add(s->out, kind, s->config->index, "%u of %u jobs %s rejected as %s%s", all[i].jobs, s->w->n_jobs,
                        s->result == NULL  ? "will be"
                        : all[i].jobs == 1 ? "is"
                                           : "are",
                        all[i].reason[0] != '\0' ? all[i].reason : "(no reason given)", why);
        }
        free(all[i].by_vc);
        free(all[i].by_type);
    }
}

/* ---- what is ignored --------------------------------------------------------------------------------- */

static void survey_types(struct survey *s)
{
    const struct names *have = cluster_gpu_types(s->cluster);
    for (uint32_t t = 0; s->w->gpu_type != NULL && t < s->w->gpu_types.count; t++) {
        const char *wanted = names_text(&s->w->gpu_types, t);
        if (names_find(have, wanted, strlen(wanted)) != NAMES_NONE)
            continue;
        for (uint32_t i = 0; i < have->count; i++)
            if (strcasecmp(names_text(have, i), wanted) == 0) {
                char kind[100];
                snprintf(kind, sizeof kind, "gpu_type_case:%.80s", wanted);
                remarks_add(s->out, kind, s->config->index,
                            "GPU type '%.60s' of the trace and '%.60s' of the cluster differ by case only and are two "
                            "types; write "
                            "them alike",
                            wanted, names_text(have, i));
            }
    }
}

static bool vcs_are_made_up(const struct trace_spec *t)
{
    return t->is_generated && t->generate.vcs == 0 && t->generate.file == NULL;
}

static void survey_vcs(struct survey *s)
{
    const struct workload *w = s->w;
    char list[LIST_SIZE];
    uint32_t *counts = calloc((size_t)w->vcs.count + 1, sizeof *counts);
    if (counts == NULL) {
        run_short(s);
        return;
    }
    for (uint32_t j = 0; j < w->n_jobs; j++)
        counts[w->vc[j]]++;
    if (s->config->cluster.n_vcs == 0) {
        uint32_t n = list_names(list, &w->vcs, counts, false);
        if (n > 1 && !vcs_are_made_up(&s->config->trace))
            remarks_add(s->out, "vcs_ignored", s->config->index,
                        "the %u virtual clusters of the trace (%s) are ignored, since 'cluster.vcs' lists none: all "
                        "jobs share one "
                        "queue",
                        n, list);
        free(counts);
        return;
    }
    free(counts);
    struct names idle;
    names_init(&idle);
    for (uint32_t i = 0; i < s->config->cluster.n_vcs; i++) {
        const char *name = s->config->cluster.vcs[i].name;
        if (names_find(&w->vcs, name, strlen(name)) == NAMES_NONE && names_add(&idle, name, strlen(name)) == NAMES_NONE)
            run_short(s);
    }
    uint32_t *ones = malloc(((size_t)idle.count + 1) * sizeof *ones);
    for (uint32_t i = 0; i < idle.count && ones != NULL; i++)
        ones[i] = 1;
    if (ones == NULL)
        run_short(s);
    else if (list_names(list, &idle, ones, false) > 0)
        remarks_add(s->out, "vc_without_jobs", s->config->index, "no job of the trace is in VC%s %s of the config",
                    plural(idle.count), list);
    free(ones);
    names_fini(&idle);
}

static void survey_nodes(struct survey *s)
{
    uint32_t nodes = 0, gpus = 0;
    for (uint32_t p = 0; p < cluster_n_partitions(s->cluster); p++) {
        bool is_owned = false;
        for (uint32_t v = 0; v < cluster_n_vcs(s->cluster) && !is_owned; v++)
            is_owned = cluster_vc(s->cluster, v)->partition == p;
        const struct partition *q = cluster_partition(s->cluster, p);
        nodes += is_owned ? 0 : q->n_nodes;
        gpus += is_owned ? 0 : q->gpus;
    }
    if (nodes > 0)
        remarks_add(s->out, "nodes_of_no_vc", s->config->index,
                    "%u node%s (%u GPUs) belong%s to no virtual cluster and stay%s idle", nodes, plural(nodes), gpus,
                    nodes == 1 ? "s" : "", nodes == 1 ? "s" : "");
}

/* ---- load -------------------------------------------------------------------------------------------- */

/* Is there more work than capacity, of enough jobs and over a time that is long beside a job? Of a few long jobs at once no queue grows. */
static bool is_above(const struct load_row *r, double span_ns)
{
    return r->jobs - r->rejected >= ROW_JOBS_MIN && load_row_load(r) > load_tolerance &&
           r->gpu_ns < r->gpus * span_ns / 2;
}

static void add_loads(char *list, size_t size, const char *what, const struct load_row *rows, uint32_t n,
                      double span_ns)
{
    uint32_t named = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(list);
        if (!is_above(&rows[i], span_ns) || used + 120 > size)
            continue;
        if (named++ == NAMED_MAX) {
            snprintf(list + used, size - used, ", …");
            return;
        }
        bool is_all = strcmp(what, "the cluster") == 0;
        snprintf(list + used, size - used, "%s%s%s%.60s%s (%.2f)", used > 0 ? ", " : "", what, is_all ? "" : " '",
                 is_all ? "" : rows[i].name, is_all ? "" : "'", load_row_load(&rows[i]));
    }
}

static void survey_load(struct survey *s)
{
    struct offered_load l;
    struct error err = {0};
    char list[1000] = "";
    if (offered_load_init(&l, s->config, s->w, &err) != BRAID_OK) {
        run_short(s);
        return;
    }
    if (l.span_ns > 0) {
        add_loads(list, sizeof list, "the cluster", &l.all, 1, l.span_ns);
        add_loads(list, sizeof list, "VC", l.vcs, l.n_vcs, l.span_ns);
        add_loads(list, sizeof list, "GPU type", l.types, l.n_types > 0 ? l.n_types - 1 : 0, l.span_ns);
    }
    if (list[0] != '\0')
        remarks_add(s->out, "load", s->config->index,
                    "the offered load is above 1 for %s: more GPU time is asked for than there is, the queue grows "
                    "without end, and "
                    "means depend on the length of the trace",
                    list);
    offered_load_fini(&l);
}

/* ---- what was lost when the trace was read ------------------------------------------------------------- */

static void survey_rows(struct survey *s)
{
    uint64_t lost, jobs;
    char reasons[LIST_SIZE];
    double share = trace_lost_share(&s->w->report, &lost, &jobs, reasons, sizeof reasons);
    if (share > lost_share_max)
        remarks_add(s->out, "trace_lost", s->config->index,
                    "%.0f %% of the trace's jobs (%llu of %llu) were dropped when it was read (%s): what is left may "
                    "not be like the trace; 'braid trace check' says more",
                    100 * share, (unsigned long long)lost, (unsigned long long)jobs, reasons);
}

void survey_run(struct remarks *out, const struct run_config *config, const struct workload *w,
                const struct run_result *result)
{
    struct error err = {0};
    struct arena arena;
    struct survey s = {.out = out, .config = config, .w = w, .result = result};
    struct load_capacity *capacity = load_capacity_create(config, w, &err);
    arena_init(&arena);
    s.capacity = capacity;
    s.cluster = cluster_create(&config->cluster, w->origin_utc_s, &arena, &err);
    if (capacity == NULL || s.cluster == NULL) {
        run_short(&s);
    } else {
        survey_rows(&s);
        survey_rejections(&s);
        survey_types(&s);
        survey_vcs(&s);
        survey_nodes(&s);
        survey_load(&s);
    }
    load_capacity_destroy(capacity);
    arena_fini(&arena);
}

void survey_sweep(struct remarks *out, const struct experiment *x)
{
    const char *cluster = NULL;
    for (uint32_t i = 0; i < x->n_axes; i++)
        if (strncmp(x->axes[i].key, "cluster", 7) == 0 && (x->axes[i].key[7] == '.' || x->axes[i].key[7] == '\0'))
            cluster = x->axes[i].key;
    bool has_load = false;
    for (uint32_t i = 0; i < x->n_runs && !has_load; i++)
        has_load = x->runs[i].trace.load > 0;
    if (cluster != NULL && has_load)
        remarks_add(out, "load_of_swept_cluster", REMARK_OF_ALL,
                    "'trace.load' is relative to the cluster, and the sweep has '%s': the arrival rate is changed with "
                    "every cluster; "
                    "for the same arrivals everywhere use trace.scale",
                    cluster);
}

#include "output/metrics_gaps.h"

#include "output/bounds.h"

#include <math.h>
#include <stdlib.h>

/* Jobs in groups (by partition or by VC): each group in order of submission, at its place in one table. */
struct grouped {
    struct bound_job *jobs;
    uint32_t *first; /* of group g; first[n_groups]: their number */
    uint32_t n_groups;
};

struct selection {
    const struct run_result *r;
    const struct workload *w;
    int64_t from_ns, to_ns;
    uint32_t count;
};

static bool is_selected(const struct selection *s, uint32_t job)
{
    int64_t submit = s->w->submit_ns[job];
    return s->r->jobs[job].status == STATUS_FINISHED && submit >= s->from_ns &&
           (s->to_ns == RUN_NO_LIMIT || submit < s->to_ns);
}

static struct bound_job bound_job_of(const struct workload *w, uint32_t job)
{
    struct bound_job b = {w->submit_ns[job], w->duration_ns[job], w->gpus[job], {1, 1, 1, 1}};
    _Static_assert((int)BOUND_RESOURCES == (int)WORKLOAD_STAGES, "a bound for each stage");
    if (w->stage_ns[0] == NULL || w->iteration_ns == NULL || w->iteration_ns[job] <= 0)
        return b;
    for (int k = 0; k < BOUND_RESOURCES; k++)
        b.part[k] = (float)((double)w->stage_ns[k][job] / (double)w->iteration_ns[job]);
    return b;
}

static uint32_t group_of(const struct selection *s, uint32_t job, bool by_vc)
{
    const struct run_limits *l = &s->r->limits;
    uint32_t vc = l->vc_of[s->w->vc[job]];
    return by_vc ? vc : l->vc_partition[vc];
}

/* By VC, or by partition; n_groups is set. False: memory is out. */
static bool grouped_fill(struct grouped *g, const struct selection *s, bool by_vc)
{
    g->jobs = malloc(((size_t)s->count + 1) * sizeof *g->jobs);
    g->first = calloc((size_t)g->n_groups + 2, sizeof *g->first);
    if (g->jobs == NULL || g->first == NULL)
        return false;
    uint32_t *next = g->first + 1; /* counts, then places; in the end first[k] is where group k begins */
    for (uint32_t i = 0; i < s->r->n_jobs; i++)
        if (is_selected(s, i))
            next[group_of(s, i, by_vc) + 1]++;
    for (uint32_t k = 1; k <= g->n_groups; k++)
        next[k] += next[k - 1];
    for (uint32_t i = 0; i < s->r->n_jobs; i++)
        if (is_selected(s, i))
            g->jobs[next[group_of(s, i, by_vc)]++] = bound_job_of(s->w, i);
    return true;
}

static void grouped_fini(struct grouped *g)
{
    free(g->jobs);
    free(g->first);
}

static int group_bounds(struct bounds *out, const struct grouped *g, uint32_t group, uint64_t gpus, bool is_shared,
                        struct error *err)
{
    *out = (struct bounds){0};
    uint32_t n = g->first[group + 1] - g->first[group];
    return n == 0 ? BRAID_OK : bounds_compute(out, g->jobs + g->first[group], n, gpus, is_shared, err);
}

static void bounds_best(struct bounds *out, const struct bounds *other)
{
    out->flow_ns = fmax(out->flow_ns, other->flow_ns);
    out->last_ns = other->last_ns > out->last_ns ? other->last_ns : out->last_ns;
}

/* What the VCs of one partition say together, and where its nodes are fewer than all they may have, what the nodes say. */
static int partition_bounds(struct bounds *out, const struct selection *s, const struct grouped *by_partition,
                            const struct grouped *by_vc, uint32_t partition, struct error *err)
{
    const struct run_limits *l = &s->r->limits;
    uint64_t gpus = l->partition_gpus[partition], quotas = 0;
    struct bounds one;
    *out = (struct bounds){0};
    for (uint32_t v = 0; v < l->n_vcs; v++) {
        if (l->vc_partition[v] != partition)
            continue;
        int status = group_bounds(&one, by_vc, v, l->vc_gpus[v], l->are_shared, err);
        if (status != BRAID_OK)
            return status;
        one.flow_ns += out->flow_ns;
        bounds_best(out, &one);
        quotas += l->vc_gpus[v];
    }
    if (quotas <= gpus)
        return BRAID_OK;
    int status = group_bounds(&one, by_partition, partition, gpus, l->are_shared, err);
    bounds_best(out, &one);
    return status;
}

int run_bounds_compute(struct run_bounds *out, const struct run_result *r, const struct workload *w, int64_t from_ns,
                       int64_t to_ns, struct error *err)
{
    struct selection s = {r, w, from_ns, to_ns, 0};
    struct grouped by_partition = {.n_groups = r->limits.n_partitions}, by_vc = {.n_groups = r->limits.n_vcs};
    int status = BRAID_OK;
    *out = (struct run_bounds){NAN, NAN};
    if (!r->limits.are_known)
        return BRAID_OK;
    for (uint32_t i = 0; i < r->n_jobs; i++)
        s.count += is_selected(&s, i);
    if (s.count == 0)
        return BRAID_OK;
    if (!grouped_fill(&by_partition, &s, false) || !grouped_fill(&by_vc, &s, true))
        status = error_set(err, BRAID_FAILED, "out of memory for the bounds of %u jobs", s.count);
    double flow = 0, last = 0;
    for (uint32_t p = 0; p < r->limits.n_partitions && status == BRAID_OK; p++) {
        struct bounds b;
        status = partition_bounds(&b, &s, &by_partition, &by_vc, p, err);
        flow += b.flow_ns;
        last = fmax(last, (double)b.last_ns);
    }
    if (status == BRAID_OK)
        *out = (struct run_bounds){flow / s.count, last};
    grouped_fini(&by_partition);
    grouped_fini(&by_vc);
    return status;
}

#include "experiment/offered_load.h"

#include "experiment/load_capacity.h"

#include <stdlib.h>
#include <string.h>

double load_row_load(const struct load_row *r)
{
    return r->capacity_gpu_ns > 0 ? r->gpu_ns / r->capacity_gpu_ns : 0;
}

static void count(struct load_row *r, const struct workload *w, uint32_t j, bool is_admissible)
{
    r->jobs++;
    r->rejected += !is_admissible;
    r->gpus += is_admissible ? (double)w->gpus[j] : 0;
    r->gpu_ns += is_admissible ? (double)w->gpus[j] * (double)w->duration_ns[j] : 0;
}

/* GPUs of a type in the cluster; NULL: of all. */
static double gpus_of_type(const struct run_config *c, const char *type)
{
    double sum = 0;
    for (uint32_t g = 0; g < c->cluster.n_groups; g++) {
        const struct node_group_spec *group = &c->cluster.groups[g];
        if (type == NULL || strcmp(group->gpu != NULL ? group->gpu : "", type) == 0)
            sum += (double)group->count * group->gpus;
    }
    return sum;
}

static void fill(struct offered_load *l, const struct run_config *config, const struct workload *w,
                 const struct trace_capacity *c)
{
    int64_t from_ns = w->submit_ns[0], to_ns = w->submit_ns[w->n_jobs - 1];
    l->span_ns = (double)(to_ns - from_ns);
    l->all = (struct load_row){.name = "all", .capacity_gpu_ns = c->integral(c->self, NAMES_NONE, from_ns, to_ns)};
    for (uint32_t v = 0; v < l->n_vcs; v++)
        l->vcs[v] = (struct load_row){.name = names_text(&w->vcs, v),
                                      .capacity_gpu_ns = c->integral(c->self, v, from_ns, to_ns)};
    for (uint32_t t = 0; t < l->n_types; t++) {
        const char *type = t + 1 < l->n_types ? names_text(&w->gpu_types, t) : NULL;
        l->types[t] = (struct load_row){.name = type != NULL ? type : "any",
                                        .capacity_gpu_ns = gpus_of_type(config, type) * l->span_ns};
    }
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        bool fits = c->is_admissible(c->self, j);
        count(&l->all, w, j, fits);
        if (l->n_vcs > 0)
            count(&l->vcs[w->vc[j]], w, j, fits);
        if (l->n_types > 0)
            count(&l->types[w->gpu_type[j] == NAMES_NONE ? l->n_types - 1 : w->gpu_type[j]], w, j, fits);
    }
}

int offered_load_init(struct offered_load *out, const struct run_config *config, const struct workload *w,
                      struct error *err)
{
    *out = (struct offered_load){0};
    if (w->n_jobs == 0)
        return BRAID_OK;
    struct load_capacity *capacity = load_capacity_create(config, w, err);
    if (capacity == NULL)
        return err->code;
    out->n_vcs = config->cluster.n_vcs > 0 ? w->vcs.count : 0;
    out->n_types = w->gpu_type != NULL && w->gpu_types.count > 0 ? w->gpu_types.count + 1 : 0;
    out->vcs = calloc((size_t)out->n_vcs + 1, sizeof *out->vcs);
    out->types = calloc((size_t)out->n_types + 1, sizeof *out->types);
    bool ok = out->vcs != NULL && out->types != NULL;
    if (ok) {
        struct trace_capacity c = load_capacity_view(capacity);
        fill(out, config, w, &c);
    }
    load_capacity_destroy(capacity);
    if (ok)
        return BRAID_OK;
    offered_load_fini(out);
    return error_set(err, BRAID_FAILED, "out of memory");
}

void offered_load_fini(struct offered_load *l)
{
    free(l->vcs);
    free(l->types);
    *l = (struct offered_load){0};
}

#include "experiment/routes.h"

#include <stdlib.h>
#include <string.h>

bool route_matches(const struct route_texts *patterns, const char *text)
{
    for (uint32_t i = 0; i < patterns->n; i++) {
        const char *p = patterns->v[i], *t = text, *star = NULL, *from = NULL;
        for (;;) {
            if (*p == '*') {
                star = ++p;
                from = t;
            } else if (*t != '\0' && (*p == *t || *p == '?')) {
                p++;
                t++;
            } else if (*p == '\0' && *t == '\0') {
                return true;
            } else if (star != NULL && *from != '\0') { /* the last star takes one more */
                p = star;
                t = ++from;
            } else {
                break;
            }
        }
    }
    return patterns->n == 0;
}

bool routes_are_given(const struct run_config *config)
{
    for (uint32_t i = 0; i < config->cluster.n_vcs; i++)
        if (config->cluster.vcs[i].jobs.is_given)
            return true;
    return false;
}

/* A column of the trace that a condition looks at: what the trace lacks is "". */
static const char *text_of(const struct names *names, const uint32_t *column, uint32_t job)
{
    return column != NULL && column[job] != NAMES_NONE ? names_text(names, column[job]) : "";
}

static bool takes(const struct vc_route *r, const struct workload *w, uint32_t job)
{
    return r->is_given && w->gpus[job] >= r->gpus_min && w->gpus[job] <= r->gpus_max &&
           (r->user.n == 0 || route_matches(&r->user, text_of(&w->users, w->user, job))) &&
           (r->vc.n == 0 || route_matches(&r->vc, text_of(&w->vcs, w->vc, job))) &&
           (r->name.n == 0 || route_matches(&r->name, text_of(&w->names, w->name, job))) &&
           (r->gpu_type.n == 0 || route_matches(&r->gpu_type, text_of(&w->gpu_types, w->gpu_type, job)));
}

int routes_apply(struct workload *out, const struct workload *w, const struct run_config *config, struct error *err)
{
    const struct cluster_spec *c = &config->cluster;
    uint32_t *pick = malloc(((size_t)w->n_jobs + 1) * sizeof *pick), *ids = calloc((size_t)c->n_vcs + 1, sizeof *ids);
    workload_init(out);
    bool ok = pick != NULL && ids != NULL;
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        pick[j] = j;
    ok = ok && workload_select(out, w, pick, w->n_jobs, err) == BRAID_OK;
    for (uint32_t i = 0; i < c->n_vcs && ok; i++) {
        ids[i] = names_add(&out->vcs, c->vcs[i].name, strlen(c->vcs[i].name));
        ok = ids[i] != NAMES_NONE;
    }
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        for (uint32_t i = 0; i < c->n_vcs; i++)
            if (takes(&c->vcs[i].jobs, w, j)) {
                out->vc[j] = ids[i];
                break;
            }
    ok = ok && workload_settle_names(out);
    free(pick);
    free(ids);
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory for the routes of %u jobs", w->n_jobs);
}

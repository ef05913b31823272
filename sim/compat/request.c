#include "compat/request.h"

#include "base/check.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 320 };

/* "a, b, c" */
static const char *list_text(char *out, const struct request_choice *choices, size_t n)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && used < LIST_SIZE; i++)
        used += (size_t)snprintf(out + used, LIST_SIZE - used, "%s%s", i > 0 ? ", " : "", choices[i].name);
    return out;
}

static const struct request_choice *choice_find(const struct request_choice *choices, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(choices[i].name, name) == 0)
            return &choices[i];
    return NULL;
}

/* The part (order, fill, preempt) of a composed policy that differs from what its name stands for, or NULL. */
static const struct param_spec *altered_part(const struct run_spec *spec, const char **value)
{
    static const char *const parts[] = {"order", "fill", "preempt"};
    const struct policy_ops *ops = spec->policy.ops;
    for (size_t i = 0; i < ops->n_params; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (ops->params[i].type == PARAM_CHOICE && strcmp(ops->params[i].name, parts[k]) == 0 &&
                strcmp(spec->policy.params[i].s, ops->params[i].def) != 0) {
                *value = spec->policy.params[i].s;
                return &ops->params[i];
            }
    return NULL;
}

int request_policy(const struct run_spec *spec, const char *peer, const struct request_choice *choices, size_t n,
                   int *kind, struct error *err)
{
    char list[LIST_SIZE];
    const char *name = spec->policy.ops->name, *value;
    const struct request_choice *c = choice_find(choices, n, name);
    if (c == NULL || spec->policy.library != NULL)
        return error_set(err, BRAID_BAD_INPUT, "the %s simulator has no policy '%s'; it has %s", peer, name,
                         list_text(list, choices, n));
    const struct param_spec *part = altered_part(spec, &value);
    if (part != NULL)
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator has no policy %s with '%s: %s'; leave '%s' out, for it has only %s", peer,
                         name, part->name, value, part->name, list_text(list, choices, n));
    *kind = c->kind;
    return BRAID_OK;
}

int request_placement(const struct run_spec *spec, const char *peer, const struct request_choice *choices, size_t n,
                      int *kind, struct error *err)
{
    char list[LIST_SIZE];
    const struct request_choice *c = choice_find(choices, n, spec->placement.ops->name);
    if (c == NULL)
        return error_set(err, BRAID_BAD_INPUT, "the %s simulator has no placement '%s'; it has %s", peer,
                         spec->placement.ops->name, list_text(list, choices, n));
    *kind = c->kind;
    return BRAID_OK;
}

const union param *request_param(const struct run_spec *spec, const char *name)
{
    const struct policy_ops *ops = spec->policy.ops;
    for (size_t i = 0; i < ops->n_params; i++)
        if (strcmp(ops->params[i].name, name) == 0)
            return &spec->policy.params[i];
    check_fail(__FILE__, __LINE__, "parameter", "policy %s has no '%s'", ops->name, name);
}

int request_check_seconds(const struct run_spec *spec, const char *peer, struct error *err)
{
    const struct workload *w = spec->workload;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        bool is_submit = w->submit_ns[j] % NS_PER_S != 0;
        if (!is_submit && w->duration_ns[j] % NS_PER_S == 0)
            continue;
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator counts whole seconds, but the %s of job %.*s is %.9g s; round the trace's "
                         "times (and leave out trace.load, which stretches them), or use compat: none",
                         peer, is_submit ? "submission" : "duration", request_id_length(w, j), request_id(w, j),
                         (double)(is_submit ? w->submit_ns[j] : w->duration_ns[j]) * 1e-9);
    }
    return BRAID_OK;
}

static bool costs_nothing(const struct overhead_rule *rule)
{
    return rule->constant_ns == 0 && rule->n_rows == 0;
}

int request_check_overheads(const struct run_spec *spec, const char *peer, struct error *err)
{
    if (!costs_nothing(&spec->overhead.start) || !costs_nothing(&spec->overhead.restart))
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator has no overheads to choose; leave model.start_overhead and "
                         "model.restart_overhead at 0 s, or use compat: none",
                         peer);
    return BRAID_OK;
}

int request_check_engine(const struct run_spec *spec, const char *peer, struct error *err)
{
    if (spec->estimate.on_exceed != ESTIMATE_RUN_ON)
        return error_set(err, BRAID_BAD_INPUT,
                         "the %s simulator kills no job; leave estimate.on_exceed at run, or use compat: none", peer);
    for (uint32_t i = 0; i < spec->cluster->n_vcs; i++)
        if (spec->cluster->vcs[i].mode != VC_NODES)
            return error_set(err, BRAID_BAD_INPUT,
                             "the %s simulator knows no quotas; give cluster.vcs.%s nodes of its own, or use "
                             "compat: none",
                             peer, spec->cluster->vcs[i].name);
    return BRAID_OK;
}

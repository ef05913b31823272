#include "tests/harness.h"

#include "base/number.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case *case_create(uint32_t nodes, uint32_t gpus)
{
    struct test_case *c = calloc(1, sizeof *c);
    cr_assert_not_null(c);
    c->groups[0] = (struct node_group_spec){.count = nodes, .gpus = gpus, .gpu = ""};
    c->cluster.groups = c->groups;
    c->cluster.n_groups = 1;
    c->cluster.vcs = c->vcs;
    c->spec.cluster = &c->cluster;
    c->spec.check = true;
    c->spec.seed = 1;
    c->spec.measure.to_ns = RUN_NO_LIMIT;
    c->spec.stop = (struct stop_spec){RUN_NO_LIMIT, UINT32_MAX};
    case_policy(c, "fifo");
    case_placement(c, "consolidate");
    return c;
}

void case_destroy(struct test_case *c)
{
    run_result_fini(&c->r);
    workload_fini(&c->w);
    free(c);
}

uint32_t case_job(struct test_case *c, double submit_s, double duration_s, uint32_t gpus)
{
    cr_assert_lt(c->n_jobs, (uint32_t)CASE_JOBS);
    c->jobs[c->n_jobs] = (struct case_job){.submit_ns = llrint(submit_s * 1e9),
                                           .duration_ns = llrint(duration_s * 1e9),
                                           .gpus = gpus,
                                           .vc = "",
                                           .user = "",
                                           .estimate_ns = WORKLOAD_ABSENT,
                                           .recorded_start_ns = WORKLOAD_ABSENT,
                                           .deadline_ns = WORKLOAD_ABSENT};
    return c->n_jobs++;
}

void case_sort(struct test_case *c)
{
    for (uint32_t i = 1; i < c->n_jobs; i++)
        for (uint32_t k = i; k > 0 && c->jobs[k].submit_ns < c->jobs[k - 1].submit_ns; k--) {
            struct case_job t = c->jobs[k];
            c->jobs[k] = c->jobs[k - 1];
            c->jobs[k - 1] = t;
        }
}

static void param_set(union param *v, const struct param_spec *p, const char *text)
{
    size_t n = strlen(text);
    switch (p->type) {
    case PARAM_INT:
        cr_assert(number_parse_i64(text, n, &v->i));
        break;
    case PARAM_NUMBER:
        cr_assert(number_parse_double(text, n, &v->f));
        break;
    case PARAM_TIME:
        cr_assert(number_parse_time(text, n, &v->i));
        break;
    case PARAM_BOOL:
        v->b = strcmp(text, "true") == 0;
        break;
    case PARAM_TEXT:
    case PARAM_PATH:
    case PARAM_CHOICE:
        v->s = text;
        break;
    case PARAM_NUMBERS: { /* "[1, 2]" */
        static double lists[16][16];
        static int used;
        double *list = lists[used++ % 16];
        uint32_t count = 0;
        for (const char *at = text + 1; *at != '\0' && *at != ']' && count < 16;) {
            size_t length = strcspn(at, ",]");
            if (number_parse_double(at, length, &list[count]))
                count++;
            at += length + (at[length] == ',');
        }
        v->list.v = list;
        v->list.n = count;
        break;
    }
    }
}

static void params_default(union param *v, const struct param_spec *specs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (specs[i].def != NULL)
            param_set(&v[i], &specs[i], specs[i].def);
}

bool case_any_size(const struct policy_ops *ops)
{
    return strcmp(ops->name, "optimal") != 0;
}

bool case_has_param(const struct test_case *c, const char *name)
{
    const struct policy_ops *ops = c->spec.policy.ops;
    for (size_t i = 0; i < ops->n_params; i++)
        if (strcmp(ops->params[i].name, name) == 0)
            return true;
    return false;
}

void case_policy_quick(struct test_case *c, const char *name)
{
    case_policy(c, name);
    if (case_has_param(c, "budget"))
        case_param(c, "budget", "300");
}

void case_policy(struct test_case *c, const char *name)
{
    c->spec.policy = (struct policy_spec){.ops = policy_find(name), .params = c->params, .label = name};
    cr_assert_not_null(c->spec.policy.ops, "no policy %s", name);
    params_default(c->params, c->spec.policy.ops->params, c->spec.policy.ops->n_params);
}

void case_param(struct test_case *c, const char *name, const char *value)
{
    const struct policy_ops *ops = c->spec.policy.ops;
    for (size_t i = 0; i < ops->n_params; i++)
        if (strcmp(ops->params[i].name, name) == 0) {
            param_set(&c->params[i], &ops->params[i], value);
            return;
        }
    cr_assert_fail("policy %s has no parameter %s", ops->name, name);
}

void case_placement(struct test_case *c, const char *name)
{
    c->spec.placement = (struct placement_spec){placement_find(name), c->placement_params};
    cr_assert_not_null(c->spec.placement.ops, "no placement %s", name);
    params_default(c->placement_params, c->spec.placement.ops->params, c->spec.placement.ops->n_params);
}

/* Jobs are called by their numbers, so that others can depend on them. */
static void number_jobs(struct test_case *c)
{
    c->w.id_text = malloc((size_t)c->n_jobs * 12 + 1);
    cr_assert_not_null(c->w.id_text);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const char *depends = c->jobs[j].depends != NULL ? c->jobs[j].depends : "";
        c->w.depends[j] = names_add(&c->w.depends_texts, depends, strlen(depends));
        c->w.id_at[j + 1] = c->w.id_at[j] + (uint64_t)sprintf(c->w.id_text + c->w.id_at[j], "%u", j);
    }
}

int case_try(struct test_case *c)
{
    struct workload_columns want = {0};
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        want.estimate |= c->jobs[j].estimate_ns != WORKLOAD_ABSENT;
        want.start |= c->jobs[j].recorded_start_ns != WORKLOAD_ABSENT;
        want.deadline |= c->jobs[j].deadline_ns != WORKLOAD_ABSENT;
        want.priority |= c->jobs[j].priority != 0;
        want.cpu |= c->jobs[j].cpu_milli != 0;
        want.memory |= c->jobs[j].mem_kib != 0;
        want.gpu_memory |= c->jobs[j].gpu_mem_kib != 0;
        want.stages |= c->jobs[j].iteration_ns != 0;
        want.iterations |= c->jobs[j].iteration_ns != 0;
        want.gpu_type |= c->jobs[j].gpu_type != NULL;
        want.depends |= c->jobs[j].depends != NULL;
        want.name |= c->jobs[j].name != NULL;
    }
    run_result_fini(&c->r);
    workload_fini(&c->w);
    workload_init(&c->w);
    cr_assert_eq(workload_alloc(&c->w, c->n_jobs, &want, &c->err), BRAID_OK);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct case_job *job = &c->jobs[j];
        c->w.submit_ns[j] = job->submit_ns;
        c->w.duration_ns[j] = job->duration_ns;
        c->w.gpus[j] = job->gpus;
        c->w.vc[j] = names_add(&c->w.vcs, job->vc, strlen(job->vc));
        c->w.user[j] = names_add(&c->w.users, job->user, strlen(job->user));
        if (want.name) {
            const char *name = job->name != NULL ? job->name : "";
            c->w.name[j] = names_add(&c->w.names, name, strlen(name));
        }
        if (want.estimate)
            c->w.estimate_ns[j] = job->estimate_ns;
        if (want.start)
            c->w.start_ns[j] = job->recorded_start_ns;
        for (int k = 0; k < WORKLOAD_STAGES && want.stages; k++)
            c->w.stage_ns[k][j] = job->stage_ns[k];
        if (want.iterations)
            c->w.iteration_ns[j] = job->iteration_ns;
        if (want.priority)
            c->w.priority[j] = job->priority;
        if (want.deadline)
            c->w.deadline_ns[j] = job->deadline_ns;
        if (want.cpu)
            c->w.cpu_milli[j] = job->cpu_milli;
        if (want.memory)
            c->w.mem_kib[j] = job->mem_kib;
        if (want.gpu_type)
            c->w.gpu_type[j] =
                job->gpu_type != NULL ? names_add(&c->w.gpu_types, job->gpu_type, strlen(job->gpu_type)) : NAMES_NONE;
        if (want.gpu_memory)
            c->w.gpu_mem_kib[j] = job->gpu_mem_kib;
        if (j > 0)
            cr_assert_geq(job->submit_ns, c->jobs[j - 1].submit_ns, "jobs must ascend");
    }
    if (want.depends)
        number_jobs(c);
    c->spec.workload = &c->w;
    if (c->sharing.groups <= 1)
        return run(&c->r, &c->spec, &c->err);
    struct sharing_model *model;
    cr_assert_eq(sharing_create(&model, &c->sharing, &c->w, &c->err), BRAID_OK);
    c->spec.sharing = model;
    int code = run(&c->r, &c->spec, &c->err);
    c->spec.sharing = NULL;
    sharing_destroy(model);
    return code;
}

void case_run(struct test_case *c)
{
    int code = case_try(c);
    cr_assert_eq(code, BRAID_OK, "%s", c->err.message);
}

double case_start_s(const struct test_case *c, uint32_t job)
{
    int64_t ns = c->r.jobs[job].start_ns;
    return ns < 0 ? -1 : (double)ns * 1e-9;
}

double case_end_s(const struct test_case *c, uint32_t job)
{
    return (double)c->r.jobs[job].end_ns * 1e-9;
}

#include "traces/stage_assign.h"

#include "base/random.h"
#include "traces/stage_table.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(const struct stages_spec *spec, struct error *err)
{
    return error_at(err, BRAID_FAILED, spec->table_shown, 0, 0, "out of memory for the profiles of the jobs");
}

/* ---- the draw ------------------------------------------------------------------------------------ */

/* The sum of the weights up to and including each model. */
static int weights_sum(const struct stages_spec *spec, const struct stage_table *t, double *upto, struct error *err)
{
    double of_class[WORKLOAD_STAGES] = {0}, sum = 0, total = 0;
    for (uint32_t i = 0; i < t->n_models; i++)
        of_class[t->models[i].bound] += t->models[i].weight;
    for (uint32_t k = 0; k < WORKLOAD_STAGES && spec->mix.n > 0; k++) {
        total += spec->mix.v[k];
        if (spec->mix.v[k] > 0 && !(of_class[k] > 0))
            return error_at(
                err, BRAID_BAD_INPUT, spec->table_shown, 0, 0,
                "trace.profiles.mix wants jobs bound by %s, but no model with a weight is; leave that class 0 or "
                "add 'bound: %s' to a model",
                stage_kind_names[k], stage_kind_names[k]);
    }
    if (spec->mix.n > 0 && !(total > 0))
        return error_at(err, BRAID_BAD_INPUT, spec->table_shown, 0, 0, "trace.profiles.mix is 0 for every class");
    for (uint32_t i = 0; i < t->n_models; i++) {
        const struct stage_model *m = &t->models[i];
        double of_all = spec->mix.n > 0 ? spec->mix.v[m->bound] : 1;
        if (m->weight > 0)
            sum += spec->mix.n > 0 ? of_all * m->weight / of_class[m->bound] : m->weight;
        upto[i] = sum;
    }
    return BRAID_OK;
}

static const struct stage_model *model_at(const struct stage_table *t, const double *upto, double u)
{
    double at = u * upto[t->n_models - 1];
    uint32_t low = 0, high = t->n_models - 1; /* the first whose sum is more than `at` */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (upto[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return &t->models[low];
}

struct named {
    uint32_t user, name, job;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->user != y->user)
        return x->user < y->user ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* Jobs of one user and name are runs of one program: they take the draw of the first. False: memory is out. */
static bool share_draws(const struct workload *w, double *draws)
{
    if (w->name == NULL)
        return true;
    struct named *jobs = malloc((size_t)w->n_jobs * sizeof *jobs + 1);
    uint32_t n = 0;
    if (jobs == NULL)
        return false;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        if (w->name[j] != NAMES_NONE && names_text(&w->names, w->name[j])[0] != '\0')
            jobs[n++] = (struct named){w->user[j], w->name[j], j};
    qsort(jobs, n, sizeof *jobs, compare_named);
    for (uint32_t i = 1; i < n; i++)
        if (jobs[i].user == jobs[i - 1].user && jobs[i].name == jobs[i - 1].name)
            draws[jobs[i].job] = draws[jobs[i - 1].job];
    free(jobs);
    return true;
}

static bool draw(const struct stages_spec *spec, const struct workload *w, double *draws)
{
    gsl_rng *rng = random_stream(spec->seed, "profiles", "");
    if (rng == NULL)
        return false;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        draws[j] = gsl_rng_uniform(rng);
    gsl_rng_free(rng);
    return share_draws(w, draws);
}

/* ---- the columns -------------------------------------------------------------------------------- */

static bool column_make(void **column, uint32_t n, size_t size)
{
    if (*column == NULL)
        *column = calloc((size_t)n + 1, size);
    return *column != NULL;
}

static bool columns_make(struct workload *w)
{
    bool has_models = w->model != NULL;
    void *columns[] = {w->model,       w->gpu_mem_kib, w->iterations,  w->iteration_ns,
                       w->stage_ns[0], w->stage_ns[1], w->stage_ns[2], w->stage_ns[3]};
    static const size_t sizes[] = {sizeof *w->model,        sizeof *w->gpu_mem_kib, sizeof *w->iterations,
                                   sizeof *w->iteration_ns, sizeof *w->stage_ns[0], sizeof *w->stage_ns[1],
                                   sizeof *w->stage_ns[2],  sizeof *w->stage_ns[3]};
    bool ok = true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ok &= column_make(&columns[i], w->n_jobs, sizes[i]);
    w->model = columns[0]; /* also when memory is out: what was made is freed with the workload */
    w->gpu_mem_kib = columns[1];
    w->iterations = columns[2];
    w->iteration_ns = columns[3];
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        w->stage_ns[k] = columns[4 + k];
    for (uint32_t j = 0; ok && !has_models && j < w->n_jobs; j++)
        w->model[j] = NAMES_NONE;
    return ok;
}

static bool has_stages(const struct workload *w, uint32_t job)
{
    if (w->stage_ns[0] == NULL || w->iteration_ns == NULL || w->iteration_ns[job] <= 0)
        return false;
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        if (w->stage_ns[k][job] > 0)
            return true;
    return false;
}

static const char *model_name(const struct workload *w, uint32_t job)
{
    return w->model[job] != NAMES_NONE ? names_text(&w->models, w->model[job]) : "";
}

static void give(struct workload *w, uint32_t job, const struct stage_model *m)
{
    const struct stage_entry_ns *e = stage_model_entry(m, w->gpus[job]);
    int64_t whole = w->duration_ns[job] / e->iteration_ns, rest = w->duration_ns[job] % e->iteration_ns;
    int64_t iterations = whole + (rest >= e->iteration_ns - rest);
    w->iterations[job] = iterations > 0 ? iterations : 1;
    w->iteration_ns[job] = e->iteration_ns;
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        w->stage_ns[k][job] = e->stage_ns[k];
    if (w->gpu_mem_kib[job] == 0)
        w->gpu_mem_kib[job] = m->gpu_mem_kib;
}

/* Each job's profile by name or draw. False: memory is out. */
static bool give_all(struct workload *w, const struct stages_spec *spec, const struct stage_table *t,
                     const double *upto, const double *draws)
{
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        if (spec->jobs == STAGES_MISSING && has_stages(w, j))
            continue;
        const struct stage_model *m = spec->jobs != STAGES_DRAWN ? stage_table_find(t, model_name(w, j)) : NULL;
        if (m == NULL) {
            m = model_at(t, upto, draws[j]);
            bool is_named = spec->jobs != STAGES_DRAWN && model_name(w, j)[0] != '\0';
            if (!is_named)
                w->model[j] = names_add(&w->models, m->name, strlen(m->name));
            if (w->model[j] == NAMES_NONE)
                return false;
            if (spec->jobs == STAGES_DRAWN)
                w->gpu_mem_kib[j] = 0; /* that of the model that it no longer is */
        }
        give(w, j, m);
    }
    return true;
}

int stage_assign(struct workload *w, const struct stages_spec *spec, struct error *err)
{
    struct arena a;
    struct stage_table t;
    arena_init(&a);
    int code = stage_table_read(&t, &a, spec->table, spec->table_shown, err);
    double *upto = NULL, *draws = NULL;
    if (code == BRAID_OK) {
        upto = ARENA_NEW(&a, double, t.n_models);
        draws = malloc((size_t)w->n_jobs * sizeof *draws + 1);
        code = upto != NULL && draws != NULL ? weights_sum(spec, &t, upto, err) : no_memory(spec, err);
    }
    if (code == BRAID_OK &&
        (!draw(spec, w, draws) || !columns_make(w) || !give_all(w, spec, &t, upto, draws) || !workload_settle_names(w)))
        code = no_memory(spec, err);
    if (code == BRAID_OK)
        workload_digest(w);
    free(draws);
    arena_fini(&a);
    return code;
}

#include "traces/generator.h"

#include "base/names.h"
#include "traces/generator_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct generator_model *const models[] = {&generator_philly, &generator_poisson};
static const char *const model_names[] = {"philly", "poisson", NULL};
enum { N_MODELS = sizeof models / sizeof models[0] };
_Static_assert(sizeof model_names / sizeof model_names[0] == N_MODELS + 1, "a name a model");

/* More would be a slip of the pen, and tables of this size are cheap. */
enum { VCS_LIMIT = 1000000, USERS_LIMIT = 10000000 };

const char *const *generator_models(void)
{
    return model_names;
}

static const struct generator_model *model_find(const char *name)
{
    for (int i = 0; i < N_MODELS; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

const char *generator_summary(const char *model)
{
    const struct generator_model *m = model_find(model);
    return m != NULL ? m->summary : NULL;
}

int generator_no_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory while generating a trace; ask for fewer jobs");
}

int generator_too_long(const struct generator_spec *spec, struct error *err)
{
    return error_set(err, BRAID_BAD_INPUT,
                     "%" PRIu32 " jobs at %g a day take more than %.0f years; ask for fewer jobs or a higher rate",
                     spec->jobs, spec->rate_per_day, (double)GENERATOR_LAST_S / (365.25 * 86400));
}

gsl_ran_discrete_t *generator_zipf(uint32_t n, double exponent)
{
    double *weights = malloc(n * sizeof *weights);
    if (weights == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        weights[i] = pow(i + 1.0, -exponent);
    gsl_ran_discrete_t *table = gsl_ran_discrete_preproc(n, weights);
    free(weights);
    return table;
}

int64_t generator_shift(struct workload *w)
{
    int64_t first_s = w->submit_ns[0] / INT64_C(1000000000);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        w->submit_ns[j] -= first_s * INT64_C(1000000000);
    return first_s;
}

int generator_name_column(struct names *names, const char *prefix, uint32_t n, uint32_t *column, uint32_t n_jobs,
                          struct error *err)
{
    uint32_t *id = malloc(n * sizeof *id);
    if (id == NULL)
        return generator_no_memory(err);
    memset(id, 0, n * sizeof *id);
    for (uint32_t j = 0; j < n_jobs; j++)
        id[column[j]] = 1;
    for (uint32_t i = 0; i < n; i++) {
        char text[64];
        if (id[i] == 0)
            continue;
        int length = prefix != NULL ? snprintf(text, sizeof text, "%s%" PRIu32, prefix, i)
                                    : snprintf(text, sizeof text, "%s", generator_network_name(i));
        id[i] = names_add(names, text, (size_t)length);
        if (id[i] == NAMES_NONE) {
            free(id);
            return generator_no_memory(err);
        }
    }
    for (uint32_t j = 0; j < n_jobs; j++)
        column[j] = id[column[j]];
    free(id);
    return BRAID_OK;
}

/* Ids "0", "1", …, "n-1". */
static int fill_ids(struct workload *w, struct error *err)
{
    uint64_t bytes = 0;
    for (uint64_t digits = 1, first = 0, next = 10; first < w->n_jobs; digits++, first = next, next *= 10)
        bytes += digits * ((w->n_jobs < next ? w->n_jobs : next) - first);
    char *text = realloc(w->id_text, bytes + 1);
    if (text == NULL)
        return generator_no_memory(err);
    w->id_text = text;
    uint64_t at = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        char reversed[10];
        uint32_t length = 0, rest = j;
        do {
            reversed[length++] = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        w->id_at[j] = at;
        while (length > 0)
            text[at++] = reversed[--length];
    }
    w->id_at[w->n_jobs] = at;
    text[at] = '\0';
    return BRAID_OK;
}

static int check_spec(const struct generator_spec *spec, struct error *err)
{
    if (spec->jobs == 0 || spec->jobs > UINT32_MAX - 2)
        return error_set(err, BRAID_BAD_INPUT, "the number of jobs must be from 1 to %" PRIu32, UINT32_MAX - 2);
    if (!(spec->rate_per_day >= 0) || spec->rate_per_day > 1e12)
        return error_set(err, BRAID_BAD_INPUT, "the rate must be from 0 (the model's own) to 1e12 jobs a day, not %g",
                         spec->rate_per_day);
    if (spec->vcs > VCS_LIMIT || spec->users > USERS_LIMIT)
        return error_set(err, BRAID_BAD_INPUT, "at most %d virtual clusters and %d users", (int)VCS_LIMIT,
                         (int)USERS_LIMIT);
    return BRAID_OK;
}

int generator_make(struct workload *out, const struct generator_spec *spec, struct error *err)
{
    workload_init(out);
    const struct generator_model *model = model_find(spec->model);
    if (model == NULL) {
        const char *near = text_nearest(spec->model, model_names, N_MODELS);
        return error_set(err, BRAID_BAD_INPUT, "unknown model '%s' of the generator; %s'%s'%s", spec->model,
                         near != NULL ? "did you mean " : "there are ", near != NULL ? near : "philly",
                         near != NULL ? "?" : " and 'poisson'");
    }
    int code = check_spec(spec, err);
    if (code != BRAID_OK)
        return code;
    struct generator_spec full = *spec;
    if (full.rate_per_day == 0)
        full.rate_per_day = model->rate_per_day;
    if (full.vcs == 0)
        full.vcs = model->vcs;
    if (full.users == 0)
        full.users = model->users;
    code = model->make(out, &full, err);
    if (code == BRAID_OK)
        code = fill_ids(out, err);
    if (code != BRAID_OK) {
        workload_fini(out);
        workload_init(out);
        return code;
    }
    snprintf(out->report.format, sizeof out->report.format, "generated (%s)", model->name);
    out->report.rows_read = out->report.rows_kept = out->n_jobs;
    workload_digest(out);
    return BRAID_OK;
}

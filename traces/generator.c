#include "traces/generator.h"

#include "base/names.h"
#include "traces/fit.h"
#include "traces/generator_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct generator_model *const models[] = {&generator_philly, &generator_helios, &generator_pai,
                                                       &generator_acme,   &generator_muri,   &generator_gavel,
                                                       &generator_heavy,  &generator_poisson};
static const char *const model_names[] = {"philly", "helios", "pai", "acme", "muri", "gavel", "heavy", "poisson", NULL};
enum { N_MODELS = sizeof models / sizeof models[0] };
_Static_assert(sizeof model_names / sizeof model_names[0] == N_MODELS + 1, "a name a model");

/* More would be a slip of the pen, and tables of this size are cheap. */
enum { VCS_LIMIT = 1000000 };

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
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        w->submit_ns[j] -= first_s * INT64_C(1000000000);
        if (w->deadline_ns != NULL && w->deadline_ns[j] != WORKLOAD_ABSENT)
            w->deadline_ns[j] -= first_s * INT64_C(1000000000);
    }
    return first_s;
}

int generator_name_column(struct names *names, const char *prefix, const char *const *texts, uint32_t n,
                          uint32_t *column, uint32_t n_jobs, struct error *err)
{
    uint32_t *id = calloc(n, sizeof *id);
    if (id == NULL)
        return generator_no_memory(err);
    for (uint32_t j = 0; j < n_jobs; j++)
        if (column[j] != NAMES_NONE)
            id[column[j]] = 1;
    for (uint32_t i = 0; i < n; i++) {
        char numbered[64];
        if (id[i] == 0)
            continue;
        if (texts == NULL)
            snprintf(numbered, sizeof numbered, "%s%" PRIu32, prefix, i);
        const char *text = texts != NULL ? texts[i] : numbered;
        id[i] = names_add(names, text, strlen(text));
        if (id[i] == NAMES_NONE) {
            free(id);
            return generator_no_memory(err);
        }
    }
    for (uint32_t j = 0; j < n_jobs; j++)
        if (column[j] != NAMES_NONE)
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
    if (spec->vcs > VCS_LIMIT || spec->users > PROFILE_USERS_MAX)
        return error_set(err, BRAID_BAD_INPUT, "at most %d virtual clusters and %d users", (int)VCS_LIMIT,
                         (int)PROFILE_USERS_MAX);
    if (!(spec->burst >= 1 && spec->burst <= PROFILE_BURST_MAX) && !(spec->burst >= 0 && spec->burst <= 0))
        return error_set(err, BRAID_BAD_INPUT, "a burst must be from 1 to %g jobs in the mean, not %g",
                         PROFILE_BURST_MAX, spec->burst);
    if (!(spec->repeat <= 1) || !(spec->deadlines >= 0 && spec->deadlines <= 1))
        return error_set(err, BRAID_BAD_INPUT, "shares of repeats and deadlines must be from 0 to 1, not %g and %g",
                         spec->repeat, spec->deadlines);
    return BRAID_OK;
}

static int unknown_model(const char *name, struct error *err)
{
    const char *near = text_nearest(name, model_names, N_MODELS);
    if (near != NULL)
        return error_set(err, BRAID_BAD_INPUT, "unknown model '%s' of the generator; did you mean '%s'?", name, near);
    char all[160] = "";
    for (int i = 0; i < N_MODELS; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", model_names[i]);
    }
    return error_set(err, BRAID_BAD_INPUT, "unknown model '%s' of the generator; there are %s", name, all);
}

/* Draw by the profile of a file. */
static int make_from_file(struct workload *out, const struct generator_spec *spec, struct error *err)
{
    struct arena arena;
    struct profile profile;
    arena_init(&arena);
    int code = fit_read(&profile, &arena, spec->file, spec->file_shown, err);
    if (code == BRAID_OK)
        code = generator_sample(out, &profile, spec, err);
    arena_fini(&arena);
    return code;
}

int generator_make(struct workload *out, const struct generator_spec *spec, struct error *err)
{
    workload_init(out);
    const struct generator_model *model = spec->file == NULL ? model_find(spec->model) : NULL;
    if (spec->file == NULL && model == NULL)
        return unknown_model(spec->model, err);
    int code = check_spec(spec, err);
    if (code != BRAID_OK)
        return code;
    if (model == NULL)
        code = make_from_file(out, spec, err);
    else if (model->make != NULL)
        code = model->make(out, spec, err);
    else
        code = generator_sample(out, model->profile, spec, err);
    if (code == BRAID_OK)
        code = fill_ids(out, err);
    if (code != BRAID_OK) {
        workload_fini(out);
        workload_init(out);
        return code;
    }
    snprintf(out->report.format, sizeof out->report.format, "generated (%s)", model != NULL ? model->name : "fitted");
    out->report.rows_read = out->report.rows_kept = out->n_jobs;
    workload_digest(out);
    return BRAID_OK;
}

#include "traces/fit_check.h"

#include "base/check.h"
#include "base/number.h"
#include "traces/generator_model.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row may be off by: percent points for shares and distances, a factor for the others. */
#define SHARE_MOST 10.0
#define FACTOR_MOST 1.5

/* Jobs of each number of GPUs, of each VC and of each user; numbers of GPUs are counted by their place in the model's table. */
struct tally {
    double *sizes, *vcs, *users;
    uint32_t n_sizes, n_vcs, n_users;
    double *duration_s; /* ascending */
    double n, gpus, gpu_h, per_day;
};

static void tally_fini(struct tally *t)
{
    free(t->sizes);
    free(t->vcs);
    free(t->users);
    free(t->duration_s);
}

static uint32_t size_at(const struct profile *p, uint32_t gpus)
{
    uint32_t low = 0, high = p->n_sizes - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->sizes[middle].gpus < gpus)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The VC of the model that has the name of VC `vc` of `w`: names are in the same, natural order in both, but those that no made job bears
 * are left out. */
static uint32_t vc_at(const struct profile *p, const struct workload *w, uint32_t vc)
{
    for (uint32_t i = 0; i < p->vcs; i++)
        if (strcmp(p->vc_shares[i].name, names_text(&w->vcs, vc)) == 0)
            return i;
    return 0;
}

static bool tally_init(struct tally *t, const struct profile *p, const struct workload *w)
{
    *t = (struct tally){.n_sizes = p->n_sizes, .n_vcs = p->vcs, .n_users = w->users.count, .n = w->n_jobs};
    t->sizes = calloc(t->n_sizes, sizeof *t->sizes);
    t->vcs = calloc(t->n_vcs, sizeof *t->vcs);
    t->users = calloc(t->n_users, sizeof *t->users);
    t->duration_s = malloc(w->n_jobs * sizeof *t->duration_s);
    uint32_t *vc = malloc(w->vcs.count * sizeof *vc);
    bool is_done = t->sizes != NULL && t->vcs != NULL && t->users != NULL && t->duration_s != NULL && vc != NULL;
    for (uint32_t i = 0; is_done && i < w->vcs.count; i++)
        vc[i] = vc_at(p, w, i);
    for (uint32_t j = 0; is_done && j < w->n_jobs; j++) {
        t->sizes[size_at(p, w->gpus[j])]++;
        t->vcs[vc[w->vc[j]]]++;
        t->users[w->user[j]]++;
        t->duration_s[j] = (double)w->duration_ns[j] / 1e9;
        t->gpus += w->gpus[j];
        t->gpu_h += w->gpus[j] * t->duration_s[j] / 3600;
    }
    free(vc);
    if (is_done) {
        gsl_sort(t->duration_s, 1, w->n_jobs);
        double span_s = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]) / 1e9;
        t->per_day = w->n_jobs * 86400.0 / fmax(span_s, 1);
    }
    return is_done;
}

/* The percentage of the jobs that would have to be of another kind for the shares to be the same. */
static double distance(const double *a, double n_a, const double *b, double n_b, uint32_t kinds)
{
    double sum = 0;
    for (uint32_t i = 0; i < kinds; i++)
        sum += fabs(a[i] / n_a - b[i] / n_b);
    return 100 * sum / 2;
}

static double largest_share(const struct tally *t)
{
    double most = 0;
    for (uint32_t i = 0; i < t->n_users; i++)
        most = fmax(most, t->users[i]);
    return 100 * most / t->n;
}

static void put_value(struct fit_check *out, const char *name, const char *unit, double trace, double made)
{
    double factor = made > trace ? made / trace : trace / made;
    require(out->n < FIT_CHECK_ROWS, "%u rows", out->n);
    out->rows[out->n++] = (struct fit_check_row){name, unit, trace, made, made != trace && !(factor <= FACTOR_MOST)};
}

static void put_distance(struct fit_check *out, const char *name, const char *unit, double made)
{
    require(out->n < FIT_CHECK_ROWS, "%u rows", out->n);
    out->rows[out->n++] = (struct fit_check_row){name, unit, NAN, made, made > SHARE_MOST};
}

static void compare(struct fit_check *out, const struct tally *trace, const struct tally *made)
{
    static const struct {
        const char *name;
        double at;
    } quantiles[] = {{"duration, median", 0.5}, {"duration, p90", 0.9}};
    put_value(out, "jobs a day", "", trace->per_day, made->per_day);
    put_value(out, "mean GPUs", "", trace->gpus / trace->n, made->gpus / made->n);
    put_value(out, "GPU hours a job", "h", trace->gpu_h / trace->n, made->gpu_h / made->n);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        put_value(out, quantiles[i].name, "s",
                  gsl_stats_quantile_from_sorted_data(trace->duration_s, 1, (size_t)trace->n, quantiles[i].at),
                  gsl_stats_quantile_from_sorted_data(made->duration_s, 1, (size_t)made->n, quantiles[i].at));
    put_distance(out, "GPU counts", "% of the jobs differ",
                 distance(trace->sizes, trace->n, made->sizes, made->n, trace->n_sizes));
    put_distance(out, "VCs", "% of the jobs differ", distance(trace->vcs, trace->n, made->vcs, made->n, trace->n_vcs));
    double most = largest_share(trace), made_most = largest_share(made);
    put_value(out, "largest user", "% of the jobs", most, made_most);
    out->rows[out->n - 1].is_off = fabs(most - made_most) > SHARE_MOST;
}

int fit_check(struct fit_check *out, const struct profile *p, const struct workload *w, uint64_t seed,
              struct error *err)
{
    *out = (struct fit_check){.jobs = w->n_jobs < FIT_CHECK_JOBS ? w->n_jobs : FIT_CHECK_JOBS};
    struct generator_spec spec = {.jobs = out->jobs, .seed = seed, .repeat = -1, .is_lean = true};
    struct workload made;
    struct tally tallies[2] = {{0}, {0}};
    workload_init(&made);
    int code = generator_sample(&made, p, &spec, err);
    if (code == BRAID_OK && (!tally_init(&tallies[0], p, w) || !tally_init(&tallies[1], p, &made)))
        code = error_set(err, BRAID_FAILED, "out of memory while comparing a model with its trace");
    if (code == BRAID_OK)
        compare(out, &tallies[0], &tallies[1]);
    tally_fini(&tallies[0]);
    tally_fini(&tallies[1]);
    workload_fini(&made);
    return code;
}

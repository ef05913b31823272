/* bench_interleaving - how far the closed form of a group's speed (interleave.h) is from a simulation of its stages (stage_sim.h), over all
 * pairs, triples and quadruples of the shipped profiles (traces/generator_stages.c), members repeated or not, for each profiled number of
 * GPUs. paper/interleaving-model makes its tables and figure with it.
 *
 *   bench-interleaving OUT.csv    writes a row a group; prints the page's tables (Markdown), a line "@NAME" before each
 *
 * A group's speed is the sum of its members' rates as runs take them (sharing_create): 1 = one job alone. "Bare" columns are about the
 * stages alone: no gaps, no rate cut at 1, so what is left is lock step against free rounds.
 */
#include "base/arena.h"
#include "model/sharing.h"
#include "model/stage_sim.h"
#include "traces/generator_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODELS = GENERATOR_NETWORKS, SIZES = 6, MOST = 4, N_GROUPS = 8192 };

static const uint32_t gpus_of_size[SIZES] = {1, 2, 4, 8, 16, 32};

/* Whether loading is half storage, half CPU, as in generated traces, or all storage, as the reader of the Muri traces has it. */
enum split { SPLIT_HALF, SPLIT_STORAGE, N_SPLITS };
static const char *const split_names[N_SPLITS] = {"half", "storage"};

struct group {
    enum split split;
    uint32_t gpus, n, models[MOST];
    double closed[MOST], staged[MOST]; /* rates */
    double closed_speed, staged_speed, bare_closed, bare_staged, worst_staged, shared_staged;
    int64_t period_ns;
};

struct study {
    struct group groups[N_GROUPS];
    uint32_t n;
    double closed_s, staged_s; /* CPU time of all rates, each asked for once */
    struct arena arena;
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the groups of one number of GPUs -------------------------------------------------------------- */

/* A workload of one job a model. */
static int profiles_make(struct workload *w, enum split split, uint32_t gpus)
{
    struct error err;
    workload_init(w);
    if (workload_alloc(w, MODELS, &(struct workload_columns){.iterations = true, .stages = true}, &err) != BRAID_OK)
        return 1;
    for (uint32_t m = 0; m < MODELS; m++) {
        int64_t stages[WORKLOAD_STAGES];
        w->iteration_ns[m] = generator_network_stages(m, gpus, stages);
        if (split == SPLIT_STORAGE) {
            stages[0] += stages[1];
            stages[1] = 0;
        }
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            w->stage_ns[k][m] = stages[k];
    }
    return 0;
}

struct models {
    const struct workload *w;
    struct sharing_model *closed, *staged;
    struct stage_job bare[MODELS], with_gaps[MODELS];
    struct interleave_profile bare_closed[MODELS];
};

static double sum_of(const double *rates, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += rates[i];
    return sum;
}

static void group_compute(struct study *s, struct group *g, const struct models *m)
{
    double begin = cpu_s();
    m->closed->rates(m->closed->self, g->models, g->n, g->closed);
    double middle = cpu_s();
    m->staged->rates(m->staged->self, g->models, g->n, g->staged);
    s->closed_s += middle - begin;
    s->staged_s += cpu_s() - middle;
    g->closed_speed = sum_of(g->closed, g->n);
    g->staged_speed = sum_of(g->staged, g->n);

    static const struct interleave_rule closed_rule = {.form = INTERLEAVE_PHASES, .kinds = WORKLOAD_STAGES};
    const struct interleave_profile *profiles[MOST] = {NULL};
    struct stage_job bare[MOST], jobs[MOST];
    struct stage_steady steady;
    for (uint32_t i = 0; i < g->n; i++) {
        profiles[i] = &m->bare_closed[g->models[i]];
        bare[i] = m->bare[g->models[i]];
        jobs[i] = m->with_gaps[g->models[i]];
    }
    double period = interleave_compute(&closed_rule, profiles, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        g->bare_closed += profiles[i]->iteration / period;
    struct stage_rule rule = {STAGE_EXCLUSIVE, INTERLEAVE_BEST, WORKLOAD_STAGES};
    stage_sim(&steady, &rule, bare, g->n);
    g->bare_staged = steady.work;
    stage_sim(&steady, &rule, jobs, g->n);
    g->period_ns = steady.period_ns;
    rule.order = INTERLEAVE_WORST;
    stage_sim(&steady, &rule, jobs, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        g->worst_staged += fmin(1, (double)m->w->iteration_ns[g->models[i]] / steady.cycle_ns[i]);
    rule = (struct stage_rule){STAGE_SHARED, INTERLEAVE_GIVEN, WORKLOAD_STAGES};
    stage_sim(&steady, &rule, jobs, g->n);
    for (uint32_t i = 0; i < g->n; i++)
        g->shared_staged += fmin(1, (double)m->w->iteration_ns[g->models[i]] / steady.cycle_ns[i]);
}

/* All choices of models[at ..] that do not descend. */
static void groups_add(struct study *s, struct group *g, const struct models *m, uint32_t at)
{
    if (at == g->n) {
        if (s->n < N_GROUPS) {
            s->groups[s->n] = *g;
            group_compute(s, &s->groups[s->n], m);
        }
        s->n++;
        return;
    }
    for (uint32_t k = at > 0 ? g->models[at - 1] : 0; k < MODELS; k++) {
        g->models[at] = k;
        groups_add(s, g, m, at + 1);
    }
}

static int size_add(struct study *s, enum split split, uint32_t gpus)
{
    struct workload w;
    struct models m = {.w = &w};
    struct sharing_spec spec = {.groups = MOST, .order = INTERLEAVE_BEST};
    struct error err;
    int status = profiles_make(&w, split, gpus);
    if (status == 0)
        status = sharing_create(&m.closed, &spec, &w, &err);
    spec.fidelity = SHARING_STAGE;
    if (status == 0)
        status = sharing_create(&m.staged, &spec, &w, &err);
    for (uint32_t i = 0; i < MODELS && status == 0; i++) {
        for (int k = 0; k < WORKLOAD_STAGES; k++) {
            m.bare[i].stage_ns[k] = w.stage_ns[k][i];
            m.bare_closed[i].stage[k] = (double)w.stage_ns[k][i];
            m.bare_closed[i].iteration += (double)w.stage_ns[k][i];
        }
        m.with_gaps[i] = m.bare[i];
        m.with_gaps[i].gap_ns = (int64_t)fmax(0, (double)w.iteration_ns[i] - m.bare_closed[i].iteration);
    }
    for (uint32_t n = 2; n <= MOST && status == 0; n++) {
        struct group g = {.split = split, .gpus = gpus, .n = n};
        groups_add(s, &g, &m, 0);
    }
    sharing_destroy(m.closed);
    sharing_destroy(m.staged);
    workload_fini(&w);
    return status;
}

/* ---- the csv ----------------------------------------------------------------------------------------- */

static double member_error(const struct group *g) /* the largest, with its sign */
{
    double worst = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        double e = g->closed[i] / g->staged[i] - 1;
        worst = fabs(e) > fabs(worst) ? e : worst;
    }
    return worst;
}

static int csv_write(const struct study *s, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return 1;
    fputs("split,gpus,jobs,models,closed_speed,stage_speed,error,worst_member_error,bare_closed_speed,bare_stage_speed,"
          "bare_error,"
          "stage_speed_worst_order,stage_speed_shared,period_ms\n",
          out);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct group *g = &s->groups[i];
        fprintf(out, "%s,%u,%u,", split_names[g->split], g->gpus, g->n);
        for (uint32_t k = 0; k < g->n; k++)
            fprintf(out, "%s%s", k > 0 ? "+" : "", generator_network_name(g->models[k]));
        fprintf(out, ",%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.4f\n", g->closed_speed, g->staged_speed,
                g->closed_speed / g->staged_speed - 1, member_error(g), g->bare_closed, g->bare_staged,
                g->bare_closed / g->bare_staged - 1, g->worst_staged, g->shared_staged, (double)g->period_ns * 1e-6);
    }
    return fclose(out);
}

/* ---- the tables ---------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, uint32_t n, double q)
{
    double at = q * (n - 1);
    uint32_t i = (uint32_t)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

struct ranked {
    double closed, staged, rank_closed, rank_staged;
};

static int by_closed(const void *a, const void *b)
{
    return compare_doubles(&((const struct ranked *)a)->closed, &((const struct ranked *)b)->closed);
}

static int by_staged(const void *a, const void *b)
{
    return compare_doubles(&((const struct ranked *)a)->staged, &((const struct ranked *)b)->staged);
}

/* Spearman's: the correlation of the ranks, equal values at their mean rank. */
static double rank_correlation(struct ranked *r, uint32_t n)
{
    qsort(r, n, sizeof *r, by_closed);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].closed == r[i].closed; end++) {
        }
        for (uint32_t k = i; k < end; k++)
            r[k].rank_closed = (i + end - 1) / 2.0;
    }
    qsort(r, n, sizeof *r, by_staged);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].staged == r[i].staged; end++) {
        }
        for (uint32_t k = i; k < end; k++)
            r[k].rank_staged = (i + end - 1) / 2.0;
    }
    double mean = (n - 1) / 2.0, xy = 0, xx = 0, yy = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = r[i].rank_closed - mean, y = r[i].rank_staged - mean;
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    return xy / sqrt(xx * yy);
}

struct row {
    double errors[N_GROUPS], bare[N_GROUPS], members[N_GROUPS];
    struct ranked ranked[N_GROUPS];
    uint32_t n, n_ten, n_blind, n_wrong, n_pay, n_order, n_exact;
    double order_most, shared_sum;
};

static void row_fill(struct row *r, const struct study *s, enum split split, uint32_t n_jobs)
{
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct group *g = &s->groups[i];
        if (g->split != split || g->n != n_jobs)
            continue;
        double error = g->closed_speed / g->staged_speed - 1, order = g->staged_speed / g->worst_staged - 1;
        r->errors[r->n] = error;
        r->bare[r->n] = g->bare_closed / g->bare_staged - 1;
        r->members[r->n] = fabs(member_error(g));
        r->ranked[r->n] = (struct ranked){.closed = g->closed_speed, .staged = g->staged_speed};
        r->n++;
        r->n_ten += fabs(error) <= 0.1;
        r->n_pay += g->staged_speed > 1;
        r->n_blind += g->staged_speed > 1 && g->closed_speed <= 1;
        r->n_wrong += g->staged_speed <= 1 && g->closed_speed > 1;
        r->n_order += order > 0.001;
        r->order_most = fmax(r->order_most, order);
        r->n_exact += g->period_ns > 0;
        r->shared_sum += g->shared_staged / g->staged_speed - 1;
    }
    qsort(r->errors, r->n, sizeof *r->errors, compare_doubles);
    qsort(r->bare, r->n, sizeof *r->bare, compare_doubles);
    qsort(r->members, r->n, sizeof *r->members, compare_doubles);
}

static double mean(const double *v, uint32_t n)
{
    return sum_of(v, n) / n;
}

/* In %, to a tenth, without a minus before 0. */
static double percent(double share)
{
    return round(1000 * share) / 10 + 0.0;
}

static const char *const split_words[N_SPLITS] = {"half storage, half CPU", "all storage"};

static void errors_print(const struct study *s, struct row *r)
{
    puts("| loading | jobs | groups | mean | 5 % of groups below | 95 % below | lowest | highest | within 10 % | a "
         "member, median "
         "| rank correlation |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int split = 0; split < N_SPLITS; split++)
        for (uint32_t n = 2; n <= MOST; n++) {
            row_fill(r, s, (enum split)split, n);
            const double *e = r->errors;
            printf(
                "| %s | %u | %u | %+.1f %% | %+.1f %% | %+.1f %% | %+.1f %% | %+.1f %% | %.0f %% | %.1f %% | %.2f |\n",
                split_words[split], n, r->n, percent(mean(e, r->n)), percent(quantile(e, r->n, 0.05)),
                percent(quantile(e, r->n, 0.95)), percent(e[0]), percent(e[r->n - 1]), 100.0 * r->n_ten / r->n,
                percent(quantile(r->members, r->n, 0.5)), rank_correlation(r->ranked, r->n));
        }
}

static void causes_print(const struct study *s, struct row *r)
{
    puts("| loading | jobs | bare, mean | bare, lowest | bare, highest | order matters | at most | resources shared |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int split = 0; split < N_SPLITS; split++)
        for (uint32_t n = 2; n <= MOST; n++) {
            row_fill(r, s, (enum split)split, n);
            printf("| %s | %u | %+.1f %% | %+.1f %% | %+.1f %% | %u of %u | %.1f %% | %+.1f %% |\n", split_words[split],
                   n, percent(mean(r->bare, r->n)), percent(r->bare[0]), percent(r->bare[r->n - 1]), r->n_order, r->n,
                   percent(r->order_most), percent(r->shared_sum / r->n));
        }
}

static void decisions_print(const struct study *s, struct row *r)
{
    puts("| loading | jobs | groups | together faster than one alone | missed | in vain | periods found |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (int split = 0; split < N_SPLITS; split++)
        for (uint32_t n = 2; n <= MOST; n++) {
            row_fill(r, s, (enum split)split, n);
            printf("| %s | %u | %u | %u | %u | %u | %u |\n", split_words[split], n, r->n, r->n_pay, r->n_blind,
                   r->n_wrong, r->n_exact);
        }
}

static void extremes_print(const struct study *s)
{
    puts("| loading | GPUs | group | closed form | by stages | error |\n| --- | ---: | --- | ---: | ---: | ---: |");
    for (int split = 0; split < N_SPLITS; split++)
        for (uint32_t n = 2; n <= MOST; n++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const struct group *found = NULL;
                double most = -INFINITY;
                for (uint32_t i = 0; i < s->n; i++) {
                    const struct group *g = &s->groups[i];
                    double e = sign * (g->closed_speed / g->staged_speed - 1);
                    if (g->split == (enum split)split && g->n == n && e > most) {
                        most = e;
                        found = g;
                    }
                }
                printf("| %s | %u | ", split_words[split], found->gpus);
                for (uint32_t k = 0; k < n; k++)
                    printf("%s%s", k > 0 ? ", " : "", generator_network_name(found->models[k]));
                printf(" | %.2f | %.2f | %+.1f %% |\n", found->closed_speed, found->staged_speed, percent(sign * most));
            }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: bench-interleaving OUT.csv\n", stderr);
        return 2;
    }
    struct study *s = calloc(1, sizeof *s);
    struct row *row = malloc(sizeof *row);
    int status = s == NULL || row == NULL;
    for (int split = 0; split < N_SPLITS && status == 0; split++)
        for (int size = 0; size < SIZES && status == 0; size++)
            status = size_add(s, (enum split)split, gpus_of_size[size]);
    if (status == 0 && s->n > N_GROUPS) {
        fprintf(stderr, "bench-interleaving: %u groups do not fit in %d\n", s->n, N_GROUPS);
        status = 1;
    }
    if (status == 0)
        status = csv_write(s, argv[1]);
    if (status == 0) {
        puts("@errors");
        errors_print(s, row);
        puts("@causes");
        causes_print(s, row);
        puts("@decisions");
        decisions_print(s, row);
        puts("@extremes");
        extremes_print(s);
        fprintf(stderr, "CPU time of a group that was not asked for before: %.2f us closed, %.2f us by stages\n",
                1e6 * s->closed_s / s->n, 1e6 * s->staged_s / s->n);
    } else {
        fprintf(stderr, "bench-interleaving: %s: failed\n", argv[1]);
    }
    free(s);
    free(row);
    return status != 0;
}

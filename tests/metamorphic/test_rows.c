/* A trace file written in another way, or with other names, is the same experiment: rows in another order, jobs, users and virtual clusters
 * renamed without changing their order. The other relations are on engine level (tests/engine/test_engine_relations.c).
 */
#include "experiment/execute.h"
#include "experiment/experiment.h"
#include "policies/registry.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 160, ROW_LENGTH = 256, VCS = 3, USERS = 7 };

/* How things are called: jobs, users and networks by formats of one number, virtual clusters in ascending order. */
struct naming {
    const char *job, *user, *network, *vcs[VCS];
    bool is_permuted; /* rows in another order */
};

static const struct naming plain = {"j%u", "u%u", "n%u", {"a", "b", "c"}, false};
static const struct naming permuted = {"j%u", "u%u", "n%u", {"a", "b", "c"}, true};
static const struct naming renamed = {"Job %04u of May", "x-%u@example.org", "net%u", {"a", "b", "c"}, false};
static const struct naming other_vcs = {"j%u", "u%u", "n%u", {"Nord", "Ost", "West 2"}, true};

struct outcome {
    struct experiment x;
    struct workload w;
    struct run_result r;
};

static void write_trace(const char *path, const struct naming *n)
{
    char rows[JOBS][ROW_LENGTH];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_not_null(rng);
    gsl_rng_set(rng, 77);
    double at_s = 0;
    for (unsigned j = 0; j < JOBS; j++) {
        char job[40], user[40], network[40];
        at_s += j % 4 == 0 ? 40 * gsl_rng_uniform(rng) : 0; /* four of an instant: their order counts */
        snprintf(job, sizeof job, n->job, j);
        snprintf(user, sizeof user, n->user, (unsigned)gsl_rng_uniform_int(rng, USERS));
        snprintf(network, sizeof network, n->network, (unsigned)gsl_rng_uniform_int(rng, 4));
        snprintf(rows[j], ROW_LENGTH, "%s,%.3f,%.3f,%u,%s,%s,%s,%u,%.3f\n", job, at_s, gsl_ran_exponential(rng, 90),
                 1u << gsl_rng_uniform_int(rng, 4), n->vcs[gsl_rng_uniform_int(rng, VCS)], user, network,
                 (unsigned)gsl_rng_uniform_int(rng, 3), at_s + 5);
    }
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs("id,submit,duration,gpus,vc,user,name,priority,start\n", f);
    if (n->is_permuted)
        gsl_ran_shuffle(rng, rows, JOBS, ROW_LENGTH);
    for (unsigned j = 0; j < JOBS; j++)
        fputs(rows[j], f);
    cr_assert_eq(fclose(f), 0);
    gsl_rng_free(rng);
}

static void outcome_of(struct outcome *o, const struct naming *n, const char *policy, const char *placement)
{
    const char *temp = getenv("TMPDIR");
    char folder[256], trace[300], config[300];
    struct error err = {0};
    snprintf(folder, sizeof folder, "%s/braid-rows-XXXXXX", temp != NULL ? temp : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(trace, sizeof trace, "%s/trace.csv", folder);
    snprintf(config, sizeof config, "%s/case.yaml", folder);
    write_trace(trace, n);
    FILE *f = fopen(config, "w");
    cr_assert_not_null(f);
    fprintf(f,
            "trace: trace.csv\npolicy: %s\nplacement: %s\nmodel: {restart_overhead: 5 s}\n"
            "cluster: {nodes: [{count: 4, gpus: 8}], vcs: {%s: {gpus: 12}, %s: {gpus: 8}, %s: {gpus: 12}}}\n",
            policy, placement, n->vcs[0], n->vcs[1], n->vcs[2]);
    cr_assert_eq(fclose(f), 0);
    workload_init(&o->w);
    cr_assert_eq(experiment_load(&o->x, config, NULL, 0, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(experiment_run_one(&o->x.runs[0], true, &o->w, &o->r, &err), BRAID_OK, "%s: %s", policy, err.message);
    unlink(trace);
    unlink(config);
    rmdir(folder);
}

static void outcome_fini(struct outcome *o)
{
    run_result_fini(&o->r);
    workload_fini(&o->w);
    experiment_fini(&o->x);
}

/* Whether every job has the same times and counts. */
static bool is_same(const struct outcome *a, const struct outcome *b)
{
    cr_assert_eq(a->r.n_jobs, (uint32_t)JOBS);
    cr_assert_eq(b->r.n_jobs, (uint32_t)JOBS);
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct job *p = &a->r.jobs[j], *q = &b->r.jobs[j];
        if (p->start_ns != q->start_ns || p->end_ns != q->end_ns || p->run_ns != q->run_ns ||
            p->preemptions != q->preemptions || p->moves != q->moves || p->status != q->status)
            return false;
    }
    return true;
}

/* Some policies need what this trace does not have. */
static bool is_usable(const struct policy_ops *ops)
{
    return (ops->knows & KNOWS_PROFILE) == 0 && strcmp(ops->name, "optimal") != 0; /* which refuses so many jobs */
}

/* Some draw random numbers by the name of their virtual cluster. */
static bool is_drawing(const struct policy_ops *ops)
{
    static const char *const names[] = {"random", "ga", "greedy_insert", "planner", "pso", "sa"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(ops->name, names[i]) == 0)
            return true;
    return false;
}

static void same_as_plain(const struct naming *other, const char *placement, bool draws_count)
{
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (!is_usable(*p) || (draws_count && is_drawing(*p)))
            continue;
        struct outcome a, b;
        outcome_of(&a, &plain, (*p)->name, placement);
        outcome_of(&b, other, (*p)->name, placement);
        cr_expect(is_same(&a, &b), "%s", (*p)->name);
        outcome_fini(&a);
        outcome_fini(&b);
    }
}

Test(rows, their_order_in_the_file_does_not_matter)
{
    same_as_plain(&permuted, "consolidate", false);
    same_as_plain(&permuted, "random", false);
}

Test(rows, names_of_jobs_and_users_matter_by_their_order_alone)
{
    same_as_plain(&renamed, "consolidate", false);
    same_as_plain(&renamed, "random", false);
}

/* Random streams are named by virtual cluster, so what is drawn does change with its name. */
Test(rows, names_of_virtual_clusters_matter_by_their_order_alone)
{
    same_as_plain(&other_vcs, "consolidate", true);
    struct outcome a, b;
    outcome_of(&a, &plain, "random", "consolidate");
    outcome_of(&b, &other_vcs, "random", "consolidate");
    cr_expect_not(is_same(&a, &b), "the comparison sees a schedule that differs");
    outcome_fini(&a);
    outcome_fini(&b);
}

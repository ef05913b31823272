/* Scaling to a load, against capacities whose integral is known. */
#include "base/number.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct workload w, out;
static struct error err;

/* Capacity of each VC in GPUs: `before` until `change_ns`, `after` from there on. */
struct steps {
    int64_t change_ns;
    double before[2], after[2];
    uint32_t refused; /* a job that will be rejected; UINT32_MAX: none */
};

static double integral_of(const struct steps *s, uint32_t vc, int64_t from_ns, int64_t to_ns)
{
    double first = (double)((to_ns < s->change_ns ? to_ns : s->change_ns) - from_ns);
    if (from_ns >= s->change_ns)
        first = 0;
    return first * s->before[vc] + ((double)(to_ns - from_ns) - first) * s->after[vc];
}

static double integral(void *self, uint32_t vc, int64_t from_ns, int64_t to_ns)
{
    if (vc != NAMES_NONE)
        return integral_of(self, vc, from_ns, to_ns);
    return integral_of(self, 0, from_ns, to_ns) + integral_of(self, 1, from_ns, to_ns);
}

static bool is_admissible(void *self, uint32_t job)
{
    return job != ((struct steps *)self)->refused;
}

static void before(void)
{
    struct scratch scratch;
    scratch_init(&scratch);
    static char text[200000];
    size_t n = (size_t)sprintf(text, "id,submit,duration,gpus,vc,start,deadline\n");
    for (int i = 0; i < 1000; i++) {
        int submit = i * 37 % 1000 * 100;
        n += (size_t)sprintf(text + n, "%d,%d,%d,%d,%s,%d,%s\n", i, submit, 100 + i % 17 * 50, 1 + i % 4,
                             i % 3 ? "a" : "b", submit + 5, i % 2 ? "" : "200000");
    }
    cr_assert_eq(scratch_load_text(&scratch, text, &w, &err), BRAID_OK, "%s", err.message);
    scratch_fini(&scratch);
    workload_init(&out);
}

static void after(void)
{
    workload_fini(&w);
    workload_fini(&out);
}

TestSuite(scale, .init = before, .fini = after);

/* Load of one VC or (NAMES_NONE) all, from its definition. */
static double load_of(const struct workload *x, struct steps *s, uint32_t vc)
{
    double work = 0;
    int64_t first = -1, last = -1;
    for (uint32_t j = 0; j < x->n_jobs; j++) {
        if (vc != NAMES_NONE && x->vc[j] != vc)
            continue;
        first = first < 0 ? x->submit_ns[j] : first;
        last = x->submit_ns[j];
        if (is_admissible(s, j))
            work += (double)x->gpus[j] * (double)x->duration_ns[j];
    }
    return work / integral(s, vc, first, last);
}

static void scale(struct steps *s, double load, enum trace_load_scope scope)
{
    struct trace_capacity c = {s, integral, is_admissible};
    workload_fini(&out);
    cr_assert_eq(trace_scale(&out, &w, load, scope, &c, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(out.n_jobs, w.n_jobs);
    for (uint32_t j = 1; j < out.n_jobs; j++)
        cr_assert_leq(out.submit_ns[j - 1], out.submit_ns[j]);
}

static void expect_load(struct steps *s, uint32_t vc, double load)
{
    double is = load_of(&out, s, vc);
    cr_assert_lt(fabs(is / load - 1), 1e-9, "%.12g is not %.12g", is, load);
}

Test(scale, constant_capacity_is_met)
{
    struct steps s = {INT64_MAX, {10, 30}, {0, 0}, UINT32_MAX};
    static const double loads[] = {0.17, 0.9, 1, 3};
    for (size_t i = 0; i < 4; i++) {
        scale(&s, loads[i], TRACE_LOAD_CLUSTER);
        expect_load(&s, NAMES_NONE, loads[i]);
    }
    for (uint32_t j = 0; j < w.n_jobs; j++) {
        cr_assert_eq(out.duration_ns[j], w.duration_ns[j], "ranks stay");
        cr_assert_eq(out.start_ns[j] - out.submit_ns[j], 5 * NS_PER_S);
        if (w.deadline_ns[j] != WORKLOAD_ABSENT)
            cr_assert_eq(out.deadline_ns[j] - out.submit_ns[j], w.deadline_ns[j] - w.submit_ns[j]);
        else
            cr_assert_eq(out.deadline_ns[j], WORKLOAD_ABSENT);
    }
    cr_assert(memcmp(out.digest, w.digest, sizeof w.digest) == 0, "the digest is of the trace before scaling");
}

Test(scale, gaps_keep_their_proportions)
{
    struct steps s = {INT64_MAX, {10, 30}, {0, 0}, UINT32_MAX};
    scale(&s, 0.5, TRACE_LOAD_CLUSTER);
    double factor = (double)out.submit_ns[w.n_jobs - 1] / (double)w.submit_ns[w.n_jobs - 1];
    for (uint32_t j = 0; j < w.n_jobs; j++)
        cr_assert_float_eq((double)out.submit_ns[j], factor * (double)w.submit_ns[j], 1.5);
}

Test(scale, capacity_that_changes_or_vanishes_for_a_while_is_met)
{
    struct steps grow = {20000 * NS_PER_S, {0, 5}, {0, 60}, UINT32_MAX};
    struct steps shrink = {1000 * NS_PER_S, {50, 50}, {1, 0}, UINT32_MAX};
    struct steps late = {500 * NS_PER_S, {0, 0}, {9, 9}, UINT32_MAX};
    for (int i = 1; i < 10; i++) {
        double load = 0.2 * i;
        scale(&grow, load, TRACE_LOAD_CLUSTER);
        expect_load(&grow, NAMES_NONE, load);
        scale(&shrink, load, TRACE_LOAD_CLUSTER);
        expect_load(&shrink, NAMES_NONE, load);
        scale(&late, load, TRACE_LOAD_CLUSTER);
        expect_load(&late, NAMES_NONE, load);
    }
}

Test(scale, each_virtual_cluster_by_its_own_factor)
{
    struct steps s = {INT64_MAX, {100, 3}, {0, 0}, UINT32_MAX};
    scale(&s, 0.8, TRACE_LOAD_VC);
    expect_load(&s, 0, 0.8);
    expect_load(&s, 1, 0.8);
    uint32_t seen[2] = {0, 0};
    for (uint32_t j = 0; j < out.n_jobs; j++) { /* the jobs of a VC keep their order */
        uint32_t vc = out.vc[j], i = seen[vc]++, of = 0;
        while (w.vc[of] != vc || i-- > 0)
            of++;
        cr_assert_eq(out.duration_ns[j], w.duration_ns[of]);
        cr_assert_eq(out.gpus[j], w.gpus[of]);
        cr_assert_eq(out.id_at[j + 1] - out.id_at[j], w.id_at[of + 1] - w.id_at[of]);
        cr_assert(memcmp(out.id_text + out.id_at[j], w.id_text + w.id_at[of], w.id_at[of + 1] - w.id_at[of]) == 0);
    }
}

Test(scale, jobs_that_will_be_rejected_are_no_load)
{
    struct steps s = {INT64_MAX, {10, 30}, {0, 0}, 500};
    w.gpus[500] = 100000;
    scale(&s, 0.9, TRACE_LOAD_CLUSTER);
    expect_load(&s, NAMES_NONE, 0.9);
}

Test(scale, one_instant_has_no_gaps_to_scale)
{
    struct steps s = {INT64_MAX, {10, 30}, {0, 0}, UINT32_MAX};
    for (uint32_t j = 0; j < w.n_jobs; j++)
        w.submit_ns[j] = 7;
    scale(&s, 0.9, TRACE_LOAD_CLUSTER);
    cr_assert_eq(out.submit_ns[0], 7);
    cr_assert_eq(out.submit_ns[w.n_jobs - 1], 7);
}

Test(scale, what_cannot_be_met_is_an_error)
{
    struct steps s = {1000, {1, 1}, {0, 0}, UINT32_MAX};
    struct trace_capacity c = {&s, integral, is_admissible};
    cr_assert_eq(trace_scale(&out, &w, 0.9, TRACE_LOAD_CLUSTER, &c, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "cannot be met"), "%s", err.message);
    cr_assert_eq(trace_scale(&out, &w, 0, TRACE_LOAD_CLUSTER, &c, &err), BRAID_BAD_INPUT);
    cr_assert_eq(trace_scale(&out, &w, NAN, TRACE_LOAD_CLUSTER, &c, &err), BRAID_BAD_INPUT);
}

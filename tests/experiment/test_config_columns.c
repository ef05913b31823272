/* trace.columns in a config: what it resolves to, what belongs to the run's identity, and what is refused where. */
#include "config_fixture.h"

#include "traces/mapping.h"
#include "traces/trace.h"

static const char table[] = "job;when;gp;min\na;0;2;10\nb;60;1;1.5\n";

static struct fixture *load(const char *yaml, const char *set)
{
    static struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "t.csv", table, sizeof table - 1);
    fixture_load(&f, yaml, set);
    return &f;
}

static void unload(struct fixture *f)
{
    fixture_unload(f);
    fixture_fini(f);
}

#define TRACE(columns) "trace: {path: t.csv, columns: " columns "}\n"
#define PLAIN TRACE("{id: job, submit: when, gpus: gp, duration: {column: min, unit: min}}")

Test(config_columns, a_table_is_read_and_resolved)
{
    struct fixture *f = load(PLAIN, NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    const struct run_config *run = &f->x.runs[0];
    struct workload w;
    cr_assert_eq(trace_load(&w, &run->trace, &f->err), BRAID_OK, "%s", f->err.message);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(w.duration_ns[1], INT64_C(90000000000));
    workload_fini(&w);
    const char *part =
        "columns: {submit: {column: when}, id: {column: job}, gpus: {column: gp}, duration: {column: min, unit: min}}, "
        "separator: auto, header: auto, unit: s";
    cr_assert_not_null(strstr(run->yaml, part), "%s", run->yaml);
    cr_assert_not_null(strstr(run->identity, part), "%s", run->identity);
    cr_assert_not_null(strstr(run->trace_key, part), "%s", run->trace_key);
    unload(f);
}

Test(config_columns, the_mapping_is_of_the_runs_identity)
{
    char identity[4096];
    struct fixture *f = load(PLAIN, NULL);
    snprintf(identity, sizeof identity, "%s", f->x.runs[0].identity);
    unload(f);
    f = load(TRACE("{id: {column: job}, duration: {unit: min, column: min}, submit: when, gpus: gp}"), NULL);
    cr_assert_str_eq(identity, f->x.runs[0].identity, "another way to write the same");
    unload(f);
    f = load(PLAIN, "trace.columns.duration.unit=h");
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_str_neq(identity, f->x.runs[0].identity);
    unload(f);
    f = load("trace: t.csv\n", NULL);
    cr_assert_null(f->x.runs[0].trace.mapping);
    cr_assert_null(strstr(f->x.runs[0].identity, "separator"), "what is not in force is not of the identity");
    unload(f);
}

Test(config_columns, a_sweep_over_a_column)
{
    struct fixture *f = load(PLAIN "sweep: {trace.columns.gpus: [gp, {constant: 4}]}\n", NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->x.n_runs, 2);
    uint32_t t = mapping_target_find("gpus");
    cr_assert_str_eq(f->x.runs[0].trace.mapping->sources[t].column, "gp");
    cr_assert_str_eq(f->x.runs[1].trace.mapping->sources[t].constant, "4");
    cr_assert_str_neq(f->x.runs[0].trace_key, f->x.runs[1].trace_key);
    unload(f);
}

Test(config_columns, what_is_wrong_has_a_place)
{
    static const struct {
        const char *yaml, *part;
        int line, col;
    } cases[] = {
        {TRACE("{id: job}"), "no column is mapped to 'submit'", 1, 31},
        {TRACE("{submit: when, gpus: gp, duratoin: min}"), "did you mean 'duration'?", 1, 56},
        {TRACE("{submit: when, gpus: {column: gp, unit: s}, duration: min}"), "takes the unit milli", 1, 52},
        {TRACE("{submit: when, gpus: gp, duration: {column: min, unti: s}}"), "did you mean 'unit'?", 1, 80},
        {TRACE("{submit: when, gpus: gp, duration: {column: min, unit: sec}}"), "trace.columns.duration.unit", 1, 86},
        {TRACE("[a]"), "must be a map", 1, 31},
        {"trace: {path: t.csv, separator: tab}\n", "'trace.separator' needs 'columns' beside it", 1, 22},
        {"trace: {path: t.csv, format: slurm, columns: {submit: a, gpus: b, duration: c}}\n",
         "cannot stand beside 'columns'", 1, 22},
        {"trace: {generate: {}, columns: {submit: a, gpus: b, duration: c}}\n", "cannot stand beside 'generate'", 1,
         23},
        {"trace: {path: t.csv, columns: {submit: a, gpus: b, duration: c}, separator: dot}\n", "trace.separator", 1,
         77},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = load(cases[i].yaml, NULL);
        cr_assert_eq(f->status, BRAID_BAD_INPUT, "case %zu", i);
        cr_assert_not_null(strstr(f->err.message, cases[i].part), "case %zu: %s", i, f->err.message);
        cr_assert_eq(f->err.line, cases[i].line, "case %zu: line %d: %s", i, f->err.line, f->err.message);
        cr_assert_eq(f->err.col, cases[i].col, "case %zu: column %d: %s", i, f->err.col, f->err.message);
        unload(f);
    }
}

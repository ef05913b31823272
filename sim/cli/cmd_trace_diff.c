/* braid trace diff: two readings of a trace, or two traces, side by side. */
#include "cli/cmd_trace.h"

#include "traces/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double gpu_hours(const struct workload *w)
{
    double sum = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        sum += (double)w->gpus[j] * (double)w->duration_ns[j] / 3600e9;
    return sum;
}

static uint64_t dropped_as(const struct trace_report *r, const char *reason)
{
    for (uint32_t i = 0; i < r->n_counts; i++)
        if (strcmp(r->counts[i].reason, reason) == 0)
            return r->counts[i].rows;
    return 0;
}

static void print_reasons(const struct trace_report *a, const struct trace_report *b, bool is_of_b_alone)
{
    const struct trace_report *r = is_of_b_alone ? b : a;
    for (uint32_t i = 0; i < r->n_counts; i++) {
        const char *reason = r->counts[i].reason;
        if (!is_of_b_alone || dropped_as(a, reason) == 0)
            printf("%-22s %16" PRIu64 " %16" PRIu64 "\n", reason, dropped_as(a, reason), dropped_as(b, reason));
    }
}

static void print_counts(const struct trace_arguments *arguments, const struct workload *a, const struct workload *b)
{
    char hex_a[DIGEST_HEX + 1], hex_b[DIGEST_HEX + 1];
    digest_hex(a->digest, DIGEST_BYTES, hex_a);
    digest_hex(b->digest, DIGEST_BYTES, hex_b);
    printf("A  %s\nB  %s\n\n%-22s %16s %16s\n", arguments->paths[0], arguments->paths[1], "", "A", "B");
    printf("%-22s %16s %16s\n", "format", a->report.format, b->report.format);
    printf("%-22s %16.16s %16.16s\n", "digest", hex_a, hex_b);
    printf("%-22s %16" PRIu64 " %16" PRIu64 "\n", "rows read", a->report.rows_read, b->report.rows_read);
    printf("%-22s %16" PRIu32 " %16" PRIu32 "\n", "jobs", a->n_jobs, b->n_jobs);
    printf("%-22s %16.1f %16.1f\n", "GPU-hours", gpu_hours(a), gpu_hours(b));
    printf("%-22s %16" PRIu32 " %16" PRIu32 "\n", "VCs", a->vcs.count, b->vcs.count);
    printf("%-22s %16" PRIu32 " %16" PRIu32 "\n", "users", a->users.count, b->users.count);
    print_reasons(&a->report, &b->report, false);
    print_reasons(&a->report, &b->report, true);
}

static void print_id(const struct workload *w, uint32_t j)
{
    printf("'%.*s'", (int)(w->id_at[j + 1] - w->id_at[j]), w->id_text + w->id_at[j]);
}

static void print_columns(const struct comparison *c, const struct workload *a, const struct workload *b)
{
    char x[COMPARE_VALUE], y[COMPARE_VALUE];
    printf("\n%-16s %10s %16s   %s\n", "column", "jobs", "largest", "first: A, B");
    for (uint32_t i = 0; i < c->n_columns; i++) {
        const struct compare_column *column = &c->columns[i];
        char largest[COMPARE_VALUE] = "-";
        if (column->jobs == 0)
            continue;
        if (!isnan(column->largest))
            snprintf(largest, sizeof largest, "%.9g", column->largest);
        printf("%-16s %10" PRIu32 " %16s   job ", column->name, column->jobs, largest);
        print_id(a, column->a);
        printf(": %s, %s\n", compare_value(c, i, a, column->a, x), compare_value(c, i, b, column->b, y));
    }
}

static void print_comparison(const struct comparison *c, const struct workload *a, const struct workload *b)
{
    printf("\nmatched by %s: %" PRIu32 " jobs, %" PRIu32 " of them differ; only in A %" PRIu32 ", only in B %" PRIu32
           "\n",
           c->is_by_rank ? "rank" : "id", c->matched, c->differing, c->only_a, c->only_b);
    if (a->has_origin != b->has_origin)
        printf("only %s has dates: times are compared from time 0 of each\n", a->has_origin ? "A" : "B");
    if (c->first_only_a != NAMES_NONE) {
        printf("first only in A: rank %" PRIu32 ", job ", c->first_only_a);
        print_id(a, c->first_only_a);
        puts("");
    }
    if (c->first_only_b != NAMES_NONE) {
        printf("first only in B: rank %" PRIu32 ", job ", c->first_only_b);
        print_id(b, c->first_only_b);
        puts("");
    }
    if (c->first_a != NAMES_NONE) {
        printf("first that differs: rank %" PRIu32 " in A, %" PRIu32 " in B, job ", c->first_a, c->first_b);
        print_id(a, c->first_a);
        puts("");
        print_columns(c, a, b);
    }
}

int cmd_trace_diff(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace diff A B [--by id|rank] [--format NAME] [--failed run|drop|merge_attempts] [--applications "
        "FILE]\n\n"
        "Read two traces, of any formats, and compare them: counts, the first job that differs, and each column in\n"
        "which jobs differ. Jobs are matched by id, or by rank where no id is in both; --by says which.\n"
        "Exit status: 0 the same jobs, 1 they differ, 2 bad usage or bad input.\n\n";
    struct trace_arguments arguments;
    int stop = trace_arguments_read(&arguments, "fmay", 2, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    enum compare_by by = COMPARE_BY_ANY;
    if (arguments.by != NULL && strcmp(arguments.by, "id") == 0)
        by = COMPARE_BY_ID;
    else if (arguments.by != NULL && strcmp(arguments.by, "rank") == 0)
        by = COMPARE_BY_RANK;
    else if (arguments.by != NULL)
        return cli_usage("trace diff", "--by is id or rank, not '%s'", arguments.by);
    struct workload a, b;
    struct comparison c;
    struct error err = {0};
    workload_init(&b);
    int code = trace_load(&a, &arguments.spec, &err);
    arguments.spec.path = arguments.spec.shown_path = arguments.paths[1];
    if (code == BRAID_OK)
        code = trace_load(&b, &arguments.spec, &err);
    if (code == BRAID_OK)
        code = trace_compare(&c, &a, &b, by, &err);
    if (code == BRAID_OK) {
        print_counts(&arguments, &a, &b);
        print_comparison(&c, &a, &b);
    }
    workload_fini(&a);
    workload_fini(&b);
    if (code != BRAID_OK)
        return cli_fail(&err);
    int finished = cli_finish();
    return finished != 0 ? finished : c.differing > 0 || c.only_a > 0 || c.only_b > 0;
}

#include "cli/cli.h"
#include "cli/report_args.h"
#include "output/report_diff.h"
#include "output/table.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int help(void)
{
    fputs(
        "usage: braid diff A.h5 B.h5 [--run ID[,ID]] [--format F]\n\n"
        "Which jobs differ between two runs, and the first moment at which the two schedules part.\n\n"
        "  --run ID,ID   compare this run of A with that run of B (one ID: in both); the beginning of an id or a\n"
        "                policy's label will do. Default: runs are paired by id, else by label, seed and swept "
        "values.\n"
        "  --format F    text (default), or a row a pair of runs and column as csv or json\n\n"
        "Jobs are paired by (id, occurrence). Where both runs kept segments, preemptions and GPUs are compared too.\n\n"
        "Exit status: 0 all equal, 1 they differ (or the output could not be written), 2 bad usage or bad input.\n",
        stdout);
    return cli_finish();
}

struct pair {
    const struct report_file *files[2];
    const struct report_run *runs[2];
};

/* What is printed: words, or for programs one table of all pairs. */
struct diff_print {
    enum table_format format;
    struct table *tidy; /* NULL: words */
};

static struct table *tidy_create(void)
{
    static const struct table_column columns[] = {
        {.name = "run_a", .kind = TABLE_KIND_TEXT},
        {.name = "run_b", .kind = TABLE_KIND_TEXT},
        {.name = "title_a", .kind = TABLE_KIND_TEXT},
        {.name = "title_b", .kind = TABLE_KIND_TEXT},
        {.name = "column", .kind = TABLE_KIND_TEXT},
        {.name = "unit", .kind = TABLE_KIND_TEXT},
        {.name = "jobs", .kind = TABLE_KIND_COUNT},
        {.name = "jobs_that_differ", .kind = TABLE_KIND_COUNT},
        {.name = "largest_difference", .kind = TABLE_KIND_NUMBER},
        {.name = "of_job", .kind = TABLE_KIND_TEXT},
        {.name = "finished_in_both", .kind = TABLE_KIND_COUNT},
        {.name = "mean_a", .kind = TABLE_KIND_NUMBER},
        {.name = "mean_b", .kind = TABLE_KIND_NUMBER},
    };
    return table_create(columns, sizeof columns / sizeof columns[0]);
}

static bool is_count(const char *column)
{
    return strcmp(column, "preemptions") == 0 || strcmp(column, "moves") == 0 || strcmp(column, "restarts") == 0;
}

/* The first cells of a row; a side without a run is empty. */
static void tidy_begin(struct table *t, const struct pair *p, const char *column, const char *unit)
{
    char title[160];
    for (int i = 0; i < 2; i++)
        table_text(t, p->runs[i] != NULL ? p->runs[i]->id : "");
    for (int i = 0; i < 2; i++)
        table_text(t, p->runs[i] != NULL ? report_run_title(p->files[i], p->runs[i], title, sizeof title) : "");
    table_text(t, column);
    table_text(t, unit);
}

static void tidy_end(struct table *t, double jobs, double differ, double largest, const char *job)
{
    table_number(t, jobs);
    table_number(t, differ);
    table_number(t, largest);
    table_text(t, job);
}

static void tidy_add(struct table *t, const struct pair *p, const struct diff *d)
{
    for (int c = 0; c < DIFF_COLUMNS; c++) {
        const char *name = diff_column_names[c];
        bool is_status = strcmp(name, "status") == 0;
        tidy_begin(t, p, name, is_status || is_count(name) ? "" : "s");
        tidy_end(t, (double)d->n_paired, (double)d->columns[c].n,
                 is_status || d->columns[c].n == 0 ? NAN : d->columns[c].largest, d->columns[c].job);
        table_number(t, (double)d->n_finished);
        table_number(t, diff_mean(d, c, 0));
        table_number(t, diff_mean(d, c, 1));
    }
}

/* A row about a pair of runs whose jobs cannot be told apart: equal by digest or not, or one run without a counterpart. */
static void tidy_add_whole(struct table *t, const struct pair *p, const char *column, double differ)
{
    tidy_begin(t, p, column, "");
    tidy_end(t, NAN, differ, NAN, "");
    for (int i = 0; i < 3; i++)
        table_number(t, NAN);
}

static void print_pair_title(const struct pair *p, const char *what)
{
    char a[160], b[160];
    report_run_title(p->files[0], p->runs[0], a, sizeof a);
    report_run_title(p->files[1], p->runs[1], b, sizeof b);
    if (strcmp(p->runs[0]->id, p->runs[1]->id) == 0)
        printf("run %s (%s): %s\n", p->runs[0]->id, a, what);
    else
        printf("A: run %s (%s)\nB: run %s (%s): %s\n", p->runs[0]->id, a, p->runs[1]->id, b, what);
}

static const char *job_name(const struct diff_job *job, char *out, size_t size)
{
    if (job->occurrence > 0)
        snprintf(out, size, "%s (no. %" PRIu64 " of this id)", job->id, job->occurrence);
    else
        snprintf(out, size, "%s", job->id);
    return out;
}

static bool print_columns(const struct diff *d)
{
    static const struct table_column columns[] = {{.name = "column", .kind = TABLE_KIND_TEXT},
                                                  {.name = "jobs that differ", .kind = TABLE_KIND_COUNT},
                                                  {.name = "largest difference", .kind = TABLE_KIND_TEXT},
                                                  {.name = "of job", .kind = TABLE_KIND_TEXT},
                                                  {.name = "mean A", .kind = TABLE_KIND_TEXT},
                                                  {.name = "mean B", .kind = TABLE_KIND_TEXT}};
    struct table *t = table_create(columns, sizeof columns / sizeof columns[0]);
    if (t == NULL)
        return false;
    for (int c = 0; c < DIFF_COLUMNS; c++) {
        const struct diff_column *column = &d->columns[c];
        if (column->n == 0)
            continue;
        char text[64];
        const char *unit = is_count(diff_column_names[c]) ? "" : " s";
        snprintf(text, sizeof text, "%.10g%s", column->largest, unit);
        table_text(t, diff_column_names[c]);
        table_number(t, (double)column->n);
        table_text(t, c == 0 || isnan(column->largest) ? "-" : text);
        table_text(t, column->job);
        for (int i = 0; i < 2; i++) {
            snprintf(text, sizeof text, "%.6g%s", diff_mean(d, c, i), unit);
            table_text(t, isnan(diff_mean(d, c, i)) ? "-" : text);
        }
    }
    bool ok = table_is_empty(t) || table_print(t, TABLE_FORMAT_TEXT, stdout);
    table_destroy(t);
    return ok;
}

/* To the millisecond: four digits would hide what differs. */
static void put_time(struct table *t, double seconds)
{
    char text[40];
    snprintf(text, sizeof text, "%.3f", seconds);
    table_text(t, isnan(seconds) ? "-" : text);
}

static bool print_largest(const struct diff *d)
{
    static const struct table_column columns[] = {
        {.name = "job", .kind = TABLE_KIND_TEXT},
        {.name = "GPUs", .kind = TABLE_KIND_COUNT},
        {.name = "submit", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "start A", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "start B", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "end A", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "end B", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "B - A", .kind = TABLE_KIND_NUMBER, .unit = "s"},
        {.name = "status A", .kind = TABLE_KIND_TEXT},
        {.name = "status B", .kind = TABLE_KIND_TEXT},
    };
    struct table *t = table_create(columns, sizeof columns / sizeof columns[0]);
    if (t == NULL)
        return false;
    for (uint32_t i = 0; i < d->n_largest; i++) {
        const struct diff_job *job = &d->largest[i];
        char name[128];
        table_text(t, job_name(job, name, sizeof name));
        table_number(t, job->gpus);
        put_time(t, job->submit_s);
        put_time(t, job->start_s[0]);
        put_time(t, job->start_s[1]);
        put_time(t, job->end_s[0]);
        put_time(t, job->end_s[1]);
        put_time(t, job->end_s[1] - job->end_s[0]);
        table_text(t, job->status[0]);
        table_text(t, job->status[1]);
    }
    bool ok = table_is_empty(t) || table_print(t, TABLE_FORMAT_TEXT, stdout);
    table_destroy(t);
    return ok;
}

static void print_parting(const struct diff *d)
{
    const struct diff_parting *p = &d->parting;
    char name[128], at[40];
    if (!p->is_there)
        return;
    printf("\nThe schedules part at %.15g s (%s), at job %s (%u GPU%s, submitted at %.15g s):\n", p->at_s,
           table_seconds_text(p->at_s, at, sizeof at), job_name(&p->job, name, sizeof name), p->job.gpus,
           p->job.gpus == 1 ? "" : "s", p->job.submit_s);
    for (int i = 0; i < 2; i++)
        printf("  %c %s%s%s\n", 'A' + i, p->did[i], p->why[i][0] != '\0' ? "; because " : "", p->why[i]);
}

static bool print_diff(const struct pair *p, const struct diff *d)
{
    char what[200];
    snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " jobs differ", d->n_different, d->n_paired);
    print_pair_title(p, what);
    for (int i = 0; i < 2; i++)
        if (d->n_only[i] > 0)
            printf("%" PRIu64 " jobs are in %c alone\n", d->n_only[i], 'A' + i);
    if (d->n_other_stretches > 0)
        printf("%" PRIu64 " more jobs held GPUs at other times\n", d->n_other_stretches);
    if (d->n_other_gpus > 0)
        printf("%" PRIu64 " more jobs ran at the same times on other GPUs\n", d->n_other_gpus);
    bool ok = true;
    if (d->n_different > 0) {
        printf("\nMeans are over the %" PRIu64 " jobs that finished in both.\n", d->n_finished);
        ok = print_columns(d);
    }
    print_parting(d);
    if (d->n_largest > 0) {
        printf("\nLargest differences of end:\n");
        ok = print_largest(d) && ok;
    }
    return ok;
}

/* Runs whose jobs are not stored can still be told equal by their digests. */
static int diff_by_digest(const struct pair *p, const struct diff_print *print, bool *differs)
{
    bool is_equal = strcmp(p->runs[0]->digest, p->runs[1]->digest) == 0;
    *differs = *differs || !is_equal;
    if (print->tidy != NULL) {
        tidy_add_whole(print->tidy, p, "digest", !is_equal);
        return BRAID_OK;
    }
    print_pair_title(p, is_equal ? "equal by digest (jobs are not stored)"
                                 : "the digests differ; to see where, store the jobs: 'output: {jobs: true}'");
    return BRAID_OK;
}

static int diff_pair(const struct pair *p, const struct diff_print *print, bool *differs, struct error *err)
{
    if (p->runs[0]->tables[RESULTS_JOBS].count == 0 || p->runs[1]->tables[RESULTS_JOBS].count == 0)
        return diff_by_digest(p, print, differs);
    struct diff d;
    int code = diff_runs(&d, p->files[0], p->runs[0], p->files[1], p->runs[1], err);
    if (code != BRAID_OK)
        return code;
    char what[96];
    snprintf(what, sizeof what, "equal, %" PRIu64 " jobs%s", d.n_paired,
             d.has_segments ? " and the GPUs they held" : "");
    if (print->tidy != NULL)
        tidy_add(print->tidy, p, &d);
    else if (diff_is_equal(&d))
        print_pair_title(p, what);
    else if (!print_diff(p, &d))
        code = error_set(err, BRAID_FAILED, "out of memory");
    *differs = *differs || !diff_is_equal(&d);
    diff_fini(&d);
    return code;
}

/* One run without a partner is a difference. */
static void print_lonely(const struct report_file *f, const struct report_run *run, char side,
                         const struct diff_print *print, bool *differs)
{
    char title[160];
    struct pair p = {{NULL, NULL}, {NULL, NULL}};
    p.files[side - 'A'] = f;
    p.runs[side - 'A'] = run;
    *differs = true;
    if (print->tidy != NULL)
        tidy_add_whole(print->tidy, &p, "run", 1);
    else
        printf("run %s (%s) is in %c alone\n", run->id, report_run_title(f, run, title, sizeof title), side);
}

static int diff_files(const struct report_file files[2], const struct diff_print *print, bool *differs,
                      struct error *err)
{
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < files[0].n_runs; i++) {
        struct pair p = {{&files[0], &files[1]},
                         {&files[0].runs[i], diff_partner(&files[0], &files[0].runs[i], &files[1])}};
        if (p.runs[1] == NULL) {
            print_lonely(&files[0], p.runs[0], 'A', print, differs);
            continue;
        }
        int code = diff_pair(&p, print, differs, err);
        if (code != BRAID_OK)
            return code;
        n_pairs++;
    }
    for (uint32_t i = 0; i < files[1].n_runs; i++)
        if (diff_partner(&files[1], &files[1].runs[i], &files[0]) == NULL)
            print_lonely(&files[1], &files[1].runs[i], 'B', print, differs);
    if (n_pairs == 0 && files[0].n_runs > 0 && files[1].n_runs > 0)
        return error_set(err, BRAID_BAD_INPUT, "no run of %s has a counterpart in %s; name two with --run ID,ID",
                         files[0].path, files[1].path);
    return BRAID_OK;
}

static int diff_named(const struct report_file files[2], const struct word_list *names, const struct diff_print *print,
                      bool *differs, struct error *err)
{
    struct pair p = {{&files[0], &files[1]}, {NULL, NULL}};
    for (int i = 0; i < 2; i++) {
        p.runs[i] = report_run_find(&files[i], names->words[names->n == 1 ? 0 : i], err);
        if (p.runs[i] == NULL)
            return err->code;
    }
    return diff_pair(&p, print, differs, err);
}

int cmd_diff(int argc, char **argv)
{
    static const struct option options[] = {{"run", required_argument, NULL, 'r'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct word_list names = {0};
    struct diff_print print = {.format = TABLE_FORMAT_TEXT};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":r:h", options, NULL)) != -1;) {
        if (c == 'h')
            return help();
        if (c == 'f') {
            if (!table_format_parse(optarg, &print.format) || print.format == TABLE_FORMAT_MD ||
                print.format == TABLE_FORMAT_LATEX)
                return cli_usage("diff", "--format: '%s' is none of text, csv, json", optarg);
            continue;
        }
        if (c != 'r')
            return report_args_bad("diff", c, argv);
        if (!word_list_add(&names, optarg) || names.n > 2)
            return cli_usage("diff", "--run takes one or two runs: --run ID,ID");
    }
    if (argc - optind != 2)
        return cli_usage("diff", "two results files are wanted");
    struct report_file *files = NULL;
    struct error err = {0};
    bool differs = false;
    int code = report_files_open(&files, argv + optind, 2, &err);
    if (code == BRAID_OK) {
        bool is_tidy = print.format != TABLE_FORMAT_TEXT;
        print.tidy = is_tidy ? tidy_create() : NULL;
        if (is_tidy && print.tidy == NULL)
            code = error_set(&err, BRAID_FAILED, "out of memory");
        else
            code = names.n > 0 ? diff_named(files, &names, &print, &differs, &err)
                               : diff_files(files, &print, &differs, &err);
        if (code == BRAID_OK && is_tidy && !table_print(print.tidy, print.format, stdout))
            code = error_set(&err, BRAID_FAILED, "out of memory");
        table_destroy(print.tidy);
        report_files_close(files, 2);
    }
    if (code != BRAID_OK)
        return cli_fail(&err);
    code = cli_finish();
    return code != 0 ? code : differs;
}

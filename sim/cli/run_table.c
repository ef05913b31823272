#include "cli/run_table.h"

#include "experiment/run_title.h"
#include "output/results_source.h"
#include "output/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns behind label and swept keys; a count that is 0 in every run is left out unless it is always shown, and `queued_mean` where
 * no run preempts. */
static const struct {
    const char *metric, *title;
    enum table_kind kind;
    bool only_if_any;
} shown[] = {
    {"finished", "finished", TABLE_KIND_COUNT, false},
    {"unfinished", "unfinished", TABLE_KIND_COUNT, false},
    {"not_submitted", "not submitted", TABLE_KIND_COUNT, true},
    {"rejected", "rejected", TABLE_KIND_COUNT, false},
    {"failed", "failed", TABLE_KIND_COUNT, true},
    {"killed", "killed", TABLE_KIND_COUNT, true},
    {"jct_mean", "JCT mean", TABLE_KIND_SECONDS, false},
    {"jct_p50", "JCT p50", TABLE_KIND_SECONDS, false},
    {"jct_p99", "JCT p99", TABLE_KIND_SECONDS, false},
    {"wait_mean", "wait mean", TABLE_KIND_SECONDS, false},
    {"queued_mean", "queued mean", TABLE_KIND_SECONDS, false},
    {"gpu_utilization", "utilisation", TABLE_KIND_FRACTION, false},
    {"makespan", "makespan", TABLE_KIND_SECONDS, false},
};
enum { N_SHOWN = sizeof shown / sizeof shown[0] };

/* Counts and what the table must know beside its columns, for all runs of the file. */
struct run_facts {
    double *jobs, *finished, *rejected, *preemptions;
    double least_rejected;
    bool has_mark, has_preemptions;
};

/* Not all of its jobs finished, for another reason than that no run of the table could have run them. */
static bool is_marked(const struct run_facts *f, uint32_t row)
{
    return f->finished[row] + f->rejected[row] < f->jobs[row] || f->rejected[row] > f->least_rejected;
}

/* One metric of all runs of the file. NULL when memory is out or it cannot be read. */
static double *metric_read(const struct results_source *s, const char *name, struct error *err)
{
    const struct column_spec c = results_metric_column((uint32_t)metrics_find(name));
    double *values = calloc((size_t)s->n_runs + 1, sizeof *values);
    if (values == NULL)
        error_set(err, BRAID_FAILED, "out of memory");
    else if (results_source_read(s, "summary", &c, 0, 0, s->n_runs, values, err) == 0)
        return values;
    free(values);
    return NULL;
}

static uint32_t row_find(const struct results_source *s, const char *id)
{
    uint32_t i = 0;
    while (i < s->n_runs && strcmp(s->runs[i].id, id) != 0)
        i++;
    return i;
}

static void facts_fini(struct run_facts *f)
{
    free(f->jobs);
    free(f->finished);
    free(f->rejected);
    free(f->preemptions);
}

static int facts_read(struct run_facts *f, const struct results_source *s, struct error *err)
{
    *f = (struct run_facts){.least_rejected = INFINITY};
    f->jobs = metric_read(s, "jobs", err);
    f->finished = f->jobs == NULL ? NULL : metric_read(s, "finished", err);
    f->rejected = f->finished == NULL ? NULL : metric_read(s, "rejected", err);
    f->preemptions = f->rejected == NULL ? NULL : metric_read(s, "preemptions", err);
    if (f->preemptions == NULL)
        return err->code;
    for (uint32_t i = 0; i < s->n_runs; i++) {
        f->least_rejected = fmin(f->least_rejected, f->rejected[i]);
        f->has_preemptions = f->has_preemptions || f->preemptions[i] > 0;
    }
    return 0;
}

static void rows_fill(struct table *t, const struct experiment *x, const char (*ids)[RUN_ID_HEX + 1],
                      const struct results_source *s, double *const *values, struct run_facts *facts)
{
    for (uint32_t i = 0; i < x->n_runs; i++) {
        char label[256];
        uint32_t row = ids[i][0] == '\0' ? s->n_runs : row_find(s, ids[i]);
        if (row == s->n_runs)
            continue;
        facts->has_mark = facts->has_mark || is_marked(facts, row);
        snprintf(label, sizeof label, "%s%s", x->runs[i].policy.label, is_marked(facts, row) ? " *" : "");
        table_text(t, label);
        for (uint32_t k = 0; k < x->runs[i].n_swept; k++)
            if (run_key_is_telling(x, k))
                table_text(t, x->runs[i].swept[k].value);
        for (int m = 0; m < N_SHOWN; m++)
            if (values[m] != NULL)
                table_number(t, values[m][row]);
    }
}

static void notes_print(const struct run_facts *f)
{
    if (f->has_mark)
        puts("* not all of its jobs finished: its means are over those that did, and not to be compared with the "
             "others' "
             "(braid compare does)");
    if (f->has_preemptions)
        puts("wait: first start - submit; jobs are preempted here and wait again, queued is all time without GPUs");
}

static bool has_any(const double *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] > 0)
            return true;
    return false;
}

int run_table_print(const char *path, const struct experiment *x, const char (*ids)[RUN_ID_HEX + 1], struct error *err)
{
    struct results_source s;
    int status = results_source_open(&s, path, err);
    if (status != 0)
        return status;
    double *values[N_SHOWN] = {0};
    struct run_facts facts = {0};
    uint32_t n_swept = x->n_runs > 0 ? x->runs[0].n_swept : 0, n = 0;
    struct table_column *columns = calloc((size_t)n_swept + 1 + N_SHOWN, sizeof *columns);
    struct table *t = NULL;
    if (columns == NULL) {
        status = error_set(err, BRAID_FAILED, "out of memory");
        goto done;
    }
    status = facts_read(&facts, &s, err);
    if (status != 0)
        goto done;
    columns[n++] = (struct table_column){.name = "policy", .kind = TABLE_KIND_TEXT};
    for (uint32_t k = 0; k < n_swept; k++)
        if (run_key_is_telling(x, k))
            columns[n++] = (struct table_column){.name = x->runs[0].swept[k].key, .kind = TABLE_KIND_TEXT};
    for (int m = 0; m < N_SHOWN; m++) {
        values[m] = metric_read(&s, shown[m].metric, err);
        if (values[m] == NULL) {
            status = err->code;
            goto done;
        }
        bool is_idle = strcmp(shown[m].metric, "queued_mean") == 0 && !facts.has_preemptions;
        if (is_idle || (shown[m].only_if_any && !has_any(values[m], s.n_runs))) {
            free(values[m]);
            values[m] = NULL;
            continue;
        }
        columns[n++] = (struct table_column){.name = shown[m].metric, .title = shown[m].title, .kind = shown[m].kind};
    }
    t = table_create(columns, n);
    if (t != NULL)
        rows_fill(t, x, ids, &s, values, &facts);
    if (t == NULL || !table_print(t, TABLE_FORMAT_TEXT, stdout))
        status = error_set(err, BRAID_FAILED, "out of memory");
    else
        notes_print(&facts);
done:
    facts_fini(&facts);
    table_destroy(t);
    for (int m = 0; m < N_SHOWN; m++)
        free(values[m]);
    free(columns);
    results_source_fini(&s);
    return status;
}

/* results_assemble.c - one results file from several.
 *
 *   source 0   /jobs [ run a | run c ]              picks, by id          /jobs [ run a | run b | run c ]
 *   source 1   /jobs [ run b ]           ──▶        a b c        ──▶      row numbers (jobs_begin, allocs.segment) moved along
 *
 * Two passes: the first reads what runs there are and how wide texts must be, the second moves rows, slice by slice.
 */
#include "output/results_assemble.h"

#include "base/outfile.h"
#include "output/results_source.h"
#include "output/results_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCES_OPEN = 64 }; /* more sources than this are opened and closed for each use */

struct pick {
    uint32_t source;
    const struct source_run *run;
    int64_t position;               /* in the order of its config */
    uint64_t begin[RESULTS_TABLES]; /* in the new file */
};

struct assembly {
    struct results_source *sources;
    uint32_t n_sources;
    struct pick *picks; /* by id */
    uint32_t n_picks;
    const char **sweeps; /* union of the sources' swept columns, in byte order */
    uint32_t n_sweeps;
    uint64_t rows[RESULTS_TABLES];
};

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

static void source_release(struct assembly *a, uint32_t i)
{
    if (a->n_sources > SOURCES_OPEN)
        results_source_close(&a->sources[i]);
}

/* ---- which runs ---- */

static int compare_picks(const void *a, const void *b)
{
    const struct pick *x = a, *y = b;
    int by_id = strcmp(x->run->id, y->run->id);
    if (by_id != 0)
        return by_id;
    bool x_failed = x->run->status == RUN_FAILED, y_failed = y->run->status == RUN_FAILED;
    if (x_failed != y_failed)
        return x_failed ? 1 : -1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->run->row < y->run->row ? -1 : 1;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_wanted(const struct assemble_options *o, const char *id)
{
    return o->only == NULL || bsearch(&id, o->only, o->n_only, sizeof *o->only, compare_text) != NULL;
}

/* Where the config of now has the run: a stored one may come from a config that had other values before it. */
static int64_t position_of(const struct assemble_options *o, const struct source_run *run)
{
    const char *id = run->id;
    if (o->positions == NULL || o->only == NULL)
        return run->position;
    const char *const *found = bsearch(&id, o->only, o->n_only, sizeof *o->only, compare_text);
    int64_t position = found != NULL ? o->positions[found - o->only] : -1;
    return position >= 0 ? position : run->position;
}

/* The same id must mean the same outcome. */
static int check_equal(struct assembly *a, const struct pick *kept, const struct pick *other, struct error *err)
{
    const struct pick *both[] = {kept, other};
    double values[2];
    size_t n;
    metrics_table(&n);
    bool equal = strcmp(kept->run->digest, other->run->digest) == 0 && kept->run->status == other->run->status;
    for (uint32_t m = 0; equal && m < n; m++) {
        const struct column_spec c = results_metric_column(m);
        for (int i = 0; i < 2; i++) {
            struct results_source *s = &a->sources[both[i]->source];
            int status = results_source_reopen(s, err);
            if (status == 0)
                status = results_source_read(s, "summary", &c, 0, both[i]->run->row, 1, &values[i], err);
            source_release(a, both[i]->source);
            if (status != 0)
                return status;
        }
        equal = memcmp(&values[0], &values[1], sizeof values[0]) == 0;
    }
    if (equal)
        return 0;
    return error_at(
        err, BRAID_BAD_INPUT, a->sources[other->source].path, 0, 0,
        "run %s differs from the run of that id in %s; they come from different versions: run one of them again",
        kept->run->id, a->sources[kept->source].path);
}

static int picks_choose(struct assembly *a, const struct assemble_options *o, struct error *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < a->n_sources; i++)
        n += a->sources[i].n_runs;
    a->picks = calloc(n + 1, sizeof *a->picks);
    if (a->picks == NULL)
        return out_of_memory(err);
    n = 0;
    for (uint32_t i = 0; i < a->n_sources; i++)
        for (uint32_t k = 0; k < a->sources[i].n_runs; k++)
            if (is_wanted(o, a->sources[i].runs[k].id))
                a->picks[n++] = (struct pick){.source = i, .run = &a->sources[i].runs[k]};
    qsort(a->picks, n, sizeof *a->picks, compare_picks);
    for (size_t i = 0; i < n; i++) {
        struct pick *kept = a->n_picks > 0 ? &a->picks[a->n_picks - 1] : NULL;
        if (kept == NULL || strcmp(kept->run->id, a->picks[i].run->id) != 0) {
            a->picks[a->n_picks++] = a->picks[i];
            continue;
        }
        if (kept->run->status == RUN_FAILED || a->picks[i].run->status == RUN_FAILED)
            continue;
        int status = check_equal(a, kept, &a->picks[i], err);
        if (status != 0)
            return status;
    }
    for (uint32_t i = 0; i < a->n_picks; i++) {
        a->picks[i].position = position_of(o, a->picks[i].run);
        for (int t = 0; t < RESULTS_TABLES; t++) {
            a->picks[i].begin[t] = a->rows[t];
            a->rows[t] += a->picks[i].run->count[t];
        }
    }
    return 0;
}

static int sweeps_unite(struct assembly *a, struct error *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < a->n_sources; i++)
        n += a->sources[i].n_sweeps;
    a->sweeps = calloc(n + 1, sizeof *a->sweeps);
    if (a->sweeps == NULL)
        return out_of_memory(err);
    n = 0;
    for (uint32_t i = 0; i < a->n_sources; i++)
        for (uint32_t k = 0; k < a->sources[i].n_sweeps; k++)
            a->sweeps[n++] = a->sources[i].sweeps[k];
    qsort(a->sweeps, n, sizeof *a->sweeps, compare_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(a->sweeps[i], a->sweeps[i - 1]) != 0)
            a->sweeps[a->n_sweeps++] = a->sweeps[i];
    return 0;
}

/* ---- one table ---- */

struct move {
    struct assembly *a;
    struct results_writer *w;
    int table;
    const char *name;
    uint32_t n, n_schema;
    struct column_spec *columns;
    char (*names)[RESULTS_NAME_MAX];
    size_t *widths;
    void *slice;
};

static bool source_lacks(const struct results_source *s, const char *sweep)
{
    for (uint32_t i = 0; i < s->n_sweeps; i++)
        if (strcmp(s->sweeps[i], sweep) == 0)
            return false;
    return true;
}

/* Is every row of the source taken? Then its texts are as wide as their longest value. */
static bool is_whole(const struct assembly *a, uint32_t source)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_picks; i++)
        n += a->picks[i].source == source;
    return n == a->sources[source].n_runs;
}

/* The longest value that the picked runs of a source have in text column `i`; `width`: as stored. */
static int width_scan(struct move *m, uint32_t source, uint32_t i, size_t width, size_t *longest, struct error *err)
{
    char *texts = malloc(width * WRITER_SLICE + 1);
    if (texts == NULL)
        return out_of_memory(err);
    int status = 0;
    for (uint32_t p = 0; p < m->a->n_picks && status == 0; p++) {
        const struct source_run *run = m->a->picks[p].run;
        if (m->a->picks[p].source != source)
            continue;
        for (uint64_t at = 0; at < run->count[m->table] && status == 0; at += WRITER_SLICE) {
            uint64_t left = run->count[m->table] - at, n = left < WRITER_SLICE ? left : WRITER_SLICE;
            status = results_source_read(&m->a->sources[source], m->name, &m->columns[i], width,
                                         run->begin[m->table] + at, n, texts, err);
            for (uint64_t k = 0; k < n && status == 0; k++) {
                size_t length = strnlen(texts + k * width, width);
                *longest = length > *longest ? length : *longest;
            }
        }
    }
    free(texts);
    return status;
}

static int widths_find(struct move *m, struct error *err)
{
    struct assembly *a = m->a;
    int status = 0;
    for (uint32_t s = 0; s < a->n_sources && status == 0; s++) {
        bool whole = is_whole(a, s);
        status = results_source_reopen(&a->sources[s], err);
        for (uint32_t i = 0; i < m->n && status == 0; i++) {
            if (m->columns[i].type != COLUMN_TEXT ||
                (i >= m->n_schema && source_lacks(&a->sources[s], m->columns[i].name)))
                continue;
            size_t width = results_source_width(&a->sources[s], m->name, m->columns[i].name);
            if (!whole)
                status = width_scan(m, s, i, width, &m->widths[i], err);
            else if (width > m->widths[i])
                m->widths[i] = width;
        }
        source_release(a, s);
    }
    return status;
}

/* Row numbers of this file instead of the source's. */
static void rows_shift(const struct move *m, uint32_t column, const struct pick *p, uint64_t n)
{
    int of = m->columns[column].rows_of;
    if (of == RESULTS_TABLES)
        return;
    int64_t *values = m->slice;
    for (uint64_t k = 0; k < n; k++)
        values[k] += (int64_t)p->begin[of] - (int64_t)p->run->begin[of];
}

/* Is this the column that the assembly fills by itself? */
static bool is_position(const struct move *m, uint32_t column)
{
    return m->table == RESULTS_RUNS && column < m->n_schema && strcmp(m->columns[column].name, RESULTS_POSITION) == 0;
}

static int pick_move(struct move *m, const struct pick *p, struct error *err)
{
    struct results_source *s = &m->a->sources[p->source];
    uint64_t count = p->run->count[m->table];
    if (count == 0)
        return 0;
    int status = results_source_reopen(s, err);
    for (uint64_t at = 0; at < count && status == 0 && !results_writer_has_failed(m->w); at += WRITER_SLICE) {
        uint64_t n = count - at < WRITER_SLICE ? count - at : WRITER_SLICE;
        for (uint32_t i = 0; i < m->n && status == 0; i++) {
            if (i >= m->n_schema && m->table == RESULTS_RUNS && source_lacks(s, m->columns[i].name))
                memset(m->slice, 0, m->widths[i]);
            else if (is_position(m, i))
                memcpy(m->slice, &p->position, sizeof p->position); /* a run has one row */
            else
                status = results_source_read(s, m->name, &m->columns[i], m->widths[i], p->run->begin[m->table] + at, n,
                                             m->slice, err);
            rows_shift(m, i, p, n);
            if (status == 0)
                results_writer_push(m->w, i, m->slice, (uint32_t)n);
        }
    }
    source_release(m->a, p->source);
    return status;
}

static void move_fini(struct move *m)
{
    free(m->columns);
    free(m->names);
    free(m->widths);
    free(m->slice);
}

static int table_move(struct assembly *a, struct results_writer *w, int table, struct error *err)
{
    const struct table_spec *t = results_table(table);
    size_t extra = table == RESULTS_RUNS ? a->n_sweeps : 0, widest = sizeof(double);
    if (table == RESULTS_SUMMARY)
        metrics_table(&extra);
    struct move m = {.a = a, .w = w, .table = table, .name = t->name, .n_schema = t->n_columns};
    m.n = t->n_columns + (uint32_t)extra;
    m.columns = calloc(m.n, sizeof *m.columns);
    m.names = calloc(extra + 1, sizeof *m.names);
    m.widths = calloc(m.n, sizeof *m.widths);
    if (m.columns == NULL || m.names == NULL || m.widths == NULL) {
        move_fini(&m);
        return out_of_memory(err);
    }
    for (uint32_t i = 0; i < m.n; i++) {
        m.widths[i] = 1;
        if (i < t->n_columns)
            m.columns[i] = t->columns[i];
        else if (table == RESULTS_SUMMARY)
            m.columns[i] = results_metric_column(i - t->n_columns);
        else
            m.columns[i] = results_sweep_column(a->sweeps[i - t->n_columns] + strlen(RESULTS_SWEEP_PREFIX),
                                                m.names[i - t->n_columns]);
    }
    int status = a->rows[table] > 0 ? widths_find(&m, err) : 0;
    for (uint32_t i = 0; i < m.n; i++)
        widest = m.widths[i] > widest ? m.widths[i] : widest;
    m.slice = malloc(widest * (a->rows[table] < WRITER_SLICE ? a->rows[table] : WRITER_SLICE) + 1);
    if (status == 0 && m.slice == NULL)
        status = out_of_memory(err);
    if (status == 0) {
        results_writer_table(w, t->name, m.columns, m.widths, m.n, a->rows[table]);
        for (uint32_t i = 0; i < a->n_picks && status == 0; i++)
            status = pick_move(&m, &a->picks[i], err);
        if (status == 0)
            results_writer_end(w);
    }
    move_fini(&m);
    return status;
}

/* ---- all together ---- */

/* A single source of which every run is taken is the file that we would write, byte for byte, if this version wrote it. */
static bool is_result_already(const struct assembly *a, const struct assemble_options *o)
{
    for (uint32_t i = 0; i < a->n_picks; i++)
        if (a->picks[i].position != a->picks[i].run->position)
            return false;
    return o->may_link && a->n_sources == 1 && a->sources[0].has_positions && a->n_picks == a->sources[0].n_runs &&
           strcmp(a->sources[0].producer, results_producer()) == 0;
}

/* Give `source` the name `path` as well. False: it must be copied (which tells what is wrong with `path`). */
static bool link_instead(const char *path, const char *source)
{
    if (outfile_is_same(path, source))
        return true;
    char *place = outfile_regular(path, NULL), *beside = NULL;
    if (place == NULL || asprintf(&beside, "%s.link-%ld", place, (long)getpid()) < 0) {
        free(place);
        return false;
    }
    bool ok = link(source, beside) == 0;
    if (ok && rename(beside, place) != 0) {
        unlink(beside);
        ok = false;
    }
    ok = ok && folder_sync(place) == 0;
    free(beside);
    free(place);
    return ok;
}

static int assembly_write(struct assembly *a, const char *path, struct error *err)
{
    struct results_writer w;
    int status = results_writer_open(&w, path, err);
    if (status != 0)
        return status;
    for (int t = 0; t < RESULTS_TABLES && status == 0 && !results_writer_has_failed(&w); t++)
        status = table_move(a, &w, t, err);
    if (status == 0)
        return results_writer_commit(&w, err);
    results_writer_abort(&w);
    return status;
}

int results_assemble_runs(const char *path, const char *const *sources, size_t n_sources,
                          const struct assemble_options *options, struct error *err)
{
    struct assembly a = {0};
    a.sources = calloc(n_sources + 1, sizeof *a.sources);
    if (a.sources == NULL)
        return out_of_memory(err);
    int status = 0;
    for (size_t i = 0; i < n_sources && status == 0; i++) {
        status = results_source_open(&a.sources[i], sources[i], err);
        if (status != 0)
            break;
        a.n_sources++;
        if (n_sources > SOURCES_OPEN)
            results_source_close(&a.sources[i]);
    }
    if (status == 0)
        status = sweeps_unite(&a, err);
    if (status == 0)
        status = picks_choose(&a, options, err);
    if (status == 0 && !(is_result_already(&a, options) && link_instead(path, sources[0])))
        status = assembly_write(&a, path, err);
    for (uint32_t i = 0; i < a.n_sources; i++)
        results_source_fini(&a.sources[i]);
    free(a.sources);
    free(a.picks);
    free(a.sweeps);
    return status;
}

int results_assemble(const char *path, const char *const *sources, size_t n_sources, struct error *err)
{
    const struct assemble_options all = {0};
    return results_assemble_runs(path, sources, n_sources, &all, err);
}

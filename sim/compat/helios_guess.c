/* helios_guess.c - what qssf believes of a job: predicted seconds x GPUs.
 *
 * The simulator reads predictions by job name from a csv `jobname,priority` (seconds, also negative ones); a csv `id,estimate` as the
 * engine takes it, by id, will do as well. Estimates are used as they stand: a negative one comes first.
 */
#include "compat/helios_run.h"
#include "compat/request.h"

#include "cluster/sheet.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 1000000000 };

struct row {
    const char *key;
    size_t n;
    int64_t ns;
    uint32_t order; /* in the file: the first of two with one key counts */
};

struct rows {
    struct row *v;
    uint32_t n;
    bool by_name;
};

static int row_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int by_key = text_compare_natural(x->key, x->n, y->key, y->n);
    return by_key != 0 ? by_key : (x->order > y->order) - (x->order < y->order);
}

static int header_read(struct sheet *s, struct rows *rows)
{
    static const char *const names[][2] = {{"jobname", "priority"}, {"id", "estimate"}};
    bool has_row = false;
    int code = csv_next(&s->csv, &has_row, s->err);
    for (int i = 0; code == BRAID_OK && has_row && i < 2; i++)
        if (sheet_header_has(s, names[i], 2)) {
            rows->by_name = i == 0;
            return BRAID_OK;
        }
    return code != BRAID_OK
               ? code
               : error_at(s->err, BRAID_BAD_INPUT, s->shown, 1, 0,
                          "is no table of estimates; give a csv with columns jobname,priority or id,estimate "
                          "(seconds)");
}

static int rows_read(struct helios *h, struct rows *rows)
{
    const struct estimate_spec *spec = &h->l.spec->estimate;
    struct sheet s;
    bool has_row = false;
    int code = sheet_open(&s, spec->path, spec->path_shown, &h->l.arena, h->l.err);
    if (code != BRAID_OK)
        return code;
    code = header_read(&s, rows);
    while (code == BRAID_OK && (code = sheet_next(&s, 2, &has_row)) == BRAID_OK && has_row) {
        struct csv_field key = sheet_field(&s, s.column[0]);
        struct row r = {.n = key.n, .order = rows->n};
        code = sheet_number(&s, 1, "the estimate", NS_PER_S, -SECONDS_MAX, SECONDS_MAX, &r.ns);
        if (code != BRAID_OK)
            break;
        r.key = arena_text(&h->l.arena, key.text, key.n);
        rows->v = r.key != NULL ? sheet_append(&h->l.arena, rows->v, rows->n, sizeof r, &r) : NULL;
        code = rows->v != NULL ? BRAID_OK : sheet_out_of_memory(h->l.err);
        rows->n++;
    }
    sheet_close(&s);
    if (code == BRAID_OK && rows->n > 0)
        qsort(rows->v, rows->n, sizeof *rows->v, row_compare);
    return code;
}

static struct row key_of(const struct workload *w, uint32_t job, bool by_name)
{
    if (!by_name)
        return (struct row){.key = request_id(w, job), .n = (size_t)request_id_length(w, job)};
    const char *name = names_text(&w->names, w->name[job]);
    return (struct row){.key = name, .n = strlen(name)};
}

static const struct row *rows_find(const struct rows *rows, const struct row *want)
{
    uint32_t low = 0, high = rows->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (row_compare(&rows->v[middle], want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct row *found = low < rows->n ? &rows->v[low] : NULL;
    return found != NULL && text_compare_natural(found->key, found->n, want->key, want->n) == 0 ? found : NULL;
}

static int guess_from_file(struct helios *h)
{
    const struct workload *w = h->l.w;
    const char *shown = h->l.spec->estimate.path_shown;
    struct rows rows = {0};
    int code = rows_read(h, &rows);
    if (code == BRAID_OK && rows.by_name && w->name == NULL)
        return error_at(h->l.err, BRAID_BAD_INPUT, shown, 0, 0,
                        "goes by job name, but the trace has no names; give a csv with columns id,estimate");
    for (uint32_t job = 0; code == BRAID_OK && job < w->n_jobs; job++) {
        struct row want = key_of(w, job, rows.by_name);
        const struct row *found = rows_find(&rows, &want);
        if (found == NULL)
            return error_at(h->l.err, BRAID_BAD_INPUT, shown, 0, 0, "has no estimate for job %.*s", (int)want.n,
                            want.key);
        h->guess[job] = (double)found->ns / NS_PER_S * w->gpus[job];
    }
    return code;
}

int helios_guess_load(struct helios *h)
{
    const struct workload *w = h->l.w;
    enum estimate_source source = h->l.spec->estimate.source;
    if (source == ESTIMATE_FILE)
        return guess_from_file(h);
    if (source != ESTIMATE_EXACT && source != ESTIMATE_TRACE)
        return error_set(h->l.err, BRAID_BAD_INPUT,
                         "the %s simulator reads its predictions; use estimate: exact, trace or {source: file, path: "
                         "FILE}, or compat: none",
                         HELIOS);
    if (source == ESTIMATE_TRACE && w->estimate_ns == NULL)
        return error_set(h->l.err, BRAID_BAD_INPUT, "estimate.source is trace, but the trace has no estimates");
    const int64_t *ns = source == ESTIMATE_TRACE ? w->estimate_ns : w->duration_ns;
    for (uint32_t job = 0; job < w->n_jobs; job++) {
        if (ns[job] == WORKLOAD_ABSENT)
            return error_set(h->l.err, BRAID_BAD_INPUT, "estimate.source is trace, but job %.*s has no estimate",
                             request_id_length(w, job), request_id(w, job));
        h->guess[job] = (double)ns[job] / NS_PER_S * w->gpus[job];
    }
    return BRAID_OK;
}

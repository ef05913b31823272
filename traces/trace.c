#include "traces/trace.h"

#include "base/number.h"
#include "traces/columns.h"
#include "traces/deadline_assign.h"
#include "traces/depends.h"
#include "traces/generator.h"
#include "traces/rank.h"
#include "traces/reader.h"
#include "traces/sample.h"
#include "traces/stage_assign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_memory(const struct rows *r, struct error *err)
{
    return error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for %" PRIu32 " jobs", r->w.n_jobs);
}

/* ---- which rows: window, virtual clusters, failed ones ------------------------------------------------------------- */

static int64_t add_capped(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static int64_t floor_second(int64_t ns)
{
    int64_t rest = ns % NS_PER_S;
    return ns - (rest < 0 ? rest + NS_PER_S : rest);
}

/* The window in the times of the rows. */
static int find_window(const struct rows *r, const struct trace_spec *spec, int64_t *begin_ns, int64_t *end_ns,
                       struct error *err)
{
    *begin_ns = INT64_MIN;
    *end_ns = INT64_MAX;
    if (!spec->has_begin && !spec->has_end)
        return BRAID_OK;
    int64_t zero_ns = 0;
    if (spec->window_is_relative) {
        zero_ns = INT64_MAX;
        for (uint32_t i = 0; i < r->w.n_jobs; i++)
            if (r->w.submit_ns[i] < zero_ns)
                zero_ns = r->w.submit_ns[i];
        zero_ns = r->w.n_jobs > 0 ? floor_second(zero_ns) : 0;
    } else if (!r->is_dated && r->w.n_jobs > 0) {
        return error_at(err, BRAID_BAD_INPUT, r->path, 0, 0,
                        "trace.window has dates, but the trace counts seconds; give times from its first submission");
    }
    if (spec->has_begin)
        *begin_ns = add_capped(spec->begin_ns, zero_ns);
    if (spec->has_end)
        *end_ns = add_capped(spec->end_ns, zero_ns);
    if (*begin_ns >= *end_ns)
        return error_at(err, BRAID_BAD_INPUT, r->path, 0, 0, "trace.window ends before it begins");
    return BRAID_OK;
}

static int find_vcs(const struct rows *r, const struct trace_spec *spec, bool *is_wanted, struct error *err)
{
    for (uint32_t i = 0; i < spec->n_vcs; i++) {
        uint32_t vc = names_find(&r->w.vcs, spec->vcs[i], strlen(spec->vcs[i]));
        if (vc != NAMES_NONE) {
            is_wanted[vc] = true;
            continue;
        }
        char list[400] = "";
        for (uint32_t v = 0; v < r->w.vcs.count && strlen(list) < sizeof list - 64; v++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s", v > 0 ? ", " : "",
                     names_text(&r->w.vcs, v));
        return error_at(err, BRAID_BAD_INPUT, r->path, 0, 0,
                        "trace.vcs names '%s', but no job is of that virtual cluster; there are %s", spec->vcs[i],
                        list);
    }
    return BRAID_OK;
}

/* The rows that are kept, in order of the file. */
static int pick_rows(struct rows *r, const struct trace_spec *spec, uint32_t *pick, uint32_t *n, int64_t *begin_ns,
                     struct error *err)
{
    int64_t end_ns;
    int code = find_window(r, spec, begin_ns, &end_ns, err);
    bool *is_wanted = calloc((size_t)r->w.vcs.count + 1, sizeof *is_wanted);
    if (code == BRAID_OK && is_wanted == NULL)
        code = no_memory(r, err);
    if (code == BRAID_OK && spec->vcs != NULL)
        code = find_vcs(r, spec, is_wanted, err);
    uint64_t outside = 0, other_vc = 0, failed = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->w.n_jobs && code == BRAID_OK; i++) {
        if (r->w.submit_ns[i] < *begin_ns || r->w.submit_ns[i] >= end_ns)
            outside++;
        else if (spec->vcs != NULL && !is_wanted[r->w.vc[i]])
            other_vc++;
        else if (spec->failed == TRACE_FAILED_DROP && r->w.trace_status != NULL &&
                 (r->w.trace_status[i] == TRACE_FAILED || r->w.trace_status[i] == TRACE_KILLED))
            failed++;
        else
            pick[kept++] = i;
    }
    free(is_wanted);
    rows_count(r, ROW_OUTSIDE_WINDOW, outside, 0, "", 0);
    rows_count(r, ROW_OTHER_VC, other_vc, 0, "", 0);
    rows_count(r, ROW_FAILED_OR_KILLED, failed, 0, "", 0);
    *n = kept;
    return code;
}

/* ---- from picked rows to a workload --------------------------------------------------------------------------------- */

/* Move column `c` to `out` in rank order; the rows' own copy goes. */
static bool move_column(struct workload *out, struct rows *r, const struct column *c, const uint32_t *pick, uint32_t n,
                        bool is_identity)
{
    void *from = column_get(&r->w, c);
    if (from == NULL && c->flag >= 0)
        return true;
    if (from != NULL && is_identity) {
        void *shrunk = realloc(from, n * c->size);
        column_set(out, c, shrunk != NULL ? shrunk : from);
        column_set(&r->w, c, NULL);
        return true;
    }
    void *to = from != NULL ? malloc(n * c->size) : calloc(n, c->size);
    if (to == NULL)
        return false;
    column_set(out, c, to);
    if (from != NULL) {
        column_pick(to, from, c->size, pick, n);
        free(from);
        column_set(&r->w, c, NULL);
    }
    return true;
}

/* A rank as text; returns its length. */
static uint32_t put_rank(char *text, uint32_t rank)
{
    uint32_t n = 1;
    for (uint32_t rest = rank; rest >= 10; rest /= 10)
        n++;
    for (uint32_t i = n; i-- > 0; rank /= 10)
        text[i] = (char)('0' + rank % 10);
    return n;
}

static bool move_ids(struct workload *out, struct rows *r, const uint32_t *pick, uint32_t n, bool is_identity)
{
    if (r->has.id && is_identity) {
        out->id_at = r->w.id_at;
        out->id_text = r->w.id_text;
        r->w.id_at = NULL;
        r->w.id_text = NULL;
        if (out->id_text == NULL) /* all ids are empty */
            out->id_text = calloc(1, 1);
        return out->id_text != NULL;
    }
    out->id_at = malloc(((size_t)n + 1) * sizeof *out->id_at);
    if (out->id_at == NULL)
        return false;
    uint64_t total = 0;
    if (r->has.id)
        for (uint32_t j = 0; j < n; j++)
            total += r->w.id_at[pick[j] + 1] - r->w.id_at[pick[j]];
    else
        for (uint64_t digits = 1, first = 0, next = 10; first < n; digits++, first = next, next *= 10)
            total += digits * ((n < next ? n : next) - first);
    out->id_text = malloc(total + 16);
    if (out->id_text == NULL)
        return false;
    uint64_t at = 0;
    for (uint32_t j = 0; j < n; j++) {
        out->id_at[j] = at;
        if (r->has.id) {
            uint64_t length = r->w.id_at[pick[j] + 1] - r->w.id_at[pick[j]];
            memcpy(out->id_text + at, r->w.id_text + r->w.id_at[pick[j]], length);
            at += length;
        } else {
            at += put_rank(out->id_text + at, j);
        }
    }
    out->id_at[n] = at;
    return true;
}

/* The names of column `c` go to `out` as they are, a column that the format lacks getting the one name "". */
static bool move_names(struct workload *out, struct rows *r, const struct column *c)
{
    struct names *from = column_names(&r->w, c), *to = column_names(out, c);
    if (from == NULL)
        return true;
    *to = *from;
    names_init(from);
    return column_get(out, c) == NULL || to->count > 0 || names_add(to, "", 0) != NAMES_NONE;
}

static void shift_times(int64_t *times, uint32_t n, int64_t origin_ns)
{
    for (uint32_t j = 0; times != NULL && j < n; j++)
        if (times[j] != WORKLOAD_ABSENT)
            times[j] = add_capped(times[j], -origin_ns);
}

static int make_workload(struct workload *out, struct rows *r, const uint32_t *pick, uint32_t n, int64_t begin_ns,
                         struct error *err)
{
    int64_t first_ns = r->w.submit_ns[pick[0]];
    int64_t origin_ns = floor_second(begin_ns != INT64_MIN ? begin_ns : first_ns);
    bool is_identity = n == r->w.n_jobs;
    for (uint32_t j = 0; j < n && is_identity; j++)
        is_identity = pick[j] == j;
    free(r->text_at);
    free(r->order);
    r->text_at = NULL;
    r->order = NULL;
    out->n_jobs = n;
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    bool ok = true;
    for (size_t i = 0; i < n_columns && ok; i++)
        ok = move_column(out, r, &columns[i], pick, n, is_identity) && move_names(out, r, &columns[i]);
    if (!ok || !move_ids(out, r, pick, n, is_identity) || !depends_prune(out) || !workload_settle_names(out))
        return no_memory(r, err);
    shift_times(out->submit_ns, n, origin_ns);
    shift_times(out->start_ns, n, origin_ns);
    shift_times(out->deadline_ns, n, origin_ns);
    out->has_origin = r->is_dated;
    out->origin_utc_s = r->is_dated ? origin_ns / NS_PER_S : 0;
    out->offset_s = r->is_dated ? 0 : origin_ns / NS_PER_S;
    workload_digest(out);
    return rank_count_duplicate_ids(r, out, err);
}

static int no_jobs(const struct rows *r, const struct trace_report *report, struct error *err)
{
    char list[400] = "";
    for (uint32_t i = 0; i < report->n_counts; i++) {
        const struct trace_count *c = &report->counts[i];
        size_t used = strlen(list);
        if (c->is_dropped && used < sizeof list - 64)
            snprintf(list + used, sizeof list - used, "%s%s %" PRIu64, used > 0 ? ", " : ": ", c->reason, c->rows);
    }
    if (report->rows_read == 0 && report->format[0] != '\0')
        return error_at(err, BRAID_BAD_INPUT, r->path, 0, 0,
                        "no job is left of 0 rows: behind its beginning the %s file has none; is it cut short?",
                        report->format);
    return error_at(err, BRAID_BAD_INPUT, r->path, 0, 0, "no job is left of %" PRIu64 " rows%s", report->rows_read,
                    list);
}

enum { FIRST_UNIX_S = 946684800, LONG_SPAN_YEARS = 20 }; /* the former: 2000-01-01 */
#define LAST_UNIX_S INT64_C(4102444800)                  /* 2100-01-01 */

/* Remarks on what the submissions say together: they may be meant as something else than they are read as. */
static void remark_times(struct rows *r)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t i = 0; i < r->w.n_jobs; i++) {
        first_ns = r->w.submit_ns[i] < first_ns ? r->w.submit_ns[i] : first_ns;
        last_ns = r->w.submit_ns[i] > last_ns ? r->w.submit_ns[i] : last_ns;
    }
    if (r->w.n_jobs == 0)
        return;
    bool is_unix = !r->is_dated && first_ns / NS_PER_S >= FIRST_UNIX_S && first_ns / NS_PER_S < LAST_UNIX_S;
    bool is_long = last_ns - first_ns > LONG_SPAN_YEARS * INT64_C(31557600) * NS_PER_S;
    rows_count(r, ROW_UNIX_SECONDS, is_unix ? r->w.n_jobs : 0, 0, "", 0);
    rows_count(r, ROW_LONG_SPAN, is_long, 0, "", 0);
}

/* Window, filters, ranks and limit: rows become the workload. */
static int settle(struct workload *out, struct rows *r, struct source *source, const struct trace_spec *spec,
                  struct error *err)
{
    uint32_t *pick = malloc(((size_t)r->w.n_jobs + 1) * sizeof *pick), n = 0;
    int64_t begin_ns = INT64_MIN;
    if (pick == NULL)
        return no_memory(r, err);
    remark_times(r);
    int code = pick_rows(r, spec, pick, &n, &begin_ns, err);
    if (code == BRAID_OK)
        code = rank_rows(r, source, pick, n, err);
    if (code == BRAID_OK && n > spec->jobs) {
        rows_count(r, ROW_BEYOND_LIMIT, n - spec->jobs, 0, "", 0);
        n = spec->jobs;
    }
    if (code == BRAID_OK && n > 0)
        code = make_workload(out, r, pick, n, begin_ns, err);
    free(pick);
    rows_report(r, &out->report);
    out->report.rows_kept = n;
    if (code == BRAID_OK && n == 0)
        code = no_jobs(r, &out->report, err);
    return code;
}

/* The generator's jobs as rows, so that windows, filters and limits work on them as on any trace. */
static int generate_rows(struct rows *r, const struct trace_spec *spec, struct error *err)
{
    *r = (struct rows){.path = spec->shown_path, .has = {.id = true, .user = true, .status = true}};
    int code = generator_make(&r->w, &spec->generate, err);
    if (code != BRAID_OK)
        return code;
    r->n_read = r->w.n_jobs;
    r->is_dated = r->w.has_origin;
    int64_t origin_ns = r->w.has_origin ? r->w.origin_utc_s * NS_PER_S : 0;
    shift_times(r->w.submit_ns, r->w.n_jobs, -origin_ns);
    shift_times(r->w.start_ns, r->w.n_jobs, -origin_ns);
    shift_times(r->w.deadline_ns, r->w.n_jobs, -origin_ns);
    return BRAID_OK;
}

/* `w` drawn anew from its own days. A trace too short for two days of a kind would be drawn as it is, each time. */
static int bootstrap(struct workload *w, const struct trace_spec *spec, struct error *err)
{
    const int64_t day_ns = 86400 * NS_PER_S;
    bool same_weekday = spec->bootstrap.days == BOOTSTRAP_SAME_WEEKDAY;
    int64_t days = (w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]) / day_ns;
    struct sample_spec draw = {.is_bootstrap = true,
                               .seed = spec->bootstrap.seed,
                               .length_days = spec->bootstrap.length_days,
                               .same_weekday = same_weekday};
    struct error why = {0};
    struct workload drawn;
    int code = BRAID_OK;
    if (days < (same_weekday ? 8 : 2))
        code = error_set(&why, BRAID_BAD_INPUT, "the trace is %" PRId64 " days long; a bootstrap %s", days,
                         same_weekday ? "of the same weekdays needs 8 or more" : "needs 2 or more");
    else
        code = trace_sample(&drawn, w, &draw, &why);
    if (code != BRAID_OK)
        return error_set(err, code, "%s%strace.bootstrap: %s", spec->is_generated ? "" : spec->shown_path,
                         spec->is_generated ? "" : ": ", why.message);
    workload_fini(w);
    *w = drawn;
    return BRAID_OK;
}

int trace_find(const struct trace_spec *spec, struct error *err)
{
    if (spec->path == NULL || access(spec->path, R_OK) == 0)
        return BRAID_OK;
    int why = errno;
    const char *shown = spec->shown_path != NULL ? spec->shown_path : spec->path;
    bool is_elsewhere = strcmp(spec->path, shown) != 0, is_placed = spec->place.line > 0;
    return error_at(err, BRAID_BAD_INPUT, is_placed ? spec->place.file : shown, is_placed ? spec->place.line : 0,
                    is_placed ? spec->place.col : 0, "%s%s%scannot be opened%s%s%s: %s%s",
                    is_placed ? "the trace '" : "", is_placed ? shown : "", is_placed ? "' " : "",
                    is_elsewhere ? " (as " : "", is_elsewhere ? spec->path : "", is_elsewhere ? ")" : "", strerror(why),
                    why == ENOENT ? "; scripts/fetch-traces gets the public ones" : "");
}

int trace_load(struct workload *out, const struct trace_spec *spec, struct error *err)
{
    struct trace_input in = {.source.fd = -1};
    struct rows rows = {0};
    const struct trace_reader *reader = NULL;
    workload_init(out);
    int found = spec->is_generated ? BRAID_OK : trace_find(spec, err);
    if (found != BRAID_OK)
        return found;
    int code = spec->is_generated ? generate_rows(&rows, spec, err) : reader_read(&in, spec, &rows, &reader, err);
    if (spec->is_generated)
        memcpy(out->report.format, rows.w.report.format, sizeof out->report.format);
    else if (reader != NULL)
        snprintf(out->report.format, sizeof out->report.format, "%s", reader->name);
    if (code == BRAID_OK && rows.w.depends != NULL)
        code = depends_check(&rows, err);
    if (code == BRAID_OK)
        code = settle(out, &rows, spec->is_generated ? NULL : &in.source, spec, err);
    if (code == BRAID_OK && spec->bootstrap.days != BOOTSTRAP_NONE)
        code = bootstrap(out, spec, err);
    if (code == BRAID_OK && spec->stages.table != NULL)
        code = stage_assign(out, &spec->stages, err);
    if (code == BRAID_OK && spec->deadlines.factor.n > 0)
        code = deadline_assign(out, &spec->deadlines, err);
    if (code != BRAID_OK) { /* what was counted stays: it may say why */
        struct trace_report report = out->report;
        workload_fini(out);
        out->report = report;
    }
    rows_fini(&rows);
    reader_close(&in);
    return code;
}

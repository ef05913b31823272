#include "traces/compare.h"

#include "base/number.h"
#include "traces/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct workload, member)

static bool is_at(const struct column *c, size_t at)
{
    return c->at == at;
}

/* A moment, as opposed to a span. */
static bool is_moment(const struct column *c)
{
    return is_at(c, AT(submit_ns)) || is_at(c, AT(start_ns)) || is_at(c, AT(deadline_ns));
}

static bool is_span(const struct column *c)
{
    return is_at(c, AT(duration_ns)) || is_at(c, AT(estimate_ns)) || is_at(c, AT(iteration_ns)) ||
           is_at(c, AT(stage_ns[0])) || is_at(c, AT(stage_ns[1])) || is_at(c, AT(stage_ns[2])) ||
           is_at(c, AT(stage_ns[3]));
}

static bool is_status(const struct column *c)
{
    return is_at(c, AT(trace_status));
}

static bool is_real(const struct column *c)
{
    return is_at(c, AT(priority));
}

/* What a column that is not there says of every job. */
static int64_t value_of_none(const struct column *c)
{
    bool is_optional_time = is_at(c, AT(start_ns)) || is_at(c, AT(estimate_ns)) || is_at(c, AT(deadline_ns)) ||
                            is_at(c, AT(iterations)) || is_at(c, AT(iteration_ns));
    return is_optional_time ? WORKLOAD_ABSENT : is_at(c, AT(gpu_milli)) ? 1000 : 0;
}

static int64_t value_of(const struct workload *w, const struct column *c, uint32_t j)
{
    const char *values = column_get(w, c);
    int64_t v = 0;
    uint32_t u = 0;
    if (values == NULL)
        return value_of_none(c);
    if (c->size == sizeof v) {
        memcpy(&v, values + (size_t)j * c->size, sizeof v);
        return v;
    }
    if (c->size == 1)
        return (unsigned char)values[j];
    memcpy(&u, values + (size_t)j * c->size, sizeof u);
    return u;
}

static const char *name_of(const struct workload *w, const struct column *c, uint32_t j)
{
    const uint32_t *ids = column_get(w, c);
    const struct names *names = (const struct names *)(const void *)((const char *)w + c->names_at);
    return ids == NULL || ids[j] == NAMES_NONE ? "" : names_text(names, ids[j]);
}

static double real_of(const struct workload *w, uint32_t j)
{
    return w->priority != NULL ? w->priority[j] : 0;
}

/* A moment as it is compared; INT64_MIN: none. */
static __int128 moment_of(const struct comparison *out, const struct workload *w, int64_t v)
{
    return (__int128)v + (out->are_dated ? (__int128)w->origin_utc_s * NS_PER_S : 0);
}

/* How far apart two jobs are in a column: 0 not at all, NaN not to be told as a number. */
static double difference(const struct comparison *out, const struct column *c, const struct workload *a, uint32_t i,
                         const struct workload *b, uint32_t j)
{
    if (c->names_at >= 0)
        return strcmp(name_of(a, c, i), name_of(b, c, j)) == 0 ? 0 : (double)NAN;
    if (is_real(c))
        return fabs(real_of(a, i) - real_of(b, j));
    int64_t x = value_of(a, c, i), y = value_of(b, c, j);
    bool is_absent = x == WORKLOAD_ABSENT || y == WORKLOAD_ABSENT;
    if (is_absent || is_status(c))
        return x == y ? 0 : (double)NAN;
    if (is_moment(c))
        return fabs((double)(moment_of(out, a, x) - moment_of(out, b, y))) / 1e9;
    return fabs((double)((__int128)x - y)) / (is_span(c) ? 1e9 : 1);
}

/* ---- which job is which ------------------------------------------------------------------------------------------ */

static int compare_ids(const struct workload *a, uint32_t i, const struct workload *b, uint32_t j)
{
    return text_compare_natural(a->id_text + a->id_at[i], a->id_at[i + 1] - a->id_at[i], b->id_text + b->id_at[j],
                                b->id_at[j + 1] - b->id_at[j]);
}

static int by_id(const void *x, const void *y, void *workload)
{
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    int c = compare_ids(workload, i, workload, j);
    return c != 0 ? c : (i > j) - (i < j);
}

/* other[i] = the rank in B of job i of A, NAMES_NONE: none. Returns how many are matched. */
static uint32_t match(const struct workload *a, const struct workload *b, uint32_t *sorted_a, uint32_t *sorted_b,
                      uint32_t *other)
{
    struct workload view_a = *a, view_b = *b;
    for (uint32_t i = 0; i < a->n_jobs; i++) {
        sorted_a[i] = i;
        other[i] = NAMES_NONE;
    }
    for (uint32_t j = 0; j < b->n_jobs; j++)
        sorted_b[j] = j;
    qsort_r(sorted_a, a->n_jobs, sizeof *sorted_a, by_id, &view_a);
    qsort_r(sorted_b, b->n_jobs, sizeof *sorted_b, by_id, &view_b);
    uint32_t matched = 0;
    for (uint32_t i = 0, j = 0; i < a->n_jobs && j < b->n_jobs;) {
        int c = compare_ids(a, sorted_a[i], b, sorted_b[j]);
        if (c == 0) {
            other[sorted_a[i]] = sorted_b[j];
            matched++;
        }
        i += c <= 0;
        j += c >= 0;
    }
    return matched;
}

static void compare_jobs(struct comparison *out, const struct workload *a, uint32_t i, const struct workload *b,
                         uint32_t j)
{
    size_t n;
    const struct column *columns = columns_table(&n);
    bool is_same = true;
    for (uint32_t c = 0; c < out->n_columns; c++) {
        struct compare_column *column = &out->columns[c];
        double by = difference(out, &columns[c], a, i, b, j);
        if (by <= 0)
            continue;
        is_same = false;
        if (column->jobs++ == 0) {
            column->a = i;
            column->b = j;
        }
        if (isnan(by) || by > column->largest)
            column->largest = by;
    }
    if (is_same)
        return;
    out->differing++;
    if (out->first_a == NAMES_NONE) {
        out->first_a = i;
        out->first_b = j;
    }
}

static void find_only_b(struct comparison *out, const struct workload *b, const uint32_t *other, uint32_t n_a,
                        bool *is_matched)
{
    for (uint32_t i = 0; i < n_a; i++)
        if (other[i] != NAMES_NONE)
            is_matched[other[i]] = true;
    for (uint32_t j = 0; j < b->n_jobs; j++) {
        if (is_matched[j])
            continue;
        if (out->only_b++ == 0)
            out->first_only_b = j;
    }
}

int trace_compare(struct comparison *out, const struct workload *a, const struct workload *b, enum compare_by by,
                  struct error *err)
{
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    *out = (struct comparison){.are_dated = a->has_origin && b->has_origin,
                               .first_only_a = NAMES_NONE,
                               .first_only_b = NAMES_NONE,
                               .first_a = NAMES_NONE,
                               .first_b = NAMES_NONE,
                               .n_columns = (uint32_t)(n_columns < COMPARE_COLUMNS ? n_columns : COMPARE_COLUMNS)};
    for (uint32_t c = 0; c < out->n_columns; c++)
        out->columns[c].name = columns[c].name;
    uint32_t *sorted_a = malloc(((size_t)a->n_jobs + 1) * sizeof *sorted_a);
    uint32_t *sorted_b = malloc(((size_t)b->n_jobs + 1) * sizeof *sorted_b);
    uint32_t *other = malloc(((size_t)a->n_jobs + 1) * sizeof *other);
    bool *is_matched = calloc((size_t)b->n_jobs + 1, sizeof *is_matched);
    bool ok = sorted_a != NULL && sorted_b != NULL && other != NULL && is_matched != NULL;
    if (ok) {
        bool has_common = by != COMPARE_BY_RANK && match(a, b, sorted_a, sorted_b, other) > 0;
        out->is_by_rank = by == COMPARE_BY_RANK || (by == COMPARE_BY_ANY && !has_common);
        for (uint32_t i = 0; i < a->n_jobs; i++) {
            if (out->is_by_rank)
                other[i] = i < b->n_jobs ? i : NAMES_NONE;
            if (other[i] != NAMES_NONE) {
                out->matched++;
                compare_jobs(out, a, i, b, other[i]);
            } else if (out->only_a++ == 0) {
                out->first_only_a = i;
            }
        }
        find_only_b(out, b, other, a->n_jobs, is_matched);
    }
    free(sorted_a);
    free(sorted_b);
    free(other);
    free(is_matched);
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory for comparing traces");
}

const char *compare_value(const struct comparison *c, uint32_t column, const struct workload *w, uint32_t job,
                          char out[COMPARE_VALUE])
{
    size_t n;
    const struct column *what = &columns_table(&n)[column];
    snprintf(out, COMPARE_VALUE, "-");
    if (what->names_at >= 0) {
        const char *text = name_of(w, what, job);
        if (text[0] != '\0')
            snprintf(out, COMPARE_VALUE, "%.*s", COMPARE_VALUE - 1, text);
        return out;
    }
    if (is_real(what)) {
        snprintf(out, COMPARE_VALUE, "%g", real_of(w, job));
        return out;
    }
    int64_t v = value_of(w, what, job);
    if (is_status(what))
        snprintf(out, COMPARE_VALUE, "%s", trace_status_text((enum trace_status)v));
    else if (v != WORKLOAD_ABSENT && is_moment(what))
        snprintf(out, COMPARE_VALUE, "%.3f s", (double)moment_of(c, w, v) / 1e9);
    else if (v != WORKLOAD_ABSENT && is_span(what))
        snprintf(out, COMPARE_VALUE, "%.9g s", (double)v / 1e9);
    else if (v != WORKLOAD_ABSENT)
        snprintf(out, COMPARE_VALUE, "%" PRId64, v);
    return out;
}

#include "cluster/quota_file.h"

#include "base/number.h"
#include "cluster/sheet.h"

#include <string.h>

enum { TIME, GPUS };

/* The columns of time and of `vc`'s quota, and whether times are dates. */
static int quota_header(struct sheet *s, struct vc_spec *vc)
{
    vc->changes_are_dates = sheet_header_is(s, 0, "date");
    if (!vc->changes_are_dates && !sheet_header_is(s, 0, "time"))
        return sheet_error(s, 0, "the first column of a file of quotas",
                           "'date' (days or moments in UTC) or 'time' (seconds from time 0)");
    s->column[TIME] = 0;
    s->column[GPUS] = UINT32_MAX;
    for (uint32_t i = 1; i < s->csv.n_fields; i++)
        if (sheet_field_is(s, i, vc->name)) {
            if (s->column[GPUS] != UINT32_MAX)
                return sheet_error(s, i, "a second column", "each virtual cluster one column");
            s->column[GPUS] = i;
        }
    if (s->column[GPUS] == UINT32_MAX)
        s->column[GPUS] = sheet_header_find(s, "gpus");
    if (s->column[GPUS] != UINT32_MAX)
        return BRAID_OK;

    const char **names = ARENA_NEW(s->arena, const char *, s->csv.n_fields);
    if (names == NULL)
        return sheet_out_of_memory(s->err);
    for (uint32_t i = 0; i < s->csv.n_fields; i++)
        if ((names[i] = arena_text(s->arena, s->csv.fields[i].text, s->csv.fields[i].n)) == NULL)
            return sheet_out_of_memory(s->err);
    const char *near = text_nearest(vc->name, names + 1, s->csv.n_fields - 1);
    return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                    "no column is named '%s' as the virtual cluster, and none 'gpus'%s%s%s", vc->name,
                    near != NULL ? "; did you mean '" : "; add it", near != NULL ? near : "", near != NULL ? "'?" : "");
}

static int quota_row(struct sheet *s, const struct vc_spec *vc, struct vc_change *out)
{
    int64_t gpus = 0;
    struct csv_field f = s->csv.fields[0];
    bool is_time = vc->changes_are_dates ? number_parse_datetime(f.text, f.n, &out->at_ns)
                                         : number_parse_scaled(f.text, f.n, NS_PER_S, &out->at_ns);
    if (!is_time)
        return sheet_error(s, 0, "the time", vc->changes_are_dates ? "a date as 2020-04-01" : "a number of seconds");
    int status = sheet_number(s, GPUS, "the quota", 1, 0, INT32_MAX, &gpus);
    out->gpus = (uint32_t)gpus;
    return status;
}

static int read_quota(struct vc_spec *vc, struct sheet *s)
{
    bool has_row;
    int64_t last_ns = INT64_MIN;
    uint64_t n_rows = 0;
    int status = csv_next(&s->csv, &has_row, s->err);
    if (status == BRAID_OK && !has_row)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, 0, 0, "the file is empty; give a header and rows");
    if (status == BRAID_OK)
        status = quota_header(s, vc);
    while (status == BRAID_OK) {
        struct vc_change change;
        status = sheet_next(s, GPUS + 1, &has_row);
        if (status != BRAID_OK || !has_row)
            break;
        status = quota_row(s, vc, &change);
        if (status != BRAID_OK)
            break;
        if (n_rows++ > 0 && change.at_ns <= last_ns)
            return sheet_error(s, 0, "the time", "rows in ascending order of time, each time once");
        last_ns = change.at_ns;
        if (vc->n_changes > 0 && vc->changes[vc->n_changes - 1].gpus == change.gpus)
            continue;
        struct vc_change *changes = sheet_append(s->arena, vc->changes, vc->n_changes, sizeof change, &change);
        if (changes == NULL)
            return sheet_out_of_memory(s->err);
        vc->changes = changes;
        vc->n_changes++;
    }
    if (status == BRAID_OK && n_rows == 0)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                        "no rows behind the header; add the quotas");
    return status;
}

int quota_file_load(struct vc_spec *vc, struct arena *a, struct error *err)
{
    struct sheet s;
    vc->changes = NULL;
    vc->n_changes = 0;
    int status = sheet_open(&s, vc->changes_path, vc->changes_shown, a, err);
    if (status != BRAID_OK)
        return status;
    status = read_quota(vc, &s);
    sheet_close(&s);
    return status;
}

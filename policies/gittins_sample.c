#include "policies/gittins_sample.h"

#include "base/number.h"
#include "cluster/sheet.h"

#include <stdlib.h>

bool gittins_sample_push(struct gittins_sample *x, int64_t value)
{
    if (x->n == x->room) {
        size_t room = x->room * 2 + 1024;
        int64_t *grown = realloc(x->values, room * sizeof *grown);
        if (grown == NULL)
            return false;
        x->values = grown;
        x->room = room;
    }
    x->values[x->n++] = value;
    return true;
}

int gittins_sample_trace(struct gittins_sample *x, struct sched *s, bool by_gpu_time, struct error *err)
{
    uint32_t n = sched_n_jobs(s);
    for (uint32_t job = 0; job < n; job++) {
        int64_t duration = 0, service;
        sched_duration_ns(s, job, &duration);
        if (__builtin_mul_overflow(duration, by_gpu_time ? (int64_t)sched_gpus(s, job) : 1, &service))
            service = INT64_MAX / 4;
        if (!gittins_sample_push(x, service))
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

/* The row in hand: a value, or in the first one the header. */
static int sample_row(struct gittins_sample *x, struct sheet *s, bool is_first)
{
    int64_t value;
    struct csv_field f = sheet_field(s, 0);
    if (is_first && sheet_header_is(s, 0, "duration"))
        return BRAID_OK;
    if (s->csv.n_fields != 1 || !number_parse_scaled(f.text, f.n, NS_PER_S, &value) || value < 0)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 1,
                        "expected one service time in seconds (the file has the single column 'duration')");
    return gittins_sample_push(x, value) ? BRAID_OK : error_set(s->err, BRAID_FAILED, "out of memory");
}

int gittins_sample_file(struct gittins_sample *x, const char *path, struct error *err)
{
    struct sheet s;
    bool has_row = true;
    int code = sheet_open(&s, path, NULL, NULL, err);
    if (code != BRAID_OK)
        return code;
    for (bool is_first = true; code == BRAID_OK; is_first = false) {
        code = csv_next(&s.csv, &has_row, err);
        if (code != BRAID_OK || !has_row)
            break;
        code = sample_row(x, &s, is_first);
    }
    if (code == BRAID_OK && x->n == 0)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "holds no values below its header 'duration'");
    sheet_close(&s);
    return code;
}

#include "traces/csv_values.h"

#include "base/number.h"
#include "traces/job_end.h"

bool csv_is_missing(struct csv_field f)
{
    static const char *const words[] = {"None", "none", "null", "NULL", "NaN", "nan", "NaT", "NA", "N/A", "n/a", "-"};
    if (f.n == 0)
        return true;
    if (f.text[0] >= '0' && f.text[0] <= '9')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (csv_is_text(f, words[i]))
            return true;
    return false;
}

/* Most values have few digits, and a scale that takes every one of them to a whole number: those need no general parser. */
static bool parse_scaled(struct csv_field f, int64_t scale, int64_t *out)
{
    int64_t v = 0, unit = 0; /* unit: what the last digit counts for, once there was a point */
    if (f.n == 0 || f.n > 18)
        return number_parse_scaled(f.text, f.n, scale, out);
    for (size_t i = 0; i < f.n; i++) {
        unsigned digit = (unsigned)(unsigned char)f.text[i] - '0';
        bool is_point = f.text[i] == '.' && unit == 0 && f.n > 1;
        if (is_point) {
            unit = scale;
            continue;
        }
        if (digit > 9 || (unit != 0 && unit % 10 != 0))
            return number_parse_scaled(f.text, f.n, scale, out);
        v = v * 10 + (int64_t)digit;
        unit /= 10;
    }
    return !__builtin_mul_overflow(v, unit != 0 ? unit : scale, out);
}

static bool is_date(struct csv_field f)
{
    return f.n >= 10 && f.text[4] == '-' && f.text[7] == '-';
}

static void optional_fault(struct csv_values *v)
{
    rows_blame(v->rows, ROW_BAD_OPTIONAL, &v->row, v->use->name, (struct trace_text){v->field.text, v->field.n});
}

static void fault(struct csv_values *v, const struct csv_use *u, enum trace_reason why)
{
    if (!u->is_needed)
        optional_fault(v);
    else if (v->row.fault == ROW_FINE) {
        v->row.fault = why;
        v->row.fault_column = u->name;
        v->row.fault_value = (struct trace_text){v->field.text, v->field.n};
    }
}

/* A time of the trace's clock: a date, or a number in the column's unit. The submission, which comes first, says which. */
static void take_time(struct csv_values *v, const struct csv_use *u, struct csv_field f, int64_t *out)
{
    if (csv_is_missing(f))
        return;
    bool dated = is_date(f);
    bool ok = dated ? number_parse_datetime(f.text, f.n, out) : parse_scaled(f, u->unit, out);
    if (ok && *out == 0 && v->format->zero_is_missing) {
        *out = WORKLOAD_ABSENT;
        return;
    }
    if (ok && u->of == OF_SUBMIT)
        v->row.is_dated = dated;
    if (ok && dated)
        v->row.zones |= number_has_zone(f.text, f.n) ? ZONES_SAID : ZONES_ABSENT;
    if (ok && dated == v->row.is_dated)
        return;
    *out = WORKLOAD_ABSENT;
    fault(v, u, dated || memchr(f.text, ':', f.n) != NULL ? ROW_BAD_DATE : ROW_BAD_NUMBER);
}

static void take_number(struct csv_values *v, const struct csv_use *u, struct csv_field f, int64_t scale, int64_t *out)
{
    if (csv_is_missing(f) || (parse_scaled(f, scale, out) && *out != WORKLOAD_ABSENT))
        return;
    *out = WORKLOAD_ABSENT;
    fault(v, u, ROW_BAD_NUMBER);
}

static void refuse_negative(struct csv_values *v, const struct csv_use *u, int64_t *out)
{
    if (*out == WORKLOAD_ABSENT || *out >= 0)
        return;
    *out = WORKLOAD_ABSENT;
    fault(v, u, ROW_BAD_NUMBER);
}

static void take_amount(struct csv_values *v, const struct csv_use *u, struct csv_field f, int64_t *out)
{
    take_number(v, u, f, u->unit, out);
    refuse_negative(v, u, out);
}

static void take_whole(struct csv_values *v, const struct csv_use *u, struct csv_field f, int64_t *out)
{
    if (csv_is_missing(f))
        return;
    int64_t milli;
    if (!parse_scaled(f, 1000, &milli) || milli % 1000 != 0)
        fault(v, u, ROW_BAD_NUMBER);
    else
        *out = milli / 1000;
}

static void take_cpus(struct csv_values *v, const struct csv_use *u, struct csv_field f)
{
    int64_t milli = 0;
    if (csv_is_missing(f))
        return;
    if (!parse_scaled(f, u->unit != 0 ? u->unit : 1000, &milli) || milli < 0 || milli > UINT32_MAX)
        optional_fault(v);
    else
        v->row.cpu_milli = (uint32_t)milli;
}

static void take_memory(struct csv_values *v, const struct csv_use *u, struct csv_field f, uint64_t *out_kib)
{
    int64_t bytes = 0;
    if (csv_is_missing(f))
        return;
    bool ok = u->unit == 0 ? number_parse_size(f.text, f.n, out_kib) : parse_scaled(f, u->unit, &bytes) && bytes >= 0;
    if (!ok)
        optional_fault(v);
    else if (u->unit != 0)
        *out_kib = (uint64_t)bytes / 1024;
}

/* A count that fits 32 bits; `out` stays where it is missing. */
static void take_u32(struct csv_values *v, const struct csv_use *u, struct csv_field f, uint32_t *out)
{
    int64_t whole = WORKLOAD_ABSENT;
    take_whole(v, u, f, &whole);
    if (whole >= 0 && whole <= UINT32_MAX)
        *out = (uint32_t)whole;
    else if (whole != WORKLOAD_ABSENT)
        fault(v, u, ROW_BAD_NUMBER);
}

static void take_share(struct csv_values *v, const struct csv_use *u, struct csv_field f)
{
    if (v->row.gpus_milli == 0) /* of no GPU, any share */
        return;
    take_u32(v, u, f, &v->row.gpu_milli);
    if (v->row.gpu_milli >= 1 && v->row.gpu_milli <= 1000)
        return;
    v->row.gpu_milli = 1000;
    fault(v, u, ROW_BAD_NUMBER);
}

/* 100 is one GPU. What is no whole number of GPUs becomes the next one, of which it asks an equal share of each: 150 is 750 milli of 2. */
static void take_percent(struct csv_values *v, const struct csv_use *u, struct csv_field f)
{
    int64_t milli = WORKLOAD_ABSENT;
    take_number(v, u, f, 10, &milli);
    if (milli > INT64_MAX / 2) {
        fault(v, u, ROW_BAD_NUMBER);
        return;
    }
    if (milli <= 0) { /* none, fewer than none, or not said */
        v->row.gpus_milli = milli;
        return;
    }
    int64_t gpus = milli / 1000 + (milli % 1000 != 0);
    v->row.gpus_milli = gpus * 1000;
    v->row.gpu_milli = (uint32_t)((milli + gpus / 2) / gpus);
}

/* "159-189-229" */
static void take_deadlines(struct csv_values *v, const struct csv_use *u, struct csv_field f)
{
    const char *dash = f.n > 1 ? memchr(f.text + 1, '-', f.n - 1) : NULL;
    if (csv_is_missing(f))
        return;
    v->row.has_several_deadlines = dash != NULL;
    if (dash != NULL)
        f.n = (size_t)(dash - f.text);
    take_amount(v, u, f, &v->row.deadline_after_ns);
}

static void take_status(struct csv_values *v, struct csv_field f)
{
    for (const struct csv_status *s = v->format->statuses; s != NULL && s->text != NULL; s++)
        if (csv_is_text(f, s->text)) {
            v->row.status = s->status;
            return;
        }
    const struct job_end found = job_end_find(f.text, f.n); /* a word that this log has not, but others do */
    v->row.status = found.status;
    if ((!found.is_known || found.is_waiting || found.is_running) && !csv_is_missing(f))
        rows_blame(v->rows, ROW_UNKNOWN_STATUS, &v->row, v->use->name, (struct trace_text){f.text, f.n});
}

void csv_take(struct csv_values *v, const struct csv_use *u, struct csv_field field)
{
    struct trace_row *row = &v->row;
    struct csv_field f = csv_trimmed(field);
    v->use = u;
    v->field = f;
    struct trace_text text = {f.text, f.n};
    switch (u->of) {
    case OF_NOTHING:
        break;
    case OF_ID:
        row->id = text;
        break;
    case OF_SUBMIT:
        take_time(v, u, f, &row->submit_ns);
        break;
    case OF_START:
        take_time(v, u, f, &row->start_ns);
        break;
    case OF_END:
        take_time(v, u, f, &row->end_ns);
        break;
    case OF_DEADLINE:
        take_time(v, u, f, &row->deadline_ns);
        break;
    case OF_GPUS:
        take_number(v, u, f, 1000, &row->gpus_milli);
        break;
    case OF_DURATION:
        take_number(v, u, f, u->unit, &row->duration_ns);
        break;
    case OF_ESTIMATE:
        take_amount(v, u, f, &row->estimate_ns);
        break;
    case OF_VC:
        row->vc = text;
        break;
    case OF_USER:
        row->user = text;
        break;
    case OF_NAME:
        row->name = text;
        break;
    case OF_DEPENDS:
        row->depends = text;
        break;
    case OF_MODEL:
        row->model = text;
        break;
    case OF_GPU_TYPE:
        row->gpu_type = text;
        break;
    case OF_STATUS:
        take_status(v, f);
        break;
    case OF_PRIORITY:
        if (!csv_is_missing(f) && !number_parse_double(f.text, f.n, &row->priority))
            optional_fault(v);
        break;
    case OF_CPUS:
        take_cpus(v, u, f);
        break;
    case OF_GPU_MEMORY:
        take_memory(v, u, f, &v->row.gpu_mem_kib);
        break;
    case OF_MEMORY:
        take_memory(v, u, f, &v->row.mem_kib);
        break;
    case OF_GPU_MILLI:
        if (!csv_is_missing(f))
            take_share(v, u, f);
        break;
    case OF_GPU_PERCENT:
        take_percent(v, u, f);
        break;
    case OF_COPIES:
        take_whole(v, u, f, &row->copies);
        refuse_negative(v, u, &row->copies);
        break;
    case OF_BATCH:
        take_u32(v, u, f, &row->batch);
        break;
    case OF_DEADLINES:
        take_deadlines(v, u, f);
        break;
    case OF_SLO:
        if (!csv_is_missing(f) && !number_parse_double(f.text, f.n, &row->slo))
            optional_fault(v);
        break;
    case OF_BEST_EFFORT:
        row->is_best_effort = !csv_is_missing(f) && !csv_is_text(f, "0") && !csv_is_text(f, "False");
        break;
    case OF_ORDER:
        take_whole(v, u, f, &row->order);
        break;
    case OF_ITERATIONS:
        take_whole(v, u, f, &row->iterations);
        refuse_negative(v, u, &row->iterations);
        break;
    case OF_ITERATION_TIME:
        take_amount(v, u, f, &row->iteration_ns);
        break;
    case OF_STAGE_STORAGE:
    case OF_STAGE_CPU:
    case OF_STAGE_GPU:
    case OF_STAGE_NETWORK:
        take_amount(v, u, f, &row->stage_ns[u->of - OF_STAGE_STORAGE]);
        break;
    }
}

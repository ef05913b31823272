/* The raw trace of Microsoft's Philly clusters, one JSON array of jobs with their attempts (docs/formats/philly-json.md).
 *
 *   depth  1 [  2 {job  3 attempts [  4 {attempt  5 detail [  6 {machine  7 gpus [ "gpu0", …
 *
 * The text is parsed as it streams by (YAJL); a job is all that is held. Nesting is limited, and so is the length of one value, so
 * that no file makes the memory grow.
 */
#include "base/number.h"
#include "traces/json.h"
#include "traces/reader.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 32, TEXT_LIMIT = 4096 };

enum job_key {
    KEY_OTHER,
    KEY_ID,
    KEY_USER,
    KEY_VC,
    KEY_STATUS,
    KEY_SUBMITTED,
    KEY_ATTEMPTS,
    KEY_START,
    KEY_END,
    KEY_DETAIL,
    KEY_GPUS
};

static const struct {
    const char *text;
    int depth; /* of the object that it is a key of */
    enum job_key key;
} keys[] = {
    {"jobid", 2, KEY_ID},
    {"user", 2, KEY_USER},
    {"vc", 2, KEY_VC},
    {"status", 2, KEY_STATUS},
    {"submitted_time", 2, KEY_SUBMITTED},
    {"attempts", 2, KEY_ATTEMPTS},
    {"start_time", 4, KEY_START},
    {"end_time", 4, KEY_END},
    {"detail", 4, KEY_DETAIL},
    {"gpus", 6, KEY_GPUS},
};

struct text_store {
    char at[TEXT_LIMIT];
    size_t n;
};

struct parse {
    struct json json;
    struct rows *rows;
    enum trace_failed failed;
    enum job_key path[DEPTH_LIMIT + 1]; /* the key under which each depth was opened */
    enum job_key key;                   /* the last key seen */

    struct trace_row row;
    struct text_store id, user, vc, value;
    /* attempts of the present job */
    uint64_t n_attempts, n_without_times;
    int64_t first_start_ns, last_end_ns, sum_ns; /* least start, greatest end, sum over attempts with both */
    bool first_lacks_start, last_has_start, last_lacks_end, has_sum, sum_is_large;
    int64_t attempt_start_ns, attempt_end_ns;
    uint64_t gpus, attempt_gpus; /* of the first attempt that has some */
    bool has_bad_attempt;
};

static bool is_job(const struct parse *p)
{
    return p->json.depth == 2;
}

static bool is_attempt(const struct parse *p)
{
    return p->json.depth == 4 && p->path[3] == KEY_ATTEMPTS;
}

static void job_begin(struct parse *p)
{
    row_clear(&p->row);
    p->row.line = json_line(&p->json);
    p->row.is_dated = true;
    p->id.n = p->user.n = p->vc.n = 0;
    p->n_attempts = p->n_without_times = 0;
    p->first_start_ns = p->last_end_ns = WORKLOAD_ABSENT;
    p->sum_ns = 0;
    p->first_lacks_start = p->last_has_start = p->last_lacks_end = p->has_sum = p->sum_is_large = p->has_bad_attempt =
        false;
    p->gpus = 0;
}

static void attempt_begin(struct parse *p)
{
    p->attempt_start_ns = p->attempt_end_ns = WORKLOAD_ABSENT;
    p->attempt_gpus = 0;
}

static void attempt_end(struct parse *p)
{
    int64_t start_ns = p->attempt_start_ns, end_ns = p->attempt_end_ns;
    bool has_start = start_ns != WORKLOAD_ABSENT, has_end = end_ns != WORKLOAD_ABSENT;
    if (p->n_attempts++ == 0)
        p->first_lacks_start = !has_start;
    p->last_has_start = has_start;
    p->last_lacks_end = !has_end;
    if (has_start && (p->first_start_ns == WORKLOAD_ABSENT || start_ns < p->first_start_ns))
        p->first_start_ns = start_ns;
    if (has_end && (p->last_end_ns == WORKLOAD_ABSENT || end_ns > p->last_end_ns))
        p->last_end_ns = end_ns;
    if (has_start && has_end) {
        p->has_bad_attempt |= end_ns < start_ns;
        p->has_sum = true;
        p->sum_is_large |= __builtin_add_overflow(p->sum_ns, end_ns - start_ns, &p->sum_ns);
    } else {
        p->n_without_times++;
    }
    if (p->gpus == 0)
        p->gpus = p->attempt_gpus;
}

/* By default a job lasts from its first start to its last end, the waiting between attempts included; merged, the sum of its attempts.
 * A first attempt without a start or a last one without an end leaves the first of the two unknown. */
static int job_end(struct parse *p)
{
    struct trace_row *row = &p->row;
    row->id = (struct trace_text){p->id.at, p->id.n};
    row->user = (struct trace_text){p->user.at, p->user.n};
    row->vc = (struct trace_text){p->vc.at, p->vc.n};
    row->raw = row->id;
    row->gpus_milli = p->gpus > INT64_MAX / 1000 ? INT64_MAX : (int64_t)p->gpus * 1000;
    row->start_ns = p->first_lacks_start ? WORKLOAD_ABSENT : p->first_start_ns;
    if (p->failed == TRACE_FAILED_MERGE_ATTEMPTS) {
        row->start_ns = p->first_start_ns;
        if (p->has_sum)
            row->duration_ns = p->sum_ns;
        if (p->sum_is_large && row->fault == ROW_FINE)
            row->fault = ROW_TOO_LARGE;
        if (p->has_bad_attempt && row->fault == ROW_FINE)
            row->fault = ROW_END_BEFORE_START;
    } else {
        row->end_ns = p->last_lacks_end ? WORKLOAD_ABSENT : p->last_end_ns;
        if (row->fault == ROW_FINE && row->submit_ns != WORKLOAD_ABSENT && row->gpus_milli > 0 &&
            row->start_ns != WORKLOAD_ABSENT && p->last_has_start && p->last_lacks_end)
            row->fault = ROW_STILL_RUNNING;
    }
    uint32_t kept = p->rows->w.n_jobs;
    p->json.code = rows_add(p->rows, row, p->json.err);
    if (p->json.code != BRAID_OK)
        return 0;
    if (p->rows->w.n_jobs > kept && p->n_without_times > 0 && p->failed == TRACE_FAILED_MERGE_ATTEMPTS)
        rows_count(p->rows, ROW_ATTEMPT_WITHOUT_TIMES, p->n_without_times, row->line, row->id.at, row->id.n);
    return 1;
}

/* ---- what YAJL calls ------------------------------------------------------------------------------------------ */

static int open_level(struct parse *p)
{
    if (!json_open(&p->json))
        return 0;
    p->path[p->json.depth] = p->key;
    p->key = KEY_OTHER;
    return 1;
}

static int on_start_map(void *self)
{
    struct parse *p = self;
    if (!open_level(p))
        return 0;
    if (p->json.depth == 1)
        return json_refuse(&p->json, "a Philly job log is a JSON array of jobs; this is an object");
    if (is_job(p))
        job_begin(p);
    else if (is_attempt(p))
        attempt_begin(p);
    return 1;
}

static int on_end_map(void *self)
{
    struct parse *p = self;
    if (is_job(p) && !job_end(p))
        return 0;
    if (is_attempt(p))
        attempt_end(p);
    json_close(&p->json);
    return 1;
}

static int on_start_array(void *self)
{
    struct parse *p = self;
    bool is_row = p->json.depth == 1;
    if (!open_level(p))
        return 0;
    if (!is_row)
        return 1;
    return json_refuse(&p->json, "each job of a Philly job log is a JSON object; this is an array");
}

static int on_end_array(void *self)
{
    json_close(&((struct parse *)self)->json);
    return 1;
}

static int on_key(void *self, const unsigned char *text, size_t n)
{
    struct parse *p = self;
    json_value(&p->json);
    p->key = KEY_OTHER;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].depth == p->json.depth && strlen(keys[i].text) == n && memcmp(keys[i].text, text, n) == 0)
            p->key = keys[i].key;
    return 1;
}

static int store(struct parse *p, struct text_store *out, const char *text, size_t n)
{
    if (n > sizeof out->at || memchr(text, '\0', n) != NULL)
        return json_refuse(&p->json, "a name of more than 4096 bytes, or with a NUL character");
    memcpy(out->at, text, n);
    out->n = n;
    return 1;
}

static bool is_none(const char *text, size_t n)
{
    return n == 0 || (n == 4 && (memcmp(text, "None", 4) == 0 || memcmp(text, "null", 4) == 0));
}

static void time_fault(struct parse *p, const char *text, size_t n)
{
    static const char *const names[] = {
        [KEY_SUBMITTED] = "submitted_time", [KEY_START] = "start_time", [KEY_END] = "end_time"};
    if (p->row.fault != ROW_FINE)
        return;
    p->row.fault = ROW_BAD_DATE;
    p->row.fault_column = names[p->key];
    p->value.n = n < sizeof p->value.at ? n : sizeof p->value.at; /* the text is gone when the row is added */
    memcpy(p->value.at, text, p->value.n);
    p->row.fault_value = (struct trace_text){p->value.at, p->value.n};
}

static void take_time(struct parse *p, const char *text, size_t n, int64_t *out)
{
    if (is_none(text, n))
        return;
    if (number_parse_datetime(text, n, out))
        p->row.zones |= number_has_zone(text, n) ? ZONES_SAID : ZONES_ABSENT;
    else
        time_fault(p, text, n);
}

static int job_text(struct parse *p, const char *text, size_t n)
{
    struct trace_row *row = &p->row;
    switch (p->key) {
    case KEY_ID:
        return store(p, &p->id, text, n);
    case KEY_USER:
        return store(p, &p->user, text, is_none(text, n) ? 0 : n);
    case KEY_VC:
        return store(p, &p->vc, text, is_none(text, n) ? 0 : n);
    case KEY_SUBMITTED:
        take_time(p, text, n, &row->submit_ns);
        return 1;
    case KEY_STATUS:
        if (n == 4 && memcmp(text, "Pass", 4) == 0)
            row->status = TRACE_PASSED;
        else if (n == 6 && memcmp(text, "Killed", 6) == 0)
            row->status = TRACE_KILLED;
        else if (n == 6 && memcmp(text, "Failed", 6) == 0)
            row->status = TRACE_FAILED;
        else if (!is_none(text, n))
            rows_blame(p->rows, ROW_UNKNOWN_STATUS, row, "status", (struct trace_text){text, n});
        return 1;
    default:
        return 1;
    }
}

static int on_string(void *self, const unsigned char *bytes, size_t n)
{
    struct parse *p = self;
    const char *text = (const char *)bytes;
    json_value(&p->json);
    if (is_job(p))
        return job_text(p, text, n);
    if (is_attempt(p) && p->key == KEY_START)
        take_time(p, text, n, &p->attempt_start_ns);
    else if (is_attempt(p) && p->key == KEY_END)
        take_time(p, text, n, &p->attempt_end_ns);
    else if (p->json.depth == 7 && p->path[7] == KEY_GPUS && p->path[5] == KEY_DETAIL && p->path[3] == KEY_ATTEMPTS)
        p->attempt_gpus++;
    else if (p->json.depth == 1)
        return json_refuse(&p->json, "each job of a Philly job log is a JSON object; this is a string");
    return 1;
}

/* null is a missing time or name; a number is none of what a job log has, and ignored where the log has none. */
static int on_null(void *self)
{
    json_value(&((struct parse *)self)->json);
    return 1;
}

static int on_boolean(void *self, int value)
{
    (void)value;
    json_value(&((struct parse *)self)->json);
    return 1;
}

static int on_number(void *self, const char *text, size_t n)
{
    struct parse *p = self;
    json_value(&p->json);
    if (is_job(p) && p->key == KEY_ID) /* an id is text whatever it looks like */
        return store(p, &p->id, text, n);
    if (is_job(p) && p->key == KEY_VC)
        return store(p, &p->vc, text, n);
    if (is_job(p) && p->key == KEY_USER)
        return store(p, &p->user, text, n);
    bool is_time =
        (is_job(p) && p->key == KEY_SUBMITTED) || (is_attempt(p) && (p->key == KEY_START || p->key == KEY_END));
    if (is_time)
        time_fault(p, text, n);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

static int philly_json_read(struct trace_input *in, struct rows *out, struct error *err)
{
    struct rows_columns has = {.id = true, .user = true, .status = true, .optional = {.start = true}};
    int code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code != BRAID_OK)
        return code;
    struct parse *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory for reading JSON");
    *p = (struct parse){.rows = out, .failed = in->failed, .json.max_depth = DEPTH_LIMIT};
    code = json_parse(&p->json, &callbacks, p, &in->source, err);
    free(p);
    return code;
}

/* An array, and two of the keys that no other log has together. */
static bool philly_json_is_content(const char *text, size_t n)
{
    return n > 0 && text[0] == '[' &&
           json_mentions(text, n, "jobid") + json_mentions(text, n, "attempts") +
                   json_mentions(text, n, "submitted_time") >=
               2;
}

static const struct trace_wording wording[] = {
    {ROW_NO_GPUS, "no attempt of the job lists a GPU"},
    {ROW_NO_DURATION, "its first attempt has no start, or its last one no end"},
    {ROW_STILL_RUNNING, "its last attempt has a start and no end: it was running when the log was taken"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_philly_json = {
    .name = "philly_json",
    .is_content = philly_json_is_content,
    .summary = "Philly, raw: a JSON array of jobs with their attempts (cluster_job_log)",
    .read = philly_json_read,
    .wording = wording,
};

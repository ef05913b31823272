/* Workloads of the Batsim simulator, JSON (docs/formats/batsim.md).
 *
 *   { "jobs": [ {"id": …, "subtime": s, "res": n, "profile": NAME, "walltime": s}, … ], "profiles": { NAME: {"type": …, …}, … } }
 *
 * A job names a profile, and the profile tells what really happens. Profiles may stand behind the jobs, so the jobs wait in a table until
 * all is read. A profile with a run time of its own (a delay, or a sequence of such) makes a job; one that needs Batsim's model of a
 * platform does not.
 */
#include "base/number.h"
#include "base/text.h"
#include "traces/json.h"
#include "traces/reader.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 32, SEQUENCE_DEPTH_LIMIT = 64, NAME_LIMIT = 4096 };

enum batsim_key {
    KEY_OTHER,
    KEY_JOBS,
    KEY_PROFILES,
    KEY_ID,
    KEY_SUBMIT,
    KEY_RESOURCES,
    KEY_WALLTIME,
    KEY_PROFILE,
    KEY_TYPE,
    KEY_DELAY,
    KEY_SEQUENCE,
    KEY_REPEAT,
    KEY_RETURN
};

enum place { IN_NOTHING, IN_ROOT, IN_JOBS, IN_JOB, IN_PROFILES, IN_PROFILE, IN_SEQUENCE };

static const struct {
    const char *text;
    enum place place;
    enum batsim_key key;
} keys[] = {
    {"jobs", IN_ROOT, KEY_JOBS},       {"profiles", IN_ROOT, KEY_PROFILES}, {"id", IN_JOB, KEY_ID},
    {"subtime", IN_JOB, KEY_SUBMIT},   {"res", IN_JOB, KEY_RESOURCES},      {"walltime", IN_JOB, KEY_WALLTIME},
    {"profile", IN_JOB, KEY_PROFILE},  {"type", IN_PROFILE, KEY_TYPE},      {"delay", IN_PROFILE, KEY_DELAY},
    {"seq", IN_PROFILE, KEY_SEQUENCE}, {"repeat", IN_PROFILE, KEY_REPEAT},  {"ret", IN_PROFILE, KEY_RETURN},
};

struct job {
    uint64_t line, id_at;
    int64_t submit_ns, resources_milli, walltime_ns;
    uint32_t id_n, profile; /* a name; NAMES_NONE: none */
    enum trace_reason fault;
    const char *fault_column; /* a literal */
    char fault_value[32];
};

enum kind { PROFILE_UNKNOWN, PROFILE_DELAY, PROFILE_SEQUENCE };
enum mark { UNSEEN, BUSY, DONE };

/* By name, whether defined yet or not. */
struct profile {
    enum kind kind;
    enum mark mark; /* of the search for its run time */
    bool has_return, is_bad;
    int64_t return_code, repeat;
    int64_t delay_ns, run_ns; /* absent: none */
    uint64_t sequence_at;
    uint32_t sequence_n;
};

struct batsim {
    struct json json;
    struct rows *rows;
    enum place place[DEPTH_LIMIT + 1]; /* what each open level is */
    enum batsim_key key;
    bool has_jobs;
    struct job *jobs;
    size_t n_jobs, jobs_room;
    char *ids;
    size_t ids_used, ids_room;
    struct names names;
    struct profile *profiles; /* names.count of them */
    size_t n_profiles, profiles_room;
    uint32_t profile; /* being read */
    uint32_t *sequences;
    size_t sequences_used, sequences_room;
};

static bool grow(void **array, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return true;
    size_t more = needed * 2 + 64;
    void *grown = realloc(*array, more * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = more;
    return true;
}

/* The number of the profile `text`, new or not; NAMES_NONE with the parse ended: no memory, or no name. */
static uint32_t profile_of(struct batsim *b, const char *text, size_t n)
{
    if (n > NAME_LIMIT || memchr(text, '\0', n) != NULL) {
        json_refuse(&b->json, "a name of more than 4096 bytes, or with a NUL character");
        return NAMES_NONE;
    }
    uint32_t id = names_add(&b->names, text, n);
    void *array = b->profiles;
    if (id == NAMES_NONE || !grow(&array, &b->profiles_room, (size_t)id + 1, sizeof *b->profiles)) {
        json_no_memory(&b->json);
        return NAMES_NONE;
    }
    b->profiles = array;
    if (id >= b->n_profiles) {
        b->profiles[id] = (struct profile){.delay_ns = WORKLOAD_ABSENT, .run_ns = WORKLOAD_ABSENT, .repeat = 1};
        b->n_profiles = (size_t)id + 1;
    }
    return id;
}

/* ---- jobs and profiles as they come ---------------------------------------------------------------------------------- */

static int job_begin(struct batsim *b)
{
    void *array = b->jobs;
    if (!grow(&array, &b->jobs_room, b->n_jobs + 1, sizeof *b->jobs))
        return json_no_memory(&b->json);
    b->jobs = array;
    b->jobs[b->n_jobs++] = (struct job){
        .line = json_line(&b->json),
        .submit_ns = WORKLOAD_ABSENT,
        .resources_milli = WORKLOAD_ABSENT,
        .walltime_ns = WORKLOAD_ABSENT,
        .profile = NAMES_NONE,
    };
    return 1;
}

static int job_id(struct batsim *b, const char *text, size_t n)
{
    struct job *job = &b->jobs[b->n_jobs - 1];
    void *array = b->ids;
    if (n > NAME_LIMIT || memchr(text, '\0', n) != NULL)
        return json_refuse(&b->json, "an id of more than 4096 bytes, or with a NUL character");
    if (!grow(&array, &b->ids_room, b->ids_used + n, 1))
        return json_no_memory(&b->json);
    b->ids = array;
    if (n > 0)
        memcpy(b->ids + b->ids_used, text, n);
    job->id_at = b->ids_used;
    job->id_n = (uint32_t)n;
    b->ids_used += n;
    return 1;
}

static void job_number(struct job *job, const char *column, const char *text, size_t n, int64_t scale, int64_t *out)
{
    if (number_parse_scaled(text, n, scale, out) && *out != WORKLOAD_ABSENT)
        return;
    *out = WORKLOAD_ABSENT;
    if (job->fault != ROW_FINE)
        return;
    job->fault = ROW_BAD_NUMBER;
    job->fault_column = column;
    text_clean(job->fault_value, sizeof job->fault_value, text, n);
}

/* A value of a job, from a number or a string that should be one. */
static int job_value(struct batsim *b, const char *text, size_t n)
{
    struct job *job = &b->jobs[b->n_jobs - 1];
    switch (b->key) {
    case KEY_ID:
        return job_id(b, text, n);
    case KEY_SUBMIT:
        job_number(job, "subtime", text, n, NS_PER_S, &job->submit_ns);
        return 1;
    case KEY_RESOURCES:
        job_number(job, "res", text, n, 1000, &job->resources_milli);
        return 1;
    case KEY_WALLTIME: /* -1, or none at all: no limit */
        if (!number_parse_scaled(text, n, NS_PER_S, &job->walltime_ns)) {
            job->walltime_ns = WORKLOAD_ABSENT;
            const struct trace_row row = {.line = job->line, .raw = {text, n}};
            rows_blame(b->rows, ROW_BAD_OPTIONAL, &row, "walltime", row.raw);
        } else if (job->walltime_ns <= 0) {
            job->walltime_ns = WORKLOAD_ABSENT;
        }
        return 1;
    case KEY_PROFILE:
        job->profile = profile_of(b, text, n);
        return job->profile != NAMES_NONE;
    default:
        return 1;
    }
}

static bool is_text(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

static int profile_value(struct batsim *b, const char *text, size_t n)
{
    struct profile *p = &b->profiles[b->profile];
    switch (b->key) {
    case KEY_TYPE: /* the names of version 4, and those since */
        if (is_text(text, n, "delay") || is_text(text, n, "DelayProfile"))
            p->kind = PROFILE_DELAY;
        else if (is_text(text, n, "composed") || is_text(text, n, "SequentialCompositionProfile"))
            p->kind = PROFILE_SEQUENCE;
        return 1;
    case KEY_DELAY:
        p->is_bad |= !number_parse_scaled(text, n, NS_PER_S, &p->delay_ns);
        return 1;
    case KEY_REPEAT:
        p->is_bad |= !number_parse_i64(text, n, &p->repeat) || p->repeat < 0;
        return 1;
    case KEY_RETURN:
        p->has_return = number_parse_i64(text, n, &p->return_code);
        return 1;
    default:
        return 1;
    }
}

static int sequence_value(struct batsim *b, const char *text, size_t n)
{
    uint32_t part = profile_of(b, text, n);
    void *array = b->sequences;
    if (part == NAMES_NONE)
        return 0;
    if (!grow(&array, &b->sequences_room, b->sequences_used + 1, sizeof *b->sequences))
        return json_no_memory(&b->json);
    b->sequences = array;
    b->sequences[b->sequences_used++] = part;
    b->profiles[b->profile].sequence_n++;
    return 1;
}

/* ---- what YAJL calls --------------------------------------------------------------------------------------------------- */

static enum place place_now(const struct batsim *b)
{
    return b->place[b->json.depth];
}

static int scalar(struct batsim *b, const char *text, size_t n)
{
    json_value(&b->json);
    switch (place_now(b)) {
    case IN_JOB:
        return job_value(b, text, n);
    case IN_PROFILE:
        return profile_value(b, text, n);
    case IN_SEQUENCE:
        return sequence_value(b, text, n);
    case IN_JOBS:
        return json_refuse(&b->json, "each job of a Batsim workload is a JSON object");
    case IN_PROFILES:
        return json_refuse(&b->json, "each profile of a Batsim workload is a JSON object");
    default:
        return 1;
    }
}

static int on_string(void *self, const unsigned char *text, size_t n)
{
    return scalar(self, (const char *)text, n);
}

static int on_number(void *self, const char *text, size_t n)
{
    return scalar(self, text, n);
}

/* null is a value that is missing; no key that is read has true or false for a value. */
static int on_null(void *self)
{
    struct batsim *b = self;
    json_value(&b->json);
    return 1;
}

static int on_boolean(void *self, int value)
{
    (void)value;
    return on_null(self);
}

static int open_level(struct batsim *b, enum place place)
{
    if (!json_open(&b->json))
        return 0;
    b->place[b->json.depth] = place;
    return 1;
}

static int on_start_map(void *self)
{
    struct batsim *b = self;
    enum place at = place_now(b), place = IN_NOTHING;
    if (b->json.depth == 0)
        place = IN_ROOT;
    else if (at == IN_JOBS)
        place = IN_JOB;
    else if (at == IN_ROOT && b->key == KEY_PROFILES)
        place = IN_PROFILES;
    else if (at == IN_PROFILES)
        place = IN_PROFILE;
    if (!open_level(b, place))
        return 0;
    b->key = KEY_OTHER;
    return place == IN_JOB ? job_begin(b) : 1;
}

static int on_start_array(void *self)
{
    struct batsim *b = self;
    enum place at = place_now(b), place = IN_NOTHING;
    if (b->json.depth == 0)
        return json_refuse(&b->json, "a Batsim workload is a JSON object with jobs and profiles; this is an array");
    if (at == IN_JOBS)
        return json_refuse(&b->json, "each job of a Batsim workload is a JSON object; this is an array");
    if (at == IN_ROOT && b->key == KEY_JOBS) {
        place = IN_JOBS;
        b->has_jobs = true;
    } else if (at == IN_PROFILE && b->key == KEY_SEQUENCE) {
        place = IN_SEQUENCE;
        b->profiles[b->profile].sequence_at = b->sequences_used;
        b->profiles[b->profile].sequence_n = 0;
    }
    return open_level(b, place);
}

static int on_end(void *self)
{
    struct batsim *b = self;
    json_close(&b->json);
    b->key = KEY_OTHER;
    return 1;
}

static int on_key(void *self, const unsigned char *bytes, size_t n)
{
    struct batsim *b = self;
    const char *text = (const char *)bytes;
    enum place at = place_now(b);
    json_value(&b->json);
    b->key = KEY_OTHER;
    if (at == IN_PROFILES) {
        b->profile = profile_of(b, text, n);
        return b->profile != NAMES_NONE;
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].place == at && is_text(text, n, keys[i].text))
            b->key = keys[i].key;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

/* ---- all is read: run times, and rows ------------------------------------------------------------------------------------ */

/* Find the run time of profile `id`; absent where Batsim's platform would decide, or where a sequence holds itself. */
static int64_t run_time(struct batsim *b, uint32_t id, int depth)
{
    struct profile *p = &b->profiles[id];
    if (p->mark == DONE)
        return p->run_ns;
    if (p->mark == BUSY || depth == SEQUENCE_DEPTH_LIMIT)
        return WORKLOAD_ABSENT;
    p->mark = BUSY;
    int64_t sum = 0;
    bool is_good = !p->is_bad && p->kind != PROFILE_UNKNOWN;
    if (p->kind == PROFILE_DELAY)
        sum = p->delay_ns;
    for (uint32_t i = 0; p->kind == PROFILE_SEQUENCE && i < p->sequence_n && is_good; i++) {
        int64_t part = run_time(b, b->sequences[p->sequence_at + i], depth + 1);
        is_good = part != WORKLOAD_ABSENT && !__builtin_add_overflow(sum, part, &sum);
    }
    if (p->kind == PROFILE_SEQUENCE && is_good)
        is_good = !__builtin_mul_overflow(sum, p->repeat, &sum);
    p->mark = DONE;
    p->run_ns = is_good ? sum : WORKLOAD_ABSENT;
    return p->run_ns;
}

static int add_rows(struct batsim *b, struct error *err)
{
    for (size_t i = 0; i < b->n_jobs; i++) {
        const struct job *job = &b->jobs[i];
        struct trace_row row;
        row_clear(&row);
        row.line = job->line;
        row.id = (struct trace_text){b->ids != NULL ? b->ids + job->id_at : "", job->id_n};
        row.raw = row.id;
        row.fault = job->fault;
        row.fault_column = job->fault_column;
        row.fault_value = (struct trace_text){job->fault_value, strlen(job->fault_value)};
        row.submit_ns = job->submit_ns;
        row.gpus_milli = job->resources_milli;
        row.estimate_ns = job->walltime_ns;
        if (job->profile != NAMES_NONE) {
            const struct profile *p = &b->profiles[job->profile];
            const char *name = names_text(&b->names, job->profile);
            row.duration_ns = run_time(b, job->profile, 0);
            row.name = (struct trace_text){name, strlen(name)};
            if (p->has_return)
                row.status = p->return_code == 0 ? TRACE_PASSED : TRACE_FAILED;
        }
        uint32_t kept = b->rows->w.n_jobs;
        int code = rows_add(b->rows, &row, err);
        if (code != BRAID_OK)
            return code;
        if (b->rows->w.n_jobs > kept)
            rows_count(b->rows, ROW_PROCESSORS_AS_GPUS, 1, row.line, row.raw.at, row.raw.n);
    }
    return BRAID_OK;
}

static int batsim_read(struct trace_input *in, struct rows *out, struct error *err)
{
    static const struct rows_columns has = {.id = true, .status = true, .optional = {.estimate = true, .name = true}};
    int code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code != BRAID_OK)
        return code;
    struct batsim *b = calloc(1, sizeof *b);
    if (b == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory for reading JSON");
    b->rows = out;
    b->json.max_depth = DEPTH_LIMIT;
    names_init(&b->names);
    code = json_parse(&b->json, &callbacks, b, &in->source, err);
    if (code == BRAID_OK && !b->has_jobs)
        code = error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "is JSON without a list of 'jobs'; a Batsim workload has 'jobs' and 'profiles'");
    if (code == BRAID_OK)
        code = add_rows(b, err);
    names_fini(&b->names);
    free(b->jobs);
    free(b->ids);
    free(b->profiles);
    free(b->sequences);
    free(b);
    return code;
}

/* An object, with the keys that no other workload has. */
static bool batsim_is_content(const char *text, size_t n)
{
    return n > 0 && text[0] == '{' && (json_mentions(text, n, "profiles") || json_mentions(text, n, "subtime"));
}

static const struct trace_wording wording[] = {
    {ROW_NO_DURATION, "its profile has no run time of its own; only delays and sequences of delays have one"},
    {ROW_NO_GPUS, "asks for no resource (res)"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_batsim = {
    .name = "batsim",
    .is_content = batsim_is_content,
    .summary =
        "Batsim: a JSON object with jobs and profiles (a resource is taken as a GPU; run times of delay profiles)",
    .read = batsim_read,
    .wording = wording,
};

/* Accounting files of Grid Engine: SGE, OGS, Son of Grid Engine, Univa (docs/formats/sge.md; man 5 accounting). A line a job, its fields
 * between colons:
 *
 *      0 qname  3 owner  4 job_name  5 job_number  8 submission  9 start  10 end  11 failed  12 exit_status  34 slots  35 task_number
 *     39 category: "-U deptname -l gpu=2,h_rt=86400 -pe smp 8"
 *
 * GPUs stand in the request, the category. A whole number is taken as that of the job; a part of one can only be meant for each slot.
 */
#include "base/number.h"
#include "traces/lines.h"
#include "traces/reader.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIELDS = 40,
    QUEUE = 0,
    OWNER = 3,
    NAME = 4,
    NUMBER = 5,
    SUBMIT = 8,
    START = 9,
    END = 10,
    FAILED = 11,
    EXIT = 12,
    SLOTS = 34,
    TASK = 35,
    CATEGORY = 39,
    ID_SIZE = 64,
    KILLED_AFTER_START = 100
};

struct sge {
    struct rows *rows;
    struct lines lines;
    struct trace_row row;
    struct trace_text fields[FIELDS];
    char id[ID_SIZE];
};

/* The fields up to the category, which takes the rest of the line; their number. */
static int split(struct trace_text line, struct trace_text *fields)
{
    int n = 0;
    for (; n < CATEGORY; n++) {
        const char *colon = line.n > 0 ? memchr(line.at, ':', line.n) : NULL;
        if (colon == NULL)
            return n;
        fields[n] = (struct trace_text){line.at, (size_t)(colon - line.at)};
        line.n -= fields[n].n + 1;
        line.at = colon + 1;
    }
    fields[n++] = line;
    return n;
}

/* The value of resource `name` in "-l a=1,gpu=2 -pe …"; n 0: it is not asked for. */
static struct trace_text request(struct trace_text category, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n < category.n; i++) {
        bool is_begin = i == 0 || category.at[i - 1] == ' ' || category.at[i - 1] == ',';
        if (!is_begin || memcmp(category.at + i, name, n) != 0 || category.at[i + n] != '=')
            continue;
        size_t from = i + n + 1, to = from;
        while (to < category.n && category.at[to] != ',' && category.at[to] != ' ' && category.at[to] != ':')
            to++;
        return (struct trace_text){category.at + from, to - from};
    }
    return (struct trace_text){NULL, 0};
}

static void bad(struct sge *s, bool is_needed, const char *key, struct trace_text value)
{
    if (!is_needed) {
        rows_blame(s->rows, ROW_BAD_OPTIONAL, &s->row, key, value);
    } else if (s->row.fault == ROW_FINE) {
        s->row.fault = ROW_BAD_NUMBER;
        s->row.fault_column = key;
        s->row.fault_value = value;
    }
}

/* Seconds since 1970, of newer versions milliseconds; 0: it never came to that. */
static void take_stamp(struct sge *s, bool is_needed, const char *key, struct trace_text value, int64_t *out)
{
    int64_t number;
    if (!number_parse_i64(value.at, value.n, &number) || number < 0) {
        bad(s, is_needed, key, value);
        return;
    }
    bool is_ms = number > INT64_C(100000000000);
    if (number > 0 && __builtin_mul_overflow(number, is_ms ? 1000000 : NS_PER_S, out)) {
        *out = WORKLOAD_ABSENT;
        bad(s, is_needed, key, value);
    }
}

static void take_gpus(struct sge *s)
{
    static const char *const names[] = {"gpu", "gpus", "ngpus", "num_gpus", "gpu_count", "gpu_card", "cuda"};
    struct trace_text value = {NULL, 0};
    int64_t milli = 0, slots = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && value.n == 0; i++)
        value = request(s->fields[CATEGORY], names[i]);
    bool is_good = value.n == 0 || (number_parse_scaled(value.at, value.n, 1000, &milli) && milli >= 0);
    if (is_good && milli % 1000 != 0)
        is_good = number_parse_i64(s->fields[SLOTS].at, s->fields[SLOTS].n, &slots) && slots > 0 &&
                  !__builtin_mul_overflow(milli, slots, &milli);
    if (is_good)
        s->row.gpus_milli = milli;
    else
        bad(s, true, "category", s->fields[CATEGORY]);
}

static void take_status(struct sge *s)
{
    int64_t failed, code;
    if (!number_parse_i64(s->fields[FAILED].at, s->fields[FAILED].n, &failed) ||
        !number_parse_i64(s->fields[EXIT].at, s->fields[EXIT].n, &code))
        bad(s, false, "exit_status", s->fields[EXIT]);
    else
        s->row.status = failed == KILLED_AFTER_START ? TRACE_KILLED
                        : failed != 0 || code != 0   ? TRACE_FAILED
                                                     : TRACE_PASSED;
}

/* "123", of a task of an array "123.4" */
static void take_id(struct sge *s)
{
    struct trace_text number = s->fields[NUMBER], task = s->fields[TASK];
    s->row.id = number;
    if (task.n == 0 || task.at[0] == '0' || number.n + task.n + 1 > ID_SIZE)
        return;
    memcpy(s->id, number.at, number.n);
    s->id[number.n] = '.';
    memcpy(s->id + number.n + 1, task.at, task.n);
    s->row.id = (struct trace_text){s->id, number.n + task.n + 1};
}

static int read_line(struct sge *s, struct error *err)
{
    struct trace_row *row = &s->row;
    row_clear(row);
    row->line = s->lines.number;
    row->offset = s->lines.offset;
    row->raw = (struct trace_text){s->lines.text, s->lines.n};
    row->is_dated = true;
    if (split(row->raw, s->fields) < FIELDS) {
        row->fault = ROW_SHORT;
        return rows_add(s->rows, row, err);
    }
    if (s->lines.is_cut) {
        int code = rows_note_cut(s->rows, row, true, err);
        if (code != BRAID_OK)
            return code;
    }
    take_id(s);
    row->vc = s->fields[QUEUE];
    row->user = s->fields[OWNER];
    row->name = s->fields[NAME];
    take_stamp(s, true, "submission_time", s->fields[SUBMIT], &row->submit_ns);
    take_stamp(s, true, "start_time", s->fields[START], &row->start_ns);
    take_stamp(s, true, "end_time", s->fields[END], &row->end_ns);
    take_gpus(s);
    take_status(s);
    row->gpu_type = request(s->fields[CATEGORY], "gpu_type");
    struct trace_text limit = request(s->fields[CATEGORY], "h_rt");
    if (limit.n > 0 && !number_parse_span(limit.at, limit.n, &row->estimate_ns))
        bad(s, false, "h_rt", limit);
    if (row->fault == ROW_FINE && row->start_ns == WORKLOAD_ABSENT)
        row->fault = ROW_NEVER_STARTED;
    return rows_add(s->rows, row, err);
}

static int sge_read(struct trace_input *in, struct rows *out, struct error *err)
{
    static const struct rows_columns has = {
        .id = true,
        .user = true,
        .status = true,
        .text = true,
        .optional = {.start = true, .estimate = true, .name = true, .gpu_type = true}};
    struct sge *s = calloc(1, sizeof *s);
    bool has_line = true;
    if (s == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    s->rows = out;
    int code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code == BRAID_OK)
        code = lines_init(&s->lines, &in->source, err);
    while (code == BRAID_OK) {
        code = lines_next(&s->lines, &has_line, err);
        if (code != BRAID_OK || !has_line)
            break;
        if (s->lines.n == 0)
            rows_count(out, ROW_BLANK_LINE, 1, s->lines.number, "", 0);
        else if (s->lines.text[0] != '#') /* a comment */
            code = read_line(s, err);
    }
    lines_fini(&s->lines);
    free(s);
    return code;
}

static bool is_number(struct trace_text t)
{
    int64_t v;
    return number_parse_i64(t.at, t.n, &v);
}

/* Lines of 40 fields and more between colons, with numbers where the times and states are. */
static bool sge_is_content(const char *text, size_t n)
{
    static const int numbers[] = {NUMBER, 7, SUBMIT, START, END, FAILED, EXIT, SLOTS};
    while (n > 0 && text[0] == '#') {
        const char *feed = memchr(text, '\n', n);
        size_t skip = feed != NULL ? (size_t)(feed - text) + 1 : n;
        text += skip;
        n -= skip;
    }
    const char *feed = n > 0 ? memchr(text, '\n', n) : NULL;
    struct trace_text fields[FIELDS];
    if (split((struct trace_text){text, feed != NULL ? (size_t)(feed - text) : n}, fields) < FIELDS)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!is_number(fields[numbers[i]]))
            return false;
    return true;
}

const struct trace_reader reader_sge = {
    .name = "sge",
    .is_content = sge_is_content,
    .summary =
        "accounting files of Grid Engine: qname:hostname:group:owner:job_name:job_number:… (GPUs in the category)",
    .read = sge_read,
};

/* Accounting logs of PBS Professional, OpenPBS and Torque (docs/formats/pbs.md). A record a line; those of type E are the ends of jobs:
 *
 *     04/05/2024 10:11:12;E;123.host;user=ann queue=gpu ctime=… start=… end=… Resource_List.ngpus=4 Exit_status=0
 *     stamp              type id     KEY=VALUE, a value going on until the next KEY=, or in quotes
 */
#include "base/number.h"
#include "traces/lines.h"
#include "traces/reader.h"

#include <stdlib.h>
#include <string.h>

struct pbs {
    struct rows *rows;
    struct lines lines;
    struct trace_row row;
};

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

/* The next pair at *at of `text`; false: none is left. */
static bool next_pair(struct trace_text text, size_t *at, struct trace_text *key, struct trace_text *value)
{
    size_t i = *at;
    while (i < text.n && text.at[i] == ' ')
        i++;
    size_t from = i;
    while (i < text.n && is_key_char(text.at[i]))
        i++;
    if (i >= text.n || i == from || text.at[i] != '=')
        return false;
    *key = (struct trace_text){text.at + from, i - from};
    size_t begin = ++i;
    if (i < text.n && text.at[i] == '"') {
        const char *quote = memchr(text.at + i + 1, '"', text.n - i - 1);
        if (quote != NULL) {
            *value = (struct trace_text){text.at + i + 1, (size_t)(quote - text.at) - i - 1};
            *at = (size_t)(quote - text.at) + 1;
            return true;
        }
    }
    for (;; i++) { /* to a blank behind which a key begins */
        while (i < text.n && text.at[i] != ' ')
            i++;
        size_t k = i + 1;
        while (k < text.n && is_key_char(text.at[k]))
            k++;
        if (i >= text.n || (k < text.n && text.at[k] == '=' && k > i + 1))
            break;
    }
    *value = (struct trace_text){text.at + begin, i - begin};
    *at = i;
    return true;
}

static bool is(struct trace_text t, const char *text)
{
    return strlen(text) == t.n && memcmp(t.at, text, t.n) == 0;
}

/* The number behind `name` + '=' or ':' in "2:ncpus=8:ngpus=2"; 0: it is not there, -1: it is no number. */
static int64_t part_of(struct trace_text chunk, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < chunk.n;) {
        const char *colon = memchr(chunk.at + i, ':', chunk.n - i);
        size_t stop = colon != NULL ? (size_t)(colon - chunk.at) : chunk.n;
        int64_t v;
        if (stop - i > n && memcmp(chunk.at + i, name, n) == 0 && chunk.at[i + n] == '=')
            return number_parse_i64(chunk.at + i + n + 1, stop - i - n - 1, &v) && v >= 0 && v <= UINT32_MAX ? v : -1;
        i = stop + 1;
    }
    return 0;
}

/* GPUs of "2:ncpus=8:ngpus=2+1:ncpus=4" or "2:ppn=4:gpus=2": of each chunk its number times its GPUs. -1: unreadable. */
static int64_t gpus_of_chunks(struct trace_text list)
{
    int64_t sum = 0;
    for (size_t i = 0; i < list.n;) {
        const char *plus = memchr(list.at + i, '+', list.n - i);
        size_t stop = plus != NULL ? (size_t)(plus - list.at) : list.n;
        struct trace_text chunk = {list.at + i, stop - i};
        const char *colon = memchr(chunk.at, ':', chunk.n);
        int64_t count, gpus = part_of(chunk, "ngpus");
        if (!number_parse_i64(chunk.at, colon != NULL ? (size_t)(colon - chunk.at) : chunk.n, &count))
            count = 1; /* the name of a host */
        gpus = gpus != 0 ? gpus : part_of(chunk, "gpus");
        if (gpus < 0 || count < 0 || count > UINT32_MAX)
            return -1;
        if (__builtin_add_overflow(sum, count * gpus, &sum))
            return -1;
        i = stop + 1;
    }
    return sum;
}

/* "16gb", "16384mb", "1048576kb", "800b": powers of 1024; words (w) are 8 bytes. */
static bool parse_memory(struct trace_text t, uint64_t *out_kib)
{
    int64_t scale = 1, bytes;
    bool is_words = t.n > 0 && (t.at[t.n - 1] == 'w' || t.at[t.n - 1] == 'W');
    if (t.n > 0 && (is_words || t.at[t.n - 1] == 'b' || t.at[t.n - 1] == 'B'))
        t.n--;
    if (t.n > 0) {
        static const char letters[] = "kmgtp";
        const char *letter = memchr(letters, t.at[t.n - 1] | 0x20, sizeof letters - 1);
        if (letter != NULL) {
            scale = INT64_C(1) << (10 * (letter - letters + 1));
            t.n--;
        }
    }
    if (!number_parse_scaled(t.at, t.n, is_words ? scale * 8 : scale, &bytes) || bytes < 0)
        return false;
    *out_kib = (uint64_t)bytes / 1024;
    return true;
}

static void bad(struct pbs *p, bool is_needed, const char *key, struct trace_text value)
{
    if (!is_needed) {
        rows_blame(p->rows, ROW_BAD_OPTIONAL, &p->row, key, value);
    } else if (p->row.fault == ROW_FINE) {
        p->row.fault = ROW_BAD_NUMBER;
        p->row.fault_column = key;
        p->row.fault_value = value;
    }
}

static void take_stamp(struct pbs *p, bool is_needed, const char *key, struct trace_text value, int64_t *out)
{
    if (value.n == 0)
        return;
    if (!number_parse_scaled(value.at, value.n, NS_PER_S, out)) {
        *out = WORKLOAD_ABSENT;
        bad(p, is_needed, key, value);
    } else if (*out <= 0) {
        *out = WORKLOAD_ABSENT;
    }
}

/* 0 is success; 256 and a signal is how the server kills; what is below 0 never got to run its script. */
static enum trace_status status_of(int64_t code)
{
    return code == 0 ? TRACE_PASSED : code > 256 && code < 256 + 65 ? TRACE_KILLED : TRACE_FAILED;
}

/* What the record says of resources, by the order in which it is believed. */
struct asked {
    struct trace_text ngpus, select, nodes, ctime, qtime, walltime, used, ncpus, mem;
};

static void take_gpus(struct pbs *p, const struct asked *a)
{
    int64_t gpus = 0;
    struct trace_text from = a->ngpus;
    const char *key = "Resource_List.ngpus";
    if (a->ngpus.n > 0) {
        gpus = number_parse_i64(a->ngpus.at, a->ngpus.n, &gpus) ? gpus : -1;
    } else if (a->select.n > 0) {
        gpus = gpus_of_chunks(from = a->select);
        key = "Resource_List.select";
    } else if (a->nodes.n > 0) {
        gpus = gpus_of_chunks(from = a->nodes);
        key = "Resource_List.nodes";
    }
    if (gpus < 0 || gpus > UINT32_MAX)
        bad(p, true, key, from);
    else
        p->row.gpus_milli = gpus * 1000;
}

static void take_pair(struct pbs *p, struct asked *a, struct trace_text key, struct trace_text value)
{
    struct trace_row *row = &p->row;
    int64_t code;
    if (is(key, "user"))
        row->user = value;
    else if (is(key, "queue"))
        row->vc = value;
    else if (is(key, "jobname"))
        row->name = value;
    else if (is(key, "ctime"))
        a->ctime = value;
    else if (is(key, "qtime"))
        a->qtime = value;
    else if (is(key, "start"))
        take_stamp(p, false, "start", value, &row->start_ns);
    else if (is(key, "end"))
        take_stamp(p, false, "end", value, &row->end_ns);
    else if (is(key, "Resource_List.ngpus"))
        a->ngpus = value;
    else if (is(key, "Resource_List.select"))
        a->select = value;
    else if (is(key, "Resource_List.nodes"))
        a->nodes = value;
    else if (is(key, "Resource_List.walltime"))
        a->walltime = value;
    else if (is(key, "resources_used.walltime"))
        a->used = value;
    else if (is(key, "Resource_List.ncpus"))
        a->ncpus = value;
    else if (is(key, "Resource_List.mem"))
        a->mem = value;
    else if (is(key, "Exit_status") && number_parse_i64(value.at, value.n, &code))
        row->status = status_of(code);
}

static void settle(struct pbs *p, const struct asked *a)
{
    struct trace_row *row = &p->row;
    take_stamp(p, true, "ctime", a->ctime.n > 0 ? a->ctime : a->qtime, &row->submit_ns);
    take_gpus(p, a);
    bool has_both = row->start_ns != WORKLOAD_ABSENT && row->end_ns != WORKLOAD_ABSENT;
    if (!has_both && a->used.n > 0 && !number_parse_span(a->used.at, a->used.n, &row->duration_ns))
        bad(p, true, "resources_used.walltime", a->used);
    if (a->walltime.n > 0 && !number_parse_span(a->walltime.at, a->walltime.n, &row->estimate_ns))
        bad(p, false, "Resource_List.walltime", a->walltime);
    int64_t cpu_milli;
    if (a->ncpus.n > 0 &&
        (!number_parse_scaled(a->ncpus.at, a->ncpus.n, 1000, &cpu_milli) || cpu_milli < 0 || cpu_milli > UINT32_MAX))
        bad(p, false, "Resource_List.ncpus", a->ncpus);
    else if (a->ncpus.n > 0)
        row->cpu_milli = (uint32_t)cpu_milli;
    if (a->mem.n > 0 && !parse_memory(a->mem, &row->mem_kib))
        bad(p, false, "Resource_List.mem", a->mem);
}

/* The line cut at its first three semicolons; false: it has fewer. */
static bool cut(struct trace_text line, struct trace_text *parts)
{
    for (int i = 0; i < 3; i++) {
        const char *semicolon = line.n > 0 ? memchr(line.at, ';', line.n) : NULL;
        if (semicolon == NULL)
            return false;
        parts[i] = (struct trace_text){line.at, (size_t)(semicolon - line.at)};
        line.n -= parts[i].n + 1;
        line.at = semicolon + 1;
    }
    parts[3] = line;
    return true;
}

static int read_line(struct pbs *p, struct error *err)
{
    struct trace_row *row = &p->row;
    struct trace_text parts[4], key, value;
    struct asked asked = {.ngpus = {NULL, 0}};
    row_clear(row);
    row->line = p->lines.number;
    row->offset = p->lines.offset;
    row->raw = (struct trace_text){p->lines.text, p->lines.n};
    row->is_dated = true;
    if (!cut(row->raw, parts)) {
        row->fault = ROW_SHORT;
        return rows_add(p->rows, row, err);
    }
    if (!is(parts[1], "E")) {
        rows_skip(p->rows, ROW_OTHER_RECORD, row);
        return BRAID_OK;
    }
    const char *dot = parts[2].n > 0 ? memchr(parts[2].at, '.', parts[2].n) : NULL;
    row->id = (struct trace_text){parts[2].at, dot != NULL ? (size_t)(dot - parts[2].at) : parts[2].n};
    if (p->lines.is_cut) {
        int code = rows_note_cut(p->rows, row, true, err);
        if (code != BRAID_OK)
            return code;
    }
    for (size_t at = 0; next_pair(parts[3], &at, &key, &value);)
        take_pair(p, &asked, key, value);
    settle(p, &asked);
    return rows_add(p->rows, row, err);
}

static int pbs_read(struct trace_input *in, struct rows *out, struct error *err)
{
    static const struct rows_columns has = {
        .id = true,
        .user = true,
        .status = true,
        .text = true,
        .optional = {.start = true, .estimate = true, .name = true, .cpu = true, .memory = true}};
    struct pbs *p = calloc(1, sizeof *p);
    bool has_line = true;
    if (p == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    p->rows = out;
    int code = rows_init(out, in->path, &has, in->is_strict, err);
    if (code == BRAID_OK)
        code = lines_init(&p->lines, &in->source, err);
    while (code == BRAID_OK) {
        code = lines_next(&p->lines, &has_line, err);
        if (code != BRAID_OK || !has_line)
            break;
        if (p->lines.n == 0)
            rows_count(out, ROW_BLANK_LINE, 1, p->lines.number, "", 0);
        else
            code = read_line(p, err);
    }
    lines_fini(&p->lines);
    free(p);
    return code;
}

/* "04/05/2024 10:11:12;E;" */
static bool pbs_is_content(const char *text, size_t n)
{
    static const char shape[] = "00/00/0000 00:00:00;A;";
    if (n < sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9', is_letter = text[i] >= 'A' && text[i] <= 'Z';
        if (shape[i] == '0' ? !is_digit : shape[i] == 'A' ? !is_letter : text[i] != shape[i])
            return false;
    }
    return true;
}

const struct trace_reader reader_pbs = {
    .name = "pbs",
    .is_content = pbs_is_content,
    .summary = "accounting logs of PBS and Torque: 04/05/2024 10:11:12;E;123.host;user=… Resource_List.ngpus=…",
    .read = pbs_read,
};

#include "traces/csv.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A row longer than this is taken for a quote that was never closed. */
#define ROW_LIMIT ((size_t)256 << 20)
#define FIELDS_LIMIT (UINT32_C(1) << 22)
enum { FIRST_CAPACITY = 1 << 19, STOP = 64, FIRST_LOOK = 4096 /* enough to tell a format by */ };

static int at_line(const struct csv *c, uint64_t line, struct error *err, int code, const char *message)
{
    return error_at(err, code, c->source->path, line > INT_MAX ? INT_MAX : (int)line, 0, "%s", message);
}

static int no_memory(const struct csv *c, struct error *err)
{
    return at_line(c, c->next_line, err, BRAID_FAILED, "out of memory for a long row");
}

/* One bit for each of the next 64 bytes that is a delimiter, a line feed, a quote or NUL. */
static inline uint64_t special_bits(const char *p, char delimiter)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i comma = _mm_set1_epi8(delimiter), feed = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"');
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, comma), _mm_cmpeq_epi8(v, feed)),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, _mm_setzero_si128())));
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << (16 * i);
    }
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(p[i] == delimiter || p[i] == '\n' || p[i] == '"' || p[i] == '\0') << i;
#endif
    return bits;
}

/* Keep the row that begins at `at`, drop what is before it and read more behind it. */
static int refill(struct csv *c, struct error *err)
{
    size_t kept = c->end - c->at;
    if (c->at > 0) {
        memmove(c->buffer, c->buffer + c->at, kept);
        c->at = 0;
        c->end = kept;
    }
    if (kept >= ROW_LIMIT)
        return at_line(c, c->next_line, err, BRAID_BAD_INPUT,
                       "a row of more than 256 MiB begins here; is a quote left open?");
    if (c->capacity - kept < c->capacity / 2) {
        char *grown = realloc(c->buffer, c->capacity * 2 + STOP);
        if (grown == NULL)
            return no_memory(c, err);
        c->buffer = grown;
        c->capacity *= 2;
    }
    size_t got;
    int code = source_read(c->source, c->buffer + kept, c->capacity - kept, &got, err);
    if (code != BRAID_OK)
        return code;
    c->is_last = got == 0;
    c->end = kept + got;
    memset(c->buffer + c->end, 0, STOP);
    return BRAID_OK;
}

int csv_init(struct csv *c, struct source *source, struct error *err)
{
    *c = (struct csv){.source = source, .delimiter = ',', .capacity = FIRST_CAPACITY, .next_line = 1};
    c->buffer = malloc(FIRST_CAPACITY + STOP);
    if (c->buffer == NULL)
        return no_memory(c, err);
    while (c->end < FIRST_LOOK && !c->is_last) {
        int code = refill(c, err);
        if (code != BRAID_OK)
            return code;
    }
    if (c->end >= 3 && memcmp(c->buffer, "\xEF\xBB\xBF", 3) == 0) {
        c->at = 3;
        c->at_offset = 3;
    }
    return BRAID_OK;
}

void csv_fini(struct csv *c)
{
    free(c->buffer);
    free(c->fields);
    free(c->scratch);
    *c = (struct csv){0};
}

enum scan { SCAN_ROW, SCAN_MORE, SCAN_END, SCAN_NUL, SCAN_OPEN, SCAN_BEHIND, SCAN_MEMORY };

static bool push(struct csv *c, const char *text, size_t n)
{
    if (c->n_fields == c->fields_capacity) {
        uint32_t capacity = c->fields_capacity == 0 ? 64 : c->fields_capacity * 2;
        struct csv_field *grown = capacity > FIELDS_LIMIT ? NULL : realloc(c->fields, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        c->fields = grown;
        c->fields_capacity = capacity;
    }
    c->fields[c->n_fields++] = (struct csv_field){text, n};
    return true;
}

/* What a look at one row yields, beside the fields. */
struct row_scan {
    size_t next;          /* behind its line end */
    size_t stop;          /* its last byte + 1, the line end not counted */
    uint64_t inner_lines; /* line ends inside quotes */
    uint64_t fault_line;  /* how many lines below its first line a fault is */
    size_t doubled;       /* bytes of quoted fields with doubled quotes */
    bool is_cut;          /* ends with the file, in a field without quotes */
};

/* A quoted field that opens at `open`; `*close` becomes the place of its closing quote. */
static enum scan scan_quoted(struct csv *c, size_t open, size_t *close, struct row_scan *r)
{
    const char *b = c->buffer;
    uint64_t lines = 0;
    bool doubled = false;
    size_t i = open + 1;
    for (;;) {
        size_t from = i;
        const char *quote = memchr(b + i, '"', c->end - i);
        i = quote != NULL ? (size_t)(quote - b) : c->end;
        const char *nul = memchr(b + from, '\0', i - from);
        for (const char *p = b + from; (p = memchr(p, '\n', (size_t)((nul != NULL ? nul : b + i) - p))) != NULL; p++)
            lines++;
        if (nul != NULL) {
            r->fault_line = r->inner_lines + lines;
            return SCAN_NUL;
        }
        if (quote == NULL || (i + 1 == c->end && !c->is_last)) {
            r->fault_line = r->inner_lines;
            return c->is_last ? SCAN_OPEN : SCAN_MORE;
        }
        if (b[i + 1] != '"' || i + 1 == c->end)
            break;
        doubled = true;
        i += 2;
    }
    r->inner_lines += lines;
    if (doubled)
        r->doubled += i - open;
    *close = i;
    return push(c, b + open + 1, i - open - 1) ? SCAN_ROW : SCAN_MEMORY;
}

static enum scan scan_row(struct csv *c, struct row_scan *r)
{
    const char *b = c->buffer;
    const char delimiter = c->delimiter;
    size_t field = c->at, block = c->at;
    uint64_t bits = special_bits(b + block, delimiter);
    *r = (struct row_scan){0};
    c->n_fields = 0;
    for (;;) {
        while (bits == 0) {
            block += 64;
            bits = special_bits(b + block, delimiter);
        }
        size_t i = block + (size_t)__builtin_ctzll(bits);
        bits &= bits - 1;
        if (b[i] == delimiter) {
            if (!push(c, b + field, i - field))
                return SCAN_MEMORY;
            field = i + 1;
            continue;
        }
        if (b[i] == '"') {
            if (i != field)
                continue; /* inside an unquoted field it is a character like others */
            enum scan s = scan_quoted(c, field, &i, r);
            if (s != SCAN_ROW)
                return s;
            i++; /* behind the closing quote */
            if (i < c->end && b[i] == '\r' && i + 1 == c->end && !c->is_last)
                return SCAN_MORE;
            if (i < c->end && b[i] == '\r' && (b[i + 1] == '\n' || i + 1 == c->end))
                i++;
            if (i < c->end && b[i] == delimiter) {
                field = i + 1;
                block = field;
                bits = special_bits(b + block, delimiter);
                continue;
            }
            if (i < c->end && b[i] != '\n') {
                r->fault_line = r->inner_lines;
                return b[i] == '\0' ? SCAN_NUL : SCAN_BEHIND;
            }
            if (i == c->end && !c->is_last)
                return SCAN_MORE;
            r->stop = i > 0 && b[i - 1] == '\r' ? i - 1 : i;
            r->next = i < c->end ? i + 1 : i;
            return SCAN_ROW;
        }
        if (b[i] == '\0' && i < c->end) {
            r->fault_line = r->inner_lines;
            return SCAN_NUL;
        }
        if (b[i] == '\0' && !c->is_last)
            return SCAN_MORE;
        if (b[i] == '\0' && i == c->at)
            return SCAN_END;
        size_t stop = i > field && b[i - 1] == '\r' ? i - 1 : i;
        r->stop = stop;
        r->is_cut = b[i] == '\0';
        r->next = b[i] == '\0' ? i : i + 1;
        return push(c, b + field, stop - field) ? SCAN_ROW : SCAN_MEMORY;
    }
}

/* Take the doubled quotes out of quoted fields, in a place of their own: the buffer stays as the file is. */
static bool undouble(struct csv *c, size_t room)
{
    if (room > c->scratch_capacity) {
        char *grown = realloc(c->scratch, room * 2);
        if (grown == NULL)
            return false;
        c->scratch = grown;
        c->scratch_capacity = room * 2;
    }
    char *out = c->scratch;
    for (uint32_t f = 0; f < c->n_fields; f++) {
        struct csv_field *field = &c->fields[f];
        bool is_quoted = field->text > c->row && field->text[-1] == '"';
        if (!is_quoted || memchr(field->text, '"', field->n) == NULL)
            continue;
        const char *from = out;
        for (size_t i = 0; i < field->n; i += field->text[i] == '"' ? 2 : 1)
            *out++ = field->text[i];
        *field = (struct csv_field){from, (size_t)(out - from)};
    }
    return true;
}

static bool is_blank(const struct csv *c)
{
    if (c->n_fields != 1)
        return false;
    for (size_t i = 0; i < c->row_n; i++)
        if (c->row[i] != ' ' && c->row[i] != '\t')
            return false;
    return true;
}

int csv_next(struct csv *c, bool *has_row, struct error *err)
{
    *has_row = false;
    for (;;) {
        struct row_scan r;
        enum scan s = scan_row(c, &r);
        while (s == SCAN_MORE) {
            int code = refill(c, err);
            if (code != BRAID_OK)
                return code;
            s = scan_row(c, &r);
        }
        switch (s) {
        case SCAN_ROW:
            break;
        case SCAN_END:
            return BRAID_OK;
        case SCAN_NUL:
            return at_line(c, c->next_line + r.fault_line, err, BRAID_BAD_INPUT,
                           "a NUL byte: the file is damaged, or its text is not UTF-8 (UTF-16?)");
        case SCAN_OPEN:
            return at_line(c, c->next_line + r.fault_line, err, BRAID_BAD_INPUT,
                           "a quote that opens in this row is never closed");
        case SCAN_BEHIND:
            return at_line(c, c->next_line + r.fault_line, err, BRAID_BAD_INPUT,
                           "text behind a closing quote; a quote inside a quoted field is written twice");
        default:
            return no_memory(c, err);
        }
        c->line = c->next_line;
        c->offset = c->at_offset;
        c->row = c->buffer + c->at;
        c->row_n = r.stop - c->at;
        c->is_cut = r.is_cut;
        c->next_line += r.inner_lines + 1;
        c->at_offset += r.next - c->at;
        c->at = r.next;
        if (is_blank(c)) {
            if (c->blank_lines++ == 0)
                c->first_blank_line = c->line;
            continue;
        }
        if (r.doubled > 0 && !undouble(c, r.doubled))
            return no_memory(c, err);
        *has_row = true;
        return BRAID_OK;
    }
}

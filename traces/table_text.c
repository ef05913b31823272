#include "traces/table_text.h"

#include "traces/csv_values.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    char character;
    enum table_shape shape;
} separators[] = {
    {"comma", ',', TABLE_SEPARATED}, {"semicolon", ';', TABLE_SEPARATED},
    {"tab", '\t', TABLE_SEPARATED},  {"colon", ':', TABLE_SEPARATED},
    {"bar", '|', TABLE_BARS},        {"blanks", ' ', TABLE_BLANKS},
    {"fixed", ' ', TABLE_FIXED},
};
enum { N_SEPARATORS = sizeof separators / sizeof separators[0], BLANKS = 5, FIXED = 6, COLON = 3 };

static int no_memory(struct source *source, struct error *err)
{
    return error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory for a row");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool push(struct table_text *t, const char *text, size_t n)
{
    if (t->n_fields == t->capacity) {
        uint32_t capacity = t->capacity == 0 ? 64 : t->capacity * 2;
        struct csv_field *grown = realloc(t->fields, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        t->fields = grown;
        t->capacity = capacity;
    }
    t->fields[t->n_fields++] = (struct csv_field){text, n};
    return true;
}

static bool split_bars(struct table_text *t)
{
    const char *at = t->row, *end = t->row + t->row_n;
    for (;;) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if (!push(t, at, (size_t)((bar != NULL ? bar : end) - at)))
            return false;
        if (bar == NULL)
            return true;
        at = bar + 1;
    }
}

static bool split_blanks(struct table_text *t)
{
    for (size_t i = 0; i < t->row_n;) {
        size_t from = i;
        while (i < t->row_n && !is_blank(t->row[i]))
            i++;
        if (i > from && !push(t, t->row + from, i - from))
            return false;
        i += i < t->row_n;
    }
    return true;
}

static bool split_fixed(struct table_text *t)
{
    for (uint32_t c = 0; c < t->n_starts; c++) {
        size_t from = t->starts[c], to = c + 1 < t->n_starts ? t->starts[c + 1] : t->row_n;
        from = from < t->row_n ? from : t->row_n;
        to = to < t->row_n ? to : t->row_n;
        if (!push(t, t->row + from, to - from))
            return false;
    }
    return true;
}

static int next_line(struct table_text *t, bool *has_row, struct error *err)
{
    bool has_line;
    for (;;) {
        int code = lines_next(&t->lines, &has_line, err);
        if (code != BRAID_OK || !has_line)
            return code;
        size_t i = 0;
        while (i < t->lines.n && is_blank(t->lines.text[i]))
            i++;
        if (i < t->lines.n)
            break;
        if (t->blank_lines++ == 0)
            t->first_blank_line = t->lines.number;
    }
    t->n_fields = 0;
    t->row = t->lines.text;
    t->row_n = t->lines.n;
    t->line = t->lines.number;
    t->offset = t->lines.offset;
    t->is_cut = t->lines.is_cut;
    bool ok = t->shape == TABLE_BARS ? split_bars(t) : t->shape == TABLE_FIXED ? split_fixed(t) : split_blanks(t);
    *has_row = ok;
    return ok ? BRAID_OK : no_memory(t->lines.source, err);
}

static int next_csv(struct table_text *t, bool *has_row, struct error *err)
{
    int code = csv_next(&t->csv, has_row, err);
    t->blank_lines = t->csv.blank_lines;
    t->first_blank_line = t->csv.first_blank_line;
    t->n_fields = 0;
    t->row = t->csv.row;
    t->row_n = t->csv.row_n;
    t->line = t->csv.line;
    t->offset = t->csv.offset;
    t->is_cut = t->csv.is_cut;
    for (uint32_t i = 0; i < t->csv.n_fields && *has_row; i++)
        if (!push(t, t->csv.fields[i].text, t->csv.fields[i].n))
            return no_memory(t->csv.source, err);
    return code;
}

int table_text_next(struct table_text *t, bool *has_row, struct error *err)
{
    for (;;) {
        *has_row = false;
        int code = t->shape == TABLE_SEPARATED ? next_csv(t, has_row, err) : next_line(t, has_row, err);
        if (code != BRAID_OK || !*has_row)
            return code;
        if (!t->skips_comments || t->row_n == 0 || (t->row[0] != '#' && t->row[0] != ';'))
            return BRAID_OK;
    }
}

/* ---- what stands between the fields ------------------------------------------------------------------------------------ */

/* The line that begins at `at`, without its end; `*next` becomes the beginning of the one behind it. */
static struct csv_field line_at(const struct csv *c, size_t at, size_t *next)
{
    const char *feed = at < c->end ? memchr(c->buffer + at, '\n', c->end - at) : NULL;
    size_t stop = feed != NULL ? (size_t)(feed - c->buffer) : c->end;
    *next = feed != NULL ? stop + 1 : stop;
    if (stop > at && c->buffer[stop - 1] == '\r')
        stop--;
    return (struct csv_field){c->buffer + at, stop - at};
}

static bool is_rule(struct csv_field line)
{
    bool has_dash = false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.text[i] != '-' && line.text[i] != ' ')
            return false;
        has_dash |= line.text[i] == '-';
    }
    return has_dash;
}

/* How many fields, and how many of `wanted` among them, separator `s` makes of `line`. */
static uint32_t count_found(struct csv_field line, int s, const char *const *wanted, uint32_t n_wanted,
                            uint32_t *n_fields)
{
    uint32_t found = 0;
    *n_fields = 0;
    for (size_t i = 0; i <= line.n;) {
        size_t from = i;
        while (i < line.n && line.text[i] != separators[s].character && !(s == BLANKS && line.text[i] == '\t'))
            i++;
        struct csv_field f = csv_trimmed((struct csv_field){line.text + from, i - from});
        i++;
        if (f.n > 1 && f.text[0] == '"' && f.text[f.n - 1] == '"') {
            f.text++;
            f.n -= 2;
        }
        if (s == BLANKS && f.n == 0)
            continue;
        (*n_fields)++;
        for (uint32_t w = 0; w < n_wanted; w++)
            if (csv_is_text(f, wanted[w])) {
                found++;
                break;
            }
    }
    return found;
}

/* The separator of the table in `c`, which stands at its first line. */
static int find_separator(const struct csv *c, const char *const *wanted, uint32_t n_wanted)
{
    size_t at = c->at, next = at;
    struct csv_field first = {c->buffer, 0}, second = {c->buffer, 0};
    for (; at < c->end && csv_trimmed(first).n == 0; at = next)
        first = line_at(c, at, &next);
    second = line_at(c, next, &next);
    if (is_rule(second))
        return FIXED;
    int best = BLANKS;
    uint32_t best_found = 0, best_fields = 1;
    for (int s = 0; s < N_SEPARATORS; s++) {
        uint32_t n_fields, found;
        if (s == FIXED)
            continue;
        found = count_found(first, s, wanted, n_wanted, &n_fields);
        bool is_shy = s == COLON || s == BLANKS; /* times and names have them inside */
        if (found > best_found || (found == best_found && !is_shy && n_fields > best_fields)) {
            best = s;
            best_found = found;
            best_fields = n_fields;
        }
    }
    return best;
}

/* Where the columns of fixed width begin: at the runs of dashes in the second line. The lines are read anew behind it. */
static int find_columns(struct table_text *t, struct error *err)
{
    struct source *source = t->lines.source;
    struct csv_field rule = {"", 0};
    bool has_line = true;
    int code = BRAID_OK;
    while (code == BRAID_OK && has_line && !is_rule(rule)) {
        code = lines_next(&t->lines, &has_line, err);
        if (has_line)
            rule = (struct csv_field){t->lines.text, t->lines.n};
        if (has_line && t->lines.number > 64)
            has_line = false;
    }
    if (code != BRAID_OK)
        return code;
    if (!is_rule(rule))
        return error_at(
            err, BRAID_BAD_INPUT, source->path, 1, 0,
            "no line of dashes below the header tells the widths of the columns; write separator: blanks, or make "
            "the table with a separator (sacct -P)");
    t->starts = malloc((rule.n + 1) * sizeof *t->starts);
    if (t->starts == NULL)
        return no_memory(source, err);
    for (size_t i = 0; i < rule.n; i++)
        if (rule.text[i] == '-' && (i == 0 || rule.text[i - 1] != '-'))
            t->starts[t->n_starts++] = (uint32_t)i;
    t->starts[0] = 0;
    lines_fini(&t->lines);
    code = source_rewind(source, err);
    return code == BRAID_OK ? lines_init(&t->lines, source, err) : code;
}

int table_is_json(struct source *source, bool *is_json, struct error *err)
{
    struct csv c;
    int code = csv_init(&c, source, err);
    if (code == BRAID_OK) {
        size_t at = c.at;
        while (at < c.end && (is_blank(c.buffer[at]) || c.buffer[at] == '\n' || c.buffer[at] == '\r'))
            at++;
        *is_json = at < c.end && (c.buffer[at] == '{' || c.buffer[at] == '[');
        code = source_rewind(source, err);
    }
    csv_fini(&c);
    return code;
}

int table_text_open(struct table_text *t, struct source *source, const char *separator, const char *const *wanted,
                    uint32_t n_wanted, struct error *err)
{
    *t = (struct table_text){.shape = TABLE_SEPARATED};
    int code = csv_init(&t->csv, source, err);
    if (code != BRAID_OK)
        return code;
    int s = 0;
    while (separator != NULL && s < N_SEPARATORS && strcmp(separators[s].name, separator) != 0)
        s++;
    if (separator == NULL || s == N_SEPARATORS)
        s = find_separator(&t->csv, wanted, n_wanted);
    t->shape = separators[s].shape;
    t->separator = separators[s].name;
    t->csv.delimiter = separators[s].character;
    if (t->shape == TABLE_SEPARATED)
        return BRAID_OK;
    csv_fini(&t->csv);
    code = source_rewind(source, err);
    if (code == BRAID_OK)
        code = lines_init(&t->lines, source, err);
    return code == BRAID_OK && t->shape == TABLE_FIXED ? find_columns(t, err) : code;
}

void table_text_close(struct table_text *t)
{
    csv_fini(&t->csv);
    lines_fini(&t->lines);
    free(t->fields);
    free(t->starts);
    *t = (struct table_text){0};
}

#include "traces/unknown.h"

#include "base/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 256, NAME_SIZE = 64, SHOWN = 120, HINT_SIZE = 480 };

/* ---- what is no text ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} magics[] = {
    {"\x89HDF\r\n\x1a\n", 8,
     "is an HDF5 file; braid's results are read by 'braid compare' and 'braid export --what jobs'"},
    {"PAR1", 4, "is a Parquet file; write it as csv first"},
    {"PK\x03\x04", 4, "is a zip archive or a spreadsheet (xlsx); unpack it, or save it as csv"},
    {"\xfd"
     "7zXZ",
     6, "is packed with xz; unpack it first: xz -d"},
    {"\x28\xb5\x2f\xfd", 4, "is packed with zstd; unpack it first: zstd -d"},
    {"BZh", 3, "is packed with bzip2; unpack it first: bzip2 -d"},
    {"7z\xbc\xaf\x27\x1c", 6, "is a 7z archive; unpack it first"},
    {"\x1f\x8b", 2, "is packed with gzip twice; unpack it once: gzip -d"},
    {"\x1f\x9d", 2, "is packed with compress; unpack it first: uncompress"},
    {"\x04\x22\x4d\x18", 4, "is packed with lz4; unpack it first: lz4 -d"},
    {"SQLite format 3", 16, "is an SQLite database; write the table of jobs as csv first"},
    {"%PDF", 4, "is a PDF"},
    {"ARROW1", 6, "is an Arrow file; write it as csv first"},
    {"version https://git-lfs", 23,
     "is a pointer of Git LFS, not the file itself; fetch it with 'git lfs pull' or download the file's own page"},
    {"\xff\xfe", 2, "is UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, "is UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
};

static bool starts_with_any_case(const char *text, size_t n, const char *word)
{
    return n >= strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

/* Behind the blanks at the file's beginning. */
static const char *first_text(const struct csv *c, size_t *n)
{
    size_t at = c->at;
    while (at < c->end && isspace((unsigned char)c->buffer[at]))
        at++;
    *n = c->end - at;
    return c->buffer + at;
}

int unknown_check_bytes(const struct trace_input *in, struct error *err)
{
    const struct csv *c = &in->csv;
    size_t n = c->end - c->at;
    const char *text = c->buffer + c->at;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (n >= magics[i].n && memcmp(text, magics[i].bytes, magics[i].n) == 0)
            return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0, "%s", magics[i].what);
    if (n > 262 && memcmp(text + 257, "ustar", 5) == 0)
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0, "is a tar archive; unpack it first: tar -xf");
    text = first_text(c, &n);
    if (starts_with_any_case(text, n, "<!doctype") || starts_with_any_case(text, n, "<html"))
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "is a web page (HTML); was a page saved in place of the file that it offers?");
    if (n > 0 && text[0] != '[' && text[0] != '{' && memchr(text, '\n', n) == NULL) {
        const char *cr = memchr(text, '\r', n);
        if (cr != NULL && cr + 1 < text + n)
            return error_at(err, BRAID_BAD_INPUT, in->path, 1, 0,
                            "its lines end with carriage returns alone; write line feeds: tr '\\r' '\\n'");
    }
    return BRAID_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

/* "'a', 'b', …": the keys of the first object, as far as the text goes. */
static void list_keys(const char *text, size_t n, char *out, size_t size)
{
    int depth = 0, object = 0; /* the level of the first object */
    size_t used = 0, from = 0, to = 0;
    bool has_string = false;
    out[0] = '\0';
    for (size_t i = 0; i < n && used + NAME_SIZE < size; i++) {
        char c = text[i];
        if (c == '"') {
            from = ++i;
            while (i < n && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            to = i < n ? i : n;
            has_string = true;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '{' && object == 0)
            object = depth;
        if ((c == '}' || c == ']') && depth-- == object)
            break;
        if (c == ':' && has_string && depth == object)
            used += (size_t)snprintf(out + used, size - used, "%s'%.*s'", used > 0 ? ", " : "",
                                     (int)(to - from < 24 ? to - from : 24), text + from);
        if (!isspace((unsigned char)c))
            has_string = false;
    }
}

/* Is there a second object behind the first, without a comma between them? */
static bool is_json_lines(const char *text, size_t n)
{
    const char *feed = n > 0 && text[0] == '{' ? memchr(text, '\n', n) : NULL;
    if (feed == NULL)
        return false;
    const char *last = feed;
    while (last > text && isspace((unsigned char)last[-1]))
        last--;
    while (feed < text + n && isspace((unsigned char)*feed))
        feed++;
    return last[-1] == '}' && feed < text + n && *feed == '{';
}

int unknown_json(const struct trace_input *in, const char *text, size_t n, struct error *err)
{
    char keys[300];
    list_keys(text, n, keys, sizeof keys);
    if (is_json_lines(text, n))
        return error_at(err, BRAID_BAD_INPUT, in->path, 1, 0,
                        "is JSON lines, an object a line (with %s), which no reader takes; write it as csv", keys);
    const char *what = text[0] == '{' ? "an object" : "an array";
    return error_at(
        err, BRAID_BAD_INPUT, in->path, 1, 0,
        "is JSON of no known format: %s%s%s%s; the Philly log is an array of objects with jobid, "
        "submitted_time and attempts, a Batsim workload an object with jobs (id, subtime, res, profile) and "
        "profiles; write other logs as csv",
        what,
        keys[0] == '\0'  ? ""
        : text[0] == '{' ? " with "
                         : " of objects with ",
        keys, keys[0] == '\0' ? " without keys" : "");
}

/* ---- a header --------------------------------------------------------------------------------------------------------- */

struct header {
    uint32_t n;
    char names[NAMES_MAX][NAME_SIZE];
};

/* Cut at `separator`; at 0, at runs of blanks. */
static void cut(struct header *h, const char *row, size_t n, char separator)
{
    h->n = 0;
    for (size_t from = 0; from <= n && h->n < NAMES_MAX;) {
        while (separator == '\0' && from < n && (row[from] == ' ' || row[from] == '\t'))
            from++;
        size_t to = from;
        while (to < n && !(separator == '\0' ? row[to] == ' ' || row[to] == '\t' : row[to] == separator))
            to++;
        struct csv_field name = {row + from, to - from};
        while (name.n > 0 && (name.text[0] == ' ' || name.text[0] == '"')) {
            name.text++;
            name.n--;
        }
        while (name.n > 0 && (name.text[name.n - 1] == ' ' || name.text[name.n - 1] == '"'))
            name.n--;
        snprintf(h->names[h->n++], NAME_SIZE, "%.*s", (int)(name.n < NAME_SIZE - 1 ? name.n : NAME_SIZE - 1),
                 name.text);
        from = to + 1;
    }
}

static uint32_t count(const char *row, size_t n, char c)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += row[i] == c;
    return sum;
}

/* Equal but for the case of letters, and for what stands between words. */
static bool is_like(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char x = *a == '-' || *a == ' ' || *a == '.' ? '_' : (char)tolower((unsigned char)*a);
        char y = *b == '-' || *b == ' ' || *b == '.' ? '_' : (char)tolower((unsigned char)*b);
        if (x != y)
            return false;
    }
    return *a == *b;
}

static const char *find_like(const struct header *h, const char *name)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (is_like(h->names[i], name))
            return h->names[i];
    return NULL;
}

static bool has_exactly(const struct header *h, const char *name)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (strcmp(h->names[i], name) == 0)
            return true;
    return false;
}

/* The layout that lacks fewest of its columns, if the header has half of them; NULL: none. */
static const struct csv_format *find_nearest(const struct header *h, const struct trace_reader **reader)
{
    const struct csv_format *best = NULL;
    double best_share = 0;
    uint32_t best_there = 0;
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++)
        for (const struct csv_format *f = (*r)->csv; f != NULL; f = f->next) {
            uint32_t there = 0, wanted = 0;
            for (size_t c = 0; c < f->n_columns && f->header == NULL; c++) {
                wanted += f->columns[c].need != COLUMN_OPTIONAL;
                there += f->columns[c].need != COLUMN_OPTIONAL && find_like(h, f->columns[c].name) != NULL;
            }
            double share = wanted > 0 ? (double)there / wanted : 0;
            if (share > best_share || (best != NULL && share >= best_share && there > best_there)) {
                best = f;
                best_share = share;
                best_there = there;
                *reader = *r;
            }
        }
    return best_share >= 0.5 && best_there >= 2 ? best : NULL;
}

static bool is_column(const struct csv_format *f, const char *name)
{
    for (size_t c = 0; c < f->n_columns; c++)
        if (is_like(f->columns[c].name, name))
            return true;
    return false;
}

/* "the nearest format is helios, which needs 'gpu_num' ('gpus' is there)"; false: no format is near. */
static bool hint_nearest(const struct header *h, char *out, size_t size)
{
    bool is_case = true; /* all that it needs is there, written otherwise */
    const struct trace_reader *reader = NULL;
    const struct csv_format *f = find_nearest(h, &reader);
    if (f == NULL)
        return false;
    const char *spare[NAMES_MAX];
    uint32_t n_spare = 0, lacking = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_column(f, h->names[i]))
            spare[n_spare++] = h->names[i];
    size_t used = (size_t)snprintf(out, size, "the nearest format is %s, which needs", reader->name);
    for (size_t c = 0; c < f->n_columns && used < size - 80; c++) {
        const char *name = f->columns[c].name, *like = find_like(h, name);
        if (f->columns[c].need == COLUMN_OPTIONAL || has_exactly(h, name))
            continue;
        if (like == NULL) {
            is_case = false;
            like = text_nearest(name, spare, n_spare);
        }
        used += (size_t)snprintf(out + used, size - used, "%s '%s'", lacking++ > 0 ? "," : "", name);
        if (like != NULL && used < size - 40)
            used += (size_t)snprintf(out + used, size - used, " ('%.20s' is there)", like);
    }
    if (is_case && lacking > 0)
        snprintf(out + used, size - used, "; capitals and what stands between words count");
    if (lacking == 0)
        snprintf(out, size, "with commas it is a trace of format %s", reader->name);
    return true;
}

static bool is_value(const char *text)
{
    double number;
    int64_t ns;
    size_t n = strlen(text);
    return n > 0 && (number_parse_double(text, n, &number) || number_parse_datetime(text, n, &ns));
}

/* Is it a row of values rather than of names? */
static bool is_row(const struct header *h)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < h->n; i++)
        values += is_value(h->names[i]);
    return values >= 2 && 3 * values >= h->n;
}

static bool is_sacct(const struct header *h)
{
    return has_exactly(h, "JobID") || has_exactly(h, "JobIDRaw") || has_exactly(h, "JobIdRaw");
}

/* Why no format has this header, in words; "" when there is nothing to say. */
static void explain(const char *row, size_t n, struct header *h, char *out, size_t size)
{
    static const struct {
        char c;
        const char *name;
    } separators[] = {{';', "semicolons"}, {'|', "'|'"}, {'\t', "tabs"}};
    static const char sacct[] = "run it as: sacct -a -X -P -o "
                                "JobID,User,Account,Partition,JobName,Submit,Start,End,Elapsed,Timelimit,State,ReqTRES";
    const char *separated = NULL;
    char separator = ',';
    uint32_t most = count(row, n, ',');
    out[0] = '\0';
    if (row[0] == '#') {
        snprintf(out, size, "the first line is a comment; take it away, the header comes first");
        return;
    }
    if (row[0] == ';') {
        snprintf(out, size,
                 "it begins with a comment as SWF does, but the first job has not the 18 numbers between blanks "
                 "that SWF has");
        return;
    }
    for (size_t i = 0; i < sizeof separators / sizeof separators[0]; i++)
        if (count(row, n, separators[i].c) > most) {
            most = count(row, n, separators[i].c);
            separator = separators[i].c;
            separated = separators[i].name;
        }
    cut(h, row, n, separator);
    if (is_sacct(h)) {
        snprintf(out, size, "it looks like sacct with another separator than '|'; %s", sacct);
        return;
    }
    if (most == 0) { /* columns of blanks? */
        cut(h, row, n, '\0');
        if (is_sacct(h)) {
            snprintf(out, size, "it looks like sacct without -P; %s", sacct);
            return;
        }
    }
    if (is_row(h)) {
        snprintf(out, size, "the first line is no header but a row; put the names of the columns above it%s",
                 separator == '|' ? " (sacct without -n)" : "");
        return;
    }
    size_t used = 0;
    if (separated != NULL)
        used = (size_t)snprintf(out, size, "its fields are separated by %s, not by commas; ", separated);
    if (!hint_nearest(h, out + used, size - used))
        snprintf(out + used, size - used, "%s", separated != NULL ? "write commas" : "");
}

int unknown_header(const struct trace_input *in, struct error *err)
{
    const struct csv *csv = &in->csv;
    char list[400] = "", hint[HINT_SIZE];
    struct header *h = malloc(sizeof *h);
    if (h == NULL)
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    explain(csv->row, csv->row_n, h, hint, sizeof hint);
    free(h);
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] != '\0' ? ", " : "", (*r)->name);
    return error_at(err, BRAID_BAD_INPUT, in->path, (int)csv->line, 0,
                    "no known trace format has this header: %.*s; %s%s ('braid trace --help' tells what each has)",
                    (int)(csv->row_n < SHOWN ? csv->row_n : SHOWN), csv->row, hint[0] != '\0' ? hint : "readable are ",
                    hint[0] != '\0' ? "" : list);
}

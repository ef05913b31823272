#include "traces/table_json.h"

#include "traces/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_LIMIT = 16,
    PATH_LIMIT = 512,
    EXAMPLE = 120,
    LISTED = 900,
    ROW_DEPTHS = 3,
    PEEK_ENOUGH = 3,
    PART_LIMIT = 64
};

/* An object that may be a row: its wanted values, one behind the other. */
struct candidate {
    uint64_t line;
    char *text;
    size_t used, room;
    size_t *at, *n; /* by wanted name; n SIZE_MAX: not there */
    uint32_t n_found;
    char example[EXAMPLE];
    size_t example_n;
};

struct parse {
    struct json json;
    struct table_reader *t;
    struct table_peek *peek; /* instead of `t`: everything is wanted */
    struct error *err;
    bool is_map[DEPTH_LIMIT + 1];
    uint32_t path_at[DEPTH_LIMIT + 1]; /* length of the path at each depth, before its own key */
    char path[PATH_LIMIT];             /* of the present value, below its row */
    size_t path_n;
    int row_depth;                         /* depth of the object that the present values belong to; 0: none */
    struct candidate rows[ROW_DEPTHS + 1]; /* by depth: 1, 2 and 3 */
    uint64_t n_inner;                      /* rows inside of the present object of depth 1 */
    bool *was_seen;                        /* by wanted name */
    char listed[LISTED];                   /* names that there are */
    struct csv_field *fields;
    int list_depth; /* of the outermost list below a row; 0: none */
    char *list;     /* its values */
    size_t list_n, list_room;
    char parts[3][PART_LIMIT]; /* type, name and count of an object in it */
    bool is_enough;            /* of a peek */
};

static uint32_t n_wanted(const struct parse *p)
{
    return p->t != NULL ? p->t->spec->n_wanted : 0;
}

/* May the object that was just opened be a row? Depth 1: of JSON lines; 2: in an array; 3: in an array in an object. */
static bool is_candidate(const struct parse *p)
{
    int d = p->json.depth;
    return d == 1 || (d == 2 && !p->is_map[1]) || (d == 3 && p->is_map[1] && !p->is_map[2]);
}

static void candidate_clear(const struct parse *p, struct candidate *c)
{
    c->used = 0;
    c->n_found = 0;
    c->example_n = 0;
    for (uint32_t w = 0; w < n_wanted(p); w++)
        c->n[w] = SIZE_MAX;
}

static int open_container(struct parse *p, bool is_map)
{
    if (!json_open(&p->json))
        return 0;
    int d = p->json.depth;
    p->is_map[d] = is_map;
    p->path_at[d] = (uint32_t)p->path_n;
    if (!is_map && p->row_depth > 0 && p->list_depth == 0) {
        p->list_depth = d;
        p->list_n = 0;
    }
    if (is_map && p->list_depth > 0 && d == p->list_depth + 1)
        memset(p->parts, 0, sizeof p->parts);
    if (!is_map || !is_candidate(p))
        return 1;
    p->list_depth = 0; /* it is a list of rows, or may be one */
    p->row_depth = d;
    p->path_at[d] = 0;
    p->path_n = 0;
    if (d == 1)
        p->n_inner = 0;
    candidate_clear(p, &p->rows[d]);
    p->rows[d].line = json_line(&p->json);
    if (p->peek != NULL && p->peek->n_rows >= TABLE_PEEK_ROWS)
        p->is_enough = true;
    return p->is_enough ? 0 : 1;
}

static int on_map(void *self)
{
    return open_container(self, true);
}

static int on_array(void *self)
{
    return open_container(self, false);
}

static int on_key(void *self, const unsigned char *text, size_t n)
{
    struct parse *p = self;
    int d = p->json.depth;
    json_value(&p->json);
    p->path_n = p->path_at[d];
    if (d > p->row_depth && p->path_n > 0 && p->path_n + 1 < PATH_LIMIT)
        p->path[p->path_n++] = '.';
    if (n >= PATH_LIMIT - p->path_n)
        n = PATH_LIMIT - 1 - p->path_n;
    memcpy(p->path + p->path_n, text, n);
    p->path_n += n;
    return 1;
}

static int take(struct parse *p, const char *text, size_t n);

/* ---- lists below a row: one value, joined by commas ---------------------------------------------------------------------- */

static bool list_put(struct parse *p, const char *text, size_t n)
{
    if (p->list_n + n + 1 > p->list_room) {
        size_t room = (p->list_n + n + 1) * 2 + 256;
        char *grown = realloc(p->list, room);
        if (grown == NULL)
            return false;
        p->list = grown;
        p->list_room = room;
    }
    memcpy(p->list + p->list_n, text, n);
    p->list_n += n;
    return true;
}

/* An object of a list ends: TYPE/NAME=COUNT, if it has a type. */
static bool list_object(struct parse *p)
{
    char text[3 * PART_LIMIT + 8];
    bool has_name = p->parts[1][0] != '\0';
    if (p->parts[0][0] == '\0')
        return true;
    int n = snprintf(text, sizeof text, "%s%s%s%s=%s", p->list_n > 0 ? "," : "", p->parts[0], has_name ? "/" : "",
                     p->parts[1], p->parts[2]);
    return list_put(p, text, (size_t)n);
}

/* A plain value inside a list. */
static bool list_value(struct parse *p, const char *text, size_t n)
{
    static const char *const keys[] = {"type", "name", "count"};
    if (p->json.depth == p->list_depth)
        return (p->list_n == 0 || list_put(p, ",", 1)) && list_put(p, text, n);
    const size_t key_at = p->path_at[p->list_depth + 1];
    const char *key = p->path + key_at + (p->path_n > key_at && p->path[key_at] == '.');
    size_t key_n = (size_t)(p->path + p->path_n - key);
    for (int i = 0; i < 3 && p->json.depth == p->list_depth + 1; i++)
        if (strlen(keys[i]) == key_n && memcmp(keys[i], key, key_n) == 0)
            snprintf(p->parts[i], PART_LIMIT, "%.*s", (int)(n < PART_LIMIT ? n : PART_LIMIT - 1), text);
    return true;
}

static void list_name(struct parse *p)
{
    size_t used = strlen(p->listed), n = p->path_n;
    if (used + n + 3 >= LISTED)
        return;
    for (char *at = p->listed; (at = memmem(at, strlen(at), p->path, n)) != NULL; at++)
        if ((at == p->listed || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
            return;
    snprintf(p->listed + used, LISTED - used, "%s%.*s", used > 0 ? ", " : "", (int)n, p->path);
}

static void peek_value(struct parse *p, const char *text, size_t n)
{
    struct table_peek *k = p->peek;
    uint32_t c = 0;
    if (p->path_n >= TABLE_PEEK_TEXT || k->n_rows == TABLE_PEEK_ROWS)
        return;
    while (c < k->n_columns && (strlen(k->names[c]) != p->path_n || memcmp(k->names[c], p->path, p->path_n) != 0))
        c++;
    if (c == TABLE_PEEK_COLUMNS)
        return;
    if (c == k->n_columns) {
        k->n_columns++;
        memcpy(k->names[c], p->path, p->path_n);
    }
    snprintf(k->values[k->n_rows][c], TABLE_PEEK_TEXT, "%.*s", (int)(n < TABLE_PEEK_TEXT ? n : TABLE_PEEK_TEXT - 1),
             text);
    p->rows[p->row_depth].n_found++;
}

static bool keep(struct candidate *c, uint32_t w, const char *text, size_t n)
{
    if (c->used + n > c->room || c->text == NULL) {
        size_t room = (c->used + n) * 2 + 256;
        char *grown = realloc(c->text, room);
        if (grown == NULL)
            return false;
        c->text = grown;
        c->room = room;
    }
    if (n > 0)
        memcpy(c->text + c->used, text, n);
    c->at[w] = c->used;
    c->n[w] = n;
    c->used += n;
    c->n_found++;
    return true;
}

static int take(struct parse *p, const char *text, size_t n)
{
    json_value(&p->json);
    if (p->row_depth == 0 || p->json.depth < p->row_depth)
        return 1;
    if (p->list_depth > 0)
        return list_value(p, text, n) ? 1 : json_no_memory(&p->json);
    if (p->peek != NULL) {
        peek_value(p, text, n);
        return 1;
    }
    struct candidate *c = &p->rows[p->row_depth];
    list_name(p);
    if (c->example_n < EXAMPLE - 1) {
        int wrote =
            snprintf(c->example + c->example_n, EXAMPLE - c->example_n, "%s%.*s=%.*s", c->example_n > 0 ? " " : "",
                     (int)p->path_n, p->path, (int)(n < EXAMPLE ? n : EXAMPLE), text);
        c->example_n = strlen(c->example);
        (void)wrote;
    }
    for (uint32_t w = 0; w < n_wanted(p); w++) {
        const char *name = p->t->spec->wanted[w];
        if (strlen(name) != p->path_n || memcmp(name, p->path, p->path_n) != 0)
            continue;
        p->was_seen[w] = true;
        if (!keep(c, w, text, n))
            return json_no_memory(&p->json);
    }
    return 1;
}

static int on_text(void *self, const unsigned char *text, size_t n)
{
    return take(self, (const char *)text, n);
}

static int on_number(void *self, const char *text, size_t n)
{
    return take(self, text, n);
}

static int on_null(void *self)
{
    return take(self, "", 0);
}

static int on_boolean(void *self, int yes)
{
    return take(self, yes ? "true" : "false", yes ? 4 : 5);
}

static int row_end(struct parse *p, struct candidate *c)
{
    if (p->peek != NULL) {
        p->peek->n_rows++;
        return 1;
    }
    for (uint32_t w = 0; w < n_wanted(p); w++)
        p->fields[w] =
            c->n[w] == SIZE_MAX ? (struct csv_field){"", 0} : (struct csv_field){c->text + c->at[w], c->n[w]};
    const struct table_row row = {.line = c->line, .text = c->example, .n = c->example_n, .fields = p->fields};
    p->json.code = p->t->row(p->t->self, &row, p->err);
    return p->json.code == BRAID_OK;
}

static int on_map_end(void *self)
{
    struct parse *p = self;
    int d = p->json.depth;
    bool is_row = d == p->row_depth && is_candidate(p);
    struct candidate *c = &p->rows[is_row ? d : 0];
    if (p->list_depth > 0 && d == p->list_depth + 1 && !list_object(p))
        return json_no_memory(&p->json);
    json_close(&p->json);
    if (!is_row)
        return 1;
    p->row_depth = d == 3 ? 1 : 0;
    /* An object around rows is none, and neither is one in a list that has nothing to do with jobs: it lacks the first wanted value, the
     * submission. */
    bool has_first = p->peek != NULL ? c->n_found >= PEEK_ENOUGH : n_wanted(p) > 0 && c->n[0] != SIZE_MAX;
    if ((d == 1 && p->n_inner > 0 && !has_first) || (d == 3 && p->n_inner == 0 && !has_first))
        return 1;
    p->n_inner += d == 3;
    return row_end(p, c);
}

static int on_array_end(void *self)
{
    struct parse *p = self;
    int d = p->json.depth;
    json_close(&p->json);
    if (p->list_depth != d)
        return 1;
    p->list_depth = 0;
    p->path_n = p->path_at[d];
    return take(p, p->list_n > 0 ? p->list : "", p->list_n);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

static bool alloc(struct parse *p)
{
    size_t n = n_wanted(p) + 1;
    bool ok =
        (p->was_seen = calloc(n, sizeof *p->was_seen)) != NULL && (p->fields = calloc(n, sizeof *p->fields)) != NULL;
    for (int d = 1; d <= ROW_DEPTHS && ok; d++)
        ok = (p->rows[d].at = calloc(n, sizeof(size_t))) != NULL && (p->rows[d].n = calloc(n, sizeof(size_t))) != NULL;
    return ok;
}

static void release(struct parse *p)
{
    for (int d = 1; d <= ROW_DEPTHS; d++) {
        free(p->rows[d].text);
        free(p->rows[d].at);
        free(p->rows[d].n);
    }
    free(p->was_seen);
    free(p->list);
    free(p->fields);
    free(p);
}

static int parse_all(struct parse *p, struct source *source, struct error *err)
{
    p->json.max_depth = DEPTH_LIMIT;
    p->json.is_many = true;
    p->err = err;
    return json_parse(&p->json, &callbacks, p, source, err);
}

int table_json_read(struct table_reader *t, struct source *source, const char *path, struct error *err)
{
    struct parse *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_at(err, BRAID_FAILED, path, 0, 0, "out of memory");
    p->t = t;
    int code = alloc(p) ? BRAID_OK : error_at(err, BRAID_FAILED, path, 0, 0, "out of memory");
    if (code == BRAID_OK)
        code = t->begin(t->self, TABLE_JSON, false, err);
    if (code == BRAID_OK)
        code = parse_all(p, source, err);
    for (uint32_t w = 0; w < n_wanted(p) && code == BRAID_OK; w++)
        if (!p->was_seen[w])
            code = error_at(err, BRAID_BAD_INPUT, path, 0, 0,
                            "no row has a value '%s', which trace.columns names; there are %s", t->spec->wanted[w],
                            p->listed[0] != '\0' ? p->listed : "no objects with values");
    release(p);
    return code;
}

int table_json_peek(struct table_peek *out, struct source *source, struct error *err)
{
    struct parse *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory");
    p->peek = out;
    int code = alloc(p) ? parse_all(p, source, err) : error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory");
    if (p->is_enough)
        code = BRAID_OK;
    release(p);
    return code;
}

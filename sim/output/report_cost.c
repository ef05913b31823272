#include "output/report_cost.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cut the next field off `*rest`; the fields of this table hold neither commas nor quotes. NULL at the end. */
static char *next_field(char **rest)
{
    char *field = strsep(rest, ",");
    if (field != NULL)
        field[strcspn(field, "\r\n")] = '\0';
    return field;
}

static uint32_t find_run(const struct report_file *f, const char *id)
{
    uint32_t i = 0;
    while (i < f->n_runs && strcmp(f->runs[i].id, id) != 0)
        i++;
    return i;
}

static int read_header(struct report_cost *c, const struct report_file *f, const char *path, char *line,
                       struct error *err)
{
    char *rest = line;
    const char *first = next_field(&rest);
    if (first == NULL || strcmp(first, "run") != 0)
        return error_at(err, BRAID_BAD_INPUT, path, 1, 1,
                        "the first column is not 'run'; remove the file or run again");
    c->columns = ARENA_NEW(&c->arena, const char *, strlen(rest == NULL ? "" : rest) + 1);
    for (char *name; c->columns != NULL && (name = next_field(&rest)) != NULL;)
        c->columns[c->n_columns++] = arena_text(&c->arena, name, strlen(name));
    size_t cells = (size_t)f->n_runs * c->n_columns;
    c->values = ARENA_NEW(&c->arena, double, cells);
    if (c->values == NULL || c->arena.is_short)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (size_t i = 0; i < cells; i++)
        c->values[i] = NAN;
    return BRAID_OK;
}

/* Cells that are no numbers (a time of day) stay NaN. */
static void read_row(struct report_cost *c, const struct report_file *f, char *line)
{
    char *rest = line;
    const char *id = next_field(&rest);
    uint32_t run = id == NULL ? f->n_runs : find_run(f, id);
    if (run == f->n_runs)
        return;
    const char *field;
    for (uint32_t k = 0; k < c->n_columns && (field = next_field(&rest)) != NULL; k++)
        number_parse_double(field, strlen(field), &c->values[(size_t)run * c->n_columns + k]);
}

int report_cost_load(struct report_cost *out, const struct report_file *f, struct error *err)
{
    *out = (struct report_cost){0};
    arena_init(&out->arena);
    size_t stem = strlen(f->path);
    if (stem > 3 && strcmp(f->path + stem - 3, ".h5") == 0)
        stem -= 3;
    char *path = NULL, *line = NULL;
    size_t room = 0;
    if (asprintf(&path, "%.*s.cost.csv", (int)stem, f->path) < 0) {
        report_cost_fini(out);
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    int code = BRAID_OK;
    FILE *file = fopen(path, "r");
    if (file == NULL && errno != ENOENT)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (file != NULL) {
        if (getline(&line, &room, file) > 0)
            code = read_header(out, f, path, line, err);
        while (code == BRAID_OK && getline(&line, &room, file) > 0)
            read_row(out, f, line);
        if (code == BRAID_OK && !feof(file))
            code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be read to its end: %s", strerror(errno));
        fclose(file);
    }
    free(line);
    free(path);
    if (code != BRAID_OK)
        report_cost_fini(out);
    return code;
}

void report_cost_fini(struct report_cost *c)
{
    arena_fini(&c->arena);
    *c = (struct report_cost){0};
}

const char *report_cost_unit(const char *column)
{
    size_t n = strlen(column);
    return n > 2 && strcmp(column + n - 2, "_s") == 0 ? "s" : "";
}

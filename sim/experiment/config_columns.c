/* trace.columns: which column of a table is what of a job, from the config or from the options of `braid trace`. */
#include "experiment/config_columns.h"

#include "experiment/config_fill.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 160 };

int config_fill_column_texts(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                             struct mapping_source *source)
{
    const struct config_key each = {.section = key->section, .name = key->name, .type = KEY_TEXT};
    const struct config_item alone = {.value = node};
    bool is_list = node->kind == CONFIG_LIST;
    uint32_t n = is_list ? node->n : 1;
    const struct config_item *items = is_list ? node->items : &alone;
    if (node->kind == CONFIG_MAP || n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a text, or a list of texts such as [a, b]", key->section,
                           key->name);
    const char **texts = ARENA_NEW(f->arena, const char *, n);
    if (texts == NULL)
        return config_fill_short(f);
    config_fill_put(f, "[");
    for (uint32_t i = 0; i < n; i++) {
        struct config_value value;
        int status = config_value_read(&value, &each, items[i].value, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        texts[i] = value.text;
        config_fill_key(f, NULL);
        config_fill_value(f, &each, &value);
    }
    config_fill_put(f, "]");
    struct mapping_texts *to = strcmp(key->name, "tres") == 0     ? &source->tres
                               : strcmp(key->name, "passed") == 0 ? &source->passed
                               : strcmp(key->name, "failed") == 0 ? &source->failed
                                                                  : &source->killed;
    *to = (struct mapping_texts){texts, n};
    return BRAID_OK;
}

int config_fill_column(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    char shown[PATH_SIZE];
    uint32_t n, t = mapping_target_find(key->name);
    if (f->mapping == NULL && (f->mapping = ARENA_NEW(f->arena, struct trace_mapping, 1)) == NULL)
        return config_fill_short(f);
    const struct config_item item = {.key = "column", .key_place = node->place, .value = node};
    const struct config_node alone = {.kind = CONFIG_MAP, .place = node->place, .n = 1, .items = &item};
    const struct config_node *map = node->kind == CONFIG_SCALAR ? &alone : node;
    config_key_path(key, shown, sizeof shown);
    if (node->kind == CONFIG_LIST)
        return config_fail(f->err, node->place,
                           "'%s' wants the name of a column, or a map such as {column: NAME, unit: min}", shown);
    config_fill_put(f, "{");
    int status = config_fill_section(f, "trace.columns.NAME", shown, map, node->place, &f->mapping->sources[t]);
    config_fill_put(f, "}");
    if (status == BRAID_OK &&
        mapping_check_source(&mapping_targets(&n)[t], &f->mapping->sources[t], f->err) != BRAID_OK) {
        const struct error why = *f->err;
        status = config_fail(f->err, node->place, "trace.columns: %s", why.message);
    }
    f->mapping->is_given[t] = true;
    return status;
}

int config_check_columns(struct config_fill *f, const struct config_node *root)
{
    const struct config_item *trace = config_tree_find(root, "trace");
    const struct config_item *columns = trace != NULL ? config_tree_find(trace->value, "columns") : NULL;
    const struct config_item *format = trace != NULL ? config_tree_find(trace->value, "format") : NULL;
    const struct config_item *lengths = trace != NULL ? config_tree_find(trace->value, "applications") : NULL;
    struct run_config *run = f->run;
    if (columns == NULL)
        return BRAID_OK;
    if (run->trace.is_generated)
        return config_fail(f->err, columns->key_place,
                           "'trace.columns' cannot stand beside 'generate'; leave one of them out");
    if (strcmp(run->trace.format, "auto") != 0)
        return config_fail(f->err, format->key_place,
                           "'trace.format' cannot stand beside 'columns'; leave one of them out");
    if (lengths != NULL)
        return config_fail(f->err, lengths->key_place,
                           "'trace.applications' cannot stand beside 'columns'; leave one of them out");
    if (f->mapping == NULL && (f->mapping = ARENA_NEW(f->arena, struct trace_mapping, 1)) == NULL)
        return config_fill_short(f);
    f->mapping->separator = run->table.separator;
    f->mapping->header = run->table.header;
    f->mapping->unit = run->table.unit;
    run->trace.mapping = f->mapping;
    if (mapping_check(f->mapping, f->err) == BRAID_OK)
        return BRAID_OK;
    const struct error why = *f->err;
    return config_fail(f->err, columns->value->place, "trace.columns: %s", why.message);
}

/* ---- options ---------------------------------------------------------------------------------------------------------- */

/* "id=job_id,submit=t" as YAML; what begins with { is YAML. */
static bool columns_to_yaml(struct config_text *t, const char *columns)
{
    if (columns[0] == '{') {
        config_text_put(t, columns);
        return true;
    }
    config_text_put(t, "{");
    for (const char *at = columns; *at != '\0';) {
        char name[PATH_SIZE], column[PATH_SIZE];
        size_t n = strcspn(at, ","), equals = strcspn(at, "=");
        if (equals >= n || equals == 0 || n - equals > sizeof column || equals >= sizeof name)
            return false;
        snprintf(name, sizeof name, "%.*s", (int)equals, at);
        snprintf(column, sizeof column, "%.*s", (int)(n - equals - 1), at + equals + 1);
        config_text_scalar(t, name);
        config_text_put(t, ": ");
        config_text_scalar(t, column);
        at += n;
        if (*at == ',') {
            config_text_put(t, ", ");
            at++;
        }
    }
    config_text_put(t, "}");
    return true;
}

int config_columns_parse(const struct trace_mapping **out, const char *columns, const char *separator,
                         const char *header, const char *unit, struct arena *arena, struct error *err)
{
    const struct config_place place = {.file = "--columns"};
    struct run_config *run = ARENA_NEW(arena, struct run_config, 1);
    struct config_text text;
    struct config_fill fill;
    config_text_init(&text);
    int status = BRAID_OK;
    *out = NULL;
    config_text_put(&text, "trace: {path: t, columns: ");
    if (!columns_to_yaml(&text, columns))
        status = error_set(
            err, BRAID_BAD_INPUT,
            "--columns wants NAME=COLUMN,NAME=COLUMN such as id=job_id,submit=time, or a YAML map in braces, not "
            "'%.60s'",
            columns);
    const char *const names[] = {"separator", "header", "unit"}, *const values[] = {separator, header, unit};
    for (int i = 0; i < 3; i++)
        if (values[i] != NULL) {
            config_text_format(&text, ", %s: ", names[i]);
            config_text_scalar(&text, values[i]);
        }
    config_text_put(&text, "}");
    if (status == BRAID_OK && (text.is_short || run == NULL))
        status = error_set(err, BRAID_FAILED, "out of memory");
    if (status == BRAID_OK && !config_fill_init(&fill, ".", arena, err)) {
        status = error_set(err, BRAID_FAILED, "out of memory");
    } else if (status == BRAID_OK) {
        const struct config_node *root = config_tree_parse(arena, text.s, text.n, place, err);
        status = root != NULL ? config_fill_run(&fill, root, run) : err->code;
        if (status == BRAID_OK)
            *out = run->trace.mapping;
        config_fill_fini(&fill);
    }
    if (status == BRAID_BAD_INPUT) { /* the place is one in a text that the user has not written */
        const struct error why = *err;
        error_set(err, status, "%s", why.message);
    }
    config_text_fini(&text);
    return status;
}

/* model.start_overhead and model.restart_overhead: a time, steps by GPUs, or a table from a file. */
#include "experiment/config_fill.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct overhead_row *)a)->gpus, y = ((const struct overhead_row *)b)->gpus;
    return (x > y) - (x < y);
}

int config_fill_steps(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct overhead_rule *rule)
{
    const struct config_key gpus_key = {
        .section = key->section, .name = key->name, .type = KEY_INT, .min = 1, .max = 16777216, .unit = "GPUs"};
    struct config_key time_key = *key;
    time_key.type = KEY_TIME;
    if (node->kind != CONFIG_MAP || node->n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a map of GPUs to times such as {1: 7 s, 8: 30 s}",
                           key->section, key->name);
    struct overhead_row *rows = ARENA_NEW(f->arena, struct overhead_row, node->n);
    if (rows == NULL)
        return config_fill_short(f);
    struct config_value value;
    for (uint32_t i = 0; i < node->n; i++) {
        const struct config_item *item = &node->items[i];
        const struct config_node number = {.kind = CONFIG_SCALAR, .place = item->key_place, .text = item->key};
        int status = config_value_read(&value, &gpus_key, &number, f->arena, f->err);
        rows[i].gpus = (uint32_t)value.v.i;
        if (status == BRAID_OK)
            status = config_value_read(&value, &time_key, item->value, f->arena, f->err);
        rows[i].ns = value.v.i;
        if (status != BRAID_OK)
            return status;
    }
    qsort(rows, node->n, sizeof *rows, compare_rows);
    for (uint32_t i = 1; i < node->n; i++) /* "8" and "+8" are two texts and one number */
        if (rows[i - 1].gpus == rows[i].gpus)
            return config_fail(f->err, node->place, "'%s.%s' names %u GPUs twice", key->section, key->name,
                               rows[i].gpus);
    rule->rows = rows;
    rule->n_rows = node->n;
    config_fill_put(f, "{");
    for (uint32_t i = 0; i < node->n; i++) {
        config_fill_key(f, NULL);
        config_text_clear(&f->scratch);
        config_text_format(&f->scratch, "%u: ", rows[i].gpus);
        config_text_time(&f->scratch, rows[i].ns);
        config_fill_put(f, f->scratch.s);
    }
    config_fill_put(f, "}");
    return BRAID_OK;
}

/* Read the table at the rule's path, once for all runs. */
static int load_table(struct config_fill *f, struct overhead_rule *rule)
{
    struct config_file *file = config_files_at(&f->files, rule->table_shown);
    if (file == NULL)
        return config_fill_short(f);
    if (file->table == NULL) {
        int status = overhead_rule_load(rule, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        struct overhead_rule *kept = ARENA_NEW(f->arena, struct overhead_rule, 1);
        if (kept == NULL)
            return config_fill_short(f);
        *kept = *rule;
        file->table = kept;
    }
    *rule = *file->table;
    return BRAID_OK;
}

int config_fill_overhead(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                         struct overhead_rule *rule)
{
    struct config_value value;
    char shown[160];
    if (node->kind == CONFIG_SCALAR) {
        struct config_key time_key = *key;
        time_key.type = KEY_TIME;
        int status = config_value_read(&value, &time_key, node, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        rule->constant_ns = value.v.i;
        config_fill_value(f, &time_key, &value);
        return BRAID_OK;
    }
    config_key_path(key, shown, sizeof shown);
    if (node->kind != CONFIG_MAP || node->n == 0)
        return config_fail(f->err, node->place,
                           "'%s' wants a time such as '30 s', {by_gpus: {1: 7 s, 8: 30 s}} or {table: FILE}", shown);
    config_fill_put(f, "{");
    int status = config_fill_section(f, "model.*_overhead", shown, node, node->place, rule);
    config_fill_put(f, "}");
    return status == BRAID_OK && rule->table_path != NULL ? load_table(f, rule) : status;
}

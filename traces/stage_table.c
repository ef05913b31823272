#include "traces/stage_table.h"

#include "base/config_tree.h"
#include "base/names.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const stage_kind_names[WORKLOAD_STAGES] = {"storage", "cpu", "gpu", "network"};

struct reading {
    struct arena *a;
    struct error *err;
};

/* ---- values -------------------------------------------------------------------------------------- */

static int expect_map(const struct reading *r, const struct config_node *node, const char *what)
{
    if (node->kind == CONFIG_MAP && node->n > 0)
        return BRAID_OK;
    return config_fail(r->err, node->place, "%s must be a map with something in it", what);
}

/* Refuse keys that are not among `known`. */
static int expect_keys(const struct reading *r, const struct config_node *map, const char *const *known, size_t n,
                       const char *what)
{
    for (uint32_t i = 0; i < map->n; i++) {
        size_t k = 0;
        while (k < n && strcmp(map->items[i].key, known[k]) != 0)
            k++;
        if (k < n)
            continue;
        const char *near = text_nearest(map->items[i].key, known, n);
        return config_fail(r->err, map->items[i].key_place, "%s has no '%s'%s%s%s", what, map->items[i].key,
                           near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    return BRAID_OK;
}

static int read_text(const struct reading *r, const struct config_node *map, const char *key, const char **out)
{
    const struct config_item *item = config_tree_find(map, key);
    *out = NULL;
    if (item == NULL)
        return BRAID_OK;
    if (item->value->kind != CONFIG_SCALAR || item->value->text[0] == '\0')
        return config_fail(r->err, item->value->place, "'%s' must be a text", key);
    *out = item->value->text;
    return BRAID_OK;
}

static int read_time(const struct reading *r, const struct config_item *item, int64_t *out_ns)
{
    const struct config_node *node = item->value;
    if (node->kind != CONFIG_SCALAR || !number_parse_time(node->text, strlen(node->text), out_ns))
        return config_fail(r->err, node->place, "'%s' must be a time such as '250 ms'%s%s%s", item->key,
                           node->kind == CONFIG_SCALAR ? ", not '" : "", node->kind == CONFIG_SCALAR ? node->text : "",
                           node->kind == CONFIG_SCALAR ? "'" : "");
    if (*out_ns < 0 || *out_ns > STAGE_TABLE_SECONDS_MAX * NS_PER_S)
        return config_fail(r->err, node->place, "'%s' must be from 0 to %d s, not %s", item->key,
                           (int)STAGE_TABLE_SECONDS_MAX, node->text);
    return BRAID_OK;
}

static int read_weight(const struct reading *r, const struct config_node *map, double *out)
{
    const struct config_item *item = config_tree_find(map, "weight");
    *out = 1;
    if (item == NULL)
        return BRAID_OK;
    const struct config_node *node = item->value;
    if (node->kind != CONFIG_SCALAR || !number_parse_double(node->text, strlen(node->text), out))
        return config_fail(r->err, node->place, "'weight' must be a number");
    if (!(*out >= 0 && *out <= 1e9))
        return config_fail(r->err, node->place, "'weight' must be from 0 to 1e9, not %s", node->text);
    return BRAID_OK;
}

static int read_memory(const struct reading *r, const struct config_node *map, uint64_t *out_kib)
{
    const struct config_item *item = config_tree_find(map, "gpu_memory");
    *out_kib = 0;
    if (item == NULL)
        return BRAID_OK;
    const struct config_node *node = item->value;
    bool has_unit = node->kind == CONFIG_SCALAR && strpbrk(node->text, "Bb") != NULL;
    if (!has_unit || !number_parse_size(node->text, strlen(node->text), out_kib))
        return config_fail(r->err, node->place, "'gpu_memory' must be a size such as '11 GiB'");
    return BRAID_OK;
}

static uint32_t longest_stage(const struct stage_entry_ns *e)
{
    uint32_t longest = 0;
    for (uint32_t k = 1; k < WORKLOAD_STAGES; k++)
        if (e->stage_ns[k] > e->stage_ns[longest])
            longest = k;
    return longest;
}

/* Which resource bounds the model: as it says, else its longest stage. */
static int read_bound(const struct reading *r, const struct config_node *map, struct stage_model *m)
{
    const char *text;
    m->bound = longest_stage(&m->entries[0]);
    int code = read_text(r, map, "bound", &text);
    if (code != BRAID_OK || text == NULL)
        return code;
    for (m->bound = 0; m->bound < WORKLOAD_STAGES; m->bound++)
        if (strcmp(text, stage_kind_names[m->bound]) == 0)
            return BRAID_OK;
    return config_fail(r->err, config_tree_find(map, "bound")->value->place,
                       "'bound' must be storage, cpu, gpu or network, not '%s'", text);
}

/* ---- models ------------------------------------------------------------------------------------ */

static int read_entry(const struct reading *r, const struct config_item *item, struct stage_entry_ns *e, uint32_t least)
{
    static const char *const keys[] = {"iteration", "storage", "cpu", "gpu", "network"};
    uint64_t gpus;
    if (!number_parse_u64(item->key, strlen(item->key), &gpus) || gpus == 0 || gpus > STAGE_TABLE_GPUS_MAX)
        return config_fail(r->err, item->key_place, "'%s' is not a number of GPUs", item->key);
    if (gpus < least)
        return config_fail(r->err, item->key_place, "the numbers of GPUs must ascend, and %s does not", item->key);
    e->gpus = (uint32_t)gpus;
    int code = expect_map(r, item->value, "the times of an iteration");
    if (code == BRAID_OK)
        code = expect_keys(r, item->value, keys, sizeof keys / sizeof keys[0], "an iteration");
    int64_t sum_ns = 0;
    for (int k = 0; k < WORKLOAD_STAGES && code == BRAID_OK; k++) {
        const struct config_item *stage = config_tree_find(item->value, stage_kind_names[k]);
        if (stage != NULL)
            code = read_time(r, stage, &e->stage_ns[k]);
        sum_ns += e->stage_ns[k];
    }
    if (code != BRAID_OK)
        return code;
    if (sum_ns == 0)
        return config_fail(r->err, item->value->place, "none of storage, cpu, gpu and network takes time");
    const struct config_item *iteration = config_tree_find(item->value, "iteration");
    e->iteration_ns = sum_ns;
    if (iteration != NULL)
        code = read_time(r, iteration, &e->iteration_ns);
    if (code == BRAID_OK && e->iteration_ns == 0)
        return config_fail(r->err, iteration->value->place, "'iteration' must be more than 0");
    return code;
}

static int read_entries(const struct reading *r, const struct config_node *map, struct stage_model *m)
{
    const struct config_item *item = config_tree_find(map, "by_gpus");
    if (item == NULL)
        return config_fail(r->err, map->place, "'%s' lacks 'by_gpus', its times by number of GPUs", m->name);
    int code = expect_map(r, item->value, "'by_gpus'");
    if (code != BRAID_OK)
        return code;
    struct stage_entry_ns *entries = ARENA_NEW(r->a, struct stage_entry_ns, item->value->n);
    if (entries == NULL)
        return error_set(r->err, BRAID_FAILED, "out of memory while reading a table of profiles");
    for (uint32_t i = 0; i < item->value->n && code == BRAID_OK; i++)
        code = read_entry(r, &item->value->items[i], &entries[i], i > 0 ? entries[i - 1].gpus + 1 : 1);
    m->entries = entries;
    m->n_entries = item->value->n;
    return code;
}

static int read_model(const struct reading *r, const struct config_item *item, struct stage_model *m)
{
    static const char *const keys[] = {"bound", "weight", "gpu_memory", "source", "by_gpus"};
    const char *source;
    m->name = item->key;
    if (m->name[0] == '\0')
        return config_fail(r->err, item->key_place, "a model needs a name");
    int code = expect_map(r, item->value, "a model");
    if (code == BRAID_OK)
        code = expect_keys(r, item->value, keys, sizeof keys / sizeof keys[0], "a model");
    if (code == BRAID_OK)
        code = read_text(r, item->value, "source", &source);
    if (code == BRAID_OK)
        code = read_weight(r, item->value, &m->weight);
    if (code == BRAID_OK)
        code = read_memory(r, item->value, &m->gpu_mem_kib);
    if (code == BRAID_OK)
        code = read_entries(r, item->value, m);
    return code == BRAID_OK ? read_bound(r, item->value, m) : code;
}

static int compare_models(const void *a, const void *b)
{
    const char *x = ((const struct stage_model *)a)->name, *y = ((const struct stage_model *)b)->name;
    return text_compare_natural(x, strlen(x), y, strlen(y));
}

static int read_models(const struct reading *r, const struct config_node *map, struct stage_table *out)
{
    int code = expect_map(r, map, "'models'");
    if (code != BRAID_OK)
        return code;
    if (map->n > STAGE_TABLE_MODELS_MAX)
        return config_fail(r->err, map->place, "'models' has %" PRIu32 " models; at most %d are taken", map->n,
                           (int)STAGE_TABLE_MODELS_MAX);
    struct stage_model *models = ARENA_NEW(r->a, struct stage_model, map->n);
    if (models == NULL)
        return error_set(r->err, BRAID_FAILED, "out of memory while reading a table of profiles");
    double total = 0;
    for (uint32_t i = 0; i < map->n && code == BRAID_OK; i++) {
        code = read_model(r, &map->items[i], &models[i]);
        total += models[i].weight;
    }
    if (code == BRAID_OK && !(total > 0))
        return config_fail(r->err, map->place, "'models': every weight is 0, so that none can be drawn");
    qsort(models, map->n, sizeof *models, compare_models);
    out->models = models;
    out->n_models = map->n;
    return code;
}

int stage_table_read(struct stage_table *out, struct arena *a, const char *path, const char *shown, struct error *err)
{
    static const char *const keys[] = {"braid_profiles", "source", "models"};
    struct reading r = {.a = a, .err = err};
    *out = (struct stage_table){0};
    const struct config_node *root = config_tree_load(a, path, shown, err);
    if (root == NULL)
        return err->code;
    const struct config_item *version = config_tree_find(root, "braid_profiles");
    if (version == NULL)
        return config_fail(err, root->place,
                           "this is no table of profiles: 'braid_profiles: 1' is missing; see configs/profiles");
    if (version->value->kind != CONFIG_SCALAR || strcmp(version->value->text, "1") != 0)
        return config_fail(err, version->value->place, "'braid_profiles' must be 1");
    int code = expect_keys(&r, root, keys, sizeof keys / sizeof keys[0], "a table of profiles");
    const char *source;
    if (code == BRAID_OK)
        code = read_text(&r, root, "source", &source);
    if (code != BRAID_OK)
        return code;
    const struct config_item *models = config_tree_find(root, "models");
    return models != NULL ? read_models(&r, models->value, out)
                          : config_fail(err, root->place, "the table of profiles lacks 'models'");
}

/* ---- questions ---------------------------------------------------------------------------------- */

const struct stage_model *stage_table_find(const struct stage_table *t, const char *name)
{
    const struct stage_model key = {.name = name};
    return bsearch(&key, t->models, t->n_models, sizeof *t->models, compare_models);
}

const struct stage_entry_ns *stage_model_entry(const struct stage_model *m, uint32_t gpus)
{
    uint32_t i = m->n_entries - 1;
    while (i > 0 && m->entries[i].gpus > gpus)
        i--;
    return &m->entries[i];
}

#include "experiment/experiment.h"

#include "experiment/config_fill.h"
#include "experiment/sweep.h"
#include "policies/registry.h"

#include <string.h>

struct load {
    struct experiment *x;
    struct config_fill fill;
    struct sweep sweep;
    const struct config_node *root;
    struct config_place sweep_place;
    struct names seen; /* digest of each run's config */
    struct error *err;
};

static int short_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory while reading the config");
}

/* ---- --set ------------------------------------------------------------------------------------- */

/* Is `key`, or one above it, in a map of `zip`? */
static bool is_zipped(const struct config_node *sweep, const char *key)
{
    const struct config_item *zip = sweep != NULL ? config_tree_find(sweep, "zip") : NULL;
    if (zip == NULL)
        return false;
    uint32_t n_maps = zip->value->kind == CONFIG_LIST ? zip->value->n : 1;
    for (uint32_t i = 0; i < n_maps; i++) {
        const struct config_node *map = zip->value->kind == CONFIG_LIST ? zip->value->items[i].value : zip->value;
        for (uint32_t k = 0; map->kind == CONFIG_MAP && k < map->n; k++) {
            size_t n = strlen(map->items[k].key);
            if (strncmp(key, map->items[k].key, n) == 0 && (key[n] == '.' || key[n] == '\0'))
                return true;
        }
    }
    return false;
}

/* Put one value into the tree. Setting a swept key replaces its sweep; `sweep.KEY` sets the values of KEY's sweep. */
static int apply_value(struct load *l, const char *key, struct config_place place, const struct config_node *value)
{
    struct arena *a = &l->x->arena;
    const struct config_item *item = config_tree_find(l->root, "sweep");
    const struct config_node *sweep = item != NULL ? item->value : NULL;
    static const struct config_node no_sweep = {.kind = CONFIG_MAP};
    if (strncmp(key, "sweep.", 6) == 0) {
        if (sweep != NULL && sweep->kind != CONFIG_MAP)
            return config_fail(l->err, place, "'%s' cannot be set: 'sweep' is not a map", key);
        const struct config_node *with = config_tree_put(a, sweep != NULL ? sweep : &no_sweep, key + 6, place, value);
        if (with != NULL)
            l->root = config_tree_put(a, l->root, "sweep", place, with);
        return with != NULL && l->root != NULL ? BRAID_OK : short_of_memory(l->err);
    }
    if (config_tree_find(sweep, key) != NULL) {
        const struct config_node *less = config_tree_without(a, sweep, key);
        if (less == NULL || (l->root = config_tree_put(a, l->root, "sweep", item->key_place, less)) == NULL)
            return short_of_memory(l->err);
    }
    for (uint32_t i = 0; sweep != NULL && sweep->kind == CONFIG_MAP && i < sweep->n; i++) {
        const char *axis = sweep->items[i].key;
        size_t n = strlen(axis);
        if (strncmp(key, axis, n) == 0 && key[n] == '.')
            return config_fail(l->err, place,
                               "'%s' would be undone by the sweep of '%s'; set '%s', or write it in the sweep", key,
                               axis, axis);
    }
    if (is_zipped(sweep, key))
        return config_fail(l->err, place,
                           "'%s' would be undone by 'sweep.zip'; set 'sweep.zip', or write it in the sweep", key);
    l->root = config_tree_set(a, l->root, key, place, value, config_short_key, l->err);
    return l->root != NULL ? BRAID_OK : l->err->code;
}

static int apply_override(struct load *l, const char *text)
{
    static const char prefix[] = "--set ";
    struct arena *a = &l->x->arena;
    size_t n = strlen(text);
    char *shown = arena_alloc(a, sizeof prefix + n, 1);
    const char *equals = strchr(text, '=');
    if (shown == NULL)
        return short_of_memory(l->err);
    memcpy(shown, prefix, sizeof prefix - 1);
    memcpy(shown + sizeof prefix - 1, text, n);
    const struct config_place place = {shown, 0, 0};
    if (equals == NULL || equals == text)
        return config_fail(l->err, place, "wants KEY=VALUE, such as trace.load=0.9");
    const char *key = arena_text(a, text, (size_t)(equals - text));
    if (key == NULL)
        return short_of_memory(l->err);
    const struct config_node *value = config_tree_parse(a, equals + 1, strlen(equals + 1), place, l->err);
    return value != NULL ? apply_value(l, key, place, value) : l->err->code;
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* Two equal runs would be one row of the results: refuse them while the reason is at hand. */
static int check_new(struct load *l, const struct run_config *run)
{
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    digest_init(&d);
    digest_add_bytes(&d, run->yaml, strlen(run->yaml));
    digest_final(&d, bytes);
    char hex[DIGEST_HEX + 1];
    digest_hex(bytes, DIGEST_BYTES, hex);
    uint32_t id = names_add(&l->seen, hex, DIGEST_HEX);
    if (id == NAMES_NONE)
        return short_of_memory(l->err);
    if (id == run->index)
        return BRAID_OK;
    return config_fail(l->err, l->sweep_place,
                       "runs %u and %u of the sweep come out the same: a swept key does not count in "
                       "them; sweep the section as a whole instead",
                       id, run->index);
}

static int add_run(void *self, const struct config_node *root, uint32_t index, const uint32_t *at)
{
    struct load *l = self;
    struct run_config *run = &l->x->runs[index];
    struct swept *swept = ARENA_NEW(&l->x->arena, struct swept, l->sweep.n_keys);
    if (swept == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < l->sweep.n_keys; i++)
        swept[i] = (struct swept){l->sweep.keys[i].key, at[i] != SWEEP_NONE ? l->sweep.keys[i].texts[at[i]] : ""};
    run->index = index;
    run->swept = swept;
    run->n_swept = l->sweep.n_keys;
    int status = config_fill_run(&l->fill, root, run);
    return status == BRAID_OK ? check_new(l, run) : status;
}

static int add_axes(struct load *l)
{
    struct experiment *x = l->x;
    struct swept *axes = ARENA_NEW(&x->arena, struct swept, l->sweep.n_keys);
    if (axes == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < l->sweep.n_keys; i++) {
        struct config_text count;
        config_text_init(&count);
        config_text_format(&count, "%u", l->sweep.axes[l->sweep.keys[i].axis].n);
        axes[i] =
            (struct swept){l->sweep.keys[i].key, count.s != NULL ? arena_text(&x->arena, count.s, count.n) : NULL};
        config_text_fini(&count);
        if (axes[i].value == NULL)
            return short_of_memory(l->err);
    }
    x->axes = axes;
    x->n_axes = l->sweep.n_keys;
    return BRAID_OK;
}

static int add_inputs(struct load *l)
{
    const struct config_files *files = &l->fill.files;
    struct experiment *x = l->x;
    x->inputs = ARENA_NEW(&x->arena, const char *, (size_t)files->shown.count + 1);
    if (x->inputs == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < files->shown.count; i++)
        x->inputs[x->n_inputs++] = files->files[i]->path;
    return BRAID_OK;
}

/* The name from the config, else the file's without folder and ending. */
static int set_name(struct load *l)
{
    const struct config_item *item = config_tree_find(l->root, "name");
    struct experiment *x = l->x;
    if (item != NULL) {
        x->name = item->value->text; /* a text: the runs were filled */
        if (strchr(x->name, '/') == NULL && x->name[0] != '.')
            return BRAID_OK;
        return config_fail(l->err, item->value->place,
                           "'name' is '%.60s', but must be fit for a file's name: no '/', and no '.' "
                           "at its beginning",
                           x->name);
    }
    const char *slash = strrchr(x->path, '/'), *file = slash != NULL ? slash + 1 : x->path;
    const char *dot = strrchr(file, '.');
    x->name = arena_text(&x->arena, file, dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file));
    return x->name != NULL ? BRAID_OK : short_of_memory(l->err);
}

static bool find_module(void *self, const struct config_node *root, const char *kind, const struct config_node *node,
                        struct sweep_module *out)
{
    return config_fill_module(self, root, kind, node, out);
}

static int load_all(struct load *l, const struct config_override *sets, size_t n_sets)
{
    struct experiment *x = l->x;
    l->root = config_tree_load(&x->arena, x->path, x->path, l->err);
    if (l->root == NULL)
        return l->err->code;
    if (l->root->kind != CONFIG_MAP)
        return config_fail(l->err, l->root->place, "a config is a map of keys, such as 'trace: PATH'");
    int status = BRAID_OK;
    for (size_t i = 0; i < n_sets && status == BRAID_OK; i++)
        status = apply_override(l, sets[i].text);
    if (status != BRAID_OK)
        return status;
    const struct config_item *sweep = config_tree_find(l->root, "sweep");
    l->sweep_place = sweep != NULL ? sweep->key_place : l->root->place;
    const struct sweep_modules modules = {find_module, &l->fill};
    status = sweep_init(&l->sweep, &x->arena, l->root, sweep != NULL ? sweep->value : NULL, &modules,
                        EXPERIMENT_RUNS_MAX, l->err);
    if (status == BRAID_OK)
        status = sweep_label(&l->sweep, &x->arena, l->root, l->err);
    if (status != BRAID_OK)
        return status;
    x->n_runs = l->sweep.n_runs;
    x->runs = ARENA_NEW(&x->arena, struct run_config, x->n_runs);
    if (x->runs == NULL)
        return short_of_memory(l->err);
    status = sweep_expand(&l->sweep, &x->arena, l->root, add_run, l, l->err);
    if (status == BRAID_OK)
        status = add_axes(l);
    if (status == BRAID_OK)
        status = add_inputs(l);
    return status == BRAID_OK ? set_name(l) : status;
}

int experiment_load(struct experiment *x, const char *path, const struct config_override *sets, size_t n_sets,
                    struct error *err)
{
    struct error unseen;
    *x = (struct experiment){0};
    arena_init(&x->arena);
    struct load l = {.x = x, .err = err != NULL ? err : &unseen};
    names_init(&l.seen);
    x->path = arena_text(&x->arena, path, strlen(path));
    int status = x->path != NULL && config_fill_init(&l.fill, x->path, &x->arena, l.err) ? load_all(&l, sets, n_sets)
                                                                                         : short_of_memory(l.err);
    x->libraries = l.fill.libraries;
    x->n_libraries = l.fill.n_libraries;
    config_fill_fini(&l.fill);
    names_fini(&l.seen);
    if (status != BRAID_OK)
        experiment_fini(x);
    return status;
}

void experiment_fini(struct experiment *x)
{
    for (uint32_t i = 0; i < x->n_libraries; i++)
        policy_unload(x->libraries[i]);
    arena_fini(&x->arena);
    *x = (struct experiment){0};
}

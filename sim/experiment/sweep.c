#include "experiment/sweep.h"

#include "base/config_text.h"
#include "base/names.h"
#include "experiment/config_keys.h"
#include "experiment/config_value.h"

#include <stdio.h>
#include <string.h>

static int check_key(const struct config_item *item, struct error *err)
{
    enum { NAMES_MAX = 33 };
    const char *names[NAMES_MAX] = {"zip"};
    size_t n, n_names = 1;
    const struct config_key *keys = config_section("", &n);
    size_t length = strcspn(item->key, ".");
    char top[64] = "";
    if (length < sizeof top)
        memcpy(top, item->key, length);
    for (size_t i = 0; i < n; i++) {
        bool changes_result = !(keys[i].flags & KEY_NO_RESULT);
        if (strcmp(keys[i].name, top) == 0) {
            if (changes_result)
                return BRAID_OK;
            return config_fail(err, item->key_place, "'%s' cannot be swept: it changes no result", item->key);
        }
        if (changes_result && n_names < NAMES_MAX)
            names[n_names++] = keys[i].name;
    }
    return config_fail_unknown(err, item->key_place, "key in 'sweep':", item->key, names, n_names);
}

/* Is `key` the same as `above`, or a key below it? */
static bool is_below(const char *key, const char *above)
{
    size_t n = strlen(above);
    return strncmp(key, above, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

/* Does the dotted key take whole numbers? */
static bool is_whole(const char *key)
{
    char section[128];
    const char *dot = strrchr(key, '.');
    if (dot == NULL)
        return config_key_find("", key) != NULL && config_key_find("", key)->type == KEY_INT;
    if (strncmp(key, "cluster.nodes.", 14) == 0)
        snprintf(section, sizeof section, "cluster.nodes[]");
    else if (strncmp(key, "cluster.vcs.", 12) == 0)
        snprintf(section, sizeof section, "cluster.vcs.NAME");
    else
        snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
    const struct config_key *found = config_key_find(section, dot + 1);
    return found != NULL && found->type == KEY_INT;
}

/* ---- axes -------------------------------------------------------------------------------------- */

struct layout {
    struct sweep *sweep;
    struct arena *arena;
    const struct config_node *root;
    struct error *err;
};

static int fill_texts(struct layout *l, struct sweep_key *k, uint32_t n)
{
    struct config_text text;
    struct names seen;
    k->texts = ARENA_NEW(l->arena, const char *, n);
    if (k->texts == NULL)
        return error_set(l->err, BRAID_FAILED, "out of memory");
    config_text_init(&text);
    names_init(&seen);
    int status = BRAID_OK;
    for (uint32_t i = 0; i < n && status == BRAID_OK; i++) {
        config_text_clear(&text);
        config_text_node(&text, k->values[i].value);
        k->texts[i] = text.is_short ? NULL : arena_text(l->arena, text.s, text.n);
        uint32_t id = k->texts[i] != NULL ? names_add(&seen, text.s, text.n) : NAMES_NONE;
        bool is_alone = l->sweep->axes[k->axis].n_keys == 1;
        if (id == NAMES_NONE)
            status = error_set(l->err, BRAID_FAILED, "out of memory");
        else if (id != i && is_alone)
            status = config_fail(l->err, k->values[i].value->place,
                                 "'sweep.%s' has the value '%.200s' twice (first in line %d)", k->key, k->texts[i],
                                 k->values[id].value->place.line);
    }
    names_fini(&seen);
    config_text_fini(&text);
    return status;
}

/* One key, the last of the last axis. */
static int add_key(struct layout *l, const struct config_item *item)
{
    struct sweep *s = l->sweep;
    struct sweep_axis *axis = &s->axes[s->n_axes - 1];
    int status = check_key(item, l->err);
    for (uint32_t k = 0; k < s->n_keys && status == BRAID_OK; k++)
        if (is_below(s->keys[k].key, item->key))
            status = config_fail(l->err, item->key_place, "'sweep.%s' would undo 'sweep.%s'; write it first", item->key,
                                 s->keys[k].key);
    if (status != BRAID_OK)
        return status;
    if (s->n_keys == SWEEP_KEYS_MAX)
        return config_fail(l->err, item->key_place, "more than %d keys are swept", SWEEP_KEYS_MAX);
    const struct config_node *list = item->value;
    if (sweep_is_range(list))
        list = sweep_range(l->arena, list, item->key, is_whole(item->key), l->err);
    else if (list->kind != CONFIG_LIST)
        return config_fail(l->err, list->place,
                           "'sweep.%s' wants a list of values such as [a, b], or a range {from: A, to: B, step: C}",
                           item->key);
    else if (list->n == 0)
        return config_fail(l->err, list->place, "'sweep.%s' has no values: nothing would be run", item->key);
    if (list != NULL && strcmp(item->key, "policy") == 0)
        list = sweep_policies(&s->modules, l->arena, l->root, list, l->err);
    if (list == NULL)
        return l->err->code;
    struct sweep_key *key = &s->keys[s->n_keys];
    *key = (struct sweep_key){.key = item->key, .place = item->key_place, .axis = s->n_axes - 1, .values = list->items};
    if (s->n_keys > axis->first_key && list->n != axis->n)
        return config_fail(l->err, item->value->place,
                           "the keys of one map of 'zip' want lists of one length: '%s' has %u values, '%s' has %u",
                           s->keys[axis->first_key].key, axis->n, item->key, list->n);
    axis->n = list->n;
    s->n_keys++;
    return fill_texts(l, key, list->n);
}

static struct sweep_axis *add_axis(struct layout *l, uint32_t n_keys)
{
    struct sweep_axis *axis = &l->sweep->axes[l->sweep->n_axes++];
    *axis = (struct sweep_axis){.first_key = l->sweep->n_keys, .n_keys = n_keys};
    return axis;
}

/* The map or the list of maps of `zip`: an axis each. */
static int add_zip(struct layout *l, const struct config_item *item)
{
    const struct config_node *node = item->value;
    uint32_t n = node->kind == CONFIG_LIST ? node->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct config_node *map = node->kind == CONFIG_LIST ? node->items[i].value : node;
        if (map->kind != CONFIG_MAP || map->n == 0)
            return config_fail(
                l->err, map->place,
                "'sweep.zip' wants maps of keys that move together, such as [{KEY: [a, b], KEY: [c, d]}]");
        if (l->sweep->n_keys + map->n > SWEEP_KEYS_MAX)
            return config_fail(l->err, map->place, "more than %d keys are swept", SWEEP_KEYS_MAX);
        add_axis(l, map->n);
        for (uint32_t k = 0; k < map->n; k++) {
            int status = add_key(l, &map->items[k]);
            if (status != BRAID_OK)
                return status;
        }
    }
    return BRAID_OK;
}

/* ---- which keys apply --------------------------------------------------------------------------- */

/* "policy" of "policy.share": the module that a key is a parameter of; NULL: of none. */
static const char *module_of(const char *key)
{
    return strncmp(key, "policy.", 7) == 0 ? "policy" : strncmp(key, "placement.", 10) == 0 ? "placement" : NULL;
}

/* Does a key apply in a run with this tree? Only keys of modules that the run's module has not do not. */
static bool applies(const struct sweep *s, const struct sweep_key *k, const struct config_node *root)
{
    const char *kind = module_of(k->key);
    if (kind == NULL)
        return true;
    const char *name = k->key + strlen(kind) + 1;
    size_t length = strcspn(name, ".");
    struct sweep_module m;
    const struct config_item *item = config_tree_find(root, kind);
    if (!s->modules.find(s->modules.self, root, kind, item != NULL ? item->value : NULL, &m))
        return true;
    for (size_t i = 0; i < m.n_params; i++)
        if (strlen(m.params[i].name) == length && strncmp(m.params[i].name, name, length) == 0)
            return true;
    static const char *const own[] = {"name", "label", "plugin"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strlen(own[i]) == length && strncmp(own[i], name, length) == 0)
            return true;
    return false;
}

/* Is the module itself swept by an earlier axis? Else a key that does not apply applies nowhere. */
static bool module_is_swept(const struct sweep *s, const struct sweep_key *k)
{
    const char *kind = module_of(k->key);
    for (uint32_t i = 0; kind != NULL && s->keys[i].axis < k->axis; i++)
        if (strcmp(s->keys[i].key, kind) == 0)
            return true;
    return false;
}

/* ---- the product -------------------------------------------------------------------------------- */

struct expansion {
    const struct sweep *sweep;
    struct arena *arena;
    sweep_visit *visit;
    void *self;
    struct error *err;
    uint32_t *at; /* by key */
    uint32_t run;
};

/* The tree with value `i` of an axis, and what that makes of `at`; NULL with e->err. */
static const struct config_node *set_values(struct expansion *e, const struct config_node *root,
                                            const struct sweep_axis *axis, uint32_t i)
{
    const struct config_node *tree = root;
    for (uint32_t k = axis->first_key; k < axis->first_key + axis->n_keys && tree != NULL; k++) {
        const struct sweep_key *key = &e->sweep->keys[k];
        e->at[k] = key->is_applied && !applies(e->sweep, key, tree) ? SWEEP_NONE : i;
        if (e->at[k] != SWEEP_NONE)
            tree =
                config_tree_set(e->arena, tree, key->key, key->place, key->values[i].value, config_short_key, e->err);
    }
    return tree;
}

/* Runs with the first `level` axes settled. The trees of a level share what its axis does not touch. */
static int expand(struct expansion *e, const struct config_node *root, uint32_t level)
{
    if (level == e->sweep->n_axes)
        return e->visit(e->self, root, e->run++, e->at);
    const struct sweep_axis *axis = &e->sweep->axes[level];
    for (uint32_t i = 0; i < axis->n; i++) {
        const struct config_node *tree = set_values(e, root, axis, i);
        if (tree == NULL)
            return e->err->code;
        bool is_any = false;
        for (uint32_t k = axis->first_key; k < axis->first_key + axis->n_keys; k++)
            is_any |= e->at[k] != SWEEP_NONE;
        int status = expand(e, tree, level + 1);
        if (status != BRAID_OK)
            return status;
        if (!is_any) /* no key of the axis applies: once is enough */
            break;
    }
    return BRAID_OK;
}

int sweep_expand(const struct sweep *s, struct arena *a, const struct config_node *root, sweep_visit *visit, void *self,
                 struct error *err)
{
    struct expansion e = {.sweep = s, .arena = a, .visit = visit, .self = self, .err = err};
    e.at = ARENA_NEW(a, uint32_t, s->n_keys);
    if (e.at == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    return expand(&e, root, 0);
}

/* ---- counting, where keys may not apply ---------------------------------------------------------- */

struct counting {
    uint32_t n_runs;
};

static int count_run(void *self, const struct config_node *root, uint32_t run, const uint32_t *at)
{
    (void)root, (void)run, (void)at;
    ((struct counting *)self)->n_runs++;
    return BRAID_OK;
}

/* Does the key apply for some value of the axis that sweeps its module? A key that applies nowhere is left as it is: the first run says what is
 * wrong with it. Then the runs are counted. */
static int count_runs(struct layout *l)
{
    struct sweep *s = l->sweep;
    bool is_needed = false;
    for (uint32_t k = 0; k < s->n_keys; k++) {
        struct sweep_key *key = &s->keys[k];
        if (!module_is_swept(s, key))
            continue;
        const char *kind = module_of(key->key);
        for (uint32_t m = 0; s->keys[m].axis < key->axis; m++)
            for (uint32_t i = 0; strcmp(s->keys[m].key, kind) == 0 && i < s->axes[s->keys[m].axis].n; i++) {
                const struct config_node *tree = config_tree_set(l->arena, l->root, kind, s->keys[m].place,
                                                                 s->keys[m].values[i].value, config_short_key, l->err);
                if (tree == NULL)
                    return l->err->code;
                key->is_applied |= applies(s, key, tree);
            }
        is_needed |= key->is_applied;
    }
    struct counting c = {0};
    int status = is_needed ? sweep_expand(s, l->arena, l->root, count_run, &c, l->err) : BRAID_OK;
    if (is_needed && status == BRAID_OK)
        s->n_runs = c.n_runs;
    return status;
}

int sweep_init(struct sweep *s, struct arena *a, const struct config_node *root, const struct config_node *map,
               const struct sweep_modules *modules, uint32_t most, struct error *err)
{
    *s = (struct sweep){.n_runs = 1, .modules = *modules};
    if (map == NULL)
        return BRAID_OK;
    if (map->kind != CONFIG_MAP)
        return config_fail(err, map->place, "'sweep' wants a map of keys to lists, such as {policy: [fifo, srtf]}");
    struct layout l = {s, a, root, err};
    s->keys = ARENA_NEW(a, struct sweep_key, SWEEP_KEYS_MAX + 1);
    s->axes = ARENA_NEW(a, struct sweep_axis, SWEEP_KEYS_MAX + 1);
    if (s->keys == NULL || s->axes == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    uint64_t runs = 1;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct config_item *item = &map->items[i];
        uint32_t before = s->n_axes;
        if (s->n_keys == SWEEP_KEYS_MAX)
            return config_fail(err, item->key_place, "more than %d keys are swept", SWEEP_KEYS_MAX);
        bool is_zip = strcmp(item->key, "zip") == 0;
        if (!is_zip)
            add_axis(&l, 1);
        int status = is_zip ? add_zip(&l, item) : add_key(&l, item);
        if (status != BRAID_OK)
            return status;
        for (uint32_t k = before; k < s->n_axes; k++) {
            runs *= s->axes[k].n; /* most < 2^32 and a list is shorter: no overflow before the check */
            if (runs > most)
                return config_fail(err, item->key_place, "the sweep makes %llu runs or more; at most %u are possible",
                                   (unsigned long long)runs, most);
        }
    }
    s->n_runs = (uint32_t)runs;
    return count_runs(&l);
}

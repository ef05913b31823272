#include "experiment/sweep.h"

#include "base/names.h"
#include "experiment/config_keys.h"
#include "base/config_text.h"
#include "experiment/config_value.h"

#include <string.h>

static int check_key(const struct config_item *item, struct error *err)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX];
    size_t n, n_names = 0;
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

static int axis_init(struct sweep_axis *axis, struct arena *a, const struct config_item *item, struct error *err)
{
    const struct config_node *list = item->value;
    if (list->kind != CONFIG_LIST)
        return config_fail(err, list->place, "'sweep.%s' wants a list of values such as [a, b]", item->key);
    if (list->n == 0)
        return config_fail(err, list->place, "'sweep.%s' has no values: nothing would be run", item->key);
    *axis = (struct sweep_axis){.key = item->key, .place = item->key_place, .n = list->n, .values = list->items};
    axis->texts = ARENA_NEW(a, const char *, list->n);
    if (axis->texts == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    struct config_text text;
    struct names seen;
    config_text_init(&text);
    names_init(&seen);
    int status = BRAID_OK;
    for (uint32_t i = 0; i < list->n && status == BRAID_OK; i++) {
        config_text_clear(&text);
        config_text_node(&text, list->items[i].value);
        axis->texts[i] = text.is_short ? NULL : arena_text(a, text.s, text.n);
        uint32_t id = axis->texts[i] != NULL ? names_add(&seen, text.s, text.n) : NAMES_NONE;
        if (id == NAMES_NONE)
            status = error_set(err, BRAID_FAILED, "out of memory");
        else if (id != i)
            status = config_fail(err, list->items[i].value->place,
                                 "'sweep.%s' has the value '%.200s' twice (first in line %d)", item->key,
                                 axis->texts[i], list->items[id].value->place.line);
    }
    names_fini(&seen);
    config_text_fini(&text);
    return status;
}

int sweep_init(struct sweep *s, struct arena *a, const struct config_node *map, uint32_t most, struct error *err)
{
    *s = (struct sweep){.n_runs = 1};
    if (map == NULL)
        return BRAID_OK;
    if (map->kind != CONFIG_MAP)
        return config_fail(err, map->place, "'sweep' wants a map of keys to lists, such as {policy: [fifo, srtf]}");
    if (map->n > SWEEP_AXES_MAX)
        return config_fail(err, map->items[SWEEP_AXES_MAX].key_place, "more than %d keys are swept", SWEEP_AXES_MAX);
    s->axes = ARENA_NEW(a, struct sweep_axis, map->n);
    if (s->axes == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    uint64_t runs = 1;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct config_item *item = &map->items[i];
        int status = check_key(item, err);
        for (uint32_t k = 0; k < i && status == BRAID_OK; k++)
            if (is_below(map->items[k].key, item->key))
                status = config_fail(err, item->key_place, "'sweep.%s' would undo 'sweep.%s'; write it first",
                                     item->key, map->items[k].key);
        if (status == BRAID_OK)
            status = axis_init(&s->axes[i], a, item, err);
        if (status != BRAID_OK)
            return status;
        runs *= s->axes[i].n; /* most < 2^32 and a list is shorter: no overflow before the check */
        if (runs > most)
            return config_fail(err, item->key_place, "the sweep makes %llu runs or more; at most %u are possible",
                               (unsigned long long)runs, most);
        s->n_axes++;
    }
    s->n_runs = (uint32_t)runs;
    return BRAID_OK;
}

struct expansion {
    const struct sweep *sweep;
    struct arena *arena;
    sweep_visit *visit;
    void *self;
    struct error *err;
    uint32_t *at;
    uint32_t run;
};

/* Runs with the first `level` axes settled. The trees of a level share what its axis does not touch. */
static int expand(struct expansion *e, const struct config_node *root, uint32_t level)
{
    if (level == e->sweep->n_axes)
        return e->visit(e->self, root, e->run++, e->at);
    const struct sweep_axis *axis = &e->sweep->axes[level];
    for (uint32_t i = 0; i < axis->n; i++) {
        const struct config_node *tree =
            config_tree_set(e->arena, root, axis->key, axis->place, axis->values[i].value, config_short_key, e->err);
        if (tree == NULL)
            return e->err->code;
        e->at[level] = i;
        int status = expand(e, tree, level + 1);
        if (status != BRAID_OK)
            return status;
    }
    return BRAID_OK;
}

int sweep_expand(const struct sweep *s, struct arena *a, const struct config_node *root, sweep_visit *visit, void *self,
                 struct error *err)
{
    struct expansion e = {.sweep = s, .arena = a, .visit = visit, .self = self, .err = err};
    e.at = ARENA_NEW(a, uint32_t, s->n_axes);
    if (e.at == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    return expand(&e, root, 0);
}

#include "base/config_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int config_fail(struct error *err, struct config_place place, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(err, BRAID_BAD_INPUT, place.file, place.line, place.col, "%s", message);
}

const struct config_item *config_tree_find(const struct config_node *map, const char *key)
{
    if (map == NULL || map->kind != CONFIG_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->n; i++)
        if (strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

static void out_of_memory(struct error *err)
{
    error_set(err, BRAID_FAILED, "out of memory while reading the config");
}

/* A copy of `from` with room for one more item, which is not counted yet. */
static struct config_node *node_copy(struct arena *a, const struct config_node *from, struct config_item **items)
{
    struct config_node *node = ARENA_NEW(a, struct config_node, 1);
    *items = ARENA_NEW(a, struct config_item, from->n + 1);
    if (node == NULL || *items == NULL)
        return NULL;
    *node = *from;
    if (from->n > 0)
        memcpy(*items, from->items, from->n * sizeof **items);
    node->items = *items;
    return node;
}

const struct config_node *config_tree_without(struct arena *a, const struct config_node *map, const char *key)
{
    const struct config_item *item = config_tree_find(map, key);
    if (item == NULL)
        return map;
    struct config_item *items;
    struct config_node *node = node_copy(a, map, &items);
    if (node == NULL)
        return NULL;
    size_t at = (size_t)(item - map->items);
    memmove(items + at, items + at + 1, (map->n - at - 1) * sizeof *items);
    node->n--;
    return node;
}

const struct config_node *config_tree_put(struct arena *a, const struct config_node *map, const char *key,
                                          struct config_place place, const struct config_node *value)
{
    struct config_item *items;
    struct config_node *node = node_copy(a, map, &items);
    if (node == NULL)
        return NULL;
    uint32_t i = 0;
    while (i < map->n && strcmp(map->items[i].key, key) != 0)
        i++;
    node->n += i == map->n;
    items[i] = (struct config_item){.key = key, .key_place = place, .value = value};
    return node;
}

struct setting {
    struct arena *arena;
    const char *key;
    struct config_place place;
    const struct config_node *value;
    const char *(*short_key)(const char *path);
    struct error *err;
};

static const struct config_node *set_below(const struct setting *s, const struct config_node *node, size_t at);

/* The map that a scalar in short form stands for, or NULL with an error. */
static const struct config_node *set_long_form(const struct setting *s, const struct config_node *scalar, size_t at)
{
    char *path = arena_text(s->arena, s->key, at > 0 ? at - 1 : 0);
    if (path == NULL) {
        out_of_memory(s->err);
        return NULL;
    }
    const char *key = s->short_key(path);
    if (key == NULL) {
        config_fail(s->err, s->place, "'%s' cannot be set: '%s' is not a map", s->key, path);
        return NULL;
    }
    struct config_node *map = ARENA_NEW(s->arena, struct config_node, 1);
    struct config_item *item = ARENA_NEW(s->arena, struct config_item, 1);
    if (map == NULL || item == NULL) {
        out_of_memory(s->err);
        return NULL;
    }
    *item = (struct config_item){.key = key, .key_place = scalar->place, .value = scalar};
    *map =
        (struct config_node){.kind = CONFIG_MAP, .depth = 2, .size = 2, .place = scalar->place, .n = 1, .items = item};
    return map;
}

/* The position of list item `name`, or n when it is no number of an item. */
static uint32_t set_list_index(const struct config_node *list, const char *name)
{
    char *end;
    if (name[0] < '0' || name[0] > '9')
        return list->n;
    unsigned long i = strtoul(name, &end, 10);
    return *end != '\0' || i >= list->n ? list->n : (uint32_t)i;
}

/* The node that takes the place of `node` (NULL: nothing there), when key[at..] is what remains of the dotted key. */
static const struct config_node *set_below(const struct setting *s, const struct config_node *node, size_t at)
{
    static const struct config_node nothing = {.kind = CONFIG_MAP, .depth = 1, .size = 1};
    if (s->key[at] == '\0')
        return s->value;
    size_t length = strcspn(s->key + at, ".");
    size_t next = at + length + (s->key[at + length] == '.');
    if (length == 0 || (s->key[at + length] == '.' && s->key[next] == '\0')) {
        config_fail(s->err, s->place, "'%s' is not a key: a name is missing beside a dot", s->key);
        return NULL;
    }
    if (node != NULL && node->kind == CONFIG_SCALAR && (node = set_long_form(s, node, at)) == NULL)
        return NULL;
    struct config_node empty = nothing;
    empty.place = s->place;
    const struct config_node *old = node != NULL ? node : &empty;
    struct config_item *items;
    struct config_node *copy = node_copy(s->arena, old, &items);
    char *name = arena_text(s->arena, s->key + at, length);
    if (copy == NULL || name == NULL) {
        out_of_memory(s->err);
        return NULL;
    }
    uint32_t i = 0;
    if (old->kind == CONFIG_LIST) {
        i = set_list_index(old, name);
        if (i == old->n) {
            config_fail(s->err, s->place, "'%s' cannot be set: the list has %u item%s, numbered from 0, and no '%s'",
                        s->key, old->n, old->n == 1 ? "" : "s", name);
            return NULL;
        }
    } else {
        while (i < old->n && strcmp(old->items[i].key, name) != 0)
            i++;
    }
    const struct config_node *value = set_below(s, i < old->n ? old->items[i].value : NULL, next);
    if (value == NULL)
        return NULL;
    if (i == old->n) {
        items[i].key = name;
        copy->n++;
    }
    if (old->kind == CONFIG_MAP && (items[i].value == NULL || s->key[next] == '\0'))
        items[i].key_place = s->place;
    items[i].value = value;
    return copy;
}

const struct config_node *config_tree_set(struct arena *a, const struct config_node *root, const char *key,
                                          struct config_place place, const struct config_node *value,
                                          const char *(*short_key)(const char *path), struct error *err)
{
    struct setting s = {a, key, place, value, short_key, err};
    size_t parts = 1;
    for (const char *p = key; *p != '\0'; p++)
        parts += *p == '.';
    if (key[0] == '\0' || parts > CONFIG_DEPTH_MAX) {
        config_fail(err, place, key[0] == '\0' ? "a key is missing" : "the key has too many parts");
        return NULL;
    }
    return set_below(&s, root, 0);
}

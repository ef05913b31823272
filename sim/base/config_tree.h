/* config_tree.h - a YAML document as a tree that remembers where everything stood.
 *
 *   { trace: {load: 0.9} }        MAP ── item "trace" ──▶ MAP ── item "load" ──▶ SCALAR "0.9"
 *
 * Scalars stay text: what `010` or `NO` means is decided by the key that takes it, never by YAML. Trees are immutable
 * once parsed: config_tree_set returns a new root that shares what did not change, so a sweep of many runs costs
 * little, and an alias is the anchored node itself. The expanded size is bounded, so alias bombs cannot grow.
 */
#ifndef BASE_CONFIG_TREE_H
#define BASE_CONFIG_TREE_H

#include "base/arena.h"

#include <braid/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONFIG_DEPTH_MAX = 64,       /* nested lists and maps */
    CONFIG_NODES_MAX = 100000,   /* nodes of a document after aliases are expanded */
    CONFIG_BYTES_MAX = 16 << 20, /* of a file */
};

/* `file` is what messages print: a path, or "--set KEY=VALUE" with line 0. Lines and columns count from 1. */
struct config_place {
    const char *file;
    int line, col;
};

enum config_kind { CONFIG_SCALAR, CONFIG_LIST, CONFIG_MAP };

struct config_item {
    const char *key; /* NULL in a list */
    struct config_place key_place;
    const struct config_node *value;
};

struct config_node {
    enum config_kind kind;
    bool is_quoted; /* scalar written in quotes or as a block */
    uint32_t depth; /* 1 for a scalar or an empty list */
    uint32_t size;  /* nodes below and including this one, aliases expanded */
    struct config_place place;
    const char *text; /* scalar; ended by '\0' and without one inside */
    uint32_t n;       /* items, in the order of the file */
    const struct config_item *items;
};

/* Parse a whole file or `n` bytes of text. Errors: BRAID_BAD_INPUT with the place (unreadable, a folder, too large, empty,
 * not UTF-8, not YAML, several documents, repeated keys, tags, merge keys, unknown or self-referring or too many
 * aliases, too deep), BRAID_FAILED when memory is out. `shown` must live as long as the tree. NULL on error. */
const struct config_node *config_tree_load(struct arena *a, const char *path, const char *shown, struct error *err);
const struct config_node *config_tree_parse(struct arena *a, const char *text, size_t n, struct config_place whole,
                                            struct error *err);

/* The item of a map, or NULL; NULL for what is not a map. */
const struct config_item *config_tree_find(const struct config_node *map, const char *key);

/* A new root in which the dotted `key` is `value`; maps on the way are made where they are missing and list items are
 * named by number. `short_key(path)` says as which key the scalar at `path` is to be understood when a key below it
 * is set (`policy: srtf` is {name: srtf}), or NULL. `place` is where the setting is written. NULL with `err`. */
const struct config_node *config_tree_set(struct arena *a, const struct config_node *root, const char *key,
                                          struct config_place place, const struct config_node *value,
                                          const char *(*short_key)(const char *path), struct error *err);

/* The map with `value` as its item `key` (taken literally: dots do not count), which is put last when it is new. NULL when
 * memory is out. */
const struct config_node *config_tree_put(struct arena *a, const struct config_node *map, const char *key,
                                          struct config_place place, const struct config_node *value);

/* The map without its item `key`; `map` itself when there is none. NULL when memory is out. */
const struct config_node *config_tree_without(struct arena *a, const struct config_node *map, const char *key);

/* error_at with a place. */
int config_fail(struct error *err, struct config_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

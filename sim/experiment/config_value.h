/* config_value.h - one value of the config by its key's type: read with a message that helps, written in one way.
 *
 * Numbers are decimal. What YAML 1.1 would take for something else (`010`, `0x10`, `1:30`, `1_000`, `yes`) is refused
 * where a number or a truth value is wanted, with what to write in its place, and is plain text where text is wanted.
 */
#ifndef EXPERIMENT_CONFIG_VALUE_H
#define EXPERIMENT_CONFIG_VALUE_H

#include "experiment/config_keys.h"
#include "base/config_text.h"

struct config_value {
    bool is_word; /* the key's word in place of a value */
    union param
        v; /* .i for KEY_INT KEY_TIME KEY_SIZE KEY_SWITCH and the number of a KEY_CHOICE's choice; .s its text */
    const char
        *text; /* KEY_CHOICE, KEY_TEXT, KEY_PATH: the text (v.s, or for a choice stored as a number beside v.i) */
};

/* Read a scalar key (KEY_INT .. KEY_CHOICE) or KEY_NUMBERS from `node`. Texts are those of the tree; lists come from `a`.
 * BRAID_BAD_INPUT at the value's place. */
int config_value_read(struct config_value *out, const struct config_key *key, const struct config_node *node,
                      struct arena *a, struct error *err);

/* The same value in its one form. */
void config_value_write(struct config_text *t, const struct config_key *key, const struct config_value *value);

/* A node from a default's text; scalars and lists of scalars. NULL with `err`. */
const struct config_node *config_default_node(struct arena *a, const struct config_key *key, struct error *err);

/* "'trace.lod' is not a key; did you mean 'load'?" at the key's place. `names` are the valid ones. */
int config_fail_unknown(struct error *err, struct config_place place, const char *what, const char *word,
                        const char *const *names, size_t n);

#endif

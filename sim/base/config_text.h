/* config_text.h - a text that grows, and values written as YAML in one line.
 *
 * What is written is read back the same by braid and by any YAML 1.1 reader: a text that looks like a number, a truth
 * value or a date is put in quotes.
 */
#ifndef BASE_CONFIG_TEXT_H
#define BASE_CONFIG_TEXT_H

#include "base/config_tree.h"

struct config_text {
    char *s; /* ended by '\0' once anything was written */
    size_t n, capacity;
    bool is_short; /* memory ran out: what is here is incomplete */
};

void config_text_init(struct config_text *t);
void config_text_fini(struct config_text *t);
void config_text_clear(struct config_text *t);

void config_text_add(struct config_text *t, const char *s, size_t n);
void config_text_put(struct config_text *t, const char *s); /* NULL: nothing, as the text of an empty one is */
void config_text_format(struct config_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text as a YAML scalar, in double quotes where needed. */
void config_text_scalar(struct config_text *t, const char *s);

/* The shortest decimal that reads back as `v` (finite). */
void config_text_number(struct config_text *t, double v);

/* "30 s", "0.25 s": exact, in seconds. */
void config_text_time(struct config_text *t, int64_t ns);

/* "520 GB", "16 GiB", "4096 KiB": exact, in the largest unit that is. */
void config_text_size(struct config_text *t, uint64_t kib);

/* A tree as written: "{name: tiresias, thresholds: [3250, 7200]}". */
void config_text_node(struct config_text *t, const struct config_node *node);

#endif

/* names.h - text interned as small integers (virtual clusters, users, models, GPU types).
 *
 * Ids are 0, 1, 2 … in order of first appearance until names_sort() renumbers them in natural order,
 * so that no result depends on the order of a file's rows.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names {
    uint32_t count;
    uint32_t capacity, n_slots;
    char *text; /* all names, each ended by '\0' */
    size_t text_used, text_capacity;
    size_t *at; /* count: offset of each name in text */
    uint32_t *slots;
};

void names_init(struct names *n);
void names_fini(struct names *n);

/* The id of `text` (n bytes, no '\0' inside; NULL will do for none), added when new; NAMES_NONE when memory is out. */
uint32_t names_add(struct names *n, const char *text, size_t length);

/* The id of `text`, or NAMES_NONE. */
uint32_t names_find(const struct names *n, const char *text, size_t length);

/* The text of id `id` (< count); valid until the next names_add. */
const char *names_text(const struct names *n, uint32_t id);

/* Renumber in natural order. `old_to_new` (count entries) receives the map; false when memory is out. */
bool names_sort(struct names *n, uint32_t *old_to_new);

/* Natural order: runs of digits compare as numbers ("j9" < "j10"), the rest by byte; ties by byte order of
 * the whole. A total order: 0 only for equal text. */
int text_compare_natural(const char *a, size_t na, const char *b, size_t nb);

/* The candidate nearest to `word` (edit distance at most 1 + length / 3), or NULL. */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

#endif

/* arena.h - memory of one run: allocated piece by piece, freed at once.
 *
 * Blocks are taken with malloc and grow; every piece is aligned to 16 bytes and zeroed. When memory
 * is out, arena_alloc returns NULL and the arena remembers it (arena_is_short), so a caller may
 * allocate many tables and check once.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks;
    size_t used, capacity; /* of the newest block */
    size_t total;          /* bytes handed out */
    bool is_short;
};

void arena_init(struct arena *a);
void arena_fini(struct arena *a);

/* `count * size` zeroed bytes, or NULL (overflow included). A count of 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size);

/* A copy of `n` bytes of `text` (NULL will do for none) and a final '\0'. */
char *arena_text(struct arena *a, const char *text, size_t n);

#define ARENA_NEW(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

#endif

#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Under the address sanitizer what was not handed out is poisoned, and a gap is left behind each piece: what reads past the end of a table is
 * caught. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined HAS_ASAN
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
enum { ARENA_GAP = 0 };
#endif

/* Large pieces get a block of their own through calloc, which hands out untouched zero pages: a table
 * that is never written costs no memory. */
enum { ARENA_ALIGN = 16, ARENA_BLOCK = 64 * 1024, ARENA_LARGE = 16 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t pad;
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_fini(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b); /* what is poisoned in it is forgotten with it */
    }
    *a = (struct arena){0};
}

static struct arena_block *arena_block_add(struct arena *a, size_t payload)
{
    struct arena_block *b = calloc(1, sizeof *b + payload);
    if (b == NULL) {
        a->is_short = true;
        return NULL;
    }
    b->next = a->blocks;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        a->is_short = true;
        return NULL;
    }
    bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (bytes == 0)
        bytes = ARENA_ALIGN;
    if (bytes >= ARENA_LARGE) {
        struct arena_block *old = a->blocks;
        struct arena_block *b = arena_block_add(a, bytes);
        if (b == NULL)
            return NULL;
        if (old != NULL) { /* keep the small-piece block newest, so its rest stays in use */
            a->blocks = old;
            b->next = old->next;
            old->next = b;
        } else {
            a->used = a->capacity = bytes;
        }
        a->total += bytes;
        return (char *)b + sizeof *b;
    }
    if (a->blocks == NULL || a->capacity - a->used < bytes + ARENA_GAP) {
        if (arena_block_add(a, ARENA_BLOCK) == NULL)
            return NULL;
        a->used = 0;
        a->capacity = ARENA_BLOCK;
        ASAN_POISON_MEMORY_REGION((char *)a->blocks + sizeof(struct arena_block), ARENA_BLOCK);
    }
    void *p = (char *)a->blocks + sizeof(struct arena_block) + a->used;
    ASAN_UNPOISON_MEMORY_REGION(p, count * size);
    a->used += bytes + ARENA_GAP;
    a->total += bytes;
    return p;
}

char *arena_text(struct arena *a, const char *text, size_t n)
{
    char *copy = arena_alloc(a, n + 1, 1);
    if (copy != NULL && n > 0)
        memcpy(copy, text, n);
    return copy;
}

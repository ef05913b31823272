#include "cluster/nodeset.h"

#include "base/check.h"

enum { WORD_BITS = 64, WORD_SHIFT = 6, WORD_MASK = 63 };

static uint32_t words_for(uint32_t bits)
{
    return bits == 0 ? 1 : (bits - 1) / WORD_BITS + 1;
}

bool nodeset_init(struct nodeset *s, uint32_t size, struct arena *a)
{
    *s = (struct nodeset){.size = size};
    uint32_t bits = size;
    do {
        require(s->n_levels < NODESET_LEVELS, "a set of %u members needs more than %d levels", size, NODESET_LEVELS);
        bits = words_for(bits);
        uint64_t *words = ARENA_NEW(a, uint64_t, bits);
        if (words == NULL)
            return false;
        s->level[s->n_levels++] = words;
    } while (bits > 1);
    return true;
}

void nodeset_insert(struct nodeset *s, uint32_t i)
{
    require(i < s->size && !nodeset_has(s, i), "insert of %u into a set of size %u", i, s->size);
    s->count++;
    for (uint32_t l = 0; l < s->n_levels; l++) {
        uint64_t *word = &s->level[l][i >> WORD_SHIFT];
        uint64_t old = *word;
        *word = old | UINT64_C(1) << (i & WORD_MASK);
        if (old != 0) /* the levels above know of this word already */
            return;
        i >>= WORD_SHIFT;
    }
}

void nodeset_erase(struct nodeset *s, uint32_t i)
{
    require(i < s->size && nodeset_has(s, i), "erase of %u from a set of size %u", i, s->size);
    s->count--;
    for (uint32_t l = 0; l < s->n_levels; l++) {
        uint64_t *word = &s->level[l][i >> WORD_SHIFT];
        *word &= ~(UINT64_C(1) << (i & WORD_MASK));
        if (*word != 0)
            return;
        i >>= WORD_SHIFT;
    }
}

bool nodeset_has(const struct nodeset *s, uint32_t i)
{
    return i < s->size && (s->level[0][i >> WORD_SHIFT] >> (i & WORD_MASK) & 1) != 0;
}

/* Climb until a word has a member at or behind the place looked for, then go down along first members. */
uint32_t nodeset_next(const struct nodeset *s, uint32_t from)
{
    uint32_t bits = s->size;
    uint32_t i = from;
    for (uint32_t l = 0; l < s->n_levels; l++) {
        if (i >= bits)
            return NODESET_NONE;
        uint32_t w = i >> WORD_SHIFT;
        uint64_t word = s->level[l][w] & ~UINT64_C(0) << (i & WORD_MASK);
        if (word != 0) {
            i = w << WORD_SHIFT | (uint32_t)__builtin_ctzll(word);
            while (l-- > 0)
                i = i << WORD_SHIFT | (uint32_t)__builtin_ctzll(s->level[l][i]);
            return i;
        }
        i = w + 1;
        bits = words_for(bits);
    }
    return NODESET_NONE;
}

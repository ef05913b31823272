#include "base/names.h"

#include <stdlib.h>
#include <string.h>

static uint64_t names_hash(const char *text, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

void names_init(struct names *n)
{
    *n = (struct names){0};
}

void names_fini(struct names *n)
{
    free(n->text);
    free(n->at);
    free(n->slots);
    *n = (struct names){0};
}

const char *names_text(const struct names *n, uint32_t id)
{
    return n->text + n->at[id];
}

/* Open addressing; a slot holds id + 1, 0 is empty. Returns the slot of `text` or the empty one for it. */
static uint32_t names_slot(const struct names *n, const char *text, size_t length)
{
    uint32_t mask = n->n_slots - 1;
    uint32_t s = (uint32_t)names_hash(text, length) & mask;
    while (n->slots[s] != 0) {
        const char *have = names_text(n, n->slots[s] - 1);
        if (strncmp(have, text, length) == 0 && have[length] == '\0')
            break;
        s = (s + 1) & mask;
    }
    return s;
}

uint32_t names_find(const struct names *n, const char *text, size_t length)
{
    if (n->n_slots == 0)
        return NAMES_NONE;
    return n->slots[names_slot(n, text, length)] - 1; /* an empty slot gives NAMES_NONE */
}

static bool names_rehash(struct names *n, uint32_t n_slots)
{
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    free(n->slots);
    n->slots = slots;
    n->n_slots = n_slots;
    for (uint32_t id = 0; id < n->count; id++) {
        const char *text = names_text(n, id);
        n->slots[names_slot(n, text, strlen(text))] = id + 1;
    }
    return true;
}

uint32_t names_add(struct names *n, const char *text, size_t length)
{
    uint32_t id = names_find(n, text, length);
    if (id != NAMES_NONE)
        return id;
    if (n->count >= UINT32_MAX / 4)
        return NAMES_NONE;
    if (n->count == n->capacity) {
        uint32_t capacity = n->capacity == 0 ? 16 : n->capacity * 2;
        size_t *at = realloc(n->at, capacity * sizeof *at);
        if (at == NULL)
            return NAMES_NONE;
        n->at = at;
        n->capacity = capacity;
    }
    if (n->text_capacity - n->text_used < length + 1) {
        size_t capacity = (n->text_capacity + length + 1) * 2;
        char *grown = realloc(n->text, capacity);
        if (grown == NULL)
            return NAMES_NONE;
        n->text = grown;
        n->text_capacity = capacity;
    }
    if ((n->count + 1) * 2 > n->n_slots && !names_rehash(n, n->n_slots == 0 ? 32 : n->n_slots * 2))
        return NAMES_NONE;
    n->slots[names_slot(n, text, length)] = n->count + 1;
    if (length > 0)
        memcpy(n->text + n->text_used, text, length);
    n->text[n->text_used + length] = '\0';
    n->at[n->count] = n->text_used;
    n->text_used += length + 1;
    return n->count++;
}

struct names_entry {
    const char *text;
    uint32_t old;
};

static int names_compare(const void *a, const void *b)
{
    const char *x = ((const struct names_entry *)a)->text;
    const char *y = ((const struct names_entry *)b)->text;
    return text_compare_natural(x, strlen(x), y, strlen(y));
}

bool names_sort(struct names *n, uint32_t *old_to_new)
{
    if (n->count == 0)
        return true;
    struct names_entry *order = malloc(n->count * sizeof *order);
    size_t *at = malloc(n->capacity * sizeof *at);
    if (order == NULL || at == NULL) {
        free(order);
        free(at);
        return false;
    }
    for (uint32_t i = 0; i < n->count; i++)
        order[i] = (struct names_entry){names_text(n, i), i};
    qsort(order, n->count, sizeof *order, names_compare);
    for (uint32_t i = 0; i < n->count; i++) {
        at[i] = n->at[order[i].old];
        old_to_new[order[i].old] = i;
    }
    free(order);
    free(n->at);
    n->at = at;
    for (uint32_t s = 0; s < n->n_slots; s++)
        if (n->slots[s] != 0)
            n->slots[s] = old_to_new[n->slots[s] - 1] + 1;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int text_compare_natural(const char *a, size_t na, const char *b, size_t nb)
{
    size_t i = 0, j = 0;
    while (i < na && j < nb) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            size_t ai = i, bj = j;
            while (ai < na && a[ai] == '0')
                ai++;
            while (bj < nb && b[bj] == '0')
                bj++;
            size_t ae = ai, be = bj;
            while (ae < na && is_digit(a[ae]))
                ae++;
            while (be < nb && is_digit(b[be]))
                be++;
            if (ae - ai != be - bj)
                return ae - ai < be - bj ? -1 : 1;
            int c = memcmp(a + ai, b + bj, ae - ai);
            if (c != 0)
                return c;
            i = ae;
            j = be;
            continue;
        }
        if (a[i] != b[j])
            return (unsigned char)a[i] < (unsigned char)b[j] ? -1 : 1;
        i++;
        j++;
    }
    if (i < na || j < nb)
        return i < na ? 1 : -1;
    size_t least = na < nb ? na : nb; /* equal but for leading zeros: settle it by bytes */
    int c = least > 0 ? memcmp(a, b, least) : 0; /* empty text may be NULL */
    return c != 0 ? c : (na > nb) - (na < nb);
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
    enum { LONGEST = 63 };
    size_t length = strlen(word);
    if (length > LONGEST)
        return NULL;
    const char *best = NULL;
    size_t best_distance = 1 + length / 3 + 1;
    for (size_t k = 0; k < n; k++) {
        size_t m = strlen(candidates[k]);
        if (m > LONGEST)
            continue;
        /* insertions, deletions, substitutions and swaps of neighbours, each one edit */
        const char *other = candidates[k];
        size_t rows[3][LONGEST + 1];
        for (size_t j = 0; j <= m; j++)
            rows[0][j] = j;
        for (size_t i = 1; i <= length; i++) {
            size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
            row[0] = i;
            for (size_t j = 1; j <= m; j++) {
                size_t cost = above[j - 1] + (word[i - 1] != other[j - 1]);
                if (above[j] + 1 < cost)
                    cost = above[j] + 1;
                if (row[j - 1] + 1 < cost)
                    cost = row[j - 1] + 1;
                if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1] && above2[j - 2] + 1 < cost)
                    cost = above2[j - 2] + 1;
                row[j] = cost;
            }
        }
        if (rows[length % 3][m] < best_distance) {
            best_distance = rows[length % 3][m];
            best = candidates[k];
        }
    }
    return best;
}

#include "compat/muri_run.h"

#include <string.h>

/* Merge two runs that stand side by side in `from`, the left one first among equals, to the same place in `to`. */
static void merge(const struct muri_sort_item *from, struct muri_sort_item *to, uint32_t begin, uint32_t middle,
                  uint32_t end)
{
    uint32_t i = begin, k = middle;
    for (uint32_t at = begin; at < end; at++)
        to[at] = k >= end || (i < middle && from[i].key <= from[k].key) ? from[i++] : from[k++];
}

void muri_sort_items(struct muri_sort_item *items, uint32_t n, struct muri_sort_item *spare)
{
    struct muri_sort_item *from = items, *to = spare;
    for (bool is_sorted = false; !is_sorted;) {
        uint32_t n_runs = 0;
        for (uint32_t begin = 0; begin < n;) { /* two runs at a time, as they come */
            uint32_t middle = begin + 1, end;
            while (middle < n && from[middle - 1].key <= from[middle].key)
                middle++;
            for (end = middle < n ? middle + 1 : n; end < n && from[end - 1].key <= from[end].key; end++)
                ;
            if (begin == 0 && middle == n)
                break;
            merge(from, to, begin, middle, end);
            begin = end;
            n_runs++;
        }
        is_sorted = n_runs == 0;
        if (!is_sorted) {
            struct muri_sort_item *t = from;
            from = to;
            to = t;
        }
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

static bool is_before(const struct muri_sort_item *a, const struct muri_sort_item *b)
{
    return a->key < b->key || (a->key == b->key && a->at < b->at);
}

void muri_sort_by_key(struct muri *m)
{
    uint32_t n = m->list.n, n_old = 0, n_new = 0;
    for (uint32_t i = 0; i < n; i++)
        n_new += m->is_changed[m->list.v[i]];
    struct muri_sort_item *old = m->items, *new = m->items + (n - n_new);
    n_new = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = m->list.v[i];
        struct muri_sort_item item = {m->key[job], job, i};
        if (m->is_changed[job])
            new[n_new++] = item;
        else
            old[n_old++] = item;
        m->is_changed[job] = false;
    }
    muri_sort_items(old, n_old, m->spare);
    muri_sort_items(new, n_new, m->spare);
    for (uint32_t i = 0, o = 0, k = 0; i < n; i++)
        m->list.v[i] = k >= n_new || (o < n_old && is_before(&old[o], &new[k])) ? old[o++].job : new[k++].job;
}

void muri_sort_by_gpus(struct muri *m)
{
    uint32_t at[MURI_SIZES + 1] = {0}, n = m->list.n, *sorted = (uint32_t *)(void *)m->spare;
    for (uint32_t i = 0; i < n; i++)
        at[MURI_SIZES - 1 - m->size[m->list.v[i]] + 1]++;
    for (uint32_t s = 0; s < MURI_SIZES; s++)
        at[s + 1] += at[s];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = m->list.v[i];
        sorted[at[MURI_SIZES - 1 - m->size[job]]++] = job;
    }
    memcpy(m->list.v, sorted, n * sizeof *sorted);
}

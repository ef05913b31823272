#include "tests/engine/naive_world.h"

#include <string.h>

/* ---- GPUs ---------------------------------------------------------------------------------------- */

static uint32_t free_on(const struct world *w, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < w->c->gpus[node]; g++)
        n += w->owner[node][g] < 0;
    return n;
}

uint32_t naive_held_by(const struct world *w, int vc)
{
    uint32_t n = 0;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            n += w->owner[node][g] >= 0 && naive_queue_of(w, (uint32_t)w->owner[node][g]) == vc;
    return n;
}

uint32_t naive_quota_left(const struct world *w, int vc)
{
    if (w->c->n_vcs == 0 || !w->c->vcs[vc].is_quota)
        return UINT32_MAX;
    uint32_t held = naive_held_by(w, vc);
    return w->quota[vc] > held ? w->quota[vc] - held : 0;
}

/* GPUs that a queue may still take when `free` are free on each node. */
uint32_t naive_free_for(const struct world *w, int vc, const uint32_t free[NAIVE_NODES])
{
    uint32_t sum = 0, left = naive_quota_left(w, vc);
    for (uint32_t node = w->first_node[vc]; node < w->end_node[vc]; node++)
        sum += free[node];
    return left < sum ? left : sum;
}

void naive_free_now(const struct world *w, uint32_t free[NAIVE_NODES])
{
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        free[node] = free_on(w, node);
}

void naive_give_back(struct world *w, uint32_t j)
{
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            if (w->owner[node][g] == (int)j)
                w->owner[node][g] = -1;
}

/* ---- placement: how many GPUs of each node, 0 / 1 whether there is a place ------------------------------ */

bool naive_is_pool(enum naive_placement p)
{
    return p == N_SPREAD || p == N_COUNT;
}

/* Of the nodes with at least `gpus` free that are not taken, the one that the module likes best; -1: none. */
static int choose(struct world *w, int vc, const uint32_t *free, const uint32_t *take, uint32_t gpus, bool is_whole)
{
    int best = -1;
    uint32_t *cursor = &w->cursor[w->first_node[vc]];
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        if (take[i] > 0 || free[i] < gpus || (is_whole && w->c->gpus[i] != gpus))
            continue;
        bool is_better = false;
        uint32_t b = (uint32_t)best;
        if (best < 0) {
            is_better = true;
        } else if (w->c->placement == N_TURNS) {
            is_better = b < *cursor && i >= *cursor;
        } else if (!is_whole) {
            switch (w->c->placement) {
            case N_CONSOLIDATE:
            case N_BEST_FIT:
            case N_RACK_LOCAL:
                is_better = free[i] < free[b];
                break;
            case N_WORST_FIT:
                is_better = free[i] > free[b];
                break;
            case N_LEAST_LOADED:
                is_better = free[i] * w->c->gpus[b] > free[b] * w->c->gpus[i];
                break;
            default:
                break;
            }
        }
        if (is_better)
            best = (int)i;
    }
    return best;
}

static bool place_packed(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    uint32_t largest = 0, cursor = w->cursor[w->first_node[vc]];
    uint32_t missing = gpus;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        largest = w->c->gpus[i] > largest ? w->c->gpus[i] : largest;
    if (gpus > largest)
        for (uint32_t size = largest; size > 0; size--)
            while (size <= missing) {
                int node = choose(w, vc, free, take, size, true);
                if (node < 0)
                    break;
                take[node] = size;
                missing -= size;
                w->cursor[w->first_node[vc]] = (uint32_t)node + 1;
            }
    if (missing == 0)
        return true;
    int node = choose(w, vc, free, take, missing, false);
    if (node < 0) {
        w->cursor[w->first_node[vc]] = cursor; /* it did not come to anything */
        return false;
    }
    take[node] = missing;
    w->cursor[w->first_node[vc]] = (uint32_t)node + 1;
    return true;
}

static bool place_count(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        take[i] = free[i] < gpus ? free[i] : gpus;
        gpus -= take[i];
    }
    return gpus == 0;
}

static bool place_spread(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    for (bool is_any = true; gpus > 0 && is_any;) {
        is_any = false;
        for (uint32_t f = NAIVE_GPUS; f > 0; f--)
            for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
                if (free[i] == f && take[i] < f && gpus > 0) {
                    take[i]++;
                    gpus--;
                    is_any = true;
                }
    }
    return gpus == 0;
}

bool naive_place(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t take[NAIVE_NODES])
{
    memset(take, 0, NAIVE_NODES * sizeof *take);
    if (naive_free_for(w, vc, free) < gpus)
        return false;
    if (w->c->placement == N_COUNT)
        return place_count(w, vc, gpus, free, take);
    if (w->c->placement == N_SPREAD)
        return place_spread(w, vc, gpus, free, take);
    return place_packed(w, vc, gpus, free, take);
}

/* Would it have a place, without moving the cursor? */
bool naive_would_fit(struct world *w, int vc, uint32_t gpus, const uint32_t *free)
{
    uint32_t take[NAIVE_NODES], cursor = w->cursor[w->first_node[vc]];
    bool fits = naive_place(w, vc, gpus, free, take);
    w->cursor[w->first_node[vc]] = cursor;
    return fits;
}

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

uint32_t naive_capacity(const struct world *w, int vc)
{
    uint32_t n = 0;
    for (uint32_t node = w->first_node[vc]; node < w->end_node[vc]; node++)
        n += w->c->gpus[node];
    return w->c->n_vcs > 0 && w->c->vcs[vc].is_quota && w->quota[vc] < n ? w->quota[vc] : n;
}

uint32_t naive_held_by(const struct world *w, int vc)
{
    uint32_t n = 0;
    for (uint32_t node = 0; node < w->c->n_nodes; node++)
        for (uint32_t g = 0; g < w->c->gpus[node]; g++)
            n += w->owner[node][g] >= 0 && naive_vc_of(w, (uint32_t)w->owner[node][g]) == vc;
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

uint64_t naive_left_on(const struct world *w, uint32_t node, bool is_memory)
{
    uint64_t left = is_memory ? w->c->mem_kib[node] : w->c->cpu_milli[node];
    left -= is_memory ? w->hidden_memory[node] : w->hidden_cpu[node];
    for (uint32_t g = 0; g < w->c->gpus[node]; g++)
        if (w->owner[node][g] >= 0) {
            const struct naive_job *owner = &w->c->jobs[w->owner[node][g]];
            left -= (is_memory ? owner->mem_kib : owner->cpu_milli) / owner->gpus;
        }
    return left;
}

/* best_fit, of nodes with as many free GPUs, for a job that asks for something that is limited: less CPU, then less memory. */
static bool is_tighter(const struct world *w, uint32_t a, uint32_t b)
{
    if (w->placing == 0)
        return false;
    const struct naive_job *job = &w->c->jobs[w->placing - 1];
    bool has_cpu = w->c->cpu_milli[a] > 0, has_memory = w->c->mem_kib[a] > 0; /* so have all or none */
    if (!(has_cpu && job->cpu_milli > 0) && !(has_memory && job->mem_kib > 0))
        return false;
    if (has_cpu && naive_left_on(w, a, false) != naive_left_on(w, b, false))
        return naive_left_on(w, a, false) < naive_left_on(w, b, false);
    return has_memory && naive_left_on(w, a, true) < naive_left_on(w, b, true);
}

/* So many GPUs of a node, up to `gpus`, get along with `all` of something when each job's part of it goes with its GPUs. */
static uint32_t within(const struct world *w, uint32_t node, uint32_t gpus, uint64_t all, bool is_memory)
{
    const struct naive_job *job = &w->c->jobs[w->placing - 1];
    uint64_t each = (is_memory ? job->mem_kib : job->cpu_milli) / job->gpus;
    if (each == 0 || all == 0) /* 0: unlimited */
        return gpus;
    uint64_t most = naive_left_on(w, node, is_memory) / each;
    return most < gpus ? (uint32_t)most : gpus;
}

static bool is_served(const struct world *w, uint32_t node)
{
    uint32_t type = w->placing == 0 ? 0 : w->c->jobs[w->placing - 1].type;
    bool is_any = false;
    for (uint32_t i = 0; i < w->c->n_nodes; i++)
        is_any |= w->c->type[i] != 0;
    return type == 0 || !is_any /* where no node has a type they do not matter */ || w->c->type[node] == type;
}

uint32_t naive_largest(const struct world *w, int vc)
{
    uint32_t largest = 0;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        if (is_served(w, i) && w->c->gpus[i] > largest)
            largest = w->c->gpus[i];
    return largest;
}

uint32_t naive_within(const struct world *w, uint32_t node, uint32_t gpus)
{
    if (w->placing == 0)
        return gpus;
    if (!is_served(w, node))
        return 0;
    gpus = within(w, node, gpus, w->c->cpu_milli[node], false);
    return within(w, node, gpus, w->c->mem_kib[node], true);
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

static bool will_do(const struct world *w, const uint32_t *free, const uint32_t *take, uint32_t i, uint32_t gpus,
                    bool is_whole)
{
    return take[i] == 0 && free[i] >= gpus && (!is_whole || w->c->gpus[i] == gpus) && naive_within(w, i, gpus) == gpus;
}

/* Smooth weighted round robin: nodes of one size in a partition are a pool that gains credit, its GPUs in all, whenever one of its nodes
 * would do; the pool with the most credit, the larger nodes' on ties, pays what all gained, and its next node in turn is taken. */
static int choose_by_weight(struct world *w, int vc, const uint32_t *free, const uint32_t *take, uint32_t gpus,
                            bool is_whole)
{
    int best = -1, best_pool = -1;
    int64_t gained = 0;
    for (uint32_t size = NAIVE_GPUS; size > 0; size--) {
        int pool = -1, lowest = -1, in_turn = -1;
        int64_t weight = 0;
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
            if (w->c->gpus[i] != size)
                continue;
            pool = pool < 0 ? (int)i : pool;
            weight += size;
            if (!will_do(w, free, take, i, gpus, is_whole))
                continue;
            lowest = lowest < 0 ? (int)i : lowest;
            in_turn = in_turn < 0 && i >= w->next_in_pool[pool] ? (int)i : in_turn;
        }
        if (lowest < 0)
            continue;
        w->credit[pool] += weight;
        gained += weight;
        if (best < 0 || w->credit[pool] > w->credit[best_pool]) {
            best_pool = pool;
            best = in_turn < 0 ? lowest : in_turn;
        }
    }
    if (best >= 0) {
        w->credit[best_pool] -= gained;
        w->next_in_pool[best_pool] = (uint32_t)best + 1;
    }
    return best;
}

/* Of the nodes with at least `gpus` free that are not taken, the one that the module likes best; -1: none. */
static int choose(struct world *w, int vc, const uint32_t *free, const uint32_t *take, uint32_t gpus, bool is_whole)
{
    if (w->c->placement == N_WEIGHTED)
        return choose_by_weight(w, vc, free, take, gpus, is_whole);
    int best = -1;
    uint32_t *cursor = &w->cursor[w->first_node[vc]];
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        if (!will_do(w, free, take, i, gpus, is_whole))
            continue;
        bool is_better = false;
        uint32_t b = (uint32_t)best;
        if (best < 0) {
            is_better = true;
        } else if (w->c->placement == N_TURNS) {
            is_better = b < *cursor && i >= *cursor;
        } else if (!is_whole) {
            switch (w->c->placement) {
            case N_BEST_FIT:
                is_better = free[i] < free[b] || (free[i] == free[b] && is_tighter(w, i, b));
                break;
            case N_CONSOLIDATE:
            case N_RACK_LOCAL:
                is_better = free[i] < free[b];
                break;
            case N_WORST_FIT:
                is_better = free[i] > free[b];
                break;
            case N_LEAST_LOADED:
            case N_POWER_OF_TWO:
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
    uint32_t largest = naive_largest(w, vc), cursor = w->cursor[w->first_node[vc]];
    uint32_t missing = gpus, next_in_pool[NAIVE_NODES];
    int64_t credit[NAIVE_NODES];
    memcpy(next_in_pool, w->next_in_pool, sizeof next_in_pool);
    memcpy(credit, w->credit, sizeof credit);
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
        memcpy(w->next_in_pool, next_in_pool, sizeof next_in_pool);
        memcpy(w->credit, credit, sizeof credit);
        return false;
    }
    take[node] = missing;
    w->cursor[w->first_node[vc]] = (uint32_t)node + 1;
    return true;
}

static bool place_count(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        take[i] = naive_within(w, i, free[i] < gpus ? free[i] : gpus);
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
                if (free[i] == f && take[i] < f && gpus > 0 && naive_within(w, i, take[i] + 1) > take[i]) {
                    take[i]++;
                    gpus--;
                    is_any = true;
                }
    }
    return gpus == 0;
}

/* ---- racks ---------------------------------------------------------------------------------------- */

static uint32_t rack_of(const struct world *w, uint32_t node)
{
    return w->c->nodes_per_rack == 0 ? 0 : node / w->c->nodes_per_rack;
}

/* The first nodes of one rack, the first rack that has them; nodes are alike. */
static bool place_yarn(const struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    uint32_t size = 0;
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
        size = w->c->gpus[i] > size ? w->c->gpus[i] : size;
    for (uint32_t rack = 0; rack <= rack_of(w, w->c->n_nodes - 1); rack++) {
        uint32_t missing = gpus;
        memset(take, 0, NAIVE_NODES * sizeof *take);
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
            if (rack_of(w, i) == rack && missing >= size && gpus > size && free[i] == size) {
                take[i] = size;
                missing -= size;
            }
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
            if (rack_of(w, i) == rack && missing > 0 && missing <= size && (missing < size || gpus == size) &&
                take[i] == 0 && free[i] >= missing) {
                take[i] = missing;
                missing = 0;
            }
        if (missing == 0)
            return true;
    }
    return false;
}

/* What is missing: so many wholly free nodes of each size, and one for the rest. */
struct missing {
    uint32_t whole[NAIVE_GPUS + 1], rest;
};

/* Take from a rack what is missing, the lowest whole nodes, the fullest for the rest; true: all of it. `m` is what is missing then. */
static bool take_from(const struct world *w, int vc, uint32_t rack, struct missing *m, const uint32_t *free,
                      uint32_t *take)
{
    bool is_all = true;
    for (uint32_t size = NAIVE_GPUS; size > 0; size--) {
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc] && m->whole[size] > 0; i++)
            if (rack_of(w, i) == rack && will_do(w, free, take, i, size, true)) {
                take[i] = size;
                m->whole[size]--;
            }
        is_all &= m->whole[size] == 0;
    }
    int best = -1;
    for (uint32_t i = w->first_node[vc]; is_all && m->rest > 0 && i < w->end_node[vc]; i++)
        if (rack_of(w, i) == rack && will_do(w, free, take, i, m->rest, false) && (best < 0 || free[i] < free[best]))
            best = (int)i;
    if (best >= 0) {
        take[best] = m->rest;
        m->rest = 0;
    }
    return is_all && m->rest == 0;
}

/* `take`, a place by the packed rule, tells what sort of nodes are taken; the racks decide which. */
static void place_in_racks(const struct world *w, int vc, const uint32_t *free, uint32_t *take)
{
    struct missing m = {0};
    uint32_t gpus = 0, largest = naive_largest(w, vc), n_racks = rack_of(w, w->c->n_nodes - 1) + 1;
    bool is_used[NAIVE_NODES] = {0};
    const uint32_t none[NAIVE_NODES] = {0};
    for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++) {
        gpus += take[i];
    }
    m.rest = gpus;
    for (uint32_t size = largest; size > 0 && gpus > largest; size--)
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
            if (will_do(w, free, none, i, size, true) && m.rest >= size) {
                m.whole[size]++;
                m.rest -= size;
            }
    memset(take, 0, NAIVE_NODES * sizeof *take);
    for (bool is_done = false; !is_done;) {
        int holder = -1, giver = -1;
        uint32_t holder_free = 0, most = 0;
        for (uint32_t rack = 0; rack < n_racks; rack++) {
            uint32_t trial[NAIVE_NODES], left = 0, gives = 0;
            struct missing after = m;
            memcpy(trial, take, sizeof trial);
            bool holds = take_from(w, vc, rack, &after, free, trial);
            for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
                left += rack_of(w, i) == rack && take[i] == 0 && is_served(w, i) ? free[i] : 0;
            for (uint32_t size = NAIVE_GPUS; size > 0; size--)
                gives += size * (m.whole[size] - after.whole[size]);
            if (holds && (holder < 0 || (is_used[rack] && !is_used[holder]) ||
                          (is_used[rack] == is_used[holder] && left < holder_free))) {
                holder = (int)rack;
                holder_free = left;
            }
            if (gives > most) {
                giver = (int)rack;
                most = gives;
            }
        }
        is_done = holder >= 0;
        if (!is_done && giver < 0)
            return; /* the places that are missing will show */
        uint32_t rest = m.rest;
        m.rest = is_done ? rest : 0;
        take_from(w, vc, (uint32_t)(is_done ? holder : giver), &m, free, take);
        m.rest = is_done ? m.rest : rest;
        is_used[is_done ? holder : giver] = true;
    }
}

/* ---- places that are drawn -------------------------------------------------------------------------- */

/* Is it a place by the packed rule, and of those that the module may draw? `like` is one, of another node perhaps. With 64 draws among
 * so few nodes the least loaded one is among them. */
static bool may_be_drawn(struct world *w, int vc, const uint32_t *free, const uint32_t *like,
                         const struct naive_pick *p)
{
    const uint32_t none[NAIVE_NODES] = {0};
    uint32_t n_whole[NAIVE_GPUS + 1] = {0}, rest = 0, gpus = 0, largest = naive_largest(w, vc);
    for (uint32_t i = 0; i < w->c->n_nodes; i++)
        gpus += like[i];
    for (uint32_t size = largest, missing = gpus; size > 0 && gpus > largest; size--)
        for (uint32_t i = w->first_node[vc]; i < w->end_node[vc]; i++)
            if (will_do(w, free, none, i, size, true) && missing >= size) {
                n_whole[size]++;
                missing -= size;
            }
    rest = gpus;
    for (uint32_t size = 1; size <= NAIVE_GPUS; size++)
        rest -= size * n_whole[size];
    uint32_t whole[NAIVE_NODES] = {0}, rest_node = NAIVE_NODES;
    for (uint32_t i = 0; i < w->c->n_nodes; i++) {
        if (p->take[i] == 0)
            continue;
        if (i < w->first_node[vc] || i >= w->end_node[vc] || p->take[i] > free[i] ||
            naive_within(w, i, p->take[i]) < p->take[i])
            return false;
        if (gpus > largest && p->take[i] == w->c->gpus[i] && n_whole[p->take[i]] > 0) {
            n_whole[p->take[i]]--;
            whole[i] = p->take[i];
        } else if (p->take[i] == rest && rest_node == NAIVE_NODES) {
            rest_node = i;
        } else {
            return false;
        }
    }
    if ((rest > 0) != (rest_node < NAIVE_NODES))
        return false;
    if (rest == 0 || w->c->placement != N_POWER_OF_TWO || w->c->draws < 64)
        return true;
    int best = choose(w, vc, free, whole, rest, false);
    return free[rest_node] * w->c->gpus[best] == free[best] * w->c->gpus[rest_node];
}

static void place_as_drawn(struct world *w, int vc, uint32_t gpus, const uint32_t *free, uint32_t *take)
{
    if (w->n_picked == w->c->n_picks) {
        w->breaks_rule = true;
        return;
    }
    const struct naive_pick *p = &w->c->picks[w->n_picked++];
    if (p->gpus == gpus && may_be_drawn(w, vc, free, take, p))
        memcpy(take, p->take, sizeof p->take);
    else
        w->breaks_rule = true;
}

static bool is_drawn(const struct world *w)
{
    return w->c->placement == N_ANY || w->c->placement == N_POWER_OF_TWO;
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
    if (w->c->placement == N_YARN && !w->is_by_rule)
        return place_yarn(w, vc, gpus, free, take);
    if (!place_packed(w, vc, gpus, free, take))
        return false;
    if (w->c->placement == N_RACK_LOCAL && rack_of(w, w->first_node[vc]) != rack_of(w, w->end_node[vc] - 1))
        place_in_racks(w, vc, free, take);
    if (is_drawn(w) && !w->is_asking)
        place_as_drawn(w, vc, gpus, free, take);
    return true;
}

bool naive_would_fit_by_rule(struct world *w, int vc, uint32_t gpus, const uint32_t *free)
{
    struct world trial = *w;
    trial.is_by_rule = true;
    return naive_would_fit(&trial, vc, gpus, free);
}

/* Would it have a place, without moving the cursor? */
bool naive_would_fit(struct world *w, int vc, uint32_t gpus, const uint32_t *free)
{
    uint32_t take[NAIVE_NODES];
    struct world trial = *w;
    trial.is_asking = true;
    bool fits = naive_place(&trial, vc, gpus, free, take);
    return fits;
}

/* Every placement module against a scan of all nodes that follows its documented rule, over random states. */
#include "naive.h"

/* ---- the rules as scans ----------------------------------------------------------------------------- */

static uint32_t naive_by(struct naive *v, uint32_t gpus, bool is_whole,
                         bool (*is_better)(const struct naive *v, uint32_t a, uint32_t b))
{
    uint32_t best = NODESET_NONE;
    for (uint32_t i = 0; i < v->q->n_nodes; i++) {
        uint32_t node = v->q->nodes[i];
        if (naive_ok(v, node, gpus, is_whole) && (best == NODESET_NONE || is_better(v, node, best)))
            best = node;
    }
    return best;
}

static bool has_fewer(const struct naive *v, uint32_t a, uint32_t b)
{
    return visible_gpus(v->w, a) < visible_gpus(v->w, b);
}

static bool has_more(const struct naive *v, uint32_t a, uint32_t b)
{
    return visible_gpus(v->w, a) > visible_gpus(v->w, b);
}

static bool has_fewer_of_all(const struct naive *v, uint32_t a, uint32_t b)
{
    const struct node *x = cluster_node(v->w->c, a), *y = cluster_node(v->w->c, b);
    if (visible_gpus(v->w, a) != visible_gpus(v->w, b))
        return visible_gpus(v->w, a) < visible_gpus(v->w, b);
    if (!cluster_is_bounded(v->w->c, v->w->c->pools[x->pool].partition, v->d))
        return false;
    return x->cpu_free_milli != y->cpu_free_milli ? x->cpu_free_milli < y->cpu_free_milli
                                                  : x->mem_free_kib < y->mem_free_kib;
}

static bool has_less_load(const struct naive *v, uint32_t a, uint32_t b)
{
    uint64_t ga = cluster_node(v->w->c, a)->gpus, gb = cluster_node(v->w->c, b)->gpus;
    return (ga - visible_gpus(v->w, a)) * gb < (gb - visible_gpus(v->w, b)) * ga;
}

static uint32_t naive_consolidate(struct naive *v, uint32_t gpus, bool is_whole)
{
    return naive_by(v, gpus, is_whole, has_fewer);
}

static uint32_t naive_best_fit(struct naive *v, uint32_t gpus, bool is_whole)
{
    return naive_by(v, gpus, is_whole, has_fewer_of_all);
}

static uint32_t naive_worst_fit(struct naive *v, uint32_t gpus, bool is_whole)
{
    return naive_by(v, gpus, is_whole, has_more);
}

static uint32_t naive_least_loaded(struct naive *v, uint32_t gpus, bool is_whole)
{
    return naive_by(v, gpus, is_whole, has_less_load);
}

static uint32_t naive_round_robin(struct naive *v, uint32_t gpus, bool is_whole)
{
    for (uint32_t turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < v->q->n_nodes; i++) {
            uint32_t node = v->q->nodes[i];
            if ((turn == 1 || node >= v->next) && naive_ok(v, node, gpus, is_whole)) {
                v->next = node + 1;
                return node;
            }
        }
    return NODESET_NONE;
}

static uint32_t naive_weighted(struct naive *v, uint32_t gpus, bool is_whole)
{
    uint32_t best = NODESET_NONE, best_pool = 0;
    int64_t added = 0;
    for (uint32_t k = 0; k < v->q->n_pools; k++) {
        uint32_t pool = v->q->first_pool + k, found = NODESET_NONE;
        int64_t weight = 0;
        for (uint32_t i = 0; i < v->q->n_nodes; i++)
            if (cluster_node(v->w->c, v->q->nodes[i])->pool == pool)
                weight += 1000 * (int64_t)cluster_node(v->w->c, v->q->nodes[i])->gpus;
        for (uint32_t turn = 0; turn < 2 && found == NODESET_NONE; turn++)
            for (uint32_t i = 0; i < v->q->n_nodes && found == NODESET_NONE; i++) {
                uint32_t node = v->q->nodes[i];
                if (cluster_node(v->w->c, node)->pool == pool && (turn == 1 || node >= v->pool[pool].next) &&
                    naive_ok(v, node, gpus, is_whole))
                    found = node;
            }
        if (found == NODESET_NONE)
            continue;
        v->pool[pool].credit += weight;
        added += weight;
        if (best == NODESET_NONE || v->pool[pool].credit > v->pool[best_pool].credit) {
            best = found;
            best_pool = pool;
        }
    }
    if (best != NODESET_NONE) {
        v->pool[best_pool].credit -= added;
        v->pool[best_pool].next = best + 1;
    }
    return best;
}

static uint32_t naive_count(struct naive *v, struct place *out)
{
    uint32_t n = 0, missing = v->d->gpus;
    for (uint32_t i = 0; i < v->q->n_nodes && missing > 0; i++) {
        uint32_t gpus = naive_most(v, v->q->nodes[i]);
        gpus = gpus < missing ? gpus : missing;
        if (gpus > 0)
            out[n++] = (struct place){v->q->nodes[i], gpus};
        missing -= gpus;
    }
    return missing == 0 ? n : 0;
}

static uint32_t naive_spread(struct naive *v, struct place *out)
{
    uint32_t n = 0, missing = v->d->gpus;
    for (uint32_t free = 4096; free > 0; free--)
        for (uint32_t i = 0; i < v->q->n_nodes; i++)
            if (visible_gpus(v->w, v->q->nodes[i]) == free && naive_most(v, v->q->nodes[i]) > 0)
                out[n++] = (struct place){v->q->nodes[i], 0};
    for (bool has_more_turns = true; missing > 0 && has_more_turns;) {
        has_more_turns = false;
        for (uint32_t i = 0; i < n && missing > 0; i++)
            if (out[i].gpus < naive_most(v, out[i].node)) {
                out[i].gpus++;
                missing--;
                has_more_turns = true;
            }
    }
    if (missing > 0)
        return 0;
    while (n > 0 && out[n - 1].gpus == 0)
        n--;
    return n;
}

/* Tiresias: the amounts that its jobs take, from their places. */
static uint32_t naive_yarn(struct naive *v, struct place *out)
{
    const struct cluster *c = v->w->c;
    static double cpu[PLACES_MAX], gb[PLACES_MAX];
    uint32_t size = naive_largest(v), g = v->d->gpus;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct pool *p = &c->pools[c->nodes[i].pool];
        cpu[i] = p->cpu_milli == UINT32_MAX ? 1e18 : p->cpu_milli / 1000.0;
        gb[i] = p->mem_kib == UINT64_MAX ? 1e18 : (double)p->mem_kib * 1024 / 1e9;
    }
    for (uint32_t k = 0; k < v->w->n_live; k++) {
        const struct place *places;
        uint32_t n = cluster_alloc_places(c, v->w->live[k].handle, &places), all = v->w->live[k].d.gpus;
        for (uint32_t i = 0; i < n; i++) {
            cpu[places[i].node] -= all == 1 ? 2 : 6 * places[i].gpus;
            gb[places[i].node] -= n == 1 ? 5 : (11 + 0.1 * all) * places[i].gpus;
        }
    }
    if (size == 0)
        return 0;
    memset(v->taken, 0, sizeof v->taken);
    const double slack = 1e-4; /* memory is kept in KiB */
    for (uint32_t rack = 0; rack < c->n_racks; rack++) {
        uint32_t n = 0, missing = g;
        memset(v->taken, 0, sizeof v->taken);
        for (uint32_t turn = 0; turn < 2; turn++)
            for (uint32_t i = 0; i < v->q->n_nodes && missing > 0; i++) {
                uint32_t node = v->q->nodes[i], here = g <= size ? g : turn == 0 ? size : g % size;
                bool is_whole = g > size && turn == 0;
                double memory = g <= size ? 5 : (11 + 0.1 * g) * here;
                if (c->nodes[node].rack != rack || here == 0 || (is_whole && missing < size) ||
                    !naive_ok(v, node, here, is_whole) || cpu[node] < (g == 1 ? 2 : 6 * here) ||
                    gb[node] + slack < memory)
                    continue;
                if (turn == 1 && missing != here)
                    continue;
                out[n++] = (struct place){node, here};
                v->taken[node] = true;
                missing -= here;
            }
        if (missing == 0)
            return n;
    }
    return 0;
}

/* rack_local, written down from its description: what PACKED takes is counted, then racks are chosen. */
static bool rack_can(const struct naive *v, uint32_t rack, const uint32_t *missing, uint32_t largest, uint32_t rest,
                     uint32_t *free)
{
    static struct naive copy;
    copy = *v;
    *free = 0;
    for (uint32_t i = 0; i < v->q->n_nodes; i++)
        if (v->w->c->nodes[v->q->nodes[i]].rack == rack && naive_type_fits(v, v->q->nodes[i]) &&
            !v->taken[v->q->nodes[i]])
            *free += visible_gpus(v->w, v->q->nodes[i]);
    for (uint32_t size = largest; size > 0; size--)
        for (uint32_t k = 0; k < missing[size]; k++) {
            uint32_t i = 0;
            while (i < v->q->n_nodes &&
                   !(v->w->c->nodes[v->q->nodes[i]].rack == rack && naive_ok(&copy, v->q->nodes[i], size, true)))
                i++;
            if (i == v->q->n_nodes)
                return false;
            copy.taken[v->q->nodes[i]] = true;
        }
    for (uint32_t i = 0; rest > 0 && i < v->q->n_nodes; i++)
        if (v->w->c->nodes[v->q->nodes[i]].rack == rack && naive_ok(&copy, v->q->nodes[i], rest, false))
            return true;
    return rest == 0;
}

static uint32_t naive_rack_local(struct naive *v, struct place *out)
{
    static uint32_t missing[PLACES_MAX];
    static bool is_used[PLACES_MAX];
    const struct cluster *c = v->w->c;
    uint32_t largest = naive_largest(v), n = naive_packed(v, naive_lowest, naive_lowest, out), rest = 0;
    if (n == 0)
        return 0;
    memset(missing, 0, sizeof missing);
    memset(is_used, 0, sizeof is_used);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is_whole = v->d->gpus > largest && v->taken[out[i].node];
        if (is_whole)
            missing[out[i].gpus]++;
        else
            rest = out[i].gpus;
        sum += out[i].gpus;
    }
    memset(v->taken, 0, sizeof v->taken);
    for (n = 0; sum > 0;) {
        uint32_t best = UINT32_MAX, best_free = 0, best_gives = 0;
        for (uint32_t rack = 0; rack < c->n_racks; rack++) {
            uint32_t free;
            if (!rack_can(v, rack, missing, largest, rest, &free))
                continue;
            if (best == UINT32_MAX || is_used[rack] > is_used[best] ||
                (is_used[rack] == is_used[best] && free < best_free)) {
                best = rack;
                best_free = free;
            }
        }
        bool is_last = best != UINT32_MAX;
        for (uint32_t rack = 0; !is_last && rack < c->n_racks; rack++) {
            uint32_t gives = 0;
            for (uint32_t size = largest; size > 0; size--) {
                uint32_t count = 0;
                for (uint32_t i = 0; i < v->q->n_nodes && count < missing[size]; i++)
                    count += c->nodes[v->q->nodes[i]].rack == rack && naive_ok(v, v->q->nodes[i], size, true);
                gives += count * size;
            }
            if (gives > best_gives) {
                best = rack;
                best_gives = gives;
            }
        }
        cr_assert_neq(best, UINT32_MAX);
        is_used[best] = true;
        for (uint32_t size = largest; size > 0; size--)
            for (uint32_t i = 0; i < v->q->n_nodes && missing[size] > 0; i++)
                if (c->nodes[v->q->nodes[i]].rack == best && naive_ok(v, v->q->nodes[i], size, true)) {
                    out[n++] = (struct place){v->q->nodes[i], size};
                    v->taken[v->q->nodes[i]] = true;
                    missing[size]--;
                    sum -= size;
                }
        if (!is_last)
            continue;
        uint32_t node = NODESET_NONE;
        for (uint32_t i = 0; rest > 0 && i < v->q->n_nodes; i++) {
            uint32_t k = v->q->nodes[i];
            if (c->nodes[k].rack == best && naive_ok(v, k, rest, false) &&
                (node == NODESET_NONE || visible_gpus(v->w, k) < visible_gpus(v->w, node)))
                node = k;
        }
        if (rest > 0)
            out[n++] = (struct place){node, rest};
        sum -= rest;
    }
    return n;
}

struct rule {
    const char *name;
    naive_choose one, whole;                              /* PACKED by a choice */
    uint32_t (*pick)(struct naive *v, struct place *out); /* or in full */
    bool is_random, may_refuse;
};

static const struct rule RULES[] = {
    {"consolidate", naive_consolidate, naive_lowest, NULL, false, false},
    {"first_fit", naive_lowest, naive_lowest, NULL, false, false},
    {"best_fit", naive_best_fit, naive_lowest, NULL, false, false},
    {"worst_fit", naive_worst_fit, naive_lowest, NULL, false, false},
    {"least_loaded", naive_least_loaded, naive_lowest, NULL, false, false},
    {"round_robin", naive_round_robin, naive_round_robin, NULL, false, false},
    {"weighted_round_robin", naive_weighted, naive_weighted, NULL, false, false},
    {"spread", NULL, NULL, naive_spread, false, false},
    {"count", NULL, NULL, naive_count, false, false},
    {"rack_local", NULL, NULL, naive_rack_local, false, false},
    {"yarn", NULL, NULL, naive_yarn, false, true},
    {"random", NULL, NULL, NULL, true, false},
    {"power_of_two", NULL, NULL, NULL, true, false},
};

Test(placement, every_module_has_a_naive_twin)
{
    size_t n = 0;
    while (placement_list()[n] != NULL)
        n++;
    cr_assert_eq(n, sizeof RULES / sizeof *RULES);
}

/* ---- random states ----------------------------------------------------------------------------------- */

static struct demand random_demand(struct world *w, bool is_bounded)
{
    static const uint32_t GPUS[] = {1, 1, 1, 2, 2, 3, 4, 5, 8, 8, 9, 12, 16, 20, 24, 30, 40};
    struct demand d = {.gpus = GPUS[draw(w, 17)], .gpu_type = NAMES_NONE};
    if (draw(w, 4) == 0)
        d.gpu_type = draw(w, 4);
    if (is_bounded && draw(w, 3) > 0) {
        d.cpu_milli = d.gpus * (500 + draw(w, 6000)) + draw(w, 3);
        d.mem_kib = draw(w, 2) * (uint64_t)d.gpus * (1000000 + draw(w, 8000000));
    }
    return d;
}

/* Random jobs come and go through the module; every answer is compared with the rule, every `fits` with the answer. */
static void compare_module(const struct rule *rule, const struct cluster_spec *spec, bool is_bounded,
                           unsigned long seed)
{
    static struct world w;
    static struct naive v;
    static struct place out[PLACES_MAX], want[PLACES_MAX];
    struct error err;
    world_init(&w, spec, seed);
    const struct placement_ops *ops = placement_find(rule->name);
    cr_assert_not_null(ops, "no module '%s'", rule->name);
    union param v0 = {.i = 2};
    if (strcmp(rule->name, "weighted_round_robin") == 0)
        v0 = (union param){.list = {NULL, 0}};
    void *self = arena_alloc(&w.arena, 1, ops->state_size);
    if (ops->init != NULL)
        cr_assert_eq(ops->init(self, w.c, &v0, &w.arena, &err), 0);
    memset(&v, 0, sizeof v);
    v.w = &w;
    uint32_t vc = cluster_n_vcs(w.c) - 1, partition = cluster_vc(w.c, vc)->partition, fits = 0, refusals = 0;
    v.q = cluster_partition(w.c, partition);
    for (int step = 0; step < 1500; step++) {
        uint32_t what = draw(&w, 10);
        if (what < 3 && w.n_live > 0) {
            world_stop(&w, draw(&w, w.n_live));
            continue;
        }
        if (what == 3) { /* something is held back, or given back */
            uint32_t node = v.q->nodes[draw(&w, v.q->n_nodes)];
            const struct node *n = cluster_node(w.c, node);
            if (n->reserved_gpus > 0)
                cluster_unreserve(w.c, node, n->reserved_gpus);
            else
                cluster_reserve(w.c, node, draw(&w, 3));
            continue;
        }
        if (what == 4 && w.n_live > 10 && step % 50 == 0) /* now and then the cluster runs nearly empty */
            while (w.n_live > 3)
                world_stop(&w, draw(&w, w.n_live));
        const struct demand d = random_demand(&w, is_bounded);
        v.d = &d;
        memset(v.taken, 0, sizeof v.taken);
        uint32_t room = v.q->n_nodes < d.gpus ? v.q->n_nodes : d.gpus;
        bool may = ops->rule == PLACEMENT_PACKED ? naive_packed_fits(&v) : naive_pool_fits(&v);
        cr_assert_eq(placement_fits(w.c, partition, &d, ops->rule), may, "%s: fits, %u GPUs", rule->name, d.gpus);
        uint32_t n = ops->pick(self, w.c, partition, &d, w.rng, out, room);
        if (rule->may_refuse)
            cr_assert(n == 0 || may, "%s", rule->name);
        else
            cr_assert_eq(n > 0, may, "%s: %u GPUs, fits %d, picked %u", rule->name, d.gpus, may, n);
        if (!rule->is_random) {
            /* A twin with a memory moves it only when a job is placed. */
            static struct naive before;
            before = v;
            uint32_t n_want =
                rule->pick != NULL ? rule->pick(&v, want) : naive_packed(&v, rule->one, rule->whole, want);
            if (n_want == 0)
                v = before;
            cr_assert_eq(n, n_want, "%s: %u places for %u GPUs, the rule gives %u", rule->name, n, d.gpus, n_want);
            for (uint32_t i = 0; i < n; i++)
                cr_assert(out[i].node == want[i].node && out[i].gpus == want[i].gpus,
                          "%s step %d: place %u is %u:%u, not %u:%u", rule->name, step, i, out[i].node, out[i].gpus,
                          want[i].node, want[i].gpus);
        }
        if (n > 0 && ops->never != NULL)
            cr_assert_null(ops->never(w.c, partition, &d), "%s: a job that was placed could never be", rule->name);
        refusals += n == 0;
        if (n == 0)
            continue;
        fits++;
        cr_assert(cluster_places_fit(w.c, &d, out, n), "%s", rule->name);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(cluster_owns(w.c, partition, out[i].node), "%s", rule->name);
            for (uint32_t k = 0; k < i; k++)
                cr_assert_neq(out[i].node, out[k].node, "%s", rule->name);
        }
        const char *reason = cluster_never_fits(w.c, vc, &d, ops->rule == PLACEMENT_PACKED);
        cr_assert_null(reason, "%s: a job that was placed could never fit: %s", rule->name, reason);
        world_start(&w, vc, &d, out, n);
    }
    world_check(&w);
    if (ops->never != NULL) { /* what an empty cluster refuses is what can never be, and nothing else */
        while (w.n_live > 0)
            world_stop(&w, 0);
        for (uint32_t i = 0; i < cluster_n_nodes(w.c); i++)
            cluster_unreserve(w.c, i, cluster_node(w.c, i)->reserved_gpus);
        for (uint32_t gpus = 1; gpus < 100; gpus++) {
            const struct demand d = {.gpus = gpus, .gpu_type = gpus % 3 == 0 ? draw(&w, 4) : NAMES_NONE};
            uint32_t n = ops->pick(self, w.c, partition, &d, w.rng, out, PLACES_MAX);
            cr_assert_eq(ops->never(w.c, partition, &d) == NULL, n > 0, "%s: %u GPUs", rule->name, gpus);
        }
    }
    cr_assert(fits > 100 && refusals > 50, "%s: %u placed, %u refused: the states are not varied", rule->name, fits,
              refusals);
    world_fini(&w);
}

static void compare_all(const struct cluster_spec *spec, bool is_bounded, unsigned long seed)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        compare_module(&RULES[i], spec, is_bounded, seed);
}

Test(placement, modules_follow_their_rules_on_like_nodes)
{
    struct node_group_spec group = {.count = 12, .gpus = 8, .gpu = "a"};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1};
    compare_all(&spec, false, 1);
    spec.nodes_per_rack = 4;
    compare_all(&spec, false, 2);
}

Test(placement, modules_follow_their_rules_over_many_racks)
{
    struct node_group_spec groups[] = {{.count = 20, .gpus = 8, .gpu = "a"},
                                       {.count = 7, .gpus = 4, .gpu = "a", .nodes_per_rack = 2}};
    struct vc_spec vcs[] = {{.name = "own", .mode = VC_NODES, .amount = 4},
                            {.name = "mine", .mode = VC_NODES, .amount = 21}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2, .vcs = vcs, .n_vcs = 2, .nodes_per_rack = 3};
    compare_all(&spec, false, 8);
    spec.vcs = NULL;
    spec.n_vcs = 0;
    compare_all(&spec, false, 9);
}

Test(placement, modules_follow_their_rules_on_mixed_nodes)
{
    struct node_group_spec groups[] = {{.count = 3, .gpus = 4, .gpu = "a"}, {.count = 4, .gpus = 8, .gpu = "b"},
                                       {.count = 2, .gpus = 0, .gpu = ""},  {.count = 3, .gpus = 8, .gpu = "a"},
                                       {.count = 2, .gpus = 4, .gpu = "a"}, {.count = 2, .gpus = 3, .gpu = ""},
                                       {.count = 1, .gpus = 70, .gpu = "c"}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 6, .nodes_per_rack = 5};
    compare_all(&spec, false, 3);
    spec.n_groups = 7;
    compare_all(&spec, false, 4);
}

Test(placement, modules_follow_their_rules_inside_one_of_several_partitions)
{
    struct node_group_spec groups[] = {{.count = 6, .gpus = 8, .gpu = "a"}, {.count = 8, .gpus = 4, .gpu = "b"}};
    struct vc_spec vcs[] = {{.name = "own", .mode = VC_NODES, .amount = 3},
                            {.name = "shared", .mode = VC_GPUS, .amount = 40}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2, .vcs = vcs, .n_vcs = 2, .nodes_per_rack = 4};
    vcs[1].amount = 1000;
    compare_all(&spec, false, 5);
}

Test(placement, modules_follow_their_rules_where_cpu_and_memory_bind)
{
    struct node_group_spec groups[] = {
        {.count = 4, .gpus = 8, .gpu = "a", .cpu_milli = 32000, .memory_kib = 60000000},
        {.count = 3, .gpus = 8, .gpu = "b", .cpu_milli = 20000, .memory_kib = 200000000},
        {.count = 3, .gpus = 4, .gpu = "a", .cpu_milli = 24000},
        {.count = 3, .gpus = 4, .gpu = "c"},
    };
    struct cluster_spec spec = {.groups = groups, .n_groups = 4, .nodes_per_rack = 4};
    compare_all(&spec, true, 6);
    groups[0].memory_kib = 28000000; /* five small jobs of yarn, and hardly more of others */
    compare_all(&spec, true, 7);
}

/* The cluster against a twin in plain arrays, over a million random operations; all is compared after every 64th. */
#include "world.h"

enum { TWIN_NODES = 14, TWIN_GPUS = 200, TWIN_TENANTS = 4 };

struct twin_gpu {
    uint32_t holder; /* job, UINT32_MAX: not held exclusively */
    uint32_t tenant[TWIN_TENANTS], share[TWIN_TENANTS], n_tenants;
};

struct twin {
    uint32_t gpus[TWIN_NODES], reserved[TWIN_NODES], used[3];
    uint64_t cpu_held[TWIN_NODES], mem_held[TWIN_NODES];
    struct twin_gpu gpu[TWIN_NODES][TWIN_GPUS];
};

static uint32_t twin_free(const struct twin *t, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < t->gpus[node]; g++)
        n += t->gpu[node][g].holder == UINT32_MAX && t->gpu[node][g].n_tenants == 0;
    return n;
}

static void twin_compare(const struct world *w, const struct twin *t)
{
    uint64_t sum = 0, squares = 0, want_sum, want_squares;
    for (uint32_t i = 0; i < TWIN_NODES; i++) {
        const struct node *n = cluster_node(w->c, i);
        uint32_t free = twin_free(t, i);
        cr_assert_eq(n->free_gpus, free, "node %u", i);
        cr_assert_eq(n->reserved_gpus, t->reserved[i], "node %u", i);
        if (n->cpu_free_milli != UINT32_MAX)
            cr_assert_eq(w->c->pools[n->pool].cpu_milli - n->cpu_free_milli, t->cpu_held[i], "node %u", i);
        if (n->mem_free_kib != UINT64_MAX)
            cr_assert_eq(w->c->pools[n->pool].mem_kib - n->mem_free_kib, t->mem_held[i], "node %u", i);
        sum += t->gpus[i] - free;
        squares += (uint64_t)(t->gpus[i] - free) * (t->gpus[i] - free);
        for (uint32_t g = 0; g < t->gpus[i]; g++) {
            const struct twin_gpu *k = &t->gpu[i][g];
            uint32_t jobs[TWIN_TENANTS];
            uint32_t got = cluster_gpu_tenants(w->c, i, g, jobs, TWIN_TENANTS);
            if (k->holder != UINT32_MAX) {
                cr_assert(got == 1 && jobs[0] == k->holder, "node %u GPU %u", i, g);
                continue;
            }
            cr_assert_eq(got, k->n_tenants, "node %u GPU %u", i, g);
            for (uint32_t m = 0; m < got; m++)
                cr_assert_eq(jobs[m], k->tenant[m]);
        }
    }
    cluster_load(w->c, &want_sum, &want_squares);
    cr_assert(sum == want_sum && squares == want_squares);
    for (uint32_t v = 0; v < 3; v++) {
        const struct vc *vc = cluster_vc(w->c, v);
        cr_assert_eq(vc->used_gpus, t->used[v]);
        uint32_t free = 0, within = vc->quota_gpus > t->used[v] ? vc->quota_gpus - t->used[v] : 0;
        for (uint32_t i = 0; i < TWIN_NODES; i++)
            if (cluster_owns(w->c, vc->partition, i))
                free += twin_free(t, i) - t->reserved[i];
        cr_assert_eq(cluster_vc_free(w->c, v), vc->mode == VC_NODES || free < within ? free : within);
    }
}

/* The lowest free GPUs, as cluster.h promises; and shares of CPU and memory from running sums rounded up. */
static void twin_take(struct twin *t, uint32_t vc, uint32_t job, const struct demand *d, const struct place *p,
                      uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t missing = p[i].gpus;
        for (uint32_t g = 0; missing > 0; g++)
            if (t->gpu[p[i].node][g].holder == UINT32_MAX && t->gpu[p[i].node][g].n_tenants == 0) {
                t->gpu[p[i].node][g].holder = job;
                missing--;
            }
        uint64_t low_cpu = ((uint64_t)d->cpu_milli * sum + d->gpus - 1) / d->gpus;
        uint64_t low_mem = (d->mem_kib * sum + d->gpus - 1) / d->gpus;
        sum += p[i].gpus;
        t->cpu_held[p[i].node] += ((uint64_t)d->cpu_milli * sum + d->gpus - 1) / d->gpus - low_cpu;
        t->mem_held[p[i].node] += (d->mem_kib * sum + d->gpus - 1) / d->gpus - low_mem;
    }
    t->used[vc] += d->gpus;
}

static void twin_give(struct twin *t, uint32_t vc, uint32_t job, const struct demand *d, const struct place *p,
                      uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t g = 0; g < t->gpus[p[i].node]; g++)
            if (t->gpu[p[i].node][g].holder == job)
                t->gpu[p[i].node][g].holder = UINT32_MAX;
        uint64_t low_cpu = ((uint64_t)d->cpu_milli * sum + d->gpus - 1) / d->gpus;
        uint64_t low_mem = (d->mem_kib * sum + d->gpus - 1) / d->gpus;
        sum += p[i].gpus;
        t->cpu_held[p[i].node] -= ((uint64_t)d->cpu_milli * sum + d->gpus - 1) / d->gpus - low_cpu;
        t->mem_held[p[i].node] -= (d->mem_kib * sum + d->gpus - 1) / d->gpus - low_mem;
    }
    t->used[vc] -= d->gpus;
}

/* Random places for a random job of `vc`: some of the partition's nodes in random order. Returns their number. */
static uint32_t random_places(struct world *w, uint32_t vc, struct demand *d, struct place *out)
{
    const struct partition *q = cluster_partition(w->c, cluster_vc(w->c, vc)->partition);
    uint32_t n = 0, wanted = 1 + draw(w, 3);
    *d = (struct demand){
        .gpu_type = NAMES_NONE, .cpu_milli = draw(w, 3000) * draw(w, 2), .mem_kib = draw(w, 50) * draw(w, 2)};
    for (uint32_t tries = 0; tries < 8 && n < wanted; tries++) {
        uint32_t node = q->nodes[draw(w, q->n_nodes)], room = visible_gpus(w, node);
        bool is_twice = false;
        for (uint32_t i = 0; i < n; i++)
            is_twice |= out[i].node == node;
        if (is_twice || room == 0)
            continue;
        out[n] = (struct place){node, 1 + draw(w, room)};
        d->gpus += out[n++].gpus;
    }
    return n > 0 && cluster_places_fit(w->c, d, out, n) ? n : 0;
}

static void share_step(struct world *w, struct twin *t)
{
    uint32_t node = draw(w, TWIN_NODES);
    if (t->gpus[node] == 0)
        return;
    uint32_t g = draw(w, t->gpus[node]), job = 1000000 + draw(w, 5), share = 1 + draw(w, 700);
    struct twin_gpu *k = &t->gpu[node][g];
    uint32_t at = 0, sum = share;
    for (; at < k->n_tenants && k->tenant[at] != job; at++)
        ;
    for (uint32_t i = 0; i < k->n_tenants; i++)
        sum += k->share[i];
    bool is_tenant = at < k->n_tenants;
    if (draw(w, 2) == 0) {
        bool may = k->holder == UINT32_MAX && !is_tenant && sum <= 1000 && k->n_tenants < TWIN_TENANTS &&
                   (k->n_tenants > 0 || twin_free(t, node) > t->reserved[node]);
        if (!may && k->n_tenants == TWIN_TENANTS)
            return; /* the twin has no room */
        cr_assert_eq(cluster_share(w->c, node, g, job, share), may);
        if (may) {
            k->tenant[k->n_tenants] = job;
            k->share[k->n_tenants++] = share;
        }
    } else {
        cr_assert_eq(cluster_unshare(w->c, node, g, job), is_tenant);
        for (; is_tenant && at + 1 < k->n_tenants; at++) {
            k->tenant[at] = k->tenant[at + 1];
            k->share[at] = k->share[at + 1];
        }
        k->n_tenants -= is_tenant;
    }
}

static void reserve_step(struct world *w, struct twin *t)
{
    uint32_t node = draw(w, TWIN_NODES), gpus = draw(w, 4);
    if (draw(w, 2) == 0) {
        bool may = gpus <= twin_free(t, node) - t->reserved[node];
        cr_assert_eq(cluster_reserve(w->c, node, gpus), may);
        t->reserved[node] += may ? gpus : 0;
    } else if (gpus <= t->reserved[node]) {
        cluster_unreserve(w->c, node, gpus);
        t->reserved[node] -= gpus;
    }
}

/* Free a job; half of the time it comes back to the same GPUs, when they are still free after something else has happened. */
static void stop_step(struct world *w, struct twin *t)
{
    if (w->n_live == 0)
        return;
    uint32_t i = draw(w, w->n_live);
    struct live l = w->live[i];
    const struct place *p;
    struct place places[4];
    uint32_t n = cluster_alloc_places(w->c, l.handle, &p);
    memcpy(places, p, n * sizeof *p);
    if (draw(w, 2) == 0) {
        twin_give(t, l.vc, l.job, &l.d, places, n);
        world_stop(w, i);
        return;
    }
    struct twin before = *t;
    cluster_free(w->c, l.vc, l.job, &l.d, l.handle);
    twin_give(t, l.vc, l.job, &l.d, places, n);
    reserve_step(w, t);
    uint32_t again = cluster_alloc_again(w->c, l.vc, l.job, &l.d, l.handle);
    bool may = true;
    for (uint32_t k = 0; k < n; k++)
        may &= places[k].gpus <= twin_free(t, places[k].node) - t->reserved[places[k].node];
    cr_assert_eq(again != ALLOC_NONE, may);
    if (may) {
        cr_assert(cluster_alloc_equal(w->c, again, l.handle));
        memcpy(before.reserved, t->reserved, sizeof t->reserved);
        *t = before;
    }
    cluster_forget(w->c, l.handle);
    if (may)
        w->live[i].handle = again;
    else
        w->live[i] = w->live[--w->n_live];
}

Test(cluster, random_operations_agree_with_plain_arrays)
{
    struct node_group_spec groups[] = {
        {.count = 4, .gpus = 8, .gpu = "a", .cpu_milli = 16000, .memory_kib = 300},
        {.count = 2, .gpus = 4, .gpu = "b"},
        {.count = 1, .gpus = 200, .gpu = "c", .cpu_milli = 64000},
        {.count = 1, .gpus = 0, .gpu = ""},
        {.count = 5, .gpus = 8, .gpu = "a", .cpu_milli = 16000, .memory_kib = 300},
        {.count = 1, .gpus = 65, .gpu = "c", .memory_kib = 5000},
    };
    struct vc_spec vcs[] = {{.name = "own", .mode = VC_NODES, .amount = 5},
                            {.name = "q1", .mode = VC_GPUS, .amount = 100},
                            {.name = "q2", .mode = VC_GPUS, .amount = 400}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 6, .vcs = vcs, .n_vcs = 3, .nodes_per_rack = 3};
    static struct world w;
    static struct twin t;
    for (unsigned long seed = 1; seed <= 3; seed++) {
        world_init(&w, &spec, seed);
        memset(&t, 0, sizeof t);
        for (uint32_t i = 0; i < TWIN_NODES; i++) {
            t.gpus[i] = cluster_node(w.c, i)->gpus;
            for (uint32_t g = 0; g < t.gpus[i]; g++)
                t.gpu[i][g].holder = UINT32_MAX;
        }
        for (int step = 0; step < 340000; step++) {
            struct demand d;
            struct place places[4];
            uint32_t vc = draw(&w, 3), n;
            switch (draw(&w, 8)) {
            case 0:
            case 1:
            case 2:
                if (w.n_live < 60 && (n = random_places(&w, vc, &d, places)) > 0) {
                    twin_take(&t, vc, w.next_job, &d, places, n);
                    world_start(&w, vc, &d, places, n);
                }
                break;
            case 3:
            case 4:
                stop_step(&w, &t);
                break;
            case 5:
                reserve_step(&w, &t);
                break;
            case 6:
                share_step(&w, &t);
                break;
            default:
                cluster_vc_set_quota(w.c, 1 + draw(&w, 2), draw(&w, 300));
                break;
            }
            if (step % 64 == 0) {
                twin_compare(&w, &t);
                world_check(&w);
            }
        }
        world_fini(&w);
    }
}

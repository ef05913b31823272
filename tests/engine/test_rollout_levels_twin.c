/* The free GPUs that a rollout keeps in one block against a plain array of nodes, over a million random operations. */
#include "engine/rollout_levels.h"
#include "tests/cluster/world.h"

enum { NODES = 150, HELD = 90, OPERATIONS = 1000000 / 9 };

/* The twin: what is free by node, and what kind of node that is. */
struct twin {
    uint32_t free[NODES], gpus[NODES];
    const char *type[NODES];
};

struct held {
    struct place places[NODES];
    uint32_t n;
};

static bool may_use(const struct twin *t, uint32_t node, const char *type)
{
    return t->gpus[node] > 0 && (type == NULL || strcmp(t->type[node], type) == 0);
}

static uint32_t twin_choose(const struct twin *t, enum levels_choice choice, const char *type, uint32_t gpus)
{
    uint32_t best = NODES;
    for (uint32_t i = 0; i < NODES; i++) {
        if (!may_use(t, i, type) || t->free[i] < gpus)
            continue;
        if (best == NODES || (choice == LEVELS_TIGHTEST && t->free[i] < t->free[best]) ||
            (choice == LEVELS_ROOMIEST && t->free[i] > t->free[best]))
            best = i;
    }
    return best;
}

/* Nothing is taken when it returns 0. */
static uint32_t twin_take(struct twin *t, enum levels_choice choice, const char *type, uint32_t gpus, struct place *out)
{
    struct twin before = *t;
    uint32_t largest = 0, n = 0;
    for (uint32_t i = 0; i < NODES; i++)
        largest = may_use(t, i, type) && t->gpus[i] > largest ? t->gpus[i] : largest;
    for (uint32_t size = gpus > largest ? largest : 0; size > 0; size--)
        for (uint32_t i = 0; i < NODES && size <= gpus; i++)
            if (may_use(t, i, type) && t->gpus[i] == size && t->free[i] == size) {
                out[n++] = (struct place){i, size};
                t->free[i] = 0;
                gpus -= size;
            }
    if (gpus == 0)
        return n;
    uint32_t node = twin_choose(t, choice, type, gpus);
    if (node == NODES) {
        *t = before;
        return 0;
    }
    t->free[node] -= gpus;
    out[n++] = (struct place){node, gpus};
    return n;
}

static bool twin_take_at(struct twin *t, const struct place *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (t->free[p[i].node] < p[i].gpus)
            return false;
    for (uint32_t i = 0; i < n; i++)
        t->free[p[i].node] -= p[i].gpus;
    return true;
}

/* One to five nodes in ascending order, of which a few GPUs are wanted. */
static uint32_t roll_places(struct world *w, const struct twin *t, struct place *out)
{
    uint32_t n = 0;
    for (uint32_t node = draw(w, NODES); node < NODES && n < 5; node += 1 + draw(w, 40))
        if (t->gpus[node] > 0)
            out[n++] = (struct place){node, 1 + draw(w, draw(w, 3) == 0 ? t->gpus[node] : 1)};
    return n;
}

static void operate(struct world *w, enum levels_choice choice)
{
    static const char *const types[] = {NULL, "a", "b", "c"};
    static struct held held[HELD];
    struct twin t;
    struct levels l = {.choice = choice};
    bool is_able;
    uint32_t n_held = 0;
    cr_assert(levels_init(&l, w->c, 0, &w->arena, &is_able));
    cr_assert(is_able && l.n_nodes == NODES);
    uint64_t *block = calloc(l.n_words, sizeof *block), *copy = calloc(l.n_words, sizeof *copy);
    cr_assert(block != NULL && copy != NULL);
    levels_load(&l, w->c, block);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct pool *p = &w->c->pools[cluster_node(w->c, i)->pool];
        t.gpus[i] = cluster_node(w->c, i)->gpus;
        t.free[i] = visible_gpus(w, i);
        t.type[i] = i < 60 ? "a" : i < 100 ? "b" : i < 140 ? "c" : "a";
        cr_assert_eq(p->gpus, t.gpus[i]);
    }
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        static struct place want[NODES];
        struct held *h = &held[n_held];
        uint32_t what = draw(w, 8), is_filling = i / 4000 % 2;
        if (n_held == HELD || (n_held > 0 && what < (is_filling ? 2u : 5u))) {
            h = &held[draw(w, n_held)];
            levels_give(&l, block, h->places, h->n);
            for (uint32_t k = 0; k < h->n; k++)
                t.free[h->places[k].node] += h->places[k].gpus;
            *h = held[--n_held];
        } else if (what == 7) {
            h->n = roll_places(w, &t, h->places);
            bool may = twin_take_at(&t, h->places, h->n);
            cr_assert_eq(levels_take_at(&l, block, h->places, h->n), may, "operation %u", i);
            n_held += may && h->n > 0;
        } else {
            const char *type = types[draw(w, 4)];
            struct demand d = {.gpus = 1 + draw(w, draw(w, 4) == 0 ? 90 : 12), .gpu_type = NAMES_NONE};
            bool is_single;
            if (type != NULL)
                d.gpu_type = names_find(cluster_gpu_types(w->c), type, 1);
            uint64_t pools = levels_pools(&l, w->c, 0, &d, &is_single);
            uint32_t n = twin_take(&t, choice, type, d.gpus, want);
            h->n = levels_take(&l, block, pools, is_single, d.gpus, h->places);
            cr_assert_eq(h->n, n, "operation %u: %u GPUs of type %s on %u nodes, in the twin %u", i, d.gpus,
                         type != NULL ? type : "any", h->n, n);
            for (uint32_t k = 0; k < n; k++)
                cr_assert(h->places[k].node == want[k].node && h->places[k].gpus == want[k].gpus,
                          "operation %u: node %u, in the twin %u", i, h->places[k].node, want[k].node);
            n_held += n > 0;
        }
        if (i % 4096 == 0) { /* a copy goes on as the block would */
            memcpy(copy, block, l.n_words * sizeof *copy);
            uint64_t *other = block;
            block = copy;
            copy = other;
            memset(copy, 0xa5, l.n_words * sizeof *copy);
        }
    }
    free(block);
    free(copy);
}

/* Nodes of three types and many sizes; a pool of more than 64 nodes has sets of two words. */
static void compare(enum levels_choice choice)
{
    struct node_group_spec groups[] = {{.count = 60, .gpus = 8, .gpu = "a"}, {.count = 40, .gpus = 4, .gpu = "b"},
                                       {.count = 1, .gpus = 63, .gpu = "c"}, {.count = 9, .gpus = 3, .gpu = "c"},
                                       {.count = 30, .gpus = 8, .gpu = "c"}, {.count = 10, .gpus = 8, .gpu = "a"}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 6};
    static struct world w;
    for (unsigned long seed = 1; seed <= 3; seed++) {
        world_init(&w, &spec, seed);
        for (uint32_t i = 0; i < NODES; i += 3) /* something is held from the first */
            world_hold(&w, i, draw(&w, 3));
        operate(&w, choice);
        world_fini(&w);
    }
}

Test(levels, the_tightest_node_is_that_of_a_scan)
{
    compare(LEVELS_TIGHTEST);
}

Test(levels, the_lowest_node_is_that_of_a_scan)
{
    compare(LEVELS_LOWEST);
}

Test(levels, the_roomiest_node_is_that_of_a_scan)
{
    compare(LEVELS_ROOMIEST);
}

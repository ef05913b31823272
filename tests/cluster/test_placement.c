/* Every placement module by examples solved by hand, and the distributions of those that draw. */
#include "world.h"

#include <stdio.h>

/* ---- by hand --------------------------------------------------------------------------------------- */

struct hand {
    struct world w;
    const struct placement_ops *ops;
    void *self;
    struct place out[64];
};

static void hand_use(struct hand *h, const char *name, const union param *v)
{
    struct error err;
    h->ops = placement_find(name);
    cr_assert_not_null(h->ops, "no module '%s'", name);
    h->self = arena_alloc(&h->w.arena, 1, h->ops->state_size);
    if (h->ops->init != NULL)
        cr_assert_eq(h->ops->init(h->self, h->w.c, v, &h->w.arena, &err), 0, "%s", err.message);
}

/* A job of `gpus` GPUs as "node:gpus node:gpus …" ("": it does not fit); it then holds them when `keep`. */
static const char *hand_pick(struct hand *h, uint32_t gpus, bool keep)
{
    static char text[512];
    const struct demand d = {.gpus = gpus, .gpu_type = NAMES_NONE};
    uint32_t n = h->ops->pick(h->self, h->w.c, 0, &d, h->w.rng, h->out, 64);
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < n; i++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s%u:%u", i > 0 ? " " : "", h->out[i].node, h->out[i].gpus);
    if (n > 0 && keep)
        world_start(&h->w, 0, &d, h->out, n);
    return text;
}

static struct hand *hand_open(const char *name, uint32_t nodes, uint32_t gpus, uint32_t nodes_per_rack,
                              const uint32_t *held)
{
    static struct hand h;
    memset(&h, 0, sizeof h);
    world_plain(&h.w, nodes, gpus, nodes_per_rack, held);
    hand_use(&h, name, NULL);
    return &h;
}

Test(placement, consolidate_takes_the_tightest_node_and_whole_nodes_for_large_jobs)
{
    struct hand *h = hand_open("consolidate", 6, 8, 0, (const uint32_t[]){0, 3, 5, 5, 0, 7});
    cr_assert_str_eq(hand_pick(h, 1, false), "5:1");
    cr_assert_str_eq(hand_pick(h, 2, false), "2:2");
    cr_assert_str_eq(hand_pick(h, 5, false), "1:5");
    cr_assert_str_eq(hand_pick(h, 6, false), "0:6");
    cr_assert_str_eq(hand_pick(h, 18, false), "0:8 4:8 2:2");
    cr_assert_str_eq(hand_pick(h, 22, false), "", "6 GPUs are free on one node no more once two are taken");
    cr_assert_str_eq(hand_pick(h, 12, false), "0:8 1:4");
    world_fini(&h->w);
}

Test(placement, a_job_of_one_node_never_takes_two)
{
    struct hand *h = hand_open("consolidate", 3, 8, 0, (const uint32_t[]){4, 4, 4});
    cr_assert_str_eq(hand_pick(h, 8, false), "");
    world_fini(&h->w);
}

Test(placement, first_fit_takes_the_lowest_number)
{
    struct hand *h = hand_open("first_fit", 4, 8, 0, (const uint32_t[]){7, 3, 0, 2});
    cr_assert_str_eq(hand_pick(h, 1, false), "0:1");
    cr_assert_str_eq(hand_pick(h, 2, false), "1:2");
    cr_assert_str_eq(hand_pick(h, 6, false), "2:6");
    cr_assert_str_eq(hand_pick(h, 10, false), "2:8 1:2");
    world_fini(&h->w);
}

Test(placement, best_fit_leaves_the_least_cpu_among_nodes_with_equal_gpus)
{
    struct node_group_spec groups[] = {{.count = 2, .gpus = 4, .gpu = "", .cpu_milli = 8000},
                                       {.count = 1, .gpus = 4, .gpu = "", .cpu_milli = 6000},
                                       {.count = 1, .gpus = 4, .gpu = "", .cpu_milli = 2000}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 3};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    hand_use(&h, "best_fit", NULL);
    const struct demand d = {.gpus = 1, .cpu_milli = 4000, .gpu_type = NAMES_NONE};
    cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &d, h.w.rng, h.out, 64), 1);
    cr_assert_eq(h.out[0].node, 2, "node 3 has too few CPUs, node 2 is left with the fewest");
    cr_assert_str_eq(hand_pick(&h, 1, false), "0:1", "a job that asks for no CPU: lowest number, as consolidate");
    world_fini(&h.w);
}

Test(placement, worst_fit_takes_the_node_with_the_most_free_gpus)
{
    struct hand *h = hand_open("worst_fit", 4, 8, 0, (const uint32_t[]){7, 3, 2, 2});
    cr_assert_str_eq(hand_pick(h, 1, true), "2:1");
    cr_assert_str_eq(hand_pick(h, 1, true), "3:1");
    cr_assert_str_eq(hand_pick(h, 1, true), "1:1");
    cr_assert_str_eq(hand_pick(h, 6, true), "");
    world_fini(&h->w);
}

Test(placement, spread_uses_as_many_nodes_as_possible)
{
    struct hand *h = hand_open("spread", 4, 8, 0, (const uint32_t[]){5, 7, 0, 8});
    cr_assert_str_eq(hand_pick(h, 1, false), "2:1");
    cr_assert_str_eq(hand_pick(h, 5, false), "2:2 0:2 1:1");
    cr_assert_str_eq(hand_pick(h, 12, false), "2:8 0:3 1:1");
    cr_assert_str_eq(hand_pick(h, 13, false), "");
    world_fini(&h->w);
}

Test(placement, round_robin_goes_around_and_skips_what_is_full)
{
    struct hand *h = hand_open("round_robin", 4, 2, 0, (const uint32_t[]){0, 2, 1, 0});
    cr_assert_str_eq(hand_pick(h, 1, true), "0:1");
    cr_assert_str_eq(hand_pick(h, 1, true), "2:1");
    cr_assert_str_eq(hand_pick(h, 1, true), "3:1");
    cr_assert_str_eq(hand_pick(h, 2, true), "", "a job that finds no place does not move the turn");
    cr_assert_str_eq(hand_pick(h, 1, true), "0:1");
    cr_assert_str_eq(hand_pick(h, 1, true), "3:1");
    world_fini(&h->w);
}

Test(placement, weighted_round_robin_uses_nodes_in_proportion_to_their_weight)
{
    struct node_group_spec groups[] = {{.count = 2, .gpus = 8, .gpu = "big"}, {.count = 2, .gpus = 4, .gpu = "small"}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    const union param none = {.list = {NULL, 0}};
    hand_use(&h, "weighted_round_robin", &none);
    static const uint32_t TURNS[] = {0, 2, 1,
                                     0, 3, 1}; /* credits 16 8 | 8 16 | 24 0 -> big, small, big by turns of 2 to 1 */
    for (size_t i = 0; i < 12; i++) {
        hand_pick(&h, 1, false);
        cr_assert_eq(h.out[0].node, TURNS[i % 6], "turn %zu: node %u", i, h.out[0].node);
    }
    static const double EQUAL[] = {1, 1}, WRONG[] = {1, 2, 3};
    const union param equal = {.list = {EQUAL, 2}}, wrong = {.list = {WRONG, 3}};
    hand_use(&h, "weighted_round_robin", &equal);
    uint32_t uses[4] = {0};
    for (int i = 0; i < 40; i++) {
        hand_pick(&h, 1, false);
        uses[h.out[0].node]++;
    }
    cr_assert(uses[0] == 10 && uses[1] == 10 && uses[2] == 10 && uses[3] == 10);
    struct error err;
    cr_assert_eq(h.ops->init(h.self, h.w.c, &wrong, &h.w.arena, &err), BRAID_BAD_INPUT);
    cr_assert(strstr(err.message, "3 weights for 2 kinds of node"));
    world_fini(&h.w);
}

Test(placement, least_loaded_compares_shares_of_the_node)
{
    struct node_group_spec groups[] = {{.count = 1, .gpus = 8, .gpu = ""}, {.count = 1, .gpus = 4, .gpu = ""}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    hand_use(&h, "least_loaded", NULL);
    world_hold(&h.w, 0, 4);
    world_hold(&h.w, 1, 1);
    cr_assert_str_eq(hand_pick(&h, 1, true), "1:1", "4 of 8 against 1 of 4");
    cr_assert_str_eq(hand_pick(&h, 1, true), "0:1", "4 of 8 against 2 of 4: the lowest number");
    cr_assert_str_eq(hand_pick(&h, 1, true), "1:1", "5 of 8 against 2 of 4");
    world_fini(&h.w);
}

Test(placement, rack_local_stays_in_the_rack_that_is_left_with_the_least)
{
    static const uint32_t HELD[] = {0, 0, 8, 8, /* rack 0: 16 free */ 4, 4, 5, 4, /* 1: 15 */ 0, 0, 0, 8 /* 2: 24 */};
    struct hand *h = hand_open("rack_local", 12, 8, 4, HELD);
    cr_assert_str_eq(hand_pick(h, 16, false), "0:8 1:8");
    cr_assert_str_eq(hand_pick(h, 4, false), "4:4");
    cr_assert_str_eq(hand_pick(h, 3, false), "6:3", "consolidated inside");
    cr_assert_str_eq(hand_pick(h, 6, false), "0:6", "rack 1 has no node with 6");
    cr_assert_str_eq(hand_pick(h, 20, false), "8:8 9:8 10:4");
    world_fini(&h->w);
}

Test(placement, rack_local_takes_few_racks_when_one_will_not_do)
{
    static const uint32_t HELD[] = {0, 0, 8, 8, 4, 4, 4, 4, 0, 0, 0, 8};
    struct hand *h = hand_open("rack_local", 12, 8, 4, HELD);
    cr_assert_str_eq(hand_pick(h, 32, false), "8:8 9:8 10:8 0:8");
    cr_assert_str_eq(hand_pick(h, 36, false), "8:8 9:8 10:8 0:8 1:4", "the rest stays in a rack that is in use");
    cr_assert_str_eq(hand_pick(h, 44, false), "8:8 9:8 10:8 0:8 1:8 4:4");
    world_fini(&h->w);
}

Test(placement, count_takes_any_gpus_lowest_numbers_first)
{
    struct hand *h = hand_open("count", 4, 4, 0, (const uint32_t[]){3, 4, 2, 0});
    cr_assert_str_eq(hand_pick(h, 1, false), "0:1");
    cr_assert_str_eq(hand_pick(h, 4, false), "0:1 2:2 3:1");
    cr_assert_str_eq(hand_pick(h, 7, false), "0:1 2:2 3:4");
    cr_assert_str_eq(hand_pick(h, 8, false), "");
    world_fini(&h->w);
}

Test(placement, yarn_reckons_its_own_cpu_and_memory)
{
    struct node_group_spec group = {
        .count = 3, .gpus = 4, .gpu = "", .cpu_milli = 24000, .memory_kib = 12000000000 / 1024};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    hand_use(&h, "yarn", NULL);
    cr_assert_str_eq(hand_pick(&h, 1, true), "0:1"); /* 2 CPUs, 5 GB */
    cr_assert_str_eq(hand_pick(&h, 2, true), "0:2"); /* 12 CPUs, 5 GB */
    cr_assert_str_eq(hand_pick(&h, 1, true), "1:1", "15 GB on node 0 would be too much");
    cr_assert_str_eq(hand_pick(&h, 4, false), "2:4", "24 CPUs: only node 2 has as many");
    cr_assert_str_eq(hand_pick(&h, 5, false), "", "11.5 GB a GPU for a job of two nodes: 46 GB a node");
    const struct demand node = {.gpus = 4, .gpu_type = NAMES_NONE}, more = {.gpus = 5, .gpu_type = NAMES_NONE};
    cr_assert_null(h.ops->never(h.w.c, 0, &node));
    cr_assert_str_eq(h.ops->never(h.w.c, 0, &more), "too_large_for_rack");
    world_fini(&h.w);
}

Test(placement, yarn_wants_more_memory_a_gpu_for_larger_jobs)
{
    /* 8 GPUs on two nodes: 11.8 GB a GPU, 47.2 GB a node */
    for (uint64_t gb = 47; gb <= 48; gb++) {
        struct node_group_spec group = {
            .count = 2, .gpus = 4, .gpu = "", .cpu_milli = 24000, .memory_kib = gb * 1000000000 / 1024};
        struct cluster_spec spec = {.groups = &group, .n_groups = 1};
        static struct hand h;
        world_init(&h.w, &spec, 1);
        hand_use(&h, "yarn", NULL);
        const struct demand eight = {.gpus = 8, .gpu_type = NAMES_NONE};
        cr_assert_str_eq(hand_pick(&h, 8, false), gb == 47 ? "" : "0:4 1:4");
        cr_assert_eq(h.ops->never(h.w.c, 0, &eight) != NULL, gb == 47);
        world_fini(&h.w);
    }
}

/* Racks of two nodes: the amounts of the scheme fit in the first alone, what the job asks in the second alone. */
Test(placement, yarn_tells_what_no_rack_can_give)
{
    struct node_group_spec groups[] = {
        {.count = 2, .gpus = 4, .gpu = "", .cpu_milli = 24000, .memory_kib = 100000000},
        {.count = 2, .gpus = 4, .gpu = "", .cpu_milli = 64000, .memory_kib = 40000000},
    };
    struct cluster_spec spec = {.groups = groups, .n_groups = 2, .nodes_per_rack = 2};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    hand_use(&h, "yarn", NULL);
    const struct demand modest = {.gpus = 8, .gpu_type = NAMES_NONE, .cpu_milli = 48000},
                        greedy = {.gpus = 8, .gpu_type = NAMES_NONE, .cpu_milli = 48001};
    cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &modest, h.w.rng, h.out, 64), 2);
    cr_assert_null(h.ops->never(h.w.c, 0, &modest));
    cr_assert_null(cluster_never_fits(h.w.c, 0, &greedy, true), "four nodes could share it");
    cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &greedy, h.w.rng, h.out, 64), 0);
    cr_assert_str_eq(h.ops->never(h.w.c, 0, &greedy), "too_large_for_rack");
    world_fini(&h.w);
}

Test(placement, yarn_never_spans_racks)
{
    static const uint32_t HELD[] = {0, 1, 0, 0, 0, 0};
    struct hand *h = hand_open("yarn", 6, 4, 2, HELD);
    cr_assert_str_eq(hand_pick(h, 3, false), "0:3");
    cr_assert_str_eq(hand_pick(h, 7, false), "0:4 1:3");
    cr_assert_str_eq(hand_pick(h, 8, false), "2:4 3:4");
    cr_assert_str_eq(hand_pick(h, 9, false), "", "a rack has 8 GPUs");
    const struct demand rack = {.gpus = 8, .gpu_type = NAMES_NONE}, more = {.gpus = 9, .gpu_type = NAMES_NONE};
    cr_assert_null(h->ops->never(h->w.c, 0, &rack));
    cr_assert_str_eq(h->ops->never(h->w.c, 0, &more), "too_large_for_rack");
    world_fini(&h->w);
}

Test(placement, gpu_type_restricts_the_nodes)
{
    struct node_group_spec groups[] = {{.count = 1, .gpus = 8, .gpu = "a"}, {.count = 2, .gpus = 4, .gpu = "b"}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2};
    static struct hand h;
    world_init(&h.w, &spec, 1);
    const struct demand b = {.gpus = 6, .gpu_type = 1}, absent = {.gpus = 1, .gpu_type = 2},
                        too_many = {.gpus = 9, .gpu_type = 1};
    for (size_t i = 0; placement_list()[i] != NULL; i++) {
        const union param v[1] = {{.i = 2}}, none[1] = {{.list = {NULL, 0}}};
        bool takes_list = strcmp(placement_list()[i]->name, "weighted_round_robin") == 0;
        hand_use(&h, placement_list()[i]->name, takes_list ? none : v);
        cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &b, h.w.rng, h.out, 64), 2, "%s", h.ops->name);
        cr_assert(h.out[0].node >= 1 && h.out[1].node >= 1 && h.out[0].node != h.out[1].node, "%s", h.ops->name);
        cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &absent, h.w.rng, h.out, 64), 0, "%s", h.ops->name);
        cr_assert_eq(h.ops->pick(h.self, h.w.c, 0, &too_many, h.w.rng, h.out, 64), 0, "%s", h.ops->name);
        cr_assert(h.ops->summary != NULL && h.ops->source != NULL);
        cr_assert_eq(placement_find(h.ops->name), h.ops);
    }
    cr_assert_null(placement_find("nonesuch"));
    world_fini(&h.w);
}

/* ---- draws --------------------------------------------------------------------------------------------- */

/* Pearson's statistic of `n` counts against equal expectations. */
static double chi_square(const uint32_t *counts, uint32_t n)
{
    double sum = 0, chi = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += counts[i];
    for (uint32_t i = 0; i < n; i++)
        chi += (counts[i] - sum / n) * (counts[i] - sum / n) / (sum / n);
    return chi;
}

static void check_uniform(uint32_t nodes, uint32_t every, double limit)
{
    static struct hand h;
    static uint32_t counts[512];
    uint32_t n = 0;
    memset(&h, 0, sizeof h);
    memset(counts, 0, sizeof counts);
    world_plain(&h.w, nodes, 8, 0, NULL);
    for (uint32_t i = 0; i < nodes; i++) /* every so-many-th node has room, of different sizes */
        world_hold(&h.w, i, i % every == 0 ? i % 4 : 8);
    hand_use(&h, "random", NULL);
    for (uint32_t i = 0; i < nodes / every * 400; i++) {
        hand_pick(&h, 4, false);
        cr_assert_eq(h.out[0].node % every, 0);
        counts[h.out[0].node / every]++;
    }
    n = nodes / every;
    cr_assert_lt(chi_square(counts, n), limit, "%u nodes, every %u: chi square %g", nodes, every,
                 chi_square(counts, n));
    world_fini(&h.w);
}

Test(placement, random_draws_every_node_that_will_do_equally)
{
    check_uniform(256, 1, 360);  /* by trying: 255 degrees of freedom, 360 has p = 1e-5 */
    check_uniform(256, 4, 123);  /* 63 */
    check_uniform(1024, 64, 47); /* counted off: 15 */
}

Test(placement, power_of_two_prefers_the_less_loaded_as_two_draws_do)
{
    static struct hand h;
    memset(&h, 0, sizeof h);
    world_plain(&h.w, 4, 8, 0, (const uint32_t[]){0, 2, 4, 6});
    uint32_t counts[4] = {0};
    const union param v[1] = {{.i = 2}};
    hand_use(&h, "power_of_two", v);
    for (int i = 0; i < 16000; i++) {
        hand_pick(&h, 1, false);
        counts[h.out[0].node]++;
    }
    for (uint32_t i = 0; i < 4; i++) { /* the best of two draws with putting back: (2 (4 - i) - 1) / 16 */
        double expected = 1000.0 * (2 * (4 - i) - 1);
        cr_assert_lt(counts[i] - expected < 0 ? expected - counts[i] : counts[i] - expected, 250, "node %u: %u", i,
                     counts[i]);
    }
    world_fini(&h.w);
}

#include "world.h"

/* ---- building ------------------------------------------------------------------------------------- */

static const char *build_error(const struct cluster_spec *spec)
{
    static struct error err;
    struct arena a;
    arena_init(&a);
    err.message[0] = '\0';
    const struct cluster *c = cluster_create(spec, 0, &a, &err);
    bool is_refused = c == NULL && err.code == BRAID_BAD_INPUT;
    arena_fini(&a);
    return is_refused ? err.message : "";
}

Test(cluster, owners_take_nodes_in_order_of_listing_and_quotas_share_the_rest)
{
    struct node_group_spec groups[] = {{.count = 3, .gpus = 8, .gpu = "v100"}, {.count = 3, .gpus = 4, .gpu = "p100"}};
    struct vc_spec vcs[] = {{.name = "q1", .mode = VC_GPUS, .amount = 6},
                            {.name = "a", .mode = VC_NODES, .amount = 1},
                            {.name = "q2", .mode = VC_GPUS, .amount = 6},
                            {.name = "b", .mode = VC_NODES, .amount = 3}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2, .vcs = vcs, .n_vcs = 4};
    struct world w;
    world_init(&w, &spec, 1);
    cr_assert_eq(cluster_n_partitions(w.c), 3);
    cr_assert_eq(cluster_n_gpus(w.c), 36);
    const struct partition *a = cluster_partition(w.c, cluster_vc(w.c, 1)->partition);
    const struct partition *b = cluster_partition(w.c, cluster_vc(w.c, 3)->partition);
    const struct partition *rest = cluster_partition(w.c, cluster_vc(w.c, 0)->partition);
    cr_assert(a->n_nodes == 1 && a->nodes[0] == 0 && a->gpus == 8);
    cr_assert(b->n_nodes == 3 && b->nodes[0] == 1 && b->gpus == 20 && b->n_pools == 2);
    cr_assert(rest->n_nodes == 2 && rest->nodes[0] == 4 && rest->gpus == 8);
    cr_assert_eq(cluster_vc(w.c, 0)->partition, cluster_vc(w.c, 2)->partition);
    cr_assert_eq(cluster_vc_find(w.c, "b"), 3);
    cr_assert_eq(cluster_vc_find(w.c, "c"), NAMES_NONE);
    cr_assert(cluster_owns(w.c, cluster_vc(w.c, 3)->partition, 3) &&
              !cluster_owns(w.c, cluster_vc(w.c, 3)->partition, 4));

    /* The quotas may exceed the shared GPUs in sum: each is then bounded by what is free. */
    const struct demand d = {.gpus = 4, .gpu_type = NAMES_NONE};
    cr_assert_eq(cluster_vc_free(w.c, 0), 6);
    world_start(&w, 0, &d, &(struct place){4, 4}, 1);
    cr_assert_eq(cluster_vc_free(w.c, 0), 2);
    cr_assert_eq(cluster_vc_free(w.c, 2), 4);
    world_check(&w);
    world_fini(&w);
}

Test(cluster, without_virtual_clusters_any_name_means_the_one_queue)
{
    struct world w;
    world_plain(&w, 3, 8, 0, NULL);
    cr_assert_eq(cluster_n_vcs(w.c), 1);
    cr_assert_str_eq(cluster_vc(w.c, 0)->name, "");
    cr_assert_eq(cluster_vc_find(w.c, "anything"), 0);
    cr_assert_eq(cluster_vc_free(w.c, 0), 24);
    world_fini(&w);
}

Test(cluster, wrong_specs_are_refused_with_the_reason)
{
    struct node_group_spec group = {.count = 2, .gpus = 8, .gpu = ""};
    struct vc_spec vcs[] = {{.name = "a", .mode = VC_NODES, .amount = 2}, {.name = "b", .mode = VC_GPUS, .amount = 2}};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .vcs = vcs, .n_vcs = 2};
    cr_assert(strstr(build_error(&spec), "none is left"));
    vcs[1] = (struct vc_spec){.name = "a", .mode = VC_GPUS};
    cr_assert(strstr(build_error(&spec), "'a' is named twice"));
    vcs[1] = (struct vc_spec){.name = "b", .mode = VC_NODES, .amount = 1};
    cr_assert(strstr(build_error(&spec), "want 3 nodes, the cluster has 2"));
    spec.n_vcs = 0;
    group.count = 0;
    cr_assert(strstr(build_error(&spec), "no nodes"));
    group.count = UINT32_MAX;
    cr_assert(strstr(build_error(&spec), "more than"));
}

Test(cluster, racks_hold_consecutive_nodes_and_end_where_the_setting_changes)
{
    struct node_group_spec groups[] = {{.count = 3, .gpus = 1, .gpu = ""},
                                       {.count = 2, .gpus = 2, .gpu = ""},
                                       {.count = 3, .gpus = 4, .gpu = "", .nodes_per_rack = 2},
                                       {.count = 1, .gpus = 8, .gpu = ""}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 4, .nodes_per_rack = 4};
    static const uint32_t RACK[] = {0, 0, 0, 0, 1, 2, 2, 3, 4};
    struct world w;
    world_init(&w, &spec, 1);
    for (uint32_t i = 0; i < 9; i++)
        cr_assert_eq(cluster_node(w.c, i)->rack, RACK[i], "node %u", i);
    cr_assert(w.c->n_racks == 5 && w.c->racks[0].gpus == 5 && w.c->racks[4].nodes[0] == 8);
    world_check(&w);
    world_fini(&w);
}

Test(cluster, pools_gather_like_nodes_largest_first)
{
    struct node_group_spec groups[] = {{.count = 1, .gpus = 4, .gpu = "a"},
                                       {.count = 1, .gpus = 8, .gpu = "b"},
                                       {.count = 2, .gpus = 4, .gpu = "a"},
                                       {.count = 1, .gpus = 8, .gpu = "a"},
                                       {.count = 1, .gpus = 0, .gpu = ""}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 5};
    struct world w;
    world_init(&w, &spec, 1);
    cr_assert_eq(w.c->n_pools, 4);
    cr_assert(w.c->pools[0].gpus == 8 && w.c->pools[0].first_node == 1);
    cr_assert(w.c->pools[1].gpus == 8 && w.c->pools[1].first_node == 4);
    cr_assert(w.c->pools[2].gpus == 4 && w.c->pools[2].n_nodes == 3 && w.c->pools[2].nodes[2] == 3);
    cr_assert(w.c->pools[3].gpus == 0);
    cr_assert_eq(cluster_gpu_types(w.c)->count, 2);
    world_fini(&w);
}

/* ---- quotas ---------------------------------------------------------------------------------------- */

Test(cluster, quota_changes_given_as_dates_count_from_the_origin)
{
    const int64_t day = INT64_C(86400) * 1000000000;
    struct node_group_spec group = {.count = 4, .gpus = 8, .gpu = ""};
    struct vc_change changes[] = {{10 * day, 8}, {20 * day, 16}, {21 * day, 0}, {30 * day, 64}};
    struct vc_spec vc = {
        .name = "v", .mode = VC_GPUS, .amount = 5, .changes = changes, .n_changes = 4, .changes_are_dates = true};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .vcs = &vc, .n_vcs = 1};
    struct arena a;
    struct error err;
    arena_init(&a);
    struct cluster *c = cluster_create(&spec, 20 * 86400, &a, &err);
    cr_assert_not_null(c);
    cr_assert_eq(cluster_vc(c, 0)->quota_gpus, 16, "the last change at or before time 0");
    cr_assert_eq(cluster_vc(c, 0)->n_changes, 2);
    cr_assert_eq(cluster_vc(c, 0)->changes[0].at_ns, day);
    c = cluster_create(&spec, 0, &a, &err);
    cr_assert(cluster_vc(c, 0)->quota_gpus == 5 && cluster_vc(c, 0)->n_changes == 4, "all changes are yet to come");
    arena_fini(&a);
}

Test(cluster, a_quota_of_zero_now_and_more_later_fits_sometime)
{
    struct node_group_spec group = {.count = 2, .gpus = 8, .gpu = ""};
    struct vc_change later = {1, 16};
    struct vc_spec vc = {.name = "v", .mode = VC_GPUS, .changes = &later, .n_changes = 1};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .vcs = &vc, .n_vcs = 1};
    struct world w;
    world_init(&w, &spec, 1);
    const struct demand d = {.gpus = 16, .gpu_type = NAMES_NONE};
    cr_assert_eq(cluster_vc_free(w.c, 0), 0);
    cr_assert_null(cluster_never_fits(w.c, 0, &d, true));
    cluster_vc_set_quota(w.c, 0, 16);
    cr_assert_eq(cluster_vc_free(w.c, 0), 16);
    const struct place both[] = {{0, 8}, {1, 8}};
    world_start(&w, 0, &d, both, 2);
    cluster_vc_set_quota(w.c, 0, 3);
    cr_assert_eq(cluster_vc_free(w.c, 0), 0, "used exceeds the quota: nothing is free");
    world_stop(&w, 0);
    cr_assert_eq(cluster_vc_free(w.c, 0), 3);
    world_fini(&w);
}

Test(cluster, what_can_never_fit_is_told_with_its_reason)
{
    struct node_group_spec groups[] = {{.count = 2, .gpus = 8, .gpu = "a", .cpu_milli = 64000, .memory_kib = 1000},
                                       {.count = 1, .gpus = 4, .gpu = "b", .cpu_milli = 32000, .memory_kib = 1000}};
    struct vc_spec vcs[] = {{.name = "own", .mode = VC_NODES, .amount = 1},
                            {.name = "q", .mode = VC_GPUS, .amount = 10}};
    struct cluster_spec spec = {.groups = groups, .n_groups = 2, .vcs = vcs, .n_vcs = 2};
    struct world w;
    world_init(&w, &spec, 1);
    static const struct {
        uint32_t vc;
        struct demand d;
        bool packed;
        const char *reason;
    } CASES[] = {
        {0, {8, 0, 0, NAMES_NONE}, true, NULL},
        {0, {9, 0, 0, NAMES_NONE}, true, "too_large_for_vc"},
        {0, {21, 0, 0, NAMES_NONE}, true, "too_large_for_cluster"},
        {1, {10, 0, 0, NAMES_NONE}, true, NULL},
        {1, {11, 0, 0, NAMES_NONE}, true, "too_large_for_vc"}, /* quota */
        {1, {4, 0, 0, 1}, true, NULL},
        {1, {5, 0, 0, 1}, true, "too_large_for_vc"}, /* only 4 GPUs of type b */
        {0, {1, 0, 0, 1}, true, "gpu_type_absent"},
        {0, {1, 0, 0, 7}, true, "gpu_type_absent"},
        {0, {1, 64000, 0, NAMES_NONE}, true, NULL},
        {0, {1, 64001, 0, NAMES_NONE}, true, "too_much_cpu"},
        {0, {1, 64000, 1001, NAMES_NONE}, true, "too_much_memory"},
        {1, {10, 80000, 0, NAMES_NONE}, true, NULL},             /* 8 GPUs and 64 CPUs on one node, 2 and 16 */
        {1, {10, 80001, 0, NAMES_NONE}, true, "too_much_cpu"},   /* 8/10 of it exceed 64 CPUs */
        {1, {10, 90000, 0, NAMES_NONE}, false, NULL},            /* as a pool: 7 and 3 GPUs */
        {1, {10, 100000, 0, NAMES_NONE}, false, "too_much_cpu"}, /* 6 + 3 */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *reason = cluster_never_fits(w.c, CASES[i].vc, &CASES[i].d, CASES[i].packed);
        cr_assert((reason == NULL) == (CASES[i].reason == NULL), "case %zu: %s", i, reason != NULL ? reason : "fits");
        if (reason != NULL)
            cr_assert_str_eq(reason, CASES[i].reason, "case %zu", i);
    }
    world_fini(&w);
}

/* ---- holding --------------------------------------------------------------------------------------- */

Test(cluster, the_lowest_free_gpu_numbers_are_given_and_come_back)
{
    struct world w;
    world_plain(&w, 1, 200, 0, NULL);
    const struct demand one = {.gpus = 1, .gpu_type = NAMES_NONE};
    const struct demand many = {.gpus = 130, .gpu_type = NAMES_NONE};
    for (int i = 0; i < 4; i++)
        world_start(&w, 0, &one, &(struct place){0, 1}, 1);
    world_stop(&w, 1); /* GPU 1 comes back */
    uint32_t big = world_start(&w, 0, &many, &(struct place){0, 130}, 1);
    const struct span *spans;
    uint32_t n = cluster_alloc_spans(w.c, w.live[big].handle, &spans);
    cr_assert_eq(n, 2);
    cr_assert(spans[0].gpu_first == 1 && spans[0].gpu_count == 1);
    cr_assert(spans[1].gpu_first == 4 && spans[1].gpu_count == 129, "one run over three words");
    world_check(&w);
    world_fini(&w);
}

Test(cluster, a_job_that_returns_in_its_round_gets_the_same_gpus_only_when_all_are_free)
{
    struct world w;
    world_plain(&w, 2, 4, 0, NULL);
    const struct demand two = {.gpus = 2, .gpu_type = NAMES_NONE}, one = {.gpus = 1, .gpu_type = NAMES_NONE};
    world_hold(&w, 0, 1);
    const struct place places[] = {{0, 1}, {1, 1}};
    uint32_t old = cluster_alloc(w.c, 0, 100, &two, places, 2);
    cluster_free(w.c, 0, 100, &two, old);
    const struct span *spans;
    cr_assert_eq(cluster_alloc_spans(w.c, old, &spans), 2, "the spans of a freed handle stay readable");
    uint32_t again = cluster_alloc_again(w.c, 0, 100, &two, old);
    cr_assert_neq(again, ALLOC_NONE);
    cr_assert_neq(again, old);
    cr_assert(cluster_alloc_equal(w.c, old, again));
    cluster_free(w.c, 0, 100, &two, again);
    uint32_t thief = cluster_alloc(w.c, 0, 101, &one, &(struct place){1, 1}, 1);
    cr_assert_eq(cluster_alloc_again(w.c, 0, 100, &two, old), ALLOC_NONE);
    cluster_free(w.c, 0, 101, &one, thief);
    cr_assert(cluster_reserve(w.c, 1, 4));
    cr_assert_eq(cluster_alloc_again(w.c, 0, 100, &two, old), ALLOC_NONE, "reserved GPUs are not free");
    cluster_unreserve(w.c, 1, 4);
    cluster_forget(w.c, old);
    cluster_forget(w.c, again);
    cluster_forget(w.c, thief);
    uint32_t next = cluster_alloc(w.c, 0, 102, &one, &(struct place){1, 1}, 1);
    cr_assert(next == old || next == again || next == thief, "handles are reused once forgotten");
    world_check(&w);
    world_fini(&w);
}

Test(cluster, cpu_and_memory_are_shared_out_by_gpus_and_add_up)
{
    struct node_group_spec group = {.count = 3, .gpus = 4, .gpu = "", .cpu_milli = 10000, .memory_kib = 1000};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1};
    struct world w;
    world_init(&w, &spec, 1);
    const struct demand d = {.gpus = 7, .cpu_milli = 1000, .mem_kib = 10, .gpu_type = NAMES_NONE};
    const struct place places[] = {{0, 4}, {1, 2}, {2, 1}};
    world_start(&w, 0, &d, places, 3); /* 571.4, 285.7, 142.9 and 5.7, 2.9, 1.4: what is left over goes to the first */
    static const uint32_t CPU[] = {572, 286, 142};
    static const uint64_t MEM[] = {6, 3, 1};
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(10000 - cluster_node(w.c, i)->cpu_free_milli, CPU[i], "node %u", i);
        cr_assert_eq(1000 - cluster_node(w.c, i)->mem_free_kib, MEM[i], "node %u", i);
    }
    world_check(&w);
    world_stop(&w, 0);
    cr_assert(cluster_node(w.c, 0)->cpu_free_milli == 10000 && cluster_node(w.c, 0)->mem_free_kib == 1000);
    world_fini(&w);
}

Test(cluster, parts_never_exceed_their_bound_and_add_up)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    for (int round = 0; round < 20000; round++) {
        uint32_t of = 1 + (uint32_t)gsl_rng_uniform_int(rng, 40), before = 0;
        uint64_t total = gsl_rng_uniform_int(rng, 1000), sum = 0;
        while (before < of) {
            uint32_t gpus = 1 + (uint32_t)gsl_rng_uniform_int(rng, of - before);
            uint64_t part = sched_part(total, before, gpus, of);
            cr_assert_leq(part, sched_part_bound(total, gpus, of));
            cr_assert_eq(sched_part_most(total, sched_part_bound(total, gpus, of), gpus, of), gpus);
            if (sched_part_bound(total, gpus, of) > 0)
                cr_assert_lt(sched_part_most(total, sched_part_bound(total, gpus, of) - 1, gpus, of), gpus);
            sum += part;
            before += gpus;
        }
        cr_assert_eq(sum, total);
    }
    gsl_rng_free(rng);
}

Test(cluster, a_shared_gpu_takes_tenants_up_to_the_whole)
{
    struct world w;
    world_plain(&w, 1, 2, 0, NULL);
    uint32_t jobs[4];
    cr_assert(cluster_share(w.c, 0, 1, 7, 400));
    cr_assert(cluster_share(w.c, 0, 1, 3, 600));
    cr_assert_not(cluster_share(w.c, 0, 1, 5, 1));
    cr_assert_eq(cluster_node(w.c, 0)->free_gpus, 1);
    cr_assert_eq(cluster_gpu_tenants(w.c, 0, 1, jobs, 4), 2);
    cr_assert(jobs[0] == 7 && jobs[1] == 3, "in order of joining");
    world_hold(&w, 0, 1); /* takes GPU 0 */
    cr_assert_not(cluster_share(w.c, 0, 0, 9, 1), "held exclusively");
    cr_assert_not(cluster_unshare(w.c, 0, 1, 5), "no such tenant");
    cr_assert(cluster_unshare(w.c, 0, 1, 7));
    cr_assert_not(cluster_share(w.c, 0, 1, 3, 100), "it is a tenant already");
    cr_assert(cluster_unshare(w.c, 0, 1, 3));
    cr_assert_eq(cluster_node(w.c, 0)->free_gpus, 1);
    cr_assert_eq(cluster_gpu_tenants(w.c, 0, 1, jobs, 4), 0);
    cr_assert(cluster_reserve(w.c, 0, 1));
    cr_assert_not(cluster_share(w.c, 0, 1, 3, 100), "the last free GPU is reserved");
    world_check(&w);
    world_fini(&w);
}

/* ---- the books find what is wrong ------------------------------------------------------------------- */

Test(cluster, the_check_finds_every_kind_of_damage)
{
    struct node_group_spec group = {.count = 2, .gpus = 4, .gpu = "", .cpu_milli = 8000, .memory_kib = 100};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .nodes_per_rack = 1};
    const struct demand d = {.gpus = 2, .cpu_milli = 2000, .mem_kib = 10, .gpu_type = NAMES_NONE};
    struct world w;
    struct error err;
    world_init(&w, &spec, 1);
    uint32_t i = world_start(&w, 0, &d, &(struct place){1, 2}, 1);
    cluster_share(w.c, 0, 3, 9, 500);
    world_check(&w);
    struct cluster *c = w.c;
#define DAMAGE(lvalue, value)                                                                                          \
    do {                                                                                                               \
        __typeof__(lvalue) kept = (lvalue);                                                                            \
        (lvalue) = (__typeof__(lvalue))(value);                                                                        \
        cr_assert_not(cluster_check(c, NAMES_NONE, &err), "%s went unnoticed", #lvalue);                               \
        cr_assert_neq(err.message[0], '\0');                                                                           \
        (lvalue) = kept;                                                                                               \
    } while (0)
    struct alloc *a = alloc_at(c, w.live[i].handle);
    DAMAGE(c->nodes[1].free_gpus, 3);
    DAMAGE(c->nodes[1].reserved_gpus, 1);
    DAMAGE(c->nodes[1].cpu_free_milli, 6001);
    DAMAGE(c->nodes[1].mem_free_kib, 91);
    DAMAGE(c->words[c->nodes[1].word_at], 0xf);
    DAMAGE(c->words[c->nodes[1].word_at], c->words[c->nodes[1].word_at] | 0x10);
    DAMAGE(c->owner[c->nodes[1].gpu_at], OWNER_FREE);
    DAMAGE(c->owner[c->nodes[1].gpu_at], 77);
    DAMAGE(c->owner[c->nodes[1].gpu_at + 2], w.live[i].handle);
    DAMAGE(c->tenants[0].share_milli, 1001);
    DAMAGE(a->spans[0].gpu_count, 1);
    DAMAGE(a->places[0].gpus, 1);
    DAMAGE(a->state, ALLOC_FREED);
    DAMAGE(c->vcs[0].used_gpus, 3);
    DAMAGE(c->pools[0].free_gpus, 4);
    DAMAGE(c->pools[0].by_free[4].count, 1);
    DAMAGE(c->levels[0][0], 0x1f);
    DAMAGE(c->partitions[0].free_gpus, 4);
    DAMAGE(c->racks[0].free_gpus, 2);
    DAMAGE(c->racks_by_free.level[0][0], 0);
    DAMAGE(c->racks_by_free.count, 3);
    DAMAGE(c->load_sum, 2);
    DAMAGE(c->load_squares, 4);
    world_check(&w);
    world_fini(&w);
}

/* Which nodes virtual clusters own: by groups that name them, by type, by number; and what contradicts itself. */
#include "base/number.h"
#include "experiment/config_fixture.h"

/* The nodes that a VC of run 0 owns, as "3-7", "-" for a quota, "?" for a VC that is not there. */
static const char *owned(const struct run_config *run, const char *vc, char out[32])
{
    struct arena a;
    arena_init(&a);
    const struct cluster *c = cluster_create(&run->cluster, 0, &a, NULL);
    cr_assert_not_null(c);
    uint32_t i = cluster_vc_find(c, vc);
    if (i == NAMES_NONE) {
        snprintf(out, 32, "?");
    } else if (cluster_vc(c, i)->mode == VC_GPUS) {
        snprintf(out, 32, "-");
    } else {
        const struct partition *p = cluster_partition(c, cluster_vc(c, i)->partition);
        snprintf(out, 32, "%u-%u", p->nodes[0], p->nodes[p->n_nodes - 1]);
        for (uint32_t k = 0; k < p->n_nodes; k++)
            cr_expect_eq(p->nodes[k], p->nodes[0] + k);
    }
    arena_fini(&a);
    return out;
}

struct ownership {
    const char *cluster; /* after "cluster: " */
    const char *a, *b, *c;
};

static void expect_owned(const struct ownership *cases, size_t n)
{
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < n; i++) {
        char yaml[1000], out[32];
        snprintf(yaml, sizeof yaml, "trace: x\ncluster: %s\n", cases[i].cluster);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%s: %d:%d: %s", cases[i].cluster, f.err.line, f.err.col,
                     f.err.message);
        const char *const want[] = {cases[i].a, cases[i].b, cases[i].c};
        for (int v = 0; v < 3; v++)
            cr_expect_str_eq(owned(&f.x.runs[0], (const char *[]){"A", "B", "C"}[v], out), want[v],
                             "%s: VC %c owns %s, not %s", cases[i].cluster, 'A' + v, out, want[v]);
        fixture_unload(&f);
    }
    fixture_fini(&f);
}

Test(config_vcs, nodes_go_to_the_vc_that_they_are_tied_to)
{
    static const struct ownership cases[] = {
        /* as ever: in order of the VCs */
        {"{nodes: [{count: 5}], vcs: {A: {nodes: 2}, B: {nodes: 3}}}", "0-1", "2-4", "?"},
        {"{nodes: [{count: 5}], vcs: {C: {gpus: 8}, A: {nodes: 2}}}", "0-1", "?", "-"},
        /* groups name theirs, with or without a place in vcs */
        {"{nodes: [{count: 2, vc: A}, {count: 3, vc: B}]}", "0-1", "2-4", "?"},
        {"{nodes: [{count: 2, vc: A}, {count: 3, vc: B}], vcs: none}", "0-1", "2-4", "?"},
        {"{nodes: [{count: 2, vc: A}, {count: 3, vc: B}], vcs: {B: {}, A: {}}}", "0-1", "2-4", "?"},
        {"{nodes: [{count: 2, vc: A}, {count: 3, vc: B}], vcs: {B: {nodes: 3}}}", "0-1", "2-4", "?"},
        {"{nodes: [{count: 2, vc: B}, {count: 1, vc: A}, {count: 3, vc: A}]}", "2-5", "0-1", "?"},
        {"{nodes: [{count: 1}, {count: 2, vc: B}, {count: 4}], vcs: {A: {nodes: 1}, C: {nodes: 3}}}", "0-0", "1-2",
         "3-5"},
        {"{nodes: [{count: 2, vc: B}, {count: 4}], vcs: {A: {gpus: 8}, C: {gpus: 99}}}", "-", "0-1", "-"},
        /* of a type, of a named group; the name comes before the type */
        {"{nodes: [{count: 2, gpu: x}, {count: 4, gpu: y}], vcs: {A: {nodes: all, of: y}, B: {nodes: 2}}}", "2-5",
         "0-1", "?"},
        {"{nodes: [{count: 2, gpu: x}, {count: 4, gpu: y}], vcs: {A: {nodes: all, of: y}, B: {nodes: 1, of: y}, C: "
         "{nodes: all}}}",
         "3-5", "2-2", "0-1"},
        {"{nodes: [{count: 2, gpu: x}, {count: 4, gpu: y, name: x}], vcs: {A: {nodes: all, of: x}, B: {nodes: 2}}}",
         "2-5", "0-1", "?"},
        {"{nodes: [{count: 2, name: p}, {count: 2, name: q}], vcs: {A: {nodes: 1, of: q}, B: {nodes: 1, of: p}}}",
         "2-2", "0-0", "?"},
        {"{nodes: [{count: 5}], vcs: {A: {nodes: all}, B: {nodes: 2}}}", "2-4", "0-1", "?"},
        {"{nodes: [{count: 1, gpu: y}, {count: 1, gpu: y, vc: B}, {count: 1, gpu: y}], vcs: {A: {nodes: 1, of: y}}}",
         "0-0", "1-1", "?"},
    };
    expect_owned(cases, sizeof cases / sizeof cases[0]);
}

Test(config_vcs, more_nodes_in_one_group_move_no_vc_that_is_tied)
{
    struct fixture f;
    static const char *const tied[] = {
        "  nodes: [{count: 1, gpu: a100, vc: A}, {count: 2, gpu: v100, vc: B}]\n",
        "  nodes: [{count: 1, gpu: a100}, {count: 2, gpu: v100}]\n  vcs: {A: {nodes: all, of: a100}, B: {nodes: 2, of: "
        "v100}}\n",
    };
    fixture_init(&f);
    for (int i = 0; i < 2; i++) {
        char yaml[400], out[32];
        snprintf(yaml, sizeof yaml, "trace: x\ncluster:\n%ssweep: {cluster.nodes.0.count: [1, 4]}\n", tied[i]);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%s", f.err.message);
        cr_expect_str_eq(owned(&f.x.runs[0], "A", out), "0-0");
        cr_expect_str_eq(owned(&f.x.runs[0], "B", out), "1-2");
        cr_expect_str_eq(owned(&f.x.runs[1], "A", out), "0-3");
        cr_expect_str_eq(owned(&f.x.runs[1], "B", out), "4-5");
        fixture_unload(&f);
    }
    fixture_fini(&f);
}

Test(config_vcs, what_contradicts_itself_is_told_with_its_place)
{
    static const struct bad_config cases[] = {
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: A}]\n  vcs: {A: {nodes: 3}}\n",
         "c.yaml:4:20: the virtual cluster 'A' has the 2 nodes of the groups that name it ('vc: A'); leave out "
         "'nodes'"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: A}]\n  vcs: {A: {nodes: all}}\n",
         "c.yaml:4:20: the virtual cluster 'A' has..."},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: A, gpu: y}]\n  vcs: {A: {nodes: 2, of: y}}\n",
         "c.yaml:4:27: the virtual cluster 'A' has the nodes of the groups that name it ('vc: A'); leave out 'nodes' "
         "and 'of'"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: A}, {count: 1}]\n  vcs: {A: {gpus: 3}}\n",
         "c.yaml:3:26: the virtual cluster 'A' has a quota ('gpus') and cannot own nodes as well; leave out one of the "
         "two"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: A}, {count: 1, vc: B}, {count: 1, vc: A}]\n",
         "c.yaml:3:60: the nodes of the virtual cluster 'A' do not stand next to each other: 0 to 1, and 3; list its "
         "groups under "
         "'nodes' one after the other"},
        {"trace: x\ncluster:\n  nodes: [{count: 2}, {count: 1, vc: B}, {count: 1}]\n  vcs: {A: {nodes: 3}}\n",
         "c.yaml:4:9: the nodes of the virtual cluster 'A' do not stand next to each other: 0 to 1, and 3; ..."},
        {"trace: x\ncluster:\n  nodes: [{count: 2}, {count: 1, vc: B}, {count: 1}]\n  vcs: {A: {gpus: 3}}\n",
         "c.yaml:4:19: the nodes that quotas share do not stand next to each other: 0 to 1, and 3; ..."},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: B}]\n  vcs: {A: {gpus: 3}}\n",
         "c.yaml:4:19: all nodes belong to virtual clusters with 'nodes'; none is left for those with 'gpus', such as "
         "'A'"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, gpu: v100}]\n  vcs: {A: {nodes: 1, of: V100}}\n",
         "c.yaml:4:27: the virtual cluster 'A' wants nodes of 'V100', but no group has this name or this type of GPU; "
         "did you mean "
         "'v100'?"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, gpu: v100, name: fast}]\n  vcs: {A: {nodes: 1, of: tpu-pod}}\n",
         "c.yaml:4:27: the virtual cluster 'A' wants nodes of 'tpu-pod', but no group has this name or this type of "
         "GPU; there are: "
         "fast, v100"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, gpu: v100}, {count: 5}]\n  vcs: {A: {nodes: 1, of: v100}, B: "
         "{nodes: 2, of: v100}}\n",
         "c.yaml:4:45: the virtual cluster 'B' wants 2 nodes of 'v100', but 1 is left; add nodes or take fewer"},
        {"trace: x\ncluster:\n  nodes: [{count: 2}]\n  vcs: {A: {nodes: all}, B: {nodes: all}}\n",
         "c.yaml:4:37: the virtual cluster 'B' gets no nodes: others have all; add nodes or give the others fewer"},
        {"trace: x\ncluster:\n  nodes: [{count: 2}]\n  vcs: {A: {nodes: 2}, B: {nodes: 1}}\n",
         "c.yaml:4:35: the virtual clusters want 3 nodes, the cluster has 2; add nodes or take fewer"},
        {"trace: x\ncluster:\n  nodes: [{count: 2}]\n  vcs: {A: {of: v100}}\n",
         "c.yaml:4:13: 'cluster.vcs.A.of' needs 'nodes' beside it"},
        {"trace: x\ncluster:\n  nodes: [{count: 2, vc: B}]\n  vcs: {A: {}}\n",
         "c.yaml:4:12: 'cluster.vcs.A' wants a map, {nodes: N} or {gpus: N}"},
    };
    EXPECT_BAD(cases);
}

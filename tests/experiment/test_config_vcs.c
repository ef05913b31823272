/* Which nodes virtual clusters own: by groups that name them, by type, by number; and what contradicts itself. */
#include "base/number.h"
#include "experiment/config_fixture.h"
#include "experiment/execute.h"

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

/* ---- routes --------------------------------------------------------------------------------------- */

Test(config_vcs, jobs_go_to_the_first_vc_that_takes_them)
{
    static const char trace[] = "id,submit,duration,gpus,user,vc,name,gpu_type\n"
                                "a,0,10,8,ann,x,bert-large,k80\nb,1,10,1,bob,x,bert-large,\nc,2,10,1,stud7,y,wrap,\n"
                                "d,3,10,16,stud7,y,gpt,\ne,4,10,2,eve,x,,k80\nf,5,10,2,eve,z,,\n";
    /* what the VCs take, and the VC of each job in order */
    static const struct {
        const char *vcs, *want;
    } cases[] = {
        {"{big: {nodes: 1, jobs: {gpus: '>= 8'}}, x: {nodes: 1}, y: {nodes: 1}}", "big x y big x z"},
        {"{x: {nodes: 1}, s: {nodes: 1, jobs: {user: 'stud*'}}, big: {nodes: 1, jobs: {gpus: '> 2'}}}",
         "big x s s x z"},
        {"{m: {nodes: 1, jobs: {user: [ann, eve], gpus: 2..8}}, r: {nodes: 1, jobs: {vc: '*'}}}", "m r r r m m"},
        {"{m: {nodes: 1, jobs: {name: ['bert-?arge', 'g*t']}}, n: {nodes: 1, jobs: {name: \"*\", gpu_type: k80}}}",
         "m m y m n z"},
        {"{m: {nodes: 1, jobs: {gpus: 1}}, n: {gpus: 8, jobs: {gpus: '<= 2', vc: x}}}", "x m m y n z"},
        {"{m: {nodes: 1, jobs: {gpus: '< 2'}}}", "x m m y x z"},
    };
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "t.csv", trace, strlen(trace));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char yaml[500], got[200] = "";
        struct workload w;
        struct run_result r;
        snprintf(yaml, sizeof yaml,
                 "trace: {path: t.csv, scale: 2}\ncluster:\n  nodes: [{count: 9, gpu: k80}]\n  vcs: %s\n",
                 cases[i].vcs);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%s: %d:%d: %s", yaml, f.err.line, f.err.col,
                     f.err.message);
        cr_assert_eq(experiment_run_one(&f.x.runs[0], true, &w, &r, &f.err), BRAID_OK, "%s", f.err.message);
        cr_assert_eq(w.n_jobs, 6);
        for (uint32_t j = 0; j < 6; j++) {
            const char *vc = names_text(&w.vcs, w.vc[j]);
            bool is_listed = false;
            for (uint32_t v = 0; v < f.x.runs[0].cluster.n_vcs; v++)
                is_listed |= strcmp(f.x.runs[0].cluster.vcs[v].name, vc) == 0;
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", j > 0 ? " " : "", vc);
            cr_expect_eq(w.submit_ns[j], j * NS_PER_S / 2);
            cr_expect_eq(r.jobs[j].status == STATUS_REJECTED, !is_listed || w.gpus[j] > 8, "%s: job %u", yaml, j);
        }
        cr_expect_str_eq(got, cases[i].want, "%s: %s, not %s", cases[i].vcs, got, cases[i].want);
        /* the resolved config says the same again */
        struct fixture again;
        fixture_init(&again);
        char *text = strdup(f.x.runs[0].yaml);
        cr_expect_eq(fixture_load(&again, text, NULL), BRAID_OK, "%s: %s", text, again.err.message);
        cr_expect_str_eq(again.x.runs[0].yaml, text);
        free(text);
        fixture_unload(&again);
        fixture_fini(&again);
        run_result_fini(&r);
        workload_fini(&w);
        fixture_unload(&f);
    }
    fixture_fini(&f);
    static const struct bad_config bad[] = {
        {"trace: x\ncluster: {vcs: {a: {nodes: 1, jobs: {gpus: many}}}}\n",
         "c.yaml:2:44: 'cluster.vcs.a.jobs.gpus' is 'many', but must be a number of GPUs such as 8, '>= 8', '< 4' or "
         "2..7"},
        {"trace: x\ncluster: {vcs: {a: {nodes: 1, jobs: {gpus: 7..2}}}}\n",
         "c.yaml:2:44: 'cluster.vcs.a.jobs.gpus' is '7..2', but..."},
        {"trace: x\ncluster: {vcs: {a: {nodes: 1, jobs: {users: b}}}}\n",
         "c.yaml:2:38: unknown key in 'cluster.vcs.a.jobs': 'users'; did you mean 'user'?"},
        {"trace: x\ncluster: {vcs: {a: {nodes: 1, jobs: {}}}}\n",
         "c.yaml:2:37: 'cluster.vcs.a.jobs' wants a map of conditions such as..."},
        {"trace: x\ncluster: {vcs: {a: {nodes: 1, jobs: {user: []}}}}\n",
         "c.yaml:2:44: 'cluster.vcs.a.jobs.user' wants a text or a list..."},
        {"trace: x\ncluster: {vcs: {a: {jobs: {user: b}}}}\n",
         "c.yaml:2:20: 'cluster.vcs.a' needs 'nodes' or 'gpus', or a group..."},
    };
    EXPECT_BAD(bad);
}

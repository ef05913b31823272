/* Files that describe a cluster, and files of quotas: what is read, and what is refused with file, line and column. */
#include "base/arena.h"
#include "base/number.h"
#include "cluster/cluster.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARED "../shared/traces/"

struct fixture {
    struct arena arena;
    struct cluster_spec spec;
    struct vc_spec vc;
    struct error err;
    char folder[256], path[300];
    int status;
};

/* A file of `n` bytes as `cluster.file`; with `vc`, as the quotas of that virtual cluster. */
static struct fixture *load_bytes(const char *text, size_t n, const char *vc)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    const char *tmp = getenv("TMPDIR");
    snprintf(f.folder, sizeof f.folder, "%s/braid-inventory-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/cluster.csv", f.folder);
    FILE *file = fopen(f.path, "wb");
    cr_assert(file != NULL && fwrite(text, 1, n, file) == n && fclose(file) == 0);
    arena_init(&f.arena);
    if (vc != NULL) {
        f.vc = (struct vc_spec){.name = vc, .mode = VC_GPUS, .changes_path = f.path, .changes_shown = "quota.csv"};
        f.spec.vcs = &f.vc;
        f.spec.n_vcs = 1;
    } else {
        f.spec.file = f.path;
        f.spec.file_shown = "cluster.csv";
    }
    f.status = cluster_spec_load(&f.spec, &f.arena, &f.err);
    remove(f.path);
    rmdir(f.folder);
    return &f;
}

static struct fixture *load(const char *text, const char *vc)
{
    return load_bytes(text, strlen(text), vc);
}

static void unload(struct fixture *f)
{
    arena_fini(&f->arena);
}

/* ---- inventories ------------------------------------------------------------------------------------ */

Test(inventory, a_switch_is_a_rack)
{
    struct fixture *f =
        load("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,8,92,520", NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->spec.n_groups, 1);
    const struct node_group_spec *g = &f->spec.groups[0];
    cr_assert(g->count == 6 && g->gpus == 8 && g->nodes_per_rack == 3);
    cr_assert(g->cpu_milli == 92000 && g->memory_kib == UINT64_C(520000000000) / 1024);
    struct cluster *c = cluster_create(&f->spec, 0, &f->arena, &f->err);
    cr_assert_not_null(c);
    cr_assert(cluster_node(c, 2)->rack == 0 && cluster_node(c, 3)->rack == 1);
    unload(f);
}

Test(inventory, a_table_of_nodes_lists_the_virtual_clusters)
{
    static const char *const HEADERS[] = {"vc,node num", "vc,node_num", "VC , Nodes"};
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "\xef\xbb\xbf%s\r\n\r\n010,2\r\n\r\n\"a,b\",1\r\n", HEADERS[i]);
        struct fixture *f = load(text, NULL);
        cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
        cr_assert_eq(f->spec.n_vcs, 2);
        cr_assert_str_eq(f->spec.vcs[0].name, "010", "names stay text");
        cr_assert_str_eq(f->spec.vcs[1].name, "a,b");
        cr_assert(f->spec.vcs[0].mode == VC_NODES && f->spec.vcs[0].amount == 2);
        struct cluster *c = cluster_create(&f->spec, 0, &f->arena, &f->err);
        cr_assert(c != NULL && cluster_n_gpus(c) == 24, "8 GPUs a node unless said");
        unload(f);
    }
}

Test(inventory, openb_rows_are_nodes)
{
    struct fixture *f = load("sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\nb,64000,262144,2,P100\n"
                             "c,32000,131072,0,\nd,96000,786432,8,V100M32\n",
                             NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->spec.n_groups, 3, "like neighbours are one group");
    cr_assert(f->spec.groups[0].count == 2 && f->spec.groups[0].memory_kib == UINT64_C(262144) * 1024);
    cr_assert_str_eq(f->spec.groups[1].gpu, "");
    cr_assert_str_eq(f->spec.groups[2].gpu, "V100M32");
    unload(f);
}

Test(inventory, what_cannot_be_read_is_named_with_its_place)
{
    static const struct {
        const char *text;
        int line, col;
        const char *says;
    } CASES[] = {
        {"", 0, 0, "empty"},
        {"\n\n", 0, 0, "empty"},
        {"a,b,c\n1,2,3\n", 1, 1, "not a header of a cluster file"},
        {"vc,nodes\n", 1, 0, "no rows"},
        {"vc,nodes\na,x\n", 2, 3, "is 'x'; give a whole number from 1"},
        {"vc,nodes\na,0\n", 2, 3, "from 1"},
        {"vc,nodes\na,-3\n", 2, 3, "from 1"},
        {"vc,nodes\na,1.5\n", 2, 3, "whole number"},
        {"vc,nodes\na,99999999999999999999\n", 2, 3, "whole number"},
        {"vc,nodes\na\n", 2, 0, "1 fields and column 2 is needed"},
        {"vc,nodes\n,3\n", 2, 1, "every row a name"},
        {"vc,nodes\na,3\nb,2\na,4\n", 4, 1, "each virtual cluster one row"},
        {"vc,nodes\n\"a,3\n", 2, 0, ""},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,8,8,None,520\n", 2, 7,
         "num_cpu_p_node is 'None'"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n16000000,2,8,92,520\n", 2, 0,
         "name fewer"},
        {"sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,two,P100\n", 2, 17, "gpu is 'two'"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture *f = load(CASES[i].text, NULL);
        cr_assert_eq(f->status, BRAID_BAD_INPUT, "case %zu", i);
        cr_assert_str_eq(f->err.file, "cluster.csv", "case %zu", i);
        cr_assert_eq(f->err.line, CASES[i].line, "case %zu: line %d: %s", i, f->err.line, f->err.message);
        if (CASES[i].says[0] != '\0') {
            cr_assert_eq(f->err.col, CASES[i].col, "case %zu: column %d: %s", i, f->err.col, f->err.message);
            cr_assert_not_null(strstr(f->err.message, CASES[i].says), "case %zu: %s", i, f->err.message);
        }
        unload(f);
    }
    struct fixture *f = load_bytes("vc,nodes\na\0b,3\n", 15, NULL);
    cr_assert_eq(f->status, BRAID_BAD_INPUT, "a NUL byte");
    unload(f);
}

Test(inventory, a_file_and_nodes_or_two_lists_of_virtual_clusters_contradict)
{
    struct arena a;
    struct error err;
    struct node_group_spec group = {.count = 1, .gpus = 8, .gpu = ""};
    struct cluster_spec spec = {.file = "absent.csv", .groups = &group, .n_groups = 1};
    arena_init(&a);
    cr_assert_eq(cluster_spec_load(&spec, &a, &err), BRAID_BAD_INPUT);
    cr_assert(strstr(err.message, "leave one of them out"));
    spec.n_groups = 0;
    cr_assert_eq(cluster_spec_load(&spec, &a, &err), BRAID_BAD_INPUT, "the file is absent");
    arena_fini(&a);
}

/* ---- quotas ------------------------------------------------------------------------------------------ */

Test(inventory, quotas_in_seconds_and_equal_neighbours_merged)
{
    struct fixture *f = load("time,gpus\r\n0,8\r\n10,8\r\n20.5,0\r\n30,8", "any");
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert(!f->vc.changes_are_dates && f->vc.n_changes == 3);
    cr_assert(f->vc.changes[1].at_ns == INT64_C(20500000000) && f->vc.changes[1].gpus == 0);
    cr_assert(f->vc.changes[2].at_ns == INT64_C(30000000000) && f->vc.changes[2].gpus == 8);
    unload(f);
}

Test(inventory, bad_quota_files_are_named_with_their_place)
{
    static const struct {
        const char *text;
        int line, col;
        const char *says;
    } CASES[] = {
        {"", 0, 0, "empty"},
        {"when,v\n1,2\n", 1, 1, "'date'"},
        {"date,w\n2020-01-01,1\n", 1, 0, "no column is named 'v'"},
        {"date,vc1,total\n2020-01-01,1,1\n", 1, 0, "no column is named 'v'"},
        {"date,v,v\n2020-01-01,1,1\n", 1, 8, "one column"},
        {"date,v\n", 1, 0, "no rows"},
        {"date,v\n2020-02-30,1\n", 2, 1, "a date"},
        {"date,v\n2020-01-01,-1\n", 2, 12, "whole number from 0"},
        {"date,v\n2020-01-01,1.5\n", 2, 12, "whole number"},
        {"date,v\n2020-01-01,\n", 2, 12, "whole number"},
        {"date,v\n2020-01-01\n", 2, 0, "1 fields"},
        {"date,v\n2020-01-02,1\n2020-01-01,2\n", 3, 1, "ascending"},
        {"time,v\n5,1\n5,2\n", 3, 1, "ascending"},
        {"time,v\n2020-01-01,1\n", 2, 1, "seconds"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture *f = load(CASES[i].text, "v");
        cr_assert_eq(f->status, BRAID_BAD_INPUT, "case %zu", i);
        cr_assert_str_eq(f->err.file, "quota.csv", "case %zu", i);
        cr_assert(f->err.line == CASES[i].line && f->err.col == CASES[i].col, "case %zu: %d:%d %s", i, f->err.line,
                  f->err.col, f->err.message);
        cr_assert_not_null(strstr(f->err.message, CASES[i].says), "case %zu: %s", i, f->err.message);
        unload(f);
    }
    struct fixture *f = load("date,vcHvQ,total\n2020-01-01,1,1\n", "vcHvq");
    cr_assert_not_null(strstr(f->err.message, "did you mean 'vcHvQ'?"), "%s", f->err.message);
    unload(f);
}

static int64_t days(int64_t year, int month, int day)
{
    return date_to_days(year, month, day) * 86400 * NS_PER_S;
}

Test(inventory, a_venus_quota_leaves_zero_and_reaches_it_again)
{
    static const char PATH[] = SHARED "helios/venus_gpu_quota_daily.csv";
    if (access(PATH, R_OK) != 0)
        cr_skip_test("%s is not there", PATH);
    struct arena a;
    struct error err;
    struct vc_spec vcs[] = {{.name = "vcbIW", .mode = VC_GPUS, .changes_path = PATH},
                            {.name = "vcYVn", .mode = VC_GPUS, .changes_path = PATH},
                            {.name = "vcIya", .mode = VC_GPUS, .changes_path = PATH}};
    struct node_group_spec group = {.count = 200, .gpus = 8, .gpu = ""};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .vcs = vcs, .n_vcs = 3};
    const struct vc_change want[2][4] = {
        {{days(2020, 4, 1), 0}, {days(2020, 7, 21), 128}, {days(2020, 7, 31), 0}},
        {{days(2020, 4, 1), 0}, {days(2020, 7, 7), 88}, {days(2020, 7, 21), 40}, {days(2020, 7, 31), 88}}};
    arena_init(&a);
    cr_assert_eq(cluster_spec_load(&spec, &a, &err), BRAID_OK, "%s", err.message);
    cr_assert(vcs[0].n_changes == 3 && vcs[1].n_changes == 4 && vcs[2].n_changes == 1);
    for (uint32_t v = 0; v < 2; v++)
        for (uint32_t i = 0; i < vcs[v].n_changes; i++)
            cr_assert(vcs[v].changes[i].at_ns == want[v][i].at_ns && vcs[v].changes[i].gpus == want[v][i].gpus);

    /* A run that begins in the days of plenty: the present quota is 128, and 0 comes later. */
    struct cluster *c = cluster_create(&spec, days(2020, 7, 25) / NS_PER_S, &a, &err);
    cr_assert_not_null(c, "%s", err.message);
    cr_assert_eq(cluster_vc(c, 0)->quota_gpus, 128);
    cr_assert(cluster_vc(c, 0)->n_changes == 1 && cluster_vc(c, 0)->changes[0].gpus == 0);
    cr_assert_eq(cluster_vc(c, 0)->changes[0].at_ns, 6 * 86400 * NS_PER_S);
    const struct demand one = {.gpus = 1, .gpu_type = NAMES_NONE};
    cr_assert_str_eq(cluster_never_fits(c, 2, &one, true), "too_large_for_vc", "a quota that is always 0");
    arena_fini(&a);
}

static void load_shared(const char *path, uint32_t nodes, uint32_t gpus)
{
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not there", path);
    struct arena a;
    struct error err;
    struct cluster_spec spec = {.file = path, .gpus_per_node = 8};
    arena_init(&a);
    cr_assert_eq(cluster_spec_load(&spec, &a, &err), BRAID_OK, "%s", err.message);
    struct cluster *c = cluster_create(&spec, 0, &a, &err);
    cr_assert_not_null(c, "%s", err.message);
    cr_assert_eq(cluster_n_nodes(c), nodes, "%u nodes", cluster_n_nodes(c));
    cr_assert_eq(cluster_n_gpus(c), gpus, "%u GPUs", cluster_n_gpus(c));
    cr_assert(cluster_check(c, NAMES_NONE, &err), "%s", err.message);
    arena_fini(&a);
}

Test(inventory, the_philly_table_is_read)
{
    load_shared(SHARED "philly/vc_nodes.csv", 352, 2816);
}

Test(inventory, the_muri_spec_is_read)
{
    load_shared(SHARED "muri/n8g8.csv", 8, 64);
}

Test(inventory, the_openb_list_is_read)
{
    load_shared(SHARED "openb/openb_node_list_gpu_node.csv", 1213, 6212);
}

/* ---- lists of Slurm and Philly ---------------------------------------------------------------------------- */

Test(inventory, sinfo_nodes_and_partitions)
{
    static const char *const files[] = {
        "NODELIST   PARTITION   GRES                CPUS  MEMORY\n"
        "n1   gpu*   gpu:a100:4(S:0-1)   64  515000\n"
        "c1   cpu    (null)              128 256000\n"
        "n2   gpu*   gpu:a100:4(S:0-1)   64  515000\n"
        "n1   gpu*   gpu:a100:4(S:0-1)   64  515000\n",
        "GRES|NODELIST|CPUS|MEMORY|PARTITION\n"
        "gpu:a100:4|n1|64|515000|gpu\n"
        "gpu:a100:4,shard:8|n2|64|515000|gpu\n"
        "(null)|c1|128|256000|cpu\n",
    };
    for (int i = 0; i < 2; i++) {
        struct fixture *f = load(files[i], NULL);
        cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
        cr_assert_eq(f->spec.n_groups, 2);
        cr_assert_eq(f->spec.groups[0].count, 2);
        cr_assert_eq(f->spec.groups[0].gpus, 4);
        cr_assert_str_eq(f->spec.groups[0].gpu, "a100");
        cr_assert_eq(f->spec.groups[0].cpu_milli, 64000);
        cr_assert_eq(f->spec.groups[0].memory_kib, UINT64_C(515000) * 1024);
        cr_assert_eq(f->spec.groups[1].gpus, 0);
        cr_assert_eq(f->spec.n_vcs, 2);
        cr_assert_str_eq(f->spec.vcs[0].name, "gpu");
        cr_assert_eq(f->spec.vcs[0].amount, 2);
        cr_assert_str_eq(f->spec.vcs[1].name, "cpu");
        cr_assert_eq(f->spec.vcs[1].amount, 1);
        unload(f);
    }
}

Test(inventory, scontrol_show_node)
{
    struct fixture *f = load("NodeName=n1 Arch=x86_64 CoresPerSocket=32\n"
                             "   CPUAlloc=0 CPUEfctv=60 CPUTot=64 CPULoad=0.00\n"
                             "   Gres=gpu:v100:8\n"
                             "   OS=Linux 5.4 #1 SMP\n"
                             "   RealMemory=515000 AllocMem=0\n"
                             "   Partitions=gpu \n"
                             "   Reason=x Gres=gpu:9\n"
                             "\n"
                             "NodeName=n2 CPUTot=64 RealMemory=515000 Gres=gpu:2 Partitions=gpu\n",
                             NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->spec.n_groups, 2);
    cr_assert_eq(f->spec.groups[0].gpus, 8);
    cr_assert_str_eq(f->spec.groups[0].gpu, "v100");
    cr_assert_eq(f->spec.groups[0].cpu_milli, 64000);
    cr_assert_eq(f->spec.groups[1].gpus, 2);
    cr_assert_str_eq(f->spec.groups[1].gpu, "");
    cr_assert_eq(f->spec.n_vcs, 1);
    cr_assert_eq(f->spec.vcs[0].amount, 2);
    unload(f);
}

Test(inventory, slurm_lists_that_are_refused)
{
    static const struct {
        const char *text, *part;
        int line;
    } cases[] = {
        {"NODELIST PARTITION GRES\nn1 a gpu:1\nn2 a gpu:1\nn1 b gpu:1\n", "in the partitions 'a' and 'b'", 4},
        {"NODELIST PARTITION\nn1 a\n", "no column GRES", 1},
        {"NODELIST GRES\nn[1-3] gpu:1\n", "sinfo -N", 2},
        {"NODELIST GRES\nn1 gpu:x:y\n", "GPUs cannot be read", 2},
        {"NODELIST GRES CPUS\nn1 gpu:1 64+\n", "number of CPUs is '64+'", 2},
        {"NODELIST GRES\nn1 gpu:1\nn1 gpu:2\n", "something else of node 'n1'", 3},
        {"NODELIST GRES MEMORY\nn1 gpu:1\n", "fewer fields", 2},
        {"NODELIST PARTITION GRES\n", "no nodes", 0},
        {"NodeName=n1 Gres=gpu:1 Partitions=a,b\n", "in the partitions 'a' and 'b'", 1},
        {"NodeName=n1 Gres=gpu:1\n\nNodeName=n2 Gres=gpu:1 CPUTot=x\n", "number of CPUs is 'x'", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = load(cases[i].text, NULL);
        cr_assert_eq(f->status, BRAID_BAD_INPUT, "case %zu", i);
        cr_assert_not_null(strstr(f->err.message, cases[i].part), "case %zu: %s", i, f->err.message);
        cr_assert_eq(f->err.line, cases[i].line, "case %zu: line %d", i, f->err.line);
        unload(f);
    }
}

Test(inventory, slurm_without_partitions_is_one_queue)
{
    struct fixture *f = load("NODELIST GRES\nn1 gpu:a100:4\nn2 gpu:a100:4\n", NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->spec.n_vcs, 0);
    cr_assert_eq(f->spec.groups[0].count, 2);
    unload(f);
}

Test(inventory, philly_machine_list)
{
    static const char *const files[] = {
        "machineId, number of GPUs, single GPU mem\nm1,2, 24GB\nm2,2, 24GB\nm3,8, 12GB\n",
        ",machineId,number of GPUs,single GPU mem\n0,m1,2,24GB\n1,m2,2,24GB\n2,m3,8,12GB\n"};
    for (int i = 0; i < 2; i++) {
        struct fixture *f = load(files[i], NULL);
        cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
        cr_assert_eq(f->spec.n_groups, 2);
        cr_assert_eq(f->spec.groups[0].count, 2);
        cr_assert_eq(f->spec.groups[0].gpus, 2);
        cr_assert_eq(f->spec.groups[0].gpu_memory_kib, UINT64_C(24000000000) / 1024);
        cr_assert_eq(f->spec.groups[1].gpus, 8);
        unload(f);
    }
    struct fixture *f = load(",machineId,number of GPUs\n0,m0,8\n1,m1,8\n", NULL);
    cr_assert_eq(f->status, BRAID_OK, "%s", f->err.message);
    cr_assert_eq(f->spec.groups[0].count, 2);
    unload(f);
    f = load("machineId,number of GPUs,single GPU mem\nm1,2,much\n", NULL);
    cr_assert_eq(f->status, BRAID_BAD_INPUT);
    cr_assert_eq(f->err.line, 2);
    unload(f);
}

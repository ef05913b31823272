/* target_tables.c - bytes as the small tables that a config names: an inventory, quotas, overheads, a sample of service times, estimates.
 * What could be read is in its range and can be used.
 */
#include "case.h"
#include "folder.h"
#include "fuzz.h"

#include "cluster/quota_file.h"
#include "model/overhead.h"
#include "policies/registry.h"

#include <string.h>

static void check_refusal(int code, const struct error *err)
{
    fuzz_assert(code == BRAID_BAD_INPUT && err->code == code && err->message[0] != '\0', "%d: %s", code, err->message);
}

enum { NODES_MOST = 4096 }; /* a table of a few bytes can name millions, which only costs time */

void fuzz_cluster(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    struct arena a;
    struct error err = {0};
    struct cluster_spec spec = {.file = folder_file("cluster.csv", bytes_piece(bytes, n, 0)), .gpus_per_node = 8};
    arena_init(&a);
    int code = cluster_spec_load(&spec, &a, &err);
    if (code != BRAID_OK) {
        check_refusal(code, &err);
        arena_fini(&a);
        return;
    }
    uint64_t nodes = 0, gpus = 0;
    for (uint32_t i = 0; i < spec.n_groups; i++) {
        nodes += spec.groups[i].count;
        gpus += (uint64_t)spec.groups[i].count * spec.groups[i].gpus;
    }
    if (nodes <= NODES_MOST && gpus <= NODES_MOST * 8) {
        struct cluster *c = cluster_create(&spec, 0, &a, &err);
        if (c != NULL) {
            fuzz_assert(cluster_n_nodes(c) == nodes, "%u nodes of %llu", cluster_n_nodes(c), (unsigned long long)nodes);
            fuzz_assert(cluster_check(c, NAMES_NONE, &err), "%s", err.message);
        } else {
            check_refusal(err.code, &err);
        }
    }
    arena_fini(&a);
}

void fuzz_quota(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    struct arena a;
    struct error err = {0};
    struct vc_spec vc = {.name = "a", .mode = VC_GPUS, .amount = 8};
    vc.changes_path = vc.changes_shown = folder_file("quota.csv", bytes_piece(bytes, n, 0));
    struct node_group_spec group = {.count = 2, .gpus = 8, .gpu = ""};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .vcs = &vc, .n_vcs = 1};
    arena_init(&a);
    int code = cluster_spec_load(&spec, &a, &err);
    if (code != BRAID_OK)
        check_refusal(code, &err);
    for (uint32_t i = 1; code == BRAID_OK && i < vc.n_changes; i++)
        fuzz_assert(vc.changes[i - 1].at_ns < vc.changes[i].at_ns, "change %u", i);
    if (code == BRAID_OK && cluster_create(&spec, vc.changes_are_dates ? 1500000000 : 0, &a, &err) == NULL)
        check_refusal(err.code, &err);
    arena_fini(&a);
}

void fuzz_overhead(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    struct arena a;
    struct error err = {0};
    struct overhead_rule rule = {.table_path = folder_file("overhead.csv", bytes_piece(bytes, n, 0))};
    arena_init(&a);
    int code = overhead_rule_load(&rule, &a, &err);
    if (code != BRAID_OK)
        check_refusal(code, &err);
    for (uint32_t gpus = 1; code == BRAID_OK && gpus < 1000; gpus *= 2) {
        int64_t any = overhead_ns(&rule, gpus, NULL), named = overhead_ns(&rule, gpus, "resnet50");
        fuzz_assert(any >= 0 && named >= 0, "%lld %lld", (long long)any, (long long)named);
    }
    arena_fini(&a);
}

/* Four jobs that ask the table what they need. */
static void run_with_table(struct fuzz_case *c)
{
    for (uint32_t j = 0; j < 4; j++)
        c->jobs[c->n_jobs++] =
            (struct fuzz_job){.submit_ns = j * CASE_S, .duration_ns = (j + 1) * 10 * CASE_S, .gpus = j + 1};
    case_prepare(c);
    case_run_once(c);
    case_check(c);
    case_fini(c);
}

void fuzz_sample(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static struct fuzz_case c;
    case_init(&c);
    case_policy(&c, policy_find("gittins"));
    case_param(&c, "source")->s = "file";
    case_param(&c, "file")->s = folder_file("sample.csv", bytes_piece(bytes, n, 0));
    run_with_table(&c);
}

void fuzz_estimates(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static struct fuzz_case c;
    case_init(&c);
    case_policy(&c, policy_find("easy"));
    c.spec.estimate.source = ESTIMATE_FILE;
    c.spec.estimate.path = folder_file("estimates.csv", bytes_piece(bytes, n, 0));
    run_with_table(&c);
}

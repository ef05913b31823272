/* Files that describe a cluster, told apart by their header:
 *
 *     num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node   Tiresias, Muri: CPUs and GB of a node; a switch is a rack
 *     vc,node num (node_num, nodes)                                           a table of nodes a VC, gpus_per_node GPUs each
 *     sn,cpu_milli,memory_mib,gpu,model                                       openb: a row a node
 *     machineId,number of GPUs,single GPU mem                                 Philly: a row a node, the memory where it is known
 *     NODELIST PARTITION GRES CPUS MEMORY, NodeName=…                         Slurm: inventory_slurm.h
 *
 * Columns are found by name, so their order is free and others may stand beside them.
 */
#include "base/number.h"
#include "cluster/cluster.h"
#include "cluster/inventory_slurm.h"
#include "cluster/quota_file.h"
#include "cluster/sheet.h"
#include "cluster/vc_nodes.h"

#include <string.h>

enum { GPUS_PER_NODE = 8, COUNT_MAX = 1 << 24, NODE_GPUS_MAX = 1 << 16, KIB_PER_MIB = 1024 };

bool inventory_add_group(struct cluster_spec *spec, struct arena *a, const struct node_group_spec *group)
{
    struct node_group_spec *last = spec->n_groups > 0 ? &spec->groups[spec->n_groups - 1] : NULL;
    if (last != NULL && last->gpus == group->gpus && strcmp(last->gpu, group->gpu) == 0 &&
        last->gpu_memory_kib == group->gpu_memory_kib && last->cpu_milli == group->cpu_milli && last->memory_kib == group->memory_kib && group->nodes_per_rack == 0 &&
        group->vc == NULL && last->vc == NULL && group->name == NULL && last->name == NULL &&
        last->count <= COUNT_MAX && group->count <= COUNT_MAX) {
        last->count += group->count;
        return true;
    }
    struct node_group_spec *groups = sheet_append(a, spec->groups, spec->n_groups, sizeof *group, group);
    if (groups == NULL)
        return false;
    spec->groups = groups;
    spec->n_groups++;
    return true;
}

static const char *const SWITCHES[] = {"num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node",
                                       "mem_p_node"};

static int read_switches(struct cluster_spec *spec, struct sheet *s)
{
    int64_t switches, nodes, gpus, cpu_milli, bytes;
    int status;
    if ((status = sheet_number(s, 0, SWITCHES[0], 1, 1, COUNT_MAX, &switches)) != BRAID_OK ||
        (status = sheet_number(s, 1, SWITCHES[1], 1, 1, COUNT_MAX, &nodes)) != BRAID_OK ||
        (status = sheet_number(s, 2, SWITCHES[2], 1, 0, NODE_GPUS_MAX, &gpus)) != BRAID_OK ||
        (status = sheet_number(s, 3, SWITCHES[3], 1000, 0, 1000000, &cpu_milli)) != BRAID_OK ||
        (status = sheet_number(s, 4, SWITCHES[4], 1000000000, 0, 1000000000, &bytes)) != BRAID_OK)
        return status;
    if (switches * nodes > COUNT_MAX)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                        "%lld switches of %lld nodes are more than %d nodes; name fewer", (long long)switches,
                        (long long)nodes, COUNT_MAX);
    const struct node_group_spec group = {
        .count = (uint32_t)(switches * nodes),
        .gpus = (uint32_t)gpus,
        .gpu = "",
        .cpu_milli = (uint32_t)cpu_milli,
        .memory_kib = (uint64_t)bytes / 1024,
        .nodes_per_rack = (uint32_t)nodes,
    };
    return inventory_add_group(spec, s->arena, &group) ? BRAID_OK : sheet_out_of_memory(s->err);
}

static int read_vc_nodes(struct cluster_spec *spec, struct sheet *s)
{
    struct csv_field name = sheet_field(s, s->column[0]);
    int64_t nodes;
    if (name.n == 0 || memchr(name.text, '\0', name.n) != NULL)
        return sheet_error(s, s->column[0], "the name of the virtual cluster", "every row a name");
    int status = sheet_number(s, 1, "the number of nodes", 1, 1, COUNT_MAX, &nodes);
    if (status != BRAID_OK)
        return status;
    for (uint32_t i = 0; i < spec->n_vcs; i++)
        if (sheet_field_is(s, s->column[0], spec->vcs[i].name))
            return sheet_error(s, s->column[0], "the name of the virtual cluster", "each virtual cluster one row");
    const struct vc_spec vc = {
        .name = arena_text(s->arena, name.text, name.n), .mode = VC_NODES, .amount = (uint32_t)nodes};
    const struct node_group_spec group = {
        .count = (uint32_t)nodes, .gpus = spec->gpus_per_node > 0 ? spec->gpus_per_node : GPUS_PER_NODE, .gpu = ""};
    struct vc_spec *vcs = vc.name == NULL ? NULL : sheet_append(s->arena, spec->vcs, spec->n_vcs, sizeof vc, &vc);
    if (vcs == NULL || !inventory_add_group(spec, s->arena, &group))
        return sheet_out_of_memory(s->err);
    spec->vcs = vcs;
    spec->n_vcs++;
    return BRAID_OK;
}

static const char *const OPENB[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

static int read_openb(struct cluster_spec *spec, struct sheet *s)
{
    int64_t cpu_milli, mib, gpus;
    int status;
    if ((status = sheet_number(s, 1, OPENB[1], 1, 0, 1000000000, &cpu_milli)) != BRAID_OK ||
        (status = sheet_number(s, 2, OPENB[2], 1, 0, INT64_C(1) << 40, &mib)) != BRAID_OK ||
        (status = sheet_number(s, 3, OPENB[3], 1, 0, NODE_GPUS_MAX, &gpus)) != BRAID_OK)
        return status;
    struct csv_field model = sheet_field(s, s->column[4]);
    const struct node_group_spec group = {
        .count = 1,
        .gpus = (uint32_t)gpus,
        .gpu = arena_text(s->arena, model.text, gpus > 0 ? model.n : 0),
        .cpu_milli = (uint32_t)cpu_milli,
        .memory_kib = (uint64_t)mib * KIB_PER_MIB,
    };
    return group.gpu != NULL && inventory_add_group(spec, s->arena, &group) ? BRAID_OK : sheet_out_of_memory(s->err);
}

static const char *const PHILLY[] = {"machineid", "number of gpus", "single gpu mem"};

static int read_philly(struct cluster_spec *spec, struct sheet *s)
{
    int64_t gpus;
    uint64_t kib = 0;
    bool has_memory = s->column[2] < s->csv.n_fields;
    struct csv_field memory = has_memory ? sheet_field(s, s->column[2]) : (struct csv_field){"", 0};
    int status = sheet_number(s, 1, "the number of GPUs", 1, 0, NODE_GPUS_MAX, &gpus);
    if (status != BRAID_OK)
        return status;
    if (memory.n > 0 && !number_parse_size(memory.text, memory.n, &kib))
        return sheet_error(s, s->column[2], "the memory of a GPU", "a size such as 24GB");
    const struct node_group_spec group = {.count = 1, .gpus = (uint32_t)gpus, .gpu = "", .gpu_memory_kib = kib};
    return inventory_add_group(spec, s->arena, &group) ? BRAID_OK : sheet_out_of_memory(s->err);
}

typedef int (*read_row)(struct cluster_spec *spec, struct sheet *s);

/* Which kind of file is it? The columns that its rows need are noted in the sheet. */
static int inventory_kind(struct sheet *s, read_row *read, uint32_t *n_columns)
{
    static const char *const VC_NODES_HEADERS[][2] = {{"vc", "node num"}, {"vc", "node_num"}, {"vc", "nodes"}};
    if (sheet_header_has(s, SWITCHES, 5)) {
        *read = read_switches;
        *n_columns = 5;
        return BRAID_OK;
    }
    if (sheet_header_has(s, OPENB, 5)) {
        *read = read_openb;
        *n_columns = 5;
        return BRAID_OK;
    }
    if (sheet_header_has(s, PHILLY, 2)) {
        s->column[2] = sheet_header_find(s, PHILLY[2]);
        *read = read_philly;
        *n_columns = 2;
        return BRAID_OK;
    }
    for (size_t i = 0; i < sizeof VC_NODES_HEADERS / sizeof *VC_NODES_HEADERS; i++)
        if (sheet_header_has(s, VC_NODES_HEADERS[i], 2)) {
            *read = read_vc_nodes;
            *n_columns = 2;
            return BRAID_OK;
        }
    return error_at(
        s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 1,
        "not a header of a cluster file; give 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node' "
        "(switches), 'vc,nodes' (nodes a virtual cluster), 'sn,cpu_milli,memory_mib,gpu,model' or 'machineId,number of "
        "GPUs' (nodes), "
        "or what Slurm prints: sinfo -N -o '%%N %%P %%G %%c %%m', scontrol show node");
}

static int read_inventory(struct cluster_spec *spec, struct sheet *s)
{
    bool has_row;
    read_row read = NULL;
    uint32_t n_columns = 0;
    uint64_t n_rows = 0;
    int status = csv_next(&s->csv, &has_row, s->err);
    if (status != BRAID_OK)
        return status;
    if (!has_row)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, 0, 0, "the file is empty; give a header and rows");
    status = inventory_kind(s, &read, &n_columns);
    if (status == BRAID_OK && read == read_vc_nodes && spec->n_vcs > 0)
        return error_at(
            s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
            "the file says the nodes of each virtual cluster and the config lists 'vcs' too; leave one of them out");
    while (status == BRAID_OK) {
        status = sheet_next(s, n_columns, &has_row);
        if (status != BRAID_OK || !has_row)
            break;
        status = read(spec, s);
        n_rows++;
    }
    if (status == BRAID_OK && n_rows == 0)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                        "no rows behind the header; add the nodes");
    return status;
}

static int load_inventory(struct cluster_spec *spec, struct arena *a, struct error *err)
{
    struct sheet s;
    if (spec->n_groups > 0)
        return error_at(err, BRAID_BAD_INPUT, spec->file_shown != NULL ? spec->file_shown : spec->file, 0, 0,
                        "the config gives this file and 'nodes' too; leave one of them out");
    bool is_slurm;
    int status = inventory_slurm_load(spec, a, &is_slurm, err);
    if (status != BRAID_OK || is_slurm)
        return status;
    status = sheet_open(&s, spec->file, spec->file_shown, a, err);
    if (status != BRAID_OK)
        return status;
    status = read_inventory(spec, &s);
    sheet_close(&s);
    return status;
}

int cluster_spec_load(struct cluster_spec *spec, struct arena *a, struct error *err)
{
    int status = spec->file != NULL ? load_inventory(spec, a, err) : BRAID_OK;
    for (uint32_t i = 0; i < spec->n_vcs && status == BRAID_OK; i++)
        if (spec->vcs[i].changes_path != NULL)
            status = quota_file_load(&spec->vcs[i], a, err);
    if (status == BRAID_OK && !vc_nodes_name(spec, a))
        status = sheet_out_of_memory(err);
    return status;
}

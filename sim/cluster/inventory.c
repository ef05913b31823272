/* Files that describe a cluster, told apart by their header, and files of quotas.
 *
 *     num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node   Tiresias, Muri: CPUs and GB of a node; a switch is a rack
 *     vc,node num (node_num, nodes)                                           a table of nodes a VC, gpus_per_node GPUs each
 *     sn,cpu_milli,memory_mib,gpu,model                                       openb: a row a node
 *
 *     date,VC1,VC2,…        quotas by day (UTC): the column named as the VC, else one named gpus
 *     time,VC1,… | time,gpus        the same in seconds from time 0
 *
 * Columns are found by name, so their order is free and others may stand beside them.
 */
#include "base/number.h"
#include "cluster/cluster.h"
#include "traces/csv.h"

#include <stdio.h>
#include <string.h>

enum { GPUS_PER_NODE = 8, COUNT_MAX = 1 << 24, NODE_GPUS_MAX = 1 << 16, KIB_PER_MIB = 1024, COLUMNS_MAX = 5 };

/* A csv file being read, with what errors need. */
struct sheet {
    struct source source;
    struct csv csv;
    const char *shown;
    struct arena *arena;
    struct error *err;
    uint32_t column[COLUMNS_MAX]; /* where each wanted column stands */
};

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "memory is out while the cluster's files are read");
}

/* ---- rows and fields ------------------------------------------------------------------------------ */

static int sheet_open(struct sheet *s, const char *path, const char *shown, struct arena *a, struct error *err)
{
    *s = (struct sheet){.shown = shown != NULL ? shown : path, .arena = a, .err = err};
    int status = source_open(&s->source, path, s->shown, err);
    if (status == BRAID_OK) {
        status = csv_init(&s->csv, &s->source, err);
        if (status != BRAID_OK)
            csv_fini(&s->csv);
    }
    if (status != BRAID_OK)
        source_close(&s->source);
    return status;
}

static void sheet_close(struct sheet *s)
{
    csv_fini(&s->csv);
    source_close(&s->source);
}

/* Column of a field in its line, from 1; 0: unknown (a field with doubled quotes is a copy). */
static int field_col(const struct sheet *s, uint32_t field)
{
    const char *text = s->csv.fields[field].text;
    uintptr_t at = (uintptr_t)text, row = (uintptr_t)s->csv.row;
    return at >= row && at <= row + s->csv.row_n ? (int)(at - row) + 1 : 0;
}

static struct csv_field field_trimmed(const struct sheet *s, uint32_t field)
{
    struct csv_field f = s->csv.fields[field];
    while (f.n > 0 && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.n--;
    }
    while (f.n > 0 && (f.text[f.n - 1] == ' ' || f.text[f.n - 1] == '\t'))
        f.n--;
    return f;
}

static bool field_is(const struct sheet *s, uint32_t field, const char *name)
{
    struct csv_field f = field_trimmed(s, field);
    return f.n == strlen(name) && memcmp(f.text, name, f.n) == 0;
}

/* As field_is, capitals and small letters alike: for the names of columns. */
static bool header_is(const struct sheet *s, uint32_t field, const char *name)
{
    struct csv_field f = field_trimmed(s, field);
    if (f.n != strlen(name))
        return false;
    for (size_t i = 0; i < f.n; i++) {
        char c = f.text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != name[i])
            return false;
    }
    return true;
}

static uint32_t header_find(const struct sheet *s, const char *name)
{
    for (uint32_t i = 0; i < s->csv.n_fields; i++)
        if (header_is(s, i, name))
            return i;
    return UINT32_MAX;
}

/* Are all of `names` in the header? Then s->column says where. */
static bool header_has(struct sheet *s, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((s->column[i] = header_find(s, names[i])) == UINT32_MAX)
            return false;
    return true;
}

static int sheet_error(struct sheet *s, uint32_t field, const char *name, const char *wanted)
{
    struct csv_field f = field_trimmed(s, field);
    int shown = f.n < 40 ? (int)f.n : 40;
    return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, field_col(s, field), "%s is '%.*s'; give %s", name,
                    shown, f.text, wanted);
}

/* The next row, with at least all columns that the header promised to `n` wanted ones. */
static int sheet_next(struct sheet *s, uint32_t n, bool *has_row)
{
    int status = csv_next(&s->csv, has_row, s->err);
    if (status != BRAID_OK || !*has_row)
        return status;
    for (uint32_t i = 0; i < n; i++)
        if (s->column[i] >= s->csv.n_fields)
            return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                            "the row has %u fields and column %u is needed; add the missing ones", s->csv.n_fields,
                            s->column[i] + 1);
    return BRAID_OK;
}

/* A decimal number of column `i` times `scale`, from `least` to `most` (before scaling). */
static int field_number(struct sheet *s, uint32_t i, const char *name, int64_t scale, int64_t least, int64_t most, int64_t *out)
{
    struct csv_field f = s->csv.fields[s->column[i]];
    bool is_number = scale == 1 ? number_parse_i64(f.text, f.n, out) : number_parse_scaled(f.text, f.n, scale, out);
    if (is_number && *out >= least * scale && *out <= most * scale)
        return BRAID_OK;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "a %s from %lld to %lld", scale == 1 ? "whole number" : "number", (long long)least,
             (long long)most);
    return sheet_error(s, s->column[i], name, wanted);
}

/* ---- the inventory -------------------------------------------------------------------------------- */

/* Append `item` of `size` bytes to a list in the arena that doubles. */
static void *list_add(struct arena *a, void *list, uint32_t n, size_t size, const void *item)
{
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, …: full */
        void *grown = arena_alloc(a, n == 0 ? 1 : (size_t)n * 2, size);
        if (grown == NULL)
            return NULL;
        if (n > 0)
            memcpy(grown, list, n * size);
        list = grown;
    }
    memcpy((char *)list + n * size, item, size);
    return list;
}

static bool add_group(struct cluster_spec *spec, struct arena *a, const struct node_group_spec *group)
{
    struct node_group_spec *last = spec->n_groups > 0 ? &spec->groups[spec->n_groups - 1] : NULL;
    if (last != NULL && last->gpus == group->gpus && strcmp(last->gpu, group->gpu) == 0 &&
        last->cpu_milli == group->cpu_milli && last->memory_kib == group->memory_kib && group->nodes_per_rack == 0 &&
        last->count <= COUNT_MAX && group->count <= COUNT_MAX) {
        last->count += group->count;
        return true;
    }
    struct node_group_spec *groups = list_add(a, spec->groups, spec->n_groups, sizeof *group, group);
    if (groups == NULL)
        return false;
    spec->groups = groups;
    spec->n_groups++;
    return true;
}

static const char *const SWITCHES[] = {"num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node"};

static int read_switches(struct cluster_spec *spec, struct sheet *s)
{
    int64_t switches, nodes, gpus, cpu_milli, bytes;
    int status;
    if ((status = field_number(s, 0, SWITCHES[0], 1, 1, COUNT_MAX, &switches)) != BRAID_OK ||
        (status = field_number(s, 1, SWITCHES[1], 1, 1, COUNT_MAX, &nodes)) != BRAID_OK ||
        (status = field_number(s, 2, SWITCHES[2], 1, 0, NODE_GPUS_MAX, &gpus)) != BRAID_OK ||
        (status = field_number(s, 3, SWITCHES[3], 1000, 0, 1000000, &cpu_milli)) != BRAID_OK ||
        (status = field_number(s, 4, SWITCHES[4], 1000000000, 0, 1000000000, &bytes)) != BRAID_OK)
        return status;
    if (switches * nodes > COUNT_MAX)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                        "%lld switches of %lld nodes are more than %d nodes; name fewer", (long long)switches, (long long)nodes,
                        COUNT_MAX);
    const struct node_group_spec group = {
        .count = (uint32_t)(switches * nodes),
        .gpus = (uint32_t)gpus,
        .gpu = "",
        .cpu_milli = (uint32_t)cpu_milli,
        .memory_kib = (uint64_t)bytes / 1024,
        .nodes_per_rack = (uint32_t)nodes,
    };
    return add_group(spec, s->arena, &group) ? BRAID_OK : out_of_memory(s->err);
}

static int read_vc_nodes(struct cluster_spec *spec, struct sheet *s)
{
    struct csv_field name = field_trimmed(s, s->column[0]);
    int64_t nodes;
    if (name.n == 0 || memchr(name.text, '\0', name.n) != NULL)
        return sheet_error(s, s->column[0], "the name of the virtual cluster", "every row a name");
    int status = field_number(s, 1, "the number of nodes", 1, 1, COUNT_MAX, &nodes);
    if (status != BRAID_OK)
        return status;
    for (uint32_t i = 0; i < spec->n_vcs; i++)
        if (field_is(s, s->column[0], spec->vcs[i].name))
            return sheet_error(s, s->column[0], "the name of the virtual cluster", "each virtual cluster one row");
    const struct vc_spec vc = {
        .name = arena_text(s->arena, name.text, name.n), .mode = VC_NODES, .amount = (uint32_t)nodes};
    const struct node_group_spec group = {
        .count = (uint32_t)nodes, .gpus = spec->gpus_per_node > 0 ? spec->gpus_per_node : GPUS_PER_NODE, .gpu = ""};
    struct vc_spec *vcs = vc.name == NULL ? NULL : list_add(s->arena, spec->vcs, spec->n_vcs, sizeof vc, &vc);
    if (vcs == NULL || !add_group(spec, s->arena, &group))
        return out_of_memory(s->err);
    spec->vcs = vcs;
    spec->n_vcs++;
    return BRAID_OK;
}

static const char *const OPENB[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

static int read_openb(struct cluster_spec *spec, struct sheet *s)
{
    int64_t cpu_milli, mib, gpus;
    int status;
    if ((status = field_number(s, 1, OPENB[1], 1, 0, 1000000000, &cpu_milli)) != BRAID_OK ||
        (status = field_number(s, 2, OPENB[2], 1, 0, INT64_C(1) << 40, &mib)) != BRAID_OK ||
        (status = field_number(s, 3, OPENB[3], 1, 0, NODE_GPUS_MAX, &gpus)) != BRAID_OK)
        return status;
    struct csv_field model = field_trimmed(s, s->column[4]);
    const struct node_group_spec group = {
        .count = 1,
        .gpus = (uint32_t)gpus,
        .gpu = arena_text(s->arena, model.text, gpus > 0 ? model.n : 0),
        .cpu_milli = (uint32_t)cpu_milli,
        .memory_kib = (uint64_t)mib * KIB_PER_MIB,
    };
    return group.gpu != NULL && add_group(spec, s->arena, &group) ? BRAID_OK : out_of_memory(s->err);
}

typedef int (*read_row)(struct cluster_spec *spec, struct sheet *s);

/* Which kind of file is it? The columns that its rows need are noted in the sheet. */
static int inventory_kind(struct sheet *s, read_row *read, uint32_t *n_columns)
{
    static const char *const VC_NODES_HEADERS[][2] = {{"vc", "node num"}, {"vc", "node_num"}, {"vc", "nodes"}};
    if (header_has(s, SWITCHES, 5)) {
        *read = read_switches;
        *n_columns = 5;
        return BRAID_OK;
    }
    if (header_has(s, OPENB, 5)) {
        *read = read_openb;
        *n_columns = 5;
        return BRAID_OK;
    }
    for (size_t i = 0; i < sizeof VC_NODES_HEADERS / sizeof *VC_NODES_HEADERS; i++)
        if (header_has(s, VC_NODES_HEADERS[i], 2)) {
            *read = read_vc_nodes;
            *n_columns = 2;
            return BRAID_OK;
        }
    return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 1,
                    "not a header of a cluster file; give 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node' "
                    "(switches), 'vc,nodes' (nodes a virtual cluster) or 'sn,cpu_milli,memory_mib,gpu,model' (nodes)");
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
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                        "the file says the nodes of each virtual cluster and the config lists 'vcs' too; leave one of them out");
    while (status == BRAID_OK) {
        status = sheet_next(s, n_columns, &has_row);
        if (status != BRAID_OK || !has_row)
            break;
        status = read(spec, s);
        n_rows++;
    }
    if (status == BRAID_OK && n_rows == 0)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0, "no rows behind the header; add the nodes");
    return status;
}

static int load_inventory(struct cluster_spec *spec, struct arena *a, struct error *err)
{
    struct sheet s;
    if (spec->n_groups > 0)
        return error_at(err, BRAID_BAD_INPUT, spec->file_shown != NULL ? spec->file_shown : spec->file, 0, 0,
                        "the config gives this file and 'nodes' too; leave one of them out");
    int status = sheet_open(&s, spec->file, spec->file_shown, a, err);
    if (status != BRAID_OK)
        return status;
    status = read_inventory(spec, &s);
    sheet_close(&s);
    return status;
}

/* ---- quotas ---------------------------------------------------------------------------------------- */

enum { TIME, GPUS };

/* The columns of time and of `vc`'s quota, and whether times are dates. */
static int quota_header(struct sheet *s, struct vc_spec *vc)
{
    vc->changes_are_dates = header_is(s, 0, "date");
    if (!vc->changes_are_dates && !header_is(s, 0, "time"))
        return sheet_error(s, 0, "the first column of a file of quotas",
                           "'date' (days or moments in UTC) or 'time' (seconds from time 0)");
    s->column[TIME] = 0;
    s->column[GPUS] = UINT32_MAX;
    for (uint32_t i = 1; i < s->csv.n_fields; i++)
        if (field_is(s, i, vc->name)) {
            if (s->column[GPUS] != UINT32_MAX)
                return sheet_error(s, i, "a second column", "each virtual cluster one column");
            s->column[GPUS] = i;
        }
    if (s->column[GPUS] == UINT32_MAX)
        s->column[GPUS] = header_find(s, "gpus");
    if (s->column[GPUS] != UINT32_MAX)
        return BRAID_OK;

    const char **names = ARENA_NEW(s->arena, const char *, s->csv.n_fields);
    if (names == NULL)
        return out_of_memory(s->err);
    for (uint32_t i = 0; i < s->csv.n_fields; i++)
        if ((names[i] = arena_text(s->arena, s->csv.fields[i].text, s->csv.fields[i].n)) == NULL)
            return out_of_memory(s->err);
    const char *near = text_nearest(vc->name, names + 1, s->csv.n_fields - 1);
    return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                    "no column is named '%s' as the virtual cluster, and none 'gpus'%s%s%s", vc->name,
                    near != NULL ? "; did you mean '" : "; add it", near != NULL ? near : "", near != NULL ? "'?" : "");
}

static int quota_row(struct sheet *s, const struct vc_spec *vc, struct vc_change *out)
{
    int64_t gpus = 0;
    struct csv_field f = s->csv.fields[0];
    bool is_time = vc->changes_are_dates ? number_parse_datetime(f.text, f.n, &out->at_ns)
                                         : number_parse_scaled(f.text, f.n, NS_PER_S, &out->at_ns);
    if (!is_time)
        return sheet_error(s, 0, "the time", vc->changes_are_dates ? "a date as 2020-04-01" : "a number of seconds");
    int status = field_number(s, GPUS, "the quota", 1, 0, INT32_MAX, &gpus);
    out->gpus = (uint32_t)gpus;
    return status;
}

static int read_quota(struct vc_spec *vc, struct sheet *s)
{
    bool has_row;
    int64_t last_ns = INT64_MIN;
    uint64_t n_rows = 0;
    int status = csv_next(&s->csv, &has_row, s->err);
    if (status == BRAID_OK && !has_row)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, 0, 0, "the file is empty; give a header and rows");
    if (status == BRAID_OK)
        status = quota_header(s, vc);
    while (status == BRAID_OK) {
        struct vc_change change;
        status = sheet_next(s, GPUS + 1, &has_row);
        if (status != BRAID_OK || !has_row)
            break;
        status = quota_row(s, vc, &change);
        if (status != BRAID_OK)
            break;
        if (n_rows++ > 0 && change.at_ns <= last_ns)
            return sheet_error(s, 0, "the time", "rows in ascending order of time, each time once");
        last_ns = change.at_ns;
        if (vc->n_changes > 0 && vc->changes[vc->n_changes - 1].gpus == change.gpus)
            continue;
        struct vc_change *changes = list_add(s->arena, vc->changes, vc->n_changes, sizeof change, &change);
        if (changes == NULL)
            return out_of_memory(s->err);
        vc->changes = changes;
        vc->n_changes++;
    }
    if (status == BRAID_OK && n_rows == 0)
        return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0, "no rows behind the header; add the quotas");
    return status;
}

int cluster_spec_load(struct cluster_spec *spec, struct arena *a, struct error *err)
{
    int status = spec->file != NULL ? load_inventory(spec, a, err) : BRAID_OK;
    for (uint32_t i = 0; i < spec->n_vcs && status == BRAID_OK; i++) {
        struct vc_spec *vc = &spec->vcs[i];
        struct sheet s;
        if (vc->changes_path == NULL)
            continue;
        vc->changes = NULL;
        vc->n_changes = 0;
        status = sheet_open(&s, vc->changes_path, vc->changes_shown, a, err);
        if (status != BRAID_OK)
            break;
        status = read_quota(vc, &s);
        sheet_close(&s);
    }
    return status;
}

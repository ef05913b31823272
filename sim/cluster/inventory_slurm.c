#include "cluster/inventory_slurm.h"

#include "base/number.h"
#include "cluster/sheet.h"
#include "traces/lines.h"
#include "traces/slurm_resources.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, NODE_GPUS_MAX = 1 << 16, CPUS_MAX = 4000000, KIB_PER_MIB = 1024 };

enum column { NAME, PARTITION, GRES, CPUS, MEMORY, N_COLUMNS };

struct listed_node {
    uint32_t partition; /* index into names of partitions; NAMES_NONE: not said */
    struct node_group_spec like;
};

struct list {
    struct lines lines;
    const char *shown;
    uint64_t line; /* where the present node begins */
    struct error *err;
    struct arena *arena;
    char separator;                 /* of sinfo: ' ' or '|' */
    int at[N_COLUMNS];              /* of sinfo: -1: not there */
    bool takes_partitions;          /* they become virtual clusters */
    struct names nodes, partitions; /* a node is listed once for each of its partitions */
    struct listed_node *all;
    uint32_t capacity;
};

static int fail(const struct list *l, const char *what, struct trace_text value, const char *advice)
{
    return error_at(l->err, BRAID_BAD_INPUT, l->shown, l->line > INT_MAX ? INT_MAX : (int)l->line, 0, "%s '%.*s'; %s",
                    what, (int)(value.n < 60 ? value.n : 60), value.n > 0 ? value.at : "", advice);
}

static bool is(struct trace_text t, const char *text)
{
    return strlen(text) == t.n && memcmp(t.at, text, t.n) == 0;
}

/* The next field at *at of the line; false: none. */
static bool next_field(struct trace_text line, char separator, size_t *at, struct trace_text *field)
{
    size_t i = *at;
    while (separator == ' ' && i < line.n && (line.at[i] == ' ' || line.at[i] == '\t'))
        i++;
    if (i >= line.n)
        return false;
    size_t from = i;
    while (i < line.n && line.at[i] != separator && !(separator == ' ' && line.at[i] == '\t'))
        i++;
    *at = i + 1;
    size_t to = i;
    while (from < to && line.at[from] == ' ')
        from++;
    while (to > from && line.at[to - 1] == ' ')
        to--;
    *field = (struct trace_text){line.at + from, to - from};
    return true;
}

/* ---- one node ----------------------------------------------------------------------------------------------------------- */

static int read_amounts(const struct list *l, const struct trace_text *values, struct node_group_spec *like)
{
    int64_t cpu_milli = 0, mib = 0;
    const struct trace_text gres = values[GRES], cpus = values[CPUS], memory = values[MEMORY];
    *like = (struct node_group_spec){.count = 1, .gpu = ""};
    const struct resource_amount gpus = resource_find(gres, "gpu", 1);
    if (gpus.is_bad || gpus.sum > NODE_GPUS_MAX)
        return fail(l, "the GPUs cannot be read from", gres, "a Gres is such as gpu:a100:4 or (null)");
    if (cpus.n > 0 && (!number_parse_scaled(cpus.at, cpus.n, 1000, &cpu_milli) || cpu_milli < 0 ||
                       cpu_milli > (int64_t)CPUS_MAX * 1000))
        return fail(l, "the number of CPUs is", cpus, "list each node by itself: sinfo -N");
    if (memory.n > 0 && (!number_parse_i64(memory.at, memory.n, &mib) || mib < 0 || mib > INT64_C(1) << 40))
        return fail(l, "the memory is", memory, "it is a number of MiB; list each node by itself: sinfo -N");
    like->gpus = (uint32_t)gpus.sum;
    like->cpu_milli = (uint32_t)cpu_milli;
    like->memory_kib = (uint64_t)mib * KIB_PER_MIB;
    if (gpus.sum > 0 && (like->gpu = arena_text(l->arena, gpus.type.at, gpus.type.n)) == NULL)
        return sheet_out_of_memory(l->err);
    return BRAID_OK;
}

/* Note that `node` is in `partition`, without the star of the default one. */
static int note_partition(struct list *l, struct listed_node *node, struct trace_text name, struct trace_text partition)
{
    if (partition.n > 0 && partition.at[partition.n - 1] == '*')
        partition.n--;
    if (!l->takes_partitions || partition.n == 0 || is(partition, "(null)"))
        return BRAID_OK;
    uint32_t id = names_add(&l->partitions, partition.at, partition.n);
    if (id == NAMES_NONE)
        return sheet_out_of_memory(l->err);
    if (node->partition != NAMES_NONE && node->partition != id)
        return error_at(
            l->err, BRAID_BAD_INPUT, l->shown, l->line > INT_MAX ? INT_MAX : (int)l->line, 0,
            "node '%.*s' is in the partitions '%s' and '%s', but virtual clusters do not share nodes; leave all but "
            "one out of the file (sinfo -N -p NAME), make it without partitions (sinfo -N -o '%%N %%G %%c %%m') for "
            "one "
            "queue, or list cluster.vcs in the config",
            (int)(name.n < 60 ? name.n : 60), name.at, names_text(&l->partitions, node->partition),
            names_text(&l->partitions, id));
    node->partition = id;
    return BRAID_OK;
}

static int take_node(struct list *l, const struct trace_text *values)
{
    struct node_group_spec like;
    const struct trace_text name = values[NAME];
    if (name.n == 0)
        return fail(l, "a node without a name:", name, "each node has one");
    if (memchr(name.at, '[', name.n) != NULL)
        return fail(l, "several nodes in one line:", name, "list each node by itself: sinfo -N");
    int code = read_amounts(l, values, &like);
    uint32_t known = l->nodes.count, id = code == BRAID_OK ? names_add(&l->nodes, name.at, name.n) : 0;
    if (code != BRAID_OK)
        return code;
    if (id == NAMES_NONE)
        return sheet_out_of_memory(l->err);
    if (id >= l->capacity) {
        uint32_t capacity = id * 2 + 64;
        struct listed_node *grown = realloc(l->all, capacity * sizeof *grown);
        if (grown == NULL)
            return sheet_out_of_memory(l->err);
        l->all = grown;
        l->capacity = capacity;
    }
    if (id >= known) {
        l->all[id] = (struct listed_node){.partition = NAMES_NONE, .like = like};
    } else {
        const struct node_group_spec *old = &l->all[id].like;
        if (old->gpus != like.gpus || old->cpu_milli != like.cpu_milli || old->memory_kib != like.memory_kib ||
            strcmp(old->gpu, like.gpu) != 0)
            return fail(l, "another line says something else of node", name, "keep one of them");
    }
    struct trace_text partition;
    for (size_t at = 0; next_field(values[PARTITION], ',', &at, &partition);) {
        code = note_partition(l, &l->all[id], name, partition);
        if (code != BRAID_OK)
            return code;
    }
    return BRAID_OK;
}

/* ---- the two kinds of lists ---------------------------------------------------------------------------------------------- */

/* "NODELIST PARTITION GRES CPUS MEMORY" in any order; false: this is no such header. */
static bool read_header(struct list *l, struct trace_text line)
{
    static const char *const names[N_COLUMNS][2] = {{"NODELIST", "HOSTNAMES"},
                                                    {"PARTITION", "PARTITION"},
                                                    {"GRES", "GRES"},
                                                    {"CPUS", "CPUS"},
                                                    {"MEMORY", "MEMORY"}};
    struct trace_text field;
    int column = 0;
    l->separator = memchr(line.at, '|', line.n) != NULL ? '|' : ' ';
    for (int c = 0; c < N_COLUMNS; c++)
        l->at[c] = -1;
    for (size_t at = 0; column < COLUMNS_MAX && next_field(line, l->separator, &at, &field); column++)
        for (int c = 0; c < N_COLUMNS; c++)
            if (is(field, names[c][0]) || is(field, names[c][1]))
                l->at[c] = column;
    return l->at[NAME] >= 0 && column > 1;
}

static int read_sinfo(struct list *l)
{
    bool has_line = true;
    int code = BRAID_OK;
    if (l->at[GRES] < 0)
        return fail(l, "the list has no column GRES, which tells the GPUs:",
                    (struct trace_text){l->lines.text, l->lines.n}, "make it with sinfo -N -o '%N %P %G %c %m'");
    while (code == BRAID_OK && (code = lines_next(&l->lines, &has_line, l->err)) == BRAID_OK && has_line) {
        const struct trace_text line = {l->lines.text, l->lines.n};
        l->line = l->lines.number;
        struct trace_text values[N_COLUMNS] = {0}, field;
        int column = 0, last = -1;
        for (size_t at = 0; next_field(line, l->separator, &at, &field); column++)
            for (int c = 0; c < N_COLUMNS; c++)
                if (l->at[c] == column)
                    values[c] = field;
        for (int c = 0; c < N_COLUMNS; c++)
            last = l->at[c] > last ? l->at[c] : last;
        if (column == 0)
            continue;
        code = column > last ? take_node(l, values)
                             : fail(l, "fewer fields than the header has:", line, "complete the line");
    }
    return code;
}

static int flush(struct list *l, char **texts, struct trace_text *values)
{
    int code = values[NAME].n > 0 ? take_node(l, values) : BRAID_OK;
    for (int c = 0; c < N_COLUMNS; c++) {
        free(texts[c]);
        texts[c] = NULL;
        values[c] = (struct trace_text){NULL, 0};
    }
    return code;
}

/* Blocks of KEY=VALUE, each beginning with NodeName; the present line is the first. */
static int read_scontrol(struct list *l)
{
    static const char *const keys[N_COLUMNS] = {"NodeName=", "Partitions=", "Gres=", "CPUTot=", "RealMemory="};
    char *texts[N_COLUMNS] = {NULL};
    struct trace_text values[N_COLUMNS] = {0};
    bool has_line = true;
    int code = BRAID_OK;
    while (code == BRAID_OK && has_line) {
        const struct trace_text line = {l->lines.text, l->lines.n};
        struct trace_text field;
        for (size_t at = 0; code == BRAID_OK && next_field(line, ' ', &at, &field);)
            for (int c = 0; c < N_COLUMNS && code == BRAID_OK; c++) {
                size_t n = strlen(keys[c]);
                if (field.n < n || memcmp(field.at, keys[c], n) != 0)
                    continue;
                if (c == NAME)
                    code = flush(l, texts, values);
                if (c == NAME && code == BRAID_OK)
                    l->line = l->lines.number;
                if (code != BRAID_OK || texts[c] != NULL) /* a comment may look like a key: the first counts */
                    break;
                texts[c] = strndup(field.at + n, field.n - n);
                values[c] = (struct trace_text){texts[c], field.n - n};
                if (texts[c] == NULL)
                    code = sheet_out_of_memory(l->err);
            }
        if (code == BRAID_OK)
            code = lines_next(&l->lines, &has_line, l->err);
    }
    int last = flush(l, texts, values);
    return code == BRAID_OK ? last : code;
}

/* ---- nodes become groups and virtual clusters ---------------------------------------------------------------------------- */

static int add_nodes(struct cluster_spec *spec, struct list *l, uint32_t partition)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->nodes.count; i++) {
        if (l->all[i].partition != partition)
            continue;
        n++;
        if (!inventory_add_group(spec, l->arena, &l->all[i].like))
            return sheet_out_of_memory(l->err);
    }
    if (partition == NAMES_NONE || n == 0)
        return BRAID_OK;
    const char *name = names_text(&l->partitions, partition);
    const struct vc_spec vc = {.name = arena_text(l->arena, name, strlen(name)), .mode = VC_NODES, .amount = n};
    struct vc_spec *vcs = vc.name == NULL ? NULL : sheet_append(l->arena, spec->vcs, spec->n_vcs, sizeof vc, &vc);
    if (vcs == NULL)
        return sheet_out_of_memory(l->err);
    spec->vcs = vcs;
    spec->n_vcs++;
    return BRAID_OK;
}

static int settle(struct cluster_spec *spec, struct list *l)
{
    int code = BRAID_OK;
    if (l->nodes.count == 0)
        return error_at(l->err, BRAID_BAD_INPUT, l->shown, 0, 0,
                        "no nodes are listed; make the list with sinfo -N -o '%%N %%P %%G %%c %%m'");
    for (uint32_t p = 0; p < l->partitions.count && code == BRAID_OK; p++)
        code = add_nodes(spec, l, p);
    bool is_left = false;
    for (uint32_t i = 0; i < l->nodes.count; i++)
        is_left |= l->all[i].partition == NAMES_NONE;
    if (code == BRAID_OK && is_left && spec->n_vcs > 0 && l->takes_partitions)
        return error_at(l->err, BRAID_BAD_INPUT, l->shown, 0, 0,
                        "some nodes are in no partition, so nobody could use them; leave them out, or list cluster.vcs "
                        "in the config");
    return code == BRAID_OK && is_left ? add_nodes(spec, l, NAMES_NONE) : code;
}

static int read_list(struct cluster_spec *spec, struct list *l, bool *is_it)
{
    static const char first[] = "NodeName=";
    bool has_line = true;
    int code = BRAID_OK;
    do
        code = lines_next(&l->lines, &has_line, l->err);
    while (code == BRAID_OK && has_line && l->lines.n == 0);
    if (code != BRAID_OK || !has_line)
        return code;
    const struct trace_text line = {l->lines.text, l->lines.n};
    l->line = l->lines.number;
    bool is_scontrol = line.n >= sizeof first - 1 && memcmp(line.at, first, sizeof first - 1) == 0;
    *is_it = is_scontrol || read_header(l, line);
    if (!*is_it)
        return BRAID_OK;
    code = is_scontrol ? read_scontrol(l) : read_sinfo(l);
    return code == BRAID_OK ? settle(spec, l) : code;
}

int inventory_slurm_load(struct cluster_spec *spec, struct arena *a, bool *is_it, struct error *err)
{
    struct source source;
    struct list l = {.shown = spec->file_shown != NULL ? spec->file_shown : spec->file,
                     .err = err,
                     .arena = a,
                     .takes_partitions = spec->n_vcs == 0};
    *is_it = false;
    names_init(&l.nodes);
    names_init(&l.partitions);
    int code = source_open(&source, spec->file, l.shown, err);
    if (code == BRAID_OK)
        code = lines_init(&l.lines, &source, err);
    if (code == BRAID_OK)
        code = read_list(spec, &l, is_it);
    lines_fini(&l.lines);
    source_close(&source);
    names_fini(&l.nodes);
    names_fini(&l.partitions);
    free(l.all);
    return code;
}

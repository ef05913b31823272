/* From a loaded spec to the flat tables of a cluster: nodes in order of listing, cut into partitions and racks, and each
 * partition's nodes gathered into pools of like nodes. All memory is the arena's. */
#include "base/check.h"
#include "cluster/cluster_state.h"
#include "cluster/vc_nodes.h"

#include <string.h>

enum { NODES_MAX = 1 << 24, GPUS_MAX = 1 << 30, RACK_KEYS_MAX = 1 << 24 };

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "memory is out while the cluster is built");
}

/* `n`'s memory moves into the arena, so that it lives and dies with the run. */
static bool names_settle(struct names *n, struct arena *a)
{
    char *text = ARENA_NEW(a, char, n->text_used);
    size_t *at = ARENA_NEW(a, size_t, n->count);
    uint32_t *slots = ARENA_NEW(a, uint32_t, n->n_slots);
    bool is_settled = text != NULL && at != NULL && slots != NULL;
    if (is_settled && n->count > 0) {
        memcpy(text, n->text, n->text_used);
        memcpy(at, n->at, n->count * sizeof *at);
        memcpy(slots, n->slots, n->n_slots * sizeof *slots);
    }
    struct names settled = *n;
    names_fini(n);
    if (is_settled) {
        settled.text = text;
        settled.at = at;
        settled.slots = slots;
        settled.text_capacity = settled.text_used;
        settled.capacity = settled.count;
        *n = settled;
    }
    return is_settled;
}

/* ---- nodes and racks --------------------------------------------------------------------------- */

static int count_nodes(struct cluster *c, const struct cluster_spec *spec, struct error *err)
{
    uint64_t nodes = 0, gpus = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        nodes += spec->groups[g].count;
        gpus += (uint64_t)spec->groups[g].count * spec->groups[g].gpus;
        if (nodes > NODES_MAX)
            return error_set(err, BRAID_BAD_INPUT, "the cluster has more than %d nodes; name fewer", NODES_MAX);
        if (gpus > GPUS_MAX)
            return error_set(err, BRAID_BAD_INPUT, "the cluster has more than %d GPUs; name fewer", GPUS_MAX);
    }
    if (nodes == 0)
        return error_set(err, BRAID_BAD_INPUT,
                         "the cluster has no nodes; give at least one under 'nodes' or in its file");
    c->n_nodes = (uint32_t)nodes;
    c->n_gpus = (uint32_t)gpus;
    return BRAID_OK;
}

/* Number the racks and note each node's; a rack holds consecutive nodes and ends where the setting changes. */
static void assign_racks(struct cluster *c, const struct cluster_spec *spec)
{
    uint32_t node = 0, in_rack = 0;
    bool was_own = false;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct node_group_spec *group = &spec->groups[g];
        bool is_own = group->nodes_per_rack > 0;
        uint32_t room = is_own ? group->nodes_per_rack : spec->nodes_per_rack;
        if (group->count == 0)
            continue;
        if (node > 0 && (is_own || was_own)) {
            c->n_racks++;
            in_rack = 0;
        }
        for (uint32_t i = 0; i < group->count; i++) {
            if (room > 0 && in_rack >= room) {
                c->n_racks++;
                in_rack = 0;
            }
            c->nodes[node++].rack = c->n_racks;
            in_rack++;
        }
        was_own = is_own;
    }
    c->n_racks++;
}

static bool build_racks(struct cluster *c, const uint32_t *numbers)
{
    c->racks = ARENA_NEW(c->arena, struct rack, c->n_racks);
    if (c->racks == NULL)
        return false;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        struct rack *r = &c->racks[c->nodes[i].rack];
        if (r->n_nodes++ == 0)
            r->nodes = numbers + i;
        r->gpus += c->nodes[i].gpus;
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->n_racks; i++) {
        c->racks[i].free_gpus = c->racks[i].gpus;
        most = c->racks[i].gpus > most ? c->racks[i].gpus : most;
    }
    uint64_t keys = ((uint64_t)most + 1) * c->n_racks;
    c->has_rack_index = c->n_racks > 1 && keys <= RACK_KEYS_MAX;
    if (!c->has_rack_index)
        return true;
    if (!nodeset_init(&c->racks_by_free, (uint32_t)keys, c->arena))
        return false;
    for (uint32_t i = 0; i < c->n_racks; i++)
        nodeset_insert(&c->racks_by_free, c->racks[i].free_gpus * c->n_racks + i);
    return true;
}

/* The node's fields but for its pool; `group_of` tells the group of each node. */
static bool build_nodes(struct cluster *c, const struct cluster_spec *spec, uint32_t *group_of)
{
    c->nodes = ARENA_NEW(c->arena, struct node, c->n_nodes);
    if (c->nodes == NULL)
        return false;
    uint32_t node = 0, gpu_at = 0, word_at = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct node_group_spec *group = &spec->groups[g];
        for (uint32_t i = 0; i < group->count; i++, node++) {
            struct node *n = &c->nodes[node];
            n->gpus = n->free_gpus = group->gpus;
            n->cpu_free_milli = group->cpu_milli == 0 ? CPU_UNLIMITED : group->cpu_milli;
            n->mem_free_kib = group->memory_kib == 0 ? MEM_UNLIMITED : group->memory_kib;
            n->gpu_at = gpu_at;
            n->word_at = word_at;
            gpu_at += group->gpus;
            word_at += (group->gpus + 63) / 64;
            group_of[node] = g;
        }
    }
    c->words = ARENA_NEW(c->arena, uint64_t, word_at);
    c->owner = ARENA_NEW(c->arena, uint32_t, c->n_gpus);
    c->scratch = ARENA_NEW(c->arena, struct span, (size_t)c->n_gpus / 2 + c->n_nodes + 1);
    if (c->words == NULL || c->owner == NULL || c->scratch == NULL)
        return false;
    if (c->n_gpus > 0)
        memset(c->owner, 0xff, c->n_gpus * sizeof *c->owner); /* OWNER_FREE */
    for (uint32_t i = 0; i < c->n_nodes; i++)
        for (uint32_t g = 0; g < c->nodes[i].gpus; g++)
            c->words[c->nodes[i].word_at + g / 64] |= UINT64_C(1) << g % 64;
    return true;
}

/* ---- pools ------------------------------------------------------------------------------------- */

static struct pool pool_of_group(const struct cluster *c, const struct node_group_spec *g, uint32_t partition)
{
    return (struct pool){
        .partition = partition,
        .gpus = g->gpus,
        .gpu_type = g->gpu[0] == '\0' ? NAMES_NONE : names_find(&c->gpu_types, g->gpu, strlen(g->gpu)),
        .cpu_milli = g->cpu_milli == 0 ? CPU_UNLIMITED : g->cpu_milli,
        .mem_kib = g->memory_kib == 0 ? MEM_UNLIMITED : g->memory_kib,
        .gpu_memory_kib = g->gpu_memory_kib == 0 ? MEM_UNLIMITED : g->gpu_memory_kib,
    };
}

/* The sets of one pool: every node has all its GPUs free. */
static bool build_index(struct cluster *c, uint32_t pool)
{
    struct pool *p = &c->pools[pool];
    p->by_free = ARENA_NEW(c->arena, struct nodeset, (size_t)p->gpus + 1);
    c->levels[pool] = ARENA_NEW(c->arena, uint64_t, (size_t)p->gpus / 64 + 1);
    if (p->by_free == NULL || c->levels[pool] == NULL)
        return false;
    for (uint32_t f = 0; f <= p->gpus; f++)
        if (!nodeset_init(&p->by_free[f], p->n_nodes, c->arena))
            return false;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        nodeset_insert(&p->by_free[p->gpus], i);
    c->levels[pool][p->gpus / 64] |= UINT64_C(1) << p->gpus % 64;
    p->free_gpus = p->n_nodes * p->gpus;
    return true;
}

/* Pools of the partition with nodes [first, first + n): one a kind of group that occurs, largest G first, then by first node.
 * `group_pool` is scratch, one a group. */
static bool build_pools(struct cluster *c, const struct cluster_spec *spec, uint32_t partition, uint32_t first,
                        uint32_t n, const uint32_t *group_of, uint32_t *group_pool)
{
    struct partition *q = &c->partitions[partition];
    q->first_pool = c->n_pools;
    for (uint32_t g = group_of[first]; g <= group_of[first + n - 1]; g++) {
        if (spec->groups[g].count == 0)
            continue;
        struct pool want = pool_of_group(c, &spec->groups[g], partition);
        uint32_t pool = q->first_pool;
        while (pool < c->n_pools && !pools_are_alike(&c->pools[pool], &want))
            pool++;
        if (pool == c->n_pools)
            c->pools[c->n_pools++] = want;
        group_pool[g] = pool;
    }
    q->n_pools = c->n_pools - q->first_pool;

    /* Made in order of their first nodes: a stable sort by G gives the documented order. `rank_of` maps old to new. */
    uint32_t *rank_of = ARENA_NEW(c->arena, uint32_t, q->n_pools);
    struct pool *sorted = ARENA_NEW(c->arena, struct pool, q->n_pools);
    if (rank_of == NULL || sorted == NULL)
        return false;
    struct pool *pools = c->pools + q->first_pool;
    for (uint32_t i = 0; i < q->n_pools; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < q->n_pools; j++)
            rank += pools[j].gpus > pools[i].gpus || (pools[j].gpus == pools[i].gpus && j < i);
        rank_of[i] = rank;
        sorted[rank] = pools[i];
    }
    memcpy(pools, sorted, q->n_pools * sizeof *pools);

    for (uint32_t i = first; i < first + n; i++) {
        struct node *node = &c->nodes[i];
        node->pool = q->first_pool + rank_of[group_pool[group_of[i]] - q->first_pool];
        node->position = c->pools[node->pool].n_nodes++;
        q->gpus += node->gpus;
    }
    q->free_gpus = q->gpus;
    uint32_t *members = ARENA_NEW(c->arena, uint32_t, n); /* pool by pool */
    if (members == NULL)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < q->n_pools; i++) {
        pools[i].nodes = members + at;
        at += pools[i].n_nodes;
    }
    for (uint32_t i = first; i < first + n; i++)
        members[pools[c->nodes[i].pool - q->first_pool].nodes - members + c->nodes[i].position] = i;
    for (uint32_t i = 0; i < q->n_pools; i++) {
        pools[i].first_node = pools[i].nodes[0];
        if (!build_index(c, q->first_pool + i))
            return false;
    }
    return true;
}

/* ---- virtual clusters --------------------------------------------------------------------------- */

/* Changes of quota counted from time 0: the last one at or before it gives the present quota, the later ones stay. */
static bool build_quota(struct cluster *c, uint32_t vc, const struct vc_spec *s, int64_t origin_utc_s)
{
    struct vc *v = &c->vcs[vc];
    int64_t origin_ns = s->changes_are_dates ? origin_utc_s * INT64_C(1000000000) : 0;
    struct vc_change *later = ARENA_NEW(c->arena, struct vc_change, s->n_changes);
    if (later == NULL)
        return false;
    v->quota_gpus = s->amount;
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n_changes; i++) {
        struct vc_change change = s->changes[i];
        if (__builtin_sub_overflow(change.at_ns, origin_ns, &change.at_ns))
            continue; /* before or behind all time */
        if (change.at_ns <= 0) {
            v->quota_gpus = change.gpus;
        } else {
            later[v->n_changes++] = change;
            most = change.gpus > most ? change.gpus : most;
        }
    }
    v->changes = later;
    most = v->quota_gpus > most ? v->quota_gpus : most;
    c->vc_most_gpus[vc] = most < c->partitions[v->partition].gpus ? most : c->partitions[v->partition].gpus;
    return true;
}

/* Names of VCs by number; they differ (vc_nodes_assign). */
static bool name_vcs(struct cluster *c, const struct cluster_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_vcs; i++)
        if (names_add(&c->vc_names, spec->vcs[i].name, strlen(spec->vcs[i].name)) == NAMES_NONE)
            return false;
    return true;
}

/* Partitions: one a VC with nodes, in order of the VCs, then what is left (shared by the quotas, or nobody's). */
static int build_partitions(struct cluster *c, const struct cluster_spec *spec, const uint32_t *numbers,
                            const uint32_t *group_of, int64_t origin_utc_s, struct error *err)
{
    struct vc_nodes nodes;
    int status = vc_nodes_assign(&nodes, spec, c->arena, NULL, err);
    if (status != BRAID_OK)
        return status;
    if (!name_vcs(c, spec))
        return out_of_memory(err);
    uint32_t n_owners = 0;
    for (uint32_t i = 0; i < spec->n_vcs; i++)
        n_owners += nodes.owned[i].n > 0;
    c->has_named_vcs = spec->n_vcs > 0;
    c->n_vcs = c->has_named_vcs ? spec->n_vcs : 1;
    c->n_partitions = n_owners + nodes.n_rest;
    c->vcs = ARENA_NEW(c->arena, struct vc, c->n_vcs);
    c->vc_most_gpus = ARENA_NEW(c->arena, uint32_t, c->n_vcs);
    c->partitions = ARENA_NEW(c->arena, struct partition, c->n_partitions);
    size_t pools_most = (size_t)spec->n_groups + c->n_partitions; /* a cut splits at most one group */
    c->pools = ARENA_NEW(c->arena, struct pool, pools_most);
    c->levels = ARENA_NEW(c->arena, uint64_t *, pools_most);
    uint32_t *group_pool = ARENA_NEW(c->arena, uint32_t, spec->n_groups);
    if (c->vcs == NULL || c->vc_most_gpus == NULL || c->partitions == NULL || c->pools == NULL || c->levels == NULL ||
        group_pool == NULL)
        return out_of_memory(err);

    uint32_t partition = 0;
    for (uint32_t i = 0; i < spec->n_vcs + nodes.n_rest; i++) {
        bool is_rest = i >= spec->n_vcs;
        const struct node_range range = is_rest ? nodes.rest[i - spec->n_vcs] : nodes.owned[i];
        if (range.n == 0)
            continue;
        c->partitions[partition].n_nodes = range.n;
        c->partitions[partition].nodes = numbers + range.first;
        if (!build_pools(c, spec, partition, range.first, range.n, group_of, group_pool))
            return out_of_memory(err);
        if (!is_rest) {
            c->vcs[i].partition = partition;
            c->vcs[i].quota_gpus = c->vc_most_gpus[i] = c->partitions[partition].gpus;
        }
        partition++;
    }
    if (!c->has_named_vcs) {
        c->vcs[0] = (struct vc){.name = "", .mode = VC_NODES, .quota_gpus = c->partitions[0].gpus};
        c->vc_most_gpus[0] = c->partitions[0].gpus;
    }
    for (uint32_t i = 0; i < spec->n_vcs; i++) {
        const struct vc_spec *s = &spec->vcs[i];
        struct vc *v = &c->vcs[i];
        v->mode = s->mode;
        v->shrink = s->shrink;
        v->name = arena_text(c->arena, s->name, strlen(s->name));
        if (v->name == NULL)
            return out_of_memory(err);
        if (s->mode == VC_GPUS) {
            v->partition = c->n_partitions - 1;
            if (!build_quota(c, i, s, origin_utc_s))
                return out_of_memory(err);
        }
    }
    return BRAID_OK;
}

static int cluster_build(struct cluster *c, const struct cluster_spec *spec, int64_t origin_utc_s, struct error *err)
{
    int status = count_nodes(c, spec, err);
    if (status != BRAID_OK)
        return status;
    uint32_t *numbers =
        ARENA_NEW(c->arena, uint32_t, c->n_nodes); /* 0, 1, 2, …: racks and partitions are slices of it */
    uint32_t *group_of = ARENA_NEW(c->arena, uint32_t, c->n_nodes);
    if (numbers == NULL || group_of == NULL || !build_nodes(c, spec, group_of))
        return out_of_memory(err);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        numbers[i] = i;
    assign_racks(c, spec);
    if (!build_racks(c, numbers))
        return out_of_memory(err);
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const char *gpu = spec->groups[g].gpu;
        if (gpu[0] != '\0' && names_add(&c->gpu_types, gpu, strlen(gpu)) == NAMES_NONE)
            return out_of_memory(err);
    }
    return build_partitions(c, spec, numbers, group_of, origin_utc_s, err);
}

struct cluster *cluster_create(const struct cluster_spec *spec, int64_t origin_utc_s, struct arena *a,
                               struct error *err)
{
    struct cluster *c = ARENA_NEW(a, struct cluster, 1);
    if (c == NULL) {
        out_of_memory(err);
        return NULL;
    }
    c->arena = a;
    c->first_idle = ALLOC_NONE;
    c->first_tenant = UINT32_MAX;
    names_init(&c->gpu_types);
    names_init(&c->vc_names);
    int status = cluster_build(c, spec, origin_utc_s, err);
    bool is_settled = names_settle(&c->gpu_types, a);
    is_settled = names_settle(&c->vc_names, a) && is_settled;
    if (status == BRAID_OK && !is_settled)
        status = out_of_memory(err);
    return status == BRAID_OK ? c : NULL;
}

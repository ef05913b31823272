/* All GPUs together: who holds what when. Each GPU has one job or one group at a time, no node gives more than it has, types, virtual clusters and
 * quotas are kept. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MOST = 128 };

/* A job holds one GPU for a stretch. */
struct piece {
    uint32_t node, gpu;
    const struct stretch *by;
};

static int piece_compare(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->by->begin_ns != y->by->begin_ns)
        return x->by->begin_ns < y->by->begin_ns ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

static bool has_types(const struct scene *s)
{
    for (uint32_t g = 0; g < s->n_groups; g++)
        if (s->groups[g].type[0] != '\0')
            return true;
    return false;
}

/* The nodes of one stretch: are they allowed? The number of GPUs; `pieces` grows. */
static uint64_t place_check(struct check *c, const struct stretch *t, struct piece *pieces, size_t *n, size_t room)
{
    const struct scene *s = c->scene;
    const struct life *l = &c->lives[t->rank];
    uint32_t first, end;
    uint64_t sum = 0;
    facts_vc_nodes(s, l->vc, &first, &end);
    for (size_t i = 0; i < t->n_allocs; i++) {
        const struct books_alloc *a = &c->books->allocs[t->alloc + i];
        if (a->node < 0 || a->node >= facts_nodes(s) || a->gpu_first < 0 || a->gpu_count < 1 ||
            a->gpu_first + a->gpu_count > facts_node(s, (uint32_t)a->node)->gpus || a->share != 1) {
            check_fault(c, "allocs.range", "%s: node %" PRId64 ", GPUs %" PRId64 " + %" PRId64 ", share %g",
                        l->fact->id, a->node, a->gpu_first, a->gpu_count, a->share);
            continue;
        }
        if (a->node < first || a->node >= end)
            check_fault(c, "allocs.vc", "%s: node %" PRId64 " is not of '%s'", l->fact->id, a->node, l->fact->vc);
        const char *type = facts_node(s, (uint32_t)a->node)->type;
        if (s->has_types && has_types(s) && l->fact->type[0] != '\0' && strcmp(type, l->fact->type) != 0)
            check_fault(c, "allocs.type", "%s wants %s: node %" PRId64 " has '%s'", l->fact->id, l->fact->type, a->node,
                        type);
        sum += (uint64_t)a->gpu_count;
        for (int64_t g = 0; g < a->gpu_count && *n < room; g++)
            pieces[(*n)++] = (struct piece){(uint32_t)a->node, (uint32_t)(a->gpu_first + g), t};
    }
    return sum;
}

/* Where all nodes are alike: a packed job of at most a node's GPUs is on one, a larger one on as few as can be, all of them whole but one. */
static void pack_check(struct check *c, const struct stretch *t)
{
    const struct scene *s = c->scene;
    const struct life *l = &c->lives[t->rank];
    if (s->n_groups != 1 || strcmp(s->placement, "spread") == 0 || strcmp(s->placement, "count") == 0)
        return;
    uint32_t per_node = s->groups[0].gpus, nodes = 0, partly = 0, held[SCENE_NODES] = {0};
    for (size_t i = 0; i < t->n_allocs; i++) {
        const struct books_alloc *a = &c->books->allocs[t->alloc + i];
        if (a->node >= 0 && a->node < SCENE_NODES)
            held[a->node] += (uint32_t)a->gpu_count;
    }
    for (uint32_t i = 0; i < SCENE_NODES; i++) {
        nodes += held[i] > 0;
        partly += held[i] > 0 && held[i] < per_node;
    }
    if (nodes != (l->fact->gpus + per_node - 1) / per_node || partly > 1)
        check_fault(c, "allocs.packed", "%s: %u GPUs on %u nodes of %u, %u in part, under %s", l->fact->id,
                    l->fact->gpus, nodes, per_node, partly, s->placement);
}

static void pieces_check(struct check *c, struct piece *pieces, size_t n)
{
    qsort(pieces, n, sizeof *pieces, piece_compare);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i;
             k-- > 0 && pieces[k].node == pieces[i].node && pieces[k].gpu == pieces[i].gpu && i - k < 16;) {
            const struct stretch *a = pieces[k].by, *b = pieces[i].by;
            if (a->end_ns <= b->begin_ns + c->slack_ns)
                continue;
            if (a->rank == b->rank || a->group < 0 || a->group != b->group)
                check_fault(c, "allocs.overlap", "%s and %s hold GPU %u of node %u at %.9f s",
                            c->lives[a->rank].fact->id, c->lives[b->rank].fact->id, pieces[i].gpu, pieces[i].node,
                            (double)b->begin_ns * 1e-9);
        }
}

/* ---- CPU, memory and quotas: the sum over the stretches at each beginning ---- */

static bool is_within(const struct stretch *t, int64_t at_ns)
{
    return t->kind != KIND_QUEUED && t->begin_ns <= at_ns && at_ns < t->end_ns;
}

struct held {
    uint64_t cpu[SCENE_NODES], memory[SCENE_NODES], vc_gpus[SCENE_VCS + 1];
    int64_t groups[SCENE_JOBS];
    uint32_t n_groups;
    uint32_t members;
};

/* CPU and memory are shared out over the nodes by GPUs, in whole units; what is below a unit does not count here. */
static void held_add(const struct check *c, struct held *h, const struct stretch *t)
{
    const struct life *l = &c->lives[t->rank];
    for (uint32_t i = 0; i < h->n_groups && t->group >= 0; i++)
        if (h->groups[i] == t->group)
            return; /* what its members use counts once */
    if (t->group >= 0 && h->n_groups < SCENE_JOBS)
        h->groups[h->n_groups++] = t->group;
    h->vc_gpus[l->vc] += l->fact->gpus;
    for (size_t i = 0; c->scene->has_cpus && i < t->n_allocs; i++) {
        const struct books_alloc *a = &c->books->allocs[t->alloc + i];
        if (a->node < 0 || a->node >= SCENE_NODES)
            continue;
        h->cpu[a->node] += (uint64_t)l->fact->cpu_milli * (uint64_t)a->gpu_count / l->fact->gpus;
        h->memory[a->node] += l->fact->memory_kib * (uint64_t)a->gpu_count / l->fact->gpus;
    }
}

/* Is there a stay of this VC's that begins at this instant, where none of the same job ended just then? */
static bool begins_anew(const struct check *c, const struct stretch *t)
{
    const struct life *l = &c->lives[t->rank];
    const struct stretch *before = t > c->stretches + l->first ? t - 1 : NULL;
    return t->kind != KIND_QUEUED && (before == NULL || before->kind == KIND_QUEUED);
}

static void instant_check(struct check *c, int64_t at_ns, uint32_t vcs_begin)
{
    const struct scene *s = c->scene;
    struct held h = {0};
    for (size_t i = 0; i < c->n_stretches; i++)
        if (is_within(&c->stretches[i], at_ns))
            held_add(c, &h, &c->stretches[i]);
    for (uint32_t node = 0; s->has_cpus && node < facts_nodes(s); node++) {
        const struct scene_group *g = facts_node(s, node);
        if ((g->cpu_milli > 0 && h.cpu[node] > g->cpu_milli) || (g->memory_kib > 0 && h.memory[node] > g->memory_kib))
            check_fault(c, "allocs.capacity",
                        "node %u at %.9f s: %" PRIu64 " of %u milli-CPU, %" PRIu64 " of %" PRIu64 " KiB", node,
                        (double)at_ns * 1e-9, h.cpu[node], g->cpu_milli, h.memory[node], g->memory_kib);
    }
    for (uint32_t v = 0; v < s->n_vcs; v++) {
        uint64_t quota = facts_capacity(s, v, at_ns);
        bool may_drain = !s->vcs[v].is_preempt && (vcs_begin >> v & 1) == 0; /* nobody came in beyond the quota */
        if (s->vcs[v].is_quota && h.vc_gpus[v] > quota && !may_drain)
            check_fault(c, "allocs.quota", "'%s' holds %" PRIu64 " GPUs at %.9f s, its quota is %" PRIu64 "%s",
                        s->vcs[v].name, h.vc_gpus[v], (double)at_ns * 1e-9, quota,
                        s->vcs[v].is_preempt ? "" : ", and somebody started");
    }
}

static int ns_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void instants_check(struct check *c)
{
    enum { INSTANTS_MOST = 1500 }; /* a look at everything for each: of long runs only some, evenly spread */
    const struct scene *s = c->scene;
    bool has_quota = false;
    for (uint32_t v = 0; v < s->n_vcs; v++)
        has_quota |= s->vcs[v].is_quota;
    if (!has_quota && !s->has_cpus)
        return;
    int64_t *at = calloc(c->n_stretches + SCENE_VCS * SCENE_CHANGES + 1, sizeof *at);
    size_t n = 0;
    for (size_t i = 0; i < c->n_stretches; i++)
        if (c->stretches[i].kind != KIND_QUEUED)
            at[n++] = c->stretches[i].begin_ns;
    for (uint32_t v = 0; v < s->n_vcs; v++)
        for (uint32_t i = 0; i < s->vcs[v].n_changes; i++)
            if (s->vcs[v].changes[i].at_ns > c->first_ns && s->vcs[v].changes[i].at_ns <= c->end_ns)
                at[n++] = s->vcs[v].changes[i].at_ns;
    qsort(at, n, sizeof *at, ns_compare);
    size_t step = n / INSTANTS_MOST + 1;
    for (size_t i = 0; i < n; i += step) {
        if (i > 0 && step == 1 && at[i] == at[i - 1])
            continue;
        uint32_t vcs_begin = 0;
        for (size_t k = 0; k < c->n_stretches; k++)
            if (c->stretches[k].begin_ns == at[i] && begins_anew(c, &c->stretches[k]))
                vcs_begin |= 1u << c->lives[c->stretches[k].rank].vc;
        instant_check(c, at[i], vcs_begin);
    }
    free(at);
}

void check_places(struct check *c)
{
    size_t room = 1, n = 0;
    for (size_t i = 0; i < c->n_stretches; i++)
        room += c->stretches[i].kind != KIND_QUEUED ? c->lives[c->stretches[i].rank].fact->gpus : 0;
    struct piece *pieces = calloc(room, sizeof *pieces);
    for (size_t i = 0; i < c->n_stretches; i++) {
        const struct stretch *t = &c->stretches[i];
        if (t->kind == KIND_QUEUED)
            continue;
        uint64_t sum = place_check(c, t, pieces, &n, room);
        if (sum != c->lives[t->rank].fact->gpus)
            check_fault(c, "allocs.gpus", "%s: %" PRIu64 " GPUs, not %u", c->lives[t->rank].fact->id, sum,
                        c->lives[t->rank].fact->gpus);
        else
            pack_check(c, t);
    }
    pieces_check(c, pieces, n);
    instants_check(c);
    free(pieces);
}

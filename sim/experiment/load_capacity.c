#include "experiment/load_capacity.h"

#include <stdlib.h>
#include <string.h>

/* GPUs from an instant on. */
struct step {
    int64_t at_ns;
    double gpus;
};

/* Capacity as steps: the first holds from the beginning of time. */
struct steps {
    struct step *v;
    uint32_t n;
};

struct load_capacity {
    struct arena arena;
    const struct workload *w;
    const struct cluster *cluster;
    bool is_packed;
    uint32_t *vc_of;       /* by the workload's VC: the cluster's, or NAMES_NONE */
    uint32_t *gpu_type_of; /* by the workload's GPU type: the cluster's */
    struct steps *by_vc;   /* by the cluster's VC */
    struct steps all;
};

/* A change of quota with its virtual cluster. */
struct change {
    int64_t at_ns;
    uint32_t vc, gpus;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->vc < y->vc ? -1 : x->vc > y->vc;
}

static double smaller(uint64_t a, uint64_t b)
{
    return (double)(a < b ? a : b);
}

static bool steps_of_vc(struct load_capacity *c, uint32_t i)
{
    const struct vc *vc = cluster_vc(c->cluster, i);
    uint32_t gpus = cluster_partition(c->cluster, vc->partition)->gpus;
    struct steps *s = &c->by_vc[i];
    s->v = ARENA_NEW(&c->arena, struct step, (size_t)vc->n_changes + 1);
    if (s->v == NULL)
        return false;
    s->v[s->n++] = (struct step){INT64_MIN, smaller(vc->quota_gpus, gpus)};
    for (uint32_t k = 0; k < vc->n_changes; k++)
        s->v[s->n++] = (struct step){vc->changes[k].at_ns, smaller(vc->changes[k].gpus, gpus)};
    return true;
}

/* GPUs of a partition that its virtual clusters may use now: `quota` by VC. */
static double usable(const struct load_capacity *c, const uint32_t *quota)
{
    double sum = 0;
    for (uint32_t p = 0; p < cluster_n_partitions(c->cluster); p++) {
        uint64_t quotas = 0;
        for (uint32_t i = 0; i < cluster_n_vcs(c->cluster); i++)
            quotas += cluster_vc(c->cluster, i)->partition == p ? quota[i] : 0;
        sum += smaller(quotas, cluster_partition(c->cluster, p)->gpus);
    }
    return sum;
}

static bool steps_of_all(struct load_capacity *c)
{
    uint32_t n_vcs = cluster_n_vcs(c->cluster);
    size_t n_changes = 0;
    for (uint32_t i = 0; i < n_vcs; i++)
        n_changes += cluster_vc(c->cluster, i)->n_changes;
    uint32_t *quota = ARENA_NEW(&c->arena, uint32_t, n_vcs);
    struct change *changes = ARENA_NEW(&c->arena, struct change, n_changes);
    c->all.v = ARENA_NEW(&c->arena, struct step, n_changes + 1);
    if (c->arena.is_short)
        return false;
    size_t n = 0;
    for (uint32_t i = 0; i < n_vcs; i++) {
        const struct vc *vc = cluster_vc(c->cluster, i);
        quota[i] = vc->quota_gpus;
        for (uint32_t k = 0; k < vc->n_changes; k++)
            changes[n++] = (struct change){vc->changes[k].at_ns, i, vc->changes[k].gpus};
    }
    if (n > 1)
        qsort(changes, n, sizeof *changes, compare_changes);
    c->all.v[c->all.n++] = (struct step){INT64_MIN, usable(c, quota)};
    for (size_t k = 0; k < n; k++) {
        quota[changes[k].vc] = changes[k].gpus;
        if (k + 1 == n || changes[k + 1].at_ns != changes[k].at_ns)
            c->all.v[c->all.n++] = (struct step){changes[k].at_ns, usable(c, quota)};
    }
    return true;
}

struct load_capacity *load_capacity_create(const struct run_config *config, const struct workload *w, struct error *err)
{
    struct load_capacity *c = calloc(1, sizeof *c);
    if (c == NULL) {
        error_set(err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    arena_init(&c->arena);
    c->w = w;
    c->is_packed = config->placement.ops->rule == PLACEMENT_PACKED;
    c->cluster = cluster_create(&config->cluster, w->origin_utc_s, &c->arena, err);
    if (c->cluster == NULL)
        goto fail;
    c->vc_of = ARENA_NEW(&c->arena, uint32_t, w->vcs.count);
    c->gpu_type_of = ARENA_NEW(&c->arena, uint32_t, w->gpu_types.count);
    c->by_vc = ARENA_NEW(&c->arena, struct steps, cluster_n_vcs(c->cluster));
    bool ok = !c->arena.is_short;
    for (uint32_t i = 0; ok && i < w->vcs.count; i++)
        c->vc_of[i] = cluster_vc_find(c->cluster, names_text(&w->vcs, i));
    const struct names *types = cluster_gpu_types(c->cluster);
    for (uint32_t i = 0; ok && i < w->gpu_types.count; i++) {
        const char *type = names_text(&w->gpu_types, i);
        c->gpu_type_of[i] = names_find(types, type, strlen(type));
    }
    for (uint32_t i = 0; ok && i < cluster_n_vcs(c->cluster); i++)
        ok = steps_of_vc(c, i);
    if (ok && steps_of_all(c))
        return c;
    error_set(err, BRAID_FAILED, "out of memory");
fail:
    load_capacity_destroy(c);
    return NULL;
}

void load_capacity_destroy(struct load_capacity *c)
{
    if (c == NULL)
        return;
    arena_fini(&c->arena);
    free(c);
}

static double integral(void *self, uint32_t vc, int64_t from_ns, int64_t to_ns)
{
    const struct load_capacity *c = self;
    const struct steps *s = &c->all;
    if (vc != NAMES_NONE) {
        if (c->vc_of[vc] == NAMES_NONE)
            return 0;
        s = &c->by_vc[c->vc_of[vc]];
    }
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t begin = s->v[i].at_ns > from_ns ? s->v[i].at_ns : from_ns;
        int64_t end = i + 1 < s->n && s->v[i + 1].at_ns < to_ns ? s->v[i + 1].at_ns : to_ns;
        if (end > begin)
            sum += s->v[i].gpus * (double)(end - begin);
    }
    return sum;
}

const char *load_capacity_refuses(const struct load_capacity *c, uint32_t job)
{
    const struct workload *w = c->w;
    uint32_t vc = c->vc_of[w->vc[job]];
    if (vc == NAMES_NONE)
        return "unknown_vc";
    struct demand d = {.gpus = w->gpus[job], .gpu_type = NAMES_NONE};
    d.cpu_milli = w->cpu_milli != NULL ? w->cpu_milli[job] : 0;
    d.mem_kib = w->mem_kib != NULL ? w->mem_kib[job] : 0;
    if (w->gpu_type != NULL && w->gpu_type[job] != NAMES_NONE) {
        d.gpu_type = c->gpu_type_of[w->gpu_type[job]];
        if (d.gpu_type == NAMES_NONE)
            return "gpu_type_absent"; /* no node has this type */
    }
    return cluster_never_fits(c->cluster, vc, &d, c->is_packed);
}

static bool is_admissible(void *self, uint32_t job)
{
    return load_capacity_refuses(self, job) == NULL;
}

struct trace_capacity load_capacity_view(struct load_capacity *c)
{
    return (struct trace_capacity){.self = c, .integral = integral, .is_admissible = is_admissible};
}

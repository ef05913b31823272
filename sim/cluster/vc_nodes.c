#include "cluster/vc_nodes.h"

#include <stdio.h>
#include <string.h>

enum { KINDS_MAX = 64 };

struct assignment {
    const struct cluster_spec *spec;
    struct vc_nodes *out;
    struct node_range *free; /* by group: what nobody has taken yet */
    struct vc_fault *fault;
    struct error *err;
};

static bool is_named(const char *name)
{
    return name != NULL && name[0] != '\0';
}

static uint32_t find_vc(const struct cluster_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->n_vcs; i++)
        if (strcmp(spec->vcs[i].name, name) == 0)
            return i;
    return NAMES_NONE;
}

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "memory is out while the nodes of virtual clusters are given out");
}

static void blame(struct assignment *s, enum vc_fault_at at, uint32_t index, const char *key)
{
    s->fault->at = at;
    s->fault->index = index;
    s->fault->key = key;
}

static int blame_vc(struct assignment *s, uint32_t vc, const char *key)
{
    blame(s, VC_FAULT_VC, vc, key);
    return BRAID_BAD_INPUT;
}

bool vc_nodes_name(struct cluster_spec *spec, struct arena *a)
{
    uint32_t n_new = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        n_new += is_named(spec->groups[g].vc);
    if (n_new == 0)
        return true;
    struct vc_spec *vcs = ARENA_NEW(a, struct vc_spec, (size_t)spec->n_vcs + n_new);
    if (vcs == NULL)
        return false;
    if (spec->n_vcs > 0)
        memcpy(vcs, spec->vcs, spec->n_vcs * sizeof *vcs);
    spec->vcs = vcs;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        if (is_named(spec->groups[g].vc) && find_vc(spec, spec->groups[g].vc) == NAMES_NONE)
            vcs[spec->n_vcs++] = (struct vc_spec){.name = spec->groups[g].vc, .mode = VC_NODES};
    return true;
}

/* ---- taking -------------------------------------------------------------------------------------- */

/* Add `n` nodes from the front of what is free of a group to those of a VC. */
static int take(struct assignment *s, uint32_t vc, uint32_t group, uint32_t n)
{
    struct node_range *owned = &s->out->owned[vc], *from = &s->free[group];
    if (n == 0)
        return BRAID_OK;
    if (owned->n > 0 && owned->first + owned->n != from->first) {
        blame_vc(s, vc, NULL);
        return error_set(
            s->err, BRAID_BAD_INPUT,
            "the nodes of the virtual cluster '%s' do not stand next to each other: %u to %u, and %u; list its "
            "groups under 'nodes' one after the other",
            s->spec->vcs[vc].name, owned->first, owned->first + owned->n - 1, from->first);
    }
    if (owned->n == 0)
        owned->first = from->first;
    owned->n += n;
    from->first += n;
    from->n -= n;
    return BRAID_OK;
}

/* Does `of` mean the group by its name? Else it means a type of GPU. */
static bool is_group_name(const struct cluster_spec *spec, const char *of)
{
    for (uint32_t g = 0; g < spec->n_groups; g++)
        if (spec->groups[g].name != NULL && strcmp(spec->groups[g].name, of) == 0)
            return true;
    return false;
}

static bool group_is_of(const struct node_group_spec *group, const char *of, bool by_name)
{
    const char *is = by_name ? group->name : group->gpu;
    return of == NULL || (is != NULL && strcmp(is, of) == 0);
}

/* `of` is neither the name of a group nor a type of GPU. */
static int fail_unknown_kind(struct assignment *s, uint32_t vc)
{
    const char *kinds[KINDS_MAX];
    char list[320] = "";
    size_t n = 0, used = 0;
    for (uint32_t g = 0; g < s->spec->n_groups; g++) {
        const char *both[] = {s->spec->groups[g].name, s->spec->groups[g].gpu};
        for (int b = 0; b < 2; b++) {
            bool is_new = is_named(both[b]) && n < KINDS_MAX;
            for (size_t k = 0; k < n && is_new; k++)
                is_new = strcmp(kinds[k], both[b]) != 0;
            if (!is_new)
                continue;
            kinds[n++] = both[b];
            if (used + strlen(both[b]) + 3 < sizeof list)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", both[b]);
        }
    }
    const char *of = s->spec->vcs[vc].of, *near = text_nearest(of, kinds, n);
    blame_vc(s, vc, "of");
    return error_set(
        s->err, BRAID_BAD_INPUT,
        "the virtual cluster '%s' wants nodes of '%s', but no group has this name or this type of GPU; %s%s%s",
        s->spec->vcs[vc].name, of,
        near != NULL ? "did you mean '"
        : n > 0      ? "there are: "
                     : "none has any",
        near != NULL ? near : list, near != NULL ? "'?" : "");
}

static int fail_too_few(struct assignment *s, uint32_t vc, uint32_t found)
{
    const struct vc_spec *v = &s->spec->vcs[vc];
    uint64_t wanted = 0, all = 0;
    for (uint32_t g = 0; g < s->spec->n_groups; g++)
        all += s->spec->groups[g].count;
    for (uint32_t i = 0; i < s->spec->n_vcs; i++) {
        const struct vc_spec *each = &s->spec->vcs[i];
        if (each->mode == VC_NODES)
            wanted += each->amount == 0 || each->amount == VC_ALL_NODES ? s->out->owned[i].n : each->amount;
    }
    blame_vc(s, vc, "nodes");
    if (v->amount == VC_ALL_NODES)
        return error_set(
            s->err, BRAID_BAD_INPUT,
            "the virtual cluster '%s' gets no nodes: others have all%s%s; add nodes or give the others fewer", v->name,
            v->of != NULL ? " of " : "", v->of != NULL ? v->of : "");
    if (v->of != NULL)
        return error_set(s->err, BRAID_BAD_INPUT,
                         "the virtual cluster '%s' wants %u nodes of '%s', but %u %s left; add nodes or take fewer",
                         v->name, v->amount, v->of, found, found == 1 ? "is" : "are");
    return error_set(s->err, BRAID_BAD_INPUT,
                     "the virtual clusters want %llu nodes, the cluster has %llu; add nodes or take fewer",
                     (unsigned long long)wanted, (unsigned long long)all);
}

/* Up to v->amount free nodes of its kind. */
static int claim(struct assignment *s, uint32_t vc)
{
    const struct cluster_spec *spec = s->spec;
    const struct vc_spec *v = &spec->vcs[vc];
    bool by_name = v->of != NULL && is_group_name(spec, v->of), is_known = false;
    uint32_t found = 0;
    int status = BRAID_OK;
    for (uint32_t g = 0; g < spec->n_groups && status == BRAID_OK; g++) {
        if (!group_is_of(&spec->groups[g], v->of, by_name))
            continue;
        is_known = true;
        uint32_t n = s->free[g].n < v->amount - found ? s->free[g].n : v->amount - found;
        status = take(s, vc, g, n);
        found += n;
    }
    if (status != BRAID_OK)
        return status;
    if (!is_known)
        return fail_unknown_kind(s, vc);
    bool is_enough = v->amount == VC_ALL_NODES ? found > 0 : found == v->amount;
    return is_enough ? BRAID_OK : fail_too_few(s, vc, found);
}

/* ---- the turns ------------------------------------------------------------------------------------ */

/* Groups that name their VC. */
static int take_tied(struct assignment *s)
{
    const struct cluster_spec *spec = s->spec;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const char *name = spec->groups[g].vc;
        uint32_t vc = is_named(name) ? find_vc(spec, name) : NAMES_NONE;
        if (vc == NAMES_NONE)
            continue;
        if (spec->vcs[vc].mode == VC_GPUS) {
            blame(s, VC_FAULT_GROUP, g, "vc");
            return error_set(
                s->err, BRAID_BAD_INPUT,
                "the virtual cluster '%s' has a quota ('gpus') and cannot own nodes as well; leave out one of the "
                "two",
                name);
        }
        int status = take(s, vc, g, s->free[g].n);
        if (status != BRAID_OK)
            return status;
    }
    return BRAID_OK;
}

/* What a VC that has nodes by its groups says beside must agree with them. */
static int check_tied(struct assignment *s, uint32_t vc)
{
    const struct vc_spec *v = &s->spec->vcs[vc];
    uint32_t n = s->out->owned[vc].n;
    if (v->of != NULL) {
        blame_vc(s, vc, "of");
        return error_set(
            s->err, BRAID_BAD_INPUT,
            "the virtual cluster '%s' has the nodes of the groups that name it ('vc: %s'); leave out 'nodes' and 'of'",
            v->name, v->name);
    }
    if (v->amount == 0 || v->amount == n)
        return BRAID_OK;
    blame_vc(s, vc, "nodes");
    return error_set(
        s->err, BRAID_BAD_INPUT,
        "the virtual cluster '%s' has the %u nodes of the groups that name it ('vc: %s'); leave out 'nodes'", v->name,
        n, v->name);
}

static int check_vc(struct assignment *s, uint32_t vc)
{
    const struct vc_spec *v = &s->spec->vcs[vc];
    if (find_vc(s->spec, v->name) != vc) {
        blame_vc(s, vc, NULL);
        return error_set(s->err, BRAID_BAD_INPUT, "the virtual cluster '%s' is named twice; give each one name",
                         v->name);
    }
    if (v->mode == VC_GPUS)
        return BRAID_OK;
    if (v->n_changes > 0) {
        blame_vc(s, vc, "changes");
        return error_set(
            s->err, BRAID_BAD_INPUT,
            "the virtual cluster '%s' owns nodes and cannot have 'changes'; give it 'gpus' instead of 'nodes'",
            v->name);
    }
    if (s->out->owned[vc].n > 0)
        return check_tied(s, vc);
    if (v->amount > 0)
        return BRAID_OK;
    blame_vc(s, vc, NULL);
    return error_set(s->err, BRAID_BAD_INPUT,
                     "the virtual cluster '%s' has no nodes; give it 'nodes' or 'gpus', or a group of nodes 'vc: %s'",
                     v->name, v->name);
}

/* The turn in which a VC without nodes takes its own. */
static int turn_of(const struct vc_spec *v)
{
    return (v->of != NULL ? 0 : 2) + (v->amount == VC_ALL_NODES ? 1 : 0);
}

/* What is left, adjacent nodes together. */
static int gather_rest(struct assignment *s, struct arena *a)
{
    struct vc_nodes *out = s->out;
    uint32_t quota = NAMES_NONE;
    out->rest = ARENA_NEW(a, struct node_range, s->spec->n_groups);
    if (out->rest == NULL)
        return out_of_memory(s->err);
    for (uint32_t g = 0; g < s->spec->n_groups; g++) {
        struct node_range *last = out->n_rest > 0 ? &out->rest[out->n_rest - 1] : NULL;
        if (s->free[g].n > 0 && last != NULL && last->first + last->n == s->free[g].first)
            last->n += s->free[g].n;
        else if (s->free[g].n > 0)
            out->rest[out->n_rest++] = s->free[g];
    }
    for (uint32_t i = 0; i < s->spec->n_vcs && quota == NAMES_NONE; i++)
        if (s->spec->vcs[i].mode == VC_GPUS)
            quota = i;
    if (quota == NAMES_NONE || out->n_rest == 1)
        return BRAID_OK;
    blame_vc(s, quota, "gpus");
    if (out->n_rest == 0)
        return error_set(
            s->err, BRAID_BAD_INPUT,
            "all nodes belong to virtual clusters with 'nodes'; none is left for those with 'gpus', such as '%s'",
            s->spec->vcs[quota].name);
    return error_set(
        s->err, BRAID_BAD_INPUT,
        "the nodes that quotas share do not stand next to each other: %u to %u, and %u; list their groups under "
        "'nodes' one after the other",
        out->rest[0].first, out->rest[0].first + out->rest[0].n - 1, out->rest[1].first);
}

int vc_nodes_assign(struct vc_nodes *out, const struct cluster_spec *spec, struct arena *a, struct vc_fault *fault,
                    struct error *err)
{
    struct vc_fault unseen;
    struct assignment s = {.spec = spec, .out = out, .fault = fault != NULL ? fault : &unseen, .err = err};
    *out = (struct vc_nodes){0};
    *s.fault = (struct vc_fault){0};
    out->owned = ARENA_NEW(a, struct node_range, spec->n_vcs);
    s.free = ARENA_NEW(a, struct node_range, spec->n_groups);
    if (out->owned == NULL || s.free == NULL)
        return out_of_memory(err);
    uint32_t node = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        s.free[g] = (struct node_range){node, spec->groups[g].count};
        node += spec->groups[g].count;
    }
    int status = take_tied(&s);
    for (uint32_t i = 0; i < spec->n_vcs && status == BRAID_OK; i++)
        status = check_vc(&s, i);
    for (int turn = 0; turn < 4; turn++)
        for (uint32_t i = 0; i < spec->n_vcs && status == BRAID_OK; i++)
            if (spec->vcs[i].mode == VC_NODES && out->owned[i].n == 0 && turn_of(&spec->vcs[i]) == turn)
                status = claim(&s, i);
    return status == BRAID_OK ? gather_rest(&s, a) : status;
}

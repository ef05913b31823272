/* The state of queues and nodes over time, by adding up what begins and ends at each instant. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

struct delta {
    int64_t at_ns;
    uint32_t stretch;
    int32_t sign; /* of the stretch; 0: a change of quota */
};

static int delta_compare(const void *a, const void *b)
{
    const struct delta *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->sign > y->sign) - (x->sign < y->sign);
}

struct walk {
    struct check *c;
    struct levels now;
    uint32_t *members; /* by group: who holds its GPUs */
    size_t n_groups;
};

static void held_change(struct walk *w, const struct stretch *t, int32_t sign)
{
    const struct check *c = w->c;
    const struct life *l = &c->lives[t->rank];
    w->now.running_jobs[l->vc] += (uint32_t)sign;
    if (t->group >= 0 && (size_t)t->group < w->n_groups) {
        uint32_t before = w->members[t->group];
        w->members[t->group] += (uint32_t)sign;
        if (before > 0 && w->members[t->group] > 0)
            return; /* its GPUs are held all the same */
    }
    uint64_t gpus = l->fact->gpus;
    w->now.held_gpus[l->vc] += sign > 0 ? gpus : -gpus;
    w->now.held_all += sign > 0 ? gpus : -gpus;
    for (size_t i = 0; i < t->n_allocs; i++) {
        const struct books_alloc *a = &c->books->allocs[t->alloc + i];
        if (a->node >= 0 && a->node < SCENE_NODES)
            w->now.node_gpus[a->node] += (uint64_t)(sign > 0 ? a->gpu_count : -a->gpu_count);
    }
}

static void change(struct walk *w, const struct delta *d)
{
    const struct stretch *t = &w->c->stretches[d->stretch];
    const struct life *l = &w->c->lives[t->rank];
    if (d->sign == 0)
        return;
    if (t->kind != KIND_QUEUED) {
        held_change(w, t, d->sign);
        return;
    }
    w->now.queued_jobs[l->vc] += (uint32_t)d->sign;
    w->now.queued_gpus[l->vc] += d->sign > 0 ? l->fact->gpus : -(uint64_t)l->fact->gpus;
}

/* What a queue may use is the larger of its quota and what it holds; several over the same nodes have no more than these. */
static void capacity_set(struct walk *w, int64_t at_ns)
{
    const struct scene *s = w->c->scene;
    uint64_t shared = 0;
    uint32_t first, end;
    w->now.capacity_all = 0;
    facts_vc_nodes(s, SCENE_VCS, &first, &end);
    for (uint32_t v = 0; v < facts_n_queues(s); v++) {
        uint64_t may = facts_capacity(s, v, at_ns);
        w->now.capacity_gpus[v] = may > w->now.held_gpus[v] ? may : w->now.held_gpus[v];
        *(s->n_vcs > 0 && s->vcs[v].is_quota ? &shared : &w->now.capacity_all) += w->now.capacity_gpus[v];
    }
    uint64_t all = facts_gpus(s, first, end);
    w->now.capacity_all += shared < all ? shared : all;
}

static size_t deltas_make(const struct check *c, struct delta *d)
{
    const struct scene *s = c->scene;
    size_t n = 0;
    for (size_t i = 0; i < c->n_stretches; i++) {
        const struct stretch *t = &c->stretches[i];
        const struct life *l = &c->lives[t->rank];
        int64_t begin = t->begin_ns;
        if (t->kind == KIND_QUEUED) { /* who waits for others is in no queue; who is to be rejected never was */
            begin = l->enters_ns > begin ? l->enters_ns : begin;
            if (begin >= t->end_ns)
                continue;
        }
        /* what lasts to the end of the run still stands there when it is stopped */
        bool is_last = l->row->status == WAS_UNFINISHED && t->end_ns >= c->end_ns;
        d[n++] = (struct delta){begin, (uint32_t)i, 1};
        if (!is_last)
            d[n++] = (struct delta){t->end_ns, (uint32_t)i, -1};
    }
    for (uint32_t v = 0; v < s->n_vcs; v++)
        for (uint32_t i = 0; i < s->vcs[v].n_changes; i++)
            d[n++] = (struct delta){s->vcs[v].changes[i].at_ns, 0, 0};
    qsort(d, n, sizeof *d, delta_compare);
    return n;
}

void levels_walk(struct check *c, int64_t from_ns, int64_t to_ns,
                 void (*each)(void *self, int64_t begin_ns, int64_t end_ns, const struct levels *l), void *self)
{
    struct walk w = {.c = c};
    for (size_t i = 0; i < c->n_stretches; i++)
        if (c->stretches[i].group >= (int64_t)w.n_groups && c->stretches[i].group < (1 << 24))
            w.n_groups = (size_t)c->stretches[i].group + 1;
    w.members = calloc(w.n_groups + 1, sizeof *w.members);
    struct delta *d = calloc(2 * c->n_stretches + SCENE_VCS * SCENE_CHANGES + 1, sizeof *d);
    size_t n = deltas_make(c, d), i = 0;
    for (int64_t at = from_ns; at < to_ns;) {
        for (; i < n && d[i].at_ns <= at; i++)
            change(&w, &d[i]);
        capacity_set(&w, at);
        int64_t next = i < n && d[i].at_ns < to_ns ? d[i].at_ns : to_ns;
        each(self, at, next, &w.now);
        at = next;
    }
    free(w.members);
    free(d);
}

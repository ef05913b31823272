/* The segments of each job: they follow each other from its submission to its end, and add up to its row. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_held(const struct stretch *t)
{
    return t->kind != KIND_QUEUED;
}

static bool stretches_fill(struct check *c)
{
    const struct books *b = c->books;
    c->stretches = calloc(b->n_segments + 1, sizeof *c->stretches);
    c->n_stretches = b->n_segments;
    size_t *place = calloc((size_t)c->n + 2, sizeof *place), *row_at = calloc(b->n_segments + 1, sizeof *row_at);
    bool good = true;
    for (size_t i = 0; i < b->n_segments && good; i++) {
        const struct books_segment *g = &b->segments[i];
        good = g->job >= 0 && g->job < c->n && strcmp(g->run, b->run.id) == 0;
        if (good)
            place[g->job + 1]++;
    }
    for (uint32_t r = 0; r < c->n && good; r++) {
        c->lives[r].first = place[r];
        c->lives[r].n = place[r + 1];
        place[r + 1] += place[r];
    }
    for (size_t i = 0; i < b->n_segments && good; i++) {
        const struct books_segment *g = &b->segments[i];
        row_at[i] = place[g->job]++;
        c->stretches[row_at[i]] = (struct stretch){.rank = (uint32_t)g->job,
                                                   .kind = (uint32_t)g->kind,
                                                   .begin_ns = check_ns(g->begin),
                                                   .end_ns = check_ns(g->end),
                                                   .group = g->group,
                                                   .rate = g->rate};
    }
    int64_t last = -1;
    for (size_t i = 0; i < b->n_allocs && good; i++) {
        int64_t segment = b->allocs[i].segment;
        good = segment >= last && segment < (int64_t)b->n_segments;
        if (!good)
            break;
        struct stretch *t = &c->stretches[row_at[segment]];
        t->alloc = segment != last ? i : t->alloc;
        t->n_allocs++;
        last = segment;
    }
    if (!good)
        check_fault(c, "segments.rows", "a row is of another run or of no job, or /allocs does not follow /segments");
    free(place);
    free(row_at);
    return good;
}

static bool same_gpus(const struct check *c, const struct stretch *a, const struct stretch *b)
{
    if (a->n_allocs != b->n_allocs)
        return false;
    for (size_t i = 0; i < a->n_allocs; i++) {
        const struct books_alloc *x = &c->books->allocs[a->alloc + i];
        bool is_there = false;
        for (size_t k = 0; k < b->n_allocs; k++) {
            const struct books_alloc *y = &c->books->allocs[b->alloc + k];
            is_there |= x->node == y->node && x->gpu_first == y->gpu_first && x->gpu_count == y->gpu_count;
        }
        if (!is_there)
            return false;
    }
    return true;
}

struct sums {
    int64_t overhead_ns, held_ns, queued_ns;
    double work_ns;
    uint32_t breaks, again; /* stays that ended before the job did; those after which it held GPUs again */
    int64_t stay_overhead_ns, stay_ns;
    bool in_stay, has_stayed, has_worked;
};

/* The overhead of a stay is that of its start, as far as it lasted. */
static void stay_close(struct check *c, const struct life *l, struct sums *u)
{
    if (!u->in_stay)
        return;
    const struct scene *s = c->scene;
    int64_t want = check_overhead_ns(s, u->has_stayed ? &s->restart : &s->start, l->fact);
    want = want < u->stay_ns ? want : u->stay_ns;
    if (llabs(want - u->stay_overhead_ns) > 4 * c->slack_ns)
        check_fault(c, "segments.overhead", "%s: overhead of %.9f s in a stay of %.9f s, not %.9f", l->fact->id,
                    (double)u->stay_overhead_ns * 1e-9, (double)u->stay_ns * 1e-9, (double)want * 1e-9);
    u->in_stay = u->has_worked = false;
    u->has_stayed = true;
    u->stay_ns = u->stay_overhead_ns = 0;
}

static void stretch_take(struct check *c, const struct life *l, const struct stretch *t, const struct stretch *last,
                         struct sums *u)
{
    const char *id = l->fact->id;
    int64_t length = t->end_ns - t->begin_ns;
    bool is_alone = t->group < 0;
    if (length <= 0 && c->slack_ns == 0)
        check_fault(c, "segments.length", "%s: from %.9f to %.9f", id, (double)t->begin_ns * 1e-9,
                    (double)t->end_ns * 1e-9);
    if (last != NULL ? !check_same_ns(c, last->end_ns, t->begin_ns) : !check_same_ns(c, t->begin_ns, l->submit_ns))
        check_fault(c, "segments.gap", "%s: a segment begins at %.9f, behind %.9f", id, (double)t->begin_ns * 1e-9,
                    (double)(last != NULL ? last->end_ns : l->submit_ns) * 1e-9);
    if (t->kind > KIND_QUEUED || is_held(t) != (t->n_allocs > 0))
        check_fault(c, "segments.kind", "%s: kind %u with %zu rows of /allocs", id, t->kind, t->n_allocs);
    if (t->kind != KIND_RUN ? t->rate != 0 : is_alone ? t->rate != 1 : !(t->rate > 0 && t->rate <= 1))
        check_fault(c, "segments.rate", "%s: kind %u, group %" PRId64 ", rate %g", id, t->kind, t->group, t->rate);
    if (t->group < -1 || (!is_alone && (t->kind == KIND_QUEUED || c->scene->group_jobs <= 1)))
        check_fault(c, "segments.group", "%s: kind %u in group %" PRId64, id, t->kind, t->group);
    if (!is_held(t)) {
        u->breaks += u->in_stay;
        stay_close(c, l, u);
        u->queued_ns += length;
        return;
    }
    bool is_anew = u->in_stay && (!same_gpus(c, last, t) || (t->kind == KIND_OVERHEAD && u->has_worked));
    if (is_anew) {
        u->breaks++;
        stay_close(c, l, u);
    }
    u->again += last != NULL && !is_held(last) && u->has_stayed;
    u->in_stay = true;
    u->stay_ns += length;
    u->held_ns += length;
    if (t->kind == KIND_OVERHEAD) {
        u->stay_overhead_ns += length;
        u->overhead_ns += length;
    } else {
        u->has_worked = true;
        u->work_ns += (double)length * t->rate;
    }
}

/* Can stays begin and end at one instant on the same GPUs, so that the segments do not tell? Where a quota takes GPUs back and the policy gives
 * them again at the same instant. */
static bool may_be_unseen(const struct check *c, const struct life *l)
{
    const struct scene *s = c->scene;
    return l->vc < s->n_vcs && s->vcs[l->vc].n_changes > 0 && s->vcs[l->vc].is_preempt;
}

static void life_check(struct check *c, uint32_t r)
{
    struct life *l = &c->lives[r];
    const struct books_job *j = l->row;
    struct sums u = {0};
    int64_t start_ns = -1, slack = c->slack_ns * (int64_t)(2 * l->n + 4);
    for (size_t i = 0; i < l->n; i++) {
        const struct stretch *t = &c->stretches[l->first + i], *last = i > 0 ? t - 1 : NULL;
        stretch_take(c, l, t, last, &u);
        if (is_held(t) && start_ns < 0)
            start_ns = t->begin_ns;
    }
    bool ends_held = u.in_stay, ran = j->status == WAS_FINISHED || j->status == WAS_KILLED;
    stay_close(c, l, &u);
    const char *id = l->fact->id;
    int64_t until = isnan(j->end) ? c->end_ns : l->end_ns;
    int64_t covered = l->n > 0 ? c->stretches[l->first + l->n - 1].end_ns : l->submit_ns;
    if (l->is_submitted && !check_same_ns(c, covered, until))
        check_fault(c, "segments.cover", "%s (%s): the last segment ends at %.9f, not %.9f", id, j->reason,
                    (double)covered * 1e-9, (double)until * 1e-9);
    if (start_ns >= 0 && !check_same_ns(c, start_ns, l->start_ns))
        check_fault(c, "segments.start", "%s: start %.9f, first held at %.9f", id, j->start, (double)start_ns * 1e-9);
    bool is_cut_off = !ran && l->start_ns == c->end_ns; /* started at the instant at which the run was stopped */
    if (start_ns < 0 && l->start_ns >= 0 && !is_cut_off &&
        !(ran && l->fact->duration_ns <= 1 && l->start_ns == l->end_ns) && !(ran && check_ns(j->run_time) == 0))
        check_fault(c, "segments.start", "%s: start %.9f, but it never held GPUs", id, j->start);
    if (llabs(check_ns(j->run_time) - u.held_ns) > slack || llabs(check_ns(j->overhead) - u.overhead_ns) > slack ||
        llabs(check_ns(j->queued) - u.queued_ns) > slack)
        check_fault(c, "segments.sums",
                    "%s: run_time %.9f, overhead %.9f, queued %.9f; the segments add up to %.9f, %.9f, %.9f", id,
                    j->run_time, j->overhead, j->queued, (double)u.held_ns * 1e-9, (double)u.overhead_ns * 1e-9,
                    (double)u.queued_ns * 1e-9);
    double want = (double)l->fact->duration_ns;
    int64_t estimate = check_estimate_ns(c->scene, l->fact);
    if (j->status == WAS_KILLED)
        want = estimate != SCENE_NONE ? (double)estimate : u.work_ns;
    double loose = 2.0 * (double)l->n + 1e-9 * want + (double)slack;
    if (ran ? fabs(u.work_ns - want) > loose : u.work_ns > want + loose)
        check_fault(c, "segments.work", "%s: %.9f s of work done, not %.9f", id, u.work_ns * 1e-9, want * 1e-9);
    uint32_t left = (uint32_t)(j->preemptions + j->moves);
    bool is_cut = !ran && ends_held && j->preemptions > j->restarts; /* at the last instant, so no segment tells */
    if (may_be_unseen(c, l) ? u.breaks > left : u.breaks + is_cut != left)
        check_fault(c, "segments.breaks", "%s: %u times it lost its GPUs or moved, in its row %" PRId64 " + %" PRId64,
                    id, u.breaks, j->preemptions, j->moves);
    if (u.again > (uint32_t)j->restarts)
        check_fault(c, "segments.again", "%s: resumed %u times, in its row %" PRId64, id, u.again, j->restarts);
    if (!ran && u.has_stayed && !ends_held && j->preemptions == j->restarts)
        check_fault(c, "segments.again", "%s: %" PRId64 " preemptions, %" PRId64 " restarts, at the end it waits", id,
                    j->preemptions, j->restarts);
}

bool check_stretches(struct check *c)
{
    if (!stretches_fill(c))
        return false;
    for (uint32_t r = 0; r < c->n; r++)
        life_check(c, r);
    return true;
}

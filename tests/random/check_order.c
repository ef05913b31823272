/* What two policies promise, where it can be told from starts and ends alone: one queue, GPUs that are all alike, exact estimates, no overhead.
 * fifo: nobody starts before one that came earlier. easy: the head starts no later than it would if only those that run now were there. */
#include "check.h"

#include <string.h>

static bool is_zero(const struct scene_overhead *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (o->ns[i] != 0 || (o->form == SCENE_TABLE && o->own_ns[i] != 0))
            return false;
    return true;
}

static bool is_plain(const struct check *c)
{
    const struct scene *s = c->scene;
    bool is_pool = strcmp(s->placement, "count") == 0 || strcmp(s->placement, "spread") == 0;
    return is_pool && s->n_vcs == 0 && !s->has_types && !s->has_cpus && !s->has_depends && s->group_jobs <= 1 &&
           s->estimate == SCENE_EXACT && is_zero(&s->start) && s->stop_ns == SCENE_NEVER && s->stop_queue == UINT32_MAX;
}

/* The first instant from `now_ns` on at which job `r` would find its GPUs free if nobody started any more. */
static int64_t shadow_ns(const struct check *c, uint32_t r, int64_t now_ns)
{
    uint64_t all = facts_gpus(c->scene, 0, facts_nodes(c->scene));
    int64_t at = now_ns;
    for (;;) {
        uint64_t held = 0;
        int64_t next = INT64_MAX;
        for (uint32_t k = 0; k < c->n; k++) {
            const struct life *l = &c->lives[k];
            bool runs =
                l->start_ns >= 0 && (l->start_ns < now_ns || (l->start_ns == now_ns && k < r)) && l->end_ns > at;
            held += runs ? l->fact->gpus : 0;
            next = runs && l->end_ns < next ? l->end_ns : next;
        }
        if (held + c->lives[r].fact->gpus <= all || next == INT64_MAX)
            return at;
        at = next;
    }
}

void check_order(struct check *c)
{
    if (!is_plain(c) || (!c->scene->fills_easy && !c->scene->is_fifo))
        return;
    int64_t last_ns = 0; /* all before it have started */
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        if (l->row->status == WAS_REJECTED)
            continue;
        if (c->scene->is_fifo && l->start_ns < last_ns)
            check_fault(c, "order.fifo", "%s starts at %.9f s, before one that came earlier", l->fact->id,
                        l->row->start);
        int64_t head_ns = l->submit_ns > last_ns ? l->submit_ns : last_ns, shadow = shadow_ns(c, r, head_ns);
        if (l->start_ns > shadow + c->slack_ns)
            check_fault(c, "order.head", "%s is the head at %.9f s and could start at %.9f s, but starts at %.9f s",
                        l->fact->id, (double)head_ns * 1e-9, (double)shadow * 1e-9, l->row->start);
        last_ns = l->start_ns > last_ns ? l->start_ns : last_ns;
    }
}

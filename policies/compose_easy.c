/* compose_easy.c - EASY backfilling (Lifka, JSSPP'95; Mu'alem and Feitelson, TPDS 12(6), 2001) over nodes, not just counts.
 *
 * The first job that cannot start (the head) gets a reservation: by the predicted ends of the running jobs, the first instant (the
 * shadow) at which the rule of placement has a place for it, with all that the placement looks at (prospect.h): GPUs of its type, CPU and
 * host memory of each node, and the quota; and the nodes that it will then take. Another job may start now if it is predicted to end by the
 * shadow, or if it leaves the reservation whole: of each of those nodes, and of the GPUs in all, it takes at most what the head will leave over. Where
 * any GPUs will do no nodes are named: it may start where the module puts it if at the shadow the head still has a place beside it; if not, nodes
 * for the head are chosen, the lowest numbers first, and it may start beside those.
 *
 *     GPUs ^            shadow
 *          |  running   |#########        a short job fits before the shadow anywhere;
 *          | ...........|# head  #        a long one only beside the head: on other nodes, or within what
 *          |   short    |#########        its nodes have over
 *          +------------+---------> t
 *
 * So nobody who is passed over delays the head: it starts at the shadow or before, if jobs end as predicted and no other queue takes its nodes. What a
 * module refuses beyond its rule (yarn: jobs of several racks) the reservation does not know: the head may find no place at the shadow, and
 * is given another one then. So it is where other queues use the same nodes.
 *
 * All jobs that end at the shadow count. A job past its predicted end is predicted anew: to go on until its time has doubled (`overrun: double`,
 * sched_expected_ns), or to end in the next nanosecond (`now`).
 */
#include "policies/compose.h"
#include "policies/instant.h"
#include "policies/prospect.h"

#include <string.h>

/* Running jobs beyond their predicted ends get new ones. */
static void extend_running(struct compose *c, struct sched *s)
{
    int64_t now = sched_now(s);
    while (c->by_end.first != JOBSET_NONE && jobset_node(&c->by_end, c->by_end.first)->key <= now) {
        uint32_t job = jobset_node(&c->by_end, c->by_end.first)->job;
        int64_t left = 1;
        sched_expected_run_ns(s, job, &left);
        compose_set_end(c, s, job, instant_after(now, left));
    }
}

/* When the head will fit: all that ends by then is in c->prospect. SCHED_NEVER: not by any of the running jobs' ends. */
static int64_t find_shadow(struct compose *c, struct sched *s, uint32_t head)
{
    int64_t now = sched_now(s);
    if (c->params.doubles)
        extend_running(c, s);
    prospect_begin(c->prospect, s, head);
    for (uint32_t i = c->by_end.first; i != JOBSET_NONE;) {
        int64_t end = jobset_node(&c->by_end, i)->key;
        end = end > now ? end : now + 1;
        for (; i != JOBSET_NONE && jobset_node(&c->by_end, i)->key <= end; i = jobset_node(&c->by_end, i)->next)
            prospect_add(c->prospect, s, jobset_node(&c->by_end, i)->job);
        if (prospect_fits(c->prospect, s))
            return end;
    }
    return SCHED_NEVER;
}

static int64_t excess(int64_t free, int64_t open)
{
    return free != SCHED_UNLIMITED && free > open ? free - (open > 0 ? open : 0) : 0;
}

/* Hide from the next start what the head needs at the shadow. */
static void hide_reserved(const struct compose *c, struct sched *s)
{
    for (uint32_t i = 0; i < c->prospect->n_places; i++) {
        const struct prospect_place *p = &c->prospect->places[i];
        sched_reserve_with(s, p->node, (uint32_t)excess(sched_node_free(s, p->node), p->over[NEED_GPUS]),
                           excess(sched_node_free_cpu_milli(s, p->node), p->over[NEED_CPU]),
                           excess(sched_node_free_memory_kib(s, p->node), p->over[NEED_MEMORY]));
    }
}

/* `job` has been started and will be there at the shadow. */
static void spend_over(struct compose *c, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), before = 0, of = sched_gpus(s, job);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < c->prospect->n_places; k++) {
            struct prospect_place *p = &c->prospect->places[k];
            if (p->node != places[i].node)
                continue;
            const uint64_t part[NEED_KINDS] = {places[i].gpus,
                                               sched_part(sched_cpu_milli(s, job), before, places[i].gpus, of),
                                               sched_part(sched_memory_kib(s, job), before, places[i].gpus, of)};
            for (int r = 0; r < NEED_KINDS; r++)
                p->over[r] -= p->over[r] == SCHED_UNLIMITED ? 0 : (int64_t)part[r];
        }
        before += places[i].gpus;
    }
}

static bool start_beside(struct compose *c, struct sched *s, uint32_t job, uint32_t head)
{
    hide_reserved(c, s);
    sched_because(s, "backfilled: leaves the reservation of job %u whole", head);
    bool is_in = sched_start(s, job) == SCHED_OK;
    sched_release(s);
    if (!is_in || sched_is_packed(s) || prospect_leaves(c->prospect, s, job))
        return is_in;
    sched_preempt(s, job); /* as if it had never been */
    return false;
}

/* Start a job that will be there at the shadow, if it leaves the head its place. */
static bool start_long(struct compose *c, struct sched *s, struct compose_class *of, uint32_t job, uint32_t head)
{
    if (!sched_is_packed(s))
        c->prospect->n_places = 0;
    if (!start_beside(c, s, job, head) &&
        (c->prospect->n_places == 0 || sched_is_packed(s) || !start_beside(c, s, job, head)))
        return false;
    compose_started(c, s, of, job);
    spend_over(c, s, job);
    return true;
}

/* The first job in order, over all demands, that may still find a place; its class in *of. */
static uint32_t next_candidate(struct compose *c, int64_t now, int64_t window, struct compose_class **of)
{
    uint32_t best = JOBSET_NONE, best_job = 0;
    int64_t best_value = 0;
    *of = NULL;
    for (uint32_t i = 0; i < c->n_classes; i++) {
        struct compose_class *k = &c->classes[i];
        if (k->is_closed)
            continue;
        uint32_t node = k->is_long_closed ? jobset_first_within(&k->queued, window) : k->queued.first;
        if (node == JOBSET_NONE) {
            k->is_closed = true;
            continue;
        }
        int64_t value = compose_head_value(k, node, now);
        uint32_t job = jobset_node(&k->queued, node)->job;
        if (*of == NULL || value < best_value || (value == best_value && job < best_job)) {
            *of = k;
            best = node;
            best_value = value;
            best_job = job;
        }
    }
    return best;
}

void compose_backfill(struct compose *c, struct sched *s, struct compose_class *k)
{
    int64_t now = sched_now(s);
    const struct jobset_node head = *jobset_node(&k->queued, k->queued.first);
    int64_t shadow = find_shadow(c, s, head.job);
    int64_t window = shadow == SCHED_NEVER ? INT64_MAX : shadow - now;
    uint64_t over = prospect_gpus(c->prospect, s);
    over = over > k->gpus ? over - k->gpus : 0;

    jobset_erase(&k->queued, head.key, head.job); /* the head is out of the race */
    for (uint32_t i = 0; i < c->n_classes; i++)
        c->classes[i].is_closed = c->classes[i].is_long_closed = false;
    struct compose_class *of;
    for (uint32_t node; sched_free_gpus(s) > 0 && (node = next_candidate(c, now, window, &of)) != JOBSET_NONE;) {
        const struct jobset_node n = *jobset_node(&of->queued, node);
        if (n.length <= window) {
            sched_because(s, "backfilled: ends by %.3f s", (double)shadow * 1e-9);
            if (compose_start(c, s, of, n.job) != SCHED_OK)
                of->is_closed = true;
            else if (shadow != SCHED_NEVER)
                prospect_ends(c->prospect, s, n.job);
        } else if (of->gpus > over || !start_long(c, s, of, n.job, head.job)) {
            of->is_long_closed = true;
        } else {
            over -= of->gpus;
        }
    }
    jobset_insert(&k->queued, head.key, head.job, head.length);
}

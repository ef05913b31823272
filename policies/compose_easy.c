/* compose_easy.c - EASY backfilling (Lifka, JSSPP'95; Mu'alem and Feitelson, TPDS 12(6), 2001) over nodes, not just counts.
 *
 * The first job that cannot start gets a reservation: by the predicted ends of the running jobs, the first instant (the
 * shadow) at which it fits, and the nodes it will then take. Another job may start now if it is predicted to end by the
 * shadow, or if it leaves the reservation whole: it takes at most the GPUs that will be over (extra), in all and on each reserved node.
 *
 *     GPUs ^            shadow
 *          |  running   |#########        a short job fits before the shadow anywhere;
 *          | ...........|# head  #        a long one only beside the head: on other nodes, or within what
 *          |   short    |#########        its nodes have over
 *          +------------+---------> t
 *
 * The reservation goes by the rule of placement (room.h); where a module refuses more than that (yarn: jobs of several racks) the head may find
 * no place at the shadow, and is given another one then.
 *
 * All jobs that end at the shadow count. A job past its predicted end is taken to end in the next nanosecond.
 */
#include "policies/compose.h"
#include "policies/room.h"

#include <string.h>

/* A node of the reservation: of its GPUs free at the shadow, `extra` are not for the head. */
struct held_node {
    uint32_t node, extra;
};

/* When the head will fit: all that ends by then is in c->room. SCHED_NEVER: not by any of the running jobs' ends. */
static int64_t find_shadow(struct compose *c, struct sched *s, uint32_t gpus)
{
    int64_t now = sched_now(s);
    room_begin(c->room, s, gpus);
    for (uint32_t i = c->by_end.first; i != JOBSET_NONE;) {
        int64_t end = jobset_node(&c->by_end, i)->key;
        end = end > now ? end : now + 1;
        for (; i != JOBSET_NONE && jobset_node(&c->by_end, i)->key <= end; i = jobset_node(&c->by_end, i)->next)
            room_add(c->room, s, jobset_node(&c->by_end, i)->job);
        if (room_fits(c->room, s))
            return end;
    }
    return SCHED_NEVER;
}

static void hold(struct compose *c, struct sched *s, uint32_t node, uint32_t gpus)
{
    if (c->n_held == c->held_room) {
        uint32_t room = c->held_room * 2 + 16;
        struct held_node *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return; /* the run ends with "out of memory" */
        if (c->n_held > 0)
            memcpy(grown, c->held, c->n_held * sizeof *grown);
        c->held = grown;
        c->held_room = room;
    }
    c->held[c->n_held++] = (struct held_node){node, sched_node_free(s, node) + room_freed(c->room, node) - gpus};
}

/* The node where `gpus` leave the least over at the shadow, lowest number first; `held` ones are taken. */
static void hold_best_fit(struct compose *c, struct sched *s, uint32_t gpus, bool only_freed)
{
    uint32_t best = UINT32_MAX, best_over = UINT32_MAX, n = only_freed ? c->room->n_touched : sched_n_nodes(s);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = only_freed ? c->room->touched[i] : sched_node(s, i);
        uint32_t free = sched_node_free(s, node) + room_freed(c->room, node);
        bool is_held = false;
        for (uint32_t h = 0; h < c->n_held; h++)
            is_held |= c->held[h].node == node;
        if (is_held || free < gpus || free - gpus > best_over || (free - gpus == best_over && node > best))
            continue;
        best = node;
        best_over = free - gpus;
    }
    if (best != UINT32_MAX)
        hold(c, s, best, gpus);
}

/* Choose the head's nodes among those free at the shadow. Only a head that is larger than a node, or
 * waits for its quota, looks at all nodes. */
static void reserve_nodes(struct compose *c, struct sched *s, uint32_t gpus)
{
    c->n_held = 0;
    if (!sched_is_packed(s))
        return;
    if (gpus <= c->room->largest) {
        hold_best_fit(c, s, gpus, !c->room->had_node);
        return;
    }
    uint32_t missing = gpus, n = sched_n_nodes(s);
    for (uint32_t k = 0; k < c->room->n_sizes && c->room->sizes[k] > 0; k++) { /* largest first */
        uint32_t size = c->room->sizes[k];
        for (uint32_t i = 0; i < n && missing >= size; i++) {
            uint32_t node = sched_node(s, i);
            if (sched_node_gpus(s, node) != size || sched_node_free(s, node) + room_freed(c->room, node) != size)
                continue;
            hold(c, s, node, size);
            missing -= size;
        }
    }
    if (missing > 0)
        hold_best_fit(c, s, missing, false);
}

/* Hide from the next start what the head needs at the shadow. */
static void hide_reserved(const struct compose *c, struct sched *s)
{
    for (uint32_t i = 0; i < c->n_held; i++) {
        uint32_t free = sched_node_free(s, c->held[i].node), open = c->held[i].extra;
        if (free > open)
            sched_reserve(s, c->held[i].node, free - open);
    }
}

static void spend_extra(struct compose *c, struct sched *s, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t h = 0; h < c->n_held; h++)
            if (c->held[h].node == places[i].node)
                c->held[h].extra -= places[i].gpus;
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
    int64_t shadow = find_shadow(c, s, k->gpus);
    int64_t window = shadow == SCHED_NEVER ? INT64_MAX : shadow - now;
    uint64_t extra = room_gpus(c->room, s);
    extra = extra > k->gpus ? extra - k->gpus : 0;
    c->n_held = 0;
    if (shadow != SCHED_NEVER)
        reserve_nodes(c, s, k->gpus);

    jobset_erase(&k->queued, head.key, head.job); /* the head is out of the race */
    for (uint32_t i = 0; i < c->n_classes; i++)
        c->classes[i].is_closed = c->classes[i].is_long_closed = false;
    struct compose_class *of;
    for (uint32_t node; sched_free_gpus(s) > 0 && (node = next_candidate(c, now, window, &of)) != JOBSET_NONE;) {
        const struct jobset_node n = *jobset_node(&of->queued, node);
        if (n.length <= window) {
            sched_because(s, "backfilled: ends by %.3f s", (double)shadow * 1e-9);
            of->is_closed = compose_start(c, s, of, n.job) != SCHED_OK;
            continue;
        }
        if (of->gpus > extra) {
            of->is_long_closed = true;
            continue;
        }
        hide_reserved(c, s);
        sched_because(s, "backfilled: leaves the reservation of job %u whole", head.job);
        if (compose_start(c, s, of, n.job) == SCHED_OK) {
            extra -= of->gpus;
            spend_extra(c, s, n.job);
        } else {
            of->is_long_closed = true;
        }
        sched_release(s);
    }
    jobset_insert(&k->queued, head.key, head.job, head.length);
}

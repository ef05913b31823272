#include "policies/victims.h"

#include <string.h>

bool victims_init(struct victims *v, struct sched *s, bool may_be_new)
{
    *v = (struct victims){.room = room_create(s), .may_be_new = may_be_new};
    return v->room != NULL;
}

void victims_begin(struct victims *v, struct sched *s, uint32_t claimant, const char *why)
{
    v->n = 0;
    v->claimant = claimant;
    v->why = why;
    v->is_asking = true;
    room_begin(v->room, s, sched_gpus(s, claimant));
}

static bool push(struct victims *v, struct sched *s, uint32_t job)
{
    if (v->n == v->list_room) {
        uint32_t room = v->list_room * 2 + 64;
        struct victim *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (v->n > 0)
            memcpy(grown, v->list, v->n * sizeof *grown);
        v->list = grown;
        v->list_room = room;
    }
    v->list[v->n++] = (struct victim){job, false};
    return true;
}

static void take(struct victims *v, struct sched *s, struct victim *of)
{
    sched_because(s, "%s %u", v->why, v->claimant);
    of->is_taken = sched_preempt(s, of->job) == SCHED_OK;
}

bool victims_take(struct victims *v, struct sched *s, uint32_t n)
{
    bool has_any = false;
    for (uint32_t i = 0; i < n; i++)
        if (!v->list[i].is_taken) {
            take(v, s, &v->list[i]);
            has_any = true;
        }
    return has_any;
}

/* Who got its GPUs at this instant may go back to those that it had before, which others hold now. */
static bool has_newcomer(const struct victims *v, struct sched *s)
{
    int64_t now = sched_now(s);
    for (uint32_t i = 0; i < v->n; i++)
        if (sched_since_ns(s, v->list[i].job) == now)
            return true;
    return false;
}

bool victims_add(struct victims *v, struct sched *s, uint32_t job, bool *is_short)
{
    *is_short = !push(v, s, job);
    if (*is_short)
        return false;
    if (!v->is_asking) /* the room was wrong, for all are taken by now: GPU types, CPU or memory count */
        return victims_take(v, s, v->n);
    room_add(v->room, s, job);
    if (!room_fits(v->room, s))
        return false;
    v->is_asking = false;
    if (!room_is_settled(v->room) || (v->may_be_new && has_newcomer(v, s)))
        return victims_take(v, s, v->n);
    for (uint32_t i = 0; i < v->n; i++) /* the answers change with the first that is preempted */
        v->list[i].is_taken = room_needs(v->room, s, v->list[i].job);
    for (uint32_t i = 0; i < v->n; i++)
        if (v->list[i].is_taken)
            take(v, s, &v->list[i]);
    return true;
}

#include "policies/admission.h"

#include "policies/deadline_plan.h"
#include "policies/instant.h"

#include <string.h>

/* A job that the plans are about. What is predicted of it changes only with its start or stop, so it is asked for then. */
struct entry {
    int64_t deadline; /* SCHED_NEVER: none */
    int64_t time;     /* on: its predicted end; else for how long it will need its GPUs */
    uint32_t job, gpus;
    bool is_on;
};

struct admission {
    struct entry
        *entries; /* accepted with a deadline; preempt never: also who has run without one; by deadline, then number */
    uint32_t n, room;
    bool can_preempt;
    uint32_t *arrived, n_arrived, arrived_room, next;
    struct planned *plan;
    void *memory;
    uint32_t plan_room;
};

struct admission *admission_create(struct sched *s, bool can_preempt)
{
    struct admission *a = sched_alloc(s, 1, sizeof *a);
    if (a != NULL)
        a->can_preempt = can_preempt;
    return a;
}

void admission_push(struct admission *a, struct sched *s, uint32_t job)
{
    if (a->n_arrived == a->arrived_room) {
        uint32_t room = a->arrived_room * 2 + 16;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return; /* the run ends with "out of memory" */
        for (uint32_t i = 0; i < a->n_arrived; i++)
            grown[i] = a->arrived[i];
        a->arrived = grown;
        a->arrived_room = room;
    }
    a->arrived[a->n_arrived++] = job;
}

/* ---- entries --------------------------------------------------------------------------------------- */

/* What the plans take for the deadline, SCHED_NEVER: none. A job of no length is predicted to need a nanosecond, so it has one more. */
static int64_t deadline_of(struct sched *s, uint32_t job)
{
    int64_t deadline = SCHED_NEVER, estimate = 1;
    if (sched_deadline_ns(s, job, &deadline) != SCHED_OK)
        return SCHED_NEVER;
    sched_estimate_ns(s, job, &estimate);
    return estimate == 0 ? instant_after(deadline, 1) : deadline;
}

/* Where the job is or belongs. */
static uint32_t position(const struct admission *a, int64_t deadline, uint32_t job)
{
    uint32_t low = 0, high = a->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct entry *e = &a->entries[middle];
        if (e->deadline < deadline || (e->deadline == deadline && e->job < job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct admission *a, uint32_t at, uint32_t job)
{
    return at < a->n && a->entries[at].job == job;
}

/* Room for one more; false when memory is out. */
static bool entries_grow(struct admission *a, struct sched *s)
{
    if (a->n < a->room)
        return true;
    uint32_t room = a->room * 2 + 64;
    struct entry *grown = sched_alloc(s, room, sizeof *grown);
    if (grown == NULL)
        return false;
    if (a->n > 0)
        memcpy(grown, a->entries, a->n * sizeof *grown);
    a->entries = grown;
    a->room = room;
    return true;
}

static void entry_insert(struct admission *a, uint32_t at, struct entry e)
{
    memmove(&a->entries[at + 1], &a->entries[at], (a->n - at) * sizeof e);
    a->entries[at] = e;
    a->n++;
}

static void entry_erase(struct admission *a, uint32_t at)
{
    a->n--;
    memmove(&a->entries[at], &a->entries[at + 1], (a->n - at) * sizeof *a->entries);
}

static struct entry entry_of(struct sched *s, uint32_t job, int64_t deadline)
{
    struct entry e = {.deadline = deadline, .time = 1, .job = job, .gpus = sched_gpus(s, job)};
    e.is_on = sched_is_running(s, job);
    sched_run_ns(s, job, &e.time);
    e.time = e.time > 0 ? e.time : 1;
    if (e.is_on)
        e.time = instant_after(sched_now(s), e.time);
    return e;
}

void admission_update(struct admission *a, struct sched *s, uint32_t job)
{
    int64_t deadline = deadline_of(s, job);
    if (a->can_preempt && deadline == SCHED_NEVER)
        return;
    uint32_t at = position(a, deadline, job);
    if (is_at(a, at, job))
        a->entries[at] = entry_of(s, job, deadline);
    else if (sched_is_running(s, job) && entries_grow(a, s))
        entry_insert(a, at, entry_of(s, job, deadline));
}

void admission_forget(struct admission *a, struct sched *s, uint32_t job)
{
    uint32_t at = position(a, deadline_of(s, job), job);
    if (is_at(a, at, job))
        entry_erase(a, at);
}

/* ---- the decision ---------------------------------------------------------------------------------- */

static bool plan_grow(struct admission *a, struct sched *s)
{
    if (a->n <= a->plan_room)
        return true;
    uint32_t room = a->n * 2;
    a->plan = sched_alloc(s, room, sizeof *a->plan);
    a->memory = sched_alloc(s, deadline_plan_bytes(room), 1);
    a->plan_room = a->plan != NULL && a->memory != NULL ? room : 0;
    return a->plan_room > 0;
}

/* Can all that there are entries of be met? */
static bool is_met(struct admission *a, struct sched *s)
{
    int64_t now = sched_now(s);
    if (!plan_grow(a, s))
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct entry *e = &a->entries[i];
        int64_t left = e->is_on ? e->time - now : e->time;
        a->plan[i] = (struct planned){.deadline = e->deadline,
                                      .left = left > 0 ? left : 1, /* past its predicted end: any moment */
                                      .gpus = e->gpus,
                                      .is_on = e->is_on};
    }
    return deadline_plan_is_met(a->plan, a->n, sched_capacity_gpus(s), now, a->can_preempt, a->memory);
}

bool admission_pop(struct admission *a, struct sched *s, uint32_t *job, bool *is_accepted)
{
    if (a->next == a->n_arrived) {
        a->next = a->n_arrived = 0;
        return false;
    }
    *job = a->arrived[a->next++];
    int64_t deadline;
    *is_accepted = true;
    if (sched_deadline_ns(s, *job, &deadline) != SCHED_OK)
        return true;
    uint32_t at = position(a, deadline_of(s, *job), *job);
    if (!entries_grow(a, s))
        return true; /* the run ends with "out of memory" */
    entry_insert(a, at, entry_of(s, *job, deadline_of(s, *job)));
    *is_accepted = is_met(a, s);
    if (!*is_accepted) {
        entry_erase(a, at);
        sched_because(s, "its deadline at %.3f s cannot be met", (double)deadline * 1e-9);
    }
    return true;
}

#include "policies/timeline.h"

#include <string.h>

/* Room for `more` steps behind the last. */
static bool make_room(struct timeline *t, struct sched *s, uint32_t more)
{
    uint32_t n = t->n - t->first;
    if (t->n + more <= t->room)
        return true;
    if (t->first >= t->room / 2 && n + more <= t->room) {
        memmove(t->steps, t->steps + t->first, n * sizeof *t->steps);
    } else {
        uint32_t room = t->room * 2 + 16;
        struct timeline_step *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (n > 0)
            memcpy(grown, t->steps + t->first, n * sizeof *grown);
        t->steps = grown;
        t->room = room;
    }
    t->first = 0;
    t->n = n;
    return true;
}

bool timeline_reset(struct timeline *t, struct sched *s, int64_t free)
{
    t->first = t->n = 0;
    if (!make_room(t, s, 1))
        return false;
    t->steps[t->n++] = (struct timeline_step){INT64_MIN, free};
    return true;
}

void timeline_forget(struct timeline *t, int64_t now_ns)
{
    while (t->first + 1 < t->n && t->steps[t->first + 1].at_ns <= now_ns)
        t->first++;
}

/* The last step of [low, n) that begins at `at_ns` or before; the first begins before it. */
static uint32_t step_at(const struct timeline *t, uint32_t low, int64_t at_ns)
{
    uint32_t high = t->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->steps[middle].at_ns <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The step that begins at `at_ns`, made when there is none; there is room for it. */
static uint32_t cut(struct timeline *t, int64_t at_ns)
{
    uint32_t i = step_at(t, t->first, at_ns);
    if (t->steps[i].at_ns == at_ns)
        return i;
    memmove(&t->steps[i + 2], &t->steps[i + 1], (t->n - i - 1) * sizeof *t->steps);
    t->n++;
    t->steps[i + 1] = (struct timeline_step){at_ns, t->steps[i].free};
    return i + 1;
}

/* Join step `i` to the one before it where they have become equal. */
static void join(struct timeline *t, uint32_t i)
{
    if (i <= t->first || i >= t->n || t->steps[i].free != t->steps[i - 1].free)
        return;
    memmove(&t->steps[i], &t->steps[i + 1], (t->n - i - 1) * sizeof *t->steps);
    t->n--;
}

bool timeline_add(struct timeline *t, struct sched *s, int64_t from_ns, int64_t to_ns, int64_t gpus)
{
    if (from_ns >= to_ns)
        return true;
    if (!make_room(t, s, 2))
        return false;
    uint32_t begin = cut(t, from_ns), end = to_ns == SCHED_NEVER ? t->n : cut(t, to_ns);
    for (uint32_t i = begin; i < end; i++)
        t->steps[i].free += gpus;
    join(t, end); /* the later one first: its removal does not move the other */
    join(t, begin);
    return true;
}

int64_t timeline_fit(const struct timeline *t, int64_t gpus, int64_t length_ns, int64_t from_ns, int64_t latest_ns,
                     uint32_t *hint, int64_t *least)
{
    uint32_t i = step_at(t, *hint > t->first ? *hint : t->first, from_ns);
    int64_t start = from_ns;
    *hint = i;
    *least = INT64_MAX;
    for (; i < t->n; i++) {
        const struct timeline_step *step = &t->steps[i];
        int64_t end = i + 1 < t->n ? step[1].at_ns : SCHED_NEVER;
        if (step->free < gpus) {
            start = end;
            if (start > latest_ns || start == SCHED_NEVER)
                return SCHED_NEVER;
            *hint = i + 1;
            *least = INT64_MAX;
            continue;
        }
        *least = step->free < *least ? step->free : *least;
        if (end == SCHED_NEVER || end - start >= length_ns)
            return start;
    }
    return SCHED_NEVER;
}

int64_t timeline_least(const struct timeline *t, int64_t from_ns, int64_t length_ns, int64_t *until)
{
    uint32_t i = step_at(t, t->first, from_ns);
    int64_t end = from_ns < SCHED_NEVER - length_ns ? from_ns + length_ns : SCHED_NEVER, least = INT64_MAX;
    for (; i < t->n && t->steps[i].at_ns < end; i++)
        if (t->steps[i].free <= least) {
            least = t->steps[i].free;
            *until = i + 1 < t->n ? t->steps[i + 1].at_ns : SCHED_NEVER;
        }
    return least;
}

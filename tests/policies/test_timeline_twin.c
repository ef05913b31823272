/* A timeline against the number of free GPUs in each unit of time, over a million random operations. */
#include "tests/dice.h"
#include "inside.h"
#include "policies/timeline.h"

#include <criterion/criterion.h>

enum { UNITS = 96, OPERATIONS = 1000000 };

/* The twin: free[u] in [u, u + 1) x `unit` behind `origin`, the last for ever. */
struct twin {
    int64_t free[UNITS], origin, unit;
    uint32_t now; /* what lies before is forgotten */
};

static int64_t instant(const struct twin *w, uint32_t u)
{
    return w->origin + (int64_t)u * w->unit;
}

/* Not a step is left out: the earliest start is at `from` or where a unit begins. */
static int64_t twin_fit(const struct twin *w, int64_t gpus, uint32_t length, uint32_t from, uint32_t latest,
                        int64_t *least)
{
    for (uint32_t start = from; start <= latest; start++) {
        *least = INT64_MAX;
        for (uint32_t u = start; u < UNITS && u - start < length; u++)
            *least = w->free[u] < *least ? w->free[u] : *least;
        if (*least >= gpus)
            return instant(w, start);
    }
    return SCHED_NEVER;
}

/* Neighbours differ, and each unit is in the step that says its number. */
static void check_steps(const struct timeline *t, const struct twin *w, uint32_t i)
{
    uint32_t k = t->first;
    for (uint32_t u = w->now; u < UNITS; u++) {
        while (k + 1 < t->n && t->steps[k + 1].at_ns <= instant(w, u))
            k++;
        cr_assert_eq(t->steps[k].free, w->free[u], "operation %u, unit %u", i, u);
    }
    for (k = t->first + 1; k < t->n; k++)
        cr_assert(t->steps[k].at_ns > t->steps[k - 1].at_ns && t->steps[k].free != t->steps[k - 1].free,
                  "operation %u, step %u", i, k - t->first);
}

/* The question, and the same from later on, as long as `hint` may be used again. */
static void ask(const struct timeline *t, const struct twin *w, uint64_t *dice, uint32_t i)
{
    int64_t gpus = (int64_t)dice_roll(dice, 12) - 2, least, want_least;
    uint32_t from = w->now + dice_roll(dice, UNITS - w->now), length = 1 + dice_roll(dice, 20), hint = 0;
    uint32_t latest = from + dice_roll(dice, UNITS - from);
    for (int again = 0; again < 3; again++) {
        int64_t got = timeline_fit(t, gpus, length * w->unit, instant(w, from), instant(w, latest), &hint, &least);
        int64_t want = twin_fit(w, gpus, length, from, latest, &want_least);
        cr_assert(got == want && (got == SCHED_NEVER || least == want_least),
                  "operation %u: start %lld with %lld free, the twin %lld with %lld", i, (long long)got,
                  (long long)least, (long long)want, (long long)want_least);
        if (got == SCHED_NEVER)
            return;
        from = (uint32_t)((got - w->origin) / w->unit) + dice_roll(dice, 3);
        if (from > latest)
            return;
    }
}

static void change(struct timeline *t, struct sched *s, struct twin *w, uint64_t *dice)
{
    uint32_t from = w->now + dice_roll(dice, UNITS - w->now), to = from + dice_roll(dice, UNITS - from);
    bool is_for_ever = dice_roll(dice, 12) == 0;
    int64_t gpus = (int64_t)dice_roll(dice, 7) - 3;
    gpus = w->free[from] > 8 ? -2 : w->free[from] < -4 ? 2 : gpus; /* so that it neither fills nor empties */
    cr_assert(timeline_add(t, s, instant(w, from), is_for_ever ? SCHED_NEVER : instant(w, to), gpus));
    for (uint32_t u = from; u < (is_for_ever ? UNITS : to); u++)
        w->free[u] += gpus;
}

static void operations(void *self, struct sched *s)
{
    struct timeline t = {0};
    struct twin w = {.now = UNITS};
    uint64_t dice = 0x9e3779b97f4a7c15;
    (void)self;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        if (w.now >= UNITS - 8) { /* its time is over; another one, sometimes at the end of all time */
            w.unit = 1 + dice_roll(&dice, 1000);
            w.origin = dice_roll(&dice, 4) == 0 ? INT64_MAX - 1 - UNITS * w.unit : (int64_t)dice_roll(&dice, 1000);
            w.now = 0;
            for (uint32_t u = 0; u < UNITS; u++)
                w.free[u] = 6;
            cr_assert(timeline_reset(&t, s, 6));
        }
        switch (dice_roll(&dice, 8)) {
        case 0:
            if (dice_roll(&dice, 4) == 0) {
                w.now += dice_roll(&dice, 6);
                timeline_forget(&t, instant(&w, w.now));
            }
            break;
        case 1:
        case 2:
        case 3:
            change(&t, s, &w, &dice);
            break;
        default:
            ask(&t, &w, &dice, i);
        }
        if (i % 64 == 0)
            check_steps(&t, &w, i);
    }
}

Test(timeline, a_million_random_operations_agree_with_units_of_time)
{
    struct test_case *c = case_create(1, 1);
    inside_run(c, &(struct inside){.begin = operations});
    case_destroy(c);
}

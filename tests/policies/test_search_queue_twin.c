/* The queue of a policy that plans against a plain table of where each job stands, over a million random operations under each base order. */
#include "tests/dice.h"
#include "inside.h"
#include "policies/search_queue.h"

#include <criterion/criterion.h>
#include <string.h>

enum { JOBS = 60, MOST = 12, KINDS = 6, RUNS = 6, OPERATIONS = 1000000 / RUNS + 1 };

/* Where a job stands: in slot 2 i before the plan's i-th, in 2 i + 1 in its place, in 2 MOST + 1 behind, in 2 MOST + 2 held back; there by base
 * key, as coarse as search_queue.h says. */
struct twin_job {
    bool is_waiting;
    uint32_t slot;
    int64_t base;
};

struct self {
    const struct test_case *c;
    enum search_base base;
    struct jobset_pool pool;
    struct search_queue queue;
    struct twin_job jobs[JOBS];
    uint32_t plan[MOST]; /* JOBS: gone */
    uint32_t n_plan;
    int64_t gate;
    bool is_closed[KINDS]; /* by GPUs - 1 */
    uint64_t dice;
    uint32_t n_operations, n_between;
};

static int64_t coarse(int64_t base)
{
    const int64_t exact = INT64_C(1) << 48; /* 78 h */
    return base < exact ? base : exact + ((base - exact) >> 15);
}

static int64_t base_of(const struct self *p, uint32_t job)
{
    const struct case_job *j = &p->c->jobs[job];
    switch (p->base) {
    case BASE_FIFO:
        return j->submit_ns;
    case BASE_SJF:
        return j->duration_ns;
    case BASE_SRSF:
        return j->duration_ns * j->gpus; /* the longest is 2^52 ns */
    case BASE_SMALLEST:
        return j->gpus;
    case BASE_SMITH:
        return (int64_t)((double)j->duration_ns * j->gpus / (1 + (j->priority > 0 ? j->priority : 0)));
    case BASE_EDF:
        break;
    }
    return j->deadline_ns == WORKLOAD_ABSENT ? INT64_MAX : j->deadline_ns;
}

static bool is_held(const struct self *p, uint32_t job)
{
    return p->gate != INT64_MAX && p->jobs[job].base >= p->gate;
}

static void twin_stand(struct self *p, uint32_t job)
{
    struct twin_job *j = &p->jobs[job];
    j->slot = 2 * MOST + 1;
    if (is_held(p, job)) {
        j->slot = 2 * MOST + 2;
        return;
    }
    for (uint32_t i = p->n_plan; i-- > 0;)
        if (p->plan[i] != JOBS && p->jobs[p->plan[i]].base > j->base)
            j->slot = 2 * i;
    for (uint32_t i = 0; i < p->n_plan; i++)
        if (p->plan[i] == job)
            j->slot = 2 * i + 1;
}

/* Does `a` stand before `b`? */
static bool is_before(const struct self *p, uint32_t a, uint32_t b)
{
    const struct twin_job *x = &p->jobs[a], *y = &p->jobs[b];
    if (x->slot != y->slot)
        return x->slot < y->slot;
    return coarse(x->base) != coarse(y->base) ? coarse(x->base) < coarse(y->base) : a < b;
}

static void check_head(struct self *p)
{
    uint32_t want = JOBS, job = JOBS;
    int64_t key = 0;
    bool is_holding = false;
    for (uint32_t j = 0; j < JOBS; j++) {
        if (!p->jobs[j].is_waiting)
            continue;
        if (p->jobs[j].slot == 2 * MOST + 2)
            is_holding = true;
        else if (!p->is_closed[p->c->jobs[j].gpus - 1] && (want == JOBS || is_before(p, j, want)))
            want = j;
    }
    bool has_head = search_queue_head(&p->queue, &job, &key) != NULL;
    cr_assert(has_head == (want < JOBS) && (!has_head || job == want), "operation %u: job %u is first, in the twin %u",
              p->n_operations, job, want);
    cr_assert_eq(search_queue_is_holding(&p->queue), is_holding, "operation %u", p->n_operations);
    p->n_between += has_head && p->jobs[want].slot % 2 == 0;
}

/* The first by base alone, in the order in which they stand, then some more by base. */
static void check_window(struct self *p, struct sched *s)
{
    uint32_t by_base[JOBS], n = 0, window = dice_roll(&p->dice, 20), tail = dice_roll(&p->dice, 20), n_tail;
    uint32_t out[JOBS], got = search_queue_first(&p->queue, s, out, window, tail, &n_tail);
    for (uint32_t j = 0; j < JOBS; j++) {
        if (!p->jobs[j].is_waiting)
            continue;
        uint32_t at = n++;
        for (; at > 0 && p->jobs[by_base[at - 1]].base > p->jobs[j].base; at--)
            by_base[at] = by_base[at - 1];
        by_base[at] = j;
    }
    uint32_t n_window = n < window ? n : window;
    for (uint32_t i = 1; i < n_window; i++)
        for (uint32_t k = i; k > 0 && is_before(p, by_base[k], by_base[k - 1]); k--) {
            uint32_t j = by_base[k];
            by_base[k] = by_base[k - 1];
            by_base[k - 1] = j;
        }
    cr_assert(got == n_window && n_tail == (n - n_window < tail ? n - n_window : tail), "operation %u",
              p->n_operations);
    for (uint32_t i = 0; i < got + n_tail; i++)
        cr_assert_eq(out[i], by_base[i], "operation %u: %u of the first %u", p->n_operations, i, got);
}

/* Random jobs, most of which wait. */
static void lay_plan(struct self *p, struct sched *s)
{
    uint32_t jobs[MOST], n = 0, most = dice_roll(&p->dice, MOST + 1);
    for (uint32_t tries = 0; tries < 4 * MOST && n < most; tries++) {
        uint32_t job = dice_roll(&p->dice, JOBS), k = 0;
        while (k < n && jobs[k] != job)
            k++;
        if (k == n && (p->jobs[job].is_waiting || !sched_is_queued(s, job)))
            jobs[n++] = job;
    }
    search_queue_plan(&p->queue, s, jobs, n);
    bool was_behind[JOBS];
    for (uint32_t j = 0; j < JOBS; j++)
        was_behind[j] = p->jobs[j].slot >= 2 * MOST + 1;
    p->n_plan = n;
    memcpy(p->plan, jobs, n * sizeof *jobs);
    for (uint32_t j = 0; j < JOBS; j++) { /* who stood behind the old plan stays there, unless the new one has it */
        bool is_planned = false;
        for (uint32_t i = 0; i < n; i++)
            is_planned |= jobs[i] == j;
        if (is_planned || !was_behind[j])
            twin_stand(p, j);
    }
}

static void come_or_go(struct self *p, struct sched *s, uint32_t job)
{
    struct twin_job *j = &p->jobs[job];
    if (!sched_is_queued(s, job)) { /* it gives its GPUs back, and waits again */
        if (dice_roll(&p->dice, 3) > 0)
            return;
        cr_assert_eq(sched_preempt(s, job), SCHED_OK);
        search_queue_add(&p->queue, s, job);
        twin_stand(p, job);
        j->is_waiting = true;
    } else if (j->is_waiting) {
        cr_assert(search_queue_remove(&p->queue, s, job, j->base), "operation %u", p->n_operations);
        j->is_waiting = false;
        for (uint32_t i = 0; i < p->n_plan; i++)
            if (p->plan[i] == job)
                p->plan[i] = JOBS;
        if (dice_roll(&p->dice, 4) == 0)
            sched_start(s, job);
    } else {
        search_queue_add(&p->queue, s, job);
        twin_stand(p, job);
        j->is_waiting = true;
    }
}

static void move_gate(struct self *p, struct sched *s)
{
    p->gate = dice_roll(&p->dice, 3) == 0 ? INT64_MAX : p->jobs[dice_roll(&p->dice, JOBS)].base;
    int64_t was = p->queue.gate, least = p->gate < was ? p->gate : was;
    search_queue_gate(&p->queue, s, p->gate);
    for (uint32_t j = 0; j < JOBS; j++) /* nobody else changes place */
        if (p->jobs[j].is_waiting && p->jobs[j].base >= least)
            twin_stand(p, j);
}

static void close_kind(struct self *p, uint32_t kind)
{
    struct search_queue *q = &p->queue;
    if (dice_roll(&p->dice, 4) == 0) {
        search_queue_reopen(q);
        memset(p->is_closed, 0, sizeof p->is_closed);
        return;
    }
    for (uint32_t j = 0; j < JOBS; j++) { /* the class is known by a job that it has first */
        uint32_t job = JOBS;
        int64_t key;
        struct search_class *class = search_queue_head(q, &job, &key);
        if (class == NULL || p->c->jobs[job].gpus - 1 != kind)
            return;
        class->is_closed = true;
        p->is_closed[kind] = true;
    }
}

static void queue_round(void *self, struct sched *s)
{
    struct self *p = self;
    if (sched_now(s) < JOBS) /* the last has come */
        return;
    for (; p->n_operations < OPERATIONS; p->n_operations++) {
        uint32_t what = dice_roll(&p->dice, 100);
        if (what < 70)
            come_or_go(p, s, dice_roll(&p->dice, JOBS));
        else if (what < 80)
            close_kind(p, dice_roll(&p->dice, KINDS));
        else if (what < 90)
            check_window(p, s);
        else if (what < 95)
            move_gate(p, s);
        else
            lay_plan(p, s);
        check_head(p);
        for (uint32_t i = 0; i < JOBS; i++) {
            int64_t key = search_queue_plan_key(&p->queue, i);
            bool is_planned = false;
            for (uint32_t k = 0; k < p->n_plan; k++)
                is_planned |= p->plan[k] == i;
            cr_assert_eq(key != INT64_MAX, is_planned, "operation %u: job %u", p->n_operations, i);
        }
    }
}

static const struct test_case *the_case; /* a test program runs each test in a process of its own */
static enum search_base the_base;

static void queue_start(void *self, struct sched *s)
{
    struct self *p = self;
    p->c = the_case;
    p->base = the_base;
    p->gate = INT64_MAX;
    p->dice = 0x9e3779b97f4a7c15 + the_base;
    for (uint32_t j = 0; j < JOBS; j++)
        p->jobs[j].base = base_of(p, j);
    jobset_pool_init(&p->pool, s);
    cr_assert(search_queue_init(&p->queue, s, &p->pool, p->base, MOST));
}

static void queue_end(void *self)
{
    const struct self *p = self;
    cr_expect_eq(p->n_operations, (uint32_t)OPERATIONS);
    cr_expect_gt(p->n_between, 1000u);
}

/* Lengths from 1 ns to 52 days, some alike, so that keys are exact and coarse, and equal ones are told apart by rank. */
static void compare(enum search_base base)
{
    uint64_t dice = 4711;
    struct test_case *c = case_create(4, 8);
    for (uint32_t j = 0; j <= JOBS; j++) {
        case_job(c, 0, 1, 1 + dice_roll(&dice, KINDS));
        struct case_job *job = &c->jobs[j];
        job->submit_ns = j;
        job->priority = dice_roll(&dice, 3);
        job->duration_ns = dice_roll(&dice, 3) == 0
                               ? 5 + dice_roll(&dice, 3)
                               : (INT64_C(1) << (46 + dice_roll(&dice, 6))) + dice_roll(&dice, 1 << 17);
        job->deadline_ns = dice_roll(&dice, 3) == 0 ? WORKLOAD_ABSENT : job->submit_ns + job->duration_ns;
    }
    the_case = c;
    the_base = base;
    inside_run(c, &(struct inside){.knows = KNOWS_ESTIMATE | KNOWS_DEADLINE,
                                   .size = sizeof(struct self),
                                   .begin = queue_start,
                                   .round = queue_round,
                                   .end = queue_end});
    case_destroy(c);
}

Test(search_queue, stands_as_a_table_says_by_submission)
{
    compare(BASE_FIFO);
}

Test(search_queue, stands_as_a_table_says_by_length)
{
    compare(BASE_SJF);
}

Test(search_queue, stands_as_a_table_says_by_gpu_time)
{
    compare(BASE_SRSF);
}

Test(search_queue, stands_as_a_table_says_by_gpus)
{
    compare(BASE_SMALLEST);
}

Test(search_queue, stands_as_a_table_says_by_weight)
{
    compare(BASE_SMITH);
}

Test(search_queue, stands_as_a_table_says_by_deadline)
{
    compare(BASE_EDF);
}

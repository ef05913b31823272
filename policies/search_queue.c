#include "policies/search_queue.h"

#include <math.h>
#include <string.h>

enum { GONE = UINT32_MAX };

/* A key is one of up to 2^14 slots and, below it, the base key: in ns up to 78 h, then in units of 2^15 ns. */
enum { BASE_BITS = 49, BASE_UNIT = 15 };

static int64_t key_of(uint32_t slot, int64_t base)
{
    const int64_t exact = INT64_C(1) << (BASE_BITS - 1);
    int64_t part = base < exact ? base : exact + ((base - exact) >> BASE_UNIT);
    return ((int64_t)slot << BASE_BITS) | part;
}

static int64_t key_in_plan(uint32_t i)
{
    return key_of(2 * i + 1, 0);
}

bool search_queue_init(struct search_queue *q, struct sched *s, struct jobset_pool *pool, enum search_base base,
                       uint32_t most)
{
    q->pool = pool;
    q->base = base;
    q->most = most;
    q->gate = INT64_MAX;
    jobset_init(&q->by_base, pool);
    q->class_of = sched_alloc(s, sched_n_demands(s), sizeof *q->class_of);
    q->plan = sched_alloc(s, most, sizeof *q->plan);
    q->plan_base = sched_alloc(s, most, sizeof *q->plan_base);
    return q->class_of != NULL && q->plan != NULL && q->plan_base != NULL;
}

double search_weight(const struct sched *s, uint32_t job)
{
    double priority = sched_priority(s, job);
    return 1 + (priority > 0 ? fmin(priority, 1e9) : 0);
}

int64_t search_smith_key(const struct sched *s, uint32_t job, int64_t length_ns)
{
    double key = (double)length_ns * sched_gpus(s, job) / search_weight(s, job);
    return key < 9e18 ? (int64_t)key : INT64_MAX;
}

int64_t search_base_key(struct sched *s, uint32_t job, enum search_base base)
{
    int64_t left = 0, product;
    switch (base) {
    case BASE_FIFO:
        left = sched_submit_ns(s, job);
        return left > 0 ? left : 0;
    case BASE_SMALLEST:
        return sched_gpus(s, job);
    case BASE_EDF:
        if (sched_deadline_ns(s, job, &left) != SCHED_OK)
            return INT64_MAX;
        return left > 0 ? left : 0;
    case BASE_SMITH:
        sched_expected_ns(s, job, &left);
        return search_smith_key(s, job, left);
    case BASE_SJF:
        sched_expected_ns(s, job, &left);
        return left;
    case BASE_SRSF:
        sched_expected_ns(s, job, &left);
        return __builtin_mul_overflow(left, (int64_t)sched_gpus(s, job), &product) ? INT64_MAX : product;
    }
    return 0;
}

static struct search_class *class_of(struct search_queue *q, struct sched *s, uint32_t job)
{
    uint32_t *slot = &q->class_of[sched_demand(s, job)];
    if (*slot == 0) {
        if (q->n_classes == q->classes_room) {
            uint32_t room = q->classes_room * 2 + 16;
            struct search_class *grown = sched_alloc(s, room, sizeof *grown);
            if (grown == NULL)
                return NULL; /* the arena remembers: the run ends with "out of memory" */
            if (q->n_classes > 0)
                memcpy(grown, q->classes, q->n_classes * sizeof *grown);
            q->classes = grown;
            q->classes_room = room;
        }
        q->classes[q->n_classes] = (struct search_class){0};
        jobset_init(&q->classes[q->n_classes].jobs, q->pool);
        *slot = ++q->n_classes;
    }
    return &q->classes[*slot - 1];
}

static int64_t key_held(const struct search_queue *q)
{
    return key_of(2 * q->most + 2, 0);
}

static bool is_held(const struct search_queue *q, int64_t base)
{
    return base >= q->gate && q->gate < INT64_MAX;
}

/* Where a job of this base key stands that is not in the plan. */
static int64_t key_outside(const struct search_queue *q, int64_t base)
{
    if (is_held(q, base))
        return key_of(2 * q->most + 2, base);
    for (uint32_t i = 0; i < q->n_plan; i++)
        if (q->plan[i] != GONE && q->plan_base[i] > base)
            return key_of(2 * i, base);
    return key_of(2 * q->most + 1, base);
}

static void insert(struct search_queue *q, struct sched *s, uint32_t job, int64_t key)
{
    struct search_class *k = class_of(q, s, job);
    if (k == NULL)
        return;
    *sched_word(s, job) = (uint64_t)key;
    jobset_insert(&k->jobs, key, job, 0);
}

static uint32_t plan_find(const struct search_queue *q, uint32_t job)
{
    uint32_t i = 0;
    while (i < q->n_plan && q->plan[i] != job)
        i++;
    return i;
}

int64_t search_queue_plan_key(const struct search_queue *q, uint32_t job)
{
    uint32_t i = plan_find(q, job);
    return i < q->n_plan ? key_in_plan(i) : INT64_MAX;
}

void search_queue_add(struct search_queue *q, struct sched *s, uint32_t job)
{
    int64_t key = search_queue_plan_key(q, job), base = search_base_key(s, job, q->base);
    insert(q, s, job, key != INT64_MAX && !is_held(q, base) ? key : key_outside(q, base));
    jobset_insert(&q->by_base, base, job, 0);
    q->n++;
}

static bool erase(struct search_queue *q, struct sched *s, uint32_t job)
{
    struct search_class *k = class_of(q, s, job);
    return k != NULL && jobset_erase(&k->jobs, (int64_t)*sched_word(s, job), job);
}

bool search_queue_remove(struct search_queue *q, struct sched *s, uint32_t job, int64_t base)
{
    int64_t key = (int64_t)*sched_word(s, job);
    if (!erase(q, s, job))
        return false;
    jobset_erase(&q->by_base, base, job);
    q->n--;
    uint32_t slot = (uint32_t)(key >> BASE_BITS), i = slot > 2 * q->most + 1 ? plan_find(q, job) : slot / 2;
    if (i < q->n_plan && q->plan[i] == job)
        q->plan[i] = GONE;
    return true;
}

/* Heap sort by (key, job), the largest to the end. */
static void sort_by_word(struct sched *s, uint32_t *jobs, uint32_t n)
{
#define COMES_AFTER(a, b)                                                                                              \
    (*sched_word(s, a) > *sched_word(s, b) || (*sched_word(s, a) == *sched_word(s, b) && (a) > (b)))
    for (uint32_t half = n / 2, end = n; end > 1;) {
        uint32_t job;
        if (half > 0) {
            job = jobs[--half];
        } else {
            job = jobs[--end];
            jobs[end] = jobs[0];
        }
        uint32_t at = half;
        for (uint32_t child; (child = 2 * at + 1) < end; at = child) {
            child += child + 1 < end && COMES_AFTER(jobs[child + 1], jobs[child]);
            if (!COMES_AFTER(jobs[child], job))
                break;
            jobs[at] = jobs[child];
        }
        jobs[at] = job;
    }
#undef COMES_AFTER
}

uint32_t search_queue_first(struct search_queue *q, struct sched *s, uint32_t *out, uint32_t window, uint32_t tail,
                            uint32_t *n_tail)
{
    uint32_t n = 0;
    for (uint32_t node = q->by_base.first; node != JOBSET_NONE && n < window + tail;
         node = jobset_node(&q->by_base, node)->next)
        out[n++] = jobset_node(&q->by_base, node)->job;
    uint32_t n_window = n < window ? n : window;
    sort_by_word(s, out, n_window);
    *n_tail = n - n_window;
    return n_window;
}

static bool moved_push(struct search_queue *q, struct sched *s, uint32_t n, uint32_t job)
{
    if (n == q->moved_room) {
        uint32_t room = q->moved_room * 2 + 64;
        uint32_t *grown = sched_alloc(s, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (n > 0)
            memcpy(grown, q->moved, n * sizeof *grown);
        q->moved = grown;
        q->moved_room = room;
    }
    q->moved[n] = job;
    return true;
}

void search_queue_plan(struct search_queue *q, struct sched *s, const uint32_t *jobs, uint32_t n)
{
    int64_t behind = key_of(2 * q->most + 1, 0);
    uint32_t n_moved = 0;
    for (uint32_t i = 0; i < n; i++)
        if (sched_is_queued(s, jobs[i]))
            erase(q, s, jobs[i]);
    for (uint32_t c = 0; c < q->n_classes; c++) { /* those that stood in or between the old plan: few */
        struct search_class *k = &q->classes[c];
        while (k->jobs.first != JOBSET_NONE && jobset_node(&k->jobs, k->jobs.first)->key < behind) {
            uint32_t job = jobset_node(&k->jobs, k->jobs.first)->job;
            if (!moved_push(q, s, n_moved, job))
                return; /* the run ends with "out of memory" */
            n_moved++;
            erase(q, s, job);
        }
    }
    q->n_plan = n;
    for (uint32_t i = 0; i < n; i++) {
        q->plan[i] = jobs[i];
        q->plan_base[i] = search_base_key(s, jobs[i], q->base);
        if (sched_is_queued(s, jobs[i]))
            insert(q, s, jobs[i], is_held(q, q->plan_base[i]) ? key_outside(q, q->plan_base[i]) : key_in_plan(i));
    }
    for (uint32_t i = 0; i < n_moved; i++)
        insert(q, s, q->moved[i], key_outside(q, search_base_key(s, q->moved[i], q->base)));
}

struct search_class *search_queue_head(struct search_queue *q, uint32_t *job, int64_t *key)
{
    struct search_class *best = NULL;
    for (uint32_t i = 0; i < q->n_classes; i++) {
        struct search_class *k = &q->classes[i];
        if (k->is_closed || k->jobs.first == JOBSET_NONE)
            continue;
        const struct jobset_node *node = jobset_node(&k->jobs, k->jobs.first);
        if (node->key >= key_held(q))
            continue;
        if (best == NULL || node->key < *key || (node->key == *key && node->job < *job)) {
            best = k;
            *key = node->key;
            *job = node->job;
        }
    }
    return best;
}

void search_queue_gate(struct search_queue *q, struct sched *s, int64_t gate)
{
    int64_t least = gate < q->gate ? gate : q->gate;
    q->gate = gate;
    for (uint32_t node = q->by_base.last; node != JOBSET_NONE; node = jobset_node(&q->by_base, node)->prev) {
        const struct jobset_node n = *jobset_node(&q->by_base, node);
        int64_t key = search_queue_plan_key(q, n.job);
        if (n.key < least)
            return;
        erase(q, s, n.job);
        insert(q, s, n.job, key != INT64_MAX && !is_held(q, n.key) ? key : key_outside(q, n.key));
    }
}

bool search_queue_is_holding(const struct search_queue *q)
{
    for (uint32_t i = 0; i < q->n_classes; i++) {
        const struct jobset *jobs = &q->classes[i].jobs;
        if (jobs->last != JOBSET_NONE && jobset_node(jobs, jobs->last)->key >= key_held(q))
            return true;
    }
    return false;
}

void search_queue_reopen(struct search_queue *q)
{
    for (uint32_t i = 0; i < q->n_classes; i++)
        q->classes[i].is_closed = false;
}

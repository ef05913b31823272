/* muri_tiresias.c - dlas-gpu: queues by attained GPU time. Jobs are not placed, only their GPUs counted; a job keeps the GPUs that it has.
 *
 * An instant at which a running job reaches its queue's limit is an event of its own, in which nobody is submitted or ends.
 */
#include "compat/muri_run.h"
#include "compat/request.h"

#include <math.h>

enum { QUEUES_MAX = 16, NO_GPU = UINT32_MAX };

struct tiresias {
    uint32_t n_queues; /* n limits + 1 */
    const double *limits;
    struct muri_list queue[QUEUES_MAX];
    uint8_t *level;      /* by job */
    uint32_t *spare;     /* room for one queue */
    uint32_t *first_gpu; /* by job: the lowest it holds */
    uint32_t *next_gpu;  /* by GPU: the next of the same job */
    bool *is_held;       /* by GPU */
    bool *holds;         /* by job */
    bool *is_chosen;     /* by job, while one schedules */
};

static int init(struct muri *m)
{
    const union param *limits = request_param(m->spec, "thresholds");
    if (request_param(m->spec, "service")->s[0] != 'g' || request_param(m->spec, "promote")->f > 0)
        return error_set(m->err, BRAID_BAD_INPUT,
                         "the %s simulator has tiresias with 'service: gpu_time' and 'promote: 0' only", MURI);
    if (limits->list.n >= QUEUES_MAX)
        return error_set(m->err, BRAID_BAD_INPUT, "thresholds: %u values, at most %d", limits->list.n, QUEUES_MAX - 1);
    struct tiresias *t = ARENA_NEW(&m->arena, struct tiresias, 1);
    uint32_t n = m->w->n_jobs;
    if (t == NULL)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    m->state = t;
    t->n_queues = limits->list.n + 1;
    t->limits = limits->list.v;
    for (uint32_t q = 0; q < t->n_queues; q++)
        t->queue[q].v = ARENA_NEW(&m->arena, uint32_t, n);
    t->level = ARENA_NEW(&m->arena, uint8_t, n);
    t->spare = ARENA_NEW(&m->arena, uint32_t, n);
    t->first_gpu = ARENA_NEW(&m->arena, uint32_t, n);
    t->next_gpu = ARENA_NEW(&m->arena, uint32_t, m->n_gpus);
    t->is_held = ARENA_NEW(&m->arena, bool, m->n_gpus);
    t->holds = ARENA_NEW(&m->arena, bool, n);
    t->is_chosen = ARENA_NEW(&m->arena, bool, n);
    return m->arena.is_short ? error_set(m->err, BRAID_FAILED, "out of memory") : BRAID_OK;
}

/* ---- GPUs ------------------------------------------------------------------------------------------ */

/* The lowest free ones; there must be as many. */
static void hold(struct muri *m, struct tiresias *t, uint32_t job)
{
    uint32_t *link = &t->first_gpu[job], wanted = m->gpus[job];
    for (uint32_t g = 0; wanted > 0; g++)
        if (!t->is_held[g]) {
            t->is_held[g] = true;
            *link = g;
            link = &t->next_gpu[g];
            wanted--;
        }
    *link = NO_GPU;
    t->holds[job] = true;
}

static void let_go(struct tiresias *t, uint32_t job)
{
    for (uint32_t g = t->first_gpu[job]; g != NO_GPU; g = t->next_gpu[g])
        t->is_held[g] = false;
    t->holds[job] = false;
}

static uint32_t spans_of(const struct muri *m, const struct tiresias *t, uint32_t job, struct span *out)
{
    uint32_t n = 0, size = m->room.node_gpus;
    for (uint32_t g = t->first_gpu[job]; g != NO_GPU; g = t->next_gpu[g]) {
        struct span *last = n > 0 ? &out[n - 1] : NULL;
        if (last != NULL && last->node == g / size && last->gpu_first + last->gpu_count == g % size)
            last->gpu_count++;
        else
            out[n++] = (struct span){g / size, g % size, 1};
    }
    return n;
}

/* ---- queues ---------------------------------------------------------------------------------------- */

static void queue_drop(struct muri_list *q, uint32_t job)
{
    uint32_t i = 0;
    while (q->v[i] != job)
        i++;
    for (q->n--; i < q->n; i++)
        q->v[i] = q->v[i + 1];
}

static void queue_add(struct muri_list *q, uint32_t job)
{
    q->v[q->n++] = job;
}

static void submit(struct muri *m, uint32_t job)
{
    struct tiresias *t = m->state;
    queue_add(&t->queue[0], job);
}

static void finish(struct muri *m, uint32_t job)
{
    struct tiresias *t = m->state;
    queue_drop(&t->queue[t->level[job]], job);
    let_go(t, job);
}

/* In order of submission; one queue down an event. */
static void progress(struct muri *m)
{
    struct tiresias *t = m->state;
    for (uint32_t i = 0; i < m->list.n; i++) {
        uint32_t job = m->list.v[i], q = t->level[job];
        if (!m->is_running[job] || q + 1 >= t->n_queues || m->executed_s[job] * m->gpus[job] < t->limits[q])
            continue;
        queue_drop(&t->queue[q], job);
        t->level[job]++;
        queue_add(&t->queue[q + 1], job);
    }
}

static double jump(const struct muri *m)
{
    const struct tiresias *t = m->state;
    double first = INFINITY;
    for (uint32_t i = 0; i < m->running.n; i++) {
        uint32_t job = m->running.v[i], q = t->level[job];
        if (q + 1 < t->n_queues)
            first = fmin(first, ceil(t->limits[q] / m->gpus[job]) - m->executed_s[job] + m->now_s);
    }
    return first;
}

/* Those that run stand before those that wait, else as they were. */
static void partition(const struct muri *m, struct tiresias *t, struct muri_list *q)
{
    uint32_t n = 0, n_waiting = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        uint32_t job = q->v[i];
        if (m->is_running[job])
            q->v[n++] = job;
        else
            t->spare[n_waiting++] = job;
    }
    for (uint32_t i = 0; i < n_waiting; i++)
        q->v[n + i] = t->spare[i];
}

static void schedule(struct muri *m)
{
    struct tiresias *t = m->state;
    struct muri_list *chosen = &m->near; /* room that is free between two ends */
    uint32_t free = m->n_gpus;
    chosen->n = 0;
    for (uint32_t q = 0; q < t->n_queues; q++)
        for (uint32_t i = 0; i < t->queue[q].n && free > 0; i++) {
            uint32_t job = t->queue[q].v[i];
            if (free < m->gpus[job])
                continue;
            free -= m->gpus[job];
            t->is_chosen[job] = true;
            chosen->v[chosen->n++] = job;
        }
    for (uint32_t i = 0; i < m->running.n; i++)
        if (!t->is_chosen[m->running.v[i]])
            let_go(t, m->running.v[i]);
    muri_plan(m);
    for (uint32_t i = 0; i < chosen->n; i++) {
        uint32_t job = chosen->v[i];
        t->is_chosen[job] = false;
        if (!t->holds[job])
            hold(m, t, job);
        muri_run_job(m, job, m->spans, spans_of(m, t, job, m->spans), BOOKS_ALONE);
    }
    for (uint32_t q = 0; q < t->n_queues; q++)
        partition(m, t, &t->queue[q]);
}

const struct muri_kind muri_kind_tiresias = {
    .init = init,
    .submit = submit,
    .finish = finish,
    .progress = progress,
    .jump = jump,
    .schedule = schedule,
    .has_exact_ends = true,
};

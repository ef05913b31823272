/* tiresias_queues.c - dlas and dlas-gpu (queues by attained service), gittins (one list by index), and both together.
 *
 * An event is a submission, a completion or a jump: the instant at which a job should change its queue (under gittins alone, of a "unit").
 * If a jump comes before the next submission and completion, it alone is processed. The walk counts GPUs.
 *
 * Two things that happen there and nowhere else:
 *   - The second of a demotion under dlas-gpu is (limit - time) / GPUs instead of limit / GPUs - time, rounded down: a job of several GPUs
 *     changes its queue at the first event at or behind its true instant.
 *   - When the next completion falls on the second of the next submission, its jobs are written into the submission's event. If a
 *     jump comes first and takes the GPUs of such a job, it still "completes" with that event, whatever it has left to do.
 */
#include "compat/request.h"
#include "compat/tiresias_run.h"

#include <string.h>

enum { QUEUES_MAX = 16 };

struct queues {
    struct tiresias *t;
    bool by_gpu_time;
    bool is_ranked;    /* by index inside each queue */
    bool is_one_list;  /* gittins: the list of all jobs is the queue, sorted for good */
    double promote;    /* 0: never */
    uint32_t n_queues; /* n limits + 1 */
    int64_t limits[QUEUES_MAX];
    struct tiresias_list queue[QUEUES_MAX];
    struct tiresias_list runnable, ends, filed, out, in;
    uint32_t *level;
    int64_t *executed_s; /* since the last promotion */
    int64_t *pending_s;  /* since then, once it has run */
    int64_t *checked_s;
    double *rank;
    int64_t jump_s, unit_s;
    uint64_t standing; /* events in a row at one second */
    int64_t last_s;
};

static uint32_t gpus(const struct queues *q, uint32_t job)
{
    return q->t->l.w->gpus[job];
}

static bool is_running(const struct queues *q, uint32_t job)
{
    return q->t->l.jobs[job].state == JOB_RUNNING;
}

static int64_t attained(const struct queues *q, uint32_t job)
{
    return q->by_gpu_time ? q->executed_s[job] * gpus(q, job) : q->executed_s[job];
}

static void enter(struct queues *q, uint32_t job, uint32_t level)
{
    struct tiresias_list *to = &q->queue[level];
    tiresias_list_remove(&q->queue[q->level[job]], job);
    q->level[job] = level;
    to->v[to->n++] = job;
}

/* ---- accounting: what each job in the system has run or waited ------------------------------------- */

static void account_running(struct queues *q, uint32_t job, int64_t passed_s)
{
    q->executed_s[job] += passed_s;
    uint32_t level = q->level[job];
    if (level + 1 < q->n_queues && attained(q, job) >= q->limits[level])
        enter(q, job, level + 1); /* one level an event */
}

static void account_pending(struct queues *q, uint32_t job, int64_t passed_s)
{
    if (q->executed_s[job] > 0)
        q->pending_s[job] += passed_s;
    if (q->promote > 0 && q->level[job] > 0 && q->executed_s[job] > 0 &&
        q->pending_s[job] >= (int64_t)((double)q->executed_s[job] * q->promote)) {
        q->executed_s[job] = q->pending_s[job] = 0;
        enter(q, job, 0);
    }
}

static void account(struct queues *q, int64_t now_s)
{
    for (uint32_t i = 0; i < q->runnable.n; i++) {
        uint32_t job = q->runnable.v[i];
        int64_t passed = now_s - q->checked_s[job];
        q->checked_s[job] = now_s;
        if (is_running(q, job))
            account_running(q, job, passed);
        else
            account_pending(q, job, passed);
        if (!q->is_ranked)
            continue;
        /* gittins looks up a waiting job by time, a running one by GPU time */
        bool by_time = q->is_one_list && !is_running(q, job);
        q->rank[job] = tiresias_index_at(&q->t->index, by_time ? q->executed_s[job] : attained(q, job));
    }
}

/* ---- order ----------------------------------------------------------------------------------------- */

/* Does `a` come strictly before `b`? gittins puts the lowest index first; queues the highest, then the earlier submission. */
static bool is_before(const struct queues *q, uint32_t a, uint32_t b)
{
    if (q->is_one_list)
        return q->rank[a] < q->rank[b];
    if (q->rank[a] != q->rank[b])
        return q->rank[a] > q->rank[b];
    const int64_t *submit = q->t->l.w->submit_ns;
    return submit[a] < submit[b];
}

static void sort(const struct queues *q, struct tiresias_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t job = list->v[i], k = i;
        for (; k > 0 && is_before(q, job, list->v[k - 1]); k--)
            list->v[k] = list->v[k - 1];
        list->v[k] = job;
    }
}

/* Running jobs in front, the others behind them, each in their order. */
static void part(struct queues *q, struct tiresias_list *list)
{
    uint32_t kept = 0, n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        if (is_running(q, list->v[i]))
            list->v[kept++] = list->v[i];
        else
            q->out.v[n++] = list->v[i];
    }
    memcpy(list->v + kept, q->out.v, n * sizeof *list->v);
}

static void schedule(struct queues *q)
{
    struct tiresias *t = q->t;
    uint32_t free = cluster_n_gpus(t->l.cluster);
    if (q->is_one_list) {
        sort(q, &q->runnable);
        tiresias_walk(t, &q->runnable, &free, &q->out, &q->in);
    }
    for (uint32_t i = 0; i < q->n_queues && !q->is_one_list; i++) {
        if (q->is_ranked)
            sort(q, &q->queue[i]);
        tiresias_walk(t, &q->queue[i], &free, &q->out, &q->in);
    }
    tiresias_apply(t, &q->out, &q->in);
    for (uint32_t i = 0; i < q->n_queues && !q->is_one_list; i++)
        part(q, &q->queue[i]);
}

/* ---- time ------------------------------------------------------------------------------------------ */

static int64_t next_jump(const struct queues *q, int64_t now_s)
{
    int64_t first = TIRESIAS_NEVER;
    for (uint32_t i = 0; i < q->runnable.n; i++) {
        uint32_t job = q->runnable.v[i], level = q->level[job];
        int64_t wait = -1;
        if (is_running(q, job) && level + 1 < q->n_queues) {
            wait = q->limits[level] - q->executed_s[job];
            wait = q->by_gpu_time ? wait / gpus(q, job) : wait;
        } else if (!is_running(q, job) && q->promote > 0 && level > 0 && q->executed_s[job] > 0) {
            wait = (int64_t)((double)q->executed_s[job] * q->promote - (double)q->pending_s[job]);
            wait = wait > 0 ? wait : -1;
        }
        if (wait >= 0 && now_s + wait < first)
            first = now_s + wait;
    }
    return first;
}

static void complete(struct queues *q, const struct tiresias_list *jobs)
{
    for (uint32_t i = 0; i < jobs->n; i++) {
        ledger_finish(&q->t->l, jobs->v[i]);
        tiresias_list_remove(&q->runnable, jobs->v[i]);
        tiresias_list_remove(&q->queue[q->level[jobs->v[i]]], jobs->v[i]);
    }
}

static void arrive(struct queues *q, int64_t now_s)
{
    uint32_t first = q->runnable.n;
    tiresias_arrivals(q->t, now_s, &q->runnable);
    for (uint32_t i = first; i < q->runnable.n; i++) {
        q->checked_s[q->runnable.v[i]] = now_s;
        enter(q, q->runnable.v[i], 0);
    }
}

/* There, a job whose limit is less than its GPUs (more than 3,250 of them) jumps without end at one second. */
static bool stands_still(struct queues *q, int64_t now_s)
{
    struct ledger *l = &q->t->l;
    q->standing = now_s == q->last_s ? q->standing + 1 : 0;
    q->last_s = now_s;
    if (q->standing <= (uint64_t)l->w->n_jobs + QUEUES_MAX)
        return false;
    error_set(l->err, BRAID_FAILED,
              "the " TIRESIAS " simulator never gets past %lld s here: a job with more GPUs than its queue's limit has "
              "seconds jumps without end; raise 'thresholds', or use compat: none",
              (long long)now_s);
    l->has_failed = true;
    return true;
}

static void loop(struct queues *q)
{
    int64_t end = TIRESIAS_NEVER;
    for (;;) {
        int64_t arrival = tiresias_arrival_s(q->t), now = arrival < end ? arrival : end;
        if (arrival == end && end != TIRESIAS_NEVER) { /* written into the submission's event */
            memcpy(q->filed.v, q->ends.v, q->ends.n * sizeof *q->ends.v);
            q->filed.n = q->ends.n;
        }
        bool is_jump = now > (q->is_one_list ? q->unit_s : q->jump_s) && now != TIRESIAS_NEVER;
        if (is_jump)
            now = q->is_one_list ? q->unit_s : q->jump_s;
        if (now == TIRESIAS_NEVER || !ledger_at_second(&q->t->l, now) || stands_still(q, now))
            return;
        if (!is_jump) {
            bool is_arrival = arrival <= end;
            complete(q, is_arrival ? &q->filed : &q->ends);
            if (is_arrival) {
                arrive(q, now);
                q->filed.n = 0;
            }
        }
        account(q, now);
        schedule(q);
        end = tiresias_first_ends(q->t, &q->runnable, now, &q->ends);
        q->jump_s = next_jump(q, now);
        q->unit_s += now;
        ledger_settle(&q->t->l);
    }
}

static bool queues_make(struct queues *q)
{
    struct arena *a = &q->t->l.arena;
    uint32_t n = q->t->l.w->n_jobs;
    for (uint32_t i = 0; i < q->n_queues; i++)
        q->queue[i] = tiresias_list_make(q->t);
    q->runnable = tiresias_list_make(q->t);
    q->ends = tiresias_list_make(q->t);
    q->filed = tiresias_list_make(q->t);
    q->out = tiresias_list_make(q->t);
    q->in = tiresias_list_make(q->t);
    q->level = ARENA_NEW(a, uint32_t, n);
    q->executed_s = ARENA_NEW(a, int64_t, n);
    q->pending_s = ARENA_NEW(a, int64_t, n);
    q->checked_s = ARENA_NEW(a, int64_t, n);
    q->rank = ARENA_NEW(a, double, n);
    return !a->is_short;
}

static bool limits_take(struct queues *q)
{
    const union param *p = request_param(q->t->l.spec, "thresholds");
    q->n_queues = p->list.n + 1;
    for (uint32_t i = 0; i < p->list.n; i++) {
        q->limits[i] = p->list.n < QUEUES_MAX ? (int64_t)p->list.v[i] : 0;
        if (p->list.n < QUEUES_MAX && (double)q->limits[i] == p->list.v[i] &&
            (i == 0 || q->limits[i] > q->limits[i - 1]))
            continue;
        error_set(q->t->l.err, BRAID_BAD_INPUT,
                  "the " TIRESIAS " simulator counts whole seconds: thresholds must be at most %d whole numbers that "
                  "ascend",
                  QUEUES_MAX - 1);
        q->t->l.has_failed = true;
        return false;
    }
    return true;
}

void tiresias_run_queues(struct tiresias *t)
{
    const struct run_spec *spec = t->l.spec;
    struct queues q = {.t = t, .jump_s = TIRESIAS_NEVER, .last_s = -1, .is_ranked = t->policy == TIRESIAS_GITTINS};
    if (!limits_take(&q))
        return;
    q.is_one_list = q.is_ranked && q.n_queues == 1;
    q.by_gpu_time = strcmp(request_param(spec, "service")->s, "gpu_time") == 0;
    q.promote = q.is_ranked ? 0 : request_param(spec, "promote")->f;
    q.unit_s = q.is_one_list ? (int64_t)request_param(spec, "delta")->f : 0;
    if (queues_make(&q))
        loop(&q);
}

#include "compat/ledger.h"

#include "base/check.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

static void fail_memory(struct ledger *l)
{
    if (!l->has_failed)
        out_of_memory(l->err);
    l->has_failed = true;
}

static bool tables_make(struct ledger *l)
{
    const struct workload *w = l->w;
    uint32_t n_vcs = cluster_n_vcs(l->cluster), largest = 1, n_nodes = cluster_n_nodes(l->cluster);
    l->jobs = ARENA_NEW(l->results, struct job, w->n_jobs);
    l->debt_ns = ARENA_NEW(&l->arena, int64_t, w->n_jobs);
    l->queues = ARENA_NEW(&l->arena, struct ledger_queue, n_vcs);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        largest = w->gpus[j] > largest ? w->gpus[j] : largest;
    l->places_room = largest < n_nodes ? largest : n_nodes;
    l->places = ARENA_NEW(&l->arena, struct place, l->places_room);
    if (l->results->is_short || l->arena.is_short)
        return false;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        l->jobs[j].start_ns = l->jobs[j].end_ns = -1;
        l->jobs[j].alloc = ALLOC_NONE;
        l->jobs[j].reason = "";
    }
    l->n_queues = n_vcs;
    for (uint32_t i = 0; i < n_vcs; i++) {
        const struct vc *vc = cluster_vc(l->cluster, i);
        l->queues[i] = (struct ledger_queue){.name = vc->name, .partition = vc->partition};
    }
    return true;
}

int ledger_init(struct ledger *l, const struct run_spec *spec, struct error *err)
{
    *l = (struct ledger){.spec = spec, .w = spec->workload, .err = err};
    arena_init(&l->arena);
    l->results = malloc(sizeof *l->results);
    if (l->results == NULL)
        return out_of_memory(err);
    arena_init(l->results);
    l->cluster = cluster_create(spec->cluster, l->w->origin_utc_s, &l->arena, err);
    if (l->cluster == NULL)
        return err->code != BRAID_OK ? err->code : BRAID_FAILED;
    if (cluster_n_vcs(l->cluster) > UINT16_MAX)
        return error_set(err, BRAID_BAD_INPUT, "more than %d virtual clusters", UINT16_MAX);
    if (!tables_make(l))
        return out_of_memory(err);
    const struct workload *w = l->w;
    l->now_ns = w->n_jobs > 0 ? w->submit_ns[0] : 0;
    l->totals = (struct run_totals){.first_submit_ns = l->now_ns,
                                    .last_submit_ns = w->n_jobs > 0 ? w->submit_ns[w->n_jobs - 1] : 0,
                                    .last_end_ns = -1,
                                    .used_until_ns = l->now_ns};
    return BRAID_OK;
}

void ledger_fini(struct ledger *l)
{
    if (l->results != NULL) {
        arena_fini(l->results);
        free(l->results);
    }
    arena_fini(&l->arena);
    *l = (struct ledger){0};
}

/* ---- the clock ------------------------------------------------------------------------------------- */

uint32_t ledger_queue_of(const struct ledger *l, uint32_t job)
{
    return cluster_vc_find(l->cluster, names_text(&l->w->vcs, l->w->vc[job]));
}

uint32_t ledger_free_gpus(const struct ledger *l, uint32_t queue)
{
    return cluster_partition(l->cluster, l->queues[queue].partition)->free_gpus;
}

/* GPUs are used up to now. */
static void used(struct ledger *l)
{
    l->totals.used_until_ns = l->now_ns;
    l->totals.allocated_gpu_ns_makespan = (double)l->allocated;
    l->totals.capacity_gpu_ns_makespan = (double)l->capacity;
}

static void advance(struct ledger *l, int64_t to_ns)
{
    uint64_t dt = (uint64_t)(to_ns - l->now_ns), sum, squares;
    if (dt == 0)
        return;
    for (uint32_t i = 0; i < l->n_queues; i++) { /* a peer's partitions have one queue each */
        const struct ledger_queue *q = &l->queues[i];
        const struct partition *p = cluster_partition(l->cluster, q->partition);
        l->capacity += (unsigned __int128)p->gpus * dt;
        l->free += (unsigned __int128)p->free_gpus * dt;
        l->useless += (unsigned __int128)(q->queued_jobs > 0 ? p->free_gpus : 0) * dt;
    }
    cluster_load(l->cluster, &sum, &squares);
    l->allocated += (unsigned __int128)sum * dt;
    if (sum > 0) {
        double n = (double)cluster_n_nodes(l->cluster), s = (double)sum;
        l->imbalance += sqrt(fmax(0.0, n * (double)squares - s * s)) / s * (double)dt;
        l->totals.imbalance_span_ns += (double)dt;
    }
    l->now_ns = to_ns;
    if (sum > 0)
        used(l);
}

bool ledger_at(struct ledger *l, int64_t at_ns)
{
    const struct run_spec *spec = l->spec;
    uint64_t queued = 0;
    if (l->has_failed)
        return false;
    for (uint32_t i = 0; i < l->n_queues; i++)
        queued += l->queues[i].queued_jobs;
    if (queued > spec->stop.queue) {
        l->totals.is_overloaded = l->totals.is_cut = true;
        return false;
    }
    if ((++l->instants & 1023) == 0 && spec->cancel != NULL && *spec->cancel != 0) {
        error_set(l->err, BRAID_FAILED, "interrupted");
        l->has_failed = true;
        return false;
    }
    require(at_ns >= l->now_ns, "the clock would go back from %lld to %lld ns", (long long)l->now_ns, (long long)at_ns);
    bool is_over = at_ns > spec->stop.at_ns;
    advance(l, is_over && spec->stop.at_ns > l->now_ns ? spec->stop.at_ns : is_over ? l->now_ns : at_ns);
    l->totals.is_cut = is_over;
    return !is_over;
}

bool ledger_at_second(struct ledger *l, int64_t at_s)
{
    bool is_beyond = at_s > INT64_MAX / NS_PER_S;
    if (!is_beyond || l->spec->stop.at_ns != RUN_NO_LIMIT)
        return ledger_at(l, is_beyond ? INT64_MAX : at_s * NS_PER_S);
    if (!l->has_failed)
        error_set(l->err, BRAID_BAD_INPUT,
                  "the schedule goes on for more than 292 years, where time ends; give fewer or shorter jobs");
    l->has_failed = true;
    return false;
}

/* ---- what happens to jobs -------------------------------------------------------------------------- */

static struct demand demand_of(const struct ledger *l, uint32_t job)
{
    return (struct demand){.gpus = l->w->gpus[job], .gpu_type = NAMES_NONE};
}

static void tell(struct ledger *l, enum decision_kind kind, uint32_t job)
{
    const struct run_watch *watch = &l->spec->watch;
    if (watch->decision != NULL)
        watch->decision(watch->self, l->now_ns, kind, job, l->w->vc[job], l->jobs[job].reason);
}

static void segment(const struct ledger *l, uint32_t job, int64_t begin, int64_t end, enum segment_kind kind)
{
    const struct run_watch *watch = &l->spec->watch;
    if (watch->segment == NULL || begin >= end)
        return;
    const struct span *spans = NULL;
    uint32_t n = kind == SEGMENT_QUEUED ? 0 : cluster_alloc_spans(l->cluster, l->jobs[job].alloc, &spans);
    watch->segment(watch->self, job, begin, end, kind, kind == SEGMENT_RUN ? 1.0 : 0.0, UINT32_MAX, spans, n);
}

static void done(struct ledger *l, uint32_t job, enum job_status status, const char *reason)
{
    struct job *j = &l->jobs[job];
    j->state = JOB_DONE;
    j->status = (uint8_t)status;
    j->reason = reason;
    j->end_ns = l->now_ns;
    j->rate = 0;
}

static struct ledger_queue *touch(struct ledger *l, uint32_t job)
{
    struct ledger_queue *q = &l->queues[l->jobs[job].instance];
    q->is_touched = true;
    l->totals.events++;
    return q;
}

bool ledger_submit(struct ledger *l, uint32_t job)
{
    struct job *j = &l->jobs[job];
    uint32_t queue = ledger_queue_of(l, job);
    j->since_ns = l->now_ns;
    if (++l->n_submitted == l->w->n_jobs && !l->has_window) {
        l->totals.allocated_gpu_ns_window = (double)l->allocated;
        l->totals.capacity_gpu_ns_window = (double)l->capacity;
        l->has_window = true;
    }
    if (queue == NAMES_NONE) {
        l->totals.events++;
        done(l, job, STATUS_REJECTED, "unknown_vc");
        tell(l, DECISION_REJECT, job);
        return false;
    }
    j->instance = (uint16_t)queue;
    j->state = JOB_QUEUED;
    struct ledger_queue *q = touch(l, job);
    q->queued_jobs++;
    q->queued_gpus += l->w->gpus[job];
    tell(l, DECISION_SUBMIT, job);
    return true;
}

void ledger_start(struct ledger *l, uint32_t job, uint32_t n_places)
{
    struct job *j = &l->jobs[job];
    struct demand d = demand_of(l, job);
    require(j->state == JOB_QUEUED, "job %u starts but is not queued", job);
    j->alloc = cluster_alloc(l->cluster, j->instance, job, &d, l->places, n_places);
    if (j->alloc == ALLOC_NONE) {
        fail_memory(l);
        return;
    }
    segment(l, job, j->since_ns, l->now_ns, SEGMENT_QUEUED);
    struct ledger_queue *q = touch(l, job);
    q->queued_jobs--;
    q->queued_gpus -= d.gpus;
    q->running_jobs++;
    q->allocated_gpus += d.gpus;
    l->totals.decisions++;
    j->since_ns = l->now_ns;
    j->state = JOB_RUNNING;
    j->rate = 1;
    bool is_first = j->start_ns < 0;
    if (is_first)
        j->start_ns = l->now_ns;
    else
        j->restarts++;
    tell(l, is_first ? DECISION_START : DECISION_RESUME, job);
}

/* The job gives its GPUs back; the time it held them is written down, its overhead first. */
static void release(struct ledger *l, uint32_t job)
{
    struct job *j = &l->jobs[job];
    struct demand d = demand_of(l, job);
    require(j->state == JOB_RUNNING, "job %u gives up GPUs but does not run", job);
    int64_t held = l->now_ns - j->since_ns, paid = l->debt_ns[job] < held ? l->debt_ns[job] : held, gpu_ns;
    segment(l, job, j->since_ns, j->since_ns + paid, SEGMENT_OVERHEAD);
    segment(l, job, j->since_ns + paid, l->now_ns, SEGMENT_RUN);
    l->debt_ns[job] -= paid;
    j->overhead_ns += paid;
    j->run_ns += held;
    if (__builtin_mul_overflow(held, (int64_t)d.gpus, &gpu_ns) || __builtin_add_overflow(j->gpu_ns, gpu_ns, &j->gpu_ns))
        j->gpu_ns = INT64_MAX;
    j->work_done += (double)(held - paid);
    j->work_checkpointed = j->work_done;
    j->since_ns = l->now_ns;
    cluster_free(l->cluster, j->instance, job, &d, j->alloc);
    cluster_forget(l->cluster, j->alloc);
    j->alloc = ALLOC_NONE;
    struct ledger_queue *q = touch(l, job);
    q->running_jobs--;
    q->allocated_gpus -= d.gpus;
}

void ledger_preempt(struct ledger *l, uint32_t job)
{
    struct job *j = &l->jobs[job];
    release(l, job);
    struct ledger_queue *q = &l->queues[j->instance];
    j->state = JOB_QUEUED;
    j->rate = 0;
    j->preemptions++;
    q->queued_jobs++;
    q->queued_gpus += l->w->gpus[job];
    l->totals.decisions++;
    tell(l, DECISION_PREEMPT, job);
}

void ledger_finish(struct ledger *l, uint32_t job)
{
    if (l->jobs[job].state == JOB_RUNNING) {
        release(l, job);
    } else {
        struct ledger_queue *q = touch(l, job);
        segment(l, job, l->jobs[job].since_ns, l->now_ns, SEGMENT_QUEUED);
        q->queued_jobs--;
        q->queued_gpus -= l->w->gpus[job];
    }
    done(l, job, STATUS_FINISHED, "");
    l->totals.last_end_ns = l->now_ns;
    used(l);
    tell(l, DECISION_FINISH, job);
}

/* ---- the end of an instant, and of all ------------------------------------------------------------- */

static void check_books(struct ledger *l)
{
    if (!l->has_failed && l->spec->check && !cluster_check(l->cluster, NAMES_NONE, l->err))
        l->has_failed = true;
}

void ledger_settle(struct ledger *l)
{
    const struct run_watch *watch = &l->spec->watch;
    uint64_t all_gpus = 0;
    l->totals.rounds++;
    for (uint32_t i = 0; i < l->n_queues; i++)
        all_gpus += cluster_partition(l->cluster, l->queues[i].partition)->gpus;
    for (uint32_t i = 0; i < l->n_queues; i++) {
        struct ledger_queue *q = &l->queues[i];
        if (!q->is_touched)
            continue;
        q->is_touched = false;
        struct run_levels levels = {
            .queued_jobs = q->queued_jobs,
            .running_jobs = q->running_jobs,
            .allocated_gpus = q->allocated_gpus,
            .capacity_gpus = cluster_partition(l->cluster, q->partition)->gpus,
            .all_capacity_gpus = all_gpus,
            .queued_gpus = q->queued_gpus,
        };
        if (watch->levels != NULL)
            watch->levels(watch->self, l->now_ns, i, &levels);
    }
    if ((l->instants & 4095) == 0)
        check_books(l);
}

static void close_job(struct ledger *l, uint32_t job, const char *why, const char *stuck)
{
    struct job *j = &l->jobs[job];
    struct ledger_queue *q = &l->queues[j->instance];
    if (j->state == JOB_DONE)
        return;
    if (j->state == JOB_NONE) {
        done(l, job, STATUS_NOT_SUBMITTED, "not_submitted");
        j->end_ns = -1;
        return;
    }
    if (j->state == JOB_RUNNING) {
        release(l, job);
    } else {
        segment(l, job, j->since_ns, l->now_ns, SEGMENT_QUEUED);
        q->queued_jobs--;
        stuck = j->start_ns < 0 ? "never_started" : "never_resumed";
    }
    done(l, job, STATUS_UNFINISHED, why != NULL ? why : stuck);
}

static int fill(struct ledger *l, struct run_result *out)
{
    const char **names = ARENA_NEW(l->results, const char *, l->n_queues);
    for (uint32_t i = 0; names != NULL && i < l->n_queues; i++)
        names[i] = arena_text(l->results, l->queues[i].name, strlen(l->queues[i].name));
    if (l->results->is_short || l->arena.is_short)
        return out_of_memory(l->err);
    l->totals.free_gpu_ns = (double)l->free;
    l->totals.useless_gpu_ns = (double)l->useless;
    l->totals.imbalance_ns = l->imbalance;
    l->totals.stop_ns = l->now_ns;
    *out = (struct run_result){.n_jobs = l->w->n_jobs,
                               .jobs = l->jobs,
                               .n_instances = l->n_queues,
                               .instance_names = names,
                               .totals = l->totals,
                               .arena = l->results};
    l->results = NULL;
    return BRAID_OK;
}

int ledger_close(struct ledger *l, struct run_result *out, const char *stuck)
{
    if (!l->has_window) { /* stopped before the last submission */
        l->totals.allocated_gpu_ns_window = (double)l->allocated;
        l->totals.capacity_gpu_ns_window = (double)l->capacity;
    }
    const char *why = l->totals.is_overloaded ? "overload" : l->now_ns >= l->spec->stop.at_ns ? "horizon" : NULL;
    for (uint32_t job = 0; job < l->w->n_jobs && !l->has_failed; job++)
        close_job(l, job, why, stuck);
    check_books(l);
    return l->has_failed ? l->err->code : fill(l, out);
}

uint32_t ledger_take_in_order(struct ledger *l, uint32_t queue, uint32_t gpus)
{
    const struct partition *p = cluster_partition(l->cluster, l->queues[queue].partition);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes && gpus > 0; i++) {
        uint32_t have = cluster_node(l->cluster, p->nodes[i])->free_gpus;
        if (have == 0)
            continue;
        have = have < gpus ? have : gpus;
        l->places[n++] = (struct place){p->nodes[i], have};
        gpus -= have;
    }
    require(gpus == 0, "%u GPUs are missing", gpus);
    return n;
}

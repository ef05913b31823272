#include "compat/muri_books.h"

#include "base/check.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_SEAT UINT32_MAX

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

int books_init(struct muri_books *b, const struct run_spec *spec, const struct cluster *c, uint32_t n_running,
               uint32_t n_spans, struct arena *a, struct error *err)
{
    const struct workload *w = spec->workload;
    uint32_t n_nodes = cluster_n_nodes(c), n_jobs = w->n_jobs;
    *b = (struct muri_books){.spec = spec,
                             .w = w,
                             .err = err,
                             .n_nodes = n_nodes,
                             .n_gpus = cluster_n_gpus(c),
                             .seats_room = n_running,
                             .spans_room = n_spans};
    b->results = malloc(sizeof *b->results);
    if (b->results == NULL)
        return out_of_memory(err);
    arena_init(b->results);
    b->jobs = ARENA_NEW(b->results, struct job, n_jobs);
    uint32_t *gpu_at = ARENA_NEW(a, uint32_t, (size_t)n_nodes + 1);
    for (int i = 0; i < 2; i++) {
        b->plan[i].seats = ARENA_NEW(a, struct books_seat, n_running);
        b->plan[i].spans = ARENA_NEW(a, struct span, n_spans);
    }
    b->seat_of = ARENA_NEW(a, uint32_t, n_jobs);
    b->gpu_seen = ARENA_NEW(a, uint64_t, b->n_gpus);
    b->node_used = ARENA_NEW(a, uint32_t, n_nodes);
    if (b->results->is_short || a->is_short)
        return out_of_memory(err);
    for (uint32_t i = 0; i < n_nodes; i++)
        gpu_at[i + 1] = gpu_at[i] + cluster_node(c, i)->gpus;
    b->gpu_at = gpu_at;
    for (uint32_t j = 0; j < n_jobs; j++) {
        b->jobs[j].start_ns = b->jobs[j].end_ns = -1;
        b->jobs[j].alloc = ALLOC_NONE;
        b->jobs[j].reason = "";
        b->seat_of[j] = NO_SEAT;
    }
    b->now_ns = n_jobs > 0 ? w->submit_ns[0] : 0;
    b->totals = (struct run_totals){
        .first_submit_ns = b->now_ns,
        .last_submit_ns = n_jobs > 0 ? w->submit_ns[n_jobs - 1] : 0,
        .last_end_ns = -1,
        .used_until_ns = b->now_ns,
    };
    return BRAID_OK;
}

void books_fini(struct muri_books *b)
{
    if (b->results != NULL) {
        arena_fini(b->results);
        free(b->results);
    }
    *b = (struct muri_books){0};
}

/* ---- the clock ------------------------------------------------------------------------------------- */

/* GPUs are used up to now. */
static void used(struct muri_books *b)
{
    b->totals.used_until_ns = b->now_ns;
    b->totals.allocated_gpu_ns_makespan = (double)b->allocated;
    b->totals.capacity_gpu_ns_makespan = (double)b->capacity;
}

static void advance(struct muri_books *b, int64_t to_ns)
{
    uint64_t dt = to_ns > b->now_ns ? (uint64_t)(to_ns - b->now_ns) : 0, free = b->n_gpus - b->used_gpus;
    if (dt == 0)
        return;
    b->capacity += (unsigned __int128)b->n_gpus * dt;
    b->allocated += (unsigned __int128)b->used_gpus * dt;
    b->free += (unsigned __int128)free * dt;
    b->useless += (unsigned __int128)(b->queued_jobs > 0 ? free : 0) * dt;
    if (b->used_gpus > 0) {
        double n = b->n_nodes, s = b->used_gpus, squares = 0;
        for (uint32_t i = 0; i < b->n_nodes; i++)
            squares += (double)b->node_used[i] * b->node_used[i];
        b->imbalance += sqrt(fmax(0.0, n * squares - s * s)) / s * (double)dt;
        b->totals.imbalance_span_ns += (double)dt;
    }
    b->now_ns = to_ns;
    if (b->used_gpus > 0)
        used(b);
}

bool books_at(struct muri_books *b, double now_s)
{
    const struct run_spec *spec = b->spec;
    if (b->queued_jobs > spec->stop.queue) {
        b->totals.is_overloaded = b->totals.is_cut = true;
        return false;
    }
    if ((++b->n_events & 255) == 0 && spec->cancel != NULL && *spec->cancel != 0) {
        error_set(b->err, BRAID_FAILED, "interrupted");
        return false;
    }
    if (!(now_s * 1e9 < 9.2e18)) {
        error_set(b->err, BRAID_FAILED, "the run goes on beyond 292 years");
        return false;
    }
    int64_t at_ns = llround(now_s * 1e9);
    bool is_over = at_ns > spec->stop.at_ns;
    advance(b, is_over ? spec->stop.at_ns : at_ns);
    b->totals.is_cut = is_over;
    return !is_over;
}

/* ---- what happens to jobs -------------------------------------------------------------------------- */

static void tell(const struct muri_books *b, enum decision_kind kind, uint32_t job)
{
    const struct run_watch *watch = &b->spec->watch;
    if (watch->decision != NULL)
        watch->decision(watch->self, b->now_ns, kind, job, b->w->vc[job], b->jobs[job].reason);
}

static void segment(const struct muri_books *b, uint32_t job, int64_t begin, int64_t end, enum segment_kind kind)
{
    const struct run_watch *watch = &b->spec->watch;
    if (watch->segment == NULL || begin >= end)
        return;
    if (kind == SEGMENT_QUEUED) {
        watch->segment(watch->self, job, begin, end, kind, 0, BOOKS_ALONE, NULL, 0);
        return;
    }
    const struct books_plan *p = &b->plan[b->in_force];
    const struct books_seat *s = &p->seats[b->seat_of[job]];
    watch->segment(watch->self, job, begin, end, kind, kind == SEGMENT_RUN ? s->rate : 0, s->group, p->spans + s->at,
                   s->n);
}

void books_interval(struct muri_books *b, uint32_t job, int64_t from_ns, double overhead_s)
{
    struct job *j = &b->jobs[job];
    int64_t begin = from_ns > j->since_ns ? from_ns : j->since_ns, held = b->now_ns - begin, gpu_ns;
    if (held <= 0)
        return;
    double overhead_ns = overhead_s * 1e9;
    int64_t paid = overhead_ns < (double)held ? llround(overhead_ns) : held;
    segment(b, job, begin, begin + paid, SEGMENT_OVERHEAD);
    segment(b, job, begin + paid, b->now_ns, SEGMENT_RUN);
    j->run_ns += held;
    j->overhead_ns += paid;
    j->work_done += (double)(held - paid) * j->rate;
    j->work_checkpointed = j->work_done;
    if (__builtin_mul_overflow(held, (int64_t)b->w->gpus[job], &gpu_ns) ||
        __builtin_add_overflow(j->gpu_ns, gpu_ns, &j->gpu_ns))
        j->gpu_ns = INT64_MAX;
}

static void done(struct muri_books *b, uint32_t job, enum job_status status, const char *reason)
{
    struct job *j = &b->jobs[job];
    if (j->state == JOB_RUNNING) {
        b->running_jobs--;
    } else if (j->state == JOB_QUEUED) {
        segment(b, job, j->since_ns, b->now_ns, SEGMENT_QUEUED);
        b->queued_jobs--;
        b->queued_gpus -= b->w->gpus[job];
    }
    j->end_ns = b->now_ns > b->w->submit_ns[job] ? b->now_ns : b->w->submit_ns[job];
    j->state = JOB_DONE;
    j->status = (uint8_t)status;
    j->reason = reason;
    j->rate = 0;
    b->seat_of[job] = NO_SEAT;
}

void books_finish(struct muri_books *b, uint32_t job)
{
    require(b->jobs[job].state == JOB_RUNNING, "job %u ends but does not run", job);
    done(b, job, STATUS_FINISHED, "");
    b->totals.events++;
    b->totals.last_end_ns = b->jobs[job].end_ns;
    used(b);
    tell(b, DECISION_FINISH, job);
}

void books_submit(struct muri_books *b, uint32_t job)
{
    struct job *j = &b->jobs[job];
    if (++b->n_submitted == b->w->n_jobs) {
        b->totals.allocated_gpu_ns_window = (double)b->allocated;
        b->totals.capacity_gpu_ns_window = (double)b->capacity;
        b->has_window = true;
    }
    b->totals.events++;
    b->queued_jobs++;
    b->queued_gpus += b->w->gpus[job];
    j->state = JOB_QUEUED;
    j->since_ns = b->w->submit_ns[job];
    tell(b, DECISION_SUBMIT, job);
}

/* ---- the plan -------------------------------------------------------------------------------------- */

void books_plan(struct muri_books *b)
{
    struct books_plan *p = &b->plan[!b->in_force];
    p->n_seats = p->n_spans = 0;
}

void books_run(struct muri_books *b, uint32_t job, const struct span *spans, uint32_t n_spans, uint32_t group,
               double rate)
{
    struct books_plan *p = &b->plan[!b->in_force];
    require(p->n_seats < b->seats_room && p->n_spans + n_spans <= b->spans_room, "%u jobs run on %u spans", p->n_seats,
            p->n_spans);
    p->seats[p->n_seats++] =
        (struct books_seat){.job = job, .group = group, .at = p->n_spans, .n = n_spans, .rate = rate};
    memcpy(p->spans + p->n_spans, spans, n_spans * sizeof *spans);
    p->n_spans += n_spans;
}

static void stop(struct muri_books *b, uint32_t job)
{
    struct job *j = &b->jobs[job];
    j->state = JOB_QUEUED;
    j->rate = 0;
    j->preemptions++;
    j->since_ns = b->now_ns;
    b->running_jobs--;
    b->queued_jobs++;
    b->queued_gpus += b->w->gpus[job];
    b->totals.decisions++;
    b->seat_of[job] = NO_SEAT;
    tell(b, DECISION_PREEMPT, job);
}

static void start(struct muri_books *b, uint32_t job)
{
    struct job *j = &b->jobs[job];
    int64_t at_ns = b->now_ns > j->since_ns ? b->now_ns : j->since_ns; /* never before its submission */
    segment(b, job, j->since_ns, at_ns, SEGMENT_QUEUED);
    j->state = JOB_RUNNING;
    j->since_ns = at_ns;
    b->running_jobs++;
    b->queued_jobs--;
    b->queued_gpus -= b->w->gpus[job];
    b->totals.decisions++;
    bool is_first = j->start_ns < 0;
    if (is_first)
        j->start_ns = at_ns;
    else
        j->restarts++;
    tell(b, is_first ? DECISION_START : DECISION_RESUME, job);
}

/* Has the job other nodes than before? Numbers of GPUs say nothing there. */
static bool has_moved(const struct muri_books *b, const struct books_seat *was, const struct books_seat *is)
{
    const struct span *a = b->plan[b->in_force].spans + was->at, *c = b->plan[!b->in_force].spans + is->at;
    if (was->n != is->n)
        return true;
    for (uint32_t i = 0; i < is->n; i++)
        if (a[i].node != c[i].node || a[i].gpu_count != c[i].gpu_count)
            return true;
    return false;
}

/* GPUs in use, each counted once however many jobs are on it. */
static void count_gpus(struct muri_books *b, const struct books_plan *p)
{
    memset(b->node_used, 0, b->n_nodes * sizeof *b->node_used);
    b->used_gpus = 0;
    for (uint32_t i = 0; i < p->n_spans; i++) {
        const struct span *s = &p->spans[i];
        for (uint32_t g = s->gpu_first; g < s->gpu_first + s->gpu_count; g++) {
            uint64_t *seen = &b->gpu_seen[b->gpu_at[s->node] + g];
            if (*seen == b->n_events)
                continue;
            *seen = b->n_events;
            b->node_used[s->node]++;
            b->used_gpus++;
        }
    }
}

static void tell_levels(const struct muri_books *b)
{
    const struct run_watch *watch = &b->spec->watch;
    struct run_levels levels = {
        .queued_jobs = b->queued_jobs,
        .running_jobs = b->running_jobs,
        .allocated_gpus = b->used_gpus,
        .capacity_gpus = b->n_gpus,
        .all_capacity_gpus = b->n_gpus,
        .queued_gpus = b->queued_gpus,
    };
    if (watch->levels != NULL)
        watch->levels(watch->self, b->now_ns, 0, &levels);
}

void books_settle(struct muri_books *b)
{
    struct books_plan *was = &b->plan[b->in_force], *is = &b->plan[!b->in_force];
    for (uint32_t i = 0; i < is->n_seats; i++) { /* who keeps running is marked by its seat in the new plan */
        uint32_t job = is->seats[i].job, old = b->seat_of[job];
        if (old != NO_SEAT && has_moved(b, &was->seats[old], &is->seats[i])) {
            b->jobs[job].moves++;
            b->totals.decisions++;
            tell(b, DECISION_MOVE, job);
        }
        if (old != NO_SEAT)
            was->seats[old].job = NO_SEAT;
    }
    for (uint32_t i = 0; i < was->n_seats; i++)
        if (was->seats[i].job != NO_SEAT && b->jobs[was->seats[i].job].state == JOB_RUNNING)
            stop(b, was->seats[i].job);
    for (uint32_t i = 0; i < is->n_seats; i++) {
        uint32_t job = is->seats[i].job;
        if (b->jobs[job].state != JOB_RUNNING)
            start(b, job);
        b->jobs[job].rate = is->seats[i].rate;
        b->seat_of[job] = i;
    }
    b->in_force = !b->in_force;
    b->totals.rounds++;
    count_gpus(b, is);
    tell_levels(b);
}

/* ---- the end --------------------------------------------------------------------------------------- */

static void close_job(struct muri_books *b, uint32_t job, const char *why)
{
    struct job *j = &b->jobs[job];
    if (j->state == JOB_DONE)
        return;
    if (j->state == JOB_NONE) {
        done(b, job, STATUS_NOT_SUBMITTED, "not_submitted");
        j->end_ns = -1;
        return;
    }
    done(b, job, STATUS_UNFINISHED, why != NULL ? why : j->state == JOB_RUNNING ? "never_ends" : "never_started");
}

int books_close(struct muri_books *b, const double *share_done, struct run_result *out)
{
    const struct workload *w = b->w;
    const char *why = b->totals.is_overloaded ? "overload" : b->now_ns >= b->spec->stop.at_ns ? "horizon" : NULL;
    if (!b->has_window) { /* stopped before the last submission */
        b->totals.allocated_gpu_ns_window = (double)b->allocated;
        b->totals.capacity_gpu_ns_window = (double)b->capacity;
    }
    for (uint32_t job = 0; job < w->n_jobs; job++) {
        close_job(b, job, why);
        for (int k = 0; k < WORKLOAD_STAGES && w->stage_ns[0] != NULL; k++)
            b->totals.resource_gpu_ns[k] +=
                (double)w->iterations[job] * share_done[job] * (double)w->stage_ns[k][job] * w->gpus[job];
    }
    const char **names = ARENA_NEW(b->results, const char *, 1);
    if (b->results->is_short)
        return out_of_memory(b->err);
    names[0] = "";
    b->totals.free_gpu_ns = (double)b->free;
    b->totals.useless_gpu_ns = (double)b->useless;
    b->totals.imbalance_ns = b->imbalance;
    b->totals.stop_ns = b->now_ns;
    *out = (struct run_result){.n_jobs = w->n_jobs,
                               .jobs = b->jobs,
                               .n_instances = 1,
                               .instance_names = names,
                               .totals = b->totals,
                               .has_element_quantiles = true,
                               .arena = b->results};
    b->results = NULL;
    return BRAID_OK;
}

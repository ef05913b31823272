#include "experiment/execute.h"

#include "base/check.h"
#include "base/outfile.h"
#include "experiment/outcome.h"
#include "output/results_assemble.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { JOBS_AUTO_RUNS = 100, TICK_MS = 200 };

struct executor {
    const struct experiment *x;
    const struct execute_options *o;
    struct execute_report *report;
    struct error *err; /* the first error that stops all */
    struct parts parts;
    struct outcome_context context;
    const struct run_config **runs; /* planned, in order of execution */
    uint32_t n_runs;
    char (*ids)[RUN_ID_HEX + 1]; /* of the runs that have one, in order of their end */
    uint32_t *positions;         /* ids[i] in the order of the config */
    bool *in_final;              /* ids[i] is taken from the OUT.h5 that is there */
    bool *is_failed;
    uint32_t n_ids;
    struct error first_failure; /* of a run */
    uint32_t n_bad_input;       /* runs that failed as bad input */
    double began_s;
    int status; /* not 0: stop */
    int stop;   /* what the runs poll, where there are threads; atomic */

    /* the queue between workers and the writing thread */
    pthread_mutex_t lock;
    pthread_cond_t has_items, has_room;
    struct outcome **queue; /* a ring of `room` */
    uint32_t room, head, queued;
    uint32_t next;    /* run to take */
    uint32_t workers; /* that still work */
};

static double now_s(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool experiment_keeps_jobs(const struct experiment *x, const struct run_config *run)
{
    return run->output.jobs == OUTPUT_ON || (run->output.jobs == OUTPUT_AUTO && x->n_runs <= JOBS_AUTO_RUNS);
}

static bool is_cancelled(const struct executor *e)
{
    return e->o->cancel != NULL && *e->o->cancel != 0;
}

static void progress_tell(struct executor *e, const struct outcome *o, bool is_end)
{
    if (e->o->progress == NULL)
        return;
    const struct execute_report *r = e->report;
    struct execute_progress p = {.planned = r->planned,
                                 .reused = r->reused,
                                 .done = r->done,
                                 .failed = r->failed,
                                 .elapsed_s = now_s() - e->began_s,
                                 .eta_s = NAN,
                                 .is_end = is_end};
    uint32_t computed = r->done + r->failed, left = r->planned - r->reused - computed;
    if (computed > 0)
        p.eta_s = p.elapsed_s / computed * left;
    if (o != NULL) {
        p.run = o->config;
        p.id = o->id;
        p.message = o->error.code != 0 ? o->error.message : NULL;
    }
    e->o->progress(e->o->progress_self, &p);
}

/* ---- what becomes of an outcome (writing thread) ---- */

static int cost_store(struct executor *e, const struct outcome *o)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    const struct run_cost cost = {.wall_s = o->wall_s,
                                  .cpu_s = o->cpu_s,
                                  .peak_memory_mb = (double)usage.ru_maxrss * 1024 / 1e6,
                                  .threads = e->o->threads,
                                  .finished_at_s = (int64_t)time(NULL)};
    return parts_add_cost(&e->parts, o->id, &cost, e->err);
}

static void stop_with(struct executor *e, int status)
{
    e->status = status;
    __atomic_store_n(&e->stop, 1, __ATOMIC_RELAXED);
}

/* Rows read = kept + dropped, for the reader of the table. */
static void note_trace(struct executor *e, const struct trace_report *report)
{
    char dropped[256], text[sizeof e->report->trace];
    trace_dropped_text(report, dropped, sizeof dropped);
    snprintf(text, sizeof text, "%s, %llu rows read, %llu kept%s%s", report->format,
             (unsigned long long)report->rows_read, (unsigned long long)report->rows_kept,
             dropped[0] != '\0' ? "; dropped: " : "", dropped);
    if (e->report->trace[0] == '\0')
        memcpy(e->report->trace, text, sizeof text);
    else
        e->report->has_more_traces |= strcmp(e->report->trace, text) != 0;
}

static void outcome_store(struct executor *e, const struct outcome *o)
{
    if (e->status != 0)
        return;
    if (o->error.code != 0 && is_cancelled(e))
        return;            /* it was interrupted: neither done nor failed */
    if (o->base == NULL) { /* a trace that cannot be read is bad input for the whole experiment */
        *e->err = o->error;
        stop_with(e, o->error.code);
        return;
    }
    memcpy(e->ids[e->n_ids], o->id, sizeof o->id);
    e->positions[e->n_ids] = o->config->index;
    e->in_final[e->n_ids] = o->stored != NULL && o->stored->is_in_final;
    e->is_failed[e->n_ids] = o->error.code != 0;
    e->n_ids++;
    if (o->stored != NULL) {
        e->report->reused++;
        progress_tell(e, o, false);
        return;
    }
    int status = results_write_part(e->parts.folder, &o->output, e->err);
    if (status == 0 && o->error.code == 0)
        status = cost_store(e, o);
    if (status != 0) {
        stop_with(e, status);
        return;
    }
    note_trace(e, &o->output.workload->report);
    if (e->o->remarks != NULL)
        remarks_take(e->o->remarks, &o->remarks);
    if (o->error.code == 0) {
        e->report->done++;
    } else {
        if (e->report->failed++ == 0)
            e->first_failure = o->error;
        e->n_bad_input += o->error.code == BRAID_BAD_INPUT;
        if (e->o->fail_fast) {
            *e->err = o->error;
            stop_with(e, o->error.code);
        }
    }
    progress_tell(e, o, false);
}

/* ---- without threads ---- */

static void execute_alone(struct executor *e)
{
    e->context.cancel = e->o->cancel;
    e->context.threads = (uint32_t)(e->o->threads > 1 ? e->o->threads : 1); /* all of them for the one run */
    e->context.is_alone = true;
    for (; e->next < e->n_runs && e->status == 0 && !is_cancelled(e); e->next++) {
        struct outcome o;
        outcome_compute(&o, &e->context, e->runs[e->next], e->o->seats);
        outcome_store(e, &o);
        outcome_fini(&o, &e->context);
    }
}

/* ---- with threads ---- */

static void work(struct executor *e, struct run_seat *seat)
{
    for (;;) {
        pthread_mutex_lock(&e->lock);
        bool is_over = e->next == e->n_runs || __atomic_load_n(&e->stop, __ATOMIC_RELAXED) != 0;
        const struct run_config *run = is_over ? NULL : e->runs[e->next++];
        if (is_over) {
            e->workers--;
            pthread_cond_signal(&e->has_items);
        }
        pthread_mutex_unlock(&e->lock);
        if (is_over)
            return;
        struct outcome *o = malloc(sizeof *o);
        if (o != NULL)
            outcome_compute(o, &e->context, run, seat);
        pthread_mutex_lock(&e->lock);
        while (e->queued == e->room)
            pthread_cond_wait(&e->has_room, &e->lock);
        e->queue[(e->head + e->queued++) % e->room] = o; /* NULL: memory was out */
        pthread_cond_signal(&e->has_items);
        pthread_mutex_unlock(&e->lock);
    }
}

/* The next outcome, or NULL when a tick has passed; false when no more come. */
static bool queue_take(struct executor *e, struct outcome **o, bool *is_tick)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    *is_tick = false;
    *o = NULL;
    pthread_mutex_lock(&e->lock);
    while (e->queued == 0 && e->workers > 0 && !*is_tick)
        *is_tick = pthread_cond_timedwait(&e->has_items, &e->lock, &until) != 0;
    bool has_more = e->queued > 0 || e->workers > 0;
    if (e->queued > 0) {
        *is_tick = false;
        *o = e->queue[e->head];
        e->head = (e->head + 1) % e->room;
        e->queued--;
        pthread_cond_signal(&e->has_room);
    }
    pthread_mutex_unlock(&e->lock);
    return has_more;
}

static void write_outcomes(struct executor *e)
{
    struct outcome *o;
    bool is_tick;
    while (queue_take(e, &o, &is_tick)) {
        if (is_cancelled(e))
            __atomic_store_n(&e->stop, 1, __ATOMIC_RELAXED);
        if (is_tick) {
            progress_tell(e, NULL, false);
        } else if (o != NULL) {
            outcome_store(e, o);
            outcome_fini(o, &e->context);
            free(o);
        } else if (e->status == 0) {
            stop_with(e, error_set(e->err, BRAID_FAILED, "out of memory"));
        }
    }
}

static void execute_together(struct executor *e)
{
    uint32_t threads = (uint32_t)e->o->threads < e->n_runs ? (uint32_t)e->o->threads : e->n_runs;
    e->room = threads;
    e->queue = calloc((size_t)threads + 1, sizeof(struct outcome *));
    if (e->queue == NULL) {
        stop_with(e, error_set(e->err, BRAID_FAILED, "out of memory"));
        return;
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->has_items, NULL);
    pthread_cond_init(&e->has_room, NULL);
    e->context.cancel = &e->stop;
    e->context.threads = (uint32_t)e->o->threads / threads; /* more threads than runs: the rest is lent to policies */
    if (e->context.threads > 1 && omp_get_max_active_levels() < 2)
        omp_set_max_active_levels(2);
    bool is_alone = false;
#pragma omp parallel num_threads((int)threads + 1) default(none) shared(e, is_alone)
    {
        int team = omp_get_num_threads(), me = omp_get_thread_num();
        /* the runtime may give fewer threads than asked for, even one (a limit, a parallel region around us) */
        if (me == 0) {
            pthread_mutex_lock(&e->lock);
            e->workers = (uint32_t)(team - 1);
            is_alone = team == 1;
            pthread_mutex_unlock(&e->lock);
        }
#pragma omp barrier
        if (me > 0)
            work(e, e->o->seats != NULL ? &e->o->seats[me - 1] : NULL);
        else if (team > 1)
            write_outcomes(e);
    }
    if (is_alone)
        execute_alone(e);
    pthread_cond_destroy(&e->has_room);
    pthread_cond_destroy(&e->has_items);
    pthread_mutex_destroy(&e->lock);
    free(e->queue);
}

/* ---- the plan ---- */

static bool is_in_shard(uint32_t index, uint32_t shard, uint32_t n_shards)
{
    return n_shards == 0 || index % n_shards == shard - 1;
}

struct ordered_run {
    const struct run_config *run;
    uint32_t first; /* index of the first planned run with the same trace */
};

static int compare_key(const void *a, const void *b)
{
    const struct ordered_run *x = a, *y = b;
    int by_key = strcmp(x->run->trace_key, y->run->trace_key);
    return by_key != 0 ? by_key : x->run->index < y->run->index ? -1 : 1;
}

static int compare_order(const void *a, const void *b)
{
    const struct ordered_run *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->run->index < y->run->index ? -1 : 1;
}

/* The runs of the shard, those of one trace behind each other, so that few workloads are held at once. NULL when memory is out. */
static const struct run_config **plan(const struct experiment *x, uint32_t shard, uint32_t n_shards, uint32_t *n)
{
    struct ordered_run *order = calloc((size_t)x->n_runs + 1, sizeof *order);
    const struct run_config **runs = calloc((size_t)x->n_runs + 1, sizeof *runs);
    *n = 0;
    if (order == NULL || runs == NULL) {
        free(order);
        free(runs);
        return NULL;
    }
    for (uint32_t i = 0; i < x->n_runs; i++)
        if (is_in_shard(x->runs[i].index, shard, n_shards))
            order[(*n)++].run = &x->runs[i];
    if (*n > 1)
        qsort(order, *n, sizeof *order, compare_key);
    for (uint32_t i = 0; i < *n; i++) {
        bool is_same = i > 0 && strcmp(order[i].run->trace_key, order[i - 1].run->trace_key) == 0;
        order[i].first = is_same ? order[i - 1].first : order[i].run->index;
    }
    if (*n > 1)
        qsort(order, *n, sizeof *order, compare_order);
    for (uint32_t i = 0; i < *n; i++)
        runs[i] = order[i].run;
    free(order);
    return runs;
}

/* ---- the final file ---- */

/* A run of the new file and its place in the order of the config (-1: it is another shard's, whose place is stored). */
struct kept_run {
    const char *id;
    int64_t position;
};

static int compare_kept(const void *a, const void *b)
{
    const struct kept_run *x = a, *y = b;
    int by_id = strcmp(x->id, y->id);
    if (by_id != 0)
        return by_id;
    if ((x->position < 0) != (y->position < 0))
        return x->position < 0 ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

static int compare_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The runs of the new file by id, each once. Those of a shard's file that is there and belong to other shards stay, when it is taken up
 * again. */
static uint32_t kept_list(const struct executor *e, struct kept_run *kept, bool *needs_final)
{
    uint32_t n = 0;
    *needs_final = false;
    for (uint32_t i = 0; i < e->n_ids; i++) {
        kept[n++] = (struct kept_run){e->ids[i], e->positions[i]};
        *needs_final |= e->in_final[i];
    }
    for (uint32_t i = 0; e->o->n_shards > 0 && i < e->parts.n_stored; i++)
        if (e->parts.stored[i].is_in_final) {
            kept[n++] = (struct kept_run){e->parts.stored[i].id, -1};
            *needs_final = true;
        }
    qsort(kept, n, sizeof *kept, compare_kept);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || strcmp(kept[i].id, kept[i - 1].id) != 0)
            kept[unique++] = kept[i];
    return unique;
}

static int finish(struct executor *e)
{
    size_t most = (size_t)e->n_ids + e->parts.n_stored + 1;
    struct kept_run *kept = calloc(most, sizeof *kept);
    const char **ids = calloc(most, sizeof *ids);
    int64_t *positions = calloc(most, sizeof *positions);
    char **paths = calloc(most, sizeof *paths);
    uint32_t n_paths = 0;
    int status = 0;
    if (kept == NULL || ids == NULL || positions == NULL || paths == NULL) {
        status = error_set(e->err, BRAID_FAILED, "out of memory");
        goto done;
    }
    bool needs_final;
    uint32_t n = kept_list(e, kept, &needs_final);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = kept[i].id;
        positions[i] = kept[i].position;
    }
    for (uint32_t i = 0; i < e->n_ids && status == 0; i++) {
        if (e->in_final[i])
            continue;
        paths[n_paths] = parts_path(&e->parts, e->ids[i], e->is_failed[i]);
        if (paths[n_paths++] == NULL)
            status = error_set(e->err, BRAID_FAILED, "out of memory");
    }
    if (status != 0)
        goto done;
    /* in order of id, which is their order in the file; two runs of one id are one part */
    qsort(paths, n_paths, sizeof *paths, compare_path);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < n_paths; i++) {
        if (unique > 0 && strcmp(paths[unique - 1], paths[i]) == 0) {
            free(paths[i]);
            continue;
        }
        paths[unique++] = paths[i];
    }
    n_paths = unique;
    if (needs_final)
        paths[n_paths] = (char *)e->o->output; /* not freed below */
    const struct assemble_options options = {.only = ids, .n_only = n, .positions = positions, .may_link = true};
    status = results_assemble_runs(e->o->output, (const char *const *)paths, n_paths + needs_final, &options, e->err);
    if (status == 0)
        status = parts_finish(&e->parts, ids, n, e->o->n_shards == 0, e->err);
done:
    for (uint32_t i = 0; paths != NULL && i < n_paths; i++)
        free(paths[i]);
    free(paths);
    free(ids);
    free(positions);
    free(kept);
    return status;
}

/* After the runs: make the file, or say why not. */
static int conclude(struct executor *e)
{
    struct execute_report *r = e->report;
    uint32_t stored = r->done + r->reused;
    if (e->status != 0)
        return e->status;
    if (is_cancelled(e) && stored + r->failed < r->planned) {
        r->was_interrupted = true;
        return error_at(e->err, BRAID_FAILED, e->o->output, 0, 0,
                        "interrupted: %u of %u runs are stored in %s; run again with --resume to go on", stored,
                        r->planned, e->parts.folder);
    }
    if (r->failed > 0 && stored == 0) { /* nothing to keep: the file that is there stays */
        *e->err = e->first_failure;
        return e->n_bad_input == r->failed ? BRAID_BAD_INPUT : BRAID_FAILED;
    }
    int status = finish(e);
    if (status != 0)
        return status;
    r->is_written = true;
    r->is_complete = r->failed == 0;
    if (r->failed == 0)
        return BRAID_OK;
    char why[600];
    snprintf(why, sizeof why, "%.590s", e->first_failure.message);
    return error_at(e->err, BRAID_FAILED, e->o->output, 0, 0,
                    "%u of %u runs failed (the others are stored; --resume tries these again); the first: %s",
                    r->failed, r->planned, why);
}

static bool executor_alloc(struct executor *e)
{
    e->runs = plan(e->x, e->o->shard, e->o->n_shards, &e->n_runs);
    if (e->runs == NULL)
        return false;
    e->ids = calloc((size_t)e->n_runs + 1, sizeof *e->ids);
    e->positions = calloc((size_t)e->n_runs + 1, sizeof *e->positions);
    e->in_final = calloc((size_t)e->n_runs + 1, sizeof *e->in_final);
    e->is_failed = calloc((size_t)e->n_runs + 1, sizeof *e->is_failed);
    e->context.cache = workload_cache_create(e->runs, e->n_runs);
    return e->ids != NULL && e->positions != NULL && e->in_final != NULL && e->is_failed != NULL && e->context.cache != NULL;
}

static void executor_free(struct executor *e)
{
    workload_cache_destroy(e->context.cache);
    free(e->runs);
    free(e->ids);
    free(e->positions);
    free(e->in_final);
    free(e->is_failed);
}

/* Neither the config nor a file that it names is what the results are to replace. */
static int refuse_inputs(const struct executor *e)
{
    const struct experiment *x = e->x;
    for (uint32_t i = 0; i <= x->n_inputs; i++) {
        const char *input = i < x->n_inputs ? x->inputs[i] : x->path;
        if (outfile_refuse_input(e->o->output, input, e->err) != 0 ||
            outfile_refuse_input(e->parts.final_cost_path, input, e->err) != 0)
            return e->err->code;
    }
    return 0;
}

int experiment_execute(const struct experiment *x, const struct execute_options *o, struct execute_report *report,
                       struct error *err)
{
    struct error local = {0};
    struct executor e = {.x = x, .o = o, .report = report, .err = err != NULL ? err : &local, .began_s = now_s()};
    *report = (struct execute_report){0};
    int status = parts_open(&e.parts, o->output, o->resume, e.err);
    if (status != 0)
        return status;
    e.context.x = x;
    e.context.check = o->check;
    e.context.parts = &e.parts;
    status = refuse_inputs(&e);
    if (status != 0) {
        parts_close(&e.parts);
        return status;
    }
    if (!executor_alloc(&e)) {
        status = error_set(e.err, BRAID_FAILED, "out of memory");
    } else {
        report->planned = e.n_runs;
        progress_tell(&e, NULL, false);
        if (o->threads <= 1 || e.n_runs <= 1)
            execute_alone(&e);
        else
            execute_together(&e);
        status = conclude(&e);
        progress_tell(&e, NULL, true);
    }
    executor_free(&e);
    parts_close(&e.parts);
    return status;
}

int experiment_list(const struct experiment *x, uint32_t shard, uint32_t n_shards,
                    void (*each)(void *self, const struct run_config *run, const char *id), void *self,
                    struct error *err)
{
    uint32_t n;
    const struct run_config **runs = plan(x, shard, n_shards, &n);
    struct workload_cache *cache = runs != NULL ? workload_cache_create(runs, n) : NULL;
    char(*ids)[RUN_ID_HEX + 1] = calloc((size_t)x->n_runs + 1, sizeof *ids);
    int status = 0;
    if (cache == NULL || ids == NULL)
        status = error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < n && status == 0; i++) {
        struct error why = {0};
        const struct workload *w = workload_cache_get(cache, runs[i], &why);
        if (w != NULL)
            results_run_id(runs[i], w, ids[runs[i]->index]);
        workload_cache_put(cache, runs[i]);
        status = why.code;
        if (status != 0 && err != NULL)
            *err = why;
    }
    for (uint32_t i = 0; i < x->n_runs && status == 0; i++)
        if (is_in_shard(x->runs[i].index, shard, n_shards))
            each(self, &x->runs[i], ids[x->runs[i].index]);
    workload_cache_destroy(cache);
    free(runs);
    free(ids);
    return status;
}

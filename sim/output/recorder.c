/*
 *        bin 0           bin 1           bin 2
 *   |---------------|---------------|---------------|---
 *   0             step           2 step          3 step
 *
 * Levels change at instants. A bin (begin, end] takes in the instant at its end, so a count at time t is what holds after all that
 * happens at t. Each queue adds what it allocates and what it could to two integrals that start anew with each bin. The last bin of a run
 * that `stop` ended is cut there: what would have been after it is not known.
 */
#include "output/recorder_resources.h"
#include "output/recorder_tables.h"

#include "base/number.h"
#include "experiment/experiment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table that grows. */
struct rows {
    void *data;
    size_t n, capacity;
};

struct queue {
    struct run_levels levels;
    int64_t since_ns;                         /* the integrals hold up to here */
    double allocated_gpu_ns, capacity_gpu_ns; /* in the open bin */
};

/* What the policy tells: the present value of each name in each queue. */
struct observed {
    char names[OBSERVED_NAMES][OBSERVED_NAME_MAX];
    uint32_t n_names;
    double *now;     /* [queue][OBSERVED_NAMES]; NULL until something is told */
    uint64_t *known; /* by queue: a bit a name */
    struct rows rows;
};

struct recorder {
    int64_t step_ns; /* 0: off */
    bool segments, events;
    bool is_short; /* memory ran out */
    bool is_full;  /* the series would pass rows_max: nothing is kept any more */
    uint64_t rows_max;
    uint32_t n_queues, n_scopes;
    struct queue *queues;
    int64_t bin_end_ns;
    int64_t end_ns; /* of the last bin, once the run is over */
    /* what the queues may use together, which is less than the sum where they share nodes; its integral as in struct queue */
    uint64_t all_gpus;
    int64_t all_since_ns;
    double all_gpu_ns;
    bool has_resources;
    struct recorder_resources resources;
    struct observed observed;
    struct rows capacity; /* GPU ns, [bin][queue, then all], where there are resources */
    struct rows series, segment_rows, alloc_rows, event_rows, why;
};

static void *rows_add(struct recorder *r, struct rows *t, size_t size, size_t count)
{
    if (r->is_short || r->is_full)
        return NULL;
    if (t->capacity - t->n < count) {
        size_t capacity = t->capacity + t->capacity / 2 + count + 256;
        void *data = capacity > SIZE_MAX / size ? NULL : realloc(t->data, capacity * size);
        if (data == NULL) {
            r->is_short = true;
            return NULL;
        }
        t->data = data;
        t->capacity = capacity;
    }
    void *at = (char *)t->data + t->n * size;
    t->n += count;
    return at;
}

const char *series_name_text(enum series_name n)
{
    static const char *const names[SERIES_NAMES] = {
        [SERIES_QUEUED_JOBS] = "queued_jobs",
        [SERIES_RUNNING_JOBS] = "running_jobs",
        [SERIES_ALLOCATED_GPUS] = "allocated_gpus",
        [SERIES_CAPACITY_GPUS] = "capacity_gpus",
        [SERIES_GPU_UTILIZATION] = "gpu_utilization",
        [SERIES_QUEUED_GPUS] = "queued_gpus",
        [SERIES_STORAGE_UTILIZATION] = "storage_utilization",
        [SERIES_CPU_UTILIZATION] = "cpu_utilization",
        [SERIES_GPU_BUSY] = "gpu_busy",
        [SERIES_NETWORK_UTILIZATION] = "network_utilization",
    };
    return names[n];
}

struct recorder *recorder_create(const struct output_spec *what, uint32_t n_instances, struct error *err)
{
    struct recorder *r = calloc(1, sizeof *r);
    uint32_t n = n_instances > 0 ? n_instances : 1;
    struct queue *queues = calloc(n, sizeof *queues);
    if (r == NULL || queues == NULL) {
        free(r);
        free(queues);
        error_set(err, BRAID_FAILED, "out of memory for a recorder of %u queues", n_instances);
        return NULL;
    }
    r->step_ns = what->series_step_ns;
    r->rows_max = SERIES_ROWS_MAX;
    r->segments = what->segments;
    r->events = what->events;
    r->queues = queues;
    r->n_queues = n;
    r->n_scopes = n > 1 ? n + 1 : 1;
    r->bin_end_ns = r->step_ns;
    return r;
}

void recorder_limit(struct recorder *r, uint64_t rows_max)
{
    r->rows_max = rows_max;
}

int recorder_follow(struct recorder *r, const struct workload *w, const struct cluster_spec *cluster, struct error *err)
{
    if (r->step_ns <= 0 || w->stage_ns[0] == NULL || w->iteration_ns == NULL)
        return BRAID_OK;
    if (!recorder_resources_init(&r->resources, w, cluster, r->n_queues, r->step_ns))
        return error_set(err, BRAID_FAILED, "out of memory for a recorder of %u queues", r->n_queues);
    r->has_resources = true;
    return BRAID_OK;
}

void recorder_destroy(struct recorder *r)
{
    if (r == NULL)
        return;
    free(r->queues);
    recorder_resources_fini(&r->resources);
    free(r->capacity.data);
    free(r->observed.now);
    free(r->observed.known);
    free(r->observed.rows.data);
    free(r->series.data);
    free(r->segment_rows.data);
    free(r->alloc_rows.data);
    free(r->event_rows.data);
    free(r->why.data);
    free(r);
}

/* ---- series ---- */

static void queue_advance(struct queue *q, int64_t to_ns)
{
    double span = (double)(to_ns - q->since_ns);
    q->allocated_gpu_ns += span * q->levels.allocated_gpus;
    q->capacity_gpu_ns += span * q->levels.capacity_gpus;
    q->since_ns = to_ns;
}

static void all_advance(struct recorder *r, int64_t to_ns)
{
    r->all_gpu_ns += (double)(to_ns - r->all_since_ns) * (double)r->all_gpus;
    r->all_since_ns = to_ns;
}

static void values_add(double *v, const struct queue *q)
{
    v[SERIES_QUEUED_JOBS] += q->levels.queued_jobs;
    v[SERIES_RUNNING_JOBS] += q->levels.running_jobs;
    v[SERIES_ALLOCATED_GPUS] += q->levels.allocated_gpus;
    v[SERIES_QUEUED_GPUS] += (double)q->levels.queued_gpus;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static uint32_t n_names(const struct recorder *r)
{
    return r->has_resources ? SERIES_NAMES : SERIES_LEVELS;
}

/* Rows of /series that a bin has now: levels, and what the policy has told of itself so far. */
static uint64_t rows_per_bin(const struct recorder *r)
{
    uint64_t n = (uint64_t)r->n_scopes * n_names(r);
    for (uint32_t q = 0; q < r->n_queues && r->observed.known != NULL; q++)
        n += (uint64_t)__builtin_popcountll(r->observed.known[q]);
    return n;
}

static bool is_over(const struct recorder *r)
{
    return r->is_short || r->is_full;
}

/* The rows of the bin that closes: what has been told, queue by queue in order of the names' first appearance. */
static void observed_close(struct recorder *r)
{
    const struct observed *o = &r->observed;
    for (uint32_t q = 0; q < r->n_queues && o->now != NULL; q++)
        for (uint32_t k = 0; k < o->n_names; k++) {
            if (!(o->known[q] >> k & 1))
                continue;
            struct observed_row *row = rows_add(r, &r->observed.rows, sizeof *row, 1);
            if (row == NULL)
                return;
            *row = (struct observed_row){.bin = (uint64_t)(r->bin_end_ns / r->step_ns - 1),
                                         .scope = r->n_scopes > 1 ? 1 + q : 0,
                                         .name = k,
                                         .value = o->now[(size_t)q * OBSERVED_NAMES + k]};
        }
}

/* Close the open bin at `end_ns`: the end of a step, but for the last bin of a run that was cut. */
static void bin_close(struct recorder *r, int64_t end_ns)
{
    observed_close(r);
    size_t n = (size_t)r->n_scopes * n_names(r);
    double *v = rows_add(r, &r->series, sizeof *v, n);
    double *capacities = r->has_resources ? rows_add(r, &r->capacity, sizeof *capacities, r->n_queues + 1) : NULL;
    if (r->is_short)
        return;
    memset(v, 0, n * sizeof *v);
    double allocated = 0;
    all_advance(r, end_ns);
    for (uint32_t i = 0; i < r->n_queues; i++) {
        struct queue *q = &r->queues[i];
        queue_advance(q, end_ns);
        values_add(v, q);
        if (r->n_scopes > 1) {
            double *mine = v + (size_t)(1 + i) * n_names(r);
            values_add(mine, q);
            mine[SERIES_CAPACITY_GPUS] = q->levels.capacity_gpus;
            mine[SERIES_GPU_UTILIZATION] = share(q->allocated_gpu_ns, q->capacity_gpu_ns);
        }
        allocated += q->allocated_gpu_ns;
        if (capacities != NULL)
            capacities[i] = q->capacity_gpu_ns;
        q->allocated_gpu_ns = q->capacity_gpu_ns = 0;
    }
    v[SERIES_CAPACITY_GPUS] = (double)r->all_gpus;
    v[SERIES_GPU_UTILIZATION] = share(allocated, r->all_gpu_ns);
    if (capacities != NULL)
        capacities[r->n_queues] = r->all_gpu_ns;
    r->all_gpu_ns = 0;
    r->end_ns = end_ns;
    r->bin_end_ns += r->step_ns;
}

/* Close the bins that end before `to_ns`, or none where they are too many: there may be far more than could ever be kept. */
static void bins_close(struct recorder *r, int64_t to_ns)
{
    if (r->bin_end_ns >= to_ns || is_over(r))
        return;
    uint64_t bins = (uint64_t)((to_ns - r->bin_end_ns - 1) / r->step_ns) + 1, kept = r->series.n + r->observed.rows.n;
    r->is_full = kept > r->rows_max || bins > (r->rows_max - kept) / rows_per_bin(r);
    while (r->bin_end_ns < to_ns && !is_over(r))
        bin_close(r, r->bin_end_ns);
}

static void on_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct recorder *r = self;
    bins_close(r, at_ns);
    if (r->is_short || instance >= r->n_queues)
        return;
    queue_advance(&r->queues[instance], at_ns);
    r->queues[instance].levels = *levels;
    all_advance(r, at_ns);
    r->all_gpus = levels->all_capacity_gpus;
}

static void on_observe(void *self, int64_t at_ns, uint32_t instance, const char *name, double value)
{
    struct recorder *r = self;
    struct observed *o = &r->observed;
    bins_close(r, at_ns);
    if (o->now == NULL) {
        o->now = calloc((size_t)r->n_queues * OBSERVED_NAMES, sizeof *o->now);
        o->known = calloc(r->n_queues, sizeof *o->known);
        r->is_short |= o->now == NULL || o->known == NULL;
    }
    if (r->is_short || instance >= r->n_queues)
        return;
    uint32_t k = 0;
    while (k < o->n_names && strncmp(o->names[k], name, OBSERVED_NAME_MAX - 1) != 0)
        k++;
    if (k == OBSERVED_NAMES)
        return;
    if (k == o->n_names)
        snprintf(o->names[o->n_names++], OBSERVED_NAME_MAX, "%s", name);
    o->now[(size_t)instance * OBSERVED_NAMES + k] = value;
    o->known[instance] |= UINT64_C(1) << k;
}

/* The bins' values that wait for the end of the run. */
static void resources_fill(struct recorder *r)
{
    double *v = r->series.data;
    const double *capacities = r->capacity.data;
    size_t n_bins = r->capacity.n / (r->n_queues + 1);
    for (size_t bin = 0; bin < n_bins; bin++, capacities += r->n_queues + 1, v += (size_t)r->n_scopes * SERIES_NAMES)
        for (int k = 0; k < WORKLOAD_STAGES; k++) {
            double busy = 0;
            for (uint32_t i = 0; i < r->n_queues; i++) {
                double mine = recorder_resources_busy(&r->resources, bin, i, k);
                busy += mine;
                if (r->n_scopes > 1)
                    v[(size_t)(1 + i) * SERIES_NAMES + SERIES_LEVELS + (size_t)k] = share(mine, capacities[i]);
            }
            v[SERIES_LEVELS + k] = share(busy, capacities[r->n_queues]);
        }
}

/* ---- segments and decisions ---- */

static void on_segment(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind, double rate,
                       uint32_t group, const struct span *spans, uint32_t n_spans)
{
    struct recorder *r = self;
    if (end_ns <= begin_ns)
        return; /* nothing happened in no time */
    if (r->has_resources && kind == SEGMENT_RUN && !is_over(r))
        r->is_full = (uint64_t)((end_ns - 1) / r->step_ns) >= r->rows_max / rows_per_bin(r);
    if (r->has_resources && kind == SEGMENT_RUN && !is_over(r))
        r->is_short = !recorder_resources_add(&r->resources, job, begin_ns, end_ns, rate);
    if (!r->segments)
        return;
    uint64_t row = r->segment_rows.n;
    struct segment_row *s = rows_add(r, &r->segment_rows, sizeof *s, 1);
    if (s == NULL)
        return;
    *s = (struct segment_row){
        .begin_ns = begin_ns, .end_ns = end_ns, .rate = rate, .job = job, .group = group, .kind = (uint8_t)kind};
    struct alloc_row *a = rows_add(r, &r->alloc_rows, sizeof *a, n_spans);
    for (uint32_t i = 0; a != NULL && i < n_spans; i++)
        a[i] = (struct alloc_row){row, spans[i].node, spans[i].gpu_first, spans[i].gpu_count};
}

static void on_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc, const char *why)
{
    struct recorder *r = self;
    if (why == NULL)
        why = "";
    size_t n = strlen(why) + 1, at = r->why.n;
    bool is_repeated = r->event_rows.n > 0 && r->why.n >= n &&
                       strcmp((const char *)r->why.data + r->why.n - n, why) == 0 &&
                       (r->why.n == n || ((const char *)r->why.data)[r->why.n - n - 1] == '\0');
    if (is_repeated) {
        at -= n; /* mostly one reason follows itself */
    } else {
        char *text = rows_add(r, &r->why, 1, n);
        if (text != NULL)
            memcpy(text, why, n);
    }
    struct event_row *e = rows_add(r, &r->event_rows, sizeof *e, 1);
    if (e != NULL)
        *e = (struct event_row){.at_ns = at_ns, .why = at, .job = job, .vc = vc, .kind = (uint8_t)kind};
}

struct run_watch recorder_watch(struct recorder *r)
{
    return (struct run_watch){
        .self = r,
        .segment = r->segments || r->has_resources ? on_segment : NULL,
        .decision = r->events ? on_decision : NULL,
        .levels = r->step_ns > 0 ? on_levels : NULL,
        .observe = r->step_ns > 0 ? on_observe : NULL,
    };
}

bool recorder_finish(struct recorder *r, const struct run_result *result)
{
    const struct run_totals *t = &result->totals;
    if (r->step_ns > 0) {
        bins_close(r, t->stop_ns);
        if (r->bin_end_ns - r->step_ns < t->stop_ns && !is_over(r)) { /* the bin in which the run ends is the last */
            r->is_full = r->series.n + r->observed.rows.n + rows_per_bin(r) > r->rows_max;
            if (!r->is_full)
                bin_close(r, t->is_cut && t->stop_ns < r->bin_end_ns ? t->stop_ns : r->bin_end_ns);
        }
    }
    if (r->has_resources && !is_over(r))
        resources_fill(r);
    return !is_over(r);
}

int recorder_explain(const struct recorder *r, const struct run_result *result, struct error *err)
{
    if (!r->is_full)
        return error_set(err, BRAID_FAILED, "out of memory for the series and segments that 'output' asks for");
    const int64_t ms = NS_PER_S / 1000, length_ns = result->totals.stop_ns;
    const uint64_t rows = rows_per_bin(r), bins = (uint64_t)(length_ns / r->step_ns) + (length_ns % r->step_ns != 0);
    const uint64_t bins_max = r->rows_max / rows > 0 ? r->rows_max / rows : 1;
    const int64_t least_ns = (length_ns / (int64_t)bins_max / ms + 1) * ms;
    return error_set(err, BRAID_BAD_INPUT,
                     "output.series: the run lasts %.9g s, which makes %" PRIu64 " steps of %.9g s with %" PRIu64
                     " rows each, and more than %" PRIu64
                     " rows are not kept; make the step %.12g s or longer, or set it to off",
                     (double)length_ns / NS_PER_S, bins, (double)r->step_ns / NS_PER_S, rows, r->rows_max,
                     (double)least_ns / NS_PER_S);
}

void recorder_tables(const struct recorder *r, struct recorder_tables *out)
{
    size_t bin = (size_t)r->n_scopes * n_names(r);
    *out = (struct recorder_tables){
        .segments = r->segment_rows.data,
        .n_segments = r->segment_rows.n,
        .allocs = r->alloc_rows.data,
        .n_allocs = r->alloc_rows.n,
        .events = r->event_rows.data,
        .n_events = r->event_rows.n,
        .why = r->why.data,
        .series = r->series.data,
        .n_bins = r->series.n / bin,
        .n_names = n_names(r),
        .n_scopes = r->n_scopes,
        .step_ns = r->step_ns,
        .end_ns = r->end_ns,
        .observed = r->observed.rows.data,
        .n_observed = r->observed.rows.n,
        .observed_names = (const char(*)[OBSERVED_NAME_MAX])r->observed.names,
    };
}

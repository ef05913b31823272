/* The machine of speed U is simulated with a clock that counts what it has given, not time: a job is released at r U, and instants and volumes
 * are whole numbers. Volumes that do not fit into 63 bits are cut: less work bounds from below all the same. */
#include "output/bounds.h"

#include "output/sample.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES_MAX = 3, CUTS = 2 }; /* CUTS: how often the jobs that gain nothing are set aside */

#define SHARING_ERROR 0.005

struct entry {
    int64_t key; /* volume that remains, or the whole one */
    uint32_t job;
};

struct machine {
    const struct bound_job *jobs;
    const int64_t *volume;
    uint64_t speed;
    int64_t *left;  /* of each job's volume */
    double *least;  /* of each job: its part of the last pass's sum, ns */
    double *moment; /* of each job: where the middle of its work lies, volume x volume */
    struct entry *heap;
    uint32_t *lists[CUTS + 1];
};

/* ---- a heap of jobs by (key, job) ---- */

static bool entry_before(struct entry a, struct entry b)
{
    return a.key != b.key ? a.key < b.key : a.job < b.job;
}

static void heap_push(struct entry *heap, uint32_t *n, struct entry e)
{
    uint32_t at = (*n)++;
    for (; at > 0 && entry_before(e, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = e;
}

static void heap_pop(struct entry *heap, uint32_t *n)
{
    struct entry last = heap[--*n];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < *n) {
        child += child + 1 < *n && entry_before(heap[child + 1], heap[child]);
        if (!entry_before(heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* ---- one pass over the jobs of a busy period ---- */

static double alone_ns(const struct machine *m, const uint32_t *list, uint32_t n)
{
    struct sum sum = {0};
    for (uint32_t i = 0; i < n; i++)
        sum_add(&sum, (double)m->jobs[list[i]].duration_ns);
    return sum_value(&sum);
}

/* Machine time since the submission of the period's first job. */
static __int128 release(const struct machine *m, const uint32_t *list, uint32_t i)
{
    return (__int128)(m->jobs[list[i]].submit_ns - m->jobs[list[0]].submit_ns) * m->speed;
}

/* Work off the period; `is_srpt`: least remaining volume first, else least whole volume. Returns the bound on the sum and leaves each
 * job's part in m->least. */
static double period_pass(struct machine *m, const uint32_t *list, uint32_t n, bool is_srpt)
{
    uint32_t next = 0, queued = 0;
    __int128 now = 0;
    double speed = (double)m->speed;
    struct sum sum = {0};
    while (next < n || queued > 0) {
        for (; next < n && (queued == 0 || release(m, list, next) <= now); next++) {
            uint32_t job = list[next];
            now = queued == 0 ? release(m, list, next) : now; /* only the first: a period has no gap */
            m->left[job] = m->volume[job];
            m->moment[job] = 0;
            heap_push(m->heap, &queued, (struct entry){m->volume[job], job});
        }
        uint32_t job = m->heap[0].job;
        int64_t span = m->left[job];
        if (next < n && release(m, list, next) - now < span)
            span = (int64_t)(release(m, list, next) - now);
        __int128 released = (__int128)(m->jobs[job].submit_ns - m->jobs[list[0]].submit_ns) * m->speed;
        m->moment[job] += (double)span * ((double)(now - released) + (double)span / 2);
        now += span;
        m->left[job] -= span;
        if (is_srpt)
            m->heap[0].key = m->left[job]; /* less than before: it stays first */
        if (m->left[job] > 0)
            continue;
        heap_pop(m->heap, &queued);
        double duration = (double)m->jobs[job].duration_ns;
        if (m->volume[job] == 0)
            m->least[job] = duration; /* the machine does not bound it */
        else if (is_srpt)
            m->least[job] = (double)(now - released) / speed;
        else
            m->least[job] = m->moment[job] / (double)m->volume[job] / speed + duration / 2;
        sum_add(&sum, m->least[job]);
    }
    return sum_value(&sum);
}

static double flow_bound(struct machine *m, const uint32_t *list, uint32_t n, int depth, bool by_srpt, bool by_middle);

/* The jobs for which the last pass said less than their own duration are counted by that; the others have the machine for themselves. */
static double cut_bound(struct machine *m, const uint32_t *list, uint32_t n, int depth, bool is_srpt)
{
    if (depth == CUTS)
        return 0;
    uint32_t *kept = m->lists[depth + 1], n_kept = 0;
    struct sum sum = {0};
    for (uint32_t i = 0; i < n; i++)
        if (m->least[list[i]] < (double)m->jobs[list[i]].duration_ns)
            sum_add(&sum, (double)m->jobs[list[i]].duration_ns);
        else
            kept[n_kept++] = list[i];
    if (n_kept == n || n_kept == 0)
        return 0; /* nothing new */
    sum_add(&sum, flow_bound(m, kept, n_kept, depth + 1, is_srpt, !is_srpt));
    return sum_value(&sum);
}

static double period_bound(struct machine *m, const uint32_t *list, uint32_t n, int depth, bool by_srpt, bool by_middle)
{
    double best = alone_ns(m, list, n);
    if (n == 1)
        return best;
    if (by_srpt) {
        best = fmax(best, period_pass(m, list, n, true));
        best = fmax(best, cut_bound(m, list, n, depth, true));
    }
    if (by_middle) {
        best = fmax(best, period_pass(m, list, n, false));
        best = fmax(best, cut_bound(m, list, n, depth, false));
    }
    return best;
}

/* Cut at the instants at which the machine is idle, and add. Jobs without volume count by their duration. */
static double flow_bound(struct machine *m, const uint32_t *list, uint32_t n, int depth, bool by_srpt, bool by_middle)
{
    struct sum sum = {0};
    for (uint32_t first = 0, end; first < n; first = end) {
        __int128 busy = m->volume[list[first]];
        for (end = first + 1; end < n && release(m, list + first, end - first) < busy; end++)
            busy += m->volume[list[end]];
        sum_add(&sum, period_bound(m, list + first, end - first, depth, by_srpt, by_middle));
    }
    return sum_value(&sum);
}

/* ---- the ways to tell what a job takes ---- */

static int64_t volume_of(int64_t duration_ns, uint64_t taken)
{
    int64_t volume;
    return taken > INT64_MAX || __builtin_mul_overflow(duration_ns, (int64_t)taken, &volume) ? INT64_MAX : volume;
}

/* GPUs: u = g. True: worth while. */
static bool take_gpus(int64_t *volume, const struct bound_job *jobs, uint32_t n, uint64_t gpus)
{
    for (uint32_t i = 0; i < n; i++)
        volume[i] = volume_of(jobs[i].duration_ns, jobs[i].gpus < gpus ? jobs[i].gpus : gpus);
    return n > 0;
}

/* Sizes: the dual feasible function of order k. True when it makes any job larger than its share of the GPUs. */
static bool take_sizes(int64_t *volume, const struct bound_job *jobs, uint32_t n, uint64_t gpus, uint64_t k)
{
    bool is_larger = false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t g = jobs[i].gpus < gpus ? jobs[i].gpus : gpus, x = (k + 1) * g / gpus;
        uint64_t taken = (k + 1) * g % gpus == 0 ? k * x : (k + 1) * x;
        is_larger |= taken * gpus > g * k * (k + 1);
        volume[i] = volume_of(jobs[i].duration_ns, taken);
    }
    return is_larger;
}

/* A resource: g x its part of the time. A group's rates may be right to one part in 500 only (model/stage_sim.h), hence a little less. */
static bool take_resource(int64_t *volume, const struct bound_job *jobs, uint32_t n, uint64_t gpus, int resource)
{
    bool is_used = false;
    for (uint32_t i = 0; i < n; i++) {
        double part = fmin(1, fmax(0, (double)jobs[i].part[resource])) * (1 - SHARING_ERROR);
        double taken = (double)(jobs[i].gpus < gpus ? jobs[i].gpus : gpus) * part * (double)jobs[i].duration_ns;
        volume[i] = taken < 9e18 ? (int64_t)taken : INT64_MAX;
        is_used |= volume[i] > 0;
    }
    return is_used;
}

static int64_t last_by_volume(const struct machine *m, uint32_t n)
{
    __int128 volume = 0, last = 0;
    for (uint32_t i = n; i-- > 0;) {
        volume += m->volume[i];
        if (m->volume[i] == 0)
            continue; /* nothing of it need come after its release */
        __int128 end = m->jobs[i].submit_ns + (volume + m->speed - 1) / m->speed;
        last = end > last ? end : last;
    }
    return last > INT64_MAX ? INT64_MAX : (int64_t)last;
}

/* Take what the volumes in the machine say into `out` where it says more. */
static void bounds_raise(struct bounds *out, struct machine *m, uint32_t n, uint64_t speed)
{
    m->speed = speed;
    out->flow_ns = fmax(out->flow_ns, flow_bound(m, m->lists[0], n, 0, true, true));
    int64_t last = last_by_volume(m, n);
    out->last_ns = last > out->last_ns ? last : out->last_ns;
}

int bounds_compute(struct bounds *out, const struct bound_job *jobs, uint32_t n, uint64_t gpus, bool is_shared,
                   struct error *err)
{
    *out = (struct bounds){0};
    size_t room = (size_t)n + 1;
    int64_t *volume = malloc(room * sizeof *volume);
    struct machine m = {.jobs = jobs, .volume = volume};
    m.left = malloc(room * sizeof *m.left);
    m.least = malloc(room * sizeof *m.least);
    m.moment = malloc(room * sizeof *m.moment);
    m.heap = malloc(room * sizeof *m.heap);
    bool is_short = volume == NULL || m.left == NULL || m.least == NULL || m.moment == NULL || m.heap == NULL;
    for (int i = 0; i <= CUTS; i++) {
        m.lists[i] = malloc(room * sizeof *m.lists[i]);
        is_short |= m.lists[i] == NULL;
    }
    for (uint32_t i = 0; i < n && !is_short; i++) {
        int64_t end;
        if (__builtin_add_overflow(jobs[i].submit_ns, jobs[i].duration_ns, &end))
            end = INT64_MAX;
        out->last_ns = end > out->last_ns ? end : out->last_ns;
        m.lists[0][i] = i;
    }
    if (!is_short)
        out->flow_ns = alone_ns(&m, m.lists[0], n);
    if (!is_short && !is_shared) {
        if (take_gpus(volume, jobs, n, gpus))
            bounds_raise(out, &m, n, gpus);
        for (uint64_t k = 1; k <= SIZES_MAX; k++)
            if (take_sizes(volume, jobs, n, gpus, k))
                bounds_raise(out, &m, n, k * (k + 1));
    }
    for (int k = 0; k < BOUND_RESOURCES && !is_short && is_shared; k++)
        if (take_resource(volume, jobs, n, gpus, k))
            bounds_raise(out, &m, n, gpus);
    free(volume);
    free(m.left);
    free(m.least);
    free(m.moment);
    free(m.heap);
    for (int i = 0; i <= CUTS; i++)
        free(m.lists[i]);
    return is_short ? error_set(err, BRAID_FAILED, "out of memory for the bounds of %u jobs", n) : BRAID_OK;
}

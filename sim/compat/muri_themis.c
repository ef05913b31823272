/* muri_themis.c - themis: at every event shares x of the jobs are sought that make the largest rho smallest,
 *
 *     rho = (now - submit + left / (throughput x)) / (done so far + left / s),   0 <= x <= 1,   sum of GPUs x <= all GPUs,
 *
 * where, by a slip of the authors, s is a share where a throughput is meant, so that the denominator counts iterations.
 *
 * They ask an interior-point solver. Often the largest rho is that of a job which has x = 1 already; then the optimum is not unique, and what
 * that solver gives the others is an accident of its path, which nothing else can repeat. Here the second largest rho is made as small as it
 * can be without making the largest larger, then the third, and so on: the one optimum with the smallest rho in lexicographic order. It has
 * a simple form. With A = now - submit, B = left / throughput and D the denominator, a job needs
 *
 *     x(R) = min(1, B / (R D - A))      (1 where R D <= A)
 *
 * to reach rho <= R, if it can; R is the value at which these shares together take all GPUs, found to the precision of a double by
 * Newton's steps inside a bracket that is halved where they fail.
 */
#include "compat/muri_run.h"

#include <math.h>
#include <string.h>

/* One runnable job in one event. */
struct themis_row {
    uint32_t job;
    double a, b, d, gpus; /* as above */
    double share;
    double value, deficit; /* sorted by: first, second, and last the share; all descending */
};

struct themis {
    double *done;           /* by job: cum, sum of iterations over the share they were made with */
    double *remaining_then; /* by job, at the last event */
    double *share_then;     /* by job: s at the last event; 0: new */
    double *due_s;          /* by job: time it should have run */
    struct themis_row *rows, *spare;
    bool *is_chosen; /* by job */
};

static int init(struct muri *m)
{
    uint32_t n = m->w->n_jobs;
    struct themis *t = ARENA_NEW(&m->arena, struct themis, 1);
    if (t == NULL)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    m->state = t;
    t->done = ARENA_NEW(&m->arena, double, n);
    t->remaining_then = ARENA_NEW(&m->arena, double, n);
    t->share_then = ARENA_NEW(&m->arena, double, n);
    t->due_s = ARENA_NEW(&m->arena, double, n);
    t->rows = ARENA_NEW(&m->arena, struct themis_row, n);
    t->spare = ARENA_NEW(&m->arena, struct themis_row, n);
    t->is_chosen = ARENA_NEW(&m->arena, bool, n);
    return m->arena.is_short ? error_set(m->err, BRAID_FAILED, "out of memory") : BRAID_OK;
}

/* ---- shares ---------------------------------------------------------------------------------------- */

static double share_at(const struct themis_row *r, double rho)
{
    double room = rho * r->d - r->a;
    return room > r->b ? fmax(r->b, 0) / room : 1;
}

/* GPUs that the shares take at `rho`, and by how much that changes with it. */
static double demand_at(const struct themis_row *rows, uint32_t n, double rho, double *slope)
{
    double sum = 0;
    *slope = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = share_at(&rows[i], rho);
        sum += rows[i].gpus * x;
        if (x < 1)
            *slope -= rows[i].gpus * x * rows[i].d / (rho * rows[i].d - rows[i].a);
    }
    return sum;
}

/* The smallest rho at which the shares take no more than `capacity` GPUs, to the precision of a double; 0: all may have x = 1. */
static double solve(const struct themis_row *rows, uint32_t n, double capacity)
{
    double low = 0, high = 1, slope;
    if (demand_at(rows, n, low, &slope) <= capacity)
        return 0;
    while (demand_at(rows, n, high, &slope) > capacity) {
        low = high;
        high *= 2;
    }
    for (double rho = high;;) {
        double surplus = demand_at(rows, n, rho, &slope) - capacity,
               next = rho - surplus / slope; /* slope 0: no step */
        if (surplus > 0)
            low = rho;
        else
            high = rho;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - rho) <= 0x1p-52 * rho)
            return high;
        rho = next;
    }
}

/* ---- order ----------------------------------------------------------------------------------------- */

static bool is_before(const struct themis_row *x, const struct themis_row *y)
{
    if (x->value != y->value)
        return x->value > y->value;
    if (x->deficit != y->deficit)
        return x->deficit > y->deficit;
    return x->share > y->share;
}

/* Stable, by merging. */
static void sort(struct themis_row *v, uint32_t n, struct themis_row *spare)
{
    if (n < 2)
        return;
    uint32_t half = n / 2, i = 0, k = half;
    sort(v, half, spare);
    sort(v + half, n - half, spare);
    if (!is_before(&v[half], &v[half - 1]))
        return;
    memcpy(spare, v, n * sizeof *v);
    for (uint32_t at = 0; at < n; at++)
        v[at] = k >= n || (i < half && !is_before(&spare[k], &spare[i])) ? spare[i++] : spare[k++];
}

/* ---- one event ------------------------------------------------------------------------------------- */

static void fill_row(struct muri *m, struct themis *t, struct themis_row *r, uint32_t job, double per_job)
{
    double a = per_job / m->gpus[job], s = a / fmax(a, 1);
    if (t->share_then[job] > 0)
        t->done[job] += (t->remaining_then[job] - m->remaining[job]) / t->share_then[job];
    t->share_then[job] = s;
    t->remaining_then[job] = m->remaining[job];
    *r = (struct themis_row){.job = job,
                             .a = m->now_s - m->submit_s[job],
                             .b = m->remaining[job] * m->iteration_s[job],
                             .d = t->done[job] + m->remaining[job] / s,
                             .gpus = m->gpus[job]};
}

static void weigh(struct muri *m, struct themis *t, struct themis_row *r, double rho)
{
    double ran = m->executed_s[r->job];
    r->share = share_at(r, rho);
    r->value = ran > 0 ? r->share / ran : r->share * 1e9;
    r->deficit = t->due_s[r->job] - ran;
    t->due_s[r->job] += r->share * (m->now_s - m->last_s);
}

static void schedule(struct muri *m)
{
    struct themis *t = m->state;
    uint32_t n = m->list.n;
    double per_job = n > 0 ? ceil((double)m->n_gpus / n) : 0;
    for (uint32_t i = 0; i < n; i++)
        fill_row(m, t, &t->rows[i], m->list.v[i], per_job);
    double rho = solve(t->rows, n, m->n_gpus);
    for (uint32_t i = 0; i < n; i++)
        weigh(m, t, &t->rows[i], rho);
    sort(t->rows, n, t->spare);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = t->rows[i].job;
        m->list.v[i] = job;
        t->is_chosen[job] = !muri_room_is_full(&m->room) && muri_room_take(&m->room, m->gpus[job], NULL) > 0;
    }
    muri_sort_by_gpus(m);
    muri_plan(m);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = m->list.v[i], n_spans = 0;
        if (t->is_chosen[job])
            n_spans = muri_room_take(&m->room, m->gpus[job], m->spans);
        if (n_spans > 0)
            muri_run_job(m, job, m->spans, n_spans, BOOKS_ALONE);
    }
}

const struct muri_kind muri_kind_themis = {.init = init, .schedule = schedule};

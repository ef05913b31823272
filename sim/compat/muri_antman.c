/* muri_antman.c - antman, which its authors call not finished. Nobody is preempted.
 *
 * A GPU has at most one guaranteed job (priority 0) and at most one opportunistic job (others). Guaranteed jobs run as if alone. One that
 * does not fit on a node takes what there is on the node with the most and holds it while it waits for the rest on that node. Opportunistic
 * jobs go wherever a GPU's utilisation, made up of constants, leaves room, and squeeze their stages into the gaps of the slowest neighbour.
 */
#include "compat/muri_run.h"

#include <math.h>
#include <string.h>

#define NO_JOB UINT32_MAX
#define NO_NODE UINT32_MAX

/* Utilisations are added and taken away in these steps, and the rounding that is left behind takes part in the next sort. */
static const double GUARANTEED = 0.1, OPPORTUNISTIC = 0.9, HELD = 0.1 - 0.01, COMPLETED = 0.01, ROOM_BELOW = 0.8;

struct antman {
    uint32_t *guaranteed, *opportunistic; /* by GPU: job */
    double *use;                          /* by GPU */
    uint32_t n_unguaranteed;              /* GPUs without a guaranteed job */
    uint32_t *n_held;                     /* by job */
    uint32_t *node;                       /* by job: where it waits for more GPUs */
    uint32_t *pick;                       /* room for all GPUs */
    double (*stage)[3];                   /* by job */
    struct span **spans;                  /* by job, once it runs */
    uint32_t *n_spans;
    bool *is_started;
};

static bool is_guaranteed(const struct muri *m, uint32_t job)
{
    return m->w->priority == NULL || m->w->priority[job] == 0;
}

static int check_job(const struct muri *m, const struct antman *a, uint32_t job)
{
    const double *s = a->stage[job];
    const struct workload *w = m->w;
    if (s[0] + s[1] > 0 && s[1] + s[2] > 0 && s[0] + s[2] > 0)
        return BRAID_OK;
    return error_set(m->err, BRAID_BAD_INPUT,
                     "the %s simulator divides by zero under antman for job %.*s, which has one stage only; leave it "
                     "out, or choose another policy",
                     MURI, (int)(w->id_at[job + 1] - w->id_at[job]), w->id_text + w->id_at[job]);
}

static int init(struct muri *m)
{
    uint32_t n = m->w->n_jobs, largest = m->room.node_gpus;
    struct antman *a = ARENA_NEW(&m->arena, struct antman, 1);
    if (a == NULL)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    m->state = a;
    a->guaranteed = ARENA_NEW(&m->arena, uint32_t, m->n_gpus);
    a->opportunistic = ARENA_NEW(&m->arena, uint32_t, m->n_gpus);
    a->use = ARENA_NEW(&m->arena, double, m->n_gpus);
    a->n_held = ARENA_NEW(&m->arena, uint32_t, n);
    a->node = ARENA_NEW(&m->arena, uint32_t, n);
    a->pick = ARENA_NEW(&m->arena, uint32_t, m->n_gpus);
    a->stage = arena_alloc(&m->arena, n, sizeof *a->stage);
    a->spans = ARENA_NEW(&m->arena, struct span *, n);
    a->n_spans = ARENA_NEW(&m->arena, uint32_t, n);
    a->is_started = ARENA_NEW(&m->arena, bool, n);
    if (m->arena.is_short)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    a->n_unguaranteed = m->n_gpus;
    for (uint32_t g = 0; g < m->n_gpus; g++)
        a->guaranteed[g] = a->opportunistic[g] = NO_JOB;
    for (uint32_t job = 0; job < n; job++) {
        a->node[job] = NO_NODE;
        muri_stages(m, job, a->stage[job]);
        largest = m->gpus[job] > largest ? m->gpus[job] : largest;
        if (check_job(m, a, job) != BRAID_OK)
            return m->err->code;
    }
    uint64_t cpu = 6000 * (uint64_t)m->room.node_gpus, gb = 2 * (uint64_t)m->room.node_gpus * (11 + largest / 10 + 1);
    if (m->room.cpu_all < cpu || m->room.memory_all < gb * 1000000)
        return error_set(
            m->err, BRAID_BAD_INPUT,
            "compat: %s has antman on nodes alone whose CPUs and memory never bind, here %g CPUs and %g GB; "
            "give the nodes as many, or choose another policy",
            "muri", (double)cpu / 1000, (double)gb);
    return BRAID_OK;
}

/* ---- GPUs ------------------------------------------------------------------------------------------ */

static void start(struct muri *m, struct antman *a, uint32_t job, const uint32_t *owner)
{
    struct span *s = ARENA_NEW(&m->arena, struct span, m->gpus[job]);
    uint32_t n = 0, size = m->room.node_gpus;
    if (s == NULL) {
        muri_fail_memory(m);
        return;
    }
    for (uint32_t g = 0; g < m->n_gpus; g++) {
        if (owner[g] != job)
            continue;
        if (n > 0 && s[n - 1].node == g / size && s[n - 1].gpu_first + s[n - 1].gpu_count == g % size)
            s[n - 1].gpu_count++;
        else
            s[n++] = (struct span){g / size, g % size, 1};
    }
    a->spans[job] = s;
    a->n_spans[job] = n;
    a->is_started[job] = true;
}

static void finish(struct muri *m, uint32_t job)
{
    struct antman *a = m->state;
    bool has_guarantee = is_guaranteed(m, job);
    uint32_t *owner = has_guarantee ? a->guaranteed : a->opportunistic;
    for (uint32_t g = 0; g < m->n_gpus; g++)
        if (owner[g] == job) {
            owner[g] = NO_JOB;
            a->use[g] -= has_guarantee ? GUARANTEED : OPPORTUNISTIC;
            a->n_unguaranteed += has_guarantee;
        }
    a->is_started[job] = false;
}

static uint32_t open_on(const struct muri *m, const struct antman *a, uint32_t node)
{
    uint32_t n = 0, size = m->room.node_gpus;
    for (uint32_t g = node * size; g < (node + 1) * size; g++)
        n += a->guaranteed[g] == NO_JOB;
    return n;
}

/* Up to `gpus` of a node, lowest first. */
static void hold(struct muri *m, struct antman *a, uint32_t job, uint32_t node, uint32_t gpus)
{
    uint32_t size = m->room.node_gpus;
    for (uint32_t g = node * size; g < (node + 1) * size && gpus > 0; g++)
        if (a->guaranteed[g] == NO_JOB) {
            a->guaranteed[g] = job;
            a->use[g] += HELD;
            a->n_unguaranteed--;
            a->n_held[job]++;
            gpus--;
        }
}

/* ---- guaranteed jobs ------------------------------------------------------------------------------- */

/* `gpus` more on one node: the one where it waits already, else the first that has all, else the one that has most. */
static void hold_part(struct muri *m, struct antman *a, uint32_t job, uint32_t gpus)
{
    uint32_t node = a->node[job], most = 0;
    for (uint32_t i = 0; i < m->room.n_nodes && a->node[job] == NO_NODE; i++) {
        uint32_t open = open_on(m, a, i);
        if (open >= gpus) {
            node = i;
            break;
        }
        if (open > most) {
            most = open;
            node = i;
        }
    }
    if (node == NO_NODE)
        return;
    a->node[job] = node;
    hold(m, a, job, node, gpus);
}

static void place_guaranteed(struct muri *m, struct antman *a, uint32_t job)
{
    uint32_t size = m->room.node_gpus;
    if (a->n_unguaranteed == 0)
        return;
    uint32_t whole = (m->gpus[job] - a->n_held[job]) / size;
    if (m->gpus[job] > size)
        for (uint32_t i = 0; i < m->room.n_nodes && whole > 0; i++)
            if (open_on(m, a, i) == size) {
                hold(m, a, job, i, size);
                whole--;
            }
    uint32_t rest = m->gpus[job] > size ? m->gpus[job] % size : m->gpus[job];
    uint32_t part = m->gpus[job] - a->n_held[job];
    if (m->gpus[job] <= size || (rest > 0 && whole == 0))
        hold_part(m, a, job, part);
    if (a->n_held[job] < m->gpus[job])
        return;
    for (uint32_t g = 0; g < m->n_gpus; g++)
        if (a->guaranteed[g] == job)
            a->use[g] += COMPLETED;
    start(m, a, job, a->guaranteed);
}

/* ---- opportunistic jobs ---------------------------------------------------------------------------- */

static void place_opportunistic(struct muri *m, struct antman *a, uint32_t job)
{
    uint32_t n = 0, *pick = a->pick;
    for (uint32_t g = 0; g < m->n_gpus; g++) {
        if (!(a->use[g] < ROOM_BELOW))
            continue;
        uint32_t k = n++;
        for (; k > 0 && a->use[pick[k - 1]] > a->use[g]; k--)
            pick[k] = pick[k - 1];
        pick[k] = g;
    }
    if (n < m->gpus[job])
        return;
    for (uint32_t k = 0; k < m->gpus[job]; k++) {
        a->opportunistic[pick[k]] = job;
        a->use[pick[k]] += OPPORTUNISTIC;
    }
    start(m, a, job, a->opportunistic);
}

/* One iteration of a job of stages `j` in the gaps that the cycle of stages `c` leaves, in cycles. */
static double cycles(const double j[3], const double c[3])
{
    double j1 = j[1], j2 = j[2], gap = c[1] + c[2], n = floor(j[0] / gap), e = fmod(j[0], gap);
    if (e > 0) {
        n++;
        j1 -= fmin(j1, fmin(c[2], gap - e));
    }
    gap = c[0] + c[2];
    n += floor(j1 / gap);
    e = fmod(j1, gap);
    if (e > 0) {
        n++;
        if (e < c[0])
            j2 -= fmin(j2, c[0] + c[1] - e);
    }
    gap = c[0] + c[1];
    n += floor(j2 / gap);
    e = fmod(j2, gap);
    return e > c[0] ? n + 1 : n;
}

static double shared_iteration(const struct muri *m, const struct antman *a, uint32_t job)
{
    double slowest = m->iteration_s[job];
    uint32_t size = m->room.node_gpus, last = NO_JOB;
    for (uint32_t i = 0; i < a->n_spans[job]; i++)
        for (uint32_t k = 0; k < a->spans[job][i].gpu_count; k++) {
            uint32_t other = a->guaranteed[a->spans[job][i].node * size + a->spans[job][i].gpu_first + k];
            if (other == last || other == NO_JOB || !a->is_started[other])
                continue;
            last = other;
            slowest = fmax(slowest, cycles(a->stage[job], a->stage[other]) * m->iteration_s[other]);
        }
    return slowest;
}

/* ---- one event ------------------------------------------------------------------------------------- */

/* A new job goes to its place by (priority, submission, number). */
static void submit(struct muri *m, uint32_t job)
{
    struct muri_list *list = &m->list;
    uint32_t k = list->n - 1;
    double mine = m->w->priority != NULL ? m->w->priority[job] : 0;
    for (; k > 0; k--) {
        uint32_t other = list->v[k - 1];
        if (m->w->priority == NULL || m->w->priority[other] <= mine)
            break;
        list->v[k] = other;
    }
    list->v[k] = job;
}

static void schedule(struct muri *m)
{
    struct antman *a = m->state;
    uint32_t refused = UINT32_MAX; /* GPUs that an opportunistic job of this event did not get */
    muri_plan(m);
    for (uint32_t i = 0; i < m->list.n && !m->has_failed; i++) {
        uint32_t job = m->list.v[i];
        if (a->is_started[job])
            continue;
        if (is_guaranteed(m, job)) {
            place_guaranteed(m, a, job);
        } else if (m->gpus[job] < refused) {
            place_opportunistic(m, a, job);
            refused = a->is_started[job] ? refused : m->gpus[job];
        }
    }
    for (uint32_t i = 0; i < m->list.n && !m->has_failed; i++) {
        uint32_t job = m->list.v[i];
        if (!a->is_started[job])
            continue;
        m->current_s[job] = is_guaranteed(m, job) ? m->iteration_s[job] : shared_iteration(m, a, job);
        muri_run_job(m, job, a->spans[job], a->n_spans[job], BOOKS_ALONE);
    }
}

const struct muri_kind muri_kind_antman = {
    .init = init, .submit = submit, .finish = finish, .schedule = schedule, .merges_ends = true};

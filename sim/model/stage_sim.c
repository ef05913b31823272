#include "model/stage_sim.h"

#include "base/check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* All that decides what comes next. Jobs have numbers by slot: the lower goes first. Entries behind a queue's end are 0. */
struct state {
    double left[STAGE_JOBS_MAX];   /* of the stage it is in or waits for; whole numbers under STAGE_EXCLUSIVE */
    uint8_t stage[STAGE_JOBS_MAX]; /* `kinds`: in its gap */
    uint8_t queue[STAGE_KINDS_MAX][STAGE_JOBS_MAX];
    uint8_t n_queue[STAGE_KINDS_MAX];
};

struct ring {
    enum stage_discipline discipline;
    uint32_t kinds, n;
    double length[STAGE_JOBS_MAX][STAGE_KINDS_MAX + 1]; /* of its stages and the gap */
    double chain[STAGE_JOBS_MAX];                       /* their sum */
    uint32_t reference;                                 /* the job of the longest chain */
    struct state now;
    double clock;
    uint64_t rounds[STAGE_JOBS_MAX]; /* iterations that each has ended */
    uint64_t events;
};

/* ---- one event ------------------------------------------------------------------------------------ */

static void enter(struct ring *r, uint32_t job, uint32_t stage)
{
    while (r->length[job][stage] <= 0) {
        r->rounds[job] += stage == r->kinds;
        stage = stage == r->kinds ? 0 : stage + 1;
    }
    r->now.stage[job] = (uint8_t)stage;
    r->now.left[job] = r->length[job][stage];
    if (stage < r->kinds)
        r->now.queue[stage][r->now.n_queue[stage]++] = (uint8_t)job;
}

static void leave(struct ring *r, uint32_t job)
{
    uint32_t stage = r->now.stage[job], i = 0;
    if (stage == r->kinds)
        return;
    uint8_t *queue = r->now.queue[stage];
    while (queue[i] != job)
        i++;
    uint32_t last = --r->now.n_queue[stage];
    memmove(queue + i, queue + i + 1, last - i);
    queue[last] = 0;
}

/* By how much the job is slowed where it is; 0: it waits. */
static double crowd(const struct ring *r, uint32_t job)
{
    uint32_t stage = r->now.stage[job];
    if (stage == r->kinds)
        return 1;
    if (r->discipline == STAGE_SHARED)
        return r->now.n_queue[stage];
    return r->now.queue[stage][0] == job ? 1 : 0;
}

/* To the next end of a stage. All that end then leave before any of them enters its next stage. Returns whether the reference job has
 * ended an iteration. */
static bool advance(struct ring *r)
{
    double slowed[STAGE_JOBS_MAX], step = INFINITY;
    for (uint32_t i = 0; i < r->n; i++) {
        slowed[i] = crowd(r, i);
        if (slowed[i] > 0 && r->now.left[i] * slowed[i] < step)
            step = r->now.left[i] * slowed[i];
    }
    r->clock += step;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (slowed[i] > 0) {
            r->now.left[i] -= step / slowed[i];
            ended |= (uint32_t)(r->now.left[i] <= STAGE_SAME_NS) << i;
        }
    for (uint32_t i = 0; i < r->n; i++)
        if (ended & 1u << i)
            leave(r, i);
    uint64_t before = r->rounds[r->reference];
    for (uint32_t i = 0; i < r->n; i++)
        if (ended & 1u << i) {
            uint32_t stage = r->now.stage[i];
            r->rounds[i] += stage == r->kinds;
            enter(r, i, stage == r->kinds ? 0 : stage + 1);
            r->events++;
        }
    return r->rounds[r->reference] != before;
}

/* ---- the steady state ----------------------------------------------------------------------------- */

static bool is_same(const struct ring *r, const struct state *a, const struct state *b)
{
    if (memcmp(a->stage, b->stage, sizeof a->stage) != 0)
        return false;
    double most = r->discipline == STAGE_SHARED ? STAGE_SAME_NS : 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (fabs(a->left[i] - b->left[i]) > most)
            return false;
    return r->discipline == STAGE_SHARED || memcmp(a->queue, b->queue, sizeof a->queue) == 0;
}

/* Iterations of a job so far, with the part of the one that it is in. */
static double progress(const struct ring *r, uint32_t job)
{
    double done = -r->now.left[job];
    for (uint32_t k = 0; k <= r->now.stage[job]; k++)
        done += r->length[job][k];
    return (double)r->rounds[job] + done / r->chain[job];
}

struct mark {
    struct state state;
    double clock;
    uint64_t rounds[STAGE_JOBS_MAX];
    double progress[STAGE_JOBS_MAX];
};

static void mark_set(struct mark *m, const struct ring *r)
{
    m->state = r->now;
    m->clock = r->clock;
    memcpy(m->rounds, r->rounds, sizeof m->rounds);
    for (uint32_t i = 0; i < r->n; i++)
        m->progress[i] = progress(r, i);
}

/* The longest that an iteration can take in the long run: it finds each other job before it at most once at each resource, or shares each
 * with all of them. */
static double longest_cycle(const struct ring *r, uint32_t job)
{
    double sum = r->chain[job];
    if (r->discipline == STAGE_SHARED)
        return sum * r->n;
    for (uint32_t i = 0; i < r->n; i++)
        sum += i == job ? 0 : r->chain[i] - r->length[i][r->kinds];
    return sum;
}

static void means_since(const struct ring *r, const struct mark *m, double *cycle)
{
    for (uint32_t i = 0; i < r->n; i++) {
        double done = progress(r, i) - m->progress[i], most = longest_cycle(r, i);
        double mean = done > 0 ? (r->clock - m->clock) / done : most;
        cycle[i] = fmin(fmax(mean, r->chain[i]), most);
    }
}

/* Run until the state comes again or the bound is reached; cycle[i] by slot. Returns the period, 0 when it was not found. */
static double settle(struct ring *r, double *cycle)
{
    struct mark mark, before;
    mark_set(&mark, r);
    before = mark;
    uint64_t power = 1, since = 0, total = 0;
    while (r->events < STAGE_EVENTS && total < STAGE_CYCLES) {
        if (!advance(r))
            continue;
        if (is_same(r, &r->now, &mark.state)) {
            for (uint32_t i = 0; i < r->n; i++)
                cycle[i] = (r->clock - mark.clock) / (double)(r->rounds[i] - mark.rounds[i]);
            return r->clock - mark.clock;
        }
        total++;
        if (++since == power) {
            before = mark;
            mark_set(&mark, r);
            power *= 2;
            since = 0;
        }
    }
    means_since(r, &before, cycle);
    return 0;
}

/* ---- arrangements --------------------------------------------------------------------------------- */

struct search {
    const struct stage_rule *rule;
    const struct stage_job *const *jobs;
    uint32_t n;
    uint32_t slot[STAGE_JOBS_MAX]; /* of each job */
    struct stage_steady found;     /* by `jobs` */
    bool has_found;
};

static void ring_init(struct ring *r, const struct search *s, uint32_t *job_of)
{
    *r = (struct ring){.discipline = s->rule->discipline, .kinds = s->rule->kinds};
    for (uint32_t slot = 0; slot < s->rule->kinds; slot++)
        for (uint32_t i = 0; i < s->n; i++)
            if (s->slot[i] == slot)
                job_of[r->n++] = i;
    for (uint32_t at = 0; at < r->n; at++) {
        const struct stage_job *job = s->jobs[job_of[at]];
        for (uint32_t k = 0; k < r->kinds; k++)
            r->chain[at] += r->length[at][k] = (double)job->stage_ns[k];
        r->chain[at] += r->length[at][r->kinds] = (double)job->gap_ns;
        require(r->chain[at] > 0, "job %u of a group has no stages", job_of[at]);
        r->reference = r->chain[at] > r->chain[r->reference] ? at : r->reference;
    }
    for (uint32_t at = 0; at < r->n; at++)
        enter(r, at, (r->kinds - s->slot[job_of[at]]) % r->kinds);
}

/* Simulate the arrangement in `slot` and keep it when it is the better one. */
static void try(struct search *s)
{
    struct ring ring;
    uint32_t job_of[STAGE_JOBS_MAX] = {0};
    double cycle[STAGE_JOBS_MAX] = {0};
    struct stage_steady this = {0};
    ring_init(&ring, s, job_of);
    this.period_ns = (int64_t)round(settle(&ring, cycle));
    for (uint32_t at = 0; at < s->n; at++) {
        this.cycle_ns[job_of[at]] = cycle[at];
        this.work += ring.chain[at] / cycle[at];
    }
    memcpy(this.slot, s->slot, sizeof this.slot);
    bool is_better = s->rule->order == INTERLEAVE_WORST ? this.work < s->found.work : this.work > s->found.work;
    if (!s->has_found || is_better)
        s->found = this;
    s->has_found = true;
}

/* Give jobs i.. the slots that are not `taken`, in every way. */
static void arrange(struct search *s, uint32_t i, uint32_t taken)
{
    if (i == s->n) {
        try(s);
        return;
    }
    for (uint32_t slot = 0; slot < s->rule->kinds; slot++)
        if (!(taken & 1u << slot)) {
            s->slot[i] = slot;
            arrange(s, i + 1, taken | 1u << slot);
        }
}

static int compare_jobs(const struct stage_job *a, const struct stage_job *b, uint32_t kinds)
{
    for (uint32_t k = 0; k < kinds; k++)
        if (a->stage_ns[k] != b->stage_ns[k])
            return a->stage_ns[k] < b->stage_ns[k] ? -1 : 1;
    return (a->gap_ns > b->gap_ns) - (a->gap_ns < b->gap_ns);
}

void stage_sim(struct stage_steady *out, const struct stage_rule *rule, const struct stage_job *jobs, uint32_t n)
{
    require(rule->kinds >= 1 && rule->kinds <= STAGE_KINDS_MAX && n >= 1 && n <= rule->kinds, "%u jobs over %u kinds",
            n, rule->kinds);
    const struct stage_job *sorted[STAGE_JOBS_MAX] = {NULL};
    struct search s = {.rule = rule, .jobs = sorted, .n = n};
    for (uint32_t i = 0; i < n; i++) { /* equal ones as they are listed */
        uint32_t k = i;
        for (; rule->order != INTERLEAVE_GIVEN && k > 0 && compare_jobs(sorted[k - 1], &jobs[i], rule->kinds) > 0; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = &jobs[i];
        s.slot[i] = i;
    }
    if (rule->order == INTERLEAVE_GIVEN)
        try(&s);
    else
        arrange(&s, 0, 0);
    *out = (struct stage_steady){.work = s.found.work, .period_ns = s.found.period_ns};
    for (uint32_t i = 0; i < n; i++) {
        ptrdiff_t job = sorted[i] - jobs;
        out->cycle_ns[job] = s.found.cycle_ns[i];
        out->slot[job] = s.found.slot[i];
    }
}

#include "policies/muri.h"

#include "policies/matching.h"

#include <stdlib.h>
#include <string.h>

const struct param_spec muri_params[MURI_N_PARAMS] = {
    {"matching", PARAM_CHOICE, "blossom", 0, 0, "", "blossom|none",
     "how groups are found; none: neighbours in the order are put together"},
    {"group", PARAM_INT, "4", 2, MURI_GROUP_MAX, "jobs", NULL, "the most jobs in a group"},
    {"candidates", PARAM_INT, "256", 2, MATCHING_VERTICES_MAX, "jobs", NULL,
     "the most jobs of one demand that are looked at for grouping; the cost of a round grows with their cube"},
    {"grouping", PARAM_CHOICE, "rounds", 0, 0, "", "rounds|greedy|exact|by_profile",
     "with matching: pairs, then pairs of these, as the paper does; or groups of all sizes at once by what they lose "
     "for each GPU saved, by "
     "dynamic programming (few jobs, else as rounds), or by linear programming over how many jobs there are of each "
     "profile"},
};

static enum muri_how how_named(const char *name)
{
    static const char *const names[] = {
        [MURI_GREEDY] = "greedy", [MURI_EXACT] = "exact", [MURI_BY_PROFILE] = "by_profile"};
    for (uint32_t i = MURI_GREEDY; i <= MURI_BY_PROFILE; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum muri_how)i;
    return MURI_ROUNDS;
}

int muri_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct muri *m = self;
    int64_t probe;
    m->has_matching = strcmp(v[MURI_MATCHING].s, "blossom") == 0;
    m->how = how_named(v[MURI_GROUPING].s);
    m->group = (uint32_t)v[MURI_GROUP].i;
    m->candidates = (uint32_t)v[MURI_CANDIDATES].i;
    m->by_remaining = sched_n_jobs(s) > 0 && sched_remaining_ns(s, 0, &probe) == SCHED_OK;
    m->bucket_of = sched_alloc(s, sched_n_demands(s), sizeof *m->bucket_of);
    m->buckets = sched_alloc(s, sched_n_demands(s), sizeof *m->buckets);
    return m->bucket_of != NULL && m->buckets != NULL ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static bool tables_grow(struct muri *m, struct sched *s)
{
    if (m->n_live < m->room)
        return true;
    uint32_t room = m->room * 2 + 64;
    uint32_t *live = sched_alloc(s, room, sizeof *live), *profile = sched_alloc(s, room, sizeof *profile);
    m->order = sched_alloc(s, room, sizeof *m->order);
    m->by_bucket = sched_alloc(s, room, sizeof *m->by_bucket);
    m->groups = sched_alloc(s, room, sizeof *m->groups);
    m->next = sched_alloc(s, room, sizeof *m->next);
    if (live == NULL || profile == NULL || m->order == NULL || m->by_bucket == NULL || m->groups == NULL ||
        m->next == NULL)
        return false; /* the run ends with "out of memory" */
    if (m->n_live > 0) {
        memcpy(live, m->live, m->n_live * sizeof *live);
        memcpy(profile, m->profile, m->n_live * sizeof *profile);
    }
    m->live = live;
    m->profile = profile;
    m->room = room;
    return true;
}

void muri_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct muri *m = self;
    if (!tables_grow(m, s))
        return;
    *sched_word(s, job) = m->n_live;
    m->profile[m->n_live] = muri_profile_of(&m->worth, s, job);
    m->live[m->n_live++] = job;
}

void muri_on_finish(void *self, struct sched *s, uint32_t job)
{
    struct muri *m = self;
    uint32_t at = (uint32_t)*sched_word(s, job), last = m->live[--m->n_live];
    m->live[at] = last;
    m->profile[at] = m->profile[m->n_live];
    *sched_word(s, last) = at;
}

/* ---- order and candidates --------------------------------------------------------------------- */

static int compare_jobs(const void *a, const void *b)
{
    const struct muri_job *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int64_t key_of(const struct muri *m, struct sched *s, uint32_t job)
{
    int64_t remaining = 0, key;
    if (!m->by_remaining)
        return sched_attained_gpu_ns(s, job);
    sched_remaining_ns(s, job, &remaining);
    return __builtin_mul_overflow(remaining, (int64_t)sched_gpus(s, job), &key) ? INT64_MAX : key;
}

/* All live jobs in order, and each demand's jobs in the same order, one bucket behind the other. */
static void put_in_order(struct muri *m, struct sched *s)
{
    memset(m->bucket_of, 0, sched_n_demands(s) * sizeof *m->bucket_of);
    m->n_buckets = 0;
    for (uint32_t i = 0; i < m->n_live; i++)
        m->order[i] = (struct muri_job){key_of(m, s, m->live[i]), m->live[i], 0};
    qsort(m->order, m->n_live, sizeof *m->order, compare_jobs);
    for (uint32_t i = 0; i < m->n_live; i++) {
        uint32_t demand = sched_demand(s, m->order[i].job);
        if (m->bucket_of[demand] == 0) {
            m->buckets[m->n_buckets] = (struct muri_bucket){.gpus = sched_gpus(s, m->order[i].job), .demand = demand};
            m->bucket_of[demand] = ++m->n_buckets;
        }
        m->order[i].bucket = m->bucket_of[demand] - 1;
        m->buckets[m->order[i].bucket].n++;
    }
    uint32_t at = 0;
    for (uint32_t b = 0; b < m->n_buckets; b++) {
        m->buckets[b].first = at;
        at += m->buckets[b].n;
        m->buckets[b].n = 0;
    }
    for (uint32_t i = 0; i < m->n_live; i++) {
        struct muri_bucket *b = &m->buckets[m->order[i].bucket];
        m->by_bucket[b->first + b->n++] = i; /* place in the order */
    }
}

/* Who may be in the plan: leaders that find a place on the empty cluster, each with the next of its demand. Returns the GPUs that all ask for. */
static uint64_t choose_candidates(struct muri *m, struct sched *s)
{
    uint64_t required = 0;
    for (uint32_t i = 0; i < m->n_live && sched_free_gpus(s) > 0; i++) {
        struct muri_bucket *b = &m->buckets[m->order[i].bucket];
        if (b->is_closed || b->marked == b->n || m->by_bucket[b->first + b->marked] != i)
            continue; /* taken along by another, or no place for its like */
        if (sched_start(s, m->order[i].job) != SCHED_OK) {
            b->is_closed = true;
            continue;
        }
        uint32_t take = b->n - b->marked < m->group ? b->n - b->marked : m->group;
        if (take > m->candidates - b->marked)
            take = m->candidates - b->marked;
        b->marked += take;
        b->is_closed = b->marked == m->candidates;
        required += (uint64_t)take * b->gpus;
    }
    return required;
}

/* Give back the leaders' places: only the plan starts jobs. */
static void clear(struct muri *m, struct sched *s)
{
    for (uint32_t i = 0; i < m->n_live; i++)
        if (sched_is_running(s, m->live[i]))
            sched_preempt(s, m->live[i]);
}

/* ---- grouping ------------------------------------------------------------------------------------ */

double muri_group_speed(struct sched *s, const uint32_t *jobs, uint32_t n)
{
    double rates[MURI_GROUP_MAX], sum = 0;
    if (sched_group_rates(s, jobs, n, rates) != SCHED_OK)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        sum += rates[i];
    return sum;
}

void muri_merge(struct muri_group *a, const struct muri_group *b)
{
    memcpy(a->jobs + a->n, b->jobs, b->n * sizeof *a->jobs);
    a->n += b->n;
    a->key = b->key < a->key ? b->key : a->key;
}

static uint32_t make_groups(struct muri *m, struct sched *s, uint64_t required, uint64_t capacity)
{
    uint32_t n = 0;
    muri_worth_tidy(&m->worth);
    for (uint32_t b = 0; b < m->n_buckets; b++)
        for (uint32_t i = 0; i < m->buckets[b].marked; i++) {
            const struct muri_job *j = &m->order[m->by_bucket[m->buckets[b].first + i]];
            uint32_t profile = m->profile[*sched_word(s, j->job)];
            m->groups[n++] = (struct muri_group){
                .jobs = {j->job}, .n = 1, .bucket = b, .key = j->key, .kind = muri_kind_of(&m->worth, s, &profile, 1)};
        }
    if (required <= capacity || (m->has_matching && m->how != MURI_ROUNDS && muri_counts(m, s, &n, capacity)))
        return n;
    return muri_rounds(m, s, n, required, capacity);
}

/* Groups that would do less together than one member alone fall apart. Returns the number of groups in m->next, in order of key. */
static int compare_groups(const void *a, const void *b)
{
    const struct muri_group *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->jobs[0] > y->jobs[0]) - (x->jobs[0] < y->jobs[0]);
}

static uint32_t ungroup(struct muri *m, struct sched *s, uint32_t n)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct muri_group *g = &m->groups[i];
        if (g->n == 1 || muri_group_speed(s, g->jobs, g->n) >= 1) {
            m->next[out++] = *g;
            continue;
        }
        for (uint32_t k = 0; k < g->n; k++)
            m->next[out++] =
                (struct muri_group){.jobs = {g->jobs[k]}, .n = 1, .bucket = g->bucket, .key = key_of(m, s, g->jobs[k])};
    }
    qsort(m->next, out, sizeof *m->next, compare_groups);
    return out;
}

/* ---- placement ------------------------------------------------------------------------------------ */

/* The group's first running member goes first; the others join it. */
static void join_group(struct sched *s, struct muri_group *g, uint32_t k)
{
    uint32_t first = g->jobs[0];
    g->jobs[0] = g->jobs[k];
    g->jobs[k] = first;
    for (uint32_t i = 1; i < g->n; i++) {
        sched_because(s, "braided with job %u", g->jobs[0]);
        sched_join(s, g->jobs[i], g->jobs[0]);
    }
}

/* On the GPUs that a member held before this round, if one did and they are free. */
static bool restore_group(struct sched *s, struct muri_group *g)
{
    for (uint32_t k = 0; k < g->n; k++)
        if (sched_restore(s, g->jobs[k]) == SCHED_OK) {
            join_group(s, g, k);
            return true;
        }
    return false;
}

static bool start_group(struct sched *s, struct muri_group *g)
{
    if (restore_group(s, g))
        return true;
    if (sched_start(s, g->jobs[0]) != SCHED_OK)
        return false;
    join_group(s, g, 0);
    return true;
}

/* Place the plan's groups: first those that can stay where they are, so that nobody moves for nothing, then the others in order. When that
 * leaves one without a place, strictly in order. */
static void place_groups(struct muri *m, struct sched *s, uint32_t n)
{
    bool all = true;
    for (uint32_t i = 0; i < n; i++)
        restore_group(s, &m->next[i]);
    for (uint32_t i = 0; i < n; i++)
        all &= sched_is_running(s, m->next[i].jobs[0]) || start_group(s, &m->next[i]);
    if (all)
        return;
    clear(m, s);
    for (uint32_t i = 0; i < n; i++)
        start_group(s, &m->next[i]);
}

void muri_schedule(void *self, struct sched *s)
{
    struct muri *m = self;
    if (m->n_live == 0)
        return;
    clear(m, s);
    uint64_t capacity = sched_free_gpus(s);
    put_in_order(m, s);
    uint64_t required = choose_candidates(m, s);
    clear(m, s);
    place_groups(m, s, ungroup(m, s, make_groups(m, s, required, capacity)));
    for (uint32_t b = 0; b < m->n_buckets; b++)
        m->buckets[b].is_closed = false;
    for (uint32_t i = 0; i < m->n_live;
         i++) { /* what is left over; and who ran runs on where the quota has shrunk and is drained */
        uint32_t job = m->order[i].job;
        struct muri_bucket *b = &m->buckets[m->order[i].bucket];
        if (sched_is_running(s, job) || sched_restore(s, job) == SCHED_OK || b->is_closed || sched_free_gpus(s) == 0)
            continue;
        b->is_closed = sched_start(s, job) != SCHED_OK;
    }
}

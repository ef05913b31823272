/* muri_group.c - Muri-S and Muri-L. At every event:
 *
 *   candidates   the list in order of the key; as long as a job would fit beside those before it, it and the next few waiting jobs of its size
 *                become candidates: as many as could share its GPUs
 *   groups       of candidates of one size (muri_pairs.c, or neighbours where matching is off)
 *   breaking up  a group that takes longer than its members one after another
 *   fitting      groups in order of their smallest key, those that do not fit are dropped
 *   placing      the largest first
 */
#include "compat/muri_group.h"
#include "compat/request.h"

#include <string.h>

#define NONE UINT32_MAX

static const double INFLATION[MURI_GROUP_MAX + 1] = {0, 0, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};
static const double INFLATION_UNMATCHED = 1.3 / 1.015; /* of four jobs, where matching is off */

/* ---- set up ---------------------------------------------------------------------------------------- */

static int profiles_make(struct muri *m, struct muri_grouping *g)
{
    uint32_t n = m->w->n_jobs;
    for (uint32_t job = 0; job < n; job++) {
        struct interleave_profile p = {.iteration = m->iteration_s[job]};
        muri_stages(m, job, p.stage);
        uint32_t id = interleave_add(&g->policy, &p);
        if (id == NONE || interleave_add(&g->best, &p) != id)
            return error_set(m->err, BRAID_FAILED, "out of memory");
        g->profile[job] = id;
        g->profile_sum_s[id] = p.stage[0] + p.stage[1] + p.stage[2];
    }
    return BRAID_OK;
}

static int init(struct muri *m)
{
    struct muri_grouping *g = ARENA_NEW(&m->arena, struct muri_grouping, 1);
    uint32_t n = m->w->n_jobs, counts[MURI_SIZES] = {0};
    if (g == NULL)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    m->state = g;
    g->is_worst = strcmp(request_param(m->spec, "ordering")->s, "worst") == 0;
    g->has_matching = strcmp(request_param(m->spec, "matching")->s, "none") != 0;
    g->group_most = (uint32_t)request_param(m->spec, "group")->i;
    struct interleave_rule rule = {.form = INTERLEAVE_MURI};
    memcpy(rule.inflation, INFLATION, sizeof INFLATION);
    if (!g->has_matching)
        rule.inflation[4] = INFLATION_UNMATCHED;
    interleave_init(&g->best, &rule);
    rule.order = g->is_worst ? INTERLEAVE_WORST : INTERLEAVE_BEST;
    interleave_init(&g->policy, &rule);
    g->profile = ARENA_NEW(&m->arena, uint32_t, n);
    g->profile_sum_s = ARENA_NEW(&m->arena, double, n);
    g->formed_room = 2 * n + 16;
    g->formed = ARENA_NEW(&m->arena, struct muri_group, g->formed_room);
    g->order_of = ARENA_NEW(&m->arena, struct muri_sort_item, g->formed_room);
    g->spare = ARENA_NEW(&m->arena, struct muri_sort_item, g->formed_room);
    g->span_at = ARENA_NEW(&m->arena, uint32_t, n);
    g->n_spans = ARENA_NEW(&m->arena, uint32_t, n);
    g->group_of = ARENA_NEW(&m->arena, uint32_t, n);
    g->spans = ARENA_NEW(&m->arena, struct span, m->n_gpus);
    if (m->arena.is_short)
        return error_set(m->err, BRAID_FAILED, "out of memory");
    memset(g->group_of, 0xff, n * sizeof *g->group_of);
    for (uint32_t job = 0; job < n; job++)
        counts[m->size[job]]++;
    for (uint32_t s = 0; s < MURI_SIZES; s++) {
        struct muri_bucket *b = &g->buckets[s];
        b->gpus = 1u << s;
        b->room = 2 * counts[s] + 2;
        b->jobs = ARENA_NEW(&m->arena, uint32_t, counts[s]);
        b->groups = ARENA_NEW(&m->arena, struct muri_group, b->room);
        b->next = ARENA_NEW(&m->arena, struct muri_group, b->room);
    }
    return m->arena.is_short ? error_set(m->err, BRAID_FAILED, "out of memory") : profiles_make(m, g);
}

static void fini(struct muri *m)
{
    struct muri_grouping *g = m->state;
    if (g == NULL)
        return;
    interleave_fini(&g->policy);
    interleave_fini(&g->best);
    muri_pairs_fini(g);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

/* Muri-S: GPU time that is left; of a job that has not run, by the trace's estimate. */
static void submit_left(struct muri *m, uint32_t job)
{
    m->key[job] = m->estimate_s[job] * m->gpus[job];
}

static void progress_left(struct muri *m)
{
    for (uint32_t i = 0; i < m->running.n; i++) {
        uint32_t job = m->running.v[i];
        m->key[job] = m->remaining[job] * m->iteration_s[job] * m->gpus[job];
        m->is_changed[job] = true;
    }
}

/* Muri-L: GPU time attained. */
static void progress_attained(struct muri *m)
{
    for (uint32_t i = 0; i < m->running.n; i++) {
        uint32_t job = m->running.v[i];
        m->key[job] = m->executed_s[job] * m->gpus[job];
        m->is_changed[job] = true;
    }
}

/* ---- candidates ------------------------------------------------------------------------------------ */

static void fill_buckets(struct muri *m, struct muri_grouping *g)
{
    g->n_buckets = 0;
    for (uint32_t s = 0; s < MURI_SIZES; s++)
        g->buckets[s].n_jobs = g->buckets[s].n_candidates = g->buckets[s].n_seen = g->buckets[s].n_slots = 0;
    for (uint32_t i = 0; i < m->list.n; i++) {
        uint32_t job = m->list.v[i];
        struct muri_bucket *b = &g->buckets[m->size[job]];
        if (b->n_jobs == 0)
            g->order[g->n_buckets++] = m->size[job];
        b->jobs[b->n_jobs++] = job;
    }
}

static void choose(struct muri *m, struct muri_grouping *g)
{
    fill_buckets(m, g);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; i < m->list.n && !muri_room_is_full(&m->room); i++) {
        struct muri_bucket *b = &g->buckets[m->size[m->list.v[i]]];
        if (b->n_seen++ < b->n_candidates || muri_room_take(&m->room, b->gpus, NULL) == 0)
            continue; /* is one already, or does not fit, and then no later one of its size does */
        b->n_slots++;
        b->n_candidates += g->group_most;
        b->n_candidates = b->n_candidates < b->n_jobs ? b->n_candidates : b->n_jobs;
    }
    g->required = 0;
    for (uint32_t s = 0; s < MURI_SIZES; s++)
        g->required += (uint64_t)g->buckets[s].n_candidates * g->buckets[s].gpus;
}

static struct muri_group single(const struct muri *m, uint32_t job)
{
    return (struct muri_group){.jobs = {job}, .n = 1, .gpus = m->gpus[job], .key = m->key[job]};
}

static void form_singles(struct muri *m, struct muri_bucket *b)
{
    b->n_groups = b->n_candidates;
    for (uint32_t i = 0; i < b->n_groups; i++)
        b->groups[i] = single(m, b->jobs[i]);
}

/* Without matching a slot's first candidate takes in those behind it while too many GPUs are wanted; the others stand before it. */
static void form_neighbours(struct muri *m, struct muri_grouping *g, struct muri_bucket *b)
{
    b->n_groups = 0;
    for (uint32_t slot = 0; slot < b->n_slots; slot++) {
        uint32_t first = slot * g->group_most, end = first + g->group_most;
        if (first >= b->n_candidates)
            return;
        struct muri_group head = single(m, b->jobs[first]);
        for (uint32_t i = first + 1; i < end && i < b->n_candidates; i++)
            if (g->required > m->n_gpus) {
                head.jobs[head.n++] = b->jobs[i];
                g->required -= b->gpus;
            } else {
                b->groups[b->n_groups++] = single(m, b->jobs[i]);
            }
        b->groups[b->n_groups++] = head;
    }
}

/* ---- who runs -------------------------------------------------------------------------------------- */

/* In the best arrangement, whatever the policy's. */
static bool is_worth_it(struct muri *m, struct muri_grouping *g, const struct muri_group *group)
{
    uint32_t profiles[MURI_GROUP_MAX];
    double sum = 0;
    if (group->n == 1)
        return true;
    for (uint32_t i = 0; i < group->n; i++) {
        profiles[i] = g->profile[group->jobs[i]];
        sum += m->iteration_s[group->jobs[i]];
    }
    return !(interleave_period(&g->best, profiles, group->n) / sum > 1);
}

static void break_up(struct muri *m, struct muri_grouping *g, const struct muri_group *group)
{
    if (is_worth_it(m, g, group)) {
        struct muri_group *kept = &g->formed[g->n_formed++];
        *kept = *group;
        kept->key = m->key[group->jobs[0]];
        for (uint32_t i = 1; i < group->n; i++)
            kept->key = m->key[group->jobs[i]] < kept->key ? m->key[group->jobs[i]] : kept->key;
        return;
    }
    for (uint32_t i = 0; i < group->n; i++)
        g->formed[g->n_formed++] = single(m, group->jobs[i]);
}

/* Say of the members of the groups that run to which they belong, the first if to several; the number of these jobs. */
static uint32_t fit(struct muri *m, struct muri_grouping *g)
{
    uint32_t n_members = 0;
    for (uint32_t i = 0; i < g->n_formed; i++)
        g->order_of[i] = (struct muri_sort_item){.key = g->formed[i].key, .job = i};
    muri_sort_items(g->order_of, g->n_formed, g->spare);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; i < g->n_formed; i++) {
        const struct muri_group *group = &g->formed[g->order_of[i].job];
        if (muri_room_take(&m->room, group->gpus, NULL) == 0)
            continue;
        for (uint32_t k = 0; k < group->n; k++) {
            uint32_t job = group->jobs[k];
            if (g->group_of[job] != NONE)
                continue;
            g->group_of[job] = g->order_of[i].job;
            g->n_spans[job] = 0;
            n_members++;
        }
    }
    return n_members;
}

static void run_member(struct muri *m, struct muri_grouping *g, const struct muri_group *group, uint32_t job)
{
    double overhead = 0; /* that of all members */
    for (uint32_t i = 0; i < group->n; i++)
        overhead += m->overhead_s[group->jobs[i]];
    m->current_overhead_s[job] = overhead;
    m->current_s[job] = muri_group_period(g, group);
    muri_run_job(m, job, g->spans + g->span_at[job], g->n_spans[job], group->n > 1 ? group->jobs[0] : BOOKS_ALONE);
}

/* In the order of the list; a member joins the one of its group that is placed already, else it asks for the group's place. */
static void place(struct muri *m, struct muri_grouping *g, uint32_t n_members)
{
    uint32_t n_spans = 0;
    muri_plan(m);
    muri_room_clear(&m->room);
    for (uint32_t i = 0; n_members > 0; i++) {
        uint32_t job = m->list.v[i];
        if (g->group_of[job] == NONE)
            continue;
        const struct muri_group *group = &g->formed[g->group_of[job]];
        n_members--;
        for (uint32_t k = 0; k < group->n && g->n_spans[job] == 0; k++) {
            g->span_at[job] = g->span_at[group->jobs[k]];
            g->n_spans[job] = g->n_spans[group->jobs[k]];
        }
        if (g->n_spans[job] == 0) {
            g->span_at[job] = n_spans;
            g->n_spans[job] = muri_room_take(&m->room, group->gpus, g->spans + n_spans);
            n_spans += g->n_spans[job];
        }
        if (g->n_spans[job] > 0)
            run_member(m, g, group, job);
    }
    for (uint32_t i = 0; i < g->n_formed; i++)
        for (uint32_t k = 0; k < g->formed[i].n; k++)
            g->group_of[g->formed[i].jobs[k]] = NONE;
}

static void schedule(struct muri *m)
{
    struct muri_grouping *g = m->state;
    muri_sort_by_key(m);
    choose(m, g);
    for (uint32_t i = 0; i < g->n_buckets; i++) {
        struct muri_bucket *b = &g->buckets[g->order[i]];
        if (g->has_matching)
            form_singles(m, b);
        else
            form_neighbours(m, g, b);
    }
    if (g->has_matching && !muri_pairs_form(m, g)) {
        muri_fail_memory(m);
        return;
    }
    g->n_formed = 0;
    for (uint32_t i = 0; i < g->n_buckets; i++) {
        const struct muri_bucket *b = &g->buckets[g->order[i]];
        for (uint32_t k = 0; k < b->n_groups && g->n_formed + MURI_GROUP_MAX <= g->formed_room; k++)
            break_up(m, g, &b->groups[k]);
    }
    uint32_t n_members = fit(m, g);
    muri_sort_by_gpus(m);
    place(m, g, n_members);
}

const struct muri_kind muri_kind_muri_s = {.init = init,
                                           .fini = fini,
                                           .submit = submit_left,
                                           .progress = progress_left,
                                           .schedule = schedule,
                                           .merges_starts = true};
const struct muri_kind muri_kind_muri_l = {
    .init = init, .fini = fini, .progress = progress_attained, .schedule = schedule, .merges_starts = true};

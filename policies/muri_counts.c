/* muri_counts.c - groups of all sizes at once, by how many candidates there are of each profile (grouping.h).
 *
 * Which of the candidates of a profile are in which group says the order: the groups are dealt out one after another, each taking the first
 * that are left.
 */
#include "policies/muri.h"

#include <string.h>

/* Rows and room for sets, once a run. */
static bool tables_make(struct muri *m, struct sched *s)
{
    if (m->sets_room > 0)
        return true;
    m->rows = sched_alloc(s, GROUPING_ROWS_MAX, sizeof *m->rows);
    m->problem_rows = sched_alloc(s, GROUPING_ROWS_MAX, sizeof *m->problem_rows);
    m->sets = sched_alloc(s, GROUPING_SETS_MAX, sizeof *m->sets);
    m->copies = sched_alloc(s, GROUPING_SETS_MAX, sizeof *m->copies);
    bool has_all = m->rows != NULL && m->problem_rows != NULL && m->sets != NULL && m->copies != NULL;
    m->sets_room = has_all ? GROUPING_SETS_MAX : 0;
    return has_all;
}

static uint32_t profile_of(const struct muri *m, const struct muri_group *single)
{
    return single->kind != MURI_NONE ? m->worth.kinds[single->kind].profiles[0] : MURI_NONE;
}

/* The row of a candidate among those from `first` on. A candidate without a profile is a row of its own. */
static uint32_t row_of(struct muri *m, uint32_t first, uint32_t n_rows, const struct muri_group *single)
{
    uint32_t profile = profile_of(m, single), r = first;
    while (r < n_rows && (profile == MURI_NONE || m->rows[r].profile != profile))
        r++;
    return r;
}

/* m->rows, bucket by bucket, from the single groups. False: too many. */
static bool rows_make(struct muri *m, uint32_t n, uint32_t *n_rows)
{
    uint32_t first = 0;
    *n_rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && m->groups[i].bucket != m->groups[i - 1].bucket)
            first = *n_rows;
        uint32_t r = row_of(m, first, *n_rows, &m->groups[i]);
        if (r == GROUPING_ROWS_MAX)
            return false;
        if (r == *n_rows) {
            uint32_t bucket = m->groups[i].bucket;
            m->rows[r] = (struct muri_row){.profile = profile_of(m, &m->groups[i]), .at = i};
            m->problem_rows[r] = (struct grouping_row){.demand = bucket, .gpus = m->buckets[bucket].gpus};
            ++*n_rows;
        }
        m->problem_rows[r].count++;
    }
    return true;
}

/* How many sets there could be, of the jobs that there are: for each bucket the coefficients up to the group's size of the product of
 * (1 + x + .. + x^count) over its rows. */
static uint64_t sets_count(const struct muri *m, uint32_t n_rows)
{
    uint64_t sum = 0, of_size[MURI_GROUP_MAX + 1] = {1};
    for (uint32_t r = 0; r < n_rows; r++) {
        for (uint32_t n = m->group; n > 0; n--)
            for (uint32_t k = 1; k <= n && k <= m->problem_rows[r].count; k++)
                of_size[n] += of_size[n - k];
        if (r + 1 < n_rows && m->problem_rows[r + 1].demand == m->problem_rows[r].demand)
            continue;
        for (uint32_t n = 1; n <= m->group; n++) {
            sum += of_size[n];
            of_size[n] = 0;
        }
    }
    return sum;
}

/* Lists sets of rows of one bucket. */
struct lister {
    struct muri *m;
    struct sched *s;
    uint32_t n_rows, n_sets;
};

static double value_of(struct lister *l, const struct grouping_set *set)
{
    uint32_t profiles[MURI_GROUP_MAX];
    for (uint32_t i = 0; i < set->n; i++)
        profiles[i] = l->m->rows[set->rows[i]].profile;
    uint32_t kind = muri_kind_of(&l->m->worth, l->s, profiles, set->n);
    return kind != MURI_NONE ? l->m->worth.kinds[kind].use * l->m->problem_rows[set->rows[0]].gpus : 0;
}

/* Sets that begin as `set` and have one member more, of a row from its last one on. */
static void list_longer(struct lister *l, struct grouping_set set)
{
    const struct grouping_row *rows = l->m->problem_rows;
    uint32_t last = set.rows[set.n - 1], in_set = 0;
    for (uint32_t i = 0; i < set.n; i++)
        in_set += set.rows[i] == last;
    for (uint32_t r = last; r < l->n_rows && rows[r].demand == rows[last].demand; r++) {
        if (r == last && in_set == rows[r].count)
            continue;
        struct grouping_set longer = set;
        longer.rows[longer.n++] = (uint16_t)r;
        longer.value = value_of(l, &longer);
        if (!(longer.value > 0))
            continue; /* they cannot share, and nor can they with more */
        l->m->sets[l->n_sets++] = longer;
        if (longer.n < l->m->group)
            list_longer(l, longer);
    }
}

static uint32_t sets_make(struct muri *m, struct sched *s, uint32_t n_rows)
{
    struct lister l = {.m = m, .s = s, .n_rows = n_rows, .n_sets = n_rows};
    for (uint32_t r = 0; r < n_rows; r++) {
        m->sets[r] = (struct grouping_set){.rows = {(uint16_t)r}, .n = 1};
        m->sets[r].value = value_of(&l, &m->sets[r]);
    }
    for (uint32_t r = 0; r < n_rows; r++)
        list_longer(&l, m->sets[r]);
    return l.n_sets;
}

static bool solve(struct muri *m, const struct grouping *g)
{
    if (m->how == MURI_EXACT)
        return grouping_exact(g, m->copies);
    return m->how == MURI_GREEDY ? grouping_greedy(g, m->copies) : grouping_relaxed(g, m->copies, NULL);
}

/* The next candidate of a row. */
static const struct muri_group *next_of(struct muri *m, struct muri_row *r)
{
    while (r->is_begun && profile_of(m, &m->groups[r->at]) != r->profile)
        r->at++;
    r->is_begun = true;
    return &m->groups[r->at++];
}

static uint32_t deal_out(struct muri *m, uint32_t n_sets)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_sets; i++)
        for (uint32_t copy = 0; copy < m->copies[i]; copy++) {
            struct muri_group *g = &m->next[n++];
            *g = *next_of(m, &m->rows[m->sets[i].rows[0]]);
            for (uint32_t k = 1; k < m->sets[i].n; k++)
                muri_merge(g, next_of(m, &m->rows[m->sets[i].rows[k]]));
        }
    struct muri_group *swap = m->groups;
    m->groups = m->next;
    m->next = swap;
    return n;
}

bool muri_counts(struct muri *m, struct sched *s, uint32_t *n, uint64_t capacity)
{
    struct grouping g = {.capacity = capacity};
    if (!tables_make(m, s) || !rows_make(m, *n, &g.n_rows) || sets_count(m, g.n_rows) > m->sets_room)
        return false;
    g.n_sets = sets_make(m, s, g.n_rows);
    g.rows = m->problem_rows;
    g.sets = m->sets;
    if (!solve(m, &g))
        return false;
    *n = deal_out(m, g.n_sets);
    return true;
}

/* A profile against the number of free GPUs of each line in each ns, over random operations while time goes on.
 *
 * A question costs the twin lines x length for each instant until the answer, so there are 400,000 operations: a million would
 * take some three seconds.
 */
#include "tests/dice.h"
#include "inside.h"
#include "policies/profile.h"

#include <criterion/criterion.h>
#include <string.h>

enum { LINES = 7, AHEAD = 64, ROUNDS = 4000, UNITS = 2 * ROUNDS + 2 * AHEAD, PLANS = 24, OPERATIONS = 400000 / 5 };

struct planned {
    struct share shares[LINES];
    uint32_t n_shares, gpus;
    int64_t start, end;
    uint64_t since; /* the clock at which it was planned */
};

struct self {
    struct profile profile;
    int64_t free[LINES][UNITS]; /* the twin: the last for ever */
    struct planned plans[PLANS];
    uint32_t n_plans, n_operations, n_earlier, n_many;
    uint64_t dice;
    bool by_node;
};

static void profile_start(void *self, struct sched *s)
{
    struct self *p = self;
    p->dice = 0xfeedface + sched_n_nodes(s);
    p->by_node = sched_is_packed(s);
    cr_assert(profile_init(&p->profile, s, p->by_node ? PROFILE_PACKED : PROFILE_COUNT));
    cr_assert_leq(p->profile.n_lines, (uint32_t)LINES);
    for (uint32_t i = 0; i < p->profile.n_lines; i++)
        for (uint32_t u = 0; u < UNITS; u++)
            p->free[i][u] = p->by_node ? sched_node_gpus(s, sched_node(s, i)) : sched_capacity_gpus(s);
}

/* ---- the twin ----------------------------------------------------------------------------------------- */

static void twin_add(struct self *p, const struct planned *a, int64_t from, int64_t to, int64_t sign)
{
    for (uint32_t k = 0; k < a->n_shares; k++)
        for (int64_t u = from; u < to; u++)
            p->free[a->shares[k].line][u] += sign * a->shares[k].gpus;
}

static int64_t twin_least(const struct self *p, uint32_t line, int64_t from, int64_t length)
{
    int64_t least = INT64_MAX;
    for (int64_t u = from; u < from + length; u++)
        least = p->free[line][u] < least ? p->free[line][u] : least;
    return least;
}

static uint32_t line_gpus(const struct self *p, struct sched *s, uint32_t line)
{
    return p->by_node ? sched_node_gpus(s, sched_node(s, line)) : sched_capacity_gpus(s);
}

/* Lines that are wholly free, the largest first and of equal ones the first, then the line that has the least to spare for the rest. */
static bool twin_fits(const struct self *p, struct sched *s, uint32_t gpus, int64_t at, int64_t length,
                      struct planned *out)
{
    uint32_t largest = 0, n = p->profile.n_lines, best = LINES;
    int64_t best_least = 0;
    bool is_taken[LINES] = {false};
    out->n_shares = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = line_gpus(p, s, i) > largest ? line_gpus(p, s, i) : largest;
    if (gpus > largest) {
        if (!p->by_node)
            return false;
        for (uint32_t size = largest; size > 0; size--)
            for (uint32_t i = 0; i < n && size <= gpus; i++)
                if (line_gpus(p, s, i) == size && twin_least(p, i, at, length) >= (int64_t)size) {
                    is_taken[i] = true;
                    out->shares[out->n_shares++] = (struct share){.line = i, .gpus = size};
                    gpus -= size;
                }
        if (gpus == 0)
            return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t least = twin_least(p, i, at, length);
        if (!is_taken[i] && line_gpus(p, s, i) >= gpus && least >= (int64_t)gpus &&
            (best == LINES || least < best_least)) {
            best = i;
            best_least = least;
        }
    }
    if (best < LINES)
        out->shares[out->n_shares++] = (struct share){.line = best, .gpus = gpus};
    return best < LINES;
}

static int64_t twin_find(const struct self *p, struct sched *s, uint32_t gpus, int64_t length, int64_t before,
                         struct planned *out)
{
    for (int64_t t = sched_now(s); t < before && t < sched_now(s) + AHEAD; t++)
        if (twin_fits(p, s, gpus, t, length, out))
            return t;
    return SCHED_NEVER; /* nothing is planned that far ahead */
}

/* ---- operations --------------------------------------------------------------------------------------- */

static void check_shares(const struct self *p, const struct planned *want)
{
    cr_assert_eq(p->profile.n_shares, want->n_shares, "operation %u", p->n_operations);
    for (uint32_t k = 0; k < want->n_shares; k++)
        cr_assert(p->profile.shares[k].line == want->shares[k].line &&
                      p->profile.shares[k].gpus == want->shares[k].gpus,
                  "operation %u: share %u is %u GPUs of line %u, in the twin %u of %u", p->n_operations, k,
                  p->profile.shares[k].gpus, p->profile.shares[k].line, want->shares[k].gpus, want->shares[k].line);
}

static void find(struct self *p, struct sched *s)
{
    struct planned a;
    int64_t length = 1 + dice_roll(&p->dice, 20);
    uint32_t n = p->profile.n_lines;
    a.gpus = 1 + dice_roll(&p->dice, dice_roll(&p->dice, 3) == 0 ? 40 : 8);
    const struct need need = {.gpus = a.gpus, .type = SCHED_ANY_TYPE, .demand = UINT32_MAX};
    int64_t got = profile_find(&p->profile, s, &need, length), want = twin_find(p, s, a.gpus, length, SCHED_NEVER, &a);
    cr_assert_eq(got, want, "operation %u: %u GPUs of %u lines for %lld from %lld on: at %lld, in the twin %lld",
                 p->n_operations, a.gpus, n, (long long)length, (long long)sched_now(s), (long long)got,
                 (long long)want);
    if (got == SCHED_NEVER)
        return;
    check_shares(p, &a);
    cr_assert(profile_is_free(&p->profile, a.shares, a.n_shares, got, got + length), "operation %u", p->n_operations);
    if (p->n_plans == PLANS || got + length >= sched_now(s) + AHEAD || dice_roll(&p->dice, 2) == 0)
        return;
    a.start = got;
    a.end = got + length;
    a.since = p->profile.clock;
    cr_assert(profile_take(&p->profile, s, a.shares, a.n_shares, a.start, a.end));
    twin_add(p, &a, a.start, a.end, -1);
    p->n_many += a.n_shares > 1;
    p->plans[p->n_plans++] = a;
}

/* A plan ends early: the rest is given back for good. */
static void give(struct self *p, struct sched *s, uint32_t i)
{
    struct planned a = p->plans[i];
    int64_t from = sched_now(s) > a.start ? sched_now(s) : a.start;
    p->plans[i] = p->plans[--p->n_plans];
    if (from >= a.end)
        return;
    cr_assert(profile_give(&p->profile, s, a.shares, a.n_shares, from, a.end));
    profile_mark(&p->profile, a.shares, a.n_shares);
    twin_add(p, &a, from, a.end, 1);
}

/* A plan that has not begun looks for an earlier place, and takes it. */
static void look_earlier(struct self *p, struct sched *s, struct planned *a)
{
    struct planned to = *a;
    if (a->start <= sched_now(s))
        return;
    int64_t length = a->end - a->start;
    const struct need need = {.gpus = a->gpus, .type = SCHED_ANY_TYPE, .demand = UINT32_MAX};
    int64_t got = profile_find_earlier(&p->profile, s, a->shares, a->n_shares, &need, a->start, length, a->since);
    twin_add(p, a, a->start, a->end, 1);
    int64_t want = twin_find(p, s, a->gpus, length, a->start, &to);
    cr_assert_eq(got, want, "operation %u: %u GPUs at %lld for %lld: at %lld, in the twin %lld", p->n_operations,
                 a->gpus, (long long)a->start, (long long)length, (long long)got, (long long)want);
    a->since = p->profile.clock;
    if (got == SCHED_NEVER) {
        twin_add(p, a, a->start, a->end, -1);
        return;
    }
    check_shares(p, &to);
    cr_assert(profile_give(&p->profile, s, a->shares, a->n_shares, a->start, a->end));
    profile_mark(&p->profile, a->shares, a->n_shares);
    to.start = got;
    to.end = got + length;
    cr_assert(profile_take(&p->profile, s, to.shares, to.n_shares, to.start, to.end));
    twin_add(p, &to, to.start, to.end, -1);
    *a = to;
    p->n_earlier++;
}

static void ask_whether_free(struct self *p, struct sched *s)
{
    struct planned a = {.n_shares = 1 + dice_roll(&p->dice, p->profile.n_lines)};
    int64_t from = sched_now(s) + dice_roll(&p->dice, AHEAD / 2), length = dice_roll(&p->dice, 12);
    bool want = true;
    for (uint32_t k = 0; k < a.n_shares; k++) {
        a.shares[k] = (struct share){.line = k, .gpus = 1 + dice_roll(&p->dice, 4)};
        want &= length == 0 || twin_least(p, k, from, length) >= (int64_t)a.shares[k].gpus;
    }
    cr_assert_eq(profile_is_free(&p->profile, a.shares, a.n_shares, from, from + length), want, "operation %u",
                 p->n_operations);
}

static void profile_round(void *self, struct sched *s)
{
    struct self *p = self;
    for (uint32_t k = 0; k < OPERATIONS / ROUNDS; k++, p->n_operations++) {
        uint32_t what = dice_roll(&p->dice, 10), i = p->n_plans > 0 ? dice_roll(&p->dice, p->n_plans) : PLANS;
        if (what == 0 && i < PLANS)
            give(p, s, i);
        else if (what < 3 && i < PLANS)
            look_earlier(p, s, &p->plans[i]);
        else if (what == 3)
            ask_whether_free(p, s);
        else
            find(p, s);
    }
    for (uint32_t i = 0; i < p->n_plans;) /* what is over is forgotten */
        if (p->plans[i].end <= sched_now(s))
            p->plans[i] = p->plans[--p->n_plans];
        else
            i++;
}

static void profile_end(void *self)
{
    const struct self *p = self;
    cr_expect_eq(p->n_operations, (uint32_t)OPERATIONS);
    cr_expect_gt(p->n_earlier, 500u);
    cr_expect(!p->by_node || p->profile.n_lines == 1 || p->n_many > 100, "%u plans over several lines", p->n_many);
}

static void compare(struct test_case *c)
{
    for (uint32_t j = 0; j < ROUNDS; j++) {
        case_job(c, 0, 1, 1);
        c->jobs[j].submit_ns = 2 * j; /* the next is a ns or two on */
        c->jobs[j].submit_ns -= j % 3 == 1;
    }
    inside_run(c, &(struct inside){
                      .size = sizeof(struct self), .begin = profile_start, .round = profile_round, .end = profile_end});
    case_destroy(c);
}

Test(profile, plans_agree_with_units_of_time_on_like_nodes)
{
    compare(case_create(5, 8));
}

Test(profile, plans_agree_with_units_of_time_on_unlike_nodes)
{
    struct test_case *c = case_create(2, 4);
    c->groups[1] = (struct node_group_spec){.count = 2, .gpus = 8, .gpu = ""};
    c->groups[2] = (struct node_group_spec){.count = 2, .gpus = 3, .gpu = ""};
    c->groups[3] = (struct node_group_spec){.count = 1, .gpus = 0, .gpu = ""};
    c->cluster.n_groups = 4;
    compare(c);
}

Test(profile, plans_agree_with_units_of_time_on_one_node)
{
    compare(case_create(1, 40));
}

Test(profile, plans_agree_with_units_of_time_on_nodes_of_one_gpu)
{
    compare(case_create(7, 1));
}

Test(profile, plans_agree_with_units_of_time_where_any_gpus_will_do)
{
    struct test_case *c = case_create(5, 6);
    case_placement(c, "spread");
    compare(c);
}

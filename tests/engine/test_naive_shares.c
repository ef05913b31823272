/* The fairness and market policies against rules of their own (naive_shares.h), on random cases with fixed seeds. */
#include "tests/engine/naive_match.h"
#include "tests/engine/naive_shares.h"
#include "tests/harness.h"
#include "tests/policies/fair_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_TINY = 300, N_CROWD = 200, N_MIDDLE = 60 };

/* Where more jobs come than there is room for, and most clusters are not divided. */
static const struct naive_size dense = {6, 1, 2, 4, 4, 14, false}, crowd = {24, 2, 3, 8, 16, 20, false};

/* ---- parameters ---------------------------------------------------------------------------------------- */

static const char *text_of(const char *format, long long n)
{
    static char texts[16][32]; /* a case has fewer parameters */
    static uint32_t used;
    char *text = texts[used++ % 16];
    snprintf(text, sizeof texts[0], format, n);
    return text;
}

static void fair_params(const struct naive_case *c, struct test_case *t)
{
    static const char *const by[] = {"user", "vc", "vc_user"}, *const measures[] = {"usage", "gpus", "dominant"};
    const struct naive_fair *f = (const struct naive_fair *)c->rules;
    bool is_tree = strcmp(f->rules.policy, "hierarchical") == 0;
    case_param(t, "by", by[f->by]);
    case_param(t, "shares", f->path);
    case_param(t, "fill", naive_fill_names[c->fill]);
    case_param(t, "preempt", naive_preempt_names[c->preempt]);
    case_param(t, "quantum", text_of("%lld ns", c->quantum));
    if (is_tree)
        case_param(t, "measure", measures[f->measure]);
    if (f->measure == N_USAGE) {
        case_param(t, "half_life", text_of("%lld ns", f->half_life));
        case_param(t, "ahead", text_of("%lld ns", f->ahead));
    }
    if (f->measure == N_GUARANTEE)
        case_param(t, "borrow", f->may_lend ? "true" : "false");
}

static const char *file_of(const struct naive_share *shares)
{
    char text[512] = "name,parent,weight,guarantee\n";
    if (shares->name == NULL)
        return "";
    for (const struct naive_share *s = shares; s->name != NULL; s++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s,%s,%g,%s\n", s->name, s->parent, s->weight,
                 s->guarantee < 0 ? "" : text_of("%lld", s->guarantee));
    }
    return fair_file(text);
}

#define FAIR_RULES(name)                                                                                               \
    .rules = {.policy = name,                                                                                          \
              .params = fair_params,                                                                                   \
              .schedule = naive_fair_schedule,                                                                         \
              .is_one = true,                                                                                          \
              .begin = naive_fair_begin,                                                                               \
              .pass = naive_fair_pass}

/* ---- comparing ----------------------------------------------------------------------------------------- */

struct tally {
    uint32_t n_cases, n_wrong, n_close;
    uint32_t n_finished, n_waited, n_preempted;
};

/* A comparison is worth as much as what happens in the cases. */
static void count(struct tally *tally, const struct naive_case *c)
{
    struct naive_result r[NAIVE_JOBS];
    if (c->placement >= N_ANY)
        return; /* only naive_agree knows what was drawn */
    naive_run(c, r);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        tally->n_finished += r[j].status == N_FINISHED;
        tally->n_waited += r[j].start > c->jobs[j].submit;
        tally->n_preempted += r[j].preemptions;
    }
}

static void agree(struct tally *tally, struct naive_case *c, uint32_t i)
{
    if (tally->n_cases++ % 4 == 0)
        count(tally, c);
    naive_close_forget();
    if (naive_agree(c, false))
        return;
    if (naive_close_was()) {
        tally->n_close++;
        return;
    }
    fprintf(stderr, "case %u of %s differs\n", i, c->rules->policy);
    if (tally->n_wrong++ < 2) {
        naive_shrink(c);
        naive_agree(c, true);
    }
}

static void tally_check(const struct tally *t)
{
    cr_assert_eq(t->n_wrong, 0u, "%u of %u cases differ", t->n_wrong, t->n_cases);
    cr_assert(t->n_close * 10 <= t->n_cases, "in %u of %u cases rounding decides", t->n_close, t->n_cases);
    cr_assert(t->n_finished > t->n_cases / 4 && t->n_waited > t->n_cases / 20,
              "in a quarter of %u cases %u jobs end, %u wait, %u are preempted", t->n_cases, t->n_finished, t->n_waited,
              t->n_preempted);
}

#define AGAINST(variants, compare)                                                                                     \
    Test(naive_shares, tiny_##variants##_agrees)                                                                       \
    {                                                                                                                  \
        compare(variants, sizeof variants / sizeof *variants, &naive_tiny, N_TINY);                                    \
    }                                                                                                                  \
    Test(naive_shares, dense_##variants##_agrees)                                                                      \
    {                                                                                                                  \
        compare(variants, sizeof variants / sizeof *variants, &dense, N_TINY);                                         \
    }                                                                                                                  \
    Test(naive_shares, crowded_##variants##_agrees)                                                                    \
    {                                                                                                                  \
        compare(variants, sizeof variants / sizeof *variants, &crowd, N_CROWD);                                        \
    }                                                                                                                  \
    Test(naive_shares, middle_##variants##_agrees)                                                                     \
    {                                                                                                                  \
        compare(variants, sizeof variants / sizeof *variants, &naive_middle, N_MIDDLE);                                \
    }

static struct naive_dice dice_of(uint32_t i, const char *policy)
{
    struct naive_dice d = {1 + i * 7919u};
    for (; *policy != '\0'; policy++)
        d.state = d.state * 31 + (uint64_t)*policy;
    for (int k = 0; k < 8; k++)
        naive_roll(&d, 2);
    return d;
}

/* Virtual clusters as names over shared nodes, where nothing is divided. */
static void name_vcs(struct naive_case *c, struct naive_dice *d)
{
    for (uint32_t j = 0; j < c->n_jobs && c->n_vcs == 0; j++)
        c->jobs[j].vc = (int)naive_roll(d, 3);
}

/* Cores and memory, so many a GPU in each partition that a job finds them wherever it finds GPUs: what differs is whose dominant they are. */
static void give_cores(struct naive_case *c, struct naive_dice *d)
{
    uint32_t cores[NAIVE_VCS + 1], gib[NAIVE_VCS + 1], node = 0;
    for (uint32_t v = 0; v <= NAIVE_VCS; v++) {
        cores[v] = 1u << naive_roll(d, 5);
        gib[v] = 1u << naive_roll(d, 5);
    }
    for (uint32_t v = 0; v <= c->n_vcs; v++) { /* at last the nodes that nobody has for himself */
        uint32_t n = v == c->n_vcs         ? c->n_nodes
                     : !c->vcs[v].is_quota ? c->vcs[v].amount
                                           : 0,
                 k = v == c->n_vcs ? NAIVE_VCS : v;
        for (; n > 0 && node < c->n_nodes; n--, node++) {
            c->cpu_milli[node] = c->gpus[node] * cores[k] * 1000;
            c->mem_kib[node] = (uint64_t)c->gpus[node] * gib[k] << 20;
        }
    }
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct naive_job *job = &c->jobs[j];
        int v = c->n_vcs == 0 || job->vc < 0 || c->vcs[job->vc].is_quota ? NAIVE_VCS : job->vc;
        job->cpu_milli = job->gpus * (uint32_t)naive_roll(d, cores[v] + 1) * 1000;
        job->mem_kib = (uint64_t)job->gpus * naive_roll(d, gib[v] + 1) << 20;
    }
}

/* Guarantees must be there: a cluster of that many GPUs at least. */
static void grow(struct naive_case *c, uint32_t least)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        all += c->gpus[i];
    for (uint32_t i = 0; i < c->n_nodes && all < least; i++)
        c->gpus[i] = least;
}

static void fair_compare(struct naive_fair *variants, uint32_t n_variants, const struct naive_size *z, uint32_t n_cases)
{
    struct tally tally = {0};
    for (uint32_t k = 0; k < n_variants; k++)
        variants[k].path = file_of(variants[k].shares);
    for (uint32_t i = 0; i < n_cases; i++) {
        struct naive_dice d = dice_of(i, variants[0].rules.policy);
        const struct naive_fair *f = &variants[i % n_variants];
        struct naive_case c = {.rules = &f->rules,
                               .fill = naive_roll(&d, 3) > 0 ? N_SKIP : N_STRICT,
                               .preempt = (enum naive_preempt)naive_roll(&d, N_PREEMPTS)};
        /* attempts that fail may draw a place each, and how many there are is no part of the rules */
        c.placement = (enum naive_placement)naive_roll(&d, c.preempt == N_WHEN_BETTER ? N_ANY : N_PLACEMENTS);
        if (f->measure == N_DOMINANT && (c.placement == N_YARN || c.placement == N_BEST_FIT))
            c.placement = N_FIRST_FIT; /* those two look at cores themselves */
        naive_roll_case(&c, z, &d);
        name_vcs(&c, &d);
        grow(&c, f->measure == N_GUARANTEE ? 4 : 1);
        if (f->measure == N_DOMINANT)
            give_cores(&c, &d);
        agree(&tally, &c, i);
    }
    tally_check(&tally);
}

/* ---- fairness ------------------------------------------------------------------------------------------- */

static struct naive_fair max_min[] = {
    {FAIR_RULES("max_min"), .measure = N_GPUS, .by = N_BY_USER},
    {FAIR_RULES("max_min"), .measure = N_GPUS, .by = N_BY_VC},
    {FAIR_RULES("max_min"), .measure = N_GPUS, .by = N_BY_USER,
     .shares = {{"u", "", 2, -1}, {"v", "", 1, -1}, {"w", "", 0.5, -1}}},
    {FAIR_RULES("max_min"), .measure = N_GPUS, .by = N_BY_USER,
     .shares =
         {{"lab", "", 1, -1}, {"plant", "", 2, -1}, {"w", "plant", 1, -1}, {"u", "lab", 1, -1}, {"v", "lab", 2, -1}}},
};

static struct naive_fair fair_share[] = {
    {FAIR_RULES("fair_share"), .measure = N_USAGE, .by = N_BY_USER, .half_life = 7 * S},
    {FAIR_RULES("fair_share"), .measure = N_USAGE, .by = N_BY_USER, .half_life = 3 * S, .ahead = 2 * S},
    {FAIR_RULES("fair_share"), .measure = N_USAGE, .by = N_BY_VC, .half_life = 1000 * S, .ahead = 10 * S},
    {FAIR_RULES("fair_share"), .measure = N_USAGE, .by = N_BY_USER, .half_life = 20 * S, .ahead = 1 * S,
     .shares = {{"lab", "", 3, -1}, {"u", "lab", 1, -1}, {"v", "lab", 2, -1}, {"w", "", 0.7, -1}}},
};

static struct naive_fair drf[] = {
    {FAIR_RULES("drf"), .measure = N_DOMINANT, .by = N_BY_USER},
    {FAIR_RULES("drf"), .measure = N_DOMINANT, .by = N_BY_VC},
    {FAIR_RULES("drf"), .measure = N_DOMINANT, .by = N_BY_USER,
     .shares = {{"u", "", 2, -1}, {"v", "", 1, -1}, {"w", "", 0.5, -1}}},
};

static struct naive_fair quota[] = {
    {FAIR_RULES("quota"), .measure = N_GUARANTEE, .by = N_BY_VC, .may_lend = true},
    {FAIR_RULES("quota"), .measure = N_GUARANTEE, .by = N_BY_VC, .may_lend = true,
     .shares = {{"a", "", 2, 2}, {"b", "", 1, 1}, {"c", "", 0.5, 1}, {"elsewhere", "", 1, -1}}},
    {FAIR_RULES("quota"), .measure = N_GUARANTEE, .by = N_BY_USER, .may_lend = true,
     .shares = {{"lab", "", 1, 3}, {"u", "lab", 2, 2}, {"v", "lab", 1, -1}, {"w", "", 1, 1}}},
    {FAIR_RULES("quota"), .measure = N_GUARANTEE, .by = N_BY_USER, .may_lend = false,
     .shares = {{"u", "", 2, 2}, {"v", "", 1, 1}, {"w", "", 1, 1}}},
    {FAIR_RULES("quota"), .measure = N_GUARANTEE, .by = N_BY_VC_USER, .may_lend = true,
     .shares = {{"a", "", 1, -1},
                {"u", "a", 1, 1},
                {"v", "a", 1, 1},
                {"b", "", 2, 2},
                {"u", "b", 1, 1},
                {"c", "", 1, -1},
                {"elsewhere", "", 1, -1}}},
};

static struct naive_fair hierarchical[] = {
    {FAIR_RULES("hierarchical"), .measure = N_GPUS, .by = N_BY_VC_USER},
    {FAIR_RULES("hierarchical"), .measure = N_USAGE, .by = N_BY_VC_USER, .half_life = 9 * S, .ahead = 3 * S},
    {FAIR_RULES("hierarchical"), .measure = N_DOMINANT, .by = N_BY_VC_USER},
    {FAIR_RULES("hierarchical"), .measure = N_GPUS, .by = N_BY_VC_USER,
     .shares = {{"org", "", 2, -1},
                {"a", "org", 1, -1},
                {"b", "org", 3, -1},
                {"u", "a", 2, -1},
                {"v", "a", 0.5, -1},
                {"u", "b", 1, -1},
                {"c", "", 1, -1},
                {"elsewhere", "", 1, -1}}},
    {FAIR_RULES("hierarchical"), .measure = N_GPUS, .by = N_BY_USER,
     .shares =
         {{"lab", "", 1, -1}, {"plant", "", 2, -1}, {"w", "plant", 1, -1}, {"u", "lab", 1, -1}, {"v", "lab", 2, -1}}},
    {FAIR_RULES("hierarchical"), .measure = N_USAGE, .by = N_BY_VC, .half_life = 40 * S},
};

AGAINST(fair_share, fair_compare)
AGAINST(max_min, fair_compare)
AGAINST(drf, fair_compare)
AGAINST(quota, fair_compare)
AGAINST(hierarchical, fair_compare)

/* ---- leases ------------------------------------------------------------------------------------------------ */

static void themis_params(const struct naive_case *c, struct test_case *t)
{
    const struct naive_themis *th = (const struct naive_themis *)c->rules;
    case_param(t, "lease", text_of("%lld ns", th->lease));
    if (!th->is_auction)
        return;
    case_param(t, "fairness", text_of("0.%02lld", llrint(th->fairness * 100)));
    case_param(t, "payments", th->has_payments ? "true" : "false");
}

#define THEMIS_RULES(name)                                                                                             \
    .rules = {.policy = name,                                                                                          \
              .params = themis_params,                                                                                 \
              .schedule = naive_themis_schedule,                                                                       \
              .is_fine = true,                                                                                         \
              .begin = naive_themis_begin,                                                                             \
              .pass = naive_themis_pass}

static const struct naive_themis themis[] = {
    {THEMIS_RULES("themis"), .lease = 2 * S},
    {THEMIS_RULES("themis"), .lease = 5 * S},
    {THEMIS_RULES("themis"), .lease = 9 * S},
};

static const struct naive_themis themis_auction[] = {
    {THEMIS_RULES("themis_auction"), .lease = 3 * S, .is_auction = true, .fairness = 0.8},
    {THEMIS_RULES("themis_auction"), .lease = 5 * S, .is_auction = true, .fairness = 0.8, .has_payments = true},
    {THEMIS_RULES("themis_auction"), .lease = 8 * S, .is_auction = true, .fairness = 0.6, .has_payments = true},
};

/* A job must live to do something between two leases. */
static void soften(struct naive_case *c, int64_t lease)
{
    if (c->restart_overhead >= lease)
        c->restart_overhead = lease - S;
}

static void themis_compare(const struct naive_themis *variants, uint32_t n_variants, const struct naive_size *z,
                           uint32_t n_cases)
{
    struct tally tally = {0};
    for (uint32_t i = 0; i < n_cases; i++) {
        struct naive_dice d = dice_of(i, variants[0].rules.policy);
        const struct naive_themis *t = &variants[i % n_variants];
        struct naive_case c = {.rules = &t->rules, .placement = (enum naive_placement)naive_roll(&d, N_ANY)};
        naive_roll_case(&c, z, &d);
        soften(&c, t->lease);
        agree(&tally, &c, i);
    }
    tally_check(&tally);
}

AGAINST(themis, themis_compare)
AGAINST(themis_auction, themis_compare)

/* ---- markets ------------------------------------------------------------------------------------------------ */

static void market_params(const struct naive_case *c, struct test_case *t)
{
    static char income[32], importance[32], reserve[32];
    const struct naive_market *m = (const struct naive_market *)c->rules;
    snprintf(income, sizeof income, "%.17g", m->income);
    snprintf(importance, sizeof importance, "%.17g", m->importance);
    snprintf(reserve, sizeof reserve, "%.17g", m->reserve);
    case_param(t, "shares", m->path);
    case_param(t, "income", income);
    case_param(t, "save", text_of("%lld ns", m->save));
    if (m->period > 0) {
        snprintf(reserve, sizeof reserve, "%.17g", m->step);
        case_param(t, "period", text_of("%lld ns", m->period));
        case_param(t, "step", reserve);
        case_param(t, "ahead", text_of("%lld ns", m->ahead));
        case_param(t, "leftover", m->has_leftover ? "true" : "false");
        case_param(t, "preempt", m->may_displace ? "true" : "false");
        return;
    }
    case_param(t, "patience", text_of("%lld ns", m->patience));
    case_param(t, "importance", importance);
    case_param(t, "reserve", reserve);
}

static const char *weights_file(const double weight[NAIVE_USERS])
{
    char text[128];
    snprintf(text, sizeof text, "name,weight\nu,%g\nv,%g\nw,%g\n", weight[0], weight[1], weight[2]);
    return fair_file(text);
}

#define MARKET_RULES(name, schedule_)                                                                                  \
    .rules = {.policy = name,                                                                                          \
              .params = market_params,                                                                                 \
              .schedule = schedule_,                                                                                   \
              .is_fine = true,                                                                                         \
              .begin = naive_market_begin,                                                                             \
              .pass = naive_market_pass}

/* So much money that only the worth counts; so little that the budget does; a reserve that must be saved for. */
static struct naive_market auction[] = {
    {MARKET_RULES("auction", naive_auction_schedule), .weight = {1, 1, 1}, .income = 3.6e6, .save = 50 * S,
     .patience = 4 * S},
    {MARKET_RULES("auction", naive_auction_schedule), .weight = {1, 2, 0.5}, .income = 3600 * 0.7, .save = 31 * S,
     .patience = 8 * S, .importance = 0.5},
    {MARKET_RULES("auction", naive_auction_schedule), .weight = {1, 1.3, 0.4}, .income = 3600 * 0.37, .save = 23 * S,
     .patience = 16 * S, .importance = 0.25, .reserve = 1.11},
};

static void market_compare(struct naive_market *variants, uint32_t n_variants, const struct naive_size *z,
                           uint32_t n_cases)
{
    struct tally tally = {0};
    for (uint32_t k = 0; k < n_variants; k++)
        variants[k].path = weights_file(variants[k].weight);
    for (uint32_t i = 0; i < n_cases; i++) {
        struct naive_dice d = dice_of(i, variants[0].rules.policy);
        struct naive_case c = {.rules = &variants[i % n_variants].rules,
                               .placement = (enum naive_placement)naive_roll(&d, N_PLACEMENTS)};
        naive_roll_case(&c, z, &d);
        if (variants[i % n_variants].period > 0)
            soften(&c, variants[i % n_variants].period);
        agree(&tally, &c, i);
    }
    tally_check(&tally);
}

AGAINST(auction, market_compare)

#define PRICE_RULES                                                                                                    \
    .rules = {.policy = "proportional_price",                                                                          \
              .params = market_params,                                                                                 \
              .schedule = naive_price_schedule,                                                                        \
              .begin = naive_price_begin,                                                                              \
              .pass = naive_market_pass}

static struct naive_market proportional_price[] = {
    {PRICE_RULES, .weight = {1, 1, 1}, .income = 3600, .save = 40 * S, .period = 3 * S, .ahead = 10 * S, .step = 0.1,
     .has_leftover = true, .may_displace = true},
    {PRICE_RULES, .weight = {1, 2.3, 0.4}, .income = 3600 * 0.7, .save = 9 * S, .period = 2 * S, .ahead = 4 * S,
     .step = 0.5, .has_leftover = true, .may_displace = true},
    {PRICE_RULES, .weight = {1.1, 2.3, 0.4}, .income = 3600 * 0.7, .save = 3 * S, .period = 4 * S, .ahead = 2 * S,
     .step = 0.3, .may_displace = true},
    {PRICE_RULES, .weight = {1.1, 1.3, 0.9}, .income = 3600, .save = 12 * S, .period = 5 * S, .ahead = 7 * S,
     .step = 0.2, .has_leftover = true},
    {PRICE_RULES, .weight = {3, 0.1, 0.1}, .income = 3600, .save = 1 * S, .period = 3 * S, .ahead = 1 * S, .step = 0.05,
     .has_leftover = true},
};

AGAINST(proportional_price, market_compare)

/* ---- two classes -------------------------------------------------------------------------------------------- */

static void antman_params(const struct naive_case *c, struct test_case *t)
{
    case_param(t, "opportunistic", ((const struct naive_antman *)c->rules)->limit > 0 ? "0.5" : "0");
    case_param(t, "fill", naive_fill_names[c->fill]);
}

static const struct naive_antman antman[] = {
    {.rules = {.policy = "antman", .params = antman_params, .schedule = naive_antman_schedule}, .limit = 0},
    {.rules = {.policy = "antman", .params = antman_params, .schedule = naive_antman_schedule}, .limit = 0.5},
};

static void antman_compare(const struct naive_antman *variants, uint32_t n_variants, const struct naive_size *z,
                           uint32_t n_cases)
{
    struct tally tally = {0};
    for (uint32_t i = 0; i < n_cases; i++) {
        struct naive_dice d = dice_of(i, "antman");
        struct naive_case c = {.rules = &variants[i % n_variants].rules, .fill = i % 4 < 2 ? N_STRICT : N_SKIP};
        c.placement = (enum naive_placement)naive_roll(&d, N_ANY);
        naive_roll_case(&c, z, &d);
        agree(&tally, &c, i);
    }
    tally_check(&tally);
}

AGAINST(antman, antman_compare)

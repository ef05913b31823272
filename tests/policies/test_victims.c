/* Who gives way: only those on the nodes that the other takes are touched, with the outcome as if all named had been. */
#include "policies/room.h"
#include "tests/engine/cases.h"

#include <criterion/criterion.h>

static uint32_t roll(uint64_t *state, uint32_t sides)
{
    return (uint32_t)cases_roll(state, sides);
}

/* Jobs of even numbers of GPUs, larger ones filling nodes of 8 wholly. A node of 1 GPU is of no use to any of them, but with it nodes are of two
 * sizes, so that all who are named give way first, and get their GPUs back after. Many come at one instant. */
static struct test_case *even_jobs(const char *policy, const char *placement, uint64_t seed, bool has_small_node)
{
    static const uint32_t gpus[] = {2, 2, 4, 4, 6, 8, 8, 16, 24};
    struct test_case *c = case_create(4, 8);
    if (has_small_node) {
        c->groups[1] = c->groups[0];
        c->groups[1].count = c->groups[1].gpus = 1;
        c->cluster.n_groups = 2;
    }
    case_policy(c, policy);
    case_placement(c, placement);
    for (int j = 0; j < 120; j++) {
        uint32_t submit = 100 * roll(&seed, 30), duration = 1 + roll(&seed, 40) * (1 + roll(&seed, 40));
        case_job(c, submit, duration, gpus[roll(&seed, 9)]);
    }
    case_sort(c);
    return c;
}

static uint64_t expect_same(const char *policy, const char *placement, uint64_t seed, const char *name,
                            const char *value)
{
    struct test_case *few = even_jobs(policy, placement, seed, false), *all = even_jobs(policy, placement, seed, true);
    if (name != NULL) {
        case_param(few, name, value);
        case_param(all, name, value);
    }
    case_run(few);
    case_run(all);
    uint64_t preemptions = 0;
    for (uint32_t j = 0; j < few->n_jobs; j++) {
        const struct job *a = &few->r.jobs[j], *b = &all->r.jobs[j];
        cr_assert(a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->preemptions == b->preemptions &&
                      a->moves == b->moves,
                  "%s, %s, seed %d: job %u ends at %g s, %g s when all give way", policy, placement, (int)seed, j,
                  case_end_s(few, j), case_end_s(all, j));
        preemptions += a->preemptions + a->moves;
    }
    cr_expect_lt(few->r.totals.decision_ops, all->r.totals.decision_ops + 1);
    case_destroy(few);
    case_destroy(all);
    return preemptions;
}

Test(victims, who_is_elsewhere_makes_no_difference)
{
    static const char *const placements[] = {"consolidate", "rack_local", "least_loaded", "first_fit"};
    static const struct {
        const char *policy, *name, *value;
    } cases[] = {{"srtf", NULL, NULL},          {"smallest", NULL, NULL},
                 {"las", "quantum", "60 s"},    {"round_robin", "quantum", "60 s"},
                 {"rr_sjf", "quantum", "60 s"}, {"weighted_round_robin", "quantum", "60 s"},
                 {"tiresias", NULL, NULL},      {"mlfq", "quanta", "[30, 90, 300]"},
                 {"gittins", "delta", "200"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint64_t preemptions = 0;
        for (uint64_t seed = 1; seed <= 24; seed++)
            preemptions += expect_same(cases[k].policy, placements[seed % 4], seed, cases[k].name, cases[k].value);
        cr_expect_gt(preemptions, 50u, "%s: too few jobs gave way for the test to say much", cases[k].policy);
    }
}

Test(victims, verbs_are_as_few_as_the_jobs_that_give_way)
{
    /* 64 nodes of 1 GPU, all held by jobs with 100 s left; 10 of 1 GPU and 5 s come: each displaces one */
    struct test_case *c = case_create(64, 1);
    case_policy(c, "srtf");
    for (int j = 0; j < 64; j++)
        case_job(c, 0, 100, 1);
    for (int j = 0; j < 10; j++)
        case_job(c, 10, 5, 1);
    case_run(c);
    uint64_t preemptions = 0;
    for (uint32_t j = 64; j < 74; j++)
        cr_expect_float_eq(case_end_s(c, j), 15, 1e-9);
    for (uint32_t j = 0; j < 64; j++)
        preemptions += c->r.jobs[j].preemptions;
    cr_expect_eq(preemptions, 10u);
    cr_expect_lt(c->r.totals.decision_ops, 74u * 10);
    case_destroy(c);
}

/* Three nodes of 4 GPUs: a holds one, b and c 3 GPUs each of the others. For a job of 6 a node and 2 GPUs of another are needed: 6 are free when a has
 * gone, but no 2 of them beside each other; when b has gone, too, they are. */
static void ask_for_six(struct sched *s, uint32_t round)
{
    if (round > 0) {
        cases_start_all(s);
        return;
    }
    for (uint32_t job = 0; job < 3; job++)
        cr_assert_eq(sched_start(s, job), SCHED_OK);
    struct room *r = room_create(s);
    cr_assert_not_null(r);
    room_begin(r, s, 6);
    cr_expect_not(room_fits(r, s));
    room_add(r, s, 0);
    cr_expect_eq(room_gpus(r, s), 6u);
    cr_expect_not(room_fits(r, s), "1 and 1 GPU are not 2 beside each other");
    room_add(r, s, 1);
    cr_expect(room_fits(r, s));
    room_begin(r, s, 6); /* b alone: its node and 1 GPU of the third are 5 */
    room_add(r, s, 1);
    cr_expect_not(room_fits(r, s));
    room_add(r, s, 2); /* with c: two nodes */
    cr_expect(room_fits(r, s));
}

Test(room, the_rest_of_a_large_job_needs_a_node_of_its_own)
{
    struct test_case *c = case_create(3, 4);
    case_job(c, 0, 10, 4);
    case_job(c, 0, 10, 3);
    case_job(c, 0, 10, 3);
    case_job(c, 0, 10, 6);
    cases_run_script(c, ask_for_six);
    cr_expect_eq(c->r.jobs[3].start_ns, 10 * S);
    case_destroy(c);
}

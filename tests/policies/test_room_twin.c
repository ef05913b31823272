/* The room that releases make against a count over all nodes, over a million random releases while jobs come and go: on like and unlike
 * nodes, packed and not, and under a quota that changes.
 */
#include "tests/dice.h"
#include "inside.h"
#include "policies/room.h"

#include <criterion/criterion.h>
#include <string.h>

enum { NODES = 24, RELEASES = 1000000 / 5, RUNS = 5, ROUNDS = 3000 };

struct self {
    struct room *room;
    uint64_t dice;
    uint32_t running[CASE_JOBS], n_running; /* in no order */
    uint32_t n_yes, n_settled, n_releases;
};

static void room_start(void *self, struct sched *s)
{
    struct self *p = self;
    p->dice = 77 + sched_n_nodes(s) + sched_capacity_gpus(s);
    p->room = room_create(s);
    cr_assert_not_null(p->room);
}

/* The twin: who of the first `n` has given up what, counted anew each time. */
struct twin {
    uint32_t free[NODES], gpus[NODES], n_nodes;
    uint64_t all;
};

static void twin_count(struct twin *t, const struct self *p, struct sched *s, uint32_t n)
{
    t->n_nodes = sched_n_nodes(s);
    t->all = sched_free_gpus(s);
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        t->gpus[i] = sched_node_gpus(s, sched_node(s, i));
        t->free[i] = sched_node_free(s, sched_node(s, i));
    }
    for (uint32_t k = 0; k < n; k++) {
        const struct place *places;
        uint32_t n_places = sched_places(s, p->running[k], &places);
        for (uint32_t j = 0; j < n_places; j++) {
            t->all += places[j].gpus;
            for (uint32_t i = 0; i < t->n_nodes; i++)
                t->free[i] += sched_node(s, i) == places[j].node ? places[j].gpus : 0;
        }
    }
    uint32_t over = sched_held_gpus(s) > sched_capacity_gpus(s) ? sched_held_gpus(s) - sched_capacity_gpus(s) : 0;
    t->all = t->all > over ? t->all - over : 0;
}

static uint32_t twin_largest(const struct twin *t)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        most = t->gpus[i] > most ? t->gpus[i] : most;
    return most;
}

/* Wholly free nodes, the largest first, then one for the rest. */
static bool twin_packs(const struct twin *t, uint32_t gpus)
{
    bool is_taken[NODES] = {false};
    if (gpus > twin_largest(t))
        for (uint32_t size = twin_largest(t); size > 0; size--)
            for (uint32_t i = 0; i < t->n_nodes && size <= gpus; i++)
                if (t->gpus[i] == size && t->free[i] == size) {
                    is_taken[i] = true;
                    gpus -= size;
                }
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (!is_taken[i] && t->free[i] >= gpus)
            return true;
    return gpus == 0;
}

/* Are there just as many nodes that will do as the job takes? */
static bool twin_is_settled(const struct twin *t, struct sched *s, uint32_t gpus)
{
    uint32_t size = twin_largest(t), n = 0, total = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        if (t->gpus[i] != size)
            return false;
        n += t->free[i] >= (gpus < size ? gpus : size);
        total += size;
    }
    if (!sched_is_packed(s) || sched_capacity_gpus(s) < total || (gpus > size && gpus % size != 0))
        return false;
    return n == (gpus > size ? gpus / size : 1);
}

static bool twin_needs(const struct twin *t, struct sched *s, uint32_t gpus, uint32_t job)
{
    const struct place *places;
    uint32_t n = sched_places(s, job, &places), least = gpus < twin_largest(t) ? gpus : twin_largest(t);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < t->n_nodes; i++)
            if (sched_node(s, i) == places[j].node && t->free[i] >= least)
                return true;
    return false;
}

static void ask(struct self *p, struct sched *s, uint32_t job)
{
    struct twin t;
    uint32_t gpus = sched_gpus(s, job);
    if (sched_probe(s, job) == SCHED_OK)
        return;                                   /* only who finds no place asks */
    for (uint32_t k = p->n_running; k > 1; k--) { /* another order each time */
        uint32_t other = dice_roll(&p->dice, k), j = p->running[k - 1];
        p->running[k - 1] = p->running[other];
        p->running[other] = j;
    }
    room_begin(p->room, s, gpus);
    uint32_t step = 1 + dice_roll(&p->dice, 3); /* not asked after each release */
    for (uint32_t n = 0; n <= p->n_running; n++) {
        if (n > 0) {
            room_add(p->room, s, p->running[n - 1]);
            p->n_releases++;
        }
        if (n % step > 0)
            continue;
        twin_count(&t, p, s, n);
        bool want = t.all >= gpus && (!sched_is_packed(s) || twin_packs(&t, gpus));
        cr_assert_eq(room_fits(p->room, s), want, "release %u: %u GPUs after %u of %u", p->n_releases, gpus, n,
                     p->n_running);
        cr_assert_eq(room_gpus(p->room, s), t.all, "release %u", p->n_releases);
        for (uint32_t i = 0; i < t.n_nodes; i++)
            cr_assert_eq(room_freed(p->room, sched_node(s, i)), t.free[i] - sched_node_free(s, sched_node(s, i)),
                         "release %u, node %u", p->n_releases, i);
        if (!want)
            continue;
        bool is_settled = twin_is_settled(&t, s, gpus);
        cr_assert_eq(room_is_settled(p->room), is_settled, "release %u: %u GPUs", p->n_releases, gpus);
        for (uint32_t k = 0; k < n; k++)
            cr_assert_eq(room_needs(p->room, s, p->running[k]), twin_needs(&t, s, gpus, p->running[k]),
                         "release %u: job %u", p->n_releases, p->running[k]);
        p->n_yes++;
        p->n_settled += is_settled;
        if (dice_roll(&p->dice, 4) > 0) /* most ask no more then */
            return;
    }
}

/* Some end, some come; then those that wait ask. */
static void room_round(void *self, struct sched *s)
{
    struct self *p = self;
    uint32_t keep = 0, ends = dice_roll(&p->dice, 8);
    for (uint32_t k = 0; k < p->n_running; k++) {
        uint32_t job = p->running[k];
        if (!sched_is_running(s, job))
            continue;
        if (dice_roll(&p->dice, 16) < ends)
            sched_preempt(s, job);
        else
            p->running[keep++] = job;
    }
    p->n_running = keep;
    for (uint32_t tries = 0; tries < 30; tries++) {
        uint32_t job = dice_roll(&p->dice, sched_n_jobs(s));
        if (sched_is_queued(s, job) && sched_start(s, job) == SCHED_OK)
            p->running[p->n_running++] = job;
    }
    for (uint32_t i = 0; i < 60 && p->n_releases < RELEASES; i++) {
        uint32_t job = dice_roll(&p->dice, sched_n_jobs(s));
        if (sched_is_queued(s, job))
            ask(p, s, job);
    }
}

static void room_end(void *self)
{
    const struct self *p = self;
    cr_expect_geq(p->n_releases, (uint32_t)RELEASES, "only %u", p->n_releases);
    cr_expect_gt(p->n_yes, 5000u);
}

/* 300 jobs that never end by themselves, of 1 to 30 GPUs, and one that comes each second to make a round. */
static void compare(struct test_case *c)
{
    static const uint32_t gpus[] = {1, 1, 1, 2, 2, 3, 4, 5, 8, 8, 12, 16, 24, 30};
    c->spec.check = false; /* a look at everything each round is half the time */
    for (uint32_t j = 0; j < 300 + ROUNDS; j++)
        case_job(c, j < 300 ? 0 : j - 299, 1e6, gpus[j * 5 % 14]);
    inside_run(
        c, &(struct inside){.size = sizeof(struct self), .begin = room_start, .round = room_round, .end = room_end});
    case_destroy(c);
}

Test(room, releases_agree_with_a_count_on_like_nodes)
{
    compare(case_create(8, 8));
}

Test(room, releases_agree_with_a_count_on_unlike_nodes)
{
    struct test_case *c = case_create(6, 8);
    c->groups[1] = (struct node_group_spec){.count = 7, .gpus = 4, .gpu = ""};
    c->groups[2] = (struct node_group_spec){.count = 4, .gpus = 3, .gpu = ""};
    c->groups[3] = (struct node_group_spec){.count = 2, .gpus = 0, .gpu = ""};
    c->cluster.n_groups = 4;
    compare(c);
}

Test(room, releases_agree_with_a_count_where_any_gpus_will_do)
{
    struct test_case *c = case_create(8, 8);
    case_placement(c, "spread");
    compare(c);
}

static struct test_case *under_a_quota(uint32_t n_kinds)
{
    static struct vc_change changes[ROUNDS];
    uint64_t dice = 5;
    struct test_case *c = case_create(8, 8);
    c->groups[1] = (struct node_group_spec){.count = 5, .gpus = 4, .gpu = ""};
    c->cluster.n_groups = n_kinds;
    for (uint32_t i = 0; i < ROUNDS; i++)
        changes[i] = (struct vc_change){(i + 1) * S, i % 7 == 0 ? 64 : 8 + dice_roll(&dice, 80)};
    c->vcs[0] = (struct vc_spec){.name = "", .mode = VC_GPUS, .amount = 64, .changes = changes, .n_changes = ROUNDS};
    c->cluster.n_vcs = 1;
    return c;
}

Test(room, releases_agree_with_a_count_under_a_quota)
{
    compare(under_a_quota(1));
}

Test(room, releases_agree_with_a_count_under_a_quota_on_unlike_nodes)
{
    compare(under_a_quota(2));
}

/* The tree of the fair policies against a table of jobs, over a million random operations: who comes first, what everybody's value is, and who may
 * be displaced in which order. The twin adds everything up anew at each question; only usage, which depends on all that was, goes along with time.
 */
#include "tests/dice.h"
#include "fair_case.h"
#include "inside.h"
#include "policies/fair_tree.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { JOBS = 70, NODES = 40, ROUNDS = 3000, RUNS = 6, OPERATIONS = 1000000 / RUNS + 1 };

static const double HALF_LIFE = 1000e9, AHEAD = 50e9; /* ns */

/* Of a user, a virtual cluster, or a group; 0 is the root. */
struct twin_node {
    const char *name;
    uint32_t parent, turn;
    double weight, guarantee;
    double used; /* decayed, by the present instant */
};

struct twin_job {
    uint32_t leaf;
    uint32_t kind; /* of jobs that are alike for placement */
    bool is_waiting, is_holding, is_exposed;
    int64_t since;
};

struct setting {
    enum fair_measure measure;
    enum fair_by by;
    const char *shares;
};

struct self {
    struct setting setting;
    struct fair_tree tree;
    struct twin_node nodes[NODES];
    struct twin_job jobs[JOBS];
    uint32_t n_nodes, n_kinds, n_turns, n_operations, n_found;
    uint32_t kind_demand[JOBS], kind_vc[JOBS];
    bool is_closed[JOBS];        /* by kind */
    bool is_hidden[NODES][JOBS]; /* by leaf and kind */
    int64_t now;
    uint64_t dice;
};

/* ---- the twin ----------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *parent;
    double weight;
    int guarantee, sum; /* as given, -1: not; with those below added up */
} ROWS[] = {{"lab", "", 2, 12, 12}, {"vision", "lab", 3, -1, 4}, {"plant", "", 1, 10, 10},
            {"u5", "", 4, 8, 8},    {"u0", "vision", 1, 4, 4},   {"u1", "vision", 2, -1, 0},
            {"u2", "lab", 1, 4, 4}, {"u3", "plant", 1, 6, 6},    {"u4", "plant", 0.5, -1, 0}};

enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

static const char *shares_text(void)
{
    static char text[1024];
    size_t at = (size_t)snprintf(text, sizeof text, "name,parent,weight,guarantee\n");
    for (int i = 0; i < N_ROWS; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s,%s,%g,", ROWS[i].name, ROWS[i].parent, ROWS[i].weight);
        at += ROWS[i].guarantee < 0 ? (size_t)snprintf(text + at, sizeof text - at, "\n")
                                    : (size_t)snprintf(text + at, sizeof text - at, "%d\n", ROWS[i].guarantee);
    }
    return text;
}

static uint32_t twin_find(const struct self *p, const char *name, uint32_t parent)
{
    uint32_t i = 1;
    while (i < p->n_nodes && (strcmp(p->nodes[i].name, name) != 0 || (parent != NODES && p->nodes[i].parent != parent)))
        i++;
    return i;
}

static uint32_t twin_node(struct self *p, const char *name, uint32_t parent, double weight, double guarantee)
{
    cr_assert_lt(p->n_nodes, (uint32_t)NODES);
    p->nodes[p->n_nodes] = (struct twin_node){
        .name = name, .parent = parent, .turn = p->n_turns++, .weight = weight, .guarantee = guarantee};
    return p->n_nodes++;
}

/* All that can be known before the first job: rows, then users or virtual clusters without one. */
static void twin_plant(struct self *p, struct sched *s)
{
    twin_node(p, "", NODES, 1, 0);
    for (uint32_t i = 0; i < N_ROWS && p->setting.shares[0] != '\0'; i++)
        twin_node(p, ROWS[i].name, 0, ROWS[i].weight, ROWS[i].sum);
    for (uint32_t i = 1; i < p->n_nodes; i++)
        for (uint32_t k = 1; k < p->n_nodes; k++)
            if (strcmp(ROWS[i - 1].parent, p->nodes[k].name) == 0)
                p->nodes[i].parent = k;
    bool by_user = p->setting.by == FAIR_BY_USER;
    for (uint32_t i = 0; i < (by_user ? sched_n_users(s) : sched_n_vcs(s)); i++) {
        const char *name = by_user ? sched_user_name(s, i) : sched_vc_name(s, i);
        if (twin_find(p, name, NODES) == p->n_nodes)
            twin_node(p, name, 0, 1, 0);
    }
}

/* Users inside virtual clusters come when their first job does. */
static uint32_t twin_leaf(struct self *p, struct sched *s, uint32_t job)
{
    const char *user = sched_user_name(s, sched_user(s, job)), *vc = sched_vc_name(s, sched_vc(s, job));
    if (p->setting.by != FAIR_BY_VC_USER)
        return twin_find(p, p->setting.by == FAIR_BY_USER ? user : vc, NODES);
    uint32_t above = twin_find(p, vc, 0), leaf = twin_find(p, user, above);
    return leaf < p->n_nodes ? leaf : twin_node(p, user, above, 1, 0);
}

static bool is_below(const struct self *p, uint32_t leaf, uint32_t node)
{
    while (leaf != node && leaf != 0)
        leaf = p->nodes[leaf].parent;
    return leaf == node;
}

/* GPUs, CPU and memory held by the jobs below each node. */
struct sums {
    double of[NODES][3];
};

static void twin_hold(const struct self *p, struct sched *s, struct sums *sums, uint32_t job, int sign)
{
    for (uint32_t i = p->jobs[job].leaf; i != NODES; i = p->nodes[i].parent) {
        sums->of[i][0] += sign * (double)sched_gpus(s, job);
        sums->of[i][1] += sign * (double)sched_cpu_milli(s, job);
        sums->of[i][2] += sign * (double)sched_memory_kib(s, job);
    }
}

static struct sums twin_sums(const struct self *p, struct sched *s)
{
    struct sums sums = {0};
    for (uint32_t j = 0; j < JOBS; j++)
        if (p->jobs[j].is_holding)
            twin_hold(p, s, &sums, j, 1);
    return sums;
}

static double twin_value(const struct self *p, struct sched *s, uint32_t node, const struct sums *sums)
{
    const struct twin_node *n = &p->nodes[node];
    const double *held = sums->of[node];
    double most = 0;
    switch (p->setting.measure) {
    case FAIR_USAGE:
        return (n->used + AHEAD * held[0]) / n->weight;
    case FAIR_GPUS:
        return held[0] / n->weight;
    case FAIR_DOMINANT: {
        double capacity[3] = {sched_capacity_gpus(s), (double)sched_capacity_cpu_milli(s),
                              (double)sched_capacity_memory_kib(s)};
        for (int r = 0; r < 3; r++)
            most = capacity[r] > 0 && held[r] / capacity[r] > most ? held[r] / capacity[r] : most;
        return most / n->weight;
    }
    case FAIR_GUARANTEE:
        break;
    }
    return held[0] < n->guarantee ? held[0] / n->guarantee - 1 : (held[0] - n->guarantee) / n->weight;
}

/* Values that are as good as equal are so only under usage, where they were rounded on different ways. */
static double slack(const struct self *p)
{
    return p->setting.measure == FAIR_USAGE ? 1e-8 * HALF_LIFE : 0;
}

static void twin_clock(struct self *p, struct sched *s)
{
    double lapsed = exp2(-(double)(sched_now(s) - p->now) / HALF_LIFE), worth = HALF_LIFE / M_LN2;
    struct sums sums = twin_sums(p, s);
    for (uint32_t i = 0; i < p->n_nodes; i++)
        p->nodes[i].used = sums.of[i][0] * worth + (p->nodes[i].used - sums.of[i][0] * worth) * lapsed;
    p->now = sched_now(s);
}

static bool is_offered(const struct self *p, uint32_t job)
{
    const struct twin_job *j = &p->jobs[job];
    return j->is_waiting && !p->is_closed[j->kind] && !p->is_hidden[j->leaf][j->kind];
}

/* ---- comparisons -------------------------------------------------------------------------------------- */

/* The number of a node in the tree: rows come first in both, the rest by one of its jobs. */
static uint32_t real_node(struct self *p, struct sched *s, uint32_t node)
{
    if (node == 0)
        return 0;
    for (uint32_t j = 0; j < JOBS; j++)
        if (is_below(p, p->jobs[j].leaf, node)) {
            uint32_t at = fair_tree_leaf(&p->tree, s, j);
            for (uint32_t leaf = p->jobs[j].leaf; leaf != node; leaf = p->nodes[leaf].parent)
                at = p->tree.nodes[at].parent;
            return at;
        }
    return FAIR_NONE;
}

/* Down from the root: is it one of least value at each level, and at the leaf the first? */
static void check_first(struct self *p, struct sched *s)
{
    uint32_t class = FAIR_NONE, got = fair_tree_first(&p->tree, &class);
    bool has_offer[NODES] = {false};
    double value[NODES];
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t i = p->jobs[j].leaf; is_offered(p, j) && i != NODES; i = p->nodes[i].parent)
            has_offer[i] = true;
    cr_assert_eq(got != JOBSET_NONE, has_offer[0], "operation %u", p->n_operations);
    if (got == JOBSET_NONE)
        return;
    cr_assert(got < JOBS && is_offered(p, got), "operation %u: job %u", p->n_operations, got);
    uint32_t kind = p->jobs[got].kind;
    cr_assert(p->tree.classes[class].demand == p->kind_demand[kind] && p->tree.classes[class].vc == p->kind_vc[kind],
              "operation %u: class %u", p->n_operations, class);
    struct sums sums = twin_sums(p, s);
    for (uint32_t i = 1; i < p->n_nodes; i++)
        value[i] = has_offer[i] ? twin_value(p, s, i, &sums) : 0;
    for (uint32_t i = p->jobs[got].leaf; i != 0; i = p->nodes[i].parent)
        for (uint32_t k = 1; k < p->n_nodes; k++) {
            if (!has_offer[k] || k == i || p->nodes[k].parent != p->nodes[i].parent)
                continue;
            bool is_later = slack(p) > 0
                                ? value[k] > value[i] - slack(p)
                                : value[k] > value[i] || (value[k] == value[i] && p->nodes[k].turn > p->nodes[i].turn);
            cr_assert(is_later, "operation %u: '%s' (%g) is before '%s' (%g)", p->n_operations, p->nodes[k].name,
                      value[k], p->nodes[i].name, value[i]);
        }
    for (uint32_t j = 0; j < got; j++)
        cr_assert(!is_offered(p, j) || p->jobs[j].leaf != p->jobs[got].leaf, "operation %u: job %u is before %u",
                  p->n_operations, j, got);
    p->n_found++;
}

static void check_near(const struct self *p, double got, double want, const char *what, uint32_t node)
{
    cr_assert(fabs(got - want) <= (slack(p) > 0 ? slack(p) : 1e-12 * (1 + fabs(want))),
              "operation %u: %s of '%s' is %g, in the twin %g", p->n_operations, what, p->nodes[node].name, got, want);
}

static void check_values(struct self *p, struct sched *s, uint32_t job)
{
    const struct twin_job *j = &p->jobs[job];
    int sign = j->is_holding ? -1 : 1;
    struct sums now = twin_sums(p, s), with = now;
    twin_hold(p, s, &with, job, sign);
    for (uint32_t i = j->leaf; i != NODES; i = p->nodes[i].parent) {
        uint32_t node = real_node(p, s, i);
        check_near(p, fair_tree_value(&p->tree, node), twin_value(p, s, i, &now), "the value", i);
        check_near(p, fair_tree_value_with(&p->tree, s, node, job, sign), twin_value(p, s, i, &with),
                   "the value with another job", i);
    }
}

/* The children that have jobs which may be displaced, from the greatest value down; and a leaf's such jobs by start. */
static void check_rich(struct self *p, struct sched *s, uint32_t node)
{
    bool has_any[NODES] = {false}, seen[NODES] = {false};
    double last = INFINITY, value = 0;
    uint32_t n = 0, last_turn = 0;
    struct lines *rich = &p->tree.nodes[real_node(p, s, node)].rich;
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t i = p->jobs[j].leaf; p->jobs[j].is_exposed && i != 0; i = p->nodes[i].parent)
            if (p->nodes[i].parent == node) {
                n += !has_any[i];
                has_any[i] = true;
            }
    struct sums sums = twin_sums(p, s);
    lines_walk(rich);
    for (uint32_t got; (got = lines_walk_next(rich, p->tree.q, &value)) != JOBSET_NONE; n--) {
        uint32_t i = 1;
        while (i < p->n_nodes && (!has_any[i] || real_node(p, s, i) != got))
            i++;
        cr_assert(i < p->n_nodes && !seen[i], "operation %u: node %u is rich", p->n_operations, got);
        double want = twin_value(p, s, i, &sums);
        check_near(p, value, want, "the value among the rich", i);
        bool is_next =
            slack(p) > 0 ? want < last + slack(p) : want < last || (want == last && p->nodes[i].turn < last_turn);
        cr_assert(is_next, "operation %u: '%s' comes too late", p->n_operations, p->nodes[i].name);
        last = want;
        last_turn = p->nodes[i].turn;
        seen[i] = true;
    }
    cr_assert_eq(n, 0u, "operation %u: %u more are rich", p->n_operations, n);
}

static void check_running(struct self *p, struct sched *s, uint32_t leaf)
{
    const struct jobset *set = &p->tree.nodes[real_node(p, s, leaf)].running;
    int64_t last = INT64_MIN;
    uint32_t n = 0, last_job = 0;
    for (uint32_t at = set->first; at != JOBSET_NONE; at = jobset_node(set, at)->next, n++) {
        uint32_t job = jobset_node(set, at)->job;
        const struct twin_job *j = &p->jobs[job];
        cr_assert(j->is_exposed && j->leaf == leaf && (j->since > last || (j->since == last && job > last_job)),
                  "operation %u: job %u", p->n_operations, job);
        last = j->since;
        last_job = job;
    }
    for (uint32_t j = 0; j < JOBS; j++)
        n -= p->jobs[j].is_exposed && p->jobs[j].leaf == leaf;
    cr_assert_eq(n, 0u, "operation %u", p->n_operations);
}

/* ---- operations --------------------------------------------------------------------------------------- */

static uint32_t real_class(const struct self *p, uint32_t kind)
{
    uint32_t k = 0;
    while (k < p->tree.n_classes &&
           (p->tree.classes[k].demand != p->kind_demand[kind] || p->tree.classes[k].vc != p->kind_vc[kind]))
        k++;
    return k < p->tree.n_classes ? k : FAIR_NONE;
}

static void turn_bin(struct self *p, struct sched *s, uint32_t job)
{
    const struct twin_job *j = &p->jobs[job];
    uint32_t class = real_class(p, j->kind),
             bin = class != FAIR_NONE ? fair_tree_bin(&p->tree, fair_tree_leaf(&p->tree, s, job), class) : FAIR_NONE;
    if (bin == FAIR_NONE)
        return;
    bool *is_hidden = &p->is_hidden[j->leaf][j->kind];
    *is_hidden = !*is_hidden;
    (*is_hidden ? fair_tree_hide : fair_tree_show)(&p->tree, bin);
}

static void turn_exposed(struct self *p, struct sched *s, uint32_t job)
{
    struct twin_job *j = &p->jobs[job];
    cr_assert_eq(fair_tree_cover(&p->tree, s, job, j->since), j->is_exposed, "operation %u", p->n_operations);
    j->is_exposed = !j->is_exposed;
    if (!j->is_exposed)
        return;
    j->since = sched_now(s) - (int64_t)dice_roll(&p->dice, 3);
    fair_tree_expose(&p->tree, s, job, j->since);
}

static void operate(struct self *p, struct sched *s, uint32_t job)
{
    struct twin_job *j = &p->jobs[job];
    uint32_t class;
    switch (dice_roll(&p->dice, 12)) {
    case 0:
    case 1:
    case 2:
        (j->is_waiting ? fair_tree_dequeue : fair_tree_enqueue)(&p->tree, s, job);
        j->is_waiting = !j->is_waiting;
        break;
    case 3:
    case 4:
    case 5:
        (j->is_holding ? fair_tree_give : fair_tree_take)(&p->tree, s, job);
        j->is_holding = !j->is_holding;
        break;
    case 6:
        fair_tree_serve(&p->tree, s, job);
        for (uint32_t i = j->leaf; i != NODES; i = p->nodes[i].parent)
            p->nodes[i].turn = p->n_turns++;
        break;
    case 7:
        turn_bin(p, s, job);
        break;
    case 8:
        turn_exposed(p, s, job);
        break;
    case 9:
        if ((class = real_class(p, j->kind)) != FAIR_NONE) {
            p->is_closed[j->kind] = dice_roll(&p->dice, 3) == 0;
            p->tree.classes[class].is_closed = p->is_closed[j->kind];
        }
        break;
    case 10:
        check_values(p, s, job);
        break;
    default:
        check_rich(p, s, p->nodes[j->leaf].parent);
        check_running(p, s, j->leaf);
    }
}

static void tree_round(void *self, struct sched *s)
{
    struct self *p = self;
    fair_tree_clock(&p->tree, s);
    fair_tree_measure_capacity(&p->tree, s);
    twin_clock(p, s);
    for (uint32_t k = 0; k < OPERATIONS / ROUNDS + 1; k++, p->n_operations++) {
        operate(p, s, dice_roll(&p->dice, JOBS));
        check_first(p, s);
    }
}

static struct setting asked; /* a test program runs each test in a process of its own */

static void tree_start(void *self, struct sched *s)
{
    struct self *p = self;
    struct error err;
    p->setting = asked;
    p->dice = 0x2545f4914f6cdd1d + p->setting.measure;
    p->tree = (struct fair_tree){
        .measure = p->setting.measure, .by = p->setting.by, .half_life_ns = (int64_t)HALF_LIFE, .ahead = AHEAD};
    cr_assert_eq(fair_tree_init(&p->tree, s, p->setting.shares, &err), BRAID_OK, "%s", err.message);
    twin_plant(p, s);
    for (uint32_t j = 0; j < JOBS; j++) {
        uint32_t k = 0, demand = sched_demand(s, j), vc = sched_vc(s, j);
        p->jobs[j].leaf = twin_leaf(p, s, j);
        cr_assert_neq(fair_tree_leaf(&p->tree, s, j), FAIR_NONE);
        while (k < p->n_kinds && (p->kind_demand[k] != demand || p->kind_vc[k] != vc))
            k++;
        p->kind_demand[k] = demand;
        p->kind_vc[k] = vc;
        p->n_kinds += k == p->n_kinds;
        p->jobs[j].kind = k;
    }
}

static void tree_end(void *self)
{
    const struct self *p = self;
    cr_expect_geq(p->n_operations, (uint32_t)OPERATIONS);
    cr_expect_gt(p->n_found, (uint32_t)OPERATIONS / 4);
}

/* 40 GPUs, of which a quota that changes leaves at least 30; jobs of users u0 to u7 in as many virtual clusters as `n_vcs` says. */
static void compare(enum fair_measure measure, enum fair_by by, bool has_shares, uint32_t n_vcs)
{
    static const uint32_t gpus[] = {1, 2, 2, 4, 8};
    static const char *const users[] = {"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"}, *const vcs[] = {"v0", "v1",
                                                                                                         "v2"};
    static struct vc_change changes[ROUNDS / 10];
    uint64_t dice = 99;
    int64_t at = 0;
    struct test_case *c = case_create(5, 8);
    c->groups[0].cpu_milli = 64000;
    c->groups[0].memory_kib = 1 << 20;
    asked = (struct setting){measure, by, has_shares ? fair_file(shares_text()) : ""};
    for (uint32_t j = 0; j < JOBS + ROUNDS; j++) {
        at += j < JOBS ? 0 : dice_roll(&dice, 100) == 0 ? 400000 * S : (1 + dice_roll(&dice, 3)) * 170 * S;
        case_job(c, 0, 1, gpus[dice_roll(&dice, 5)]);
        c->jobs[j].submit_ns = at;
        c->jobs[j].cpu_milli = 1000 * (1 + dice_roll(&dice, 4));
        c->jobs[j].mem_kib = (uint64_t)1024 << dice_roll(&dice, 6);
        c->jobs[j].user = users[dice_roll(&dice, 8)];
        c->jobs[j].vc = n_vcs > 0 ? vcs[dice_roll(&dice, n_vcs)] : "";
        if (j >= JOBS && (j - JOBS) % 10 == 0)
            changes[(j - JOBS) / 10] = (struct vc_change){at + 1, 30 + 2 * (j / 10 % 6)};
    }
    if (n_vcs == 0) {
        c->vcs[0] =
            (struct vc_spec){.name = "", .mode = VC_GPUS, .amount = 40, .changes = changes, .n_changes = ROUNDS / 10};
        c->cluster.n_vcs = 1;
    }
    for (uint32_t v = 0; v < n_vcs; v++) {
        c->vcs[v] = (struct vc_spec){.name = vcs[v], .mode = VC_GPUS, .amount = 40};
        c->cluster.n_vcs = n_vcs;
    }
    c->spec.check = false;
    inside_run(c, &(struct inside){.scope = SCOPE_CLUSTER,
                                   .size = sizeof(struct self),
                                   .begin = tree_start,
                                   .round = tree_round,
                                   .end = tree_end});
    case_destroy(c);
}

Test(fair_tree, gpus_by_weight_agree_with_a_table)
{
    compare(FAIR_GPUS, FAIR_BY_USER, true, 0);
}

Test(fair_tree, dominant_shares_agree_with_a_table)
{
    compare(FAIR_DOMINANT, FAIR_BY_USER, true, 0);
}

Test(fair_tree, guarantees_agree_with_a_table)
{
    compare(FAIR_GUARANTEE, FAIR_BY_USER, true, 0);
}

Test(fair_tree, decayed_usage_agrees_with_a_table)
{
    compare(FAIR_USAGE, FAIR_BY_USER, true, 0);
}

Test(fair_tree, virtual_clusters_agree_with_a_table)
{
    compare(FAIR_GPUS, FAIR_BY_VC, false, 3);
}

Test(fair_tree, users_inside_virtual_clusters_agree_with_a_table)
{
    compare(FAIR_DOMINANT, FAIR_BY_VC_USER, false, 3);
}

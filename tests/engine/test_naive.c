/* The engine and every composition of parts against naive.c, on random cases with fixed seeds. */
#include "tests/engine/naive.h"
#include "tests/harness.h"

#include "policies/compose.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64*: cases must be the same everywhere and for ever. */
struct dice {
    uint64_t state;
};

static uint64_t roll(struct dice *d, uint64_t sides)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (d->state * 0x2545f4914f6cdd1du >> 33) % sides;
}

static int64_t roll_s(struct dice *d, int64_t low, int64_t high)
{
    return (low + (int64_t)roll(d, (uint64_t)(high - low + 1))) * S;
}

/* ---- random cases --------------------------------------------------------------------------------- */

struct size {
    uint32_t jobs, nodes_least, nodes_most, gpus_most;
    int64_t submit_s, duration_s;
    bool has_vcs; /* always two */
};

static const struct size tiny = {6, 1, 3, 4, 12, 9, false};
static const struct size middle = {60, 6, 6, 8, 120, 40, true};

static void roll_vcs(struct naive_case *c, const struct size *z, struct dice *d)
{
    enum { NO_VCS, PARTITIONS, QUOTAS, MIXED, N_KINDS };
    uint64_t kind = z->has_vcs ? PARTITIONS + roll(d, 2) : roll(d, N_KINDS);
    if (kind == NO_VCS || (kind == PARTITIONS && c->n_nodes < 2) || (kind == MIXED && c->n_nodes < 2))
        return;
    c->n_vcs = 2 + (kind == MIXED);
    uint32_t all = 0, n_owned = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        all += c->gpus[i];
    if (kind == PARTITIONS) {
        c->vcs[0].amount = n_owned = 1 + (uint32_t)roll(d, c->n_nodes - 1);
        c->vcs[1].amount = c->n_nodes - n_owned;
        return;
    }
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        struct naive_vc *vc = &c->vcs[v];
        if (kind == MIXED && v == 1) {
            vc->amount = 1;
            continue;
        }
        vc->is_quota = true;
        vc->gives_way = roll(d, 2) == 0;
        vc->amount = (uint32_t)roll(d, all + 2);
        vc->n_changes = (uint32_t)roll(d, NAIVE_CHANGES + 1);
        int64_t at = c->jobs[0].submit;
        for (uint32_t i = 0; i < vc->n_changes; i++) {
            at += roll_s(d, 1, z->submit_s / 3);
            vc->change_at[i] = at;
            vc->change_to[i] = roll(d, 3) == 0 ? 0 : (uint32_t)roll(d, all + 2);
        }
    }
}

static void roll_case(struct naive_case *c, const struct size *z, struct dice *d)
{
    c->n_nodes = z->nodes_least + (uint32_t)roll(d, z->nodes_most - z->nodes_least + 1);
    bool is_alike = z->has_vcs || roll(d, 2) == 0 || c->placement == N_YARN;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        c->gpus[i] = i > 0 && is_alike ? c->gpus[0] : z->has_vcs ? z->gpus_most : 1 + (uint32_t)roll(d, z->gpus_most);
    c->n_jobs = 1 + (uint32_t)roll(d, z->jobs);
    if (z->has_vcs)
        c->n_jobs = z->jobs;
    int64_t submits[NAIVE_JOBS];
    for (uint32_t j = 0; j < c->n_jobs; j++) { /* insertion sort */
        int64_t submit = roll_s(d, 0, z->submit_s);
        uint32_t k = j;
        for (; k > 0 && submits[k - 1] > submit; k--)
            submits[k] = submits[k - 1];
        submits[k] = submit;
    }
    for (uint32_t j = 0; j < c->n_jobs; j++)
        c->jobs[j].submit = submits[j];
    roll_vcs(c, z, d);
    c->kills = roll(d, 4) == 0;
    bool is_exact = roll(d, 2) == 0, has_overhead = roll(d, 2) == 0;
    uint32_t most_gpus = z->has_vcs ? 16 : 6;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct naive_job *job = &c->jobs[j];
        job->duration = roll_s(d, 0, z->duration_s);
        job->gpus = 1 + (uint32_t)roll(d, roll(d, 2) == 0 ? 2 : most_gpus);
        job->vc = c->n_vcs == 0 ? 0 : roll(d, 20) == 0 ? -1 : (int)roll(d, c->n_vcs);
        job->priority = (double)roll(d, 7) * 0.5 - 1;
        job->estimate = is_exact ? job->duration : roll_s(d, c->kills, z->duration_s);
        if (job->estimate < 1)
            job->estimate = 1;
    }
    c->kills = c->kills && !is_exact;
    c->start_overhead = has_overhead ? roll_s(d, 0, 2) : 0;
    c->restart_overhead = has_overhead ? roll_s(d, 0, 3) : 0;
    c->quantum = roll_s(d, 1, z->has_vcs ? 12 : 4);
    if (c->restart_overhead >= c->quantum) /* else two jobs may keep each other from ever doing anything */
        c->restart_overhead = c->quantum - S;
    c->ageing = roll_s(d, 0, 3);
    c->by_gpu_time = roll(d, 2) == 0;
}

/* ---- the same case for the engine ------------------------------------------------------------------- */

static const char *const vc_names[] = {"a", "b", "c", "d"};

static void param_seconds(struct test_case *t, const char *name, int64_t ns)
{
    static char text[32];
    snprintf(text, sizeof text, "%lld ns", (long long)ns);
    case_param(t, name, text);
}

static struct test_case *engine_case(const struct naive_case *c)
{
    struct test_case *t = case_create(1, 1);
    static struct node_group_spec groups[NAIVE_NODES];
    static struct vc_change changes[NAIVE_VCS][NAIVE_CHANGES];
    for (uint32_t i = 0; i < c->n_nodes; i++)
        groups[i] = (struct node_group_spec){.count = 1, .gpus = c->gpus[i], .gpu = ""};
    t->cluster.groups = groups;
    t->cluster.n_groups = c->n_nodes;
    t->cluster.n_vcs = c->n_vcs;
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        const struct naive_vc *vc = &c->vcs[v];
        for (uint32_t i = 0; i < vc->n_changes; i++)
            changes[v][i] = (struct vc_change){vc->change_at[i], vc->change_to[i]};
        t->vcs[v] = (struct vc_spec){.name = vc_names[v],
                                     .mode = vc->is_quota ? VC_GPUS : VC_NODES,
                                     .amount = vc->amount,
                                     .shrink = vc->gives_way ? VC_PREEMPT : VC_DRAIN,
                                     .changes = changes[v],
                                     .n_changes = vc->n_changes};
    }
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        uint32_t k = case_job(t, 0, 0, c->jobs[j].gpus);
        t->jobs[k].submit_ns = c->jobs[j].submit;
        t->jobs[k].duration_ns = c->jobs[j].duration;
        t->jobs[k].estimate_ns = c->jobs[j].estimate;
        t->jobs[k].priority = c->jobs[j].priority;
        t->jobs[k].vc = c->jobs[j].vc < 0 ? "elsewhere" : vc_names[c->jobs[j].vc];
    }
    t->spec.estimate.source = ESTIMATE_TRACE;
    t->spec.estimate.on_exceed = c->kills ? ESTIMATE_KILL : ESTIMATE_RUN_ON;
    t->spec.overhead.start.constant_ns = c->start_overhead;
    t->spec.overhead.restart.constant_ns = c->restart_overhead;
    case_placement(t, naive_placement_names[c->placement]);
    case_policy(t, "compose");
    case_param(t, "order", naive_order_names[c->order]);
    case_param(t, "fill", naive_fill_names[c->fill]);
    case_param(t, "preempt", naive_preempt_names[c->preempt]);
    case_param(t, "service", c->by_gpu_time ? "gpu_time" : "time");
    param_seconds(t, "quantum", c->quantum);
    param_seconds(t, "ageing", c->ageing);
    return t;
}

/* ---- comparing ------------------------------------------------------------------------------------- */

static struct naive_result of_engine(const struct job *j)
{
    static const enum naive_status status[] = {[STATUS_FINISHED] = N_FINISHED,
                                               [STATUS_UNFINISHED] = N_UNFINISHED,
                                               [STATUS_REJECTED] = N_REJECTED,
                                               [STATUS_KILLED] = N_KILLED};
    return (struct naive_result){j->start_ns,    j->status == STATUS_UNFINISHED ? -1 : j->end_ns,
                                 j->run_ns,      j->overhead_ns,
                                 j->preemptions, j->moves,
                                 j->restarts,    status[j->status],
                                 j->reason};
}

static bool is_same(const struct naive_result *a, const struct naive_result *b)
{
    return a->start == b->start && a->end == b->end && a->run == b->run && a->overhead == b->overhead &&
           a->preemptions == b->preemptions && a->moves == b->moves && a->restarts == b->restarts &&
           a->status == b->status && strcmp(a->reason, b->reason) == 0;
}

static void print_case(const struct naive_case *c)
{
    fprintf(stderr,
            "order %s, fill %s, preempt %s, placement %s; quantum %g s, ageing %g s, service %s; overhead %g, %g s%s\n",
            naive_order_names[c->order], naive_fill_names[c->fill], naive_preempt_names[c->preempt],
            naive_placement_names[c->placement], (double)c->quantum * 1e-9, (double)c->ageing * 1e-9,
            c->by_gpu_time ? "gpu_time" : "time", (double)c->start_overhead * 1e-9, (double)c->restart_overhead * 1e-9,
            c->kills ? "; kills" : "");
    fprintf(stderr, "nodes:");
    for (uint32_t i = 0; i < c->n_nodes; i++)
        fprintf(stderr, " %u", c->gpus[i]);
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        const struct naive_vc *vc = &c->vcs[v];
        fprintf(stderr, "; %s: %u %s", vc_names[v], vc->amount, vc->is_quota ? "GPUs" : "nodes");
        for (uint32_t i = 0; i < vc->n_changes; i++)
            fprintf(stderr, ", at %g %u", (double)vc->change_at[i] * 1e-9, vc->change_to[i]);
        fprintf(stderr, "%s", vc->gives_way ? " (preempt)" : "");
    }
    fprintf(stderr, "\n");
}

static void print_result(const char *who, const struct naive_result *r)
{
    fprintf(stderr,
            "  %-6s start %5.1f end %5.1f run %5.1f overhead %4.1f preemptions %u moves %u restarts %u status %d %s\n",
            who, (double)r->start * 1e-9, (double)r->end * 1e-9, (double)r->run * 1e-9, (double)r->overhead * 1e-9,
            r->preemptions, r->moves, r->restarts, (int)r->status, r->reason);
}

static void print_difference(const struct naive_case *c, const struct naive_result *engine,
                             const struct naive_result *naive)
{
    print_case(c);
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        const struct naive_job *job = &c->jobs[j];
        fprintf(stderr, "%sjob %u: submit %g s, %g s x %u GPUs, estimate %.9g s, queue %d, priority %g\n",
                is_same(&engine[j], &naive[j]) ? "" : "* ", j, (double)job->submit * 1e-9, (double)job->duration * 1e-9,
                job->gpus, (double)job->estimate * 1e-9, job->vc, job->priority);
        print_result("engine", &engine[j]);
        if (!is_same(&engine[j], &naive[j]))
            print_result("naive", &naive[j]);
    }
}

/* Order random: the reference takes what the policy drew for each job when it was submitted. */
static int64_t drawn[NAIVE_JOBS];

static void spy_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct compose *compose = self;
    drawn[job] = compose->order->key(s, job, &compose->params, false);
    compose_on_submit(self, s, job);
}

/* Run both; true when they agree on every job. */
static bool agree(const struct naive_case *asked, bool is_loud)
{
    struct naive_case with_dice = *asked;
    const struct naive_case *c = &with_dice;
    struct test_case *t = engine_case(c);
    struct naive_result engine[NAIVE_JOBS], naive[NAIVE_JOBS];
    struct policy_ops spy = *t->spec.policy.ops;
    if (c->order == N_RANDOM) {
        spy.on_submit = spy_on_submit;
        t->spec.policy.ops = &spy;
    }
    case_run(t);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        with_dice.jobs[j].dice = drawn[j];
    naive_run(c, naive);
    bool is_equal = true;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        engine[j] = of_engine(&t->r.jobs[j]);
        is_equal = is_equal && is_same(&engine[j], &naive[j]);
    }
    if (!is_equal && is_loud)
        print_difference(c, engine, naive);
    case_destroy(t);
    return is_equal;
}

/* Drop jobs and changes of quota for as long as the two still differ: what is left is read more easily. */
static void shrink(struct naive_case *c)
{
    for (bool is_smaller = true; is_smaller;) {
        is_smaller = false;
        for (uint32_t j = c->n_jobs; j-- > 0 && c->n_jobs > 1;) {
            struct naive_case less = *c;
            less.n_jobs--;
            memmove(&less.jobs[j], &less.jobs[j + 1], (less.n_jobs - j) * sizeof *less.jobs);
            if (!agree(&less, false)) {
                *c = less;
                is_smaller = true;
            }
        }
        for (uint32_t v = 0; v < c->n_vcs; v++)
            for (uint32_t i = c->vcs[v].n_changes; i-- > 0;) {
                struct naive_case less = *c;
                struct naive_vc *vc = &less.vcs[v];
                vc->n_changes--;
                memmove(&vc->change_at[i], &vc->change_at[i + 1], (vc->n_changes - i) * sizeof *vc->change_at);
                memmove(&vc->change_to[i], &vc->change_to[i + 1], (vc->n_changes - i) * sizeof *vc->change_to);
                if (!agree(&less, false)) {
                    *c = less;
                    is_smaller = true;
                }
            }
    }
}

static bool is_composable(const struct naive_case *c)
{
    if (c->fill == N_EASY && c->preempt != N_NEVER)
        return false; /* refused: test_compose_parts */
    if (c->order == N_ROUND_ROBIN && c->preempt == N_WHEN_BETTER)
        return false;
    return true;
}

static void compare(enum naive_fill fill, enum naive_preempt preempt, const struct size *z, uint32_t n_cases)
{
    uint32_t n_wrong = 0;
    for (int order = 0; order < N_ORDERS; order++)
        for (uint32_t i = 0; i < n_cases; i++) {
            struct dice d = {1 + i * 7919u + (uint64_t)order * 104729u + (uint64_t)fill * 1299709u +
                             (uint64_t)preempt * 15485863u};
            for (int k = 0; k < 8; k++)
                roll(&d, 2);
            struct naive_case c = {.order = (enum naive_order)order,
                                   .fill = fill,
                                   .preempt = preempt,
                                   .placement = (enum naive_placement)(i % N_PLACEMENTS)};
            if (!is_composable(&c))
                continue;
            roll_case(&c, z, &d);
            if (agree(&c, false))
                continue;
            fprintf(stderr, "case %u of order %s differs\n", i, naive_order_names[order]);
            if (n_wrong++ < 3) {
                shrink(&c);
                agree(&c, true);
            }
        }
    cr_assert_eq(n_wrong, 0u, "%u cases differ", n_wrong);
}

/* A comparison is worth as much as what happens in the cases. */
Test(naive, everything_happens_in_the_cases)
{
    uint32_t n_status[N_KILLED + 1] = {0}, preemptions = 0, moves = 0, restarts = 0, zero = 0;
    for (uint32_t i = 0; i < 200; i++) {
        struct dice d = {i * 7919u + 1};
        struct naive_case c = {.order = (enum naive_order)(i % N_RANDOM),
                               .fill = N_SKIP,
                               .preempt = N_QUANTUM,
                               .placement = (enum naive_placement)(i % N_PLACEMENTS)};
        struct naive_result r[NAIVE_JOBS];
        roll_case(&c, i % 4 == 0 ? &middle : &tiny, &d);
        naive_run(&c, r);
        for (uint32_t j = 0; j < c.n_jobs; j++) {
            n_status[r[j].status]++;
            preemptions += r[j].preemptions;
            moves += r[j].moves;
            restarts += r[j].restarts;
            zero += r[j].status == N_FINISHED && r[j].run == 0;
        }
    }
    cr_expect(n_status[N_FINISHED] > 1000 && n_status[N_UNFINISHED] > 50 && n_status[N_REJECTED] > 50 &&
                  n_status[N_KILLED] > 50,
              "finished %u, unfinished %u, rejected %u, killed %u", n_status[N_FINISHED], n_status[N_UNFINISHED],
              n_status[N_REJECTED], n_status[N_KILLED]);
    cr_expect(preemptions > 500 && moves > 50 && restarts > 500 && zero > 20,
              "preemptions %u, moves %u, restarts %u, zero %u", preemptions, moves, restarts, zero);
}

enum { N_TINY = 300, N_MIDDLE = 60 };

#define AGAINST(fill_name, fill, preempt_name, preempt)                                                                \
    Test(naive, tiny_##fill_name##_##preempt_name##_agrees)                                                            \
    {                                                                                                                  \
        compare(fill, preempt, &tiny, N_TINY);                                                                         \
    }                                                                                                                  \
    Test(naive, middle_##fill_name##_##preempt_name##_agrees)                                                          \
    {                                                                                                                  \
        compare(fill, preempt, &middle, N_MIDDLE);                                                                     \
    }

AGAINST(strict, N_STRICT, never, N_NEVER)
AGAINST(skip, N_SKIP, never, N_NEVER)
AGAINST(easy, N_EASY, never, N_NEVER)
AGAINST(strict, N_STRICT, when_better, N_WHEN_BETTER)
AGAINST(skip, N_SKIP, when_better, N_WHEN_BETTER)
AGAINST(strict, N_STRICT, quantum, N_QUANTUM)
AGAINST(skip, N_SKIP, quantum, N_QUANTUM)

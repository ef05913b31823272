/* A case through the engine and through naive.c; what differs is made smaller and printed. */
#include "tests/engine/naive_match.h"
#include "tests/harness.h"

#include "policies/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same case for the engine ------------------------------------------------------------------- */

static const char *const vc_names[NAIVE_VCS] = {"a", "b", "c", "d"};
static const char *const type_names[] = {"", "p", "q", "r"};
static const char *const user_names[NAIVE_USERS] = {"u", "v", "w"};

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
        groups[i] = (struct node_group_spec){.count = 1,
                                             .gpus = c->gpus[i],
                                             .gpu = type_names[c->type[i]],
                                             .cpu_milli = c->cpu_milli[i],
                                             .memory_kib = c->mem_kib[i]};
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
        t->jobs[k].recorded_start_ns = c->jobs[j].recorded < 0 ? WORKLOAD_ABSENT : c->jobs[j].recorded;
        static char names[NAIVE_JOBS][16];
        snprintf(names[j], sizeof names[j], "%d", c->jobs[j].waits_for - 1);
        t->jobs[k].depends = c->jobs[j].waits_for == 0 ? NULL : names[j];
        t->jobs[k].priority = c->jobs[j].priority;
        t->jobs[k].cpu_milli = c->jobs[j].cpu_milli;
        t->jobs[k].mem_kib = c->jobs[j].mem_kib;
        t->jobs[k].gpu_type = c->jobs[j].type == 0 ? NULL : type_names[c->jobs[j].type];
        t->jobs[k].deadline_ns = c->jobs[j].deadline < 0 ? WORKLOAD_ABSENT : c->jobs[j].deadline;
        t->jobs[k].user = user_names[c->jobs[j].user];
        t->jobs[k].vc = c->jobs[j].vc < 0 ? "elsewhere" : vc_names[c->jobs[j].vc];
    }
    t->spec.estimate.source = ESTIMATE_TRACE;
    t->spec.estimate.on_exceed = c->kills ? ESTIMATE_KILL : ESTIMATE_RUN_ON;
    t->spec.overhead.start.constant_ns = c->start_overhead;
    t->spec.overhead.restart.constant_ns = c->restart_overhead;
    case_placement(t, naive_placement_names[c->placement]);
    t->cluster.nodes_per_rack = c->nodes_per_rack;
    if (c->placement == N_POWER_OF_TWO)
        t->placement_params[0].i = c->draws;
    if (c->rules != NULL) {
        case_policy(t, c->rules->policy);
        if (c->rules->params != NULL)
            c->rules->params(c, t);
        return t;
    }
    case_policy(t, "compose");
    case_param(t, "order", naive_order_names[c->order]);
    case_param(t, "fill", naive_fill_names[c->fill]);
    case_param(t, "preempt", naive_preempt_names[c->preempt]);
    case_param(t, "service", c->by_gpu_time ? "gpu_time" : "time");
    param_seconds(t, "quantum", c->quantum);
    param_seconds(t, "ageing", c->ageing);
    param_seconds(t, "window", c->window);
    case_param(t, "overrun", c->ends_now ? "now" : "double");
    if (c->admission)
        case_param(t, "admission", "feasible");
    return t;
}

/* ---- comparing ------------------------------------------------------------------------------------- */

static struct naive_result of_engine(const struct job *j)
{
    static const enum naive_status status[] = {[STATUS_FINISHED] = N_FINISHED,
                                               [STATUS_UNFINISHED] = N_UNFINISHED,
                                               [STATUS_REJECTED] = N_REJECTED,
                                               [STATUS_KILLED] = N_KILLED,
                                               [STATUS_NOT_SUBMITTED] = N_UNFINISHED};
    return (struct naive_result){
        j->start_ns,    j->status == STATUS_UNFINISHED || j->status == STATUS_NOT_SUBMITTED ? -1 : j->end_ns,
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
    if (c->rules != NULL)
        fprintf(stderr, "policy %s, by its own rules; ", c->rules->policy);
    fprintf(stderr,
            "order %s, fill %s, preempt %s, placement %s; quantum %g s, ageing %g s, service %s; overhead %g, %g s%s\n",
            naive_order_names[c->order], naive_fill_names[c->fill], naive_preempt_names[c->preempt],
            naive_placement_names[c->placement], (double)c->quantum * 1e-9, (double)c->ageing * 1e-9,
            c->by_gpu_time ? "gpu_time" : "time", (double)c->start_overhead * 1e-9, (double)c->restart_overhead * 1e-9,
            c->kills ? "; kills" : "");
    fprintf(stderr, "nodes (%u a rack):", c->nodes_per_rack);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        fprintf(stderr, " %u%s", c->gpus[i], type_names[c->type[i]]);
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        const struct naive_vc *vc = &c->vcs[v];
        fprintf(stderr, "; %s: %u %s", vc_names[v], vc->amount, vc->is_quota ? "GPUs" : "nodes");
        for (uint32_t i = 0; i < vc->n_changes; i++)
            fprintf(stderr, ", at %g %u", (double)vc->change_at[i] * 1e-9, vc->change_to[i]);
        fprintf(stderr, "%s", vc->gives_way ? " (preempt)" : "");
    }
    fprintf(stderr, "\n");
    for (uint32_t i = 0; i < c->n_nodes && c->has_bounds; i++)
        fprintf(stderr, "node %u: %u mCPU and %g GiB\n", i, c->cpu_milli[i], (double)c->mem_kib[i] / (1 << 20));
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
        fprintf(stderr,
                "%sjob %u: submit %g s, %g s x %u GPUs, estimate %.9g s, queue %d, priority %g, user %d, deadline %g "
                "s, after %d, %u mCPU and %g GiB\n",
                is_same(&engine[j], &naive[j]) ? "" : "* ", j, (double)job->submit * 1e-9, (double)job->duration * 1e-9,
                job->gpus, (double)job->estimate * 1e-9, job->vc, job->priority, job->user,
                (double)job->deadline * 1e-9, job->waits_for - 1, job->cpu_milli, (double)job->mem_kib / (1 << 20));
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

/* Placements that draw: the reference takes the places that came out, and looks whether the module's rule allows them. */
static const struct placement_ops *spied;
static struct naive_pick picks[NAIVE_PICKS];
static uint32_t n_picks;

static uint32_t spy_pick(void *self, const struct cluster *c, uint32_t partition, const struct demand *d, gsl_rng *rng,
                         struct place *out, uint32_t room)
{
    uint32_t n = spied->pick(self, c, partition, d, rng, out, room);
    if (n > 0 && n_picks < NAIVE_PICKS) {
        struct naive_pick *p = &picks[n_picks++];
        *p = (struct naive_pick){.gpus = d->gpus};
        for (uint32_t i = 0; i < n; i++)
            p->take[out[i].node] = out[i].gpus;
    }
    return n;
}

static void tell_segment(void *self, uint32_t job, int64_t begin, int64_t end, enum segment_kind kind, double rate,
                         uint32_t group, const struct span *spans, uint32_t n_spans)
{
    (void)self, (void)kind, (void)rate, (void)group;
    fprintf(stderr, "  engine %10.3f: job %u on", (double)begin * 1e-9, job);
    for (uint32_t i = 0; i < n_spans; i++)
        fprintf(stderr, " %u:%u", spans[i].node, spans[i].gpu_count);
    fprintf(stderr, " to %.3f\n", (double)end * 1e-9);
}

bool naive_agree(const struct naive_case *asked, bool is_loud)
{
    struct naive_case with_dice = *asked;
    const struct naive_case *c = &with_dice;
    struct test_case *t = engine_case(c);
    struct naive_result engine[NAIVE_JOBS], naive[NAIVE_JOBS];
    struct policy_ops spy = *t->spec.policy.ops;
    if ((c->rules == NULL || c->rules->is_composition) && c->order == N_RANDOM) {
        spy.on_submit = spy_on_submit;
        t->spec.policy.ops = &spy;
    }
    struct placement_ops placement = *t->spec.placement.ops;
    if (c->placement == N_ANY || c->placement == N_POWER_OF_TWO) {
        spied = t->spec.placement.ops;
        n_picks = 0;
        placement.pick = spy_pick;
        t->spec.placement.ops = &placement;
    }
    with_dice.is_told = is_loud;
    if (is_loud)
        t->spec.watch.segment = tell_segment;
    case_run(t);
    with_dice.picks = picks;
    with_dice.n_picks = n_picks;
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

void naive_shrink(struct naive_case *c)
{
    for (bool is_smaller = true; is_smaller;) {
        is_smaller = false;
        for (uint32_t j = c->n_jobs; j-- > 0 && c->n_jobs > 1;) {
            struct naive_case less = *c;
            less.n_jobs--;
            memmove(&less.jobs[j], &less.jobs[j + 1], (less.n_jobs - j) * sizeof *less.jobs);
            for (uint32_t i = 0; i < less.n_jobs; i++)
                less.jobs[i].waits_for = less.jobs[i].waits_for == (int)j + 1  ? 0
                                         : less.jobs[i].waits_for > (int)j + 1 ? less.jobs[i].waits_for - 1
                                                                               : less.jobs[i].waits_for;
            if (!naive_agree(&less, false)) {
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
                if (!naive_agree(&less, false)) {
                    *c = less;
                    is_smaller = true;
                }
            }
    }
}

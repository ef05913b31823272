/* bench_search - what searching costs: rollouts of random orders (jobs placed a second and core), and one decision of each searching policy over
 * 200 waiting jobs with 2,000 plans, on one thread and on two. Wall and processor time: on a busy machine only the second says
 * much, and the gain of two threads shows in the first alone.
 */
#include "engine/rollout.h"
#include "engine/run.h"
#include "policies/registry.h"
#include "policies/search.h"

#include "base/number.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define S INT64_C(1000000000)

enum { NODES = 64, GPUS = 8, WAITING = 200, FILLING = 400, ORDERS = 500 };

static double clock_s(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)((state >> 32) * n >> 32);
}

/* ---- rollouts ------------------------------------------------------------------------------------------ */

static struct {
    bool is_strict;
    double cpu_s, placed;
    uint64_t reused;
} measured;

struct prober {
    struct rollout *r;
    uint32_t queue[WAITING + FILLING], n;
    bool is_done;
};

static int prober_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct prober *p = self;
    (void)v;
    p->r = rollout_create(s, WAITING, 0);
    return p->r != NULL ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static void prober_fini(void *self)
{
    rollout_destroy(((struct prober *)self)->r);
}

static void prober_submit(void *self, struct sched *s, uint32_t job)
{
    struct prober *p = self;
    (void)s;
    p->queue[p->n++] = job;
}

static void probe(struct prober *p, struct sched *s)
{
    const struct rollout_window w = {.jobs = p->queue, .n_queued = WAITING};
    uint16_t order[WAITING];
    struct rollout_terms terms;
    if (!rollout_freeze(p->r, s, &w))
        return;
    for (uint32_t i = 0; i < WAITING; i++)
        order[i] = (uint16_t)i;
    uint64_t before = rollout_placements(p->r);
    double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t k = 0; k < ORDERS; k++) {
        for (uint32_t i = WAITING - 1; i > 0; i--)
            order_swap(order, i, draw(i + 1));
        rollout_run(rollout_lane(p->r), &(struct rollout_plan){order, WAITING, measured.is_strict}, NULL, &terms);
    }
    measured.cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    measured.placed = (double)(rollout_placements(p->r) - before);
    measured.reused = (uint64_t)ORDERS * WAITING - (rollout_placements(p->r) - before);
}

static void prober_schedule(void *self, struct sched *s)
{
    struct prober *p = self;
    if (!p->is_done && p->n >= WAITING && sched_now(s) >= S) {
        probe(p, s);
        p->is_done = true;
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (sched_start(s, p->queue[i]) != SCHED_OK)
            p->queue[left++] = p->queue[i];
    p->n = left;
}

static const struct policy_ops PROBER = {.abi_version = BRAID_POLICY_ABI,
                                         .size = sizeof(struct policy_ops),
                                         .name = "prober",
                                         .summary = "",
                                         .source = "",
                                         .knows = KNOWS_ESTIMATE,
                                         .scope = SCOPE_VC,
                                         .state_size = sizeof(struct prober),
                                         .init = prober_init,
                                         .fini = prober_fini,
                                         .on_submit = prober_submit,
                                         .schedule = prober_schedule};

/* ---- a case ------------------------------------------------------------------------------------------- */

struct bench {
    struct node_group_spec group;
    struct cluster_spec cluster;
    struct workload w;
    struct run_spec spec;
    union param params[64], placement_params[32];
};

/* A cluster that FILLING jobs nearly fill at 0, and WAITING more at 1 s. */
static int bench_open(struct bench *b)
{
    static const uint32_t SIZES[] = {1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16};
    struct workload_columns want = {0};
    struct error err;
    *b = (struct bench){.group = {.count = NODES, .gpus = GPUS, .gpu = ""}};
    b->cluster = (struct cluster_spec){.groups = &b->group, .n_groups = 1};
    workload_init(&b->w);
    if (workload_alloc(&b->w, FILLING + WAITING, &want, &err) != BRAID_OK)
        return 1;
    for (uint32_t j = 0; j < FILLING + WAITING; j++) {
        b->w.submit_ns[j] = j < FILLING ? 0 : S;
        b->w.duration_ns[j] = (60 + (int64_t)draw(36000)) * S;
        b->w.gpus[j] = j < FILLING ? 1 : SIZES[draw(13)];
        b->w.vc[j] = names_add(&b->w.vcs, "", 0);
        b->w.user[j] = names_add(&b->w.users, "", 0);
    }
    b->spec = (struct run_spec){.workload = &b->w,
                                .cluster = &b->cluster,
                                .placement = {placement_find("consolidate"), b->placement_params},
                                .measure.to_ns = RUN_NO_LIMIT,
                                .stop = {RUN_NO_LIMIT, UINT32_MAX},
                                .seed = 1};
    return 0;
}

static void param_set(union param *v, const struct param_spec *p, const char *text)
{
    size_t n = strlen(text);
    if (p->type == PARAM_INT)
        number_parse_i64(text, n, &v->i);
    else if (p->type == PARAM_NUMBER)
        number_parse_double(text, n, &v->f);
    else if (p->type == PARAM_TIME)
        number_parse_time(text, n, &v->i);
    else if (p->type == PARAM_BOOL)
        v->b = strcmp(text, "true") == 0;
    else
        v->s = text;
}

static void policy_set(struct bench *b, const struct policy_ops *ops, const char *budget)
{
    const char *const SET[][2] = {{"window_jobs", "200"}, {"tail", "0"}, {"budget", budget}, {"period", "1e9 s"}};
    b->spec.policy = (struct policy_spec){.ops = ops, .params = b->params, .label = ops->name};
    for (size_t i = 0; i < ops->n_params; i++) {
        param_set(&b->params[i], &ops->params[i], ops->params[i].def);
        for (int k = 0; k < 4; k++)
            if (strcmp(SET[k][0], ops->params[i].name) == 0)
                param_set(&b->params[i], &ops->params[i], SET[k][1]);
    }
}

static int bench_rollout(struct bench *b, const char *placement, bool is_strict)
{
    struct run_result r;
    struct error err = {0};
    measured.is_strict = is_strict;
    b->spec.placement.ops = placement_find(placement);
    b->spec.policy = (struct policy_spec){.ops = &PROBER, .params = b->params, .label = "prober"};
    if (run(&r, &b->spec, &err) != BRAID_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    run_result_fini(&r);
    printf("%-12s  %-6s  %8.0f  %8.2f\n", placement, is_strict ? "strict" : "skip",
           measured.cpu_s / ORDERS * 1e9 / WAITING, measured.placed / measured.cpu_s * 1e-6);
    return 0;
}

static int bench_decision(struct bench *b, const char *policy, const char *budget)
{
    double wall[2], cpu[2];
    policy_set(b, policy_find(policy), budget);
    b->spec.placement.ops = placement_find("consolidate");
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct run_result r;
        struct error err = {0};
        b->spec.threads = threads;
        wall[threads - 1] = clock_s(CLOCK_MONOTONIC);
        cpu[threads - 1] = clock_s(CLOCK_PROCESS_CPUTIME_ID);
        if (run(&r, &b->spec, &err) != BRAID_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        wall[threads - 1] = clock_s(CLOCK_MONOTONIC) - wall[threads - 1];
        cpu[threads - 1] = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu[threads - 1];
        run_result_fini(&r);
    }
    printf("%-13s  %7.0f  %7.0f  %7.0f  %7.0f  %5.2f\n", policy, wall[0] * 1e3, cpu[0] * 1e3, wall[1] * 1e3,
           cpu[1] * 1e3, wall[0] / wall[1]);
    return 0;
}

int main(void)
{
    static const char *const PLACEMENTS[] = {"count", "consolidate", "first_fit", "spread", "random"};
    static const char *const POLICIES[] = {"ga", "pso", "sa", "lookahead", "greedy_insert"};
    static const char *const BUDGETS[] = {"2000", "20000"};
    struct bench b;
    int status = bench_open(&b);
    printf("%d random orders of %d jobs, %d nodes of %d GPUs nearly full\n", ORDERS, WAITING, NODES, GPUS);
    printf("placement     fill    ns a job  M jobs/s\n");
    for (size_t i = 0; i < sizeof PLACEMENTS / sizeof *PLACEMENTS && status == 0; i++)
        for (int strict = 0; strict < 2 && status == 0; strict++)
            status = bench_rollout(&b, PLACEMENTS[i], strict);
    for (int k = 0; k < 2 && status == 0; k++) {
        printf("\nA run with one decision over %d waiting jobs, %s plans (ms; %d processors)\n", WAITING, BUDGETS[k],
               omp_get_num_procs());
        printf("policy         1: wall      cpu  2: wall      cpu   gain\n");
        for (size_t i = 0; i < sizeof POLICIES / sizeof *POLICIES && status == 0; i++)
            status = bench_decision(&b, POLICIES[i], BUDGETS[k]);
    }
    workload_fini(&b.w);
    return status;
}

/* Groups: jobs that share a set of GPUs, their rates and their books. The sharing model here is a toy with easy numbers: each of n
 * members goes at 1/2 of its speed for n = 2 and at 1/3 for n = 3; memory of 4 GiB a job.
 */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <string.h>

static void toy_rates(void *self, const uint32_t *jobs, uint32_t n, double *out)
{
    (void)self, (void)jobs;
    for (uint32_t i = 0; i < n; i++)
        out[i] = 1.0 / n;
}

static const char *toy_refusal(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib)
{
    (void)self, (void)jobs;
    return gpu_memory_kib > 0 && n * (UINT64_C(4) << 20) > gpu_memory_kib ? "gpu_memory" : NULL;
}

static const struct sharing_model toy = {.most = 3, .rates = toy_rates, .refusal = toy_refusal};

/* A policy that puts every job that arrives on the GPUs of the first running one, else starts it. */
struct joiner {
    uint32_t running[64], n_running, queue[64], n_queue;
    int last_code;
};

static void joiner_submit(void *self, struct sched *s, uint32_t job)
{
    (void)s;
    struct joiner *p = self;
    p->queue[p->n_queue++] = job;
}

static void joiner_finish(void *self, struct sched *s, uint32_t job)
{
    (void)s;
    struct joiner *p = self;
    for (uint32_t i = 0; i < p->n_running; i++)
        if (p->running[i] == job) {
            p->running[i] = p->running[--p->n_running];
            return;
        }
}

static void joiner_schedule(void *self, struct sched *s)
{
    struct joiner *p = self;
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->n_queue; i++) {
        uint32_t job = p->queue[i];
        int code = p->n_running > 0 ? sched_join(s, job, p->running[0]) : SCHED_E_NO_FIT;
        if (code != SCHED_OK)
            code = sched_start(s, job);
        if (code == SCHED_OK)
            p->running[p->n_running++] = job;
        else
            p->queue[left++] = job;
    }
    p->n_queue = left;
}

static const struct policy_ops joiner = {.abi_version = BRAID_POLICY_ABI,
                                         .size = sizeof(struct policy_ops),
                                         .name = "joiner",
                                         .summary = "joins",
                                         .source = "test",
                                         .knows = KNOWS_PROFILE,
                                         .state_size = sizeof(struct joiner),
                                         .on_submit = joiner_submit,
                                         .on_finish = joiner_finish,
                                         .schedule = joiner_schedule};

static struct test_case *case_of(const struct policy_ops *ops, uint32_t nodes, uint32_t gpus)
{
    struct test_case *c = case_create(nodes, gpus);
    c->spec.policy = (struct policy_spec){.ops = ops, .params = c->params, .label = ops->name};
    c->spec.sharing = &toy;
    return c;
}

Test(groups, members_slow_down_and_speed_up_with_their_company)
{
    struct test_case *c = case_of(&joiner, 1, 2);
    case_job(c, 0, 10, 2); /* alone 0-4 (4 done), with b 4-12 (4 done), alone again: 2 left, ends 14 */
    case_job(c, 4, 4, 2);  /* at half speed: 4-12 */
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 14, 1e-9, "%g", case_end_s(c, 0));
    cr_expect_float_eq(case_end_s(c, 1), 12, 1e-9, "%g", case_end_s(c, 1));
    /* the two GPUs were allocated once, from 0 to 14 */
    cr_expect_float_eq(c->r.totals.allocated_gpu_ns_makespan, 28e9, 1);
    case_destroy(c);
}

Test(groups, a_third_member_and_a_refused_fourth)
{
    struct test_case *c = case_of(&joiner, 2, 1);
    for (int i = 0; i < 4; i++)
        case_job(c, 0, 6, 1); /* three share one GPU at 1/3: end at 18; the fourth has a GPU of its own */
    case_run(c);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_float_eq(case_end_s(c, i), 18, 1e-6, "%g", case_end_s(c, i));
    cr_expect_float_eq(case_end_s(c, 3), 6, 1e-9);
    case_destroy(c);
}

Test(groups, a_group_that_does_not_fit_in_memory_is_refused)
{
    struct test_case *c = case_of(&joiner, 1, 2);
    c->groups[0].gpu_memory_kib = UINT64_C(7) << 20; /* 7 GiB: one job of 4, not two */
    case_job(c, 0, 10, 1);
    case_job(c, 1, 10, 1);
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 10, 1e-9);
    cr_expect_float_eq(case_end_s(c, 1), 11, 1e-9);
    case_destroy(c);
}

Test(groups, without_a_sharing_model_nobody_joins)
{
    struct test_case *c = case_of(&joiner, 1, 1);
    c->spec.sharing = NULL;
    case_job(c, 0, 10, 1);
    case_job(c, 0, 10, 1);
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 1), 20, 1e-9);
    case_destroy(c);
}

/* Takes everything apart and puts it together again each round: pairs of running jobs in order of rank. */
struct rebuilder {
    uint32_t jobs[64], n;
};

static void rebuilder_submit(void *self, struct sched *s, uint32_t job)
{
    (void)s;
    struct rebuilder *p = self;
    p->jobs[p->n++] = job;
}

static void rebuilder_finish(void *self, struct sched *s, uint32_t job)
{
    (void)s;
    struct rebuilder *p = self;
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->jobs[i] != job)
            p->jobs[k++] = p->jobs[i];
    p->n = k;
}

static void rebuilder_schedule(void *self, struct sched *s)
{
    struct rebuilder *p = self;
    for (uint32_t i = 0; i < p->n; i++)
        if (sched_is_running(s, p->jobs[i]))
            sched_preempt(s, p->jobs[i]);
    for (uint32_t i = 0; i < p->n; i += 2) {
        uint32_t n = p->n - i < 2 ? 1 : 2;
        if (sched_group(s, &p->jobs[i], n) != SCHED_OK)
            for (uint32_t k = i; k < i + n; k++)
                sched_start(s, p->jobs[k]);
    }
}

static const struct policy_ops rebuilder = {.abi_version = BRAID_POLICY_ABI,
                                            .size = sizeof(struct policy_ops),
                                            .name = "rebuilder",
                                            .summary = "rebuilds",
                                            .source = "test",
                                            .state_size = sizeof(struct rebuilder),
                                            .on_submit = rebuilder_submit,
                                            .on_finish = rebuilder_finish,
                                            .schedule = rebuilder_schedule};

Test(groups, a_rebuilt_plan_that_is_the_same_costs_nothing)
{
    struct test_case *c = case_of(&rebuilder, 2, 1);
    c->spec.overhead.restart.constant_ns = 100 * S;
    case_job(c, 0, 10, 1); /* with b: 0-20 */
    case_job(c, 0, 10, 1);
    case_job(c, 1, 3, 1); /* alone on the other GPU, 1-4: its coming and going rebuilds the plan twice */
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 20, 1e-9, "%g", case_end_s(c, 0));
    cr_expect_float_eq(case_end_s(c, 1), 20, 1e-9, "%g", case_end_s(c, 1));
    cr_expect_float_eq(case_end_s(c, 2), 4, 1e-9);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_eq(c->r.jobs[i].preemptions + c->r.jobs[i].moves + c->r.jobs[i].restarts, 0u);
    case_destroy(c);
}

Test(groups, new_company_on_the_same_gpus_is_no_restart)
{
    struct test_case *c = case_of(&rebuilder, 2, 1);
    c->spec.overhead.restart.constant_ns = 1 * S;
    case_job(c, 0, 4, 1);  /* with b at half speed: 0-8 */
    case_job(c, 0, 10, 1); /* with a 0-8 (4 done); then with c on the same GPU */
    case_job(c, 0, 10, 1); /* alone 0-8 (8 done) on the other GPU, then joins b: a move with 1 s of overhead */
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 8, 1e-9);
    cr_expect_eq(c->r.jobs[1].moves + c->r.jobs[1].restarts, 0u);
    cr_expect_eq(c->r.jobs[2].moves, 1u);
    /* from 9 both at half speed: c has 2 left, ends at 13; b had 4.5 at 8..., in all 6.5 done at 13, 3.5 alone: 16.5 */
    cr_expect_float_eq(case_end_s(c, 2), 13, 1e-9, "%g", case_end_s(c, 2));
    cr_expect_float_eq(case_end_s(c, 1), 16.5, 1e-9, "%g", case_end_s(c, 1));
    case_destroy(c);
}

/* Pairs while three or more jobs live, else each for itself. */
static void tidy_schedule(void *self, struct sched *s)
{
    struct rebuilder *p = self;
    for (uint32_t i = 0; i < p->n; i++)
        if (sched_is_running(s, p->jobs[i]))
            sched_preempt(s, p->jobs[i]);
    uint32_t step = p->n > 2 ? 2 : 1;
    for (uint32_t i = 0; i < p->n; i += step)
        sched_group(s, &p->jobs[i], p->n - i < step ? 1 : step);
}

static const struct policy_ops tidy = {.abi_version = BRAID_POLICY_ABI,
                                       .size = sizeof(struct policy_ops),
                                       .name = "tidy",
                                       .summary = "tidies",
                                       .source = "test",
                                       .state_size = sizeof(struct rebuilder),
                                       .on_submit = rebuilder_submit,
                                       .on_finish = rebuilder_finish,
                                       .schedule = tidy_schedule};

Test(groups, who_stays_when_a_group_dissolves_goes_at_full_speed)
{
    struct test_case *c = case_of(&tidy, 2, 1);
    case_job(c, 0, 10, 1); /* with b at half speed 0-2 (1 done), then alone where it was: ends at 11 */
    case_job(c, 0, 10, 1); /* with a 0-2, then alone on the other GPU: ends at 11 */
    case_job(c, 0, 2, 1);  /* alone 0-2 */
    case_run(c);
    cr_expect_float_eq(case_end_s(c, 0), 11, 1e-9, "%g", case_end_s(c, 0));
    cr_expect_float_eq(case_end_s(c, 1), 11, 1e-9, "%g", case_end_s(c, 1));
    cr_expect_eq(c->r.jobs[0].moves + c->r.jobs[0].preemptions, 0u);
    cr_expect_eq(c->r.jobs[1].moves, 1u);
    case_destroy(c);
}

Test(groups, random_plans_keep_the_books)
{
    uint64_t x = 12345;
    for (int round = 0; round < 200; round++) {
        struct test_case *c = case_of(round % 2 ? &rebuilder : &joiner, 2 + (uint32_t)(round % 3), 2);
        c->spec.overhead.start.constant_ns = round % 4 * S;
        c->spec.overhead.restart.constant_ns = round % 3 * S;
        for (int i = 0; i < 12; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            case_job(c, (double)(x % 20), (double)((x >> 8) % 15), 1 + (uint32_t)((x >> 16) % 2));
        }
        case_sort(c);
        case_run(c); /* with --check after every event */
        for (uint32_t i = 0; i < c->n_jobs; i++) {
            const struct job *j = &c->r.jobs[i];
            cr_assert_eq(j->status, STATUS_FINISHED, "round %d job %u %s", round, i, j->reason);
            cr_assert_geq(j->run_ns - j->overhead_ns, c->jobs[i].duration_ns); /* nobody is faster than alone */
        }
        case_destroy(c);
    }
}

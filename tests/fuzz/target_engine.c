/* target_engine.c - bytes as a whole run: the engine under any policy that the config could name, groups that share GPUs under a policy that does
 * anything at all, and the drivers with other simulators' semantics.
 */
#include "case.h"
#include "fuzz.h"

#include "compat/compat.h"
#include "policies/registry.h"

#include <string.h>

static const char *policy_name(size_t i)
{
    return policy_list()[i]->name;
}

static const char *placement_name(size_t i)
{
    return placement_list()[i]->name;
}

static const char *compat_name(size_t i)
{
    return compat_list()[i]->name;
}

static size_t count(const void *const *list)
{
    size_t n = 0;

    while (list[n] != NULL)
        n++;
    return n;
}

static void take_policy(struct fuzz_case *c, struct bytes *b, bool with_params)
{
    const struct policy_ops *ops = policy_list()[bytes_name(b, policy_name, count((const void *const *)policy_list()))];
    const struct placement_ops *where =
        placement_list()[bytes_name(b, placement_name, count((const void *const *)placement_list()))];
    case_policy(c, ops);
    case_placement(c, where);
    if (!with_params)
        return;
    case_take_params(c, b, ops->params, ops->n_params, c->params);
    case_take_params(c, b, where->params, where->n_params, c->placement_params);
}

static void run_and_check(struct fuzz_case *c)
{
    case_prepare(c);
    case_run_once(c);
    case_check(c);
    case_check_again(c);
    case_fini(c);
}

void fuzz_engine(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static struct fuzz_case c;
    struct bytes b = {bytes, n};
    case_init(&c);
    take_policy(&c, &b, true);
    case_take_cluster(&c, &b, true, false);
    case_take_model(&c, &b);
    case_take_jobs(&c, &b, false);
    run_and_check(&c);
}

void fuzz_compat(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static struct fuzz_case c;
    struct bytes b = {bytes, n};
    case_init(&c);
    c.spec.compat = compat_list()[bytes_name(&b, compat_name, count((const void *const *)compat_list()))];
    uint8_t how = bytes_next(&b); /* 0: as plain as the peers want it */
    take_policy(&c, &b, (how & 4) != 0);
    if ((how & 8) == 0)
        c.groups[0] =
            (struct node_group_spec){.count = 1 + bytes_below(&b, 6), .gpus = 1 + bytes_below(&b, 8), .gpu = ""};
    else
        case_take_cluster(&c, &b, (how & 1) != 0, true);
    if ((how & 2) != 0)
        case_take_model(&c, &b);
    case_take_jobs(&c, &b, true);
    c.may_stay = true; /* where the peer lets jobs wait for ever, so does its driver */
    run_and_check(&c);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* n jobs together go at 1/n .. 1 of their speed each, by their numbers; 4 GiB a job. */
static void toy_rates(void *self, const uint32_t *jobs, uint32_t n, double *out)
{
    (void)self;
    for (uint32_t i = 0; i < n; i++)
        out[i] = n == 1 ? 1.0 : (1.0 + jobs[i] % 3) / (double)(n + jobs[i] % 3);
}

static const char *toy_refusal(void *self, const uint32_t *jobs, uint32_t n, uint64_t gpu_memory_kib)
{
    (void)self;
    for (uint32_t i = 0; i < n; i++)
        if (jobs[i] % 7 == 6)
            return "no_profile";
    return gpu_memory_kib > 0 && n * (UINT64_C(4) << 20) > gpu_memory_kib ? "gpu_memory" : NULL;
}

/* A policy that takes its verbs from bytes: whatever it tries, the books must balance. At the end of each round it starts what it can, so that
 * all jobs come to an end.
 */
struct anything {
    uint32_t jobs[CASE_JOBS], n;
    struct bytes verbs;
};

static struct bytes all_verbs; /* of the present case */

static int anything_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct anything *p = self;
    (void)s, (void)v, (void)err;
    p->verbs = all_verbs;
    return 0;
}

static void anything_submit(void *self, struct sched *s, uint32_t job)
{
    struct anything *p = self;
    (void)s;
    p->jobs[p->n++] = job;
}

static void anything_gone(void *self, struct sched *s, uint32_t job)
{
    struct anything *p = self;
    uint32_t k = 0;
    fuzz_assert(sched_start(s, job) == SCHED_E_CALL, "a verb outside schedule");
    for (uint32_t i = 0; i < p->n; i++)
        if (p->jobs[i] != job)
            p->jobs[k++] = p->jobs[i];
    p->n = k;
}

static void anything_requeued(void *self, struct sched *s, uint32_t job, enum cause why)
{
    (void)self, (void)why;
    fuzz_assert(sched_is_queued(s, job), "job %u came back but does not wait", job);
}

static void verb(struct anything *p, struct sched *s)
{
    uint8_t kind = bytes_next(&p->verbs);
    uint32_t i = bytes_next(&p->verbs), job = p->jobs[i % p->n];
    uint32_t other[4] = {job, p->jobs[(i + (kind >> 4)) % p->n], p->jobs[(i + 1) % p->n], p->jobs[(i + 2) % p->n]};
    double rates[4];
    int code = SCHED_OK;
    switch (kind & 15) {
    case 0:
        code = sched_start(s, job);
        break;
    case 1:
    case 2:
        code = sched_preempt(s, job);
        break;
    case 3:
        code = sched_move(s, job);
        break;
    case 4:
    case 5:
    case 6:
        code = sched_join(s, job, other[1]);
        break;
    case 7:
    case 8:
        code = sched_group(s, other, 1 + (kind >> 4) % 4);
        break;
    case 9:
        code = sched_restore(s, job);
        break;
    case 10:
        code = sched_reserve(s, i % 16, kind >> 4);
        break;
    case 11:
        sched_release(s);
        break;
    case 12:
        code = sched_wake_at(s, sched_now(s) > SCHED_NEVER - 512 ? SCHED_NEVER : sched_now(s) + 1 + kind);
        break;
    case 13: {
        const struct place places[2] = {{i % 8, 1 + kind / 64}, {i / 8 % 8, kind / 16 % 4}};
        code = sched_start_at(s, job, places, 1 + (kind >> 4 & 1));
        break;
    }
    case 14:
        code = sched_group_rates(s, other, 1 + (kind >> 4) % 4, rates);
        break;
    default:
        code = sched_probe(s, job);
    }
    fuzz_assert(code >= SCHED_OK && code <= SCHED_E_ARGUMENT, "%d", code);
}

static void anything_schedule(void *self, struct sched *s)
{
    struct anything *p = self;
    uint32_t n = p->n > 0 ? bytes_next(&p->verbs) & 31 : 0;
    while (n-- > 0 && p->verbs.left > 0)
        verb(p, s);
    sched_release(s);
    for (uint32_t i = 0; i < p->n; i++)
        if (sched_is_queued(s, p->jobs[i]))
            sched_start(s, p->jobs[i]);
}

static const struct policy_ops anything = {.abi_version = BRAID_POLICY_ABI,
                                           .size = sizeof(struct policy_ops),
                                           .name = "anything",
                                           .summary = "does what the bytes say",
                                           .source = "test",
                                           .knows = KNOWS_PROFILE,
                                           .state_size = sizeof(struct anything),
                                           .init = anything_init,
                                           .on_submit = anything_submit,
                                           .on_finish = anything_gone,
                                           .on_requeue = anything_requeued,
                                           .schedule = anything_schedule};

void fuzz_groups(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static struct fuzz_case c;
    static struct policy_ops over_all;
    struct bytes b = {bytes, n};
    uint8_t how = bytes_next(&b);
    const struct sharing_model toy = {.most = 2 + how % 7, .rates = toy_rates, .refusal = toy_refusal};
    size_t n_verbs = b.left / 2;
    all_verbs = (struct bytes){b.at, n_verbs};
    b = (struct bytes){b.at + n_verbs, b.left - n_verbs};
    case_init(&c);
    over_all = anything;
    over_all.scope = (how & 64) != 0 ? SCOPE_CLUSTER : SCOPE_VC;
    case_policy(&c, &over_all);
    case_placement(&c, placement_list()[bytes_name(&b, placement_name, count((const void *const *)placement_list()))]);
    case_take_cluster(&c, &b, true, false);
    case_take_model(&c, &b);
    case_take_jobs(&c, &b, false);
    if ((how & 128) == 0)
        c.spec.sharing = &toy;
    run_and_check(&c);
}

#include "case.h"

#include "base/number.h"
#include "fuzz.h"
#include "policies/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const VC_NAMES[] = {"a", "b", "c", "d", "elsewhere"}; /* the last is never listed */
static const char *const USERS[] = {"u", "v", "w"};
static const char *const TYPES[] = {"", "v100", "a100", "tpu"};
static const char *const MODELS[] = {"resnet50", "bert", "vgg"};
enum { N_VCS = 5, N_USERS = 3, N_TYPES = 4, N_MODELS = 3 };

void case_init(struct fuzz_case *c)
{
    memset(c, 0, sizeof *c);
    c->groups[0] = (struct node_group_spec){.count = 2, .gpus = 4, .gpu = ""};
    c->cluster = (struct cluster_spec){.groups = c->groups, .n_groups = 1, .vcs = c->vcs};
    c->spec = (struct run_spec){.cluster = &c->cluster,
                                .workload = &c->w,
                                .measure.to_ns = RUN_NO_LIMIT,
                                .stop = {RUN_NO_LIMIT, UINT32_MAX},
                                .seed = 1,
                                .check = true};
    case_policy(c, policy_find("fifo"));
    case_placement(c, placement_find("consolidate"));
}

void case_fini(struct fuzz_case *c)
{
    run_result_fini(&c->r);
    workload_fini(&c->w);
}

/* ---- parameters -------------------------------------------------------------------------------------- */

static double *list_new(struct fuzz_case *c)
{
    fuzz_assert(c->n_lists < 2 * CASE_PARAMS, "%u lists", c->n_lists);
    return c->lists[c->n_lists++];
}

static void param_default(struct fuzz_case *c, const struct param_spec *p, union param *v)
{
    const char *def = p->def != NULL ? p->def : p->type == PARAM_NUMBERS ? "[]" : p->type == PARAM_TIME ? "1 s" : "1";
    size_t n = strlen(def);
    bool good = true;
    switch (p->type) {
    case PARAM_INT:
        good = number_parse_i64(def, n, &v->i);
        break;
    case PARAM_NUMBER:
        good = number_parse_double(def, n, &v->f);
        break;
    case PARAM_TIME:
        good = number_parse_time(def, n, &v->i);
        break;
    case PARAM_BOOL:
        v->b = strcmp(def, "true") == 0;
        break;
    case PARAM_TEXT:
    case PARAM_PATH:
    case PARAM_CHOICE:
        v->s = def;
        break;
    case PARAM_NUMBERS: /* "[1, 2]" */
        v->list.n = 0;
        double *list = list_new(c);
        for (const char *at = def + 1; good && *at != ']' && v->list.n < CASE_LIST; at += *at == ',') {
            size_t length = strcspn(at, ",]");
            good = number_parse_double(at + strspn(at, " "), length - strspn(at, " "), &list[v->list.n++]);
            at += length;
        }
        v->list.v = list;
        break;
    }
    fuzz_assert(good, "default of %s: %s", p->name, def);
}

static void params_default(struct fuzz_case *c, const struct param_spec *specs, size_t n, union param *v)
{
    fuzz_assert(n <= CASE_PARAMS, "%zu parameters", n);
    for (size_t i = 0; i < n; i++)
        param_default(c, &specs[i], &v[i]);
}

void case_policy(struct fuzz_case *c, const struct policy_ops *ops)
{
    c->spec.policy = (struct policy_spec){.ops = ops, .params = c->params, .label = ops->name};
    params_default(c, ops->params, ops->n_params, c->params);
}

void case_placement(struct fuzz_case *c, const struct placement_ops *ops)
{
    c->spec.placement = (struct placement_spec){ops, c->placement_params};
    params_default(c, ops->params, ops->n_params, c->placement_params);
}

union param *case_param(struct fuzz_case *c, const char *name)
{
    const struct policy_ops *ops = c->spec.policy.ops;
    for (size_t i = 0; i < ops->n_params; i++)
        if (strcmp(ops->params[i].name, name) == 0)
            return &c->params[i];
    fuzz_fail(__FILE__, __LINE__, "parameter", "%s has no %s", ops->name, name);
}

/* As the config would let it pass: in its range. */
static double in_range(const struct param_spec *p, double v)
{
    bool has_range = p->min != 0 || p->max != 0;
    return !has_range ? v : v < p->min ? p->min : v > p->max ? p->max : v;
}

static const char *choice(const char *choices, uint32_t k)
{
    static char held[64][32]; /* a literal each: policies keep the pointer */
    while (k-- > 0)
        choices = strchr(choices, '|') + 1;
    size_t n = strcspn(choices, "|");
    fuzz_assert(n < sizeof held[0], "%s", choices);
    for (int i = 0; i < 64; i++) {
        if (held[i][0] == '\0')
            memcpy(held[i], choices, n);
        if (strlen(held[i]) == n && memcmp(held[i], choices, n) == 0)
            return held[i];
    }
    fuzz_fail(__FILE__, __LINE__, "room", "more than 64 choices");
}

static double small_number(struct bytes *b)
{
    uint8_t k = bytes_next(b);
    return k < 64 ? k : k < 128 ? (k - 64) * 0.125 : k < 192 ? (k - 128) * 60.0 : (double)bytes_take(b, 4);
}

void case_take_params(struct fuzz_case *c, struct bytes *b, const struct param_spec *specs, size_t n, union param *v)
{
    for (size_t i = 0; i < n; i++) {
        const struct param_spec *p = &specs[i];
        uint8_t k = bytes_next(b);
        if (k < 100) /* the default */
            continue;
        switch (p->type) {
        case PARAM_INT:
            v[i].i = (int64_t)in_range(p, (double)(bytes_next(b) & 15));
            break;
        case PARAM_NUMBER:
            v[i].f = in_range(p, small_number(b));
            break;
        case PARAM_TIME: {
            int64_t t = bytes_time(b, false);
            v[i].i = (int64_t)(in_range(p, (double)t / 1e9) * 1e9);
            break;
        }
        case PARAM_BOOL:
            v[i].b = !v[i].b;
            break;
        case PARAM_CHOICE: {
            uint32_t choices = 1;
            for (const char *at = p->choices; (at = strchr(at, '|')) != NULL; at++)
                choices++;
            v[i].s = choice(p->choices, bytes_below(b, choices));
            break;
        }
        case PARAM_NUMBERS: {
            double *list = list_new(c);
            double at = 0;
            v[i].list.n = bytes_below(b, CASE_LIST + 1);
            for (uint32_t m = 0; m < v[i].list.n; m++) {
                double next = small_number(b);
                list[m] = in_range(p, (bytes_next(b) & 7) == 7 ? next : at + next);
                at = list[m];
            }
            v[i].list.v = list;
            break;
        }
        case PARAM_TEXT:
        case PARAM_PATH: /* what files hold is for other targets */
            break;
        }
    }
}

/* ---- the rest of a case ------------------------------------------------------------------------------- */

static void take_vc(struct fuzz_case *c, struct bytes *b, uint32_t v, uint32_t nodes, uint32_t gpus, bool is_whole)
{
    struct vc_spec *vc = &c->vcs[v];
    uint8_t how = bytes_next(b);
    *vc = (struct vc_spec){.name = VC_NAMES[v],
                           .mode = (how & 1) != 0 ? VC_GPUS : VC_NODES,
                           .shrink = (how & 2) != 0 ? VC_PREEMPT : VC_DRAIN,
                           .changes = c->changes[v]};
    vc->amount = bytes_below(b, (vc->mode == VC_GPUS ? gpus : nodes) + 1);
    if (vc->mode != VC_GPUS)
        return;
    vc->n_changes = how >> 2 & 7;
    vc->n_changes = vc->n_changes > CASE_CHANGES ? 0 : vc->n_changes;
    int64_t at = -1;
    for (uint32_t i = 0; i < vc->n_changes; i++) {
        int64_t step = 1 + bytes_time(b, is_whole);
        if (__builtin_add_overflow(at, step, &at)) {
            vc->n_changes = i;
            break;
        }
        c->changes[v][i] = (struct vc_change){at, bytes_below(b, gpus + 2)};
    }
    c->may_stay |= vc->n_changes > 0;
}

void case_take_cluster(struct fuzz_case *c, struct bytes *b, bool with_vcs, bool is_whole)
{
    uint8_t how = bytes_next(b);
    uint32_t nodes = 0, gpus = 0;
    c->cluster.n_groups = 1u + (how & 3u) % CASE_GROUPS;
    c->cluster.nodes_per_rack = how >> 2 & 3;
    for (uint32_t i = 0; i < c->cluster.n_groups; i++) {
        struct node_group_spec *g = &c->groups[i];
        uint8_t shape = bytes_next(b);
        *g = (struct node_group_spec){.count = 1 + (shape & 3), .gpus = 1 + (shape >> 2 & 7), .gpu = ""};
        if ((shape & 32) != 0)
            g->gpu = TYPES[bytes_below(b, N_TYPES - 1)];
        if ((shape & 64) != 0) {
            g->cpu_milli = 1000 * bytes_next(b);
            g->memory_kib = UINT64_C(1048576) * bytes_next(b);
        }
        if ((shape & 128) != 0) {
            g->gpu_memory_kib = UINT64_C(1048576) * bytes_next(b);
            g->gpus = bytes_below(b, 80); /* 0, and more than a word of the bit map */
        }
        nodes += g->count;
        gpus += g->count * g->gpus;
    }
    if (!with_vcs)
        return;
    c->cluster.n_vcs = (how >> 4) % (CASE_VCS + 1);
    for (uint32_t v = 0; v < c->cluster.n_vcs; v++)
        take_vc(c, b, v, nodes, gpus, is_whole);
}

static void take_overhead(struct fuzz_case *c, struct bytes *b, int which, struct overhead_rule *rule)
{
    uint8_t how = bytes_next(b);
    if (how == 0)
        return;
    rule->constant_ns = bytes_time(b, false) % (365 * 86400 * CASE_S);
    if ((how & 3) == 3) {
        for (uint32_t i = 0; i < 3; i++)
            c->rows[which][i] =
                (struct overhead_row){1 + i * 2, i == 1 ? MODELS[0] : NULL, rule->constant_ns / (i + 1)};
        rule->rows = c->rows[which];
        rule->n_rows = 3;
    }
}

void case_take_model(struct fuzz_case *c, struct bytes *b)
{
    uint8_t how = bytes_next(b);
    take_overhead(c, b, 0, &c->spec.overhead.start);
    take_overhead(c, b, 1, &c->spec.overhead.restart);
    c->spec.estimate.source = (how & 3) == 0   ? ESTIMATE_EXACT
                              : (how & 3) == 1 ? ESTIMATE_TRACE
                              : (how & 3) == 2 ? ESTIMATE_NOISE
                                               : ESTIMATE_USER_MEAN;
    c->spec.estimate.on_exceed = (how & 4) != 0 ? ESTIMATE_KILL : ESTIMATE_RUN_ON;
    c->spec.estimate.sigma = (how & 3) == 2 ? small_number(b) / 8 : 0;
    if ((how & 8) != 0)
        c->spec.stop.at_ns = bytes_time(b, false);
    if ((how & 16) != 0)
        c->spec.stop.queue = bytes_next(b);
    c->spec.seed = how >> 5;
}

void case_take_jobs(struct fuzz_case *c, struct bytes *b, bool is_whole)
{
    uint8_t has = bytes_next(b);
    int64_t at = 0;
    while (b->left > 0 && c->n_jobs < CASE_JOBS) {
        struct fuzz_job *j = &c->jobs[c->n_jobs];
        uint8_t how = bytes_next(b);
        *j = (struct fuzz_job){.estimate_ns = WORKLOAD_ABSENT, .start_ns = WORKLOAD_ABSENT, .gpu_type = NAMES_NONE};
        if ((how & 3) != 0) { /* else: submitted with the last one */
            int64_t step = bytes_time(b, is_whole), sum;
            at = __builtin_add_overflow(at, step, &sum) ? at : sum;
        }
        j->submit_ns = at;
        j->duration_ns = bytes_time(b, is_whole);
        j->gpus = 1 + (how >> 2 & 7);
        if ((how & 32) != 0)
            j->gpus = 1 + bytes_below(b, 40);
        j->vc = c->cluster.n_vcs > 0 ? (how >> 6) % c->cluster.n_vcs : 0;
        uint8_t more = has != 0 ? bytes_next(b) : 0;
        j->user = more % N_USERS;
        j->model = (more >> 2) % N_MODELS;
        if ((has & 1) != 0 && (more & 16) != 0)
            j->estimate_ns = bytes_time(b, is_whole);
        if ((has & 2) != 0 && (more & 32) != 0)
            j->start_ns = bytes_time(b, is_whole);
        if ((has & 4) != 0)
            j->priority = (double)(int8_t)bytes_next(b);
        if ((has & 8) != 0) {
            j->cpu_milli = 500 * bytes_next(b);
            j->mem_kib = UINT64_C(1048576) * bytes_next(b);
        }
        if ((has & 16) != 0 && (more & 64) != 0)
            j->gpu_type = 1 + bytes_below(b, N_TYPES - 1);
        if ((more & 128) != 0)
            j->vc = N_VCS - 1;
        c->n_jobs++;
    }
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static uint32_t name_of(struct names *names, const char *text)
{
    uint32_t id = names_add(names, text, strlen(text));
    fuzz_assert(id != NAMES_NONE, "out of memory");
    return id;
}

/* For people who look at a finding. */
static void tell(const struct fuzz_case *c)
{
    const struct run_spec *r = &c->spec;
    fprintf(stderr,
            "policy %s, placement %s, start_overhead %g s, restart_overhead %g s, estimate %d on_exceed %d, stop at %g "
            "s, queue %u\n",
            r->policy.ops->name, r->placement.ops->name, (double)r->overhead.start.constant_ns * 1e-9,
            (double)r->overhead.restart.constant_ns * 1e-9, r->estimate.source, r->estimate.on_exceed,
            (double)r->stop.at_ns * 1e-9, r->stop.queue);
    for (size_t i = 0; i < r->policy.ops->n_params; i++)
        if (r->policy.ops->params[i].type == PARAM_CHOICE)
            fprintf(stderr, "  %s: %s\n", r->policy.ops->params[i].name, c->params[i].s);
        else if (r->policy.ops->params[i].type == PARAM_NUMBER)
            fprintf(stderr, "  %s: %g\n", r->policy.ops->params[i].name, c->params[i].f);
        else if (r->policy.ops->params[i].type != PARAM_NUMBERS)
            fprintf(stderr, "  %s: %lld\n", r->policy.ops->params[i].name, (long long)c->params[i].i);
    for (uint32_t i = 0; i < c->cluster.n_groups; i++)
        fprintf(stderr, "%u nodes of %u '%s' GPUs, %u milli-CPU, %llu KiB\n", c->groups[i].count, c->groups[i].gpus,
                c->groups[i].gpu, c->groups[i].cpu_milli, (unsigned long long)c->groups[i].memory_kib);
    for (uint32_t v = 0; v < c->cluster.n_vcs; v++) {
        fprintf(stderr, "%s: %u %s\n", c->vcs[v].name, c->vcs[v].amount, c->vcs[v].mode == VC_GPUS ? "GPUs" : "nodes");
        for (uint32_t i = 0; i < c->vcs[v].n_changes; i++)
            fprintf(stderr, "  from %.9f s %u\n", (double)c->changes[v][i].at_ns * 1e-9, c->changes[v][i].gpus);
    }
    for (uint32_t i = 0; i < c->n_jobs; i++) {
        const struct fuzz_job *j = &c->jobs[i];
        fprintf(stderr,
                "job %u: submit %lld, duration %lld ns, %u GPUs of type %d, %u milli-CPU, %llu KiB, vc %s, user %u, "
                "priority %g\n",
                i, (long long)j->submit_ns, (long long)j->duration_ns, j->gpus, (int)j->gpu_type, j->cpu_milli,
                (unsigned long long)j->mem_kib, VC_NAMES[j->vc], j->user, j->priority);
    }
}

/* From before the submission to some run times after it, or at the end of time. */
static int64_t deadline_of(const struct fuzz_job *j, uint32_t i)
{
    int64_t after;
    return __builtin_mul_overflow(j->duration_ns, (int64_t)(i % 5), &after) ||
                   __builtin_add_overflow(j->submit_ns, after - 1000000000, &after)
               ? INT64_MAX
               : after;
}

void case_prepare(struct fuzz_case *c)
{
    if (getenv("BRAID_FUZZ_TELL") != NULL)
        tell(c);
    const struct workload_columns want = {.start = true,
                                          .estimate = true,
                                          .priority = true,
                                          .deadline = true,
                                          .model = true,
                                          .cpu = true,
                                          .memory = true,
                                          .gpu_type = true};
    workload_init(&c->w);
    fuzz_assert(workload_alloc(&c->w, c->n_jobs, &want, &c->err) == BRAID_OK, "%s", c->err.message);
    struct workload *w = &c->w;
    w->id_text = malloc((size_t)c->n_jobs * 8 + 1);
    fuzz_assert(w->id_text != NULL, "out of memory");
    for (uint32_t i = 0; i < c->n_jobs; i++) {
        const struct fuzz_job *j = &c->jobs[i];
        w->submit_ns[i] = j->submit_ns;
        w->duration_ns[i] = j->duration_ns;
        w->estimate_ns[i] = j->estimate_ns;
        w->start_ns[i] = j->start_ns;
        w->gpus[i] = j->gpus;
        w->cpu_milli[i] = j->cpu_milli;
        w->mem_kib[i] = j->mem_kib;
        w->priority[i] = j->priority;
        w->deadline_ns[i] =
            i % 3 == 0 ? WORKLOAD_ABSENT : deadline_of(j, i); /* no bytes for it: the corpus keeps its meaning */
        w->vc[i] = name_of(&w->vcs, VC_NAMES[j->vc]);
        w->user[i] = name_of(&w->users, USERS[j->user]);
        w->model[i] = name_of(&w->models, MODELS[j->model]);
        w->gpu_type[i] = j->gpu_type == NAMES_NONE ? NAMES_NONE : name_of(&w->gpu_types, TYPES[j->gpu_type]);
        w->id_at[i + 1] = w->id_at[i] + (uint64_t)sprintf(w->id_text + w->id_at[i], "%u", i);
    }
}

/* Watchers: nothing of what is told may lie in the past, and the segments of a job follow each other without a gap. */
enum {
    LEVELS_MOST = 50000
}; /* a quantum of a nanosecond goes on for years: that is what was asked for, and enough has been seen */

struct watched {
    const struct fuzz_case *c;
    volatile int has_enough; /* cancels the run */
    uint32_t n_levels;
    int64_t now_ns, until_ns[CASE_JOBS];
    int64_t held_ns[CASE_JOBS], waited_ns[CASE_JOBS];
};

static void watch_segment(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind,
                          double rate, uint32_t group, const struct span *spans, uint32_t n_spans)
{
    struct watched *w = self;
    (void)group;
    fuzz_assert(begin_ns < end_ns && begin_ns == w->until_ns[job], "job %u: %lld, told up to %lld", job,
                (long long)begin_ns, (long long)w->until_ns[job]);
    w->until_ns[job] = end_ns;
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < n_spans; i++)
        gpus += spans[i].gpu_count;
    fuzz_assert(gpus == (kind == SEGMENT_QUEUED ? 0 : w->c->w.gpus[job]), "job %u: %u GPUs", job, gpus);
    fuzz_assert(rate >= 0 && rate <= 1, "job %u: rate %g", job, rate);
    if (kind == SEGMENT_QUEUED)
        w->waited_ns[job] += end_ns - begin_ns;
    else
        w->held_ns[job] += end_ns - begin_ns;
}

static void watch_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc,
                           const char *why)
{
    struct watched *w = self;
    (void)kind, (void)vc;
    fuzz_assert(at_ns >= w->now_ns && why != NULL && (job < w->c->n_jobs || job == UINT32_MAX),
                "at %lld after %lld, job %u", (long long)at_ns, (long long)w->now_ns, job);
    w->now_ns = at_ns;
}

static void watch_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct watched *w = self;
    (void)instance;
    fuzz_assert(levels->queued_jobs + levels->running_jobs <= w->c->n_jobs, "%u + %u jobs", levels->queued_jobs,
                levels->running_jobs);
    fuzz_assert(at_ns >= w->now_ns, "at %lld after %lld", (long long)at_ns, (long long)w->now_ns);
    w->has_enough = ++w->n_levels > LEVELS_MOST;
}

void case_run_once(struct fuzz_case *c)
{
    static struct watched w;
    memset(&w, 0, sizeof w);
    w.c = c;
    for (uint32_t j = 0; j < c->n_jobs; j++)
        w.until_ns[j] = c->jobs[j].submit_ns;
    c->spec.cancel = &w.has_enough;
    if (c->spec.compat == NULL) /* a peer's times are its own */
        c->spec.watch = (struct run_watch){&w, watch_segment, watch_decision, watch_levels};
    c->code = run(&c->r, &c->spec, &c->err);
    for (uint32_t i = 0; c->code == BRAID_OK && c->spec.compat == NULL && i < c->n_jobs; i++) {
        const struct job *j = &c->r.jobs[i];
        fuzz_assert(w.held_ns[i] == j->run_ns, "job %u: segments of %lld ns, run_time %lld", i, (long long)w.held_ns[i],
                    (long long)j->run_ns);
        if (j->end_ns >= 0)
            fuzz_assert(w.waited_ns[i] == j->end_ns - c->jobs[i].submit_ns - j->run_ns, "job %u waited %lld ns", i,
                        (long long)w.waited_ns[i]);
    }
}

/* Failures that are answers: what a policy that never comes to an end is told. */
static bool is_fair_failure(const char *message)
{
    return strstr(message, "makes no progress") != NULL || strstr(message, "wakes itself again and again") != NULL ||
           strstr(message, "never gets past") != NULL || strstr(message, "does not settle") != NULL ||
           strcmp(message, "interrupted") == 0;
}

static void check_job(const struct fuzz_case *c, uint32_t i)
{
    const struct job *j = &c->r.jobs[i];
    const struct fuzz_job *f = &c->jobs[i];
    fuzz_assert(j->status < JOB_STATUSES && j->reason != NULL, "job %u", i);
    fuzz_assert(j->overhead_ns >= 0 && j->lost_ns >= 0 && j->overhead_ns + j->lost_ns <= j->run_ns, "job %u", i);
    if (j->status == STATUS_FINISHED || j->status == STATUS_KILLED) {
        fuzz_assert(j->start_ns >= f->submit_ns && j->end_ns >= j->start_ns, "job %u: start %lld, end %lld", i,
                    (long long)j->start_ns, (long long)j->end_ns);
        fuzz_assert(j->end_ns - f->submit_ns >= j->run_ns, "job %u", i);
    }
    if (j->status == STATUS_REJECTED)
        fuzz_assert(j->start_ns < 0 && j->run_ns == 0 && j->reason[0] != '\0', "job %u", i);
    int64_t productive = j->run_ns - j->overhead_ns - j->lost_ns;
    bool is_inexact = j->end_ns >= INT64_MAX - 1 || c->spec.compat != NULL; /* some peers end jobs with work left */
    if (j->status == STATUS_FINISHED && c->spec.sharing == NULL && !is_inexact)
        fuzz_assert(productive == f->duration_ns || f->duration_ns > INT64_C(1) << 53, "job %u: %lld of %lld", i,
                    (long long)productive, (long long)f->duration_ns);
    if (j->status == STATUS_FINISHED && !is_inexact && f->duration_ns < INT64_C(1) << 53)
        fuzz_assert(productive >= f->duration_ns, "job %u is faster than alone: %lld of %lld", i, (long long)productive,
                    (long long)f->duration_ns);
    if (j->status == STATUS_UNFINISHED || j->status == STATUS_NOT_SUBMITTED)
        fuzz_assert(c->may_stay || c->spec.stop.at_ns != RUN_NO_LIMIT || c->spec.stop.queue != UINT32_MAX,
                    "job %u never ended", i);
}

void case_check(struct fuzz_case *c)
{
    if (c->code != BRAID_OK) {
        fuzz_assert(c->err.code == c->code && c->err.message[0] != '\0', "%d", c->code);
        fuzz_assert(c->code == BRAID_BAD_INPUT || is_fair_failure(c->err.message), "%s", c->err.message);
        return;
    }
    fuzz_assert(c->r.n_jobs == c->n_jobs, "%u jobs of %u", c->r.n_jobs, c->n_jobs);
    for (uint32_t i = 0; i < c->n_jobs; i++)
        check_job(c, i);
}

void case_check_again(struct fuzz_case *c)
{
    struct run_result first = c->r;
    struct error err = {0};
    if (c->code != BRAID_OK)
        return;
    c->spec.check = false;
    c->spec.watch = (struct run_watch){0};
    int code = run(&c->r, &c->spec, &err);
    fuzz_assert(code == BRAID_OK, "%s", err.message);
    for (uint32_t i = 0; i < c->n_jobs; i++) {
        const struct job *a = &first.jobs[i], *b = &c->r.jobs[i];
        fuzz_assert(a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->run_ns == b->run_ns &&
                        a->overhead_ns == b->overhead_ns && a->status == b->status &&
                        a->preemptions == b->preemptions && a->moves == b->moves,
                    "job %u: another answer the second time", i);
    }
    fuzz_assert(first.totals.events == c->r.totals.events && first.totals.decisions == c->r.totals.decisions,
                "other counts the second time");
    run_result_fini(&first);
}

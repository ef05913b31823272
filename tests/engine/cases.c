#include "tests/engine/cases.h"
#include "tests/dice.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

uint64_t cases_roll(uint64_t *state, uint64_t sides)
{
    return (dice_next(state) * 0x2545f4914f6cdd1du >> 33) % sides;
}

static void add_vcs(struct test_case *c, const struct cases_shape *z, uint64_t *dice)
{
    static const char *const names[CASE_VCS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static struct vc_change changes[CASE_VCS][4];
    uint32_t all = z->nodes * z->gpus;
    c->cluster.n_vcs = z->n_vcs;
    for (uint32_t v = 0; v < z->n_vcs; v++) {
        struct vc_spec *vc = &c->vcs[v];
        *vc = (struct vc_spec){.name = names[v], .mode = VC_NODES, .amount = z->nodes / z->n_vcs};
        if (!z->quotas)
            continue;
        vc->mode = VC_GPUS;
        vc->amount = all * 2 / 3;
        vc->shrink = v % 2 == 0 ? VC_DRAIN : VC_PREEMPT;
        vc->changes = changes[v];
        vc->n_changes = 4;
        for (uint32_t i = 0; i < 4; i++) { /* the last one gives back what it needs */
            int64_t at = (z->span_ns / z->grain_ns * (i + 1) / 5 + (int64_t)v) * z->grain_ns;
            changes[v][i] = (struct vc_change){at, i == 3 ? all * 2 / 3 : (uint32_t)cases_roll(dice, all)};
        }
    }
    for (uint32_t j = 0; j < c->n_jobs && z->n_vcs > 0; j++)
        c->jobs[j].vc = names[cases_roll(dice, z->n_vcs)];
}

struct test_case *cases_create(const struct cases_shape *z, uint64_t seed)
{
    static const char *const users[] = {"u0", "u1", "u2", "u3", "u4"};
    struct test_case *c = case_create(z->nodes, z->gpus);
    uint64_t dice = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < 8; i++)
        cases_roll(&dice, 2);
    for (uint32_t j = 0; j < z->jobs; j++) {
        uint32_t k = case_job(c, 0, 0, 1 + (uint32_t)cases_roll(&dice, cases_roll(&dice, 2) == 0 ? 2 : z->largest));
        struct case_job *job = &c->jobs[k];
        uint64_t longest = (uint64_t)(z->longest_ns / z->grain_ns) + 1;
        job->submit_ns = (int64_t)cases_roll(&dice, (uint64_t)(z->span_ns / z->grain_ns) + 1) * z->grain_ns;
        job->duration_ns = cases_roll(&dice, 10) == 0 ? 0 : (int64_t)cases_roll(&dice, longest) * z->grain_ns;
        job->estimate_ns = job->duration_ns / 2 + (int64_t)cases_roll(&dice, longest) * z->grain_ns;
        job->user = users[cases_roll(&dice, 5)];
        job->priority = (double)cases_roll(&dice, 5) - 2;
        job->recorded_start_ns = job->submit_ns + (int64_t)cases_roll(&dice, longest) * z->grain_ns;
    }
    case_sort(c);
    add_vcs(c, z, &dice);
    return c;
}

/* ---- the watcher ------------------------------------------------------------------------------------ */

static struct told table; /* a test program runs each test in a process of its own */

static void tell_segment(void *self, uint32_t job, int64_t begin_ns, int64_t end_ns, enum segment_kind kind,
                         double rate, uint32_t group, const struct span *spans, uint32_t n_spans)
{
    (void)group;
    struct told *t = self;
    cr_assert_lt(t->n_segments, (uint32_t)TOLD_MAX);
    cr_assert_leq(n_spans, 16u);
    struct told_segment *s = &t->segments[t->n_segments++];
    *s = (struct told_segment){
        .job = job, .begin = begin_ns, .end = end_ns, .kind = kind, .rate = rate, .n_spans = n_spans};
    if (n_spans > 0)
        memcpy(s->spans, spans, n_spans * sizeof *spans);
}

static void tell_decision(void *self, int64_t at_ns, enum decision_kind kind, uint32_t job, uint32_t vc,
                          const char *why)
{
    struct told *t = self;
    cr_assert_lt(t->n_decisions, (uint32_t)TOLD_MAX);
    struct told_decision *d = &t->decisions[t->n_decisions++];
    *d = (struct told_decision){.at = at_ns, .kind = kind, .job = job, .vc = vc};
    snprintf(d->why, sizeof d->why, "%s", why);
}

static void tell_levels(void *self, int64_t at_ns, uint32_t instance, const struct run_levels *levels)
{
    struct told *t = self;
    cr_assert_lt(t->n_levels, (uint32_t)TOLD_MAX);
    t->levels[t->n_levels++] = (struct told_levels){at_ns, instance, *levels};
}

struct told *cases_watch(struct test_case *c)
{
    table.n_segments = table.n_decisions = table.n_levels = 0;
    c->spec.watch =
        (struct run_watch){.self = &table, .segment = tell_segment, .decision = tell_decision, .levels = tell_levels};
    return &table;
}

const char *told_at(const struct told *t, int64_t at_ns)
{
    static char text[1024];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < t->n_decisions && n < sizeof text; i++) {
        const struct told_decision *d = &t->decisions[i];
        if (d->at != at_ns)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", decision_kind_text(d->kind));
        if (d->job != UINT32_MAX && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, " %u", d->job);
    }
    return text;
}

/* ---- comparing --------------------------------------------------------------------------------------- */

static int64_t moved(int64_t t, int64_t shift, int64_t scale)
{
    return t < 0 ? t : t * scale + shift;
}

bool cases_same(const struct run_result *a, const struct run_result *b, const uint32_t *map, int64_t shift,
                int64_t scale)
{
    for (uint32_t j = 0; j < a->n_jobs; j++) {
        uint32_t k = map != NULL ? map[j] : j;
        const struct job *x = &a->jobs[j], *y = &b->jobs[k];
        if (moved(x->start_ns, shift, scale) == y->start_ns && moved(x->end_ns, shift, scale) == y->end_ns &&
            x->run_ns * scale == y->run_ns && x->overhead_ns * scale == y->overhead_ns &&
            x->preemptions == y->preemptions && x->moves == y->moves && x->restarts == y->restarts &&
            x->status == y->status && strcmp(x->reason, y->reason) == 0)
            continue;
        fprintf(stderr,
                "job %u is now job %u: start %lld %lld, end %lld %lld, run %lld %lld, preemptions %u %u, moves %u %u, "
                "status %s %s\n",
                j, k, (long long)x->start_ns, (long long)y->start_ns, (long long)x->end_ns, (long long)y->end_ns,
                (long long)x->run_ns, (long long)y->run_ns, x->preemptions, y->preemptions, x->moves, y->moves,
                job_status_text(x->status), job_status_text(y->status));
        return false;
    }
    return true;
}

/* ---- scripts ------------------------------------------------------------------------------------------- */

static void (*script)(struct sched *s, uint32_t round);
uint32_t cases_n_rounds;

static void script_schedule(void *self, struct sched *s)
{
    (void)self;
    script(s, cases_n_rounds++);
}

struct policy_ops cases_script(void (*f)(struct sched *s, uint32_t round))
{
    script = f;
    cases_n_rounds = 0;
    return (struct policy_ops){.abi_version = BRAID_POLICY_ABI,
                               .size = sizeof(struct policy_ops),
                               .name = "scripted",
                               .summary = "",
                               .source = "",
                               .state_size = 1,
                               .schedule = script_schedule};
}

void cases_use(struct test_case *c, const struct policy_ops *ops)
{
    c->spec.policy = (struct policy_spec){.ops = ops, .label = "scripted"};
}

void cases_run_script(struct test_case *c, void (*f)(struct sched *s, uint32_t round))
{
    struct policy_ops ops = cases_script(f);
    cases_use(c, &ops);
    case_run(c);
    cr_assert_gt(cases_n_rounds, 0u, "it was never asked");
}

void cases_start_all(struct sched *s)
{
    for (uint32_t j = 0; j < sched_n_jobs(s); j++)
        if (sched_is_queued(s, j))
            sched_start(s, j);
}

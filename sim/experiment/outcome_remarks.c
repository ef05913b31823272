/* outcome_remarks.c - what should be said of a run that went well, and that its numbers do not say. */
#include "experiment/outcome.h"

#include "base/number.h"
#include "experiment/survey.h"

#include <stdio.h>
#include <string.h>

/* It was ended by stop.queue: its means are those of a queue that was still growing. */
static void remark_overload(struct outcome *o)
{
    const struct run_totals *t = &o->result.totals;
    if (!t->is_overloaded)
        return;
    remarks_add(&o->remarks, "overloaded", o->config->index,
                "ended as overloaded at %.0f s: more than %u jobs waited (stop.queue); its means are over the jobs "
                "that had ended by then",
                (double)t->stop_ns * 1e-9, o->config->stop.queue);
}

/* Jobs waited for ever beside GPUs that would have done: the policy never started them, and its means leave them out. */
static void remark_forgotten(struct outcome *o)
{
    uint64_t n = o->result.totals.forgotten;
    if (n > 0)
        remarks_add(
            &o->remarks, "forgotten_jobs", o->config->index,
            "%llu job%s still waited when nothing ran any more, and would have fitted: policy %s never started %s",
            (unsigned long long)n, n == 1 ? "" : "s", o->config->policy.ops->name, n == 1 ? "it" : "them");
}

/* It asked for what it did not declare, got a code instead, and went on with whatever its variable held. */
static void remark_undeclared(struct outcome *o)
{
    static const struct {
        uint32_t bit;
        const char *what, *declare;
    } asked[] = {{KNOWS_DURATION, "durations", "KNOWS_DURATION"},
                 {KNOWS_ESTIMATE, "estimates", "KNOWS_ESTIMATE"},
                 {KNOWS_PROFILE, "stage times", "KNOWS_PROFILE"},
                 {KNOWS_DEADLINE, "deadlines", "KNOWS_DEADLINE"},
                 {KNOWS_RECORD, "recorded starts", "KNOWS_RECORD"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        uint64_t n = o->result.totals.undeclared[__builtin_ctz(asked[i].bit)];
        char kind[40];
        snprintf(kind, sizeof kind, "undeclared:%u", asked[i].bit);
        if (n > 0)
            remarks_add(&o->remarks, kind, o->config->index,
                        "policy %s asked %llu time%s for %s, which its 'knows' does not declare, and got none: add %s",
                        o->config->policy.ops->name, (unsigned long long)n, n == 1 ? "" : "s", asked[i].what,
                        asked[i].declare);
    }
}

/* What makes another trace of the recorded one, so that its starts are those of no schedule; NULL: nothing. */
static const char *changes_record(const struct run_config *config)
{
    return config->trace.bootstrap.days != BOOTSTRAP_NONE        ? "trace.bootstrap draws its days anew"
           : config->trace.load > 0                              ? "trace.load changes when jobs come"
           : config->trace.scale > 0 && config->trace.scale != 1 ? "trace.scale changes when jobs come"
                                                                 : NULL;
}

/* How well `recorded` repeats the record: the check of how the cluster is described. */
static void remark_record(struct outcome *o)
{
    const struct workload *w = o->output.workload;
    const struct run_result *r = &o->result;
    uint64_t n = 0, n_near = 0;
    __int128 wait_ns = 0, recorded_ns = 0;
    if (strcmp(o->config->policy.ops->name, "recorded") != 0 || w->start_ns == NULL)
        return;
    const char *change = changes_record(o->config);
    if (change != NULL) {
        remarks_add(&o->remarks, "no_record", o->config->index,
                    "recorded starts mean nothing here, since %s: policy recorded repeats no schedule that ever was",
                    change);
        return;
    }
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        if (w->start_ns[i] == WORKLOAD_ABSENT || r->jobs[i].start_ns < 0)
            continue;
        int64_t late = r->jobs[i].start_ns - w->start_ns[i];
        n++;
        n_near += late >= -NS_PER_S && late <= NS_PER_S;
        wait_ns += r->jobs[i].start_ns - w->submit_ns[i];
        recorded_ns += w->start_ns[i] - w->submit_ns[i];
    }
    if (n > 0)
        remarks_add(&o->remarks, "record", o->config->index,
                    "%.1f %% of the %llu jobs with a recorded start begin within 1 s of it; mean wait %.0f s, recorded "
                    "%.0f s%s",
                    100.0 * (double)n_near / (double)n, (unsigned long long)n,
                    (double)(wait_ns / (int64_t)n) / NS_PER_S, (double)(recorded_ns / (int64_t)n) / NS_PER_S,
                    n_near == n ? "" : "; where they part the cluster as described had no room then");
}

/* Nobody waited, so every policy that keeps no GPU idle gives this schedule. */
static void remark_idle(struct outcome *o)
{
    const struct run_result *r = &o->result;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        const struct job *j = &r->jobs[i];
        if (j->status == STATUS_REJECTED || j->status == STATUS_NOT_SUBMITTED)
            continue;
        if (j->start_ns != o->output.workload->submit_ns[i] || j->preemptions > 0)
            return;
        n++;
    }
    if (n > 1)
        remarks_add(&o->remarks, "no_waits", o->config->index,
                    "no job ever waited: at this load policies do not differ");
}

bool outcome_remark(struct outcome *o)
{
    remark_overload(o);
    remark_forgotten(o);
    remark_undeclared(o);
    remark_record(o);
    remark_idle(o);
    survey_run(&o->remarks, o->config, o->output.workload, &o->result);
    o->remarks_text = remarks_text(&o->remarks);
    return o->remarks_text != NULL && !o->remarks.is_short;
}

/* Faults, who is who, and each job by itself. */
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void check_fault(struct check *c, const char *kind, const char *format, ...)
{
    uint32_t k = 0;
    while (k < c->n_kinds && strcmp(c->kinds[k], kind) != 0)
        k++;
    if (k == CHECK_KINDS)
        k--;
    if (k == c->n_kinds)
        snprintf(c->kinds[c->n_kinds++], sizeof c->kinds[0], "%s", kind);
    c->n_faults++;
    if (c->n_of[k]++ >= CHECK_TOLD || c->out == NULL)
        return;
    va_list args;
    va_start(args, format);
    fprintf(c->out, "seed %" PRIu64 ": %s: ", c->scene->seed, kind);
    vfprintf(c->out, format, args);
    fputc('\n', c->out);
    va_end(args);
}

int64_t check_ns(double seconds)
{
    return isnan(seconds) ? -1 : seconds > 9e9 ? INT64_MAX : (int64_t)llround(seconds * 1e9);
}

bool check_same_ns(const struct check *c, int64_t a, int64_t b)
{
    return a == b || (a >= 0 && b >= 0 && llabs(a - b) <= c->slack_ns);
}

bool check_close(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= 1e-9 * fmax(fmax(fabs(a), fabs(b)), 1);
}

int64_t check_overhead_ns(const struct scene *s, const struct scene_overhead *o, const struct scene_job *j)
{
    uint32_t i = 0;
    if (o->form == SCENE_CONSTANT)
        return o->ns[0];
    while (i + 1 < o->n && o->gpus[i + 1] <= j->gpus)
        i++;
    bool is_own = o->form == SCENE_TABLE && o->model != NULL && s->has_names && strcmp(o->model, j->model) == 0;
    return is_own ? o->own_ns[i] : o->ns[i];
}

int64_t check_estimate_ns(const struct scene *s, const struct scene_job *j)
{
    int64_t ns = s->estimate == SCENE_EXACT   ? j->duration_ns
                 : s->estimate == SCENE_TRACE ? j->estimate_ns
                 : s->estimate == SCENE_FILE  ? j->told_ns
                                              : SCENE_NONE;
    if (s->estimate == SCENE_TRACE && ns <= 0) /* 0 is none */
        return 3600 * SCENE_S;
    return ns == 0 && s->estimate != SCENE_EXACT ? 1 : ns;
}

/* ---- who is who ---- */

static void life_times(struct check *c, struct life *l)
{
    l->submit_ns = l->fact->submit_ns - c->zero_ns;
    l->start_ns = check_ns(l->row->start);
    l->end_ns = check_ns(l->row->end);
    int64_t times[] = {l->submit_ns, l->start_ns, l->end_ns};
    for (int i = 0; i < 3; i++)
        if (times[i] > INT64_C(1) << 50) /* seconds in a double are whole ns up to here */
            c->slack_ns =
                times[i] / (INT64_C(1) << 50) * 2 > c->slack_ns ? times[i] / (INT64_C(1) << 50) * 2 : c->slack_ns;
}

static uint32_t vc_of(const struct scene *s, const struct scene_job *j)
{
    uint32_t v = 0;
    while (v < s->n_vcs && strcmp(s->vcs[v].name, j->vc) != 0)
        v++;
    return v;
}

bool check_identities(struct check *c)
{
    const struct scene *s = c->scene;
    const struct books *b = c->books;
    uint32_t n = 0;
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        if (s->jobs[i].is_left_out)
            continue;
        n++;
        first_ns = s->jobs[i].submit_ns < first_ns ? s->jobs[i].submit_ns : first_ns;
    }
    c->zero_ns = n > 0 ? first_ns - first_ns % SCENE_S : 0;
    if (b->run.rows_read != n || b->run.rows_kept != n || b->n_jobs != n || b->run.seed != s->run_seed)
        check_fault(c, "runs.rows", "%u jobs, rows_read %" PRId64 ", rows_kept %" PRId64 ", %zu rows, seed %" PRId64, n,
                    b->run.rows_read, b->run.rows_kept, b->n_jobs, b->run.seed);
    const size_t are[] = {b->n_jobs, b->n_series, b->n_segments, b->n_allocs, b->n_events};
    for (int t = 0; t < 5; t++)
        if (b->run.counts[t] != (int64_t)are[t] || b->run.begins[t] != 0)
            check_fault(c, "runs.counts", "table %d: %zu rows, begin %" PRId64 ", count %" PRId64, t, are[t],
                        b->run.begins[t], b->run.counts[t]);
    if (strcmp(b->summary_run, b->run.id) != 0)
        check_fault(c, "run", "/summary is of %s, not %s", b->summary_run, b->run.id);
    if (b->n_jobs != n)
        return false;
    c->lives = calloc(n + 1, sizeof *c->lives);
    c->n = n;
    c->slack_ns = 0;
    c->first_ns = INT64_MAX;
    for (uint32_t r = 0; r < n; r++) {
        struct life *l = &c->lives[r];
        l->row = &b->jobs[r];
        for (uint32_t i = 0; i < s->n_jobs && l->fact == NULL; i++)
            if (!s->jobs[i].is_left_out && strcmp(s->jobs[i].id, l->row->id) == 0)
                l->fact = &s->jobs[i];
        for (uint32_t k = 0; k < r && l->fact != NULL; k++)
            if (c->lives[k].fact == l->fact)
                l->fact = NULL;
        if (l->fact == NULL) {
            check_fault(c, "jobs.id", "row %u: id '%s' is no job of the trace, or comes again", r, l->row->id);
            return false;
        }
        l->vc = vc_of(s, l->fact);
        life_times(c, l);
        c->first_ns = l->submit_ns < c->first_ns ? l->submit_ns : c->first_ns;
        c->last_ns = l->submit_ns > c->last_ns ? l->submit_ns : c->last_ns;
        if (l->row->job != r || (r > 0 && c->lives[r - 1].submit_ns > l->submit_ns))
            check_fault(c, "jobs.job", "row %u: rank %" PRId64 ", or not in order of submission", r, l->row->job);
    }
    return true;
}

/* When the run ended: behind everything that is known to have happened. */
static void run_end(struct check *c)
{
    const struct scene *s = c->scene;
    for (uint32_t r = 0; r < c->n; r++) {
        const struct life *l = &c->lives[r];
        int64_t at = l->end_ns > l->start_ns ? l->end_ns : l->start_ns;
        c->end_ns = at > c->end_ns ? at : c->end_ns;
        bool is_there = l->row->status != WAS_NOT_SUBMITTED;
        if (is_there && l->submit_ns > c->end_ns)
            c->end_ns = l->submit_ns;
        if (isnan(l->row->end) && is_there) {
            at = l->submit_ns + check_ns(l->row->queued) + check_ns(l->row->run_time);
            c->end_ns = at > c->end_ns ? at : c->end_ns;
        }
    }
    for (uint32_t r = 0; r < c->n; r++) /* who is still to come keeps the run going until it is stopped */
        if (s->stop_ns != SCENE_NEVER && s->stop_queue == UINT32_MAX && c->lives[r].row->status == WAS_NOT_SUBMITTED)
            c->end_ns = s->stop_ns > c->end_ns ? s->stop_ns : c->end_ns;
    for (uint32_t r = 0; r < c->n; r++)
        c->lives[r].is_submitted = c->lives[r].row->status != WAS_NOT_SUBMITTED;
    if (s->stop_ns != SCENE_NEVER && c->end_ns > s->stop_ns + c->slack_ns)
        check_fault(c, "jobs.beyond_stop", "something at %.9f s, the run stops at %.9f s", (double)c->end_ns * 1e-9,
                    (double)s->stop_ns * 1e-9);
}

/* ---- each job ---- */

static const char *status_text(int64_t status)
{
    static const char *const text[] = {"finished", "unfinished", "rejected", "failed", "killed", "not_submitted"};
    return status >= 0 && status < WAS_STATUSES ? text[status] : "?";
}

static void job_facts(struct check *c, uint32_t r)
{
    const struct life *l = &c->lives[r];
    const struct scene_job *f = l->fact;
    const struct books_job *j = l->row;
    if (!check_same_ns(c, check_ns(j->submit), l->submit_ns) || !check_same_ns(c, check_ns(j->work), f->duration_ns) ||
        j->gpus != f->gpus)
        check_fault(c, "jobs.facts", "%s: submit %.9f, work %.9f, %" PRId64 " GPUs are not the trace's", f->id,
                    j->submit, j->work, j->gpus);
    if (strcmp(j->user, f->user) != 0 || strcmp(j->vc, f->vc) != 0 || strcmp(j->run, c->books->run.id) != 0)
        check_fault(c, "jobs.names", "%s: user '%s', vc '%s', run '%s'", f->id, j->user, j->vc, j->run);
    if (j->trace_status != (c->scene->has_status ? f->status : 0))
        check_fault(c, "jobs.trace_status", "%s: %" PRId64, f->id, j->trace_status);
}

/* What queues a job, by the ends of those it depends on; and whether one of them failed. */
static void job_enters(struct check *c, uint32_t r, bool *has_failed)
{
    struct life *l = &c->lives[r];
    *has_failed = false;
    l->enters_ns = l->submit_ns;
    int64_t failed_ns = INT64_MAX;
    for (uint32_t k = 0; c->scene->has_depends && k < l->fact->n_depends; k++) {
        const struct scene_job *before = &c->scene->jobs[l->fact->depends[k]];
        if (before->is_left_out)
            continue;
        const struct life *p = NULL;
        for (uint32_t q = 0; q < c->n; q++)
            if (c->lives[q].fact == before)
                p = &c->lives[q];
        bool is_finished = p->row->status == WAS_FINISHED;
        if (!is_finished && p->row->status != WAS_UNFINISHED) {
            *has_failed = true;
            failed_ns = p->end_ns < failed_ns ? p->end_ns : failed_ns;
        } else if (!is_finished) {
            l->enters_ns = SCENE_NEVER;
        } else if (l->enters_ns != SCENE_NEVER && p->end_ns > l->enters_ns) {
            l->enters_ns = p->end_ns;
        }
    }
    if (*has_failed)
        l->enters_ns = failed_ns > l->submit_ns ? failed_ns : l->submit_ns; /* to be rejected */
}

static void job_rejected(struct check *c, uint32_t r, bool has_failed)
{
    const struct scene *s = c->scene;
    const struct life *l = &c->lives[r];
    const char *reason = l->row->reason;
    uint32_t first, end;
    if (has_failed) {
        if (strcmp(reason, "dependency_failed") != 0 || !check_same_ns(c, l->end_ns, l->enters_ns))
            check_fault(c, "jobs.dependency_failed", "%s: %s at %.9f, not dependency_failed at %.9f", l->fact->id,
                        reason, l->row->end, (double)l->enters_ns * 1e-9);
        return;
    }
    if (s->n_vcs > 0 && l->vc == s->n_vcs) {
        if (strcmp(reason, "unknown_vc") != 0)
            check_fault(c, "jobs.unknown_vc", "%s: %s", l->fact->id, reason);
        return;
    }
    facts_vc_nodes(s, l->vc, &first, &end);
    uint64_t all = facts_gpus(s, first, end), most = 0;
    for (int64_t i = -1; s->n_vcs > 0 && s->vcs[l->vc].is_quota && i < (int64_t)s->vcs[l->vc].n_changes; i++) {
        int64_t at = i < 0 ? 0 : s->vcs[l->vc].changes[i].at_ns;
        uint64_t quota = facts_quota(s, l->vc, at);
        most = quota > most ? quota : most;
    }
    if (s->n_vcs > 0 && s->vcs[l->vc].is_quota && most < all)
        all = most;
    bool is_simple = s->n_groups == 1 && !s->has_types && !s->has_cpus && strcmp(s->placement, "yarn") != 0;
    if (strncmp(reason, "too_large", 9) == 0 && is_simple && l->fact->gpus <= all)
        check_fault(c, "jobs.too_large", "%s: %s, but %" PRIu64 " GPUs may be had for %u", l->fact->id, reason, all,
                    l->fact->gpus);
    bool is_known = strncmp(reason, "too_", 4) == 0 || strcmp(reason, "gpu_type_absent") == 0;
    if (reason[0] == '\0')
        check_fault(c, "jobs.reason", "%s: rejected without a reason", l->fact->id);
    if (is_known && !check_same_ns(c, l->end_ns, l->enters_ns))
        check_fault(c, "jobs.rejection", "%s: %s at %.9f s, but in the queue at %.9f s", l->fact->id, reason,
                    l->row->end, (double)l->enters_ns * 1e-9);
}

/* May a job stay without a stop? Only where the quota of a VC changes, and with it for whom or behind whom it waits, and where nobody may hold more
 * than its guarantee. */
static bool may_stay(const struct scene *s)
{
    for (uint32_t v = 0; v < s->n_vcs; v++)
        if (s->vcs[v].n_changes > 0)
            return true;
    return s->stop_ns != SCENE_NEVER || s->stop_queue != UINT32_MAX || strstr(s->policy_text, "borrow: false") != NULL;
}

static void job_status(struct check *c, uint32_t r)
{
    const struct scene *s = c->scene;
    struct life *l = &c->lives[r];
    const struct books_job *j = l->row;
    bool has_failed, ran = j->status == WAS_FINISHED || j->status == WAS_KILLED, is_there = l->is_submitted;
    job_enters(c, r, &has_failed);
    if (j->status < 0 || j->status >= WAS_STATUSES || j->status == WAS_FAILED)
        check_fault(c, "jobs.status", "%s: status %" PRId64, l->fact->id, j->status);
    if (has_failed && is_there && j->status != WAS_REJECTED && l->enters_ns <= c->end_ns)
        check_fault(c, "jobs.dependency_failed", "%s is %s", l->fact->id, status_text(j->status));
    if (s->n_vcs > 0 && l->vc == s->n_vcs && is_there && j->status != WAS_REJECTED && j->status != WAS_UNFINISHED)
        check_fault(c, "jobs.unknown_vc", "%s is %s", l->fact->id, status_text(j->status));
    if (j->status == WAS_REJECTED)
        job_rejected(c, r, has_failed);
    if (j->status == WAS_UNFINISHED && !may_stay(s))
        check_fault(c, "jobs.stays", "%s is unfinished: %s", l->fact->id, j->reason);
    if (j->status == WAS_UNFINISHED && j->reason[0] == '\0')
        check_fault(c, "jobs.reason", "%s: unfinished without a reason", l->fact->id);
    if (j->status == WAS_FINISHED && j->reason[0] != '\0')
        check_fault(c, "jobs.reason", "%s: finished, yet '%s'", l->fact->id, j->reason);
    bool is_later = l->submit_ns > c->end_ns || (s->stop_ns != SCENE_NEVER && l->submit_ns > s->stop_ns);
    if (is_later != (j->status == WAS_NOT_SUBMITTED) || is_later != (strcmp(j->reason, "not_submitted") == 0))
        check_fault(c, "jobs.not_submitted", "%s is %s: '%s', submitted at %.9f s, the run ends at %.9f s", l->fact->id,
                    status_text(j->status), j->reason, j->submit, (double)c->end_ns * 1e-9);
    if (j->status == WAS_KILLED && (!s->kills || strcmp(j->reason, "estimate_exceeded") != 0))
        check_fault(c, "jobs.killed", "%s: '%s'", l->fact->id, j->reason);
    int64_t estimate = s->kills ? check_estimate_ns(s, l->fact) : SCENE_NONE;
    if (ran && estimate != SCENE_NONE && (j->status == WAS_KILLED) != (estimate < l->fact->duration_ns))
        check_fault(c, "jobs.killed", "%s is %s: estimate %.9f, duration %.9f", l->fact->id, status_text(j->status),
                    (double)estimate * 1e-9, j->work);
    if ((ran || j->status == WAS_REJECTED) == isnan(j->end))
        check_fault(c, "jobs.end", "%s is %s: end %.9f", l->fact->id, status_text(j->status), j->end);
    if (ran && (isnan(j->start) || l->start_ns > l->end_ns + c->slack_ns))
        check_fault(c, "jobs.start", "%s: start %.9f, end %.9f", l->fact->id, j->start, j->end);
    if (!isnan(j->start) && l->start_ns < l->enters_ns - c->slack_ns)
        check_fault(c, "jobs.start", "%s: start %.9f before it entered the queue", l->fact->id, j->start);
    if (j->status == WAS_REJECTED && !isnan(j->start) && strncmp(j->reason, "too_", 4) == 0)
        check_fault(c, "jobs.start", "%s: rejected as %s, yet it started", l->fact->id, j->reason);
}

static void job_times(struct check *c, uint32_t r)
{
    const struct life *l = &c->lives[r];
    const struct books_job *j = l->row;
    const char *id = l->fact->id;
    bool ran = j->status == WAS_FINISHED || j->status == WAS_KILLED;
    int64_t run = check_ns(j->run_time), queued = check_ns(j->queued), overhead = check_ns(j->overhead);
    int64_t until = isnan(j->end) ? c->end_ns : l->end_ns, there = l->is_submitted ? until - l->submit_ns : 0;
    int64_t loose = c->slack_ns * 4;
    if (run < 0 || queued < 0 || overhead < 0 || check_ns(j->lost) < 0 || overhead > run + loose)
        check_fault(c, "jobs.times", "%s: run_time %.9f, queued %.9f, overhead %.9f, lost %.9f", id, j->run_time,
                    j->queued, j->overhead, j->lost);
    if (j->lost != 0)
        check_fault(c, "jobs.lost", "%s lost %.9f s, and nothing fails", id, j->lost);
    if (llabs(run + queued - there) > loose)
        check_fault(c, "jobs.queued", "%s (%s %s): queued %.9f + run_time %.9f is not the %.9f s that it was there", id,
                    status_text(j->status), j->reason, j->queued, j->run_time, (double)there * 1e-9);
    if (ran ? llabs(check_ns(j->jct) - there) > loose : !isnan(j->jct))
        check_fault(c, "jobs.jct", "%s: jct %.9f, end - submit %.9f", id, j->jct, (double)there * 1e-9);
    if (!check_close(j->gpu_time, j->run_time * (double)j->gpus) && j->gpu_time < 9.2e9) /* 2^63 ns */
        check_fault(c, "jobs.gpu_time", "%s: %.9f GPU s in %.9f s on %" PRId64 " GPUs", id, j->gpu_time, j->run_time,
                    j->gpus);
    bool is_alone = c->scene->group_jobs <= 1;
    int64_t work = run - overhead, all = l->fact->duration_ns;
    if (j->status == WAS_FINISHED && (is_alone ? llabs(work - all) > loose : work < all - loose))
        check_fault(c, "jobs.work", "%s: %.9f s of work, run_time - overhead is %.9f s", id, j->work,
                    (double)work * 1e-9);
    int64_t estimate = check_estimate_ns(c->scene, l->fact);
    if (j->status == WAS_KILLED && estimate != SCENE_NONE && is_alone && llabs(work - estimate) > loose)
        check_fault(c, "jobs.killed", "%s: killed after %.9f s of work, estimate %.9f", id, (double)work * 1e-9,
                    (double)estimate * 1e-9);
    if (isnan(j->start) && (run != 0 || j->preemptions + j->moves + j->restarts != 0))
        check_fault(c, "jobs.start", "%s: never started, yet run_time %.9f", id, j->run_time);
    int64_t preempted = j->preemptions - j->restarts; /* the last one may not have been taken up again */
    if (preempted < 0 || preempted > (ran ? 0 : 1))
        check_fault(c, "jobs.restarts", "%s (%s): %" PRId64 " preemptions, %" PRId64 " restarts", id,
                    status_text(j->status), j->preemptions, j->restarts);
    if (j->status == WAS_FINISHED && j->preemptions + j->moves == 0) {
        int64_t start = check_overhead_ns(c->scene, &c->scene->start, l->fact);
        if (llabs(start - overhead) > loose)
            check_fault(c, "jobs.overhead", "%s: overhead %.9f, start_overhead %.9f", id, j->overhead,
                        (double)start * 1e-9);
    }
}

void check_jobs(struct check *c)
{
    run_end(c);
    for (uint32_t r = 0; r < c->n; r++) {
        job_facts(c, r);
        c->is_left |= c->lives[r].row->status == WAS_UNFINISHED;
        job_status(c, r);
        job_times(c, r);
    }
}

bool check_books(struct check *c, const struct scene *s, const struct books *b, FILE *out)
{
    *c = (struct check){.scene = s, .books = b, .out = out};
    bool can_go_on = check_identities(c);
    if (can_go_on) {
        check_jobs(c);
        if (s->segments && check_stretches(c)) {
            check_places(c);
            check_events(c);
            check_series(c);
            check_summary(c);
        }
        check_order(c);
    }
    free(c->lives);
    free(c->stretches);
    c->lives = NULL;
    c->stretches = NULL;
    return c->n_faults == 0;
}

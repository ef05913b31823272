#include "output/metrics.h"

#include "base/check.h"
#include "base/number.h"
#include "output/metrics_gaps.h"
#include "output/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One list gives every metric its place, so that the table and the indices cannot part:
 * name, unit, a whole number?, which way is better, over what it is taken, which lost jobs make it worse,, definition. */
#define METRICS(M)                                                                                                     \
    M(jobs, "", true, 0, JOBS, NONE, "jobs of the trace that come inside `measure`: the sum of the six counts below")  \
    M(finished, "", true, 0, JOBS, NONE, "of them, ran to their end")                                                  \
    M(unfinished, "", true, 0, JOBS, NONE, "of them, queued, running or waiting for other jobs when the run ended")    \
    M(rejected, "", true, 0, JOBS, NONE, "of them, refused")                                                           \
    M(failed, "", true, 0, JOBS, NONE,                                                                                 \
      "of them, failed in the simulation (what the trace says is `trace_status`); no model fails jobs yet: 0")         \
    M(killed, "", true, 0, JOBS, NONE, "of them, killed")                                                              \
    M(not_submitted, "", true, 0, JOBS, NONE,                                                                          \
      "of them, not yet submitted when `stop` ended the run; they count nowhere else but in `jobs`")                   \
    M(jct_mean, "s", false, -1, FINISHED, NONE, "mean job completion time: end - submit")                              \
    M(jct_p50, "s", false, -1, FINISHED, NONE,                                                                         \
      "its median; quantiles are linear between order statistics (element floor(p n) under Muri's compat)")            \
    M(jct_p95, "s", false, -1, FINISHED, NONE, "its 95th percentile")                                                  \
    M(jct_p99, "s", false, -1, FINISHED, NONE, "its 99th percentile")                                                  \
    M(jct_max, "s", false, -1, FINISHED, NONE, "its maximum")                                                          \
    M(wait_mean, "s", false, -1, FINISHED, NONE,                                                                       \
      "mean time to the first start: first start - submit; a preempted job waits again, see `queued_mean`")            \
    M(wait_p50, "s", false, -1, FINISHED, NONE, "its median")                                                          \
    M(wait_p95, "s", false, -1, FINISHED, NONE, "its 95th percentile")                                                 \
    M(wait_p99, "s", false, -1, FINISHED, NONE, "its 99th percentile")                                                 \
    M(queued_mean, "s", false, -1, FINISHED, NONE, "mean of all time without GPUs")                                    \
    M(slowdown_mean, "", false, -1, FINISHED, NONE,                                                                    \
      "mean of jct / ideal run time alone; jobs of zero length left out")                                              \
    M(bounded_slowdown_mean, "", false, -1, FINISHED, NONE,                                                            \
      "mean of max(1, jct / max(ideal, 10 s)) over the same jobs")                                                     \
    M(makespan, "s", false, -1, JOBS, NONE,                                                                            \
      "first submission to last end (finished, failed or killed) inside `measure`")                                    \
    M(gpu_utilization, "fraction", false, 1, SUBMISSIONS, NONE,                                                        \
      "allocated / available GPU time, first to last submission of the whole run, or to where `stop` ended it "        \
      "before; a shared GPU counts "                                                                                   \
      "once; available: the GPUs of the nodes, of a virtual cluster with a quota the larger of its quota and what it " \
      "holds "                                                                                                         \
      "(`shrink: drain`), of several together no more than their nodes have")                                          \
    M(gpu_utilization_makespan, "fraction", false, 1, MAKESPAN, NONE,                                                  \
      "the same, to the last end or, where jobs are left unfinished, to the last moment at which a job holds GPUs")    \
    M(gpu_busy, "fraction", false, 1, MAKESPAN, NONE,                                                                  \
      "time the GPU really works / available, as long as `gpu_utilization_makespan`: its stage of each iteration "     \
      "where the trace has stage "                                                                                     \
      "times, "                                                                                                        \
      "else all allocated time without overhead and lost time")                                                        \
    M(cpu_utilization, "fraction", false, 1, MAKESPAN, NONE,                                                           \
      "the same for the CPU stage, where the trace has stage times (every GPU brings its share of the other "          \
      "resources)")                                                                                                    \
    M(storage_utilization, "fraction", false, 1, MAKESPAN, NONE, "the same for the storage stage")                     \
    M(network_utilization, "fraction", false, 1, MAKESPAN, NONE, "the same for the network stage")                     \
    M(fragmentation, "fraction", false, -1, RUN, NONE,                                                                 \
      "time average of GPUs that are free but of no use to the head of any queue / free GPUs")                         \
    M(load_imbalance, "", false, -1, RUN, NONE,                                                                        \
      "time average of sd / mean of the GPUs allocated a node, while any is")                                          \
    M(preemptions, "", true, -1, JOBS, NONE, "times a job lost its GPUs")                                              \
    M(moves, "", true, -1, JOBS, NONE, "times a job went on other GPUs without waiting")                               \
    M(restarts, "", true, -1, JOBS, NONE, "times a job was resumed")                                                   \
    M(success_rate, "fraction", false, 1, JOBS, UNFINISHED, "finished / (jobs - rejected - not_submitted)")            \
    M(jain_index, "", false, 1, FINISHED, NONE, "Jain's index over users of 1 / mean slowdown: 1 is equal treatment")  \
    M(ftf_mean, "", false, -1, FINISHED, NONE,                                                                         \
      "mean finish-time fairness: jct / jct on a share of 1 / N of the GPUs, where the ideal time grows by demand / "  \
      "share for a job larger than it; N: time average of the users with a job in the system, while any has one")      \
    M(ftf_max, "", false, -1, FINISHED, NONE, "its maximum")                                                           \
    M(deadline_miss_rate, "fraction", false, -1, FINISHED, NONE,                                                       \
      "share of the finished jobs with a deadline that ended after it: rejected jobs are not among them")              \
    M(deadline_met_rate, "fraction", false, 1, JOBS, ALL,                                                              \
      "share of all jobs with a deadline, rejected and unfinished ones too, that finished by it")                      \
    M(satisfied_rate, "fraction", false, 1, FINISHED, NONE, "share with jct <= 2 x ideal")                             \
    M(gap_jct, "", false, -1, FINISHED, NONE,                                                                          \
      "jct_mean / lower bound - 1: the bound holds for every schedule of the jobs that finished on the most GPUs "     \
      "that "                                                                                                          \
      "their virtual cluster ever has; not under `compat`")                                                            \
    M(gap_makespan, "", false, -1, JOBS, NONE, "makespan / lower bound - 1, likewise")                                 \
    M(decisions, "", true, 0, RUN, NONE, "verbs of the policy that took effect, whole run")                            \
    M(decision_ops, "", true, -1, RUN, NONE, "verbs and probes of the policy, whole run")                              \
    M(events, "", true, 0, RUN, NONE, "events applied, whole run")

enum metric {
#define AS_INDEX(name, unit, is_count, better, over, losses, definition) METRIC_##name,
    METRICS(AS_INDEX)
#undef AS_INDEX
        N_METRICS
};
_Static_assert((int)N_METRICS <= (int)METRICS_MAX, "struct metrics is too small");

static const struct metric_info table[] = {
#define AS_ROW(name, unit, is_count, better, over, losses, definition)                                                 \
    {#name, unit, definition, is_count, better, METRIC_OVER_##over, METRIC_LOSSES_##losses},
    METRICS(AS_ROW)
#undef AS_ROW
};

const struct metric_info *metrics_table(size_t *n)
{
    *n = N_METRICS;
    return table;
}

int metrics_find(const char *name)
{
    for (int i = 0; i < N_METRICS; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

const char *metrics_over_text(enum metric_over over)
{
    static const char *const texts[] = {
        [METRIC_OVER_FINISHED] = "finished jobs submitted inside `measure`",
        [METRIC_OVER_JOBS] = "all jobs submitted inside `measure`",
        [METRIC_OVER_SUBMISSIONS] = "whole run, first to last submission",
        [METRIC_OVER_MAKESPAN] = "whole run, first submission to last end",
        [METRIC_OVER_RUN] = "whole run",
    };
    return texts[over];
}

/* ---- names that are no column ---- */

/* What any quantile can be taken of. */
static const struct {
    const char *name, *unit;
} quantities[] = {{"jct", "s"}, {"wait", "s"}, {"queued", "s"}, {"slowdown", ""}, {"bounded_slowdown", ""}};

/* Columns of OUT.cost.csv. */
static const struct {
    const char *name, *unit;
} costs[] = {{"wall_s", "s"}, {"cpu_s", "s"}, {"peak_memory_mb", "MB"}};

bool metrics_quantile(const char *name, char quantity[METRIC_NAME_MAX], double *q)
{
    const char *at = strrchr(name, '_');
    if (at == NULL || at[1] != 'p' || at[2] == '\0' || (size_t)(at - name) >= METRIC_NAME_MAX)
        return false;
    double percent;
    if (strspn(at + 2, "0123456789.") != strlen(at + 2) || !number_parse_double(at + 2, strlen(at + 2), &percent) ||
        percent > 100)
        return false;
    memcpy(quantity, name, (size_t)(at - name));
    quantity[at - name] = '\0';
    *q = percent / 100;
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (strcmp(quantities[i].name, quantity) == 0)
            return true;
    return false;
}

bool metrics_describe(struct metric_info *out, const char *name)
{
    char quantity[METRIC_NAME_MAX];
    double q;
    int i = metrics_find(name);
    if (i >= 0) {
        *out = table[i];
        return true;
    }
    *out = (struct metric_info){.name = name, .unit = "", .definition = "", .better = -1};
    if (metrics_quantile(name, quantity, &q)) {
        out->definition = "a quantile over the jobs, linear between order statistics";
        out->over = METRIC_OVER_FINISHED;
        for (size_t k = 0; k < sizeof quantities / sizeof quantities[0]; k++)
            if (strcmp(quantities[k].name, quantity) == 0)
                out->unit = quantities[k].unit;
        return true;
    }
    for (size_t k = 0; k < sizeof costs / sizeof costs[0]; k++)
        if (strcmp(costs[k].name, name) == 0) {
            out->unit = costs[k].unit;
            out->over = METRIC_OVER_RUN;
            return true;
        }
    return false;
}

/* What is summed over the jobs. Times are summed in integers: exact, and the same in any order. */
struct sums {
    uint64_t of_status[JOB_STATUSES], jobs;
    uint64_t preemptions, moves, restarts, deadlines, late, due, satisfied, sloped; /* sloped: with a slowdown */
    __int128 jct_ns, wait_ns, queued_ns;
    int64_t first_submit_ns, last_end_ns;
    struct sum slowdown, bounded, productive_gpu_ns;
    double *jct_s, *wait_s; /* of finished jobs, in order of rank */
    struct user {
        struct sum slowdown;
        uint64_t n;
    } * users;
};

static bool is_measured(const struct measure_spec *m, int64_t from_ns, int64_t submit_ns)
{
    return submit_ns >= from_ns && (m->to_ns == RUN_NO_LIMIT || submit_ns < m->to_ns);
}

static int64_t measure_from(const struct measure_spec *m, const struct workload *w)
{
    int64_t from = m->has_from ? m->from_ns : w->n_jobs > 0 ? w->submit_ns[0] : 0;
    int64_t sum;
    return __builtin_add_overflow(from, m->warm_up_ns, &sum) ? INT64_MAX : sum;
}

static double seconds(int64_t ns)
{
    return (double)ns / NS_PER_S;
}

static void add_finished(struct sums *s, const struct job *j, const struct workload *w, uint32_t rank)
{
    int64_t submit = w->submit_ns[rank], ideal = w->duration_ns[rank];
    int64_t jct = j->end_ns - submit, wait = j->start_ns - submit, queued = jct - j->run_ns;
    require(wait >= 0 && queued >= wait && j->run_ns >= 0, "job %u: wait %lld, queued %lld, run %lld ns", rank,
            (long long)wait, (long long)queued, (long long)j->run_ns);
    uint64_t k = s->of_status[STATUS_FINISHED];
    s->jct_s[k] = seconds(jct);
    s->wait_s[k] = seconds(wait);
    s->jct_ns += jct;
    s->wait_ns += wait;
    s->queued_ns += queued;
    s->satisfied += (uint64_t)(jct / 2 < ideal || (jct / 2 == ideal && jct % 2 == 0)); /* jct <= 2 ideal, no overflow */
    if (ideal > 0) {
        double slowdown = (double)jct / (double)ideal;
        sum_add(&s->slowdown, slowdown);
        s->sloped++;
        struct user *u = &s->users[w->user[rank]];
        sum_add(&u->slowdown, slowdown);
        u->n++;
        int64_t bound = ideal > 10 * NS_PER_S ? ideal : 10 * NS_PER_S;
        sum_add(&s->bounded, fmax(1, (double)jct / (double)bound));
    }
    if (w->deadline_ns != NULL && w->deadline_ns[rank] != WORKLOAD_ABSENT) {
        s->deadlines++;
        s->late += j->end_ns > w->deadline_ns[rank];
    }
}

static void add_job(struct sums *s, const struct job *j, const struct workload *w, uint32_t rank)
{
    if (s->jobs == 0)
        s->first_submit_ns = w->submit_ns[rank];
    s->jobs++;
    if (j->status == STATUS_NOT_SUBMITTED) {
        s->of_status[j->status]++;
        return;
    }
    s->preemptions += j->preemptions;
    s->moves += j->moves;
    s->restarts += j->restarts;
    if (j->status == STATUS_FINISHED)
        add_finished(s, j, w, rank);
    s->due += w->deadline_ns != NULL && w->deadline_ns[rank] != WORKLOAD_ABSENT;
    s->of_status[j->status]++;
    bool has_ended = j->status == STATUS_FINISHED || j->status == STATUS_FAILED || j->status == STATUS_KILLED;
    if (has_ended && j->end_ns > s->last_end_ns)
        s->last_end_ns = j->end_ns;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static double mean_seconds(__int128 sum_ns, uint64_t n)
{
    return n > 0 ? (double)((long double)sum_ns / (long double)n / NS_PER_S) : NAN;
}

static double jain_index(const struct user *users, uint32_t n_users)
{
    struct sum x = {0}, squares = {0};
    uint32_t n = 0;
    for (uint32_t u = 0; u < n_users; u++) {
        if (users[u].n == 0)
            continue;
        double speed = (double)users[u].n / sum_value(&users[u].slowdown);
        sum_add(&x, speed);
        sum_add(&squares, speed * speed);
        n++;
    }
    double sum = sum_value(&x);
    return n > 0 ? sum * sum / (n * sum_value(&squares)) : NAN;
}

/* Time average of the number of users with a job in the system, over the time in which anyone has one. Jobs come in order of
 * submission, so each user's stretches merge from left to right. NaN when no time passes; `until` is scratch, one a user. */
static double active_users(const struct run_result *r, const struct workload *w, int64_t *until)
{
    __int128 of_users = 0, of_all = 0;
    int64_t all_until = INT64_MIN;
    for (uint32_t u = 0; u < w->users.count; u++)
        until[u] = INT64_MIN;
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        int64_t begin = w->submit_ns[i], end = r->jobs[i].end_ns;
        if (r->jobs[i].status == STATUS_REJECTED || end <= begin)
            continue;
        int64_t *mine = &until[w->user[i]];
        if (end > *mine) {
            of_users += end - (begin > *mine ? begin : *mine);
            *mine = end;
        }
        if (end > all_until) {
            of_all += end - (begin > all_until ? begin : all_until);
            all_until = end;
        }
    }
    return of_all > 0 ? (double)((long double)of_users / (long double)of_all) : NAN;
}

static int fairness(struct metrics *m, const struct run_result *r, const struct workload *w,
                    const struct measure_spec *measure, struct error *err)
{
    const struct run_totals *t = &r->totals;
    int64_t span = t->used_until_ns - t->first_submit_ns;
    double gpus = span > 0 ? t->capacity_gpu_ns_makespan / (double)span : NAN;
    int64_t *until = calloc((size_t)w->users.count + 1, sizeof *until);
    if (until == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for the fairness of %u users", w->users.count);
    double share = gpus / active_users(r, w, until); /* GPUs */
    free(until);
    if (!(share > 0))
        return 0;
    int64_t from = measure_from(measure, w);
    struct sum sum = {0};
    double largest = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        if (r->jobs[i].status != STATUS_FINISHED || w->duration_ns[i] == 0 ||
            !is_measured(measure, from, w->submit_ns[i]))
            continue;
        double alone = (double)w->duration_ns[i] * fmax(1, w->gpus[i] / share);
        double rho = (double)(r->jobs[i].end_ns - w->submit_ns[i]) / alone;
        sum_add(&sum, rho);
        largest = fmax(largest, rho);
        n++;
    }
    m->value[METRIC_ftf_mean] = n > 0 ? sum_value(&sum) / (double)n : NAN;
    m->value[METRIC_ftf_max] = n > 0 ? largest : NAN;
    return 0;
}

/* value / bound - 1; what rounding takes off a value that meets its bound is 0. */
static double gap(double value, double bound)
{
    double g = bound > 0 ? value / bound - 1 : NAN;
    return g < 0 && g > -1e-9 ? 0 : g;
}

static int fill_gaps(double *v, const struct run_result *r, const struct workload *w, int64_t from_ns, int64_t to_ns,
                     int64_t first_submit_ns, struct error *err)
{
    struct run_bounds b;
    int status = run_bounds_compute(&b, r, w, from_ns, to_ns, err);
    v[METRIC_gap_jct] = gap(v[METRIC_jct_mean], b.jct_mean_ns / NS_PER_S);
    v[METRIC_gap_makespan] = gap(v[METRIC_makespan], (b.last_ns - (double)first_submit_ns) / NS_PER_S);
    return status;
}

static void fill_totals(double *v, const struct run_totals *t, double productive_gpu_ns)
{
    v[METRIC_gpu_utilization] = ratio(t->allocated_gpu_ns_window, t->capacity_gpu_ns_window);
    v[METRIC_gpu_utilization_makespan] = ratio(t->allocated_gpu_ns_makespan, t->capacity_gpu_ns_makespan);
    bool has_stages = false;
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        has_stages |= t->resource_gpu_ns[k] > 0;
    if (has_stages) {
        static const int metric[WORKLOAD_STAGES] = {METRIC_storage_utilization, METRIC_cpu_utilization, METRIC_gpu_busy,
                                                    METRIC_network_utilization};
        for (int k = 0; k < WORKLOAD_STAGES; k++)
            v[metric[k]] = ratio(t->resource_gpu_ns[k], t->capacity_gpu_ns_makespan);
    } else {
        v[METRIC_gpu_busy] = ratio(productive_gpu_ns, t->capacity_gpu_ns_makespan);
    }
    v[METRIC_fragmentation] = ratio(t->useless_gpu_ns, t->free_gpu_ns);
    v[METRIC_load_imbalance] = ratio(t->imbalance_ns, t->imbalance_span_ns);
    v[METRIC_decisions] = (double)t->decisions;
    v[METRIC_decision_ops] = (double)t->decision_ops;
    v[METRIC_events] = (double)t->events;
}

static void fill_jobs(double *v, struct sums *s, uint32_t n_users, bool has_elements)
{
    uint64_t n = s->of_status[STATUS_FINISHED], ended = n + s->of_status[STATUS_FAILED] + s->of_status[STATUS_KILLED];
    v[METRIC_jobs] = (double)s->jobs;
    v[METRIC_finished] = (double)n;
    v[METRIC_unfinished] = (double)s->of_status[STATUS_UNFINISHED];
    v[METRIC_not_submitted] = (double)s->of_status[STATUS_NOT_SUBMITTED];
    v[METRIC_rejected] = (double)s->of_status[STATUS_REJECTED];
    v[METRIC_failed] = (double)s->of_status[STATUS_FAILED];
    v[METRIC_killed] = (double)s->of_status[STATUS_KILLED];
    v[METRIC_preemptions] = (double)s->preemptions;
    v[METRIC_moves] = (double)s->moves;
    v[METRIC_restarts] = (double)s->restarts;
    uint64_t admitted = s->jobs - s->of_status[STATUS_REJECTED] - s->of_status[STATUS_NOT_SUBMITTED];
    v[METRIC_success_rate] = ratio((double)n, (double)admitted);
    v[METRIC_makespan] = ended > 0 ? seconds(s->last_end_ns - s->first_submit_ns) : NAN;
    v[METRIC_deadline_miss_rate] = ratio((double)s->late, (double)s->deadlines);
    v[METRIC_deadline_met_rate] = ratio((double)(s->deadlines - s->late), (double)s->due);
    v[METRIC_satisfied_rate] = ratio((double)s->satisfied, (double)n);
    v[METRIC_jct_mean] = mean_seconds(s->jct_ns, n);
    v[METRIC_wait_mean] = mean_seconds(s->wait_ns, n);
    v[METRIC_queued_mean] = mean_seconds(s->queued_ns, n);
    v[METRIC_slowdown_mean] = s->sloped > 0 ? sum_value(&s->slowdown) / (double)s->sloped : NAN;
    v[METRIC_bounded_slowdown_mean] = s->sloped > 0 ? sum_value(&s->bounded) / (double)s->sloped : NAN;
    v[METRIC_jain_index] = jain_index(s->users, n_users);
    static const double jct_p[] = {0.5, 0.95, 0.99, 1}, wait_p[] = {0.5, 0.95, 0.99};
    double q[4];
    void (*quantiles)(double *x, size_t n, const double *p, size_t k, double *out) =
        has_elements ? sample_elements : sample_quantiles;
    quantiles(s->jct_s, n, jct_p, 4, q);
    v[METRIC_jct_p50] = q[0];
    v[METRIC_jct_p95] = q[1];
    v[METRIC_jct_p99] = q[2];
    v[METRIC_jct_max] = q[3];
    quantiles(s->wait_s, n, wait_p, 3, q);
    v[METRIC_wait_p50] = q[0];
    v[METRIC_wait_p95] = q[1];
    v[METRIC_wait_p99] = q[2];
}

int metrics_compute(struct metrics *m, const struct run_result *r, const struct workload *w,
                    const struct measure_spec *measure, struct error *err)
{
    for (int i = 0; i < METRICS_MAX; i++)
        m->value[i] = NAN;
    struct sums s = {.last_end_ns = INT64_MIN};
    s.jct_s = malloc(((size_t)r->n_jobs + 1) * sizeof *s.jct_s);
    s.wait_s = malloc(((size_t)r->n_jobs + 1) * sizeof *s.wait_s);
    s.users = calloc((size_t)w->users.count + 1, sizeof *s.users);
    int status = 0;
    if (s.jct_s == NULL || s.wait_s == NULL || s.users == NULL) {
        status = error_set(err, BRAID_FAILED, "out of memory for the metrics of %u jobs", r->n_jobs);
        goto done;
    }
    int64_t from = measure_from(measure, w);
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        const struct job *j = &r->jobs[i];
        if (j->run_ns > 0) {
            double part = (double)(j->run_ns - j->overhead_ns - j->lost_ns) / (double)j->run_ns;
            sum_add(&s.productive_gpu_ns, job_gpu_ns(j, w->gpus[i]) * part);
        }
        if (is_measured(measure, from, w->submit_ns[i]))
            add_job(&s, j, w, i);
    }
    fill_totals(m->value, &r->totals, sum_value(&s.productive_gpu_ns));
    fill_jobs(m->value, &s, w->users.count, r->has_element_quantiles);
    status = fairness(m, r, w, measure, err);
    if (status == 0)
        status = fill_gaps(m->value, r, w, from, measure->to_ns, s.first_submit_ns, err);
done:
    free(s.jct_s);
    free(s.wait_s);
    free(s.users);
    return status;
}

#include "traces/fit.h"

#include "base/number.h"
#include "traces/generator_arrivals.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a trace without names gets. */
#define REPEAT_UNKNOWN 0.5
#define ALIKE_UNKNOWN 0.4

enum { CLASS_LEAST = 50, HOUR_S = 3600, WINDOW_S = 600, WINDOWS = HOUR_S / WINDOW_S };

static int no_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory while measuring a trace");
}

/* ---- arrivals -------------------------------------------------------------------------------------- */

/* Seconds from a Monday, 0 h, to time 0; without a date, time 0 is taken for one. */
static int64_t week_offset_s(const struct workload *w)
{
    const int64_t first_monday_s = 4 * 86400; /* 1970-01-05 */
    return w->has_origin ? ((w->origin_utc_s - first_monday_s) % 604800 + 604800) % 604800 : 0;
}

/* Rates of the hours of the week, from the jobs in each and how long each was watched. */
static void set_week(double week_jobs[PROFILE_HOURS], const double *watched_s)
{
    double hour_jobs[24] = {0}, hour_s[24] = {0}, jobs = 0, seconds = 0;
    for (int i = 0; i < PROFILE_HOURS; i++) {
        hour_jobs[i % 24] += week_jobs[i];
        hour_s[i % 24] += watched_s[i];
        jobs += week_jobs[i];
        seconds += watched_s[i];
    }
    for (int i = 0; i < PROFILE_HOURS; i++) {
        if (watched_s[i] > 0)
            week_jobs[i] /= watched_s[i];
        else
            week_jobs[i] = hour_s[i % 24] > 0 ? hour_jobs[i % 24] / hour_s[i % 24] : jobs / seconds;
        week_jobs[i] *= HOUR_S;
    }
}

void fit_arrivals(const struct workload *w, double week_jobs[PROFILE_HOURS], double *dispersion)
{
    int64_t offset_s = week_offset_s(w), first_s = offset_s + w->submit_ns[0] / NS_PER_S;
    int64_t last_s = offset_s + w->submit_ns[w->n_jobs - 1] / NS_PER_S;
    double watched_s[PROFILE_HOURS] = {0}, spread = 0, jobs = 0;
    memset(week_jobs, 0, PROFILE_HOURS * sizeof *week_jobs);
    uint32_t j = 0;
    for (int64_t hour = first_s / HOUR_S; hour <= last_s / HOUR_S; hour++) {
        int64_t from_s = hour * HOUR_S > first_s ? hour * HOUR_S : first_s;
        int64_t to_s = (hour + 1) * HOUR_S < last_s + 1 ? (hour + 1) * HOUR_S : last_s + 1;
        watched_s[hour % PROFILE_HOURS] += (double)(to_s - from_s);
        double windows[WINDOWS] = {0}, mean = 0;
        for (; j < w->n_jobs && offset_s + w->submit_ns[j] / NS_PER_S < to_s; j++) {
            windows[(offset_s + w->submit_ns[j] / NS_PER_S - hour * HOUR_S) / WINDOW_S]++;
            mean += 1.0 / WINDOWS;
        }
        week_jobs[hour % PROFILE_HOURS] += mean * WINDOWS;
        if (to_s - from_s < HOUR_S)
            continue;
        for (int i = 0; i < WINDOWS; i++)
            spread += (windows[i] - mean) * (windows[i] - mean) / (WINDOWS - 1);
        jobs += mean;
    }
    *dispersion = jobs > 0 ? fmax(1, spread / jobs) : 1;
    set_week(week_jobs, watched_s);
}

/* ---- bursts ------------------------------------------------------------------------------------------
 *
 * Two measures, each where the other fails. Where jobs come slowly a burst may last longer than ten minutes, but the jobs in it
 * are told by their distance: a job is followed at more than a quarter of the mean distance (five times that within a burst) if it is the last
 * of its burst and no other burst comes, which a share exp(-1/4 / burst) / burst of the jobs are. Where jobs come fast, whole seconds
 * hide distances, but bursts are over within ten minutes, and the variance of the jobs in a window over their mean is the mean of
 * the square of a burst over the mean burst. */
#define FAST_S 12 /* mean distance: 50 of them are ten minutes, twice the longest burst's time */
#define QUARTER 0.25

/* The share of the jobs that are followed at more than a quarter of the distance usual at that hour of the week. */
static double measure_lone(const struct workload *w, const double *week_jobs)
{
    const double hour_ns = HOUR_S * 1e9;
    double offset_ns = (double)week_offset_s(w) * 1e9;
    uint64_t lone = 0;
    for (uint32_t j = 1; j < w->n_jobs; j++) {
        double wanted = QUARTER, at_ns = offset_ns + (double)w->submit_ns[j - 1],
               end_ns = offset_ns + (double)w->submit_ns[j];
        while (at_ns < end_ns && wanted > 0) {
            double hour = floor(at_ns / hour_ns), next_ns = fmin(end_ns, (hour + 1) * hour_ns);
            wanted -= (next_ns - at_ns) / hour_ns * week_jobs[(int64_t)hour % PROFILE_HOURS];
            if (!(next_ns > at_ns))
                break;
            at_ns = next_ns;
        }
        lone += wanted <= 0;
    }
    return (double)lone / (w->n_jobs - 1);
}

static double burst_of(const struct workload *w, const double *week_jobs, double dispersion)
{
    double span_s = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]) / 1e9;
    if (span_s < HOUR_S)
        return 1; /* too short to tell */
    bool is_fast = span_s / w->n_jobs < FAST_S;
    double lone = is_fast ? 0 : measure_lone(w, week_jobs), low = 1, high = PROFILE_BURST_MAX, square;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (is_fast)
            arrivals_burst_mean(arrivals_burst_exponent(middle), &square);
        if (is_fast ? square < dispersion : exp(-QUARTER / middle) / middle > lone)
            low = middle;
        else
            high = middle;
    }
    return round((low + high) / 2 * 1000) / 1000;
}

static int measure_arrivals(struct profile *out, struct arena *a, const struct workload *w, struct error *err)
{
    double *week = ARENA_NEW(a, double, PROFILE_HOURS), dispersion;
    if (week == NULL)
        return no_memory(err);
    fit_arrivals(w, week, &dispersion);
    double span_s = (double)(w->submit_ns[w->n_jobs - 1] - w->submit_ns[0]) / 1e9;
    out->rate_per_day = fmin(1e12, w->n_jobs * 86400.0 / fmax(span_s, 1));
    if (w->n_jobs == 1 || span_s < 1)
        out->rate_per_day = w->n_jobs; /* all at once: no rate to be seen */
    out->week_jobs = week;
    out->burst = burst_of(w, week, dispersion);
    out->has_origin = w->has_origin;
    if (w->has_origin)
        out->origin_utc_s = w->origin_utc_s - week_offset_s(w);
    return BRAID_OK;
}

/* ---- sizes, and classes of them --------------------------------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int measure_sizes(struct profile *out, struct arena *a, const struct workload *w, struct error *err)
{
    uint32_t *gpus = malloc(w->n_jobs * sizeof *gpus), n = 0;
    if (gpus == NULL)
        return no_memory(err);
    memcpy(gpus, w->gpus, w->n_jobs * sizeof *gpus);
    qsort(gpus, w->n_jobs, sizeof *gpus, compare_u32);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        n += j == 0 || gpus[j] != gpus[j - 1];
    struct profile_size *sizes = n <= PROFILE_SIZES_MAX ? ARENA_NEW(a, struct profile_size, n) : NULL;
    for (uint32_t j = 0, at = 0; sizes != NULL && j < w->n_jobs; j++) {
        at += j > 0 && gpus[j] != gpus[j - 1];
        sizes[at].gpus = gpus[j];
        sizes[at].jobs++;
    }
    free(gpus);
    if (n > PROFILE_SIZES_MAX)
        return error_set(err, BRAID_BAD_INPUT, "%" PRIu32 " different numbers of GPUs; a model takes at most %d", n,
                         (int)PROFILE_SIZES_MAX);
    if (sizes == NULL)
        return no_memory(err);
    out->sizes = sizes;
    out->n_sizes = n;
    return BRAID_OK;
}

struct ranked {
    int64_t duration_ns;
    uint32_t job, class;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns < y->duration_ns ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

/* Classes begin at 1, 2, 3, 5, 9, 17, … GPUs (the powers of two end them); one of fewer than CLASS_LEAST jobs goes with the next, the last
 * with the one before. */
static uint32_t find_classes(struct profile_class *classes, const struct profile *p)
{
    double jobs[PROFILE_CLASSES_MAX] = {0}, gathered = 0;
    uint32_t from[PROFILE_CLASSES_MAX] = {1}, n = 1, kept = 0;
    for (uint32_t i = 0; i < p->n_sizes; i++) {
        uint64_t end = from[n - 1] <= 1 ? 1 : 2 * (uint64_t)(from[n - 1] - 1);
        while (p->sizes[i].gpus > end) {
            from[n] = (uint32_t)end + 1;
            n++;
            end = 2 * end;
        }
        jobs[n - 1] += p->sizes[i].jobs;
    }
    for (uint32_t i = 0, first = 0; i < n; i++) {
        gathered += jobs[i];
        if (gathered < CLASS_LEAST && !(i == n - 1 && kept == 0))
            continue;
        classes[kept++].gpus_from = from[first];
        first = i + 1;
        gathered = 0;
    }
    classes[0].gpus_from = 1;
    return kept;
}

static void set_bands(struct profile_class *c, const struct workload *w, const struct ranked *sorted, uint32_t n)
{
    enum { BANDS = PROFILE_BANDS_MAX };
    double passed[BANDS] = {0}, failed[BANDS] = {0}, killed[BANDS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t band = (uint32_t)((uint64_t)i * BANDS / n);
        uint8_t status = w->trace_status[sorted[i].job];
        passed[band] += status == TRACE_PASSED;
        failed[band] += status == TRACE_FAILED;
        killed[band] += status == TRACE_KILLED;
    }
    c->n_bands = BANDS;
    for (int b = 0; b < BANDS; b++) {
        double known = passed[b] + failed[b] + killed[b];
        c->bands[b] = (struct profile_band){.to = (b + 1.0) / BANDS,
                                            .passed = known > 0 ? passed[b] / known : 1,
                                            .failed = known > 0 ? failed[b] / known : 0,
                                            .killed = known > 0 ? killed[b] / known : 0};
    }
}

/* A knot at every hundredth, and more of them towards both ends. */
static bool set_knots(struct profile_class *c, struct arena *a, const struct ranked *sorted, uint32_t n)
{
    static const double ends[] = {0.0005, 0.001, 0.002, 0.005};
    enum { ENDS = sizeof ends / sizeof ends[0], KNOTS = 101 + 2 * ENDS };
    struct profile_knot *knots = ARENA_NEW(a, struct profile_knot, KNOTS);
    if (knots == NULL)
        return false;
    uint32_t k = 0;
    knots[k++].u = 0;
    for (int i = 0; i < ENDS; i++)
        knots[k++].u = ends[i];
    for (int i = 1; i < 100; i++)
        knots[k++].u = i / 100.0;
    for (int i = ENDS - 1; i >= 0; i--)
        knots[k++].u = 1 - ends[i];
    knots[k++].u = 1;
    for (uint32_t i = 0; i < k; i++) {
        double at = knots[i].u * (n - 1);
        uint32_t below = (uint32_t)at, above = below + 1 < n ? below + 1 : below;
        double low = (double)sorted[below].duration_ns / 1e9, high = (double)sorted[above].duration_ns / 1e9;
        knots[i].seconds = round((low + (at - below) * (high - low)) * 1000) / 1000;
    }
    c->knots = knots;
    c->n_knots = k;
    return true;
}

/* ---- what repeats ------------------------------------------------------------------------------------ */

static int compare_origins(const void *a, const void *b, void *workload)
{
    const struct workload *w = workload;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t *columns[] = {w->name, w->user, w->vc, w->gpus, w->gpu_type};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i] != NULL && columns[i][x] != columns[i][y])
            return columns[i][x] < columns[i][y] ? -1 : 1;
    return 0;
}

/* Number the origins of the jobs in `origin`: what the generator repeats has one name, user, VC, number of GPUs and GPU type. A name alone
 * is none, for many users may share a word ("bash", "train.sh"). Returns how many there are; 0: memory is out. */
static uint32_t find_origins(const struct workload *w, uint32_t *origin)
{
    uint32_t *sorted = malloc(w->n_jobs * sizeof *sorted), n = 0;
    if (sorted == NULL)
        return 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        sorted[j] = j;
    qsort_r(sorted, w->n_jobs, sizeof *sorted, compare_origins, (void *)w);
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        n += i == 0 || compare_origins(&sorted[i - 1], &sorted[i], (void *)w) != 0;
        origin[sorted[i]] = n - 1;
    }
    free(sorted);
    return n;
}

/* How much of the variance of the normal scores of durations lies between origins: the intraclass correlation of a one-way analysis. The
 * scores are those within the class, so that sizes do not count. `sum` and `jobs` have `groups` zeros. */
static double measure_alike(const struct workload *w, const uint32_t *origin, uint32_t groups, const double *score,
                            double *sum, uint32_t *jobs)
{
    double squares = 0, between = 0, jobs_squared = 0, n = w->n_jobs;
    if (groups < 2 || groups == w->n_jobs)
        return ALIKE_UNKNOWN;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        sum[origin[j]] += score[j];
        jobs[origin[j]]++;
        squares += score[j] * score[j];
    }
    for (uint32_t i = 0; i < groups; i++) {
        between += sum[i] * sum[i] / jobs[i];
        jobs_squared += (double)jobs[i] * jobs[i];
    }
    double size = (n - jobs_squared / n) / (groups - 1); /* of a group, as the analysis counts it */
    double mean_between = between / (groups - 1), mean_within = (squares - between) / (n - groups);
    double alike = (mean_between - mean_within) / (mean_between + (size - 1) * mean_within);
    return fmin(1, fmax(0, alike));
}

/* Normal scores of the durations within their classes. */
static void set_scores(double *score, const struct ranked *sorted, uint32_t n)
{
    for (uint32_t first = 0, end = 0; first < n; first = end) {
        while (end < n && sorted[end].class == sorted[first].class)
            end++;
        for (uint32_t k = first; k < end; k++)
            score[sorted[k].job] = gsl_cdf_ugaussian_Pinv((k - first + 0.5) / (end - first));
    }
}

static int measure_repeats(struct profile *out, const struct workload *w, const struct ranked *sorted,
                           struct error *err)
{
    out->repeat = REPEAT_UNKNOWN;
    out->alike = ALIKE_UNKNOWN;
    if (w->name == NULL || w->names.count < 2)
        return BRAID_OK;
    uint32_t *origin = malloc(w->n_jobs * sizeof *origin);
    uint32_t origins = origin != NULL ? find_origins(w, origin) : 0;
    double *score = malloc(w->n_jobs * sizeof *score), *sum = calloc(origins, sizeof *sum);
    uint32_t *jobs = calloc(origins, sizeof *jobs);
    bool is_done = origins > 0 && score != NULL && sum != NULL && jobs != NULL;
    if (is_done) {
        set_scores(score, sorted, w->n_jobs);
        out->alike = round(measure_alike(w, origin, origins, score, sum, jobs) * 1e4) / 1e4;
        out->repeat = round(fmin(1, fmax(0, 1 - origins * out->burst / w->n_jobs)) * 1e4) / 1e4;
    }
    free(origin);
    free(score);
    free(sum);
    free(jobs);
    return is_done ? BRAID_OK : no_memory(err);
}

static int measure_durations(struct profile *out, struct arena *a, const struct workload *w, struct error *err)
{
    struct profile_class *classes = ARENA_NEW(a, struct profile_class, PROFILE_CLASSES_MAX);
    struct ranked *sorted = malloc(w->n_jobs * sizeof *sorted);
    if (classes == NULL || sorted == NULL) {
        free(sorted);
        return no_memory(err);
    }
    out->n_classes = find_classes(classes, out);
    out->classes = classes;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        uint32_t c = out->n_classes - 1;
        while (c > 0 && classes[c].gpus_from > w->gpus[j])
            c--;
        sorted[j] = (struct ranked){.duration_ns = w->duration_ns[j], .job = j, .class = c};
        out->longest_s = fmax(out->longest_s, (double)w->duration_ns[j] / 1e9);
    }
    qsort(sorted, w->n_jobs, sizeof *sorted, compare_ranked);
    bool is_done = true;
    for (uint32_t first = 0, end = 0; first < w->n_jobs && is_done; first = end) {
        while (end < w->n_jobs && sorted[end].class == sorted[first].class)
            end++;
        struct profile_class *c = &classes[sorted[first].class];
        set_bands(c, w, sorted + first, end - first);
        is_done = set_knots(c, a, sorted + first, end - first);
    }
    int code = is_done ? measure_repeats(out, w, sorted, err) : no_memory(err);
    free(sorted);
    return code;
}

/* ---- VCs and users --------------------------------------------------------------------------------- */

static double zipf_entropy(uint32_t n, double exponent)
{
    double sum = 0, weighted = 0; /* of the weights, and of weight x its logarithm */
    for (uint32_t i = n; i >= 1; i--) {
        double log_weight = -exponent * log(i), weight = exp(log_weight);
        sum += weight;
        weighted += weight * log_weight;
    }
    return log(sum) - weighted / sum;
}

/* The exponent of a Zipf law over n things whose entropy is this. */
static double zipf_exponent(uint32_t n, double entropy)
{
    double low = 0, high = 10;
    for (int i = 0; i < 40 && n > 1; i++) {
        double middle = (low + high) / 2;
        if (zipf_entropy(n, middle) > entropy)
            low = middle;
        else
            high = middle;
    }
    return n > 1 ? round((low + high) / 2 * 1000) / 1000 : 0;
}

struct pair {
    uint32_t vc, user;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->vc != y->vc)
        return x->vc < y->vc ? -1 : 1;
    return (x->user > y->user) - (x->user < y->user);
}

/* The entropy of the user of a job when its VC is known, in nats. */
static double user_entropy(const struct pair *sorted, uint32_t n)
{
    double sum = 0; /* over runs of jobs: jobs x log(jobs of the pair / jobs of the VC) */
    for (uint32_t first = 0, end = 0; first < n; first = end) {
        while (end < n && sorted[end].vc == sorted[first].vc)
            end++;
        for (uint32_t from = first, to = first; from < end; from = to) {
            while (to < end && sorted[to].user == sorted[from].user)
                to++;
            sum -= (to - from) * log((double)(to - from) / (end - first));
        }
    }
    return sum / n;
}

static int measure_people(struct profile *out, struct arena *a, const struct workload *w, struct error *err)
{
    if (w->vcs.count > PROFILE_VCS_MAX)
        return error_set(err, BRAID_BAD_INPUT, "%" PRIu32 " virtual clusters; a model takes at most %d", w->vcs.count,
                         (int)PROFILE_VCS_MAX);
    struct profile_share *vcs = ARENA_NEW(a, struct profile_share, w->vcs.count);
    struct pair *pairs = malloc(w->n_jobs * sizeof *pairs);
    bool is_done = vcs != NULL && pairs != NULL;
    for (uint32_t i = 0; i < w->vcs.count && is_done; i++) {
        const char *name = names_text(&w->vcs, i);
        vcs[i].name = arena_text(a, name, strlen(name));
        is_done = vcs[i].name != NULL;
    }
    if (!is_done) {
        free(pairs);
        return no_memory(err);
    }
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        vcs[w->vc[j]].jobs++;
        pairs[j] = (struct pair){w->vc[j], w->user[j]};
    }
    qsort(pairs, w->n_jobs, sizeof *pairs, compare_pairs);
    out->vcs = w->vcs.count;
    out->vc_shares = vcs;
    double entropy = 0;
    for (uint32_t i = 0; i < out->vcs; i++)
        entropy -= vcs[i].jobs > 0 ? vcs[i].jobs / w->n_jobs * log(vcs[i].jobs / w->n_jobs) : 0;
    out->vc_exponent = zipf_exponent(out->vcs, entropy);
    out->users = w->users.count < PROFILE_USERS_MAX ? w->users.count : PROFILE_USERS_MAX;
    uint32_t members = out->users > out->vcs ? out->users / out->vcs : 1;
    out->user_exponent = zipf_exponent(members, user_entropy(pairs, w->n_jobs));
    free(pairs);
    return BRAID_OK;
}

int fit_measure(struct profile *out, struct arena *a, const struct workload *w, struct error *err)
{
    *out = (struct profile){0};
    if (w->n_jobs == 0)
        return error_set(err, BRAID_BAD_INPUT, "there are no jobs to be measured");
    int code = measure_arrivals(out, a, w, err);
    if (code == BRAID_OK)
        code = measure_sizes(out, a, w, err);
    if (code == BRAID_OK)
        code = measure_durations(out, a, w, err);
    if (code == BRAID_OK)
        code = measure_people(out, a, w, err);
    return code;
}

#include "traces/sample.h"

#include "base/number.h"
#include "base/random.h"
#include "traces/depends.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS (86400 * NS_PER_S)

/* A job of the sample: which one, and by how much it moves. */
struct drawn {
    uint32_t *job;
    int64_t *by_ns;
    uint32_t *copy; /* 1: the first */
    uint32_t n;
    size_t room;
};

struct sampler {
    const struct workload *w;
    const struct sample_spec *spec;
    int64_t midnight_ns; /* of day 0, in the workload's time */
    bool *has_vc, *has_user;
    struct drawn drawn;
};

static int no_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory for a sample");
}

static int64_t day_of(const struct sampler *s, uint32_t j)
{
    return (s->w->submit_ns[j] - s->midnight_ns) / DAY_NS;
}

static int find_names(const struct names *names, const char *const *wanted, uint32_t n, const char *what,
                      bool *is_wanted, struct error *err)
{
    for (uint32_t i = 0; i < names->count && wanted == NULL; i++)
        is_wanted[i] = true;
    for (uint32_t i = 0; i < n && wanted != NULL; i++) {
        uint32_t id = names_find(names, wanted[i], strlen(wanted[i]));
        if (id == NAMES_NONE)
            return error_set(err, BRAID_BAD_INPUT, "no job is of %s '%s'; 'braid trace info' lists them", what,
                             wanted[i]);
        is_wanted[id] = true;
    }
    return BRAID_OK;
}

static bool is_wanted(const struct sampler *s, uint32_t j)
{
    int64_t day = day_of(s, j);
    return s->has_vc[s->w->vc[j]] && s->has_user[s->w->user[j]] &&
           (!s->spec->has_days || (day >= s->spec->day_begin && day < s->spec->day_end));
}

static bool draw_job(struct drawn *d, uint32_t job, int64_t by_ns, uint32_t copy)
{
    if (d->n == d->room) {
        size_t room = d->room * 2 + 1024;
        uint32_t *jobs = realloc(d->job, room * sizeof *jobs);
        d->job = jobs != NULL ? jobs : d->job;
        int64_t *by = jobs != NULL ? realloc(d->by_ns, room * sizeof *by) : NULL;
        d->by_ns = by != NULL ? by : d->by_ns;
        uint32_t *copies = by != NULL ? realloc(d->copy, room * sizeof *copies) : NULL;
        d->copy = copies != NULL ? copies : d->copy;
        if (copies == NULL)
            return false;
        d->room = room;
    }
    d->job[d->n] = job;
    d->by_ns[d->n] = by_ns;
    d->copy[d->n++] = copy;
    return true;
}

/* ---- the day-block bootstrap -------------------------------------------------------------------------------------- */

struct days {
    int64_t first; /* the first day that may be drawn */
    uint32_t n;
    uint32_t *from;  /* n + 1: the first job of each, jobs being in order of submission */
    uint32_t *drawn; /* how often each was */
};

/* The days that are wholly within the trace and asked for; all that are asked for, where that leaves none. */
static void find_days(const struct sampler *s, struct days *d)
{
    int64_t least = 0, most = day_of(s, s->w->n_jobs - 1);
    if (s->spec->has_days) {
        least = s->spec->day_begin > least ? s->spec->day_begin : least;
        most = s->spec->day_end - 1 < most ? s->spec->day_end - 1 : most;
    }
    int64_t last = day_of(s, s->w->n_jobs - 1);
    bool is_cut = s->midnight_ns < 0; /* time 0 is after the midnight of day 0 */
    int64_t begin = least == 0 && is_cut ? 1 : least, end = most == last ? last - 1 : most;
    d->first = begin <= end ? begin : least;
    d->n = begin <= end ? (uint32_t)(end - begin + 1) : most >= least ? (uint32_t)(most - least + 1) : 0;
}

static void find_jobs(const struct sampler *s, struct days *d)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i <= d->n; i++) {
        while (j < s->w->n_jobs && day_of(s, j) < d->first + i)
            j++;
        d->from[i] = j;
    }
}

/* A day that may stand for the `k`-th of the sample. */
static uint32_t draw_day(const struct sampler *s, const struct days *d, uint32_t k, gsl_rng *rng)
{
    if (!s->spec->same_weekday)
        return (uint32_t)gsl_rng_uniform_int(rng, d->n);
    uint32_t first = k % 7; /* the sample begins with the weekday of the first day */
    if (first >= d->n)      /* none has its name */
        return (uint32_t)gsl_rng_uniform_int(rng, d->n);
    return first + 7 * (uint32_t)gsl_rng_uniform_int(rng, (d->n - first + 6) / 7);
}

static int draw_days(struct sampler *s, struct days *d, gsl_rng *rng, struct error *err)
{
    uint32_t length = s->spec->length_days > 0 ? s->spec->length_days : d->n;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t day = draw_day(s, d, k, rng);
        uint32_t copy = ++d->drawn[day];
        int64_t by_ns = ((int64_t)k - day) * DAY_NS;
        for (uint32_t j = d->from[day]; j < d->from[day + 1]; j++) {
            if (!is_wanted(s, j))
                continue;
            if (s->drawn.n == UINT32_MAX - 2)
                return error_set(err, BRAID_BAD_INPUT, "a sample of more than %" PRIu32 " jobs; ask for fewer days",
                                 UINT32_MAX - 2);
            if (!draw_job(&s->drawn, j, by_ns, copy))
                return no_memory(err);
        }
    }
    return BRAID_OK;
}

static int bootstrap(struct sampler *s, struct error *err)
{
    struct days d = {0};
    if (s->spec->same_weekday && !s->w->has_origin)
        return error_set(err, BRAID_BAD_INPUT,
                         "the trace has no dates, so its days are no weekdays; let any day stand for any");
    if (s->spec->length_days > 100000)
        return error_set(err, BRAID_BAD_INPUT, "a sample of %" PRIu32 " days; at most 100000 can be drawn",
                         s->spec->length_days);
    find_days(s, &d);
    if (d.n == 0)
        return BRAID_OK;
    gsl_rng *rng = random_stream(s->spec->seed, "sample", "");
    d.from = malloc(((size_t)d.n + 1) * sizeof *d.from);
    d.drawn = calloc(d.n, sizeof *d.drawn);
    int code = BRAID_OK;
    if (rng == NULL || d.from == NULL || d.drawn == NULL) {
        code = no_memory(err);
    } else {
        find_jobs(s, &d);
        code = draw_days(s, &d, rng, err);
    }
    if (rng != NULL)
        gsl_rng_free(rng);
    free(d.from);
    free(d.drawn);
    return code;
}

/* ---- from the drawn jobs to a workload --------------------------------------------------------------------------- */

static void move_times(int64_t *times, const struct drawn *d, int64_t origin_ns)
{
    for (uint32_t i = 0; times != NULL && i < d->n; i++)
        if (times[i] != WORKLOAD_ABSENT && (__builtin_add_overflow(times[i], d->by_ns[i], &times[i]) ||
                                            __builtin_sub_overflow(times[i], origin_ns, &times[i])))
            times[i] = WORKLOAD_ABSENT;
}

/* "~2" behind the ids of second copies. */
static bool mark_copies(struct workload *w, const struct drawn *d)
{
    uint32_t copies = 0;
    for (uint32_t i = 0; i < d->n; i++)
        copies += d->copy[i] > 1;
    if (copies == 0)
        return true;
    char *text = malloc(w->id_at[w->n_jobs] + (uint64_t)copies * 12 + 1);
    if (text == NULL)
        return false;
    uint64_t at = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t n = w->id_at[i + 1] - w->id_at[i];
        memcpy(text + at, w->id_text + w->id_at[i], n);
        w->id_at[i] = at; /* the old one is not needed any more; that of the next still is */
        at += n;
        if (d->copy[i] > 1)
            at += (uint64_t)sprintf(text + at, "~%" PRIu32, d->copy[i]);
    }
    w->id_at[d->n] = at;
    free(w->id_text);
    w->id_text = text;
    return true;
}

static int make_workload(struct workload *out, const struct sampler *s, struct error *err)
{
    const struct drawn *d = &s->drawn;
    if (d->n == 0)
        return error_set(err, BRAID_BAD_INPUT, "no job is left in the sample of %" PRIu32 " jobs", s->w->n_jobs);
    int code = workload_select(out, s->w, d->job, d->n, err);
    if (code != BRAID_OK)
        return code;
    int64_t first_ns = out->submit_ns[0] + d->by_ns[0];
    int64_t rest_ns = (first_ns % NS_PER_S + NS_PER_S) % NS_PER_S, origin_ns = first_ns - rest_ns;
    move_times(out->submit_ns, d, origin_ns);
    move_times(out->start_ns, d, origin_ns);
    move_times(out->deadline_ns, d, origin_ns);
    if (out->has_origin)
        out->origin_utc_s += origin_ns / NS_PER_S;
    else
        out->offset_s += origin_ns / NS_PER_S;
    if (!mark_copies(out, d) || !depends_prune(out) || !workload_settle_names(out))
        return no_memory(err);
    workload_digest(out);
    return BRAID_OK;
}

int trace_sample(struct workload *out, const struct workload *w, const struct sample_spec *spec, struct error *err)
{
    struct sampler s = {.w = w, .spec = spec};
    workload_init(out);
    if (w->n_jobs == 0)
        return error_set(err, BRAID_BAD_INPUT, "no job to draw a sample from");
    int64_t second = w->origin_utc_s % 86400;
    s.midnight_ns = w->has_origin ? -(second < 0 ? second + 86400 : second) * NS_PER_S : 0;
    s.midnight_ns += (w->submit_ns[0] - s.midnight_ns) / DAY_NS * DAY_NS;
    s.has_vc = calloc((size_t)w->vcs.count + 1, sizeof *s.has_vc);
    s.has_user = calloc((size_t)w->users.count + 1, sizeof *s.has_user);
    int code = s.has_vc == NULL || s.has_user == NULL ? no_memory(err) : BRAID_OK;
    if (code == BRAID_OK)
        code = find_names(&w->vcs, spec->vcs, spec->n_vcs, "virtual cluster", s.has_vc, err);
    if (code == BRAID_OK)
        code = find_names(&w->users, spec->users, spec->n_users, "user", s.has_user, err);
    if (code == BRAID_OK && spec->is_bootstrap)
        code = bootstrap(&s, err);
    for (uint32_t j = 0; j < w->n_jobs && code == BRAID_OK && !spec->is_bootstrap; j++)
        if (is_wanted(&s, j) && !draw_job(&s.drawn, j, 0, 1))
            code = no_memory(err);
    if (code == BRAID_OK)
        code = make_workload(out, &s, err);
    if (code != BRAID_OK)
        workload_fini(out);
    free(s.has_vc);
    free(s.has_user);
    free(s.drawn.job);
    free(s.drawn.by_ns);
    free(s.drawn.copy);
    return code;
}

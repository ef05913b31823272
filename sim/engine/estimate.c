/* estimate.c - what a policy may know of a job's length (`estimate:` of the config). Only the past is ever used. */
#include "base/number.h"
#include "base/random.h"
#include "engine/sim.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    USER_WINDOW = 10, /* a rolling mean over about the last ten runs of a user's job name */
    UNKNOWN_S = 3600, /* before anything has finished: one hour */
};

struct rolling {
    double mean_ns;
    uint32_t n;
};

/* Rolling means by (user, name), by user, and over all; the first that has seen a job answers. */
struct user_means {
    uint64_t *keys; /* (user << 32 | name) + 1; 0 empty */
    struct rolling *by_name;
    uint32_t n_slots;
    struct rolling *by_user;
    struct rolling all;
};

static int64_t clamp_ns(double ns)
{
    return ns < 1 ? 1 : ns > 9e18 ? INT64_C(9000000000000000000) : (int64_t)llrint(ns);
}

static struct rolling *means_slot(struct user_means *m, const struct workload *w, uint32_t job)
{
    uint64_t key = ((uint64_t)w->user[job] << 32 | (w->name != NULL ? w->name[job] : 0)) + 1;
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    uint32_t slot = (uint32_t)(h >> 32) & (m->n_slots - 1);
    while (m->keys[slot] != 0 && m->keys[slot] != key)
        slot = (slot + 1) & (m->n_slots - 1);
    m->keys[slot] = key;
    return &m->by_name[slot];
}

static void rolling_add(struct rolling *r, double ns)
{
    r->n += r->n < USER_WINDOW;
    r->mean_ns += (ns - r->mean_ns) / r->n;
}

static int means_prepare(struct sim *sim, struct error *err)
{
    const struct workload *w = sim->w;
    struct user_means *m = ARENA_NEW(&sim->arena, struct user_means, 1);
    uint32_t slots = 64;
    while (slots < UINT32_MAX / 2 && slots / 2 < w->n_jobs)
        slots *= 2;
    if (m != NULL) {
        m->n_slots = slots;
        m->keys = ARENA_NEW(&sim->arena, uint64_t, slots);
        m->by_name = ARENA_NEW(&sim->arena, struct rolling, slots);
        m->by_user = ARENA_NEW(&sim->arena, struct rolling, w->users.count);
    }
    if (sim->arena.is_short)
        return error_set(err, BRAID_FAILED, "out of memory");
    sim->user_means = m;
    return BRAID_OK;
}

void estimate_on_submit(struct sim *sim, uint32_t job)
{
    struct user_means *m = sim->user_means;
    if (m == NULL)
        return;
    const struct rolling *r = means_slot(m, sim->w, job);
    if (r->n == 0)
        r = &m->by_user[sim->w->user[job]];
    if (r->n == 0)
        r = &m->all;
    sim->estimate_ns[job] = r->n == 0 ? UNKNOWN_S * NS_PER_S : clamp_ns(r->mean_ns);
}

void estimate_on_finish(struct sim *sim, uint32_t job)
{
    struct user_means *m = sim->user_means;
    if (m == NULL)
        return;
    double ran = sim->jobs[job].work_done;
    rolling_add(means_slot(m, sim->w, job), ran);
    rolling_add(&m->by_user[sim->w->user[job]], ran);
    rolling_add(&m->all, ran);
}

/* ---- from a file: csv with columns id and estimate (seconds) ------------------------------------ */

struct id_estimate {
    const char *id;
    size_t length;
    int64_t ns;
};

static int id_compare(const void *a, const void *b)
{
    const struct id_estimate *x = a, *y = b;
    return text_compare_natural(x->id, x->length, y->id, y->length);
}

static int file_read(struct sim *sim, const char *path, struct id_estimate **out, size_t *n, struct error *err)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return error_at(err, BRAID_BAD_INPUT, path, 0, 0, "cannot be read: estimates come from a csv with columns id,estimate");
    char *line = NULL;
    size_t room = 0, have = 0;
    struct id_estimate *rows = NULL;
    int code = BRAID_OK, number = 0;
    *n = 0;
    for (ssize_t length; code == BRAID_OK && (length = getline(&line, &room, f)) >= 0;) {
        number++;
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        const char *comma = memchr(line, ',', (size_t)length);
        if (length == 0 || (number == 1 && strcmp(line, "id,estimate") == 0))
            continue;
        struct id_estimate e = {0};
        if (comma == NULL || !number_parse_scaled(comma + 1, strlen(comma + 1), NS_PER_S, &e.ns) || e.ns < 0) {
            code = error_at(err, BRAID_BAD_INPUT, path, number, 1, "expected a job's id, a comma and its estimate in seconds");
            break;
        }
        e.length = (size_t)(comma - line);
        e.id = arena_text(&sim->arena, line, e.length);
        if (*n == have) {
            have = have * 2 + 1024;
            struct id_estimate *grown = realloc(rows, have * sizeof *rows);
            if (grown == NULL) {
                code = error_set(err, BRAID_FAILED, "out of memory");
                break;
            }
            rows = grown;
        }
        rows[(*n)++] = e;
    }
    if (code == BRAID_OK && ferror(f))
        code = error_at(err, BRAID_FAILED, path, number, 0, "cannot be read to its end");
    free(line);
    fclose(f);
    if (code != BRAID_OK) {
        free(rows);
        return code;
    }
    *out = rows;
    return BRAID_OK;
}

static int file_prepare(struct sim *sim, struct error *err)
{
    const struct workload *w = sim->w;
    struct id_estimate *rows = NULL;
    size_t n = 0;
    int code = file_read(sim, sim->spec->estimate.path, &rows, &n, err);
    if (code != BRAID_OK)
        return code;
    if (n > 0)
        qsort(rows, n, sizeof *rows, id_compare);
    for (uint32_t job = 0; job < w->n_jobs && code == BRAID_OK; job++) {
        struct id_estimate want = {w->id_text + w->id_at[job], (size_t)(w->id_at[job + 1] - w->id_at[job]), 0};
        const struct id_estimate *found = n > 0 ? bsearch(&want, rows, n, sizeof *rows, id_compare) : NULL;
        if (found == NULL)
            code = error_at(err, BRAID_BAD_INPUT, sim->spec->estimate.path, 0, 0, "has no estimate for job %.*s",
                            (int)want.length, want.id);
        else
            sim->estimate_ns[job] = found->ns < 1 ? 1 : found->ns;
    }
    free(rows);
    return code;
}

int estimate_prepare(struct sim *sim, struct error *err)
{
    const struct workload *w = sim->w;
    const struct estimate_spec *spec = &sim->spec->estimate;
    if (spec->source == ESTIMATE_EXACT)
        return BRAID_OK;
    sim->estimate_ns = ARENA_NEW(&sim->arena, int64_t, w->n_jobs);
    if (sim->estimate_ns == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    switch (spec->source) {
    case ESTIMATE_TRACE:
        if (w->estimate_ns == NULL)
            return error_set(err, BRAID_BAD_INPUT, "estimate.source is trace, but the trace has no estimates; use exact, noise, "
                                                   "user_mean or file");
        for (uint32_t j = 0; j < w->n_jobs; j++) /* a job without an estimate counts as an hour */
            sim->estimate_ns[j] = w->estimate_ns[j] == WORKLOAD_ABSENT ? UNKNOWN_S * NS_PER_S
                                  : w->estimate_ns[j] < 1              ? 1
                                                                       : w->estimate_ns[j];
        return BRAID_OK;
    case ESTIMATE_NOISE: {
        gsl_rng *rng = random_stream(sim->spec->seed, "estimate", "");
        if (rng == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        for (uint32_t j = 0; j < w->n_jobs; j++)
            sim->estimate_ns[j] = clamp_ns((double)w->duration_ns[j] * exp(gsl_ran_gaussian(rng, spec->sigma)));
        gsl_rng_free(rng);
        return BRAID_OK;
    }
    case ESTIMATE_USER_MEAN:
        return means_prepare(sim, err);
    case ESTIMATE_FILE:
        return file_prepare(sim, err);
    case ESTIMATE_EXACT:
        break;
    }
    return BRAID_OK;
}

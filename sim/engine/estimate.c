/* estimate.c - what a policy may know of a job's length (`estimate:` of the config). Only the past is ever used. */
#include "base/number.h"
#include "base/random.h"
#include "cluster/sheet.h"
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
    uint64_t line;
};

static int id_compare(const void *a, const void *b)
{
    const struct id_estimate *x = a, *y = b;
    return text_compare_natural(x->id, x->length, y->id, y->length);
}

static int row_compare(const void *a, const void *b)
{
    const struct id_estimate *x = a, *y = b;
    int order = id_compare(a, b);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* The row in hand; `*rows` has n before it and grows by one. */
static int row_read(struct sheet *s, struct id_estimate **rows, uint32_t n)
{
    struct id_estimate e = {.line = s->csv.line};
    struct csv_field id = sheet_field(s, s->column[0]), seconds = sheet_field(s, s->column[1]);
    if (!number_parse_scaled(seconds.text, seconds.n, NS_PER_S, &e.ns) || e.ns < 0)
        return sheet_error(s, s->column[1], "the estimate", "it in seconds, 0 or more");
    e.id = arena_text(s->arena, id.text, id.n);
    e.length = id.n;
    struct id_estimate *grown = e.id == NULL ? NULL : sheet_append(s->arena, *rows, n, sizeof e, &e);
    if (grown == NULL)
        return error_set(s->err, BRAID_FAILED, "out of memory for the estimates");
    *rows = grown;
    return BRAID_OK;
}

/* A header may be missing: then the columns are the id and the estimate. */
static int rows_read(struct sheet *s, struct id_estimate **rows, uint32_t *n)
{
    static const char *const columns[] = {"id", "estimate"};
    bool has_row;
    int status = csv_next(&s->csv, &has_row, s->err);
    if (status == BRAID_OK && has_row && !sheet_header_has(s, columns, 2)) {
        if (s->csv.n_fields != 2)
            return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)s->csv.line, 0,
                            "expected the header 'id,estimate', or a job's id and its estimate in seconds");
        s->column[0] = 0;
        s->column[1] = 1;
        status = row_read(s, rows, (*n)++);
    }
    while (status == BRAID_OK && has_row) {
        status = sheet_next(s, 2, &has_row);
        if (status == BRAID_OK && has_row)
            status = row_read(s, rows, (*n)++);
    }
    if (status != BRAID_OK || *n == 0)
        return status;
    qsort(*rows, *n, sizeof **rows, row_compare);
    for (uint32_t i = 1; i < *n; i++)
        if (id_compare(&(*rows)[i - 1], &(*rows)[i]) == 0)
            return error_at(s->err, BRAID_BAD_INPUT, s->shown, (int)(*rows)[i].line, 1,
                            "job %.*s has an estimate already, in line %llu; leave one out", (int)(*rows)[i].length,
                            (*rows)[i].id, (unsigned long long)(*rows)[i - 1].line);
    return BRAID_OK;
}

static int file_prepare(struct sim *sim, struct error *err)
{
    const struct workload *w = sim->w;
    struct arena a;
    struct sheet s;
    struct id_estimate *rows = NULL;
    uint32_t n = 0;
    arena_init(&a);
    int code = sheet_open(&s, sim->spec->estimate.path, NULL, &a, err);
    if (code == BRAID_OK) {
        code = rows_read(&s, &rows, &n);
        sheet_close(&s);
    }
    for (uint32_t job = 0; job < w->n_jobs && code == BRAID_OK; job++) {
        struct id_estimate want = {.id = w->id_text + w->id_at[job],
                                   .length = (size_t)(w->id_at[job + 1] - w->id_at[job])};
        const struct id_estimate *found = n > 0 ? bsearch(&want, rows, n, sizeof *rows, id_compare) : NULL;
        if (found == NULL)
            code = error_at(err, BRAID_BAD_INPUT, sim->spec->estimate.path, 0, 0, "has no estimate for job %.*s",
                            (int)want.length, want.id);
        else
            sim->estimate_ns[job] = found->ns < 1 ? 1 : found->ns;
    }
    arena_fini(&a);
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
            return error_set(err, BRAID_BAD_INPUT,
                             "estimate.source is trace, but the trace has no estimates; use exact, noise, "
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

/* gittins.c - the highest Gittins index first: who is likeliest to finish for the service it would take (gittins_index.h).
 *
 * A job's index depends on its attained service alone and is constant over steps of `delta`; a running job's value jumps at the
 * step's end (order.h). Jobs with a lower index are displaced, equal ones in order of submission; who does not fit is passed over.
 *
 * With `thresholds` jobs are first told apart by queue, as in tiresias.c: the queue of a job is the number of thresholds that its attained
 * service has reached, and the index is the order inside a queue (the Gittins variant of discretised 2D scheduling).
 *
 * The distribution comes from a file, or from the trace itself: then this is an oracle on the distribution (not on any job), which is why the
 * policy declares to know durations.
 */
#include "base/number.h"
#include "policies/compose.h"
#include "policies/gittins_index.h"
#include "policies/instant.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMITS_MAX = 7, LEVEL_BIT = 60 };

struct gittins {
    struct compose c;
    struct gittins_index index;
    int64_t limits[LIMITS_MAX];
};

/* A number whose order is the reverse of the index's (>= 0): its bits as an integer, negated, the last of them left out for whether the job
 * waits: of equal jobs the running one comes first. Below the number of the queue, where there are several, there is room for three
 * bits less. */
static int64_t key_of_index(double index, const struct order_params *p, uint32_t level, bool is_running)
{
    int64_t bits;
    memcpy(&bits, &index, sizeof bits);
    if (p->n_limits == 0)
        return -(bits & ~INT64_C(1)) + !is_running;
    return ((int64_t)level - (LIMITS_MAX + 1) / 2) * (INT64_C(1) << LEVEL_BIT) - (bits >> 3 & ~INT64_C(1)) +
           !is_running;
}

static int64_t index_jump(struct sched *s, uint32_t job, const struct order_params *p, struct order_mark *m,
                          bool is_running)
{
    const struct gittins_index *g = p->index;
    int64_t service = p->by_gpu_time ? sched_attained_gpu_ns(s, job) : sched_attained_ns(s, job);
    int64_t rate = p->by_gpu_time ? (int64_t)sched_gpus(s, job) : 1;
    int64_t step = service / g->delta, next = gittins_index_next(g, step), missing = INT64_MAX;
    uint32_t level = 0;
    while (level < p->n_limits && service >= p->limits[level])
        level++;
    m->key = key_of_index(gittins_index_at(g, step), p, level, is_running);
    if (next != INT64_MAX)
        missing = next * g->delta - service;
    if (level < p->n_limits && p->limits[level] - service < missing)
        missing = p->limits[level] - service;
    if (!is_running || missing == INT64_MAX)
        return SCHED_NEVER;
    return instant_after(sched_now(s), missing / rate + (missing % rate != 0));
}

static const struct order_ops order_index = {
    .name = "gittins", .summary = "highest Gittins index first", .source = "Gittins, 1979", .jump = index_jump};

/* ---- the sample ----------------------------------------------------------------------------------- */

struct sample {
    int64_t *values;
    size_t n, room;
};

static bool sample_push(struct sample *x, int64_t value)
{
    if (x->n == x->room) {
        size_t room = x->room * 2 + 1024;
        int64_t *grown = realloc(x->values, room * sizeof *grown);
        if (grown == NULL)
            return false;
        x->values = grown;
        x->room = room;
    }
    x->values[x->n++] = value;
    return true;
}

static int sample_trace(struct sample *x, struct sched *s, bool by_gpu_time, struct error *err)
{
    uint32_t n = sched_n_jobs(s);
    for (uint32_t job = 0; job < n; job++) {
        int64_t duration = 0, service;
        sched_duration_ns(s, job, &duration);
        if (__builtin_mul_overflow(duration, by_gpu_time ? (int64_t)sched_gpus(s, job) : 1, &service))
            service = INT64_MAX / 4;
        if (!sample_push(x, service))
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

/* One line without its end: a value, the header in the first, or nothing. */
static int sample_line(struct sample *x, const char *path, int line, const char *text, size_t n, struct error *err)
{
    int64_t value;
    if (n == 0 || (line == 1 && n == strlen("duration") && memcmp(text, "duration", n) == 0))
        return BRAID_OK;
    if (!number_parse_scaled(text, n, NS_PER_S, &value) || value < 0)
        return error_at(err, BRAID_BAD_INPUT, path, line, 1,
                        "expected one service time in seconds (the file has the single column 'duration')");
    return sample_push(x, value) ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

static int sample_file(struct sample *x, const char *path, struct error *err)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return error_at(err, BRAID_BAD_INPUT, path, 0, 0,
                        "cannot be opened: %s; 'file' is a csv with the single column 'duration'", strerror(errno));
    char *text = NULL;
    size_t room = 0;
    int code = BRAID_OK, line = 0;
    for (ssize_t n; code == BRAID_OK && (n = getline(&text, &room, f)) >= 0;) {
        size_t skip = ++line == 1 && n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */
        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            n--;
        code = sample_line(x, path, line, text + skip, (size_t)n - skip, err);
    }
    if (code == BRAID_OK && ferror(f))
        code = error_at(err, BRAID_BAD_INPUT, path, line, 0, "cannot be read: %s", strerror(errno));
    if (code == BRAID_OK && x->n == 0)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "holds no values below its header 'duration'");
    free(text);
    fclose(f);
    return code;
}

/* ---- the policy ----------------------------------------------------------------------------------- */

enum param_of { SOURCE, SAMPLE, DELTA, SERVICE, THRESHOLDS };

static int limits_take(struct gittins *g, const union param *p, struct error *err)
{
    if (p->list.n > LIMITS_MAX)
        return error_set(err, BRAID_BAD_INPUT, "thresholds: %u values, at most %d", p->list.n, LIMITS_MAX);
    for (uint32_t i = 0; i < p->list.n; i++) {
        g->limits[i] = llrint(p->list.v[i] * 1e9);
        if (i > 0 && g->limits[i] <= g->limits[i - 1])
            return error_set(err, BRAID_BAD_INPUT, "thresholds must ascend, but %g follows %g", p->list.v[i],
                             p->list.v[i - 1]);
    }
    return BRAID_OK;
}

static int gittins_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct gittins *g = self;
    bool is_file = strcmp(v[SOURCE].s, "file") == 0, by_gpu_time = strcmp(v[SERVICE].s, "gpu_time") == 0;
    if (is_file != (v[SAMPLE].s[0] != '\0'))
        return error_set(err, BRAID_BAD_INPUT,
                         is_file ? "source: file needs the file's path; add file: PATH"
                                 : "file: is only read with source: file; add that, or leave it out");
    struct sample x = {0};
    if (limits_take(g, &v[THRESHOLDS], err) != BRAID_OK)
        return BRAID_BAD_INPUT;
    int code = is_file ? sample_file(&x, v[SAMPLE].s, err) : sample_trace(&x, s, by_gpu_time, err);
    if (code == BRAID_OK && !gittins_index_init(&g->index, x.values, x.n, llrint(v[DELTA].f * 1e9)))
        code = error_set(err, BRAID_FAILED, "out of memory");
    free(x.values);
    g->c.params = (struct order_params){
        .by_gpu_time = by_gpu_time, .limits = g->limits, .n_limits = v[THRESHOLDS].list.n, .index = &g->index};
    if (code == BRAID_OK)
        code = compose_setup(&g->c, s, &order_index, FILL_SKIP, PREEMPT_WHEN_BETTER, 0, err);
    if (code != BRAID_OK)
        gittins_index_fini(&g->index); /* fini is for policies whose init was good */
    return code;
}

static void gittins_fini(void *self)
{
    struct gittins *g = self;
    gittins_index_fini(&g->index);
}

static const struct param_spec gittins_params[] = {
    [SOURCE] = {"source", PARAM_CHOICE, "trace", 0, 0, "", "trace|file",
                "where the distribution of service comes from: all jobs of the trace (an oracle on the distribution) "
                "or a file"},
    [SAMPLE] = {"file", PARAM_PATH, "", 0, 0, "", NULL,
                "csv with the single column 'duration', service times in GPU s or s (source: file)"},
    [DELTA] = {"delta", PARAM_NUMBER, "3250", 1e-6, 9e9, "GPU s or s", NULL,
               "service that the index looks ahead, and after which it is taken anew"},
    [SERVICE] = {"service", PARAM_CHOICE, "gpu_time", 0, 0, "", "gpu_time|time",
                 "what counts as service: time on GPUs x GPUs, or time alone"},
    [THRESHOLDS] = {"thresholds", PARAM_NUMBERS, "[]", 1e-9, 9e9, "GPU s or s", NULL,
                    "attained service at which a job moves to the next queue, ascending, at most 7; the index orders "
                    "inside a queue; none: one queue"},
};

const struct policy_ops policy_gittins = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "gittins",
    .summary = "Highest Gittins index of attained service first, preemptive",
    .source = "Gittins, 1979; Gu et al., NSDI'19 (Tiresias), section 3.3",
    .knows = KNOWS_DURATION,
    .scope = SCOPE_VC,
    .params = gittins_params,
    .n_params = sizeof gittins_params / sizeof *gittins_params,
    .state_size = sizeof(struct gittins),
    .init = gittins_init,
    .fini = gittins_fini,
    .on_submit = compose_on_submit,
    .on_finish = compose_on_finish,
    .on_requeue = compose_on_requeue,
    .schedule = compose_schedule,
};

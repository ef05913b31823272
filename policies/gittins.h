/* gittins.h - the highest Gittins index first, whatever the distribution comes from: between gittins.c and gittins_past.c. */
#ifndef POLICIES_GITTINS_H
#define POLICIES_GITTINS_H

#include "policies/compose.h"
#include "policies/gittins_index.h"
#include "policies/gittins_law.h"
#include "policies/gittins_sample.h"

enum { GITTINS_LIMITS_MAX = 7 };

struct gittins {
    struct compose c;
    struct gittins_index index;
    struct gittins_law law;
    int64_t limits[GITTINS_LIMITS_MAX];
    struct gittins_sample past; /* of jobs that ended in this run; kept where refit_ns > 0 */
    int64_t refit_ns, next_fit_ns;
    size_t n_fitted; /* values that the index knows */
};

struct gittins_spec {
    const char *source; /* trace, file, past, or a distribution's name */
    const char *file;
    struct gittins_law law; /* mean and shape, in seconds of service */
    double delta_s;
    bool by_gpu_time;
    const union param *thresholds;
    int64_t refit_ns; /* past: how often the index is taken anew, > 0 */
};

/* `g` is zeroed. */
int gittins_setup(struct gittins *g, struct sched *s, const struct gittins_spec *spec, struct error *err);

void gittins_fini(void *self);
void gittins_on_finish(void *self, struct sched *s, uint32_t job);
void gittins_schedule(void *self, struct sched *s);

#define GITTINS_DELTA                                                                                                  \
    {                                                                                                                  \
        "delta", PARAM_NUMBER, "3250", 0, 9e9, "GPU s or s", NULL,                                                     \
            "service that the index looks ahead, and after which it is taken anew (as in Tiresias); jobs that surely " \
            "take longer have index 0 and are alike. 0: as far ahead as is best, which is Gittins' own index, taken "  \
            "anew after each second, from 32 s on after a 32nd more or less; it preempts more"                         \
    }
#define GITTINS_SERVICE                                                                                                \
    {                                                                                                                  \
        "service", PARAM_CHOICE, "gpu_time", 0, 0, "", "gpu_time|time",                                                \
            "what counts as service: time on GPUs x GPUs, or time alone"                                               \
    }
#define GITTINS_THRESHOLDS                                                                                             \
    {                                                                                                                  \
        "thresholds", PARAM_NUMBERS, "[]", 1e-9, 9e9, "GPU s or s", NULL,                                              \
            "attained service at which a job moves to the next queue, ascending, at most 7; the index orders "         \
            "inside a queue; none: one queue"                                                                          \
    }
#define GITTINS_REFIT                                                                                                  \
    {                                                                                                                  \
        "refit", PARAM_TIME, "1 h", 1, 1e9, "s", NULL,                                                                 \
            "the index is taken anew from the past at each multiple of this time"                                      \
    }

#endif

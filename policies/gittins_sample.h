/* gittins_sample.h - a sample of service times, from which a distribution is learnt. */
#ifndef POLICIES_GITTINS_SAMPLE_H
#define POLICIES_GITTINS_SAMPLE_H

#include <braid/policy.h>

/* Zero at first; `values` is freed by the owner. */
struct gittins_sample {
    int64_t *values; /* ns, or GPU-ns */
    size_t n, room;
};

/* False when memory is out; nothing is added then. */
bool gittins_sample_push(struct gittins_sample *x, int64_t value);

/* Every job of the trace (DURATION). */
int gittins_sample_trace(struct gittins_sample *x, struct sched *s, bool by_gpu_time, struct error *err);

/* A csv with the single column 'duration', in seconds (or GPU-seconds). */
int gittins_sample_file(struct gittins_sample *x, const char *path, struct error *err);

#endif

/* request.h - what a run asks of a peer, in braid's names; what the peer does not have is refused here, with what it has. */
#ifndef COMPAT_REQUEST_H
#define COMPAT_REQUEST_H

#include "engine/run.h"

/* One thing that a peer has: braid's name for it and the driver's number. */
struct request_choice {
    const char *name;
    int kind;
};

/* The peer's own number of the run's policy or placement. BRAID_BAD_INPUT lists the choices. Policies composed of parts must have the
 * parts that their name stands for. */
int request_policy(const struct run_spec *spec, const char *peer, const struct request_choice *choices, size_t n,
                   int *kind, struct error *err);
int request_placement(const struct run_spec *spec, const char *peer, const struct request_choice *choices, size_t n,
                      int *kind, struct error *err);

/* The value of the policy's parameter `name`, which must exist. */
const union param *request_param(const struct run_spec *spec, const char *name);

/* A job's id for "%.*s"; not ended by '\0'. */
static inline int request_id_length(const struct workload *w, uint32_t job)
{
    return (int)(w->id_at[job + 1] - w->id_at[job]);
}
static inline const char *request_id(const struct workload *w, uint32_t job)
{
    return w->id_text != NULL ? w->id_text + w->id_at[job] : ""; /* a workload made in memory may have none */
}

/* Submissions and durations must be whole seconds; the first that is not is named. */
int request_check_seconds(const struct run_spec *spec, const char *peer, struct error *err);

/* Overheads other than none are refused. */
int request_check_overheads(const struct run_spec *spec, const char *peer, struct error *err);

/* Kills at the estimate and quotas are the engine's alone. */
int request_check_engine(const struct run_spec *spec, const char *peer, struct error *err);

#endif

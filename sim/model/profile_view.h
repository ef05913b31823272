/* profile_view.h - what policies see of stage times that were measured with an error. Jobs run as they are. */
#ifndef MODEL_PROFILE_VIEW_H
#define MODEL_PROFILE_VIEW_H

#include "model/sharing.h"

struct profile_view {
    struct workload workload;      /* of the run, but for the stages and the iteration, which are the view's own */
    struct sharing_model *sharing; /* the speed of groups as it seems to be; NULL where the run has no model of it */
};

/* Each stage of each job of `w` (which must outlive the view) looks longer or shorter by a factor drawn evenly from [1 - error,
 * 1 + error), once for the run; the iteration is off by what the stages are together. The draws are of the stream (seed, "profile error"),
 * four a job in rank order, so that another error scales the same draws. A stage of no time is known to be none. `error` is in [0, 1).
 * *out is NULL where the error is 0 or the trace has no stage times. BRAID_FAILED: memory. Free with profile_view_destroy. */
int profile_view_create(struct profile_view **out, double error, uint64_t seed, const struct sharing_spec *spec,
                        const struct workload *w, struct error *err);
void profile_view_destroy(struct profile_view *v);

#endif

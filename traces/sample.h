/* sample.h - a part of a workload, or a new one drawn from its days.
 *
 * Days are civil days (UTC) where the trace has dates, else spans of 24 hours from time 0; day 0 is that of the first submission.
 *
 *     source     |- - -d0|---d1---|---d2---|---d3---|d4- -|      d0 and d4 are cut off by the trace's ends: not drawn
 *     bootstrap  |---d2---|---d1---|---d2---|                    days drawn with replacement: jobs keep their time of day
 *
 * The day-block bootstrap keeps what goes on within a day (cycle, bursts, repeated submissions) and loses what goes on from day to day: the
 * weekly cycle, unless a day may only stand for a day of the same name (`same_weekday`), and trends.
 */
#ifndef TRACES_SAMPLE_H
#define TRACES_SAMPLE_H

#include "traces/workload.h"

struct sample_spec {
    bool has_days;
    int64_t day_begin, day_end;            /* [begin, end) */
    const char *const *vcs, *const *users; /* keep only jobs of these; NULL: all */
    uint32_t n_vcs, n_users;
    bool is_bootstrap;
    uint64_t seed;
    uint32_t length_days; /* of the drawn workload; 0: as many as there are whole days */
    bool same_weekday;    /* needs dates */
};

/* Fill `out` (initialised here; free with workload_fini). Submissions, recorded starts and deadlines of drawn jobs move together; the
 * second and further copies of a job have "~2", "~3" … behind its id. Time 0 becomes the first submission floored to the second. The report
 * is that of `w`. The same spec gives the same workload. BRAID_BAD_INPUT: no job is left, or a name that no job bears. */
int trace_sample(struct workload *out, const struct workload *w, const struct sample_spec *spec, struct error *err);

#endif

/* tiresias_run.h - the inside of the Tiresias driver.
 *
 *   tiresias.c          what is asked for; choice of one of the simulator's loops
 *   tiresias_once.c     fifo, fjf, lpjf: a job that starts runs to its end
 *   tiresias_sorted.c   sjf, shortest, shortest-gpu: at every event everybody is sorted and placed anew
 *   tiresias_queues.c   dlas, dlas-gpu[-N], gittins, dlas-gpu-gittins: the same from queues
 *   tiresias_index.c    its table of Gittins indices
 *
 * Times are whole seconds, as there.
 */
#ifndef COMPAT_TIRESIAS_RUN_H
#define COMPAT_TIRESIAS_RUN_H

#include "base/number.h"
#include "compat/ledger.h"

#define TIRESIAS "Tiresias"
#define TIRESIAS_NEVER INT64_MAX

enum tiresias_policy {
    TIRESIAS_FIFO,
    TIRESIAS_FJF,
    TIRESIAS_LPJF,
    TIRESIAS_SJF,
    TIRESIAS_SHORTEST,
    TIRESIAS_SHORTEST_GPU,
    TIRESIAS_DLAS,
    TIRESIAS_GITTINS
};

struct tiresias_list {
    uint32_t *v;
    uint32_t n;
};

/* The table of tiresias_index.c. */
struct tiresias_index {
    uint32_t n;
    const int64_t *data; /* ascending */
    const double *index;
};

struct tiresias {
    struct ledger l;
    enum tiresias_policy policy;
    bool is_yarn;
    void *yarn; /* state of the placement */
    uint32_t next_arrival;
    struct tiresias_index index;
};

/* Room for every job. NULL in v: memory is out, which the arena remembers. */
struct tiresias_list tiresias_list_make(struct tiresias *t);
void tiresias_list_remove(struct tiresias_list *list, uint32_t job);

/* Second of the next submission, TIRESIAS_NEVER when there is none. */
int64_t tiresias_arrival_s(const struct tiresias *t);
/* Submit what arrives at `now_s`; those that are not rejected go to the end of `to`. */
void tiresias_arrivals(struct tiresias *t, int64_t now_s, struct tiresias_list *to);

/* The walk over a list that decides who runs: as long as `*free` lasts, who does not fit is passed over. Running jobs that do not fit
 * go to `out`, others that do to `in`. */
void tiresias_walk(const struct tiresias *t, const struct tiresias_list *list, uint32_t *free,
                   struct tiresias_list *out, struct tiresias_list *in);
void tiresias_apply(struct tiresias *t, struct tiresias_list *out, struct tiresias_list *in);

/* Running jobs of `list` that end first, into `ends`, in order; their second, TIRESIAS_NEVER: none runs. */
int64_t tiresias_first_ends(const struct tiresias *t, const struct tiresias_list *list, int64_t now_s,
                            struct tiresias_list *ends);

/* Seconds on GPUs up to now. */
int64_t tiresias_executed_s(const struct tiresias *t, uint32_t job);
int64_t tiresias_remaining_s(const struct tiresias *t, uint32_t job);

void tiresias_run_once(struct tiresias *t);
void tiresias_run_sorted(struct tiresias *t);
void tiresias_run_queues(struct tiresias *t);

/* Read the sample (column 'duration', whole seconds) and compute the table for `delta_s`. */
int tiresias_index_load(struct tiresias_index *x, const char *path, int64_t delta_s, struct arena *a,
                        struct error *err);
double tiresias_index_at(const struct tiresias_index *x, int64_t attained_s);

#endif

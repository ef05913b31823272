/* helios_run.h - the inside of the Helios driver.
 *
 *   helios.c         what is asked for; the seconds at which something happens
 *   helios_queue.c   fifo, sjf, qssf: a job that starts runs to its end
 *   helios_srtf.c    srtf
 *   helios_place.c   its two placers
 *   helios_guess.c   the lengths that qssf goes by
 *
 * The simulator steps through every second of every virtual cluster, each on its own. Here a virtual cluster is only looked at
 * in the seconds in which something can change; `next_s` is the next one.
 */
#ifndef COMPAT_HELIOS_RUN_H
#define COMPAT_HELIOS_RUN_H

#include "base/number.h"
#include "compat/ledger.h"

#define HELIOS "Helios"
#define HELIOS_NEVER INT64_MAX

enum helios_policy { HELIOS_FIFO, HELIOS_SJF, HELIOS_QSSF, HELIOS_SRTF };
enum helios_placer { HELIOS_CONSOLIDATE, HELIOS_RANDOM };

struct helios_list {
    uint32_t *v;
    uint32_t n, room;
};

struct helios_vc {
    uint32_t index; /* of its queue in the ledger */
    struct helios_list queue, run;
    int64_t next_s;
};

struct helios_sorted {
    double key;
    uint32_t job;
};

struct helios {
    struct ledger l;
    enum helios_policy policy;
    enum helios_placer placer;
    uint32_t next_arrival;
    struct helios_vc *vcs;
    struct helios_list order;     /* scratch */
    struct helios_sorted *sorted; /* scratch of helios_sort, twice all jobs */
    double *guess;                /* qssf: predicted seconds x GPUs */
    int64_t *remain_s;            /* srtf: what is left, as of its last start for a running job */
    bool *is_marked;              /* srtf: to start or to preempt */
};

void helios_push(struct helios *h, struct helios_list *list, uint32_t job);
void helios_remove(struct helios_list *list, uint32_t at);

/* Stable, ascending in key. */
void helios_sort(struct helios *h, struct helios_list *list,
                 double (*key)(const struct helios *h, uint32_t job, int64_t now_s), int64_t now_s);

/* Start `job` if the placer finds room. */
bool helios_place(struct helios *h, const struct helios_vc *vc, uint32_t job);

/* The second at which a running job's last start was. */
int64_t helios_since_s(const struct helios *h, uint32_t job);

/* One second of a virtual cluster: completions, then (submissions being in the queue) who starts. The second one sets vc->next_s. */
void helios_queue_finish(struct helios *h, struct helios_vc *vc, int64_t now_s);
void helios_queue_schedule(struct helios *h, struct helios_vc *vc, int64_t now_s);
void helios_srtf_finish(struct helios *h, struct helios_vc *vc, int64_t now_s);
void helios_srtf_schedule(struct helios *h, struct helios_vc *vc, int64_t now_s);

/* Fill h->guess as `estimate` says: exact, trace, or a file. */
int helios_guess_load(struct helios *h);

#endif

/* muri_run.h - the inside of the Muri driver.
 *
 *   muri.c            what is asked for; the loop of events
 *   muri_ends.c       which jobs end next
 *   muri_list.c       stable sorts of lists that are nearly in order
 *   muri_room.c       the "yarn" placement
 *   muri_overhead.c   its table of start overheads
 *   muri_sorted.c     srtf, srsf
 *   muri_tiresias.c   tiresias
 *   muri_antman.c     antman
 *   muri_themis.c     themis
 *   muri_group.c      muri_s, muri_l: who is a candidate, which groups are run; muri_pairs.c: how they are formed
 *   muri_books.c      what is written down
 *
 * There is no quantum: everything is decided anew at every event. Between two events a running job pays its start overhead (each time, moved
 * or not), then makes progress; when a job's predicted end comes, it is done, whatever it has left. All time is in seconds, as doubles.
 */
#ifndef COMPAT_MURI_RUN_H
#define COMPAT_MURI_RUN_H

#include "compat/muri_books.h"
#include "model/interleave.h"

#define MURI "Muri"

enum { MURI_GROUP_MAX = 4, MURI_SIZES = 6 }; /* a job has 1, 2, 4, .. 32 GPUs */

struct muri_list {
    uint32_t *v;
    uint32_t n;
};

struct muri;

/* A policy, by what the loop asks of it; those marked may be NULL. */
struct muri_kind {
    int (*init)(struct muri *m);                  /* may be NULL */
    void (*fini)(struct muri *m);                 /* may be NULL */
    void (*submit)(struct muri *m, uint32_t job); /* NULL: it came to the end of the list */
    void (*finish)(struct muri *m, uint32_t job); /* NULL: before it leaves the list */
    void (*progress)(struct muri *m);             /* NULL: all running jobs are brought up to now */
    double (*jump)(const struct muri *m);         /* NULL: an instant of its own, INFINITY: none */
    void (*schedule)(struct muri *m);
    bool merges_starts;  /* an end that nearly falls on a submission falls on it */
    bool merges_ends;    /* ends within a ten-thousandth of a second of the first are one */
    bool has_exact_ends; /* only equal ends are one */
};

struct muri_start {
    double at_s;
    uint32_t first, end; /* jobs */
};

struct muri_room {
    uint32_t n_nodes, node_gpus, n_switches;
    const uint32_t *switch_at; /* first node of each, n_switches + 1 */
    uint32_t *free;            /* by node */
    uint64_t *cpu, *memory;    /* left by node, milli-CPUs and KiB */
    uint64_t cpu_all, memory_all;
    uint32_t n_free, least_refused;
};

struct muri_sort_item {
    double key;
    uint32_t job, at;
};

struct muri {
    const struct run_spec *spec;
    const struct workload *w;
    struct error *err;
    struct arena arena;
    struct muri_books books;
    const struct muri_kind *kind;
    int policy;
    void *state;
    bool has_failed; /* err says why */

    struct muri_room room;
    uint32_t n_gpus;

    double now_s, last_s;
    struct muri_start *starts;
    uint32_t n_starts, next_start;

    /* by job */
    const uint32_t *gpus;
    uint8_t *size; /* log2 of its GPUs */
    double *submit_s, *estimate_s;
    double *iteration_s; /* alone */
    double *remaining;   /* iterations */
    double *current_s;   /* an iteration as it runs now */
    double *overhead_s, *current_overhead_s;
    double *executed_s; /* time running */
    double *key;
    bool *is_changed; /* key set since the last sort */
    bool *is_running;

    struct muri_list list;    /* submitted and not done, in the order that the policy left */
    struct muri_list running; /* of them, in the same order */
    struct muri_list ended;   /* by the event in hand */
    double *end_s;            /* room, one a running job */
    struct muri_list near;
    struct muri_sort_item *items, *spare;
    struct span *spans; /* room for one job's */
};

void muri_fail_memory(struct muri *m);

/* The job's stages in seconds (stage 0: storage and CPU). */
void muri_stages(const struct muri *m, uint32_t job, double stage[3]);

/* ---- muri_overhead.c ------------------------------------------------------------------------------- */

/* Seconds; `model` may be NULL; `gpus` is one of 1, 2, 4, 8, 16, 32. */
double muri_overhead_s(uint32_t gpus, const char *model);

/* ---- muri_ends.c ----------------------------------------------------------------------------------- */

bool muri_is_close(double a, double b, double within);
/* The next end into m->ended and its time; INFINITY when nothing runs. */
double muri_next_end(struct muri *m);

/* ---- muri_list.c ----------------------------------------------------------------------------------- */

/* Put m->list in ascending order of m->key, stably. Fast when, but for jobs with is_changed (which is cleared), it is made of a few
 * ascending runs. */
void muri_sort_by_key(struct muri *m);
/* Stably, most GPUs first. */
void muri_sort_by_gpus(struct muri *m);
/* Items in ascending order of key, stably; `spare` is room for as many. */
void muri_sort_items(struct muri_sort_item *items, uint32_t n, struct muri_sort_item *spare);

/* ---- muri_room.c ----------------------------------------------------------------------------------- */

int muri_room_init(struct muri *m, const struct cluster *c);
void muri_room_clear(struct muri_room *r);
/* Take place for a job: the number of spans, into `out` (NULL: not wanted), 0 when it does not fit. */
uint32_t muri_room_take(struct muri_room *r, uint32_t gpus, struct span *out);
/* Nothing fits any more, whatever its size. */
bool muri_room_is_full(const struct muri_room *r);

/* ---- who runs -------------------------------------------------------------------------------------- */

/* Nobody runs, then those that are told, in the order of the list. */
void muri_plan(struct muri *m);
void muri_run_job(struct muri *m, uint32_t job, const struct span *spans, uint32_t n_spans, uint32_t group);

/* Empty the cluster and fill it in the order of the list, jobs alone, each that fits. */
void muri_fill_in_order(struct muri *m);

extern const struct muri_kind muri_kind_srtf, muri_kind_srsf, muri_kind_tiresias, muri_kind_antman, muri_kind_themis,
    muri_kind_muri_s, muri_kind_muri_l;

#endif

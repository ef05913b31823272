/* check.h - is a results file what must come of a scene? Everything is computed again from the facts of the scene and from the rows of the file, in
 * plain loops; nothing of braid is asked, and no code is shared with it.
 *
 *     facts + /jobs ──▶ who is who ──▶ each job alone ──▶ its segments ──▶ all GPUs together ──▶ /events, /series, /summary
 */
#ifndef TESTS_RANDOM_CHECK_H
#define TESTS_RANDOM_CHECK_H

#include "books.h"
#include "scene.h"

enum { CHECK_KINDS = 32, CHECK_TOLD = 12 };

/* One row of /segments in ns. */
struct stretch {
    uint32_t rank, kind;
    int64_t begin_ns, end_ns, group;
    double rate;
    size_t alloc, n_allocs; /* rows of /allocs */
};

/* What is known of a job: its facts, its row, and times in ns (-1: never). */
struct life {
    const struct scene_job *fact;
    const struct books_job *row;
    int64_t submit_ns, start_ns, end_ns;
    int64_t enters_ns; /* the queue: SCENE_NEVER where it never does */
    uint32_t vc;       /* of the scene; n_vcs where it is not listed; 0 where none is */
    size_t first, n;   /* its stretches, in order */
    bool is_submitted; /* before the run ended */
};

struct check {
    const struct scene *scene;
    const struct books *books;
    FILE *out; /* where faults are told */
    uint32_t n_faults, n_kinds;
    char kinds[CHECK_KINDS][40];
    uint32_t n_of[CHECK_KINDS];

    struct life *lives; /* by rank */
    uint32_t n;
    struct stretch *stretches; /* by job, in the order of the file */
    size_t n_stretches;
    int64_t zero_ns;           /* time 0 of the run in the trace: its first submission, floored to the second */
    int64_t first_ns, last_ns; /* submissions of the whole trace */
    int64_t end_ns;            /* of the run */
    bool is_left;              /* somebody is unfinished */
    int64_t slack_ns;          /* what seconds in a double cannot tell apart */
};

/* True: no fault. `c` keeps the kinds of faults and their numbers. */
bool check_books(struct check *c, const struct scene *s, const struct books *b, FILE *out);

/* A fault of a kind, told the first few times. */
void check_fault(struct check *c, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- parts ---- */

int64_t check_ns(double seconds); /* -1 for NaN */
bool check_same_ns(const struct check *c, int64_t a, int64_t b);
bool check_close(double a, double b); /* within 1e-9 of their size, or both NaN */
int64_t check_overhead_ns(const struct scene *s, const struct scene_overhead *o, const struct scene_job *j);
int64_t check_estimate_ns(const struct scene *s, const struct scene_job *j); /* SCENE_NONE: not known from the facts */

bool check_identities(struct check *c); /* who is who; false: nothing else can be judged */
void check_jobs(struct check *c);
bool check_stretches(struct check *c); /* false: they cannot be taken for stretches of the jobs */
void check_places(struct check *c);
void check_events(struct check *c);
void check_series(struct check *c);
void check_summary(struct check *c);
void check_order(struct check *c);

/* ---- the state over time, from the stretches ---- */

struct levels {
    uint32_t queued_jobs[SCENE_VCS + 1], running_jobs[SCENE_VCS + 1]; /* by VC; [0] where none is named */
    uint64_t queued_gpus[SCENE_VCS + 1], held_gpus[SCENE_VCS + 1], capacity_gpus[SCENE_VCS + 1];
    uint64_t node_gpus[SCENE_NODES]; /* held */
    uint64_t held_all, capacity_all;
};

/* Call `each` for every span of time, in order, in which nothing changes, from `from_ns` to `to_ns`; its levels are what holds behind the
 * instant `begin_ns`, up to the next one. */
void levels_walk(struct check *c, int64_t from_ns, int64_t to_ns,
                 void (*each)(void *self, int64_t begin_ns, int64_t end_ns, const struct levels *l), void *self);

/* Facts of the cluster: the nodes that a VC may use, [first, end); GPUs of a VC at a time, of all at a time. */
uint32_t facts_nodes(const struct scene *s);
const struct scene_group *facts_node(const struct scene *s, uint32_t node);
void facts_vc_nodes(const struct scene *s, uint32_t vc, uint32_t *first, uint32_t *end);
uint64_t facts_gpus(const struct scene *s, uint32_t first, uint32_t end);
uint64_t facts_quota(const struct scene *s, uint32_t vc, int64_t at_ns);
uint64_t facts_capacity(const struct scene *s, uint32_t vc, int64_t at_ns); /* not more than its nodes have */
uint32_t facts_n_queues(const struct scene *s);                             /* VCs, 1 where none is named */

#endif

/* search_queue.h - the waiting jobs of a policy that plans: those of the last plan in its order, the others around them.
 *
 *     slot      0      1      2      3      4  ...        2 x MOST + 1       2 x MOST + 2
 *            before  plan  before  plan  before            behind the plan    held back
 *            plan[0]  [0]  plan[1]  [1]
 *
 * A job that comes later stands before the first job of the plan that the base order would put behind it, among others there by that order
 * (long jobs to some 30 millionths of a second); when there is none, behind the plan. Jobs are kept by demand, so that a round looks at one head each.
 * Jobs whose base key is at the gate or beyond are held back: they may not start before the gate moves.
 */
#ifndef POLICIES_SEARCH_QUEUE_H
#define POLICIES_SEARCH_QUEUE_H

#include "policies/jobset.h"

enum search_base { BASE_FIFO, BASE_SJF, BASE_SRSF, BASE_SMALLEST, BASE_SMITH, BASE_EDF };

struct search_class {
    struct jobset jobs;
    bool is_closed; /* in this round: its head found no place */
};

struct search_queue {
    enum search_base base;
    struct jobset_pool *pool;
    struct search_class *classes;
    uint32_t n_classes, classes_room;
    uint32_t *class_of;    /* demand -> class + 1 */
    struct jobset by_base; /* all that wait, by base key */
    uint32_t n;
    uint32_t most;  /* jobs of a plan */
    uint32_t *plan; /* UINT32_MAX: gone */
    int64_t *plan_base;
    uint32_t n_plan;
    int64_t gate;                /* a base key; INT64_MAX: nobody is held back */
    uint32_t *moved, moved_room; /* while a plan is laid down */
};

bool search_queue_init(struct search_queue *q, struct sched *s, struct jobset_pool *pool, enum search_base base,
                       uint32_t most);

/* The weight of a job: 1 + its priority, at least 1. */
double search_weight(const struct sched *s, uint32_t job);

/* A length in GPU ns, the less the heavier the job is (Smith's rule with GPUs as machine time). */
int64_t search_smith_key(const struct sched *s, uint32_t job, int64_t length_ns);

/* What the base order goes by, >= 0; the less the earlier. */
int64_t search_base_key(struct sched *s, uint32_t job, enum search_base base);

/* A job that waits comes; and one goes, `base` being its key while it waited (false: it is not there). Its word is the queue's while it
 * waits. */
void search_queue_add(struct search_queue *q, struct sched *s, uint32_t job);
bool search_queue_remove(struct search_queue *q, struct sched *s, uint32_t job, int64_t base);

/* The first jobs by base order into out: up to `window`, in the order in which they stand, whose number is returned, then up to `tail` in base
 * order. */
uint32_t search_queue_first(struct search_queue *q, struct sched *s, uint32_t *out, uint32_t window, uint32_t tail,
                            uint32_t *n_tail);

/* From now on `jobs` (waiting, or running and about to be given back; at most `most`) come in this order; the others behind or between
 * them as if they had come later. */
void search_queue_plan(struct search_queue *q, struct sched *s, const uint32_t *jobs, uint32_t n);

/* Move the gate to a base key. O(jobs held before and after x plan). */
void search_queue_gate(struct search_queue *q, struct sched *s, int64_t gate);

/* Is anybody held back? O(classes). */
bool search_queue_is_holding(const struct search_queue *q);

/* The first job that waits and is not held back, of the classes that are not closed; NULL: none. */
struct search_class *search_queue_head(struct search_queue *q, uint32_t *job, int64_t *key);
void search_queue_reopen(struct search_queue *q);

/* The key of a job of the plan, INT64_MAX when it is not in it; O(plan). */
int64_t search_queue_plan_key(const struct search_queue *q, uint32_t job);

#endif

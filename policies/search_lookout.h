/* search_lookout.h - is it better to keep long jobs waiting, though they fit, for the sake of those that may come?
 *
 * What may come: the arrivals of the last hours once more, from a drawn moment on.
 *
 *     arrivals        |  x   x x       x    x |
 *                 now - past        ^         now
 *                                   drawn         scenario: x at .., .., then round to the beginning, as far as `ahead`
 *
 * So numbers, demands, lengths and bursts are those of this queue's own past; days and weeks are not told apart. A queue in which nothing
 * arrived for `past` expects nothing.
 *
 * The gate: a base key at and beyond which jobs are held back. Some gates, none among them, are compared in rollouts of one and the same order
 * over the same scenarios: an arrival takes its place by the base order, and what is held back starts at the end of `ahead`. The best one
 * stands until the next decision, which sees again; so a rush is waited out and an idle cluster is not.
 */
#ifndef POLICIES_SEARCH_LOOKOUT_H
#define POLICIES_SEARCH_LOOKOUT_H

#include "policies/search_problem.h"
#include "policies/search_queue.h"

enum { LOOKOUT_MOST = 3000, LOOKOUT_SCENARIOS = 8, LOOKOUT_GATES = 13 }; /* MOST: of a scenario, the first so many */

struct lookout {
    int64_t ahead_ns, past_ns; /* ahead 0: nothing is expected */
    uint32_t n_scenarios;
    uint32_t *arrivals, n_arrivals; /* jobs as they came */
    struct rollout_expected *jobs;  /* scenario after scenario */
    int64_t *base;
    uint16_t *by_base; /* within a scenario */
    uint32_t first[LOOKOUT_SCENARIOS + 1];
    uint16_t *order, *sorted; /* of the window: the order, and by base key */
    int64_t gates[LOOKOUT_GATES];
    double *scores;
};

/* `most`: jobs of a window. Memory from `s`; false: it is out. */
bool lookout_init(struct lookout *l, struct sched *s, int64_t ahead_ns, int64_t past_ns, uint32_t n_scenarios,
                  uint32_t most);

/* The most jobs that it may expect. */
uint32_t lookout_most(const struct lookout *l);

void lookout_note(struct lookout *l, uint32_t job);

/* Draw scenarios; returns the number of jobs in l->jobs. */
uint32_t lookout_draw(struct lookout *l, struct sched *s, enum search_base base, gsl_rng *rng);

/* The best gate for the best order of a problem whose rollout was frozen with what was drawn and holds back for `ahead`; `base`: keys of its
 * window. INT64_MAX: none. */
int64_t lookout_gate(struct lookout *l, struct search_problem *p, const int64_t *base);

#endif

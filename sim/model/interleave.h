/* interleave.h - the time that a group of jobs, braided over its resources, takes for one iteration each: the group's period.
 *
 * A job's iteration is a chain of stages, one on each kind of resource, in a fixed order. Each job of a group starts its chain in a phase
 * of its own (its slot), so that in every phase the jobs are on different resources:
 *
 *              phase 0    phase 1    phase 2    phase 3  | phase 0 of the next round
 *     slot 0   storage    CPU        GPU        network  | storage ...
 *     slot 1   network    storage    CPU        GPU      |
 *     slot 2   GPU        network    storage    CPU      |
 *     slot 3   CPU        GPU        network    storage  |
 *
 * A phase lasts as long as its slowest member, and every member makes one iteration a period. Two forms:
 *
 *   INTERLEAVE_PHASES  R kinds, R stage times, the closed form of the paper (section 4.1, equation 3): sum over the phases i of the
 *                      largest stage (i - slot) mod R. A slot may stay empty. At most R jobs.
 *   INTERLEAVE_MURI    what the released simulator computes: three stage times over four phases, the first stage two phases long and
 *                      the ends of phases by a recurrence that is taken as steady within one in a thousand. Jobs are in the first slots;
 *                      two jobs may stand opposite as well. At most four jobs.
 *
 * Which job has which slot is the best or the worst of all arrangements, or the order in which the group is given. What remains between
 * the closed form and braided jobs in truth is a factor by group size, `inflation`. A group of one is the job alone.
 *
 * The profiles of a run are few where its jobs are many: equal ones have one number, and the period of a group is kept under the numbers
 * of its members.
 */
#ifndef MODEL_INTERLEAVE_H
#define MODEL_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

enum { INTERLEAVE_KINDS_MAX = 8, INTERLEAVE_GROUP_MAX = 8 };

enum interleave_form { INTERLEAVE_PHASES, INTERLEAVE_MURI };
enum interleave_order { INTERLEAVE_BEST, INTERLEAVE_GIVEN, INTERLEAVE_WORST };

/* Times in one unit, whichever the caller likes; stages beyond the rule's kinds are 0. */
struct interleave_profile {
    double stage[INTERLEAVE_KINDS_MAX];
    double iteration; /* alone; need not be the sum of the stages, which may overlap or leave gaps */
};

struct interleave_rule {
    enum interleave_form form;
    enum interleave_order order;
    uint32_t kinds;                             /* 1 .. INTERLEAVE_KINDS_MAX; INTERLEAVE_MURI: 3 */
    double inflation[INTERLEAVE_GROUP_MAX + 1]; /* by number of jobs; 0 counts as 1; of one job not used */
};

struct interleave_entry;

/* One a run: the periods found so far are kept in it. */
struct interleave {
    struct interleave_rule rule;
    struct interleave_profile *profiles;
    uint32_t n_profiles, profiles_room;
    uint32_t *slots; /* of profiles, by hash */
    uint32_t n_slots;
    struct interleave_entry *entries;
    uint32_t n_entries, entries_room;
};

/* The largest group: as many jobs as there are phases. */
uint32_t interleave_most(const struct interleave_rule *rule);

void interleave_init(struct interleave *m, const struct interleave_rule *rule);
void interleave_fini(struct interleave *m);

/* The number of a profile, the same for equal ones; UINT32_MAX when memory is out. Numbers count from 0. */
uint32_t interleave_add(struct interleave *m, const struct interleave_profile *p);

/* The period of the jobs with these `n` profiles (1 .. interleave_most); their order matters under INTERLEAVE_GIVEN alone. Takes tens of
 * nanoseconds where the group was asked for before; when memory is out it is only computed again. */
double interleave_period(struct interleave *m, const uint32_t *profiles, uint32_t n);

/* The same, computed anew: for a model that several threads share. O((most - 1)! / (most - n)! * most * n). */
double interleave_compute(const struct interleave_rule *rule, const struct interleave_profile *const *jobs, uint32_t n);

/* The share of a period in which each kind works for the group: use[0 .. kinds). */
void interleave_use(struct interleave *m, const uint32_t *profiles, uint32_t n, double *use);

#endif

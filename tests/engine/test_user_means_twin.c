/* Estimates by the mean of what a user has finished under a name, found by hash, against all that has ended, added up anew for each job. 40,000 jobs: the twin
 * looks at all earlier ones for each.
 */
#include "tests/dice.h"
#include "tests/policies/inside.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 4000, RUNS = 10, USERS = 90, WINDOW = 10 };

struct self {
    const struct test_case *c;
    int64_t noted[JOBS];
    uint32_t next;
};

static const struct test_case *the_case; /* a test program runs each test in a process of its own */
static uint32_t by_end[JOBS];

static int compare_ends(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t ex = the_case->jobs[x].submit_ns + the_case->jobs[x].duration_ns,
            ey = the_case->jobs[y].submit_ns + the_case->jobs[y].duration_ns;
    return ex != ey ? (ex > ey) - (ex < ey) : (x > y) - (x < y);
}

enum of { OF_NAME, OF_USER, OF_ALL };

/* The rolling mean over those that have ended by its submission: all of them, its user's, or those of its name. False: there are none. */
static bool mean_of(uint32_t job, enum of of, double *mean)
{
    const struct case_job *jobs = the_case->jobs;
    uint32_t n = 0;
    *mean = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct case_job *k = &jobs[by_end[i]];
        if (k->submit_ns + k->duration_ns > jobs[job].submit_ns)
            break;
        if (of < OF_ALL && strcmp(k->user, jobs[job].user) != 0)
            continue;
        if (of == OF_NAME && strcmp(k->name, jobs[job].name) != 0)
            continue;
        n = n < WINDOW ? n + 1 : WINDOW;
        *mean += ((double)k->duration_ns - *mean) / n;
    }
    return n > 0;
}

static void begin(void *self, struct sched *s)
{
    (void)s;
    ((struct self *)self)->c = the_case;
}

/* Whoever comes starts at once: its end is known. */
static void start(void *self, struct sched *s)
{
    struct self *p = self;
    for (; p->next < JOBS && sched_is_queued(s, p->next); p->next++) {
        double mean = 3600e9;
        int64_t got;
        cr_assert_eq(sched_estimate_ns(s, p->next, &got), SCHED_OK);
        if (!mean_of(p->next, OF_NAME, &mean) && !mean_of(p->next, OF_USER, &mean) && !mean_of(p->next, OF_ALL, &mean))
            mean = 3600e9;
        cr_assert(got - (int64_t)mean <= 1 && (int64_t)mean - got <= 1, "job %u: %lld, in the twin %.0f", p->next,
                  (long long)got, mean);
        cr_assert_eq(sched_start(s, p->next), SCHED_OK);
    }
}

static void end(void *self)
{
    cr_assert_eq(((struct self *)self)->next, (uint32_t)JOBS);
}

Test(user_means, are_those_of_all_that_has_ended)
{
    static char users[USERS][8];
    uint64_t dice = 0x31415926;
    for (uint32_t u = 0; u < USERS; u++)
        snprintf(users[u], sizeof users[u], "u%u", u);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct test_case *c = case_create(1, JOBS);
        int64_t at = 0;
        the_case = c;
        c->spec.estimate.source = ESTIMATE_USER_MEAN;
        c->spec.check = false; /* thousands of GPUs to look at each round */
        for (uint32_t j = 0; j < JOBS; j++) {
            at += (int64_t)dice_roll(&dice, 3) * 7;
            case_job(c, 0, 0, 1);
            c->jobs[j].submit_ns = at;
            c->jobs[j].duration_ns = 1 + dice_roll(&dice, 1u << dice_roll(&dice, 14));
            c->jobs[j].user = users[dice_roll(&dice, run % 2 == 0 ? USERS : 20)];
            c->jobs[j].name = users[dice_roll(&dice, run % 3 == 0 ? USERS : 20)];
            by_end[j] = j;
        }
        qsort(by_end, JOBS, sizeof *by_end, compare_ends);
        inside_run(
            c, &(struct inside){
                   .knows = KNOWS_ESTIMATE, .size = sizeof(struct self), .begin = begin, .round = start, .end = end});
        case_destroy(c);
    }
}

/* order_deadline.c - orders that look at deadlines. A job without one comes after all that have one, in order of submission.
 *
 *      deadlines                         none, running   none, waiting
 *   ---|--------|-----------------------------|---------------|--------> value
 *      -2^61    now                           2^61            2^62 (laxity: - now)
 *
 * Deadlines and lengths stop at 2^61 ns (73 years), so that no difference leaves 64 bits.
 */
#include "policies/order.h"

static const int64_t FAR = INT64_C(1) << 61;

static bool find_deadline(struct sched *s, uint32_t job, int64_t *out)
{
    if (sched_deadline_ns(s, job, out) != SCHED_OK)
        return false;
    *out = *out < -FAR ? -FAR : *out >= FAR ? FAR - 1 : *out;
    return true;
}

static int64_t deadline_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p, (void)is_running;
    int64_t deadline;
    return find_deadline(s, job, &deadline) ? deadline : FAR;
}

const struct order_ops order_edf = {.name = "edf",
                                    .summary = "earliest deadline first; jobs without one last",
                                    .source = "Liu and Layland, JACM 20(1), 1973",
                                    .knows = KNOWS_DEADLINE,
                                    .key = deadline_key};

/* Laxity is the time to the deadline less the estimated time that remains: it shrinks while the job waits and stands still while it runs. A
 * late job has a negative one and goes first. */
static int64_t laxity_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    (void)p;
    int64_t deadline, left = 0, now = sched_now(s);
    if (!find_deadline(s, job, &deadline))
        return !is_running ? 2 * FAR : now < FAR ? FAR : 2 * FAR - now;
    sched_remaining_ns(s, job, &left);
    left = left < FAR ? left : FAR;
    return deadline - left - (is_running ? now : 0);
}

static int64_t laxity_slope(const struct order_params *p, bool is_running)
{
    (void)p;
    return is_running ? 0 : -1;
}

const struct order_ops order_least_laxity = {.name = "least_laxity",
                                             .summary =
                                                 "least time to spare before the deadline first; jobs without one last",
                                             .source = "Dertouzos and Mok, IEEE TSE 15(12), 1989",
                                             .knows = KNOWS_DEADLINE | KNOWS_ESTIMATE,
                                             .key = laxity_key,
                                             .slope = laxity_slope};

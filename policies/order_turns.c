/* order_turns.c - the hybrid of round robin and shortest job first.
 *
 * Time is cut into windows. Jobs that entered the queue in an earlier window come first, in one window the shortest by estimated remaining
 * time. Who has held its GPUs for a quantum enters the queue again, in the window of that instant or in the one after its last, whichever is
 * later: the windows are the turns of round robin, and nobody waits for more than one turn of each job of its own window and of those before it.
 * Who loses its GPUs earlier (a quota that shrinks) keeps its window.
 *
 *      62                 31 30        25 24                    0
 *     +---------------------+------------+-----------------------+
 *     | window              | magnitude  | leading bits          |     remaining time
 *     +---------------------+------------+-----------------------+
 *
 * The remaining time is kept to its 26 leading bits (two parts in 10^8): jobs that differ by less are equal, and the rank decides.
 */
#include "policies/order.h"

enum { KEPT_BITS = 25, LENGTH_BITS = 31 };

static const int64_t LAST_WINDOW = (INT64_C(1) << 32) - 2;

/* A number of LENGTH_BITS bits that grows with `ns` >= 1. */
static int64_t rough_length(int64_t ns)
{
    int magnitude = 63 - __builtin_clzll((unsigned long long)ns);
    uint64_t rest = (uint64_t)ns ^ UINT64_C(1) << magnitude;
    rest = magnitude > KEPT_BITS ? rest >> (magnitude - KEPT_BITS) : rest << (KEPT_BITS - magnitude);
    return (int64_t)magnitude << KEPT_BITS | (int64_t)rest;
}

static int64_t window_key(struct sched *s, uint32_t job, const struct order_params *p, bool is_running)
{
    if (is_running)
        return INT64_MAX;
    int64_t window = sched_since_ns(s, job) / p->window_ns, left = 1, last = (int64_t)p->turns[job] - 1;
    bool is_spent = *sched_word(s, job) == (uint64_t)INT64_MAX; /* the key of who may be displaced: compose.h */
    sched_remaining_ns(s, job, &left);
    if (last >= 0)
        window = !is_spent ? last : window > last ? window : last + 1;
    window = window < LAST_WINDOW ? window : LAST_WINDOW;
    p->turns[job] = (uint32_t)window + 1;
    return window << LENGTH_BITS | rough_length(left > 0 ? left : 1);
}

const struct order_ops order_rr_sjf = {.name = "rr_sjf",
                                       .summary =
                                           "who entered the queue in an earlier window first, in it the shortest",
                                       .source = "round robin and shortest job first in one",
                                       .knows = KNOWS_ESTIMATE,
                                       .key = window_key,
                                       .keeps_turns = true,
                                       .takes_turns = true};

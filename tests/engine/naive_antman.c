/* naive_antman.c - guaranteed and opportunistic jobs on GPUs that nobody shares, from the head of policies/antman.c. */
#include "tests/engine/naive_shares.h"

static bool is_passed[NAIVE_JOBS];

static bool is_second(const struct world *w, uint32_t j)
{
    return w->c->jobs[j].priority >= ((const struct naive_antman *)w->c->rules)->limit;
}

static int next_waiting(const struct world *w, int queue, bool second)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING && naive_queue_of(w, j) == queue && is_second(w, j) == second && !is_passed[j])
            return (int)j;
    return -1;
}

/* GPUs of opportunistic jobs, the latest submitted first, until `j` finds a place; whose were not needed stay. */
static bool take_back(struct world *w, int queue, uint32_t j)
{
    uint32_t out[NAIVE_JOBS], n = 0;
    bool is_in = false;
    for (uint32_t i = w->c->n_jobs; i-- > 0 && !is_in;) {
        if (w->jobs[i].is != RUNNING || naive_queue_of(w, i) != queue || !is_second(w, i))
            continue;
        out[n++] = i;
        naive_give_back(w, i);
        w->jobs[i].is = WAITING;
        is_in = naive_start(w, j);
    }
    while (n > 0)
        if (!naive_go_back(w, out[--n]))
            naive_queue_again(w, out[n]);
    return is_in;
}

void naive_antman_schedule(struct world *w, int queue)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        is_passed[j] = false;
    for (int j; (j = next_waiting(w, queue, false)) >= 0;) {
        if (naive_start(w, (uint32_t)j) || take_back(w, queue, (uint32_t)j))
            continue;
        if (w->c->fill == N_STRICT)
            break;
        is_passed[j] = true;
    }
    for (int j; (j = next_waiting(w, queue, true)) >= 0;)
        is_passed[j] = !naive_start(w, (uint32_t)j);
}

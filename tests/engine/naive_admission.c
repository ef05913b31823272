/* admission: feasible, written from the head of policies/admission.h: whether every deadline is met by a plan of all that was accepted. */
#include "tests/engine/naive_world.h"

struct planned {
    int64_t left, deadline; /* -1: none */
    uint32_t gpus;
    bool is_in, is_on;
};

/* Hand out GPUs at `now`: whoever fits, by deadline; of equal ones first who is on, where they are handed out anew. */
static void hand_out(struct planned *p, uint32_t n, int64_t capacity, bool can_preempt)
{
    bool was_on[NAIVE_JOBS], is_seen[NAIVE_JOBS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        was_on[i] = p[i].is_on;
        if (can_preempt)
            p[i].is_on = false;
        else if (p[i].is_in && p[i].is_on)
            capacity -= p[i].gpus;
    }
    for (;;) {
        int next = -1;
        for (uint32_t i = 0; i < n; i++) {
            if (!p[i].is_in || p[i].is_on || is_seen[i])
                continue;
            if (next < 0 || p[i].deadline < p[next].deadline ||
                (p[i].deadline == p[next].deadline && was_on[i] && !was_on[next]))
                next = (int)i;
        }
        if (next < 0)
            return;
        is_seen[next] = true;
        if (p[next].gpus <= capacity) {
            p[next].is_on = true;
            capacity -= p[next].gpus;
        }
    }
}

static bool is_met(struct planned *p, uint32_t n, int64_t capacity, int64_t now, bool can_preempt)
{
    for (;;) {
        int64_t ns = 0;
        bool is_any = false;
        hand_out(p, n, capacity, can_preempt);
        for (uint32_t i = 0; i < n; i++) {
            is_any |= p[i].is_in && p[i].deadline >= 0;
            if (p[i].is_in && p[i].is_on && (ns == 0 || p[i].left < ns))
                ns = p[i].left;
        }
        if (!is_any)
            return true;
        if (ns == 0)
            return false; /* somebody never fits */
        now += ns;
        for (uint32_t i = 0; i < n; i++) {
            if (p[i].is_in && p[i].is_on)
                p[i].left -= ns;
            if (!p[i].is_in || p[i].left > 0)
                continue;
            p[i].is_in = p[i].is_on = false;
            if (p[i].deadline >= 0 && now > p[i].deadline)
                return false;
        }
    }
}

static bool is_acceptable(const struct world *w, int queue, uint32_t job)
{
    bool can_preempt = w->c->preempt != N_NEVER;
    struct planned p[NAIVE_JOBS] = {0};
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        const struct state *s = &w->jobs[j];
        p[j] = (struct planned){.deadline = w->c->jobs[j].deadline, .gpus = w->c->jobs[j].gpus};
        if (naive_queue_of(w, j) != queue || (s->is != WAITING && s->is != RUNNING))
            continue;
        p[j].is_on = s->is == RUNNING;
        p[j].is_in = p[j].deadline >= 0 ? s->is_accepted || j == job : p[j].is_on && !can_preempt;
        p[j].left = p[j].is_on ? s->estimated_end - w->now : naive_overhead_next(w, j) + naive_remaining(w, j);
        p[j].left = p[j].left > 0 ? p[j].left : 1;
    }
    return is_met(p, w->c->n_jobs, naive_capacity(w, queue), w->now, can_preempt);
}

void naive_admit(struct world *w, int queue)
{
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        struct state *s = &w->jobs[j];
        if (s->is != WAITING || s->is_accepted || naive_queue_of(w, j) != queue)
            continue;
        s->is_accepted = w->c->jobs[j].deadline < 0 || is_acceptable(w, queue, j);
        if (!s->is_accepted)
            naive_leave(w, j, N_REJECTED, "deadline_cannot_be_met");
    }
}

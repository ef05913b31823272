/* Every running job has a predicted end. Going through them in the order of the list, a job whose end nearly equals that of an earlier one
 * ends with it, at that one's time; then the earliest of these ends comes next. What "nearly" is, grows with the clock: a billionth of it.
 *
 * Only jobs that hang together with the earliest end by steps that small can have a part in it; the others are not looked at. */
#include "compat/muri_run.h"

#include <math.h>

static const double RELATIVE = 1e-9, ABSOLUTE = 1e-4;

bool muri_is_close(double a, double b, double within)
{
    return fabs(a - b) <= fmax(RELATIVE * fmax(fabs(a), fabs(b)), within);
}

/* The jobs (places in m->running) whose ends hang together with the earliest, in order. */
static void find_near(struct muri *m, double earliest, double within)
{
    double last = earliest, next = earliest;
    do {
        last = next;
        m->near.n = 0;
        double limit = last + 2 * fmax(RELATIVE * last, within);
        for (uint32_t i = 0; i < m->running.n; i++)
            if (m->end_s[i] <= limit) {
                m->near.v[m->near.n++] = i;
                next = fmax(next, m->end_s[i]);
            }
    } while (next > last);
}

/* Join them in order to the first that is close; m->end_s becomes the time at which each ends. */
static double join(struct muri *m)
{
    double first = INFINITY;
    uint32_t *heads = m->ended.v, n = 0; /* room that is free as yet */
    for (uint32_t k = 0; k < m->near.n; k++) {
        uint32_t i = m->near.v[k], h = 0;
        while (h < n && !muri_is_close(m->end_s[i], m->end_s[heads[h]], 0))
            h++;
        if (h == n)
            heads[n++] = i;
        m->end_s[i] = m->end_s[heads[h]];
        first = fmin(first, m->end_s[i]);
    }
    return first;
}

double muri_next_end(struct muri *m)
{
    double earliest = INFINITY;
    m->ended.n = 0;
    for (uint32_t i = 0; i < m->running.n; i++) {
        uint32_t job = m->running.v[i];
        m->end_s[i] = m->now_s + m->remaining[job] * m->current_s[job];
        earliest = fmin(earliest, m->end_s[i]);
    }
    if (earliest == INFINITY)
        return INFINITY;
    double within = m->kind->merges_ends ? ABSOLUTE : 0;
    if (m->kind->has_exact_ends) {
        m->near.n = 0;
        for (uint32_t i = 0; i < m->running.n; i++)
            if (m->end_s[i] == earliest)
                m->near.v[m->near.n++] = i;
    } else {
        find_near(m, earliest, within);
        earliest = join(m);
    }
    for (uint32_t k = 0; k < m->near.n; k++) {
        uint32_t i = m->near.v[k];
        if (m->end_s[i] == earliest || (within > 0 && muri_is_close(m->end_s[i], earliest, within)))
            m->ended.v[m->ended.n++] = m->running.v[i];
    }
    return earliest;
}

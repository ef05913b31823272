#include "policies/search_lookout.h"

#include "policies/instant.h"

#include <math.h>

bool lookout_init(struct lookout *l, struct sched *s, int64_t ahead_ns, int64_t past_ns, uint32_t n_scenarios,
                  uint32_t most)
{
    *l = (struct lookout){.ahead_ns = ahead_ns, .past_ns = past_ns, .n_scenarios = n_scenarios};
    uint32_t n = lookout_most(l);
    if (n == 0)
        return true;
    l->arrivals = sched_alloc(s, sched_n_jobs(s), sizeof *l->arrivals);
    l->jobs = sched_alloc(s, n, sizeof *l->jobs);
    l->base = sched_alloc(s, n, sizeof *l->base);
    l->by_base = sched_alloc(s, n, sizeof *l->by_base);
    l->order = sched_alloc(s, most, sizeof *l->order);
    l->sorted = sched_alloc(s, most, sizeof *l->sorted);
    l->scores = sched_alloc(s, (size_t)LOOKOUT_GATES * n_scenarios, sizeof *l->scores);
    return l->arrivals != NULL && l->jobs != NULL && l->base != NULL && l->by_base != NULL && l->order != NULL &&
           l->sorted != NULL && l->scores != NULL;
}

uint32_t lookout_most(const struct lookout *l)
{
    return l->ahead_ns > 0 ? l->n_scenarios * LOOKOUT_MOST : 0;
}

void lookout_note(struct lookout *l, uint32_t job)
{
    if (l->ahead_ns > 0)
        l->arrivals[l->n_arrivals++] = job;
}

/* The first arrival at or after an instant. */
static uint32_t first_since(const struct lookout *l, const struct sched *s, int64_t since)
{
    uint32_t low = 0, high = l->n_arrivals;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sched_submit_ns(s, l->arrivals[middle]) < since)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What the base order will go by when a job like this one comes. */
static int64_t base_of(struct sched *s, const struct rollout_expected *e, enum search_base base)
{
    int64_t length = 0, product;
    sched_estimate_ns(s, e->like, &length);
    switch (base) {
    case BASE_FIFO:
        length = instant_after(sched_now(s), e->after_ns);
        return length > 0 ? length : 0;
    case BASE_EDF:
        if (sched_deadline_ns(s, e->like, &product) != SCHED_OK ||
            __builtin_sub_overflow(product, sched_submit_ns(s, e->like), &length))
            return INT64_MAX;
        length = instant_after(instant_after(sched_now(s), e->after_ns), length > 0 ? length : 0);
        return length > 0 ? length : 0;
    case BASE_SMITH:
        return search_smith_key(s, e->like, length);
    case BASE_SMALLEST:
        return sched_gpus(s, e->like);
    case BASE_SJF:
        return length;
    case BASE_SRSF:
        return __builtin_mul_overflow(length, (int64_t)sched_gpus(s, e->like), &product) ? INT64_MAX : product;
    }
    return 0;
}

static void sort_by_base(struct lookout *l, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t to = i;
        for (; to > first && l->base[l->by_base[to - 1]] > l->base[i]; to--)
            l->by_base[to] = l->by_base[to - 1];
        l->by_base[to] = (uint16_t)i;
    }
}

uint32_t lookout_draw(struct lookout *l, struct sched *s, enum search_base base, gsl_rng *rng)
{
    int64_t now = sched_now(s), span, since;
    if (l->ahead_ns == 0 || l->n_arrivals == 0)
        return 0;
    since = sched_submit_ns(s, l->arrivals[0]);
    if (__builtin_sub_overflow(now, since, &span))
        return 0;
    span = span < l->past_ns ? span : l->past_ns;
    uint32_t begin = first_since(l, s, now - span), n = l->n_arrivals - begin, made = 0;
    if (span <= 0 || n == 0)
        return 0;
    int64_t ahead = l->ahead_ns < span ? l->ahead_ns : span;
    for (uint32_t k = 0; k < l->n_scenarios; k++) {
        int64_t from = now - span + (int64_t)(gsl_rng_uniform(rng) * (double)span);
        uint32_t first = first_since(l, s, from) - begin;
        l->first[k] = made;
        for (uint32_t i = 0; i < n && made < l->first[k] + LOOKOUT_MOST; i++) {
            uint32_t at = first + i < n ? first + i : first + i - n;
            int64_t after = sched_submit_ns(s, l->arrivals[begin + at]) - from + (first + i < n ? 0 : span);
            if (after > ahead)
                break;
            l->jobs[made] = (struct rollout_expected){l->arrivals[begin + at], after > 0 ? after : 1};
            l->base[made] = base_of(s, &l->jobs[made], base);
            made++;
        }
        sort_by_base(l, l->first[k], made);
    }
    l->first[l->n_scenarios] = made;
    return made;
}

/* ---- gates ------------------------------------------------------------------------------------------ */

/* A plan as it is written. */
struct writer {
    const struct lookout *l;
    uint16_t *order;
    uint32_t n, n_window;
    uint32_t next, end; /* into by_base: what is still to come */
};

static void write_expected(struct writer *w, int64_t before)
{
    const struct lookout *l = w->l;
    for (; w->next < w->end && l->base[l->by_base[w->next]] < before; w->next++)
        w->order[w->n++] = (uint16_t)(w->n_window + l->by_base[w->next]);
}

struct gates {
    struct lookout *l;
    struct search_problem *p;
    const int64_t *base;
    uint32_t n_window, n_plan;
};

/* First those before the gate in the order of the plan, each arrival before the first one that has a larger base key; then those held back by
 * base key. Running jobs are not held. */
static void gate_try(void *self, struct rollout_lane *lane, uint32_t i)
{
    const struct gates *g = self;
    const struct lookout *l = g->l;
    uint32_t scenario = i % l->n_scenarios, n_waiting = g->p->n_window + g->p->n_tail;
    int64_t gate = l->gates[i / l->n_scenarios], latest = INT64_MIN;
    struct writer w = {l, rollout_scratch(lane), 0, g->n_window, l->first[scenario], l->first[scenario + 1]};
    for (uint32_t k = 0; k < g->n_plan; k++) {
        uint32_t index = l->order[k];
        if (index < n_waiting && g->base[index] >= gate)
            continue;
        latest = g->base[index] > latest ? g->base[index] : latest;
        write_expected(&w, latest < gate ? latest : gate);
        w.order[w.n++] = (uint16_t)index;
    }
    write_expected(&w, gate);
    uint32_t n_before = w.n;
    for (uint32_t k = 0; k < n_waiting; k++)
        if (g->base[l->sorted[k]] >= gate) {
            write_expected(&w, g->base[l->sorted[k]]);
            w.order[w.n++] = l->sorted[k];
        }
    for (; w.next < w.end; w.next++)
        w.order[w.n++] = (uint16_t)(g->n_window + l->by_base[w.next]);
    const struct rollout_plan plan = {.order = w.order,
                                      .n = w.n,
                                      .is_strict = g->p->best.is_strict,
                                      .n_held = gate < INT64_MAX ? w.n - n_before : 0,
                                      .first_expected = l->first[scenario],
                                      .n_expected = l->first[scenario + 1] - l->first[scenario]};
    struct rollout_terms terms;
    rollout_run(lane, &plan, NULL, &terms);
    l->scores[i] = rollout_score(&terms, &g->p->weights);
}

/* Well between two keys, by ratio: what is hardly longer than the shorter one is not to be held back with the longer one. Not right in the
 * middle, where rounding would decide of jobs with twice the GPUs. */
static int64_t between(int64_t low, int64_t high)
{
    double middle = 0.97 * sqrt((double)low) * sqrt((double)high);
    int64_t key = middle < 9.2e18 ? (int64_t)middle : high;
    return key <= low ? low + 1 : key < high ? key : high;
}

/* None, and those that hold back the longest: so many of a thousand arrivals. */
static uint32_t gates_make(struct lookout *l)
{
    static const uint32_t HELD[LOOKOUT_GATES - 1] = {0, 5, 10, 20, 30, 50, 80, 120, 180, 250, 350, 500};
    uint32_t n = 1, all = l->first[1];
    l->gates[0] = INT64_MAX;
    for (uint32_t k = 0; k < LOOKOUT_GATES - 1 && all > 0; k++) {
        uint32_t held = (uint32_t)((uint64_t)all * HELD[k] / 1000);
        int64_t last = l->base[l->by_base[all - held - 1]], gate = INT64_MAX;
        if (held > 0 && last < l->base[l->by_base[all - held]]) /* equal ones are not to be told apart */
            gate = between(last, l->base[l->by_base[all - held]]);
        else if (held == 0 && last < INT64_MAX / 4)
            gate = between(last, 4 * last);
        if (gate < l->gates[n - 1])
            l->gates[n++] = gate;
    }
    return n;
}

int64_t lookout_gate(struct lookout *l, struct search_problem *p, const int64_t *base)
{
    uint32_t n_waiting = p->n_window + p->n_tail, n_gates = gates_make(l), best = 0;
    struct gates g = {l, p, base, n_waiting + p->n_victims, search_write(p, &p->best, p->n, l->order)};
    order_by_integers(l->sorted, base, n_waiting);
    if (!rollout_parallel(p->rollout, n_gates * l->n_scenarios, gate_try, &g)) {
        p->is_short = true;
        return INT64_MAX;
    }
    double least = 0;
    for (uint32_t k = 0; k < n_gates; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < l->n_scenarios; i++)
            sum += l->scores[k * l->n_scenarios + i];
        best = k == 0 || sum < least ? k : best;
        least = best == k ? sum : least;
    }
    return l->gates[best];
}

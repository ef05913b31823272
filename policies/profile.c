#include "policies/profile.h"

#include <string.h>

/* A line as a job larger than a line sees it. */
struct whole {
    int64_t start; /* the earliest from the instant in hand on at which it is wholly free for long enough */
    uint32_t hint;
    bool is_taken;
};

/* ---- bounds ------------------------------------------------------------------------------------------ */

static void bounds_forget(struct profile *p)
{
    if (p->has_bounds)
        memset(p->bound, 0, PROFILE_SIZES * sizeof *p->bound);
    p->has_bounds = false;
}

static uint32_t log2_down(uint64_t x)
{
    return 63 - (uint32_t)__builtin_clzll(x);
}

static uint32_t log2_up(uint64_t x)
{
    return log2_down(x) + ((x & (x - 1)) != 0);
}

/* Where nodes differ in size a job may be too large for any free one and yet fit on several smaller ones. */
static bool is_bounded(const struct profile *p, uint32_t gpus)
{
    return p->is_even || gpus <= p->largest;
}

static int64_t bounds_ask(const struct profile *p, uint32_t gpus, int64_t length)
{
    int64_t bound = 0;
    if (p->has_bounds && is_bounded(p, gpus))
        for (uint32_t i = 0; i <= log2_down(gpus); i++)
            for (uint32_t k = 0; k <= log2_down((uint64_t)length); k++)
                bound = p->bound[i][k] > bound ? p->bound[i][k] : bound;
    return bound;
}

static void bounds_tell(struct profile *p, uint32_t gpus, int64_t length, int64_t start)
{
    if (!is_bounded(p, gpus))
        return;
    int64_t *bound = &p->bound[log2_up(gpus)][log2_up((uint64_t)length)];
    *bound = start > *bound ? start : *bound;
    p->has_bounds = true;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

static void sort_by_size(struct profile *p)
{
    for (uint32_t i = 0; i < p->n_lines; i++)
        p->by_size[i] = i;
    for (uint32_t i = 1; i < p->n_lines; i++) { /* nodes come in runs of one size: nearly sorted */
        uint32_t line = p->by_size[i], k = i;
        for (; k > 0 && p->lines[p->by_size[k - 1]].gpus < p->lines[line].gpus; k--)
            p->by_size[k] = p->by_size[k - 1];
        p->by_size[k] = line;
    }
}

bool profile_init(struct profile *p, struct sched *s, bool by_node)
{
    *p = (struct profile){.by_node = by_node, .n_lines = by_node ? sched_n_nodes(s) : 1, .clock = 1};
    for (uint32_t i = 0; by_node && i < p->n_lines; i++)
        p->n_line_of = sched_node(s, i) + 1 > p->n_line_of ? sched_node(s, i) + 1 : p->n_line_of;
    p->lines = sched_alloc(s, p->n_lines, sizeof *p->lines);
    p->by_size = sched_alloc(s, p->n_lines, sizeof *p->by_size);
    p->line_of = sched_alloc(s, p->n_line_of, sizeof *p->line_of);
    p->whole = sched_alloc(s, p->n_lines, sizeof *p->whole);
    p->heap = sched_alloc(s, p->n_lines, sizeof *p->heap);
    p->shares = sched_alloc(s, p->n_lines, sizeof *p->shares);
    p->places = sched_alloc(s, p->n_lines, sizeof *p->places);
    p->bound = sched_alloc(s, PROFILE_SIZES, sizeof *p->bound);
    if (p->bound == NULL || p->places == NULL || p->lines == NULL || p->by_size == NULL || p->line_of == NULL ||
        p->whole == NULL || p->heap == NULL || p->shares == NULL)
        return false;
    for (uint32_t i = 0; by_node && i < p->n_lines; i++) {
        p->lines[i].node = sched_node(s, i);
        p->line_of[p->lines[i].node] = i;
    }
    return profile_reset(p, s);
}

bool profile_reset(struct profile *p, struct sched *s)
{
    p->largest = 0;
    p->is_even = true;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        struct profile_line *line = &p->lines[i];
        line->gpus = p->by_node ? sched_node_gpus(s, line->node) : sched_capacity_gpus(s);
        p->largest = line->gpus > p->largest ? line->gpus : p->largest;
        p->is_even &= line->gpus == p->lines[0].gpus;
        if (!timeline_reset(&line->time, s, line->gpus))
            return false;
    }
    sort_by_size(p);
    bounds_forget(p);
    return true;
}

/* The best of line `i` and what p->shares and *best hold so far. */
static void try_line(struct profile *p, uint32_t i, uint32_t gpus, int64_t length, int64_t from, int64_t latest,
                     int64_t *best, int64_t *best_least)
{
    uint32_t hint = 0;
    int64_t least;
    int64_t start = timeline_fit(&p->lines[i].time, gpus, length, from, *best < latest ? *best : latest, &hint, &least);
    if (start < *best || (start == *best && start != SCHED_NEVER && least < *best_least)) {
        *best = start;
        *best_least = least;
        p->shares[0] = (struct share){i, gpus};
    }
}

static int64_t find_one(struct profile *p, int64_t now, uint32_t gpus, int64_t length, int64_t from)
{
    int64_t best = SCHED_NEVER, best_least = 0;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->lines[i].gpus >= gpus) {
            timeline_forget(&p->lines[i].time, now);
            try_line(p, i, gpus, length, from, SCHED_NEVER, &best, &best_least);
        }
    p->n_shares = 1;
    return best;
}

/* ---- jobs larger than a line ------------------------------------------------------------------------- */

static void sift_down(const struct whole *whole, uint32_t *heap, uint32_t n, uint32_t i)
{
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && whole[heap[child + 1]].start < whole[heap[child]].start)
            child++;
        if (whole[heap[i]].start <= whole[heap[child]].start)
            return;
        uint32_t line = heap[i];
        heap[i] = heap[child];
        heap[child] = line;
    }
}

/* The earliest instant by which lines that can be wholly free add up to `gpus`. */
static int64_t earliest_sum(struct profile *p, uint64_t gpus)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->whole[i].start != SCHED_NEVER)
            p->heap[n++] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(p->whole, p->heap, n, i);
    uint64_t sum = 0;
    while (n > 0) {
        uint32_t line = p->heap[0];
        sum += p->lines[line].gpus;
        if (sum >= gpus)
            return p->whole[line].start;
        p->heap[0] = p->heap[--n];
        sift_down(p->whole, p->heap, n, 0);
    }
    return SCHED_NEVER;
}

/* Bring every line's earliest whole start to `t` or later. */
static void refresh_whole(struct profile *p, int64_t t, int64_t length, int64_t latest)
{
    int64_t least;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->whole[i].start < t)
            p->whole[i].start =
                timeline_fit(&p->lines[i].time, p->lines[i].gpus, length, t, latest, &p->whole[i].hint, &least);
}

/* Take lines that are wholly free from `t` on, the largest first, while they are not larger than what is missing; returns what is. */
static uint32_t take_whole(struct profile *p, int64_t t, uint32_t gpus)
{
    p->n_shares = 0;
    for (uint32_t k = 0; k < p->n_lines; k++) {
        uint32_t i = p->by_size[k], size = p->lines[i].gpus;
        p->whole[i].is_taken = size > 0 && size <= gpus && p->whole[i].start == t;
        if (p->whole[i].is_taken) {
            p->shares[p->n_shares++] = (struct share){i, size};
            gpus -= size;
        }
    }
    return gpus;
}

/* A line for the rest at `t`, added to the shares: returns t; else the next instant at which there may be one. */
static int64_t take_rest(struct profile *p, int64_t t, uint32_t rest, int64_t length, int64_t latest)
{
    int64_t best_least = INT64_MAX, next = SCHED_NEVER;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        uint32_t hint = 0;
        int64_t least, start;
        if (p->whole[i].is_taken || p->lines[i].gpus < rest)
            continue;
        start = timeline_fit(&p->lines[i].time, rest, length, t, latest, &hint, &least);
        if (start == t && least < best_least) {
            best = i;
            best_least = least;
        }
        next = start > t && start < next ? start : next;
    }
    if (best == UINT32_MAX)
        return next;
    p->shares[p->n_shares++] = (struct share){best, rest};
    return t;
}

/* Instant by instant at which another line becomes possible. Wherever the job fits, the wholly free lines make up all but a rest that
 * is smaller than the largest line: until then nothing needs a look. When the lines taken do not suffice, all wholly free ones are
 * taken; later, without a new one, the rest can only be larger, so waiting for this rest or a new line misses nothing. */
static int64_t find_many(struct profile *p, int64_t now, uint32_t gpus, int64_t length, int64_t from, int64_t latest)
{
    for (uint32_t i = 0; i < p->n_lines; i++) {
        timeline_forget(&p->lines[i].time, now);
        p->whole[i] = (struct whole){.start = p->lines[i].gpus > 0 ? INT64_MIN : SCHED_NEVER};
    }
    for (int64_t t = from; t <= latest;) {
        refresh_whole(p, t, length, latest);
        int64_t enough = earliest_sum(p, (uint64_t)gpus - (p->largest - 1));
        if (enough == SCHED_NEVER)
            break;
        if (enough > t) {
            t = enough;
            continue;
        }
        uint32_t rest = take_whole(p, t, gpus);
        int64_t next = rest == 0 ? t : take_rest(p, t, rest, length, latest);
        if (next == t)
            return t;
        for (uint32_t i = 0; i < p->n_lines; i++)
            if (p->whole[i].start > t && p->whole[i].start < next)
                next = p->whole[i].start;
        if (next == SCHED_NEVER)
            break;
        t = next;
    }
    return SCHED_NEVER;
}

int64_t profile_find(struct profile *p, struct sched *s, uint32_t gpus, int64_t length_ns)
{
    int64_t now = sched_now(s), from = bounds_ask(p, gpus, length_ns), start;
    from = from > now ? from : now;
    if (gpus <= p->largest)
        start = find_one(p, now, gpus, length_ns, from);
    else
        start = p->by_node ? find_many(p, now, gpus, length_ns, from, SCHED_NEVER - 1) : SCHED_NEVER;
    bounds_tell(p, gpus, length_ns, start);
    return start;
}

int64_t profile_find_earlier(struct profile *p, struct sched *s, const struct share *own, uint32_t n_own, uint32_t gpus,
                             int64_t start_ns, int64_t length_ns, uint64_t since)
{
    int64_t now = sched_now(s), best = SCHED_NEVER, best_least = 0;
    if (gpus > p->largest) {
        profile_give(p, s, own, n_own, start_ns, start_ns + length_ns);
        best = find_many(p, now, gpus, length_ns, now, start_ns - 1);
        profile_take(p, s, own, n_own, start_ns, start_ns + length_ns);
        return best;
    }
    for (uint32_t i = 0; i < p->n_lines; i++) {
        if (p->lines[i].gpus < gpus || p->lines[i].freed <= since)
            continue;
        timeline_forget(&p->lines[i].time, now);
        if (i == own->line) /* only here is it in its own way */
            profile_give(p, s, own, 1, start_ns, start_ns + length_ns);
        try_line(p, i, gpus, length_ns, now, start_ns - 1, &best, &best_least);
        if (i == own->line)
            profile_take(p, s, own, 1, start_ns, start_ns + length_ns);
    }
    p->n_shares = 1;
    return best;
}

static bool add(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                int64_t to_ns, int sign)
{
    bool ok = true;
    for (uint32_t i = 0; i < n; i++)
        ok &= timeline_add(&p->lines[shares[i].line].time, s, from_ns, to_ns, sign * (int64_t)shares[i].gpus);
    return ok;
}

bool profile_take(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns)
{
    return add(p, s, shares, n, from_ns, to_ns, -1);
}

bool profile_give(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                  int64_t to_ns)
{
    return add(p, s, shares, n, from_ns, to_ns, 1);
}

void profile_mark(struct profile *p, const struct share *shares, uint32_t n)
{
    p->freed = ++p->clock;
    bounds_forget(p);
    for (uint32_t i = 0; i < n; i++)
        p->lines[shares[i].line].freed = p->clock;
}

void profile_mark_all(struct profile *p)
{
    p->freed = ++p->clock;
    bounds_forget(p);
    for (uint32_t i = 0; i < p->n_lines; i++)
        p->lines[i].freed = p->clock;
}

bool profile_is_free(const struct profile *p, const struct share *shares, uint32_t n, int64_t from_ns, int64_t to_ns)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t hint = 0;
        int64_t least;
        if (from_ns < to_ns && timeline_fit(&p->lines[shares[i].line].time, shares[i].gpus, to_ns - from_ns, from_ns,
                                            from_ns, &hint, &least) != from_ns)
            return false;
    }
    return true;
}

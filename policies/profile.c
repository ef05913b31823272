#include "policies/profile.h"

#include "base/check.h"

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

/* The bounds of this need as they hold now; NULL: none are kept. */
static struct need_bounds *bounds_of(struct profile *p, struct sched *s, const struct need *need)
{
    if (need->demand >= p->n_needs)
        return NULL;
    struct need_bounds **at = &p->of_need[need->demand];
    if (*at == NULL)
        *at = sched_alloc(s, 1, sizeof **at);
    if (*at != NULL && (*at)->clock != p->freed) {
        memset((*at)->latest, 0, sizeof(*at)->latest);
        (*at)->clock = p->freed;
    }
    return *at;
}

static int64_t bounds_ask(struct profile *p, struct sched *s, const struct need *need, int64_t length)
{
    int64_t bound = 0;
    uint32_t most = log2_down((uint64_t)length);
    if (!p->is_plain) {
        const struct need_bounds *b = bounds_of(p, s, need);
        for (uint32_t k = 0; b != NULL && k <= most; k++)
            bound = b->latest[k] > bound ? b->latest[k] : bound;
    } else if (p->has_bounds && is_bounded(p, need->gpus)) {
        for (uint32_t i = 0; i <= log2_down(need->gpus); i++)
            for (uint32_t k = 0; k <= most; k++)
                bound = p->bound[i][k] > bound ? p->bound[i][k] : bound;
    }
    return bound;
}

static void bounds_tell(struct profile *p, struct sched *s, const struct need *need, int64_t length, int64_t start)
{
    int64_t *bound = NULL;
    uint32_t k = log2_up((uint64_t)length);
    if (!p->is_plain) {
        struct need_bounds *b = bounds_of(p, s, need);
        bound = b != NULL ? &b->latest[k] : NULL;
    } else if (is_bounded(p, need->gpus)) {
        bound = &p->bound[log2_up(need->gpus)][k];
        p->has_bounds = true;
    }
    if (bound != NULL)
        *bound = start > *bound ? start : *bound;
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

bool profile_init(struct profile *p, struct sched *s, enum profile_rule rule)
{
    bool by_node = rule != PROFILE_COUNT;
    *p = (struct profile){.rule = rule,
                          .is_plain = !by_node || sched_gpus_decide(s),
                          .n_lines = by_node ? sched_n_nodes(s) : 1,
                          .clock = 1};
    for (uint32_t i = 0; by_node && i < p->n_lines; i++)
        p->n_line_of = sched_node(s, i) + 1 > p->n_line_of ? sched_node(s, i) + 1 : p->n_line_of;
    p->n_needs = p->is_plain ? 0 : sched_n_demands(s);
    p->lines = sched_alloc(s, p->n_lines, sizeof *p->lines);
    p->by_size = sched_alloc(s, p->n_lines, sizeof *p->by_size);
    p->line_of = sched_alloc(s, p->n_line_of, sizeof *p->line_of);
    p->whole = sched_alloc(s, p->n_lines, sizeof *p->whole);
    p->heap = sched_alloc(s, p->n_lines, sizeof *p->heap);
    p->shares = sched_alloc(s, p->n_lines, sizeof *p->shares);
    p->places = sched_alloc(s, p->n_lines, sizeof *p->places);
    p->bound = sched_alloc(s, PROFILE_SIZES, sizeof *p->bound);
    p->of_need = sched_alloc(s, p->n_needs, sizeof *p->of_need);
    if (p->bound == NULL || p->places == NULL || p->lines == NULL || p->by_size == NULL || p->line_of == NULL ||
        p->whole == NULL || p->heap == NULL || p->shares == NULL || p->of_need == NULL)
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
        bool by_node = p->rule != PROFILE_COUNT;
        line->gpus = by_node ? sched_node_gpus(s, line->node) : sched_capacity_gpus(s);
        line->type = p->is_plain ? SCHED_ANY_TYPE : sched_node_type(s, line->node);
        p->largest = line->gpus > p->largest ? line->gpus : p->largest;
        p->is_even &= line->gpus == p->lines[0].gpus;
        int64_t all[NEED_KINDS] = {line->gpus, SCHED_UNLIMITED, SCHED_UNLIMITED};
        if (!p->is_plain) {
            all[NEED_CPU] = sched_node_cpu_milli(s, line->node);
            all[NEED_MEMORY] = sched_node_memory_kib(s, line->node);
        }
        for (int k = 0; k < NEED_KINDS; k++) {
            line->is_kept[k] = all[k] != SCHED_UNLIMITED;
            if (line->is_kept[k] && !timeline_reset(&line->time[k], s, all[k]))
                return false;
        }
    }
    sort_by_size(p);
    bounds_forget(p);
    return true;
}

struct need profile_need(const struct profile *p, const struct sched *s, uint32_t job)
{
    struct need need = need_of(s, job);
    if (p->is_plain) {
        need.type = SCHED_ANY_TYPE;
        need.host[0] = need.host[1] = 0;
    }
    return need;
}

struct share profile_share(const struct need *need, uint32_t line, uint32_t before, uint32_t gpus)
{
    struct share share = {.line = line, .gpus = gpus};
    for (int k = 0; k < 2; k++)
        share.host[k] = (int64_t)sched_part(need->host[k], before, gpus, need->gpus);
    return share;
}

static bool serves(const struct profile_line *line, const struct need *need)
{
    return need_is_served(need, line->gpus, line->type);
}

/* GPUs of the largest line that serves. */
static uint32_t largest_for(const struct profile *p, const struct need *need)
{
    uint32_t largest = 0;
    if (need->type == SCHED_ANY_TYPE)
        return p->largest;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (serves(&p->lines[i], need) && p->lines[i].gpus > largest)
            largest = p->lines[i].gpus;
    return largest;
}

static void forget(struct profile_line *line, int64_t now)
{
    for (int k = 0; k < NEED_KINDS; k++)
        if (line->is_kept[k])
            timeline_forget(&line->time[k], now);
}

/* timeline_fit of `gpus` GPUs of a line and of what the job needs beside them there. */
static int64_t line_fit(const struct profile_line *line, const struct need *need, uint32_t gpus, int64_t length,
                        int64_t from, int64_t latest, uint32_t *hint, int64_t *least)
{
    for (;;) {
        int64_t start = timeline_fit(&line->time[NEED_GPUS], gpus, length, from, latest, hint, least), also = start;
        for (int k = 0; k < 2 && also != SCHED_NEVER; k++) {
            uint32_t no_hint = 0;
            int64_t ignored;
            if (line->is_kept[NEED_CPU + k] && need->host[k] > 0)
                also = timeline_fit(&line->time[NEED_CPU + k],
                                    (int64_t)sched_part_bound(need->host[k], gpus, need->gpus), length, also, latest,
                                    &no_hint, &ignored);
        }
        if (also == start || also == SCHED_NEVER)
            return also;
        from = also;
    }
}

/* The best of line `i` and what p->shares and *best hold so far. */
static void try_line(struct profile *p, uint32_t i, const struct need *need, int64_t length, int64_t from,
                     int64_t latest, int64_t *best, int64_t *best_least)
{
    uint32_t hint = 0;
    int64_t least,
        start = line_fit(&p->lines[i], need, need->gpus, length, from, *best < latest ? *best : latest, &hint, &least);
    if (start < *best || (start == *best && start != SCHED_NEVER && least < *best_least)) {
        *best = start;
        *best_least = least;
        p->shares[0] = profile_share(need, i, 0, need->gpus);
    }
}

static int64_t find_one(struct profile *p, int64_t now, const struct need *need, int64_t length, int64_t from)
{
    int64_t best = SCHED_NEVER, best_least = 0;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->lines[i].gpus >= need->gpus && serves(&p->lines[i], need)) {
            forget(&p->lines[i], now);
            try_line(p, i, need, length, from, SCHED_NEVER, &best, &best_least);
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
static void refresh_whole(struct profile *p, const struct need *need, int64_t t, int64_t length, int64_t latest)
{
    int64_t least;
    for (uint32_t i = 0; i < p->n_lines; i++)
        if (p->whole[i].start < t)
            p->whole[i].start =
                line_fit(&p->lines[i], need, p->lines[i].gpus, length, t, latest, &p->whole[i].hint, &least);
}

/* Take lines that are wholly free from `t` on, the largest first, while they are not larger than what is missing; returns what is. */
static uint32_t take_whole(struct profile *p, const struct need *need, int64_t t)
{
    uint32_t missing = need->gpus;
    p->n_shares = 0;
    for (uint32_t k = 0; k < p->n_lines; k++) {
        uint32_t i = p->by_size[k], size = p->lines[i].gpus;
        p->whole[i].is_taken = size > 0 && size <= missing && p->whole[i].start == t;
        if (p->whole[i].is_taken) {
            p->shares[p->n_shares++] = profile_share(need, i, need->gpus - missing, size);
            missing -= size;
        }
    }
    return missing;
}

/* A line for the rest at `t`, added to the shares: returns t; else the next instant at which there may be one. */
static int64_t take_rest(struct profile *p, const struct need *need, int64_t t, uint32_t rest, int64_t length,
                         int64_t latest)
{
    int64_t best_least = INT64_MAX, next = SCHED_NEVER;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        uint32_t hint = 0;
        int64_t least, start;
        if (p->whole[i].is_taken || p->lines[i].gpus < rest || !serves(&p->lines[i], need))
            continue;
        start = line_fit(&p->lines[i], need, rest, length, t, latest, &hint, &least);
        if (start == t && least < best_least) {
            best = i;
            best_least = least;
        }
        next = start > t && start < next ? start : next;
    }
    if (best == UINT32_MAX)
        return next;
    p->shares[p->n_shares++] = profile_share(need, best, need->gpus - rest, rest);
    return t;
}

/* Instant by instant at which another line becomes possible. Wherever the job fits, the wholly free lines make up all but a rest that
 * is smaller than the largest line: until then nothing needs a look. When the lines taken do not suffice, all wholly free ones are
 * taken; later, without a new one, the rest can only be larger, so waiting for this rest or a new line misses nothing. */
static int64_t find_many(struct profile *p, int64_t now, const struct need *need, int64_t length, int64_t from,
                         int64_t latest)
{
    uint32_t largest = largest_for(p, need);
    if (largest == 0)
        return SCHED_NEVER;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        forget(&p->lines[i], now);
        p->whole[i] = (struct whole){.start = serves(&p->lines[i], need) ? INT64_MIN : SCHED_NEVER};
    }
    for (int64_t t = from; t <= latest;) {
        refresh_whole(p, need, t, length, latest);
        int64_t enough = earliest_sum(p, (uint64_t)need->gpus - (largest - 1));
        if (enough == SCHED_NEVER)
            break;
        if (enough > t) {
            t = enough;
            continue;
        }
        uint32_t rest = take_whole(p, need, t);
        int64_t next = rest == 0 ? t : take_rest(p, need, t, rest, length, latest);
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

/* ---- jobs that may take a part of any line ----------------------------------------------------------- */

/* GPUs of a line that the job can have over [t, t + length), up to `most`; *until: it can be no more for any later `t` before that. */
static uint32_t part_within(const struct profile_line *line, const struct need *need, int64_t t, int64_t length,
                            uint32_t most, int64_t *until)
{
    int64_t last, least = timeline_least(&line->time[NEED_GPUS], t, length, until);
    uint32_t gpus = least <= 0 ? 0 : least < most ? (uint32_t)least : most;
    for (int k = 0; k < 2; k++) {
        if (!line->is_kept[NEED_CPU + k] || need->host[k] == 0)
            continue;
        least = timeline_least(&line->time[NEED_CPU + k], t, length, &last);
        uint32_t within = sched_part_most(need->host[k], least > 0 ? (uint64_t)least : 0, most, need->gpus);
        if (within < gpus || (within == gpus && last > *until)) {
            gpus = within;
            *until = last;
        }
    }
    return gpus;
}

static int64_t find_any(struct profile *p, int64_t now, const struct need *need, int64_t length, int64_t from,
                        int64_t latest)
{
    for (uint32_t i = 0; i < p->n_lines; i++)
        forget(&p->lines[i], now);
    for (int64_t t = from, next; t <= latest && t != SCHED_NEVER; t = next) {
        uint32_t missing = need->gpus;
        next = SCHED_NEVER;
        p->n_shares = 0;
        for (uint32_t i = 0; i < p->n_lines && missing > 0; i++) {
            int64_t until;
            if (!serves(&p->lines[i], need))
                continue;
            uint32_t gpus = part_within(&p->lines[i], need, t, length, missing, &until);
            if (gpus < missing)
                next = until < next ? until : next;
            if (gpus > 0)
                p->shares[p->n_shares++] = profile_share(need, i, need->gpus - missing, gpus);
            missing -= gpus;
        }
        if (missing == 0)
            return t;
    }
    return SCHED_NEVER;
}

/* ---- questions --------------------------------------------------------------------------------------- */

static bool is_for_one(const struct profile *p, const struct need *need)
{
    return p->rule != PROFILE_POOL && need->gpus <= largest_for(p, need);
}

static int64_t find_several(struct profile *p, int64_t now, const struct need *need, int64_t length, int64_t from,
                            int64_t latest)
{
    if (p->rule == PROFILE_COUNT)
        return SCHED_NEVER;
    return p->rule == PROFILE_PACKED ? find_many(p, now, need, length, from, latest)
                                     : find_any(p, now, need, length, from, latest);
}

int64_t profile_find(struct profile *p, struct sched *s, const struct need *need, int64_t length_ns)
{
    int64_t now = sched_now(s), from = bounds_ask(p, s, need, length_ns), start;
    from = from > now ? from : now;
    start = is_for_one(p, need) ? find_one(p, now, need, length_ns, from)
                                : find_several(p, now, need, length_ns, from, SCHED_NEVER - 1);
    bounds_tell(p, s, need, length_ns, start);
    return start;
}

int64_t profile_find_earlier(struct profile *p, struct sched *s, const struct share *own, uint32_t n_own,
                             const struct need *need, int64_t start_ns, int64_t length_ns, uint64_t since)
{
    int64_t now = sched_now(s), best = SCHED_NEVER, best_least = 0;
    if (!is_for_one(p, need)) {
        profile_give(p, s, own, n_own, start_ns, start_ns + length_ns);
        best = find_several(p, now, need, length_ns, now, start_ns - 1);
        profile_take(p, s, own, n_own, start_ns, start_ns + length_ns);
        return best;
    }
    for (uint32_t i = 0; i < p->n_lines; i++) {
        if (p->lines[i].gpus < need->gpus || p->lines[i].freed <= since || !serves(&p->lines[i], need))
            continue;
        forget(&p->lines[i], now);
        if (i == own->line) /* only here is it in its own way */
            profile_give(p, s, own, 1, start_ns, start_ns + length_ns);
        try_line(p, i, need, length_ns, now, start_ns - 1, &best, &best_least);
        if (i == own->line)
            profile_take(p, s, own, 1, start_ns, start_ns + length_ns);
    }
    p->n_shares = 1;
    return best;
}

/* What a share takes of resource `k` of its line, 0 where nothing is kept of it. */
static int64_t amount_of(const struct profile *p, const struct share *share, int k)
{
    require(share->line < p->n_lines, "a plan names line %u of %u", share->line, p->n_lines);
    if (!p->lines[share->line].is_kept[k])
        return 0;
    return k == NEED_GPUS ? (int64_t)share->gpus : share->host[k - NEED_CPU];
}

static bool add(struct profile *p, struct sched *s, const struct share *shares, uint32_t n, int64_t from_ns,
                int64_t to_ns, int sign)
{
    bool ok = true;
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < NEED_KINDS; k++) {
            int64_t amount = amount_of(p, &shares[i], k);
            if (amount != 0)
                ok &= timeline_add(&p->lines[shares[i].line].time[k], s, from_ns, to_ns, sign * amount);
        }
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

bool profile_is_free(const struct profile *p, const struct share *shares, uint32_t n, int64_t from_ns, int64_t to_ns)
{
    for (uint32_t i = 0; i < n && from_ns < to_ns; i++)
        for (int k = 0; k < NEED_KINDS; k++) {
            uint32_t hint = 0;
            int64_t least, amount = amount_of(p, &shares[i], k);
            if (amount > 0 && timeline_fit(&p->lines[shares[i].line].time[k], amount, to_ns - from_ns, from_ns, from_ns,
                                           &hint, &least) != from_ns)
                return false;
        }
    return true;
}

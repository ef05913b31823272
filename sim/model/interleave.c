#include "model/interleave.h"

#include "base/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MURI_KINDS = 3, MURI_PHASES = 4, ENTRIES_MOST = 1 << 20 };

static const double MURI_STEADY = 1e-3; /* two rounds alike within this are taken as the steady state */

#define NO_PROFILE UINT32_MAX

struct interleave_entry {
    uint32_t key[INTERLEAVE_GROUP_MAX]; /* NO_PROFILE behind the members; all NO_PROFILE: free */
    double period;
};

uint32_t interleave_most(const struct interleave_rule *rule)
{
    return rule->form == INTERLEAVE_MURI ? MURI_PHASES : rule->kinds;
}

/* ---- the closed form ------------------------------------------------------------------------------- */

/* slot[i]: where job i starts. */
struct arrangement {
    const struct interleave_profile *const *jobs;
    uint32_t n, phases;
    uint32_t slot[INTERLEAVE_GROUP_MAX];
};

static double phases_period(const struct arrangement *a)
{
    double sum = 0;
    for (uint32_t phase = 0; phase < a->phases; phase++) {
        double longest = 0;
        for (uint32_t i = 0; i < a->n; i++) {
            double stage = a->jobs[i]->stage[(phase + a->phases - a->slot[i]) % a->phases];
            longest = stage > longest ? stage : longest;
        }
        sum += longest;
    }
    return sum;
}

static bool is_steady(double a, double b)
{
    return fabs(a - b) <= MURI_STEADY * fmax(fabs(a), fabs(b));
}

/* The end f[i] of phase i over two rounds. In phase i the job of slot i + 1 is in its third stage, that of slot i + 2 in its second, and that
 * of slot i + 3 ends its first, which began a phase earlier. An empty slot waits for nobody, and an end may lie before the one before. */
static double muri_period(const struct arrangement *a)
{
    static const struct interleave_profile nobody;
    const struct interleave_profile *at[MURI_PHASES] = {&nobody, &nobody, &nobody, &nobody};
    bool is_taken[MURI_PHASES] = {false};
    double f[2 * MURI_PHASES + 1] = {0};
    for (uint32_t i = 0; i < a->n; i++) {
        at[a->slot[i]] = a->jobs[i];
        is_taken[a->slot[i]] = true;
    }
    for (uint32_t i = 0; i < 2 * MURI_PHASES; i++) {
        uint32_t third = (i + 1) % MURI_PHASES, second = (i + 2) % MURI_PHASES, first = (i + 3) % MURI_PHASES;
        double end = 0, t;
        if (is_taken[third] && (t = f[i] + at[third]->stage[2]) > end)
            end = t;
        if (is_taken[second] && (t = f[i] + at[second]->stage[1]) > end)
            end = t;
        if (i > 0 && is_taken[first] && (t = f[i - 1] + at[first]->stage[0]) > end)
            end = t;
        f[i + 1] = end;
        if (i >= MURI_PHASES) {
            double period = f[i + 1] - f[i - 3], before = f[i] - f[i - 4];
            if (period > 0 && is_steady(period, before))
                return period;
        }
    }
    return f[2 * MURI_PHASES] - f[MURI_PHASES];
}

/* Two jobs two phases apart: each has its first stage while the other has its second and third. */
static double muri_opposite(const struct arrangement *a)
{
    const double *x = a->jobs[0]->stage, *y = a->jobs[1]->stage;
    return fmax(x[0], y[1] + y[2]) + fmax(y[0], x[1] + x[2]);
}

static double period_of(const struct interleave_rule *rule, const struct arrangement *a)
{
    return rule->form == INTERLEAVE_MURI ? muri_period(a) : phases_period(a);
}

/* ---- the choice of slots --------------------------------------------------------------------------- */

static double better(const struct interleave_rule *rule, double a, double b)
{
    return (rule->order == INTERLEAVE_WORST) == (a > b) ? a : b;
}

/* Give jobs i.. slots below `slots` that are not in `taken`, in every way. */
static double arrange(const struct interleave_rule *rule, struct arrangement *a, uint32_t i, uint32_t slots,
                      uint32_t taken, double found)
{
    if (i == a->n)
        return better(rule, period_of(rule, a), found);
    for (uint32_t s = 0; s < slots; s++)
        if (!(taken & 1u << s)) {
            a->slot[i] = s;
            found = arrange(rule, a, i + 1, slots, taken | 1u << s, found);
        }
    return found;
}

double interleave_compute(const struct interleave_rule *rule, const struct interleave_profile *const *jobs, uint32_t n)
{
    require(n >= 1 && n <= interleave_most(rule), "a group of %u over %u kinds", n, rule->kinds);
    if (n == 1)
        return jobs[0]->iteration;
    bool is_muri = rule->form == INTERLEAVE_MURI;
    struct arrangement a = {.jobs = jobs, .n = n, .phases = is_muri ? MURI_PHASES : rule->kinds};
    double period = rule->order == INTERLEAVE_WORST ? -INFINITY : INFINITY;
    if (rule->order == INTERLEAVE_GIVEN) {
        for (uint32_t i = 0; i < n; i++)
            a.slot[i] = i;
        period = period_of(rule, &a);
    } else if (is_muri) { /* the recurrence starts somewhere: turning all slots is another arrangement */
        period = arrange(rule, &a, 0, n, 0, period);
        if (n == 2)
            period = better(rule, muri_opposite(&a), period);
    } else { /* a round has no beginning: job 0 stays where it is */
        a.slot[0] = 0;
        period = arrange(rule, &a, 1, a.phases, 1, period);
    }
    double inflation = rule->inflation[n];
    return inflation > 0 ? period * inflation : period;
}

/* ---- profiles -------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t profile_hash(const struct interleave_profile *p)
{
    uint64_t h = 1, bits;
    for (uint32_t k = 0; k <= INTERLEAVE_KINDS_MAX; k++) {
        double v = k < INTERLEAVE_KINDS_MAX ? p->stage[k] : p->iteration;
        memcpy(&bits, &v, sizeof bits);
        h = mix(h, bits);
    }
    return h;
}

static bool profile_is_same(const struct interleave_profile *a, const struct interleave_profile *b)
{
    for (uint32_t k = 0; k < INTERLEAVE_KINDS_MAX; k++)
        if (a->stage[k] != b->stage[k])
            return false;
    return a->iteration == b->iteration;
}

static uint32_t *profile_slot(uint32_t *slots, uint32_t n_slots, const struct interleave_profile *profiles,
                              const struct interleave_profile *p)
{
    uint32_t at = (uint32_t)profile_hash(p) & (n_slots - 1);
    while (slots[at] != NO_PROFILE && !profile_is_same(&profiles[slots[at]], p))
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static bool profiles_grow(struct interleave *m)
{
    uint32_t room = m->profiles_room * 2 + 32, n_slots = room * 2;
    n_slots = 1u << (32 - __builtin_clz(n_slots - 1));
    struct interleave_profile *profiles = realloc(m->profiles, room * sizeof *profiles);
    if (profiles == NULL)
        return false;
    m->profiles = profiles;
    uint32_t *slots = malloc(n_slots * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (uint32_t i = 0; i < m->n_profiles; i++)
        *profile_slot(slots, n_slots, profiles, &profiles[i]) = i;
    free(m->slots);
    m->slots = slots;
    m->n_slots = n_slots;
    m->profiles_room = room;
    return true;
}

uint32_t interleave_add(struct interleave *m, const struct interleave_profile *p)
{
    if (m->n_profiles == m->profiles_room && !profiles_grow(m))
        return NO_PROFILE;
    uint32_t *slot = profile_slot(m->slots, m->n_slots, m->profiles, p);
    if (*slot == NO_PROFILE) {
        *slot = m->n_profiles;
        m->profiles[m->n_profiles++] = *p;
    }
    return *slot;
}

void interleave_init(struct interleave *m, const struct interleave_rule *rule)
{
    uint32_t kinds = rule->form == INTERLEAVE_MURI ? MURI_KINDS : rule->kinds;
    require(kinds >= 1 && kinds <= INTERLEAVE_KINDS_MAX, "%u kinds of resources", kinds);
    *m = (struct interleave){.rule = *rule};
    m->rule.kinds = kinds;
}

void interleave_fini(struct interleave *m)
{
    free(m->profiles);
    free(m->slots);
    free(m->entries);
    *m = (struct interleave){0};
}

/* ---- groups ---------------------------------------------------------------------------------------- */

static struct interleave_entry *entry_at(struct interleave_entry *entries, uint32_t room, const uint32_t *key)
{
    uint64_t h = 1;
    for (uint32_t i = 0; i < INTERLEAVE_GROUP_MAX && key[i] != NO_PROFILE; i++)
        h = mix(h, key[i]);
    uint32_t at = (uint32_t)h & (room - 1);
    while (entries[at].key[0] != NO_PROFILE && memcmp(entries[at].key, key, sizeof entries[at].key) != 0)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool entries_grow(struct interleave *m)
{
    uint32_t room = m->entries_room > 0 ? m->entries_room * 2 : 256;
    struct interleave_entry *entries = room <= ENTRIES_MOST ? malloc(room * sizeof *entries) : NULL;
    if (entries == NULL)
        return false;
    memset(entries, 0xff, room * sizeof *entries);
    for (uint32_t i = 0; i < m->entries_room; i++)
        if (m->entries[i].key[0] != NO_PROFILE)
            *entry_at(entries, room, m->entries[i].key) = m->entries[i];
    free(m->entries);
    m->entries = entries;
    m->entries_room = room;
    return true;
}

static double compute(const struct interleave *m, const uint32_t *profiles, uint32_t n)
{
    const struct interleave_profile *jobs[INTERLEAVE_GROUP_MAX] = {NULL};
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = &m->profiles[profiles[i]];
    return interleave_compute(&m->rule, jobs, n);
}

double interleave_period(struct interleave *m, const uint32_t *profiles, uint32_t n)
{
    if (n == 1)
        return m->profiles[profiles[0]].iteration;
    require(n <= interleave_most(&m->rule), "a group of %u over %u kinds", n, m->rule.kinds);
    uint32_t key[INTERLEAVE_GROUP_MAX];
    memset(key, 0xff, sizeof key);
    for (uint32_t i = 0; i < n; i++) { /* sorted, unless their order matters */
        uint32_t k = i;
        for (; m->rule.order != INTERLEAVE_GIVEN && k > 0 && key[k - 1] > profiles[i]; k--)
            key[k] = key[k - 1];
        key[k] = profiles[i];
    }
    struct interleave_entry *e = NULL;
    if (m->entries_room > 0) {
        e = entry_at(m->entries, m->entries_room, key);
        if (e->key[0] != NO_PROFILE)
            return e->period;
    }
    double period = compute(m, key, n);
    if (m->n_entries * 2 >= m->entries_room)
        e = entries_grow(m) ? entry_at(m->entries, m->entries_room, key) : NULL;
    if (e != NULL) {
        memcpy(e->key, key, sizeof key);
        e->period = period;
        m->n_entries++;
    }
    return period;
}

void interleave_use(struct interleave *m, const uint32_t *profiles, uint32_t n, double *use)
{
    double period = interleave_period(m, profiles, n);
    for (uint32_t k = 0; k < m->rule.kinds; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += m->profiles[profiles[i]].stage[k];
        use[k] = period > 0 ? sum / period : 0;
    }
}

/* naive_fair.c - fair_share, max_min, drf, quota and hierarchical, from what policies/fair.h and policies/fair_tree.h say. */
#include "tests/engine/naive_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT, NODES = 64, NOBODY = -1 };

struct owner {
    int parent;
    bool is_leaf;
    double weight;
    int64_t guarantee;
    int user, vc;  /* of a leaf; -1: any */
    double used;   /* decayed, ns GPUs */
    uint64_t turn; /* when it was last served */
    char name[16];
};

/* What a run of these rules keeps; begin() makes it new. */
static struct owner owners[NODES];
static int n_owners;
static uint64_t n_turns;
static int known_leaf[NAIVE_JOBS]; /* NOBODY: not asked yet */
static bool is_passed[NAIVE_JOBS], is_displaced[NAIVE_JOBS];

static const struct naive_fair *fair_of(const struct world *w)
{
    return (const struct naive_fair *)w->c->rules;
}

/* ---- who is entitled to what ---------------------------------------------------------------------------- */

static const char *user_name(int user)
{
    static const char *const names[NAIVE_USERS] = {"u", "v", "w"};
    return names[user];
}

static const char *vc_name(int vc)
{
    static const char *const names[NAIVE_VCS] = {"a", "b", "c", "d"};
    return vc < 0 ? "elsewhere" : names[vc];
}

static int add(const char *name, int parent, double weight, int64_t guarantee)
{
    struct owner *o = &owners[n_owners];
    *o = (struct owner){
        .parent = parent, .weight = weight, .guarantee = guarantee, .user = -1, .vc = -1, .turn = n_turns++};
    strcpy(o->name, name);
    return n_owners++;
}

static int find(const char *name, int from, int below)
{
    for (int i = from; i < n_owners; i++) {
        int up = i;
        while (up != below && up != NOBODY)
            up = owners[up].parent;
        if (up == below && i != below && strcmp(owners[i].name, name) == 0)
            return i;
    }
    return NOBODY;
}

/* The owner on which a job is booked. Users inside virtual clusters come into being with their first job. */
static int leaf_of(const struct world *w, uint32_t j)
{
    const struct naive_job *job = &w->c->jobs[j];
    enum naive_by by = fair_of(w)->by;
    int leaf = known_leaf[j];
    if (leaf != NOBODY)
        return leaf;
    if (by != N_BY_VC_USER) {
        const char *name = by == N_BY_USER ? user_name(job->user) : vc_name(job->vc);
        leaf = find(name, 1, ROOT);
        leaf = leaf == NOBODY ? add(name, ROOT, 1, 0) : leaf;
    } else {
        int vc = NOBODY;
        for (int i = 1; i < n_owners && vc == NOBODY; i++)
            if (!owners[i].is_leaf && strcmp(owners[i].name, vc_name(job->vc)) == 0)
                vc = i;
        vc = vc == NOBODY ? add(vc_name(job->vc), ROOT, 1, 0) : vc;
        leaf = find(user_name(job->user), 1, vc);
        leaf = leaf == NOBODY ? add(user_name(job->user), vc, 1, 0) : leaf;
    }
    owners[leaf].is_leaf = true;
    known_leaf[j] = leaf;
    return leaf;
}

void naive_fair_begin(struct world *w)
{
    const struct naive_fair *f = fair_of(w);
    n_owners = 0;
    n_turns = 0;
    for (uint32_t j = 0; j < NAIVE_JOBS; j++)
        known_leaf[j] = NOBODY;
    add("", NOBODY, 1, 0);
    for (const struct naive_share *s = f->shares; s->name != NULL; s++) {
        int parent = s->parent[0] == '\0' ? ROOT : find(s->parent, 1, ROOT);
        add(s->name, parent, s->weight, s->guarantee);
    }
    for (int i = n_owners; i-- > 1;) /* parents stand above their children in our files */
        if (owners[i].guarantee < 0) {
            owners[i].guarantee = 0;
            for (int k = 1; k < n_owners; k++)
                owners[i].guarantee += owners[k].parent == i ? owners[k].guarantee : 0;
        }
    if (f->by == N_BY_VC_USER) /* virtual clusters without a row are known from the start */
        for (uint32_t j = 0; j < w->c->n_jobs; j++) {
            const char *name = vc_name(w->c->jobs[j].vc);
            if (find(name, 1, ROOT) == NOBODY)
                add(name, ROOT, 1, 0);
        }
    else
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            leaf_of(w, j);
}

/* Is the job booked somewhere below `owner`? */
static bool is_below(const struct world *w, uint32_t j, int owner)
{
    int at = leaf_of(w, j);
    while (at != NOBODY && at != owner)
        at = owners[at].parent;
    return at == owner;
}

/* ---- how much of it each has ------------------------------------------------------------------------------- */

struct amount {
    double gpus, cpu, memory;
};

static struct amount plus(struct amount a, const struct naive_job *job, int sign)
{
    return (struct amount){a.gpus + sign * (double)job->gpus, a.cpu + sign * (double)job->cpu_milli,
                           a.memory + sign * (double)job->mem_kib};
}

/* What the cluster has, 0 where a node has no bound. */
static struct amount capacity(const struct world *w)
{
    struct amount all = {0};
    bool has_cpu = true, has_memory = true;
    for (uint32_t i = 0; i < w->c->n_nodes; i++) {
        all.gpus += w->c->gpus[i];
        all.cpu += w->c->cpu_milli[i];
        all.memory += (double)w->c->mem_kib[i];
        has_cpu &= w->c->cpu_milli[i] > 0;
        has_memory &= w->c->mem_kib[i] > 0;
    }
    return (struct amount){all.gpus, has_cpu ? all.cpu : 0, has_memory ? all.memory : 0};
}

static double part(double held, double all)
{
    return all > 0 ? held / all : 0;
}

static struct amount held_by(const struct world *w, int owner)
{
    struct amount sum = {0};
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == RUNNING && is_below(w, j, owner))
            sum = plus(sum, &w->c->jobs[j], 1);
    return sum;
}

/* Its value if it held this. */
static double value_with(const struct world *w, int owner, struct amount held)
{
    const struct naive_fair *f = fair_of(w);
    const struct owner *o = &owners[owner];
    double guarantee = (double)o->guarantee;
    struct amount all = capacity(w);
    switch (f->measure) {
    case N_USAGE:
        return (o->used + held.gpus * (double)f->ahead) / o->weight;
    case N_GPUS:
        return held.gpus / o->weight;
    case N_DOMINANT:
        return fmax(part(held.gpus, all.gpus), fmax(part(held.cpu, all.cpu), part(held.memory, all.memory))) /
               o->weight;
    case N_GUARANTEE:
        return held.gpus < guarantee ? held.gpus / guarantee - 1 : (held.gpus - guarantee) / o->weight;
    }
    abort();
}

static double value(const struct world *w, int owner)
{
    return value_with(w, owner, held_by(w, owner));
}

static double value_and(const struct world *w, int owner, uint32_t j, int sign)
{
    struct amount held = held_by(w, owner);
    return value_with(w, owner, plus(held, &w->c->jobs[j], sign));
}

static bool less(const struct world *w, double a, double b)
{
    return naive_less(a, b, fair_of(w)->measure != N_USAGE);
}

/* What was used so far counts a little less, and what is held is used meanwhile. */
void naive_fair_pass(struct world *w, int64_t ns)
{
    double half_life = (double)fair_of(w)->half_life, keeps = exp2(-(double)ns / half_life);
    for (int i = 0; i < n_owners && half_life > 0; i++)
        owners[i].used = owners[i].used * keeps + held_by(w, i).gpus * half_life / M_LN2 * (1 - keeps);
}

/* Jobs that are alike for placement. */
static bool is_of_class(const struct world *w, uint32_t a, uint32_t b)
{
    const struct naive_job *x = &w->c->jobs[a], *y = &w->c->jobs[b];
    return x->gpus == y->gpus && x->vc == y->vc && x->cpu_milli == y->cpu_milli && x->mem_kib == y->mem_kib;
}

/* ---- a round ----------------------------------------------------------------------------------------------- */

static bool may_come(const struct world *w, uint32_t j)
{
    return w->jobs[j].is == WAITING && !is_passed[j];
}

/* From the root down to the child of least value that has a job to start; of equal ones to who was served longest ago. */
static int first_job(const struct world *w)
{
    int at = ROOT;
    while (at != NOBODY && !owners[at].is_leaf) {
        int best = NOBODY;
        for (int i = 1; i < n_owners; i++) {
            bool has_any = false;
            for (uint32_t j = 0; j < w->c->n_jobs; j++)
                has_any |= may_come(w, j) && is_below(w, j, i);
            if (owners[i].parent != at || !has_any)
                continue;
            if (best == NOBODY || less(w, value(w, i), value(w, best)) ||
                (value(w, i) == value(w, best) && owners[i].turn < owners[best].turn))
                best = i;
        }
        at = best;
    }
    for (uint32_t j = 0; j < w->c->n_jobs && at != NOBODY; j++)
        if (may_come(w, j) && leaf_of(w, j) == at)
            return (int)j;
    return -1;
}

static bool start(struct world *w, uint32_t j)
{
    if (!naive_start(w, j))
        return false;
    for (int i = leaf_of(w, j); i != NOBODY; i = owners[i].parent)
        owners[i].turn = n_turns++;
    return true;
}

static bool may_give_way(const struct world *w, uint32_t j)
{
    bool is_safe = w->c->preempt == N_QUANTUM && w->now - w->jobs[j].safe_from < w->c->quantum;
    return w->jobs[j].is == RUNNING && !is_safe;
}

/* The children of `parent`, the greatest value first, of equal ones who was served last. */
static int by_value_down(const struct world *w, int parent, int out[NODES])
{
    int n = 0;
    for (int i = 1; i < n_owners; i++) {
        if (owners[i].parent != parent)
            continue;
        int k = n++;
        for (; k > 0 && (less(w, value(w, out[k - 1]), value(w, i)) ||
                         (value(w, out[k - 1]) == value(w, i) && owners[out[k - 1]].turn < owners[i].turn));
             k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
    return n;
}

/* May `j`, below `from`, give way to `claimant`, below `into`? */
static bool is_due(const struct world *w, uint32_t claimant, int into, int from, uint32_t j)
{
    if (fair_of(w)->measure == N_GUARANTEE)
        return true; /* all that counts was looked at on the way down */
    return less(w, value(w, into), value(w, from)) &&
           !less(w, value_and(w, from, j, -1), value_and(w, into, claimant, 1));
}

static bool is_above_guarantee(const struct world *w, int owner)
{
    return held_by(w, owner).gpus > (double)owners[owner].guarantee;
}

/* The job below `at` that gives way: of who has most the latest started that may; -1: none. */
static int victim_below(const struct world *w, uint32_t claimant, int into, int from, int at)
{
    if (fair_of(w)->measure == N_GUARANTEE && !is_above_guarantee(w, at))
        return -1;
    if (owners[at].is_leaf) {
        int latest = -1;
        for (uint32_t j = 0; j < w->c->n_jobs; j++)
            if (may_give_way(w, j) && leaf_of(w, j) == at && is_due(w, claimant, into, from, j) &&
                (latest < 0 || w->jobs[j].safe_from >= w->jobs[latest].safe_from))
                latest = (int)j;
        return latest;
    }
    int children[NODES], n = by_value_down(w, at, children), victim = -1;
    for (int i = 0; i < n && victim < 0; i++)
        victim = victim_below(w, claimant, into, from, children[i]);
    return victim;
}

/* At each level from the root down the siblings of the claimant's branch are asked. */
static int find_victim(const struct world *w, uint32_t claimant)
{
    int path[NODES], depth = 0;
    for (int i = leaf_of(w, claimant); i != ROOT; i = owners[i].parent)
        path[depth++] = i;
    while (depth > 0) {
        int into = path[--depth], siblings[NODES], n = by_value_down(w, owners[into].parent, siblings);
        if (fair_of(w)->measure == N_GUARANTEE &&
            held_by(w, into).gpus + w->c->jobs[claimant].gpus > (double)owners[into].guarantee)
            continue;
        for (int i = 0; i < n; i++) {
            int victim = siblings[i] != into ? victim_below(w, claimant, into, siblings[i], siblings[i]) : -1;
            if (victim >= 0)
                return victim;
        }
    }
    return -1;
}

static bool displace(struct world *w, uint32_t claimant)
{
    uint32_t out[NAIVE_JOBS], n = 0;
    bool is_in = false;
    for (int victim; !is_in && (victim = find_victim(w, claimant)) >= 0;) {
        out[n++] = (uint32_t)victim;
        naive_give_back(w, (uint32_t)victim);
        w->jobs[victim].is = WAITING;
        is_in = start(w, claimant);
    }
    for (uint32_t i = n; i-- > 0;) /* the last taken has the best claim to stay */
        naive_go_back(w, out[i]);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t victim = out[i];
        uint64_t started_as = w->jobs[victim].started_as;
        if (w->jobs[victim].is == RUNNING)
            continue;
        if (!is_in && naive_start(w, victim)) { /* it was started in this round: nothing has changed */
            w->jobs[victim].started_as = started_as;
            continue;
        }
        naive_queue_again(w, victim);
        is_displaced[victim] = true;
    }
    return is_in;
}

static bool is_within_guarantees(const struct world *w, uint32_t j)
{
    for (int i = leaf_of(w, j); i != ROOT; i = owners[i].parent)
        if (held_by(w, i).gpus + w->c->jobs[j].gpus > (double)owners[i].guarantee)
            return false;
    return true;
}

static void set_alarm(struct world *w)
{
    int64_t at = (w->now / w->c->quantum + 1) * w->c->quantum;
    bool is_any_running = false;
    for (uint32_t j = 0; j < w->c->n_jobs; j++) {
        int64_t open = w->jobs[j].safe_from + w->c->quantum;
        if (w->jobs[j].is != RUNNING)
            continue;
        is_any_running = true;
        at = open > w->now && open < at ? open : at;
    }
    if (is_any_running && at < w->alarm[0])
        w->alarm[0] = at;
}

void naive_fair_schedule(struct world *w, int queue)
{
    const struct naive_fair *f = fair_of(w);
    for (uint32_t j = 0; j < w->c->n_jobs; j++)
        if (w->jobs[j].is == WAITING)
            leaf_of(w, j); /* its owner comes into being now if not before */
    memset(is_passed, 0, sizeof is_passed);
    memset(is_displaced, 0, sizeof is_displaced);
    if (!naive_is_any_waiting(w, queue))
        return;
    for (int j; (j = first_job(w)) >= 0;) {
        if (f->measure == N_GUARANTEE && !f->may_lend && !is_within_guarantees(w, (uint32_t)j)) {
            is_passed[j] = true;
            continue;
        }
        if (start(w, (uint32_t)j))
            continue;
        for (uint32_t i = 0; i < w->c->n_jobs; i++)
            is_passed[i] |=
                w->jobs[i].is == WAITING && leaf_of(w, i) == leaf_of(w, (uint32_t)j) && is_of_class(w, i, (uint32_t)j);
        if (w->c->preempt != N_NEVER && !is_displaced[j] && displace(w, (uint32_t)j))
            memset(is_passed, 0, sizeof is_passed);
        else if (w->c->fill == N_STRICT)
            break;
    }
    if (w->c->preempt == N_QUANTUM && naive_is_any_waiting(w, queue))
        set_alarm(w);
}

/* proportional_price.c - GPUs, CPU and memory have prices that follow demand; users rent what they can pay.
 *
 *   every `period` while jobs wait:
 *
 *     what each would rent   a user's jobs, those that it pays for first, then unpaid ones (both by start), then the waiting ones (by
 *                            submission), as long as rent of all <= income + balance / ahead and the job is not larger than the supply
 *     price of a resource    x (1 + step (demand / supply - 1)), the factor within 1 - step .. 1 + step: dearer while more is wanted than
 *                            there is, cheaper while less
 *     who pays no longer     goes on unpaid, until one who pays wants the room
 *
 * Rent flows off a user's account all the time at the present prices (market.h), never what is not there. Free GPUs go, job by job, to the user
 * who has the most money left for its weight and can pay for its first job; what nobody pays for goes to unpaid jobs in the same way, what
 * they would cost being taken off first (`leftover`). So GPUs are divided by weight from the first round on, when savings let everybody pay.
 * As everybody spends what it has, who has twice the weight rents twice as much (Kelly, Maulloo and Tan, J. Oper. Res. Soc. 49, 1998:
 * proportional fairness by prices; the price rule is tatonnement).
 *
 * Between periods a round looks at one job a user who has jobs waiting; at a period at all jobs in the system, which is its
 * definition. Supply is the capacity of this instance; what a resource's nodes do not limit has no price.
 */
#include "policies/instant.h"
#include "policies/jobset.h"
#include "policies/market.h"

#include <braid/error.h>

enum { GPU, CPU, MEMORY, RESOURCES };

static const char *const price_names[RESOURCES] = {"price_gpu", "price_cpu", "price_memory"};

#define PRICE_MIN 1e-12
#define PRICE_MAX 1e12

/* A user's jobs: those that wait by rank; those that run by their number of start. */
struct renter {
    struct jobset waiting, paid, unpaid;
    double rent;        /* of the paid ones, a second */
    double unpaid_rent; /* what the unpaid ones would cost */
    bool is_waiting;
};

/* A user's place in a round. */
struct turn {
    double wealth;
    uint32_t user, job; /* job: the first that waits */
};

struct proportional {
    struct market market;
    struct jobset_pool pool;
    struct jobset unpaid; /* of all users, by number of start: the latest is displaced first */
    struct renter *renters;
    uint32_t *waiters, n_waiting; /* users with jobs that wait, ascending */
    struct turn *turns;           /* scratch: a heap of the same, who is served next on top */
    double price[RESOURCES];      /* money a second for a GPU, a core, a GiB; 0: not limited */
    double supply[RESOURCES], demand[RESOURCES];
    double ahead_s, step;
    int64_t period_ns, next_ns; /* next_ns: the period that comes */
    uint64_t n_started;
    uint32_t n_running;
    bool leftover, preempt, has_prices;
};

static double amount(const struct sched *s, uint32_t job, int resource)
{
    switch (resource) {
    case GPU:
        return sched_gpus(s, job);
    case CPU:
        return sched_cpu_milli(s, job) / 1000.0;
    default:
        return (double)sched_memory_kib(s, job) / 1048576.0;
    }
}

static double rent_of(const struct proportional *p, const struct sched *s, uint32_t job)
{
    double rent = 0;
    for (int k = 0; k < RESOURCES; k++)
        rent += p->price[k] * amount(s, job, k);
    return rent;
}

/* What the user can pay a second. */
static double means_of(struct proportional *p, const struct sched *s, uint32_t user)
{
    return p->market.accounts[user].income + market_balance(&p->market, s, user) / p->ahead_s;
}

static void supply_read(struct proportional *p, const struct sched *s)
{
    p->supply[GPU] = sched_capacity_gpus(s);
    p->supply[CPU] = (double)sched_capacity_cpu_milli(s) / 1000.0;
    p->supply[MEMORY] = (double)sched_capacity_memory_kib(s) / 1048576.0;
}

/* ---- who waits and who runs ---- */

static void waiter_add(struct proportional *p, uint32_t user)
{
    if (p->renters[user].is_waiting)
        return;
    p->renters[user].is_waiting = true;
    uint32_t at = p->n_waiting++;
    for (; at > 0 && p->waiters[at - 1] > user; at--)
        p->waiters[at] = p->waiters[at - 1];
    p->waiters[at] = user;
}

static void waiters_tidy(struct proportional *p)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->n_waiting; i++) {
        struct renter *r = &p->renters[p->waiters[i]];
        r->is_waiting = r->waiting.count > 0;
        if (r->is_waiting)
            p->waiters[left++] = p->waiters[i];
    }
    p->n_waiting = left;
}

/* The number of start of a running job, in its word; the sets of running jobs are ordered by it. */
static int64_t number_of(struct sched *s, uint32_t job)
{
    return (int64_t)*sched_word(s, job);
}

static void running_add(struct proportional *p, struct sched *s, uint32_t job, bool is_paid)
{
    struct renter *r = &p->renters[sched_user(s, job)];
    int64_t number = number_of(s, job);
    if (is_paid) {
        jobset_insert(&r->paid, number, job, 0);
        r->rent += rent_of(p, s, job);
    } else {
        jobset_insert(&r->unpaid, number, job, 0);
        jobset_insert(&p->unpaid, number, job, 0);
        r->unpaid_rent += rent_of(p, s, job);
    }
}

static void unpaid_drop(struct proportional *p, struct sched *s, uint32_t job)
{
    struct renter *r = &p->renters[sched_user(s, job)];
    jobset_erase(&r->unpaid, number_of(s, job), job);
    jobset_erase(&p->unpaid, number_of(s, job), job);
    r->unpaid_rent = r->unpaid.count > 0 ? r->unpaid_rent - rent_of(p, s, job) : 0;
}

static void rent_settle(struct proportional *p, struct sched *s, uint32_t user)
{
    struct renter *r = &p->renters[user];
    if (r->paid.count == 0)
        r->rent = 0; /* no rounding is left */
    market_set_rent(&p->market, s, user, r->rent);
}

static void running_drop(struct proportional *p, struct sched *s, uint32_t job)
{
    uint32_t user = sched_user(s, job);
    struct renter *r = &p->renters[user];
    int64_t number = number_of(s, job);
    p->n_running--;
    if (jobset_erase(&r->paid, number, job)) {
        r->rent -= rent_of(p, s, job);
        rent_settle(p, s, user);
    } else {
        unpaid_drop(p, s, job);
    }
}

/* ---- starting ---- */

static bool try_start(struct proportional *p, struct sched *s, uint32_t job, bool is_paid)
{
    uint32_t user = sched_user(s, job);
    sched_because(s,
                  is_paid ? "rent %.6g an hour, balance %.6g" : "nobody pays for these GPUs (rent %.6g, balance %.6g)",
                  rent_of(p, s, job) * 3600, market_balance(&p->market, s, user));
    if (sched_start(s, job) != SCHED_OK)
        return false;
    jobset_erase(&p->renters[user].waiting, job, job);
    *sched_word(s, job) = p->n_started++;
    p->n_running++;
    running_add(p, s, job, is_paid);
    rent_settle(p, s, user);
    return true;
}

/* The same after displacing unpaid jobs, the latest started first, one at a time; none when it still does not fit. They wait again through
 * on_requeue, and are among the unpaid until then. A job that was started at this instant is not displaced: it would have done nothing. */
static bool try_displace(struct proportional *p, struct sched *s, uint32_t job)
{
    uint32_t i = p->unpaid.last;
    bool has_displaced = false;
    while (i != JOBSET_NONE && sched_probe(s, job) != SCHED_OK) {
        uint32_t victim = jobset_node(&p->unpaid, i)->job;
        if (sched_since_ns(s, victim) < sched_now(s) && sched_preempt(s, victim) == SCHED_OK)
            has_displaced = true;
        i = jobset_node(&p->unpaid, i)->prev;
    }
    bool has_started = has_displaced && try_start(p, s, job, true);
    for (i = p->unpaid.last; i != JOBSET_NONE && has_displaced; i = jobset_node(&p->unpaid, i)->prev)
        if (sched_is_queued(s, jobset_node(&p->unpaid, i)->job)) /* who turns out not to be in the way stays */
            sched_restore(s, jobset_node(&p->unpaid, i)->job);
    return has_started;
}

/* The most money first, then whose first job came first. */
static bool turn_before(const struct turn *a, const struct turn *b)
{
    return a->wealth != b->wealth ? a->wealth > b->wealth : a->job < b->job;
}

/* A user's place: what it has left for its weight, and its first job. */
static struct turn turn_of(struct proportional *p, struct sched *s, uint32_t user, bool is_paid)
{
    const struct renter *r = &p->renters[user];
    double left = means_of(p, s, user) - r->rent - (is_paid ? 0 : r->unpaid_rent);
    return (struct turn){left / p->market.accounts[user].weight, user, jobset_node(&r->waiting, r->waiting.first)->job};
}

/* Let the turn at `i` sink in the heap of `n` until nobody below it comes first. */
static void turn_sink(struct turn *heap, uint32_t n, uint32_t i)
{
    struct turn turn = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && turn_before(&heap[child + 1], &heap[child]))
            child++;
        if (turn_before(&turn, &heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = turn;
}

/* A heap of the users with waiting jobs; their number. */
static uint32_t rank_users(struct proportional *p, struct sched *s, bool is_paid)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_waiting; i++)
        if (p->renters[p->waiters[i]].waiting.count > 0)
            p->turns[n++] = turn_of(p, s, p->waiters[i], is_paid);
    for (uint32_t i = n / 2; i-- > 0;)
        turn_sink(p->turns, n, i);
    return n;
}

/* One job at a time of the user whose turn it is, until nobody gets any more. A user's first job that does not fit, or cannot be paid, ends its
 * turns. */
static void fill(struct proportional *p, struct sched *s, bool is_paid, bool may_displace)
{
    uint32_t n = rank_users(p, s, is_paid);
    while (n > 0) {
        uint32_t user = p->turns[0].user, job = p->turns[0].job;
        struct renter *r = &p->renters[user];
        bool can_pay = !is_paid || r->rent + rent_of(p, s, job) <= means_of(p, s, user);
        bool is_in = can_pay && (try_start(p, s, job, is_paid) || (may_displace && try_displace(p, s, job)));
        if (is_in && r->waiting.count > 0)
            p->turns[0] = turn_of(p, s, user, is_paid);
        else
            p->turns[0] = p->turns[--n];
        turn_sink(p->turns, n, 0);
    }
}

/* ---- a period ---- */

static void demand_add(struct proportional *p, const struct sched *s, uint32_t job)
{
    for (int k = 0; k < RESOURCES; k++)
        p->demand[k] += amount(s, job, k);
}

/* What one user would rent at the present prices; its running jobs are paid as far as that goes. */
static void user_review(struct proportional *p, struct sched *s, uint32_t user)
{
    struct renter *r = &p->renters[user];
    double means = means_of(p, s, user), rent = 0;
    bool can_pay = true;
    uint32_t next = JOBSET_NONE;
    r->rent = 0;
    for (uint32_t i = r->paid.first; i != JOBSET_NONE; i = next) {
        const struct jobset_node n = *jobset_node(&r->paid, i);
        next = n.next;
        rent += rent_of(p, s, n.job);
        can_pay = can_pay && rent <= means;
        if (can_pay) {
            r->rent = rent;
            demand_add(p, s, n.job);
        } else { /* and all behind it */
            jobset_erase(&r->paid, n.key, n.job);
            running_add(p, s, n.job, false);
        }
    }
    rent = r->rent;
    while (can_pay && r->unpaid.first != JOBSET_NONE) {
        uint32_t job = jobset_node(&r->unpaid, r->unpaid.first)->job;
        can_pay = rent + rent_of(p, s, job) <= means;
        if (!can_pay)
            break;
        demand_add(p, s, job);
        unpaid_drop(p, s, job);
        running_add(p, s, job, true);
        rent = r->rent;
    }
    for (uint32_t i = r->waiting.first; i != JOBSET_NONE && can_pay; i = jobset_node(&r->waiting, i)->next) {
        uint32_t job = jobset_node(&r->waiting, i)->job;
        rent += rent_of(p, s, job);
        can_pay = rent <= means && amount(s, job, GPU) <= p->supply[GPU];
        if (can_pay)
            demand_add(p, s, job);
    }
    rent_settle(p, s, user);
}

static double rent_of_all(const struct proportional *p, const struct sched *s, const struct jobset *jobs)
{
    double rent = 0;
    for (uint32_t i = jobs->first; i != JOBSET_NONE; i = jobset_node(jobs, i)->next)
        rent += rent_of(p, s, jobset_node(jobs, i)->job);
    return rent;
}

static void prices_move(struct proportional *p)
{
    for (int k = 0; k < RESOURCES; k++) {
        if (!(p->supply[k] > 0))
            continue;
        double excess = p->demand[k] / p->supply[k] - 1;
        excess = excess > 1 ? 1 : excess;
        double price = p->price[k] * (1 + p->step * excess);
        p->price[k] = price < PRICE_MIN ? PRICE_MIN : price > PRICE_MAX ? PRICE_MAX : price;
    }
}

static void period(struct proportional *p, struct sched *s)
{
    supply_read(p, s);
    for (int k = 0; k < RESOURCES; k++)
        p->demand[k] = 0;
    for (uint32_t u = 0; u < p->market.n_users; u++)
        if (p->renters[u].waiting.count + p->renters[u].paid.count + p->renters[u].unpaid.count > 0)
            user_review(p, s, u);
    prices_move(p);
    for (uint32_t u = 0; u < p->market.n_users; u++) { /* what runs is rented at the new prices from now on */
        struct renter *r = &p->renters[u];
        r->rent = rent_of_all(p, s, &r->paid);
        r->unpaid_rent = rent_of_all(p, s, &r->unpaid);
        rent_settle(p, s, u);
    }
}

/* ---- callbacks ---- */

enum param_of { SHARES, INCOME, SAVE, PERIOD, STEP, AHEAD, LEFTOVER, PREEMPT };

/* At first prices are such that the incomes of those who are there just rent everything, shared equally over what is limited. */
static void prices_begin(struct proportional *p, const struct sched *s)
{
    double income = 0;
    int n = 0;
    supply_read(p, s);
    for (uint32_t i = 0; i < p->n_waiting; i++)
        income += p->market.accounts[p->waiters[i]].income;
    for (int k = 0; k < RESOURCES; k++)
        n += p->supply[k] > 0;
    for (int k = 0; k < RESOURCES; k++) {
        double price = p->supply[k] > 0 ? income / n / p->supply[k] : 0;
        p->price[k] = p->supply[k] > 0 && price < PRICE_MIN ? PRICE_MIN : price;
    }
}

static int proportional_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct proportional *p = self;
    int status = market_init(&p->market, s, v[SHARES].s, v[INCOME].f, v[SAVE].i, err);
    if (status != BRAID_OK)
        return status;
    uint32_t n = p->market.n_users;
    p->period_ns = v[PERIOD].i;
    p->step = v[STEP].f;
    p->ahead_s = (double)v[AHEAD].i * 1e-9;
    p->leftover = v[LEFTOVER].b;
    p->preempt = v[PREEMPT].b;
    p->renters = sched_alloc(s, n, sizeof *p->renters);
    p->waiters = sched_alloc(s, n, sizeof *p->waiters);
    p->turns = sched_alloc(s, n, sizeof *p->turns);
    if (p->renters == NULL || p->waiters == NULL || p->turns == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for %u users", n);
    jobset_pool_init(&p->pool, s);
    jobset_init(&p->unpaid, &p->pool);
    for (uint32_t u = 0; u < n; u++) {
        jobset_init(&p->renters[u].waiting, &p->pool);
        jobset_init(&p->renters[u].paid, &p->pool);
        jobset_init(&p->renters[u].unpaid, &p->pool);
    }
    return BRAID_OK;
}

static void proportional_on_submit(void *self, struct sched *s, uint32_t job)
{
    struct proportional *p = self;
    uint32_t user = sched_user(s, job);
    jobset_insert(&p->renters[user].waiting, job, job, 0);
    waiter_add(p, user);
}

static void proportional_on_finish(void *self, struct sched *s, uint32_t job)
{
    running_drop(self, s, job);
}

static void proportional_on_requeue(void *self, struct sched *s, uint32_t job, enum cause why)
{
    (void)why;
    struct proportional *p = self;
    running_drop(p, s, job);
    proportional_on_submit(p, s, job);
    if (p->next_ns > sched_now(s))
        sched_wake_at(s, p->next_ns);
}

/* Can the next period change anything while jobs wait? Prices can, for those who cannot pay; where nothing runs and somebody can pay, or need
 * not, it is room that lacks, and so it is for who would not fit even if it paid. */
static bool is_period_of_use(struct proportional *p, struct sched *s)
{
    if (p->n_running > 0)
        return p->n_waiting > 0;
    for (uint32_t i = 0; i < p->n_waiting && !p->leftover; i++) {
        const struct renter *r = &p->renters[p->waiters[i]];
        uint32_t job = jobset_node(&r->waiting, r->waiting.first)->job;
        if (rent_of(p, s, job) > means_of(p, s, p->waiters[i]) && sched_probe(s, job) == SCHED_OK)
            return true;
    }
    return false;
}

static void proportional_schedule(void *self, struct sched *s)
{
    struct proportional *p = self;
    bool is_period = sched_now(s) >= p->next_ns;
    if (!p->has_prices && p->n_waiting > 0) {
        prices_begin(p, s);
        p->has_prices = p->supply[GPU] > 0; /* a quota of 0 has no price */
    }
    if (is_period) {
        if (p->n_waiting > 0)
            period(p, s);
        p->next_ns = instant_after(sched_now(s) - sched_now(s) % p->period_ns, p->period_ns);
    }
    fill(p, s, true, is_period && p->preempt);
    if (p->leftover)
        fill(p, s, false, false);
    waiters_tidy(p);
    if (is_period_of_use(p, s))
        sched_wake_at(s, p->next_ns);
    for (int k = 0; k < RESOURCES; k++)
        if (p->supply[k] > 0)
            sched_observe(s, price_names[k], p->price[k] * 3600);
    market_observe(&p->market, s);
}

static const struct param_spec proportional_params[] = {
    [SHARES] = MARKET_PARAM_SHARES,
    [INCOME] = MARKET_PARAM_INCOME,
    [SAVE] = MARKET_PARAM_SAVE,
    [PERIOD] = {"period", PARAM_TIME, "5 min", 1, 1e9, "s", NULL, "time between two prices"},
    [STEP] = {"step", PARAM_NUMBER, "0.1", 1e-6, 0.9, "", NULL,
              "most that a price changes in a period, as a part of it"},
    [AHEAD] = {"ahead", PARAM_TIME, "1 h", 1, 1e9, "s", NULL, "savings are spent so that they would last as long"},
    [LEFTOVER] = {"leftover", PARAM_BOOL, "true", 0, 0, "", NULL, "GPUs that nobody pays for go to unpaid jobs"},
    [PREEMPT] = {"preempt", PARAM_BOOL, "true", 0, 0, "", NULL, "unpaid jobs give way to paying ones, once a period"},
};

const struct policy_ops policy_proportional_price = {
    .abi_version = BRAID_POLICY_ABI,
    .size = sizeof(struct policy_ops),
    .name = "proportional_price",
    .summary = "Users rent GPUs, CPU and memory at prices that follow demand",
    .source = "Kelly, Maulloo and Tan, J. Oper. Res. Soc. 49, 1998, proportional fairness by prices; Walras' "
              "tatonnement, as in "
              "Stoica, Abdel-Wahab and Pothen, JSSPP 1995 (a microeconomic scheduler)",
    .knows = KNOWS_NOTHING,
    .scope = SCOPE_VC,
    .params = proportional_params,
    .n_params = sizeof proportional_params / sizeof *proportional_params,
    .state_size = sizeof(struct proportional),
    .init = proportional_init,
    .on_submit = proportional_on_submit,
    .on_finish = proportional_on_finish,
    .on_requeue = proportional_on_requeue,
    .schedule = proportional_schedule,
};

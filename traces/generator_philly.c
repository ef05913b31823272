/* A workload like the Philly trace (Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", ATC'19),
 * measured from its reduced form of 82,247 jobs by scripts/fit-philly.
 *
 *   arrivals   Poisson with a rate that changes by the hour of the week: (share of the hour) x (share of the day)
 *   sizes      as counted
 *   durations  a mixture of lognormals a class of sizes, whole seconds, none longer than the longest one recorded
 *   vc, user   Zipf laws: virtual clusters, users of one, job names of one user
 *   status     passed, killed, failed in the shares of the whole trace, independent of the rest
 *
 * Jobs of one user and name are alike, as predictors of durations expect: a name has a *habit*, a standard normal number, and the
 * component of the mixture is chosen by a normal number correlated with it. Habits are spread evenly over the names' weights,
 * so the mixture as a whole stays what was measured. Real arrivals come in bursts that a Poisson process lacks
 * (docs/assumptions.md).
 */
#include "base/number.h"
#include "base/random.h"
#include "traces/generator_model.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what scripts/fit-philly prints ------------------------------------------------------------- */

static const struct {
    uint32_t gpus;
    double jobs;
} sizes[] = {{1, 76627}, {2, 1818}, {4, 1870}, {8, 1643}, {12, 7}, {16, 199}, {24, 7}, {32, 67}, {64, 6}, {128, 3}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static const double hour_jobs[24] = {4367, 3374, 3835, 3780, 2400, 3950, 5732, 7159, 3802, 3447, 3510, 2979,
                                     2567, 2415, 2185, 2224, 3021, 2289, 2744, 2496, 3483, 3142, 3885, 3461};
static const double day_jobs[7] = {10136, 12528, 13370, 15114, 16954, 7157, 6988}; /* Monday first */

struct lognormal {
    double weight, mu, sigma; /* of ln(seconds) */
};
enum { PARTS_MAX = 8, N_CLASSES = 5 };
static const struct {
    uint32_t gpus_from;
    struct lognormal parts[PARTS_MAX]; /* by mu; weight 0 ends */
} classes[N_CLASSES] = {
    {1,
     {{0.1200, 4.103, 0.252},
      {0.0886, 4.218, 0.089},
      {0.0702, 5.268, 0.432},
      {0.1274, 6.704, 0.406},
      {0.1183, 7.481, 0.227},
      {0.3110, 7.681, 2.228},
      {0.0545, 7.858, 0.050},
      {0.1100, 8.426, 0.472}}},
    {2, {{0.3065, 2.691, 0.443}, {0.3008, 2.914, 0.198}, {0.1097, 3.341, 0.237}, {0.2831, 8.671, 3.650}}},
    {3, {{0.2803, 5.327, 1.130}, {0.2857, 9.452, 1.457}, {0.2705, 11.108, 1.424}, {0.1636, 11.667, 0.420}}},
    {5, {{0.3122, 6.171, 1.550}, {0.2560, 9.626, 0.831}, {0.0772, 12.153, 0.171}, {0.3546, 12.196, 0.923}}},
    {9, {{0.2381, 5.848, 2.580}, {0.2867, 6.938, 2.063}, {0.1023, 10.904, 0.127}, {0.3729, 11.922, 0.915}}},
};
static const double longest_s = 4628226;
static const double rate_per_day = 913;
static const double vc_exponent = 1.68;

/* ---- what it cannot measure: the reduced trace has no users, names and states -------------------- */

static const double user_exponent = 1.0, name_exponent = 1.0;
enum { NAMES_A_USER = 4 };
static const double habit_weight = 0.4; /* share of the variance of the choice that the name explains */
/* Jeon et al., table 6: passed 69.3 %, killed 13.5 %, unsuccessful 17.2 %. */
static const double share_passed = 0.693, share_killed = 0.135;

#define MONDAY_S INT64_C(1506902400) /* 2017-10-02 00:00:00 UTC, a Monday inside the trace */

/* ---- arrivals -------------------------------------------------------------------------------------- */

/* A walk over the hours of the weeks: unit exponential steps in the integral of the rate are arrivals of the process (inversion, exact
 * for a rate that is constant within an hour). */
struct clock {
    double per_hour[168]; /* arrivals expected, Monday 0 h first */
    double per_week;
    int64_t hour; /* since the beginning of the first week */
    double left;  /* expected arrivals that are left of the hour */
};

static void clock_init(struct clock *c, double per_day)
{
    double hours = 0, days = 0;
    for (int h = 0; h < 24; h++)
        hours += hour_jobs[h];
    for (int d = 0; d < 7; d++)
        days += day_jobs[d];
    c->per_week = 7 * per_day;
    for (int i = 0; i < 168; i++)
        c->per_hour[i] = c->per_week * (day_jobs[i / 24] / days) * (hour_jobs[i % 24] / hours);
    c->hour = 0;
    c->left = c->per_hour[0];
}

/* The next arrival's second; -1 when it leaves the range of time. */
static int64_t clock_next(struct clock *c, gsl_rng *rng)
{
    double step = gsl_ran_exponential(rng, 1);
    if (step > c->per_week) {
        double weeks = floor(step / c->per_week);
        if (weeks * 604800 > (double)GENERATOR_LAST_S)
            return -1;
        step -= weeks * c->per_week;
        c->hour += (int64_t)weeks * 168;
    }
    while (step > c->left) {
        step -= c->left;
        c->hour++;
        c->left = c->per_hour[c->hour % 168];
    }
    c->left -= step;
    double second = 3600 * (1 - c->left / c->per_hour[c->hour % 168]);
    int64_t at = c->hour * 3600 + (int64_t)second;
    return at < GENERATOR_LAST_S ? at : -1;
}

/* ---- the tables of one call ------------------------------------------------------------------------ */

enum purpose { ARRIVALS, SIZES, DURATIONS, HABITS, VCS, USERS, NAMES, NETWORKS, STATUSES, N_STREAMS };
static const char *const stream_names[N_STREAMS] = {"arrivals", "sizes", "durations", "habits",  "vcs",
                                                    "users",    "names", "networks",  "statuses"};

struct tables {
    gsl_rng *rng[N_STREAMS];
    gsl_ran_discrete_t *size, *vc, *name;
    gsl_ran_discrete_t *members[2]; /* users of a VC that has the smaller or the larger number of them */
    double *habit;                  /* a (user, name): a standard normal number */
    uint8_t *network;               /* a (user, name) */
    uint32_t n_vcs, n_users, n_names;
};

static void tables_fini(struct tables *t)
{
    for (int i = 0; i < N_STREAMS; i++)
        if (t->rng[i] != NULL)
            gsl_rng_free(t->rng[i]);
    gsl_ran_discrete_t *discrete[] = {t->size, t->vc, t->name, t->members[0], t->members[1]};
    for (size_t i = 0; i < sizeof discrete / sizeof discrete[0]; i++)
        if (discrete[i] != NULL)
            gsl_ran_discrete_free(discrete[i]);
    free(t->habit);
    free(t->network);
}

/* User u belongs to the virtual cluster u mod n_vcs, the (u / n_vcs)-th of its members by activity. With fewer users than virtual
 * clusters, user v mod n_users is the only member of v. */
static uint32_t members_of(const struct tables *t, uint32_t vc)
{
    return t->n_users > vc ? (t->n_users - vc + t->n_vcs - 1) / t->n_vcs : 1;
}

/* Spread the habits: names in random order, each at the normal quantile of the middle of its share of the jobs. */
static bool fill_habits(struct tables *t)
{
    double *weight = malloc(t->n_names * sizeof *weight);
    uint32_t *order = malloc(t->n_names * sizeof *order);
    /* What the weights of the members of a VC add up to: the VCs have one of two numbers of them. */
    const uint32_t fewest = members_of(t, t->n_vcs - 1), most = members_of(t, 0);
    double fewest_sum = 0, most_sum = 0, total = 0;
    for (uint32_t k = 0; k < most; k++) {
        most_sum += pow(k + 1.0, -user_exponent);
        if (k < fewest)
            fewest_sum = most_sum;
    }
    for (uint32_t i = 0; weight != NULL && order != NULL && i < t->n_names; i++) {
        uint32_t user = i / NAMES_A_USER, vc = user % t->n_vcs;
        weight[i] = pow(vc + 1.0, -vc_exponent) * pow(user / t->n_vcs + 1.0, -user_exponent) /
                    (members_of(t, vc) == most ? most_sum : fewest_sum) * pow(i % NAMES_A_USER + 1.0, -name_exponent);
        total += weight[i];
        order[i] = i;
    }
    bool is_done = weight != NULL && order != NULL;
    if (is_done) {
        gsl_ran_shuffle(t->rng[HABITS], order, t->n_names, sizeof *order);
        double below = 0;
        for (uint32_t i = 0; i < t->n_names; i++) {
            uint32_t name = order[i];
            t->habit[name] = gsl_cdf_ugaussian_Pinv((below + weight[name] / 2) / total);
            below += weight[name];
        }
    }
    free(weight);
    free(order);
    return is_done;
}

static int tables_init(struct tables *t, const struct generator_spec *spec, struct error *err)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < N_STREAMS; i++)
        if ((t->rng[i] = random_stream(spec->seed, stream_names[i], "")) == NULL)
            return generator_no_memory(err);
    t->n_vcs = spec->vcs;
    t->n_users = spec->users;
    t->n_names = spec->users * NAMES_A_USER;
    double counts[N_SIZES];
    for (int i = 0; i < N_SIZES; i++)
        counts[i] = sizes[i].jobs;
    t->size = gsl_ran_discrete_preproc(N_SIZES, counts);
    t->vc = generator_zipf(t->n_vcs, vc_exponent);
    t->name = generator_zipf(NAMES_A_USER, name_exponent);
    t->members[0] = generator_zipf(members_of(t, t->n_vcs - 1), user_exponent);
    t->members[1] = generator_zipf(members_of(t, 0), user_exponent);
    t->habit = malloc(t->n_names * sizeof *t->habit);
    t->network = malloc(t->n_names);
    if (t->size == NULL || t->vc == NULL || t->name == NULL || t->members[0] == NULL || t->members[1] == NULL ||
        t->habit == NULL || t->network == NULL || !fill_habits(t))
        return generator_no_memory(err);
    for (uint32_t i = 0; i < t->n_names; i++)
        t->network[i] = (uint8_t)gsl_rng_uniform_int(t->rng[NETWORKS], GENERATOR_NETWORKS);
    return BRAID_OK;
}

/* ---- one job's draws --------------------------------------------------------------------------------- */

static uint32_t draw_user(struct tables *t, uint32_t vc)
{
    bool is_larger = members_of(t, vc) == members_of(t, 0);
    uint32_t member = (uint32_t)gsl_ran_discrete(t->rng[USERS], t->members[is_larger]);
    return t->n_users > vc ? member * t->n_vcs + vc : vc % t->n_users;
}

static int64_t draw_duration_s(gsl_rng *rng, uint32_t gpus, double habit)
{
    int group = N_CLASSES - 1;
    while (classes[group].gpus_from > gpus)
        group--;
    const struct lognormal *parts = classes[group].parts;
    double z = sqrt(habit_weight) * habit + sqrt(1 - habit_weight) * gsl_ran_gaussian_ziggurat(rng, 1);
    double u = gsl_cdf_ugaussian_P(z);
    int part = 0;
    while (part + 1 < PARTS_MAX && parts[part + 1].weight > 0 && u >= parts[part].weight)
        u -= parts[part++].weight;
    for (;;) {
        double s = round(exp(parts[part].mu + parts[part].sigma * gsl_ran_gaussian_ziggurat(rng, 1)));
        if (s >= 1 && s <= longest_s)
            return (int64_t)s;
    }
}

static uint8_t draw_status(gsl_rng *rng)
{
    double u = gsl_rng_uniform(rng);
    if (u < share_passed)
        return TRACE_PASSED;
    return u < share_passed + share_killed ? TRACE_KILLED : TRACE_FAILED;
}

static void set_network(struct workload *w, uint32_t j, uint32_t name, uint32_t network)
{
    int64_t stages_ns[WORKLOAD_STAGES];
    int64_t iteration_ns = generator_network_stages(network, w->gpus[j], stages_ns);
    int64_t iterations = (w->duration_ns[j] + iteration_ns / 2) / iteration_ns;
    w->name[j] = name;
    w->model[j] = network;
    w->iteration_ns[j] = iteration_ns;
    w->iterations[j] = iterations > 0 ? iterations : 1;
    for (int s = 0; s < WORKLOAD_STAGES; s++)
        w->stage_ns[s][j] = stages_ns[s];
}

static int make_jobs(struct workload *w, const struct generator_spec *spec, struct tables *t, struct error *err)
{
    struct clock clock;
    clock_init(&clock, spec->rate_per_day);
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        int64_t second = clock_next(&clock, t->rng[ARRIVALS]);
        if (second < 0)
            return generator_too_long(spec, err);
        uint32_t vc = (uint32_t)gsl_ran_discrete(t->rng[VCS], t->vc);
        uint32_t user = draw_user(t, vc);
        uint32_t name = user * NAMES_A_USER + (uint32_t)gsl_ran_discrete(t->rng[NAMES], t->name);
        w->submit_ns[j] = second * NS_PER_S;
        w->gpus[j] = sizes[gsl_ran_discrete(t->rng[SIZES], t->size)].gpus;
        w->duration_ns[j] = draw_duration_s(t->rng[DURATIONS], w->gpus[j], t->habit[name]) * NS_PER_S;
        w->vc[j] = vc;
        w->user[j] = user;
        w->trace_status[j] = draw_status(t->rng[STATUSES]);
        if (!spec->is_lean)
            set_network(w, j, name, t->network[name]);
    }
    w->has_origin = true;
    w->origin_utc_s = MONDAY_S + generator_shift(w);
    return BRAID_OK;
}

static int name_everything(struct workload *w, const struct tables *t, struct error *err)
{
    int code = generator_name_column(&w->vcs, "vc", t->n_vcs, w->vc, w->n_jobs, err);
    if (code == BRAID_OK)
        code = generator_name_column(&w->users, "u", t->n_users, w->user, w->n_jobs, err);
    if (code != BRAID_OK || w->name == NULL)
        return code;
    code = generator_name_column(&w->names, "job", t->n_names, w->name, w->n_jobs, err);
    if (code == BRAID_OK)
        code = generator_name_column(&w->models, NULL, GENERATOR_NETWORKS, w->model, w->n_jobs, err);
    return code;
}

static int make(struct workload *out, const struct generator_spec *spec, struct error *err)
{
    struct workload_columns want = {
        .name = !spec->is_lean, .model = !spec->is_lean, .iterations = !spec->is_lean, .stages = !spec->is_lean};
    struct tables tables;
    int code = workload_alloc(out, spec->jobs, &want, err);
    if (code != BRAID_OK)
        return code;
    code = tables_init(&tables, spec, err);
    if (code == BRAID_OK)
        code = make_jobs(out, spec, &tables, err);
    if (code == BRAID_OK)
        code = name_everything(out, &tables, err);
    tables_fini(&tables);
    return code;
}

const struct generator_model generator_philly = {
    .name = "philly",
    .summary = "like the Philly trace: daily and weekly cycle, its sizes and durations, Zipf users, stage times",
    .rate_per_day = rate_per_day,
    .vcs = 11, /* those that have nodes */
    .users = 300,
    .make = make,
};

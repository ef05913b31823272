/* A workload drawn from a profile. */
#include "base/check.h"
#include "base/number.h"
#include "base/random.h"
#include "traces/generator_arrivals.h"
#include "traces/generator_durations.h"
#include "traces/generator_model.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A submission that repeats an earlier one takes one of so many before it. That many are more than can pass while a burst is going on: 511
 * gaps of a twentieth each are 26 in the mean, with a standard deviation of 1. */
enum { RECENT = 1024 };

/* Copies of copies drift: an urn in which all submissions repeat is soon full of the first one. So at most this share of the submissions
 * repeats a recent one (of 1,024 submissions the first is expected to make 1024^0.6 = 64); the rest of those that repeat take one of a pool of
 * as many origins as POOL, each equally often, whose sizes, VCs and users are drawn like those of new ones. The shares of sizes, VCs and
 * users then hold whatever `repeat` is. */
#define URN_MOST 0.6
enum { POOL = 1024 };

enum purpose {
    REPEATS,
    VCS,
    USERS,
    SIZES,
    HABITS,
    NETWORKS,
    SHARES,
    TYPES,
    DURATIONS,
    STATUSES,
    DEADLINES,
    ESTIMATES,
    N_STREAMS
};
static const char *const stream_names[N_STREAMS] = {"repeats",   "vcs",      "users",      "sizes",
                                                    "habits",    "networks", "gpu_shares", "types",
                                                    "durations", "statuses", "deadlines",  "estimates"};

/* What the jobs of one name have in common. */
struct origin {
    double habit; /* a standard normal number */
    uint32_t name, vc, user, gpus, milli, type;
    uint16_t class;
    uint8_t network;
};

struct sampler {
    const struct profile *p;
    const struct generator_spec *spec;
    gsl_rng *rng[N_STREAMS];
    gsl_ran_discrete_t *size, *vc, *network, *share, *type;
    gsl_ran_discrete_t *members[2]; /* users of a VC that has the smaller or the larger number of them */
    struct durations durations[PROFILE_CLASSES_MAX];
    struct arrivals arrivals;
    struct origin *recent; /* of the last submissions, by number modulo RECENT */
    uint32_t n_recent;     /* submissions so far */
    struct origin *pool; /* POOL of them, each made when it is first drawn; NULL: repeats are few enough for the urn */
    bool *is_made;
    uint32_t n_names, n_vcs, n_users;
    double repeat, own, shared; /* weights of a duration's own part of its score, and of its name's */
};

static void sampler_fini(struct sampler *s)
{
    for (int i = 0; i < N_STREAMS; i++)
        if (s->rng[i] != NULL)
            gsl_rng_free(s->rng[i]);
    gsl_ran_discrete_t *discrete[] = {s->size, s->vc, s->network, s->share, s->type, s->members[0], s->members[1]};
    for (size_t i = 0; i < sizeof discrete / sizeof discrete[0]; i++)
        if (discrete[i] != NULL)
            gsl_ran_discrete_free(discrete[i]);
    for (uint32_t i = 0; i < s->p->n_classes; i++)
        durations_fini(&s->durations[i]);
    arrivals_fini(&s->arrivals);
    free(s->recent);
    free(s->pool);
    free(s->is_made);
}

/* User u belongs to the virtual cluster u mod n_vcs, the (u / n_vcs)-th of its members by activity. With fewer users than virtual
 * clusters, user v mod n_users is the only member of v. */
static uint32_t members_of(const struct sampler *s, uint32_t vc)
{
    return s->n_users > vc ? (s->n_users - vc + s->n_vcs - 1) / s->n_vcs : 1;
}

static gsl_ran_discrete_t *size_table(const struct profile *p)
{
    double *jobs = malloc(p->n_sizes * sizeof *jobs);
    if (jobs == NULL)
        return NULL;
    for (uint32_t i = 0; i < p->n_sizes; i++)
        jobs[i] = p->sizes[i].jobs;
    gsl_ran_discrete_t *table = gsl_ran_discrete_preproc(p->n_sizes, jobs);
    free(jobs);
    return table;
}

static gsl_ran_discrete_t *share_table(const struct profile_share *shares, uint32_t n)
{
    double *jobs = malloc(n * sizeof *jobs);
    if (jobs == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = shares[i].jobs;
    gsl_ran_discrete_t *table = gsl_ran_discrete_preproc(n, jobs);
    free(jobs);
    return table;
}

/* The VCs as they are named, or so many after Zipf's law. */
static bool has_named_vcs(const struct sampler *s)
{
    return s->p->vc_shares != NULL && s->spec->vcs == 0;
}

static int sampler_init(struct sampler *s, struct error *err)
{
    static const double networks_alike[GENERATOR_NETWORKS] = {1, 1, 1, 1, 1, 1, 1, 1};
    const struct profile *p = s->p;
    const struct generator_spec *spec = s->spec;
    for (int i = 0; i < N_STREAMS; i++)
        if ((s->rng[i] = random_stream(spec->seed, stream_names[i], "")) == NULL)
            return generator_no_memory(err);
    s->n_vcs = spec->vcs != 0 ? spec->vcs : p->vcs;
    s->n_users = spec->users != 0 ? spec->users : p->users;
    s->repeat = spec->repeat >= 0 ? spec->repeat : p->repeat;
    s->shared = sqrt(p->alike);
    s->own = sqrt(1 - p->alike);
    s->size = size_table(p);
    s->vc = has_named_vcs(s) ? share_table(p->vc_shares, p->vcs) : generator_zipf(s->n_vcs, p->vc_exponent);
    s->network =
        gsl_ran_discrete_preproc(GENERATOR_NETWORKS, p->network_jobs != NULL ? p->network_jobs : networks_alike);
    s->share = p->gpu_shares != NULL ? share_table(p->gpu_shares, p->n_gpu_shares) : NULL;
    s->type = p->gpu_types != NULL ? share_table(p->gpu_types, p->n_gpu_types) : NULL;
    s->members[0] = generator_zipf(members_of(s, s->n_vcs - 1), p->user_exponent);
    s->members[1] = generator_zipf(members_of(s, 0), p->user_exponent);
    s->recent = malloc(RECENT * sizeof *s->recent);
    bool has_pool = s->repeat > URN_MOST;
    s->pool = has_pool ? malloc(POOL * sizeof *s->pool) : NULL;
    s->is_made = has_pool ? calloc(POOL, sizeof *s->is_made) : NULL;
    if (s->size == NULL || s->vc == NULL || s->network == NULL || (p->gpu_shares != NULL && s->share == NULL) ||
        (p->gpu_types != NULL && s->type == NULL) || s->members[0] == NULL || s->members[1] == NULL ||
        s->recent == NULL || (has_pool && (s->pool == NULL || s->is_made == NULL)))
        return generator_no_memory(err);
    int code = BRAID_OK;
    for (uint32_t i = 0; i < p->n_classes && code == BRAID_OK; i++)
        code = durations_init(&s->durations[i], &p->classes[i], p->longest_s, err);
    if (code == BRAID_OK)
        code = arrivals_init(&s->arrivals, p, spec->rate_per_day != 0 ? spec->rate_per_day : p->rate_per_day,
                             spec->burst != 0 ? spec->burst : p->burst, spec->seed, err);
    return code;
}

/* ---- a submission ---------------------------------------------------------------------------------- */

static uint32_t draw_user(struct sampler *s, uint32_t vc)
{
    bool is_larger = members_of(s, vc) == members_of(s, 0);
    uint32_t member = (uint32_t)gsl_ran_discrete(s->rng[USERS], s->members[is_larger]);
    return s->n_users > vc ? member * s->n_vcs + vc : vc % s->n_users;
}

static uint16_t class_of(const struct profile *p, uint32_t gpus)
{
    uint32_t c = p->n_classes - 1;
    while (c > 0 && p->classes[c].gpus_from > gpus)
        c--;
    return (uint16_t)c;
}

static struct origin new_origin(struct sampler *s)
{
    const struct profile *p = s->p;
    struct origin o = {.name = s->n_names++, .milli = 1000, .type = NAMES_NONE};
    o.vc = (uint32_t)gsl_ran_discrete(s->rng[VCS], s->vc);
    o.user = draw_user(s, o.vc);
    o.gpus = p->sizes[gsl_ran_discrete(s->rng[SIZES], s->size)].gpus;
    o.class = class_of(p, o.gpus);
    o.habit = gsl_ran_gaussian_ziggurat(s->rng[HABITS], 1);
    o.network = (uint8_t)gsl_ran_discrete(s->rng[NETWORKS], s->network);
    if (s->share != NULL) {
        uint32_t share = (uint32_t)gsl_ran_discrete(s->rng[SHARES], s->share);
        o.milli = o.gpus == 1 ? p->gpu_shares[share].milli : 1000;
    }
    if (s->type != NULL) {
        bool is_typed = gsl_rng_uniform(s->rng[TYPES]) < p->typed;
        uint32_t type = (uint32_t)gsl_ran_discrete(s->rng[TYPES], s->type);
        o.type = is_typed ? type : NAMES_NONE;
    }
    return o;
}

static struct origin pooled_origin(struct sampler *s, double at)
{
    uint32_t i = (uint32_t)(at * POOL);
    if (!s->is_made[i]) {
        s->pool[i] = new_origin(s);
        s->is_made[i] = true;
    }
    return s->pool[i];
}

static const struct origin *origin_of(struct sampler *s, uint32_t submission)
{
    if (submission < s->n_recent) {
        require(s->n_recent - submission <= RECENT, "submission %u of %u", submission, s->n_recent);
        return &s->recent[submission % RECENT];
    }
    double which = gsl_rng_uniform(s->rng[REPEATS]), back = gsl_rng_uniform(s->rng[REPEATS]);
    uint32_t known = s->n_recent < RECENT ? s->n_recent : RECENT;
    struct origin o;
    if (known > 0 && which < fmin(s->repeat, URN_MOST))
        o = s->recent[(s->n_recent - 1 - (uint32_t)(back * known)) % RECENT];
    else if (s->pool != NULL && which >= URN_MOST && which < s->repeat)
        o = pooled_origin(s, back);
    else
        o = new_origin(s);
    struct origin *here = &s->recent[s->n_recent++ % RECENT];
    *here = o;
    return here;
}

/* ---- a job ----------------------------------------------------------------------------------------- */

static uint8_t draw_status(struct sampler *s, const struct profile_class *c, double rank)
{
    double u = gsl_rng_uniform(s->rng[STATUSES]);
    uint32_t i = 0;
    while (i + 1 < c->n_bands && rank > c->bands[i].to)
        i++;
    if (c->n_bands == 0 || u < c->bands[i].passed)
        return TRACE_PASSED;
    return u < c->bands[i].passed + c->bands[i].killed ? TRACE_KILLED : TRACE_FAILED;
}

/* Three times of the run time alone, each for a third of the jobs that have a deadline: the SLOs of Gavel's generator of traces (Narayanan
 * et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI'20; utils.py of its release). */
static void set_deadline(struct sampler *s, struct workload *w, uint32_t j)
{
    static const double slack[] = {1.2, 2, 10};
    bool has_one = gsl_rng_uniform(s->rng[DEADLINES]) < s->spec->deadlines;
    double times = slack[gsl_rng_uniform_int(s->rng[DEADLINES], sizeof slack / sizeof slack[0])];
    w->deadline_ns[j] = has_one ? w->submit_ns[j] + llround((double)w->duration_ns[j] * times) : WORKLOAD_ABSENT;
}

/* Users ask for round times, and a job uses any share of what was asked for about equally often (Mu'alem and Feitelson, TPDS 12(6), 2001;
 * Tsafrir, Etsion and Feitelson, "Modeling User Runtime Estimates", JSSPP'05). The least share and the round times are assumptions. */
static void set_estimate(struct sampler *s, struct workload *w, uint32_t j)
{
    static const int32_t round_s[] = {60,    120,   300,    600,    900,    1800,   3600,    7200,    14400,  28800,
                                      43200, 86400, 172800, 259200, 432000, 604800, 1209600, 2592000, 5184000};
    double used = 0.05 + 0.95 * gsl_rng_uniform(s->rng[ESTIMATES]);
    double wanted_s = (double)w->duration_ns[j] / 1e9 / used;
    for (size_t i = 0; i < sizeof round_s / sizeof round_s[0]; i++)
        if (round_s[i] >= wanted_s) {
            w->estimate_ns[j] = round_s[i] * NS_PER_S;
            return;
        }
    w->estimate_ns[j] = w->duration_ns[j];
}

static void set_network(struct workload *w, uint32_t j, const struct origin *o)
{
    int64_t stages_ns[WORKLOAD_STAGES];
    int64_t iteration_ns = generator_network_stages(o->network, o->gpus, stages_ns);
    int64_t iterations = (w->duration_ns[j] + iteration_ns / 2) / iteration_ns;
    w->name[j] = o->name;
    w->model[j] = o->network;
    w->gpu_mem_kib[j] = generator_network_memory_kib(o->network);
    w->iteration_ns[j] = iteration_ns;
    w->iterations[j] = iterations > 0 ? iterations : 1;
    for (int i = 0; i < WORKLOAD_STAGES; i++)
        w->stage_ns[i][j] = stages_ns[i];
}

static int make_jobs(struct sampler *s, struct workload *w, struct error *err)
{
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        uint32_t submission;
        int64_t second = arrivals_next(&s->arrivals, &submission);
        if (second < 0)
            return second == -1 ? generator_too_long(s->spec, err) : generator_no_memory(err);
        const struct origin *o = origin_of(s, submission);
        double score = s->shared * o->habit + s->own * gsl_ran_gaussian_ziggurat(s->rng[DURATIONS], 1);
        double rank = gsl_cdf_ugaussian_P(score);
        w->submit_ns[j] = second * NS_PER_S;
        w->gpus[j] = o->gpus;
        w->duration_ns[j] = durations_at(&s->durations[o->class], rank) * NS_PER_S;
        w->vc[j] = o->vc;
        w->user[j] = o->user;
        w->trace_status[j] = draw_status(s, &s->p->classes[o->class], rank);
        if (w->gpu_milli != NULL)
            w->gpu_milli[j] = o->milli;
        if (w->gpu_type != NULL)
            w->gpu_type[j] = o->type;
        if (w->name != NULL)
            set_network(w, j, o);
        if (w->estimate_ns != NULL)
            set_estimate(s, w, j);
        if (w->deadline_ns != NULL)
            set_deadline(s, w, j);
    }
    int64_t shifted_s = generator_shift(w);
    w->has_origin = s->p->has_origin;
    w->origin_utc_s = s->p->has_origin ? s->p->origin_utc_s + shifted_s : 0;
    return BRAID_OK;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static int name_shares(struct names *names, const struct profile_share *shares, uint32_t n, uint32_t *column,
                       uint32_t n_jobs, struct error *err)
{
    const char **texts = malloc(n * sizeof *texts);
    if (texts == NULL)
        return generator_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = shares[i].name;
    int code = generator_name_column(names, NULL, texts, n, column, n_jobs, err);
    free(texts);
    return code;
}

static int name_everything(struct sampler *s, struct workload *w, struct error *err)
{
    const char *networks[GENERATOR_NETWORKS];
    for (uint32_t i = 0; i < GENERATOR_NETWORKS; i++)
        networks[i] = generator_network_name(i);
    int code = has_named_vcs(s) ? name_shares(&w->vcs, s->p->vc_shares, s->p->vcs, w->vc, w->n_jobs, err)
                                : generator_name_column(&w->vcs, "vc", NULL, s->n_vcs, w->vc, w->n_jobs, err);
    if (code == BRAID_OK)
        code = generator_name_column(&w->users, "u", NULL, s->n_users, w->user, w->n_jobs, err);
    if (code == BRAID_OK && w->gpu_type != NULL)
        code = name_shares(&w->gpu_types, s->p->gpu_types, s->p->n_gpu_types, w->gpu_type, w->n_jobs, err);
    if (code == BRAID_OK && w->name != NULL)
        code = generator_name_column(&w->names, "job", NULL, s->n_names, w->name, w->n_jobs, err);
    if (code == BRAID_OK && w->model != NULL)
        code = generator_name_column(&w->models, NULL, networks, GENERATOR_NETWORKS, w->model, w->n_jobs, err);
    return code;
}

int generator_sample(struct workload *out, const struct profile *p, const struct generator_spec *spec,
                     struct error *err)
{
    bool is_full = !spec->is_lean;
    struct workload_columns want = {
        .name = is_full,
        .model = is_full,
        .gpu_memory = is_full,
        .iterations = is_full,
        .stages = is_full,
        .gpu_milli = p->gpu_shares != NULL,
        .gpu_type = p->gpu_types != NULL && spec->has_gpu_types,
        .estimate = spec->has_estimates,
        .deadline = spec->deadlines > 0,
    };
    struct sampler s = {.p = p, .spec = spec};
    int code = workload_alloc(out, spec->jobs, &want, err);
    if (code == BRAID_OK)
        code = sampler_init(&s, err);
    if (code == BRAID_OK)
        code = make_jobs(&s, out, err);
    if (code == BRAID_OK)
        code = name_everything(&s, out, err);
    sampler_fini(&s);
    return code;
}

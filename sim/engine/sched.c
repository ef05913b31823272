/* sched.c - the accessors of a policy. They read what the verbs of the present round have staged. */
#include "cluster/cluster_state.h"
#include "engine/sim.h"

#include <math.h>
#include <string.h>

const char *sched_code_text(int code)
{
    static const char *const text[] = {
        [SCHED_OK] = "ok",
        [SCHED_E_NO_FIT] = "does not fit",
        [SCHED_E_STATE] = "the job is not in a state for this",
        [SCHED_E_SCOPE] = "not of this instance",
        [SCHED_E_UNDECLARED] = "not declared in `knows`",
        [SCHED_E_ABSENT] = "the trace does not say",
        [SCHED_E_TIME] = "not in the future",
        [SCHED_E_CALL] = "verbs are for `schedule`",
        [SCHED_E_ARGUMENT] = "malformed argument",
    };
    return code >= 0 && code < (int)(sizeof text / sizeof *text) ? text[code] : "unknown code";
}

int64_t sched_now(const struct sched *s)
{
    return s->sim->now_ns;
}

uint32_t sched_n_jobs(const struct sched *s)
{
    return s->sim->w->n_jobs;
}

uint64_t sched_random(struct sched *s)
{
    return gsl_rng_get(s->rng);
}

void *sched_alloc(struct sched *s, size_t count, size_t size)
{
    return arena_alloc(&s->sim->arena, count, size);
}

bool sched_is_queued(const struct sched *s, uint32_t job)
{
    return s->sim->jobs[job].state == JOB_QUEUED;
}

bool sched_is_running(const struct sched *s, uint32_t job)
{
    return s->sim->jobs[job].state == JOB_RUNNING;
}

int64_t sched_submit_ns(const struct sched *s, uint32_t job)
{
    return s->sim->w->submit_ns[job];
}

uint32_t sched_gpus(const struct sched *s, uint32_t job)
{
    return s->sim->w->gpus[job];
}

uint32_t sched_demand(const struct sched *s, uint32_t job)
{
    return s->sim->jobs[job].demand;
}

uint32_t sched_n_demands(const struct sched *s)
{
    return s->sim->n_demands;
}

uint32_t sched_vc(const struct sched *s, uint32_t job)
{
    return s->sim->w->vc[job];
}

uint32_t sched_user(const struct sched *s, uint32_t job)
{
    return s->sim->w->user[job];
}

uint32_t sched_cpu_milli(const struct sched *s, uint32_t job)
{
    return s->sim->w->cpu_milli != NULL ? s->sim->w->cpu_milli[job] : 0;
}

uint64_t sched_memory_kib(const struct sched *s, uint32_t job)
{
    return s->sim->w->mem_kib != NULL ? s->sim->w->mem_kib[job] : 0;
}

uint32_t sched_n_users(const struct sched *s)
{
    return s->sim->w->users.count;
}

const char *sched_user_name(const struct sched *s, uint32_t user)
{
    return names_text(&s->sim->w->users, user);
}

uint32_t sched_n_vcs(const struct sched *s)
{
    return s->sim->w->vcs.count;
}

const char *sched_vc_name(const struct sched *s, uint32_t vc)
{
    return names_text(&s->sim->w->vcs, vc);
}

double sched_priority(const struct sched *s, uint32_t job)
{
    return s->sim->w->priority != NULL ? s->sim->w->priority[job] : 0.0;
}

/* Time since the last settling counts as held when the job ran before this round, whatever the round staged. */
static bool held_until_now(const struct sim *sim, uint32_t job)
{
    const struct job *j = &sim->jobs[job];
    return j->staged != 0 ? sim->staged[j->staged - 1].was_running : j->state == JOB_RUNNING;
}

/* It runs where it ran when the round began. Elsewhere it was moved, or started: it pays for that. */
static bool goes_on(const struct sim *sim, uint32_t job)
{
    const struct job *j = &sim->jobs[job];
    if (j->staged == 0)
        return true;
    const struct staged *r = &sim->staged[j->staged - 1];
    return r->was_running && cluster_alloc_equal(sim->cluster, r->old_alloc, j->alloc);
}

static int64_t open_ns(const struct sim *sim, uint32_t job)
{
    return held_until_now(sim, job) ? sim->now_ns - sim->jobs[job].since_ns : 0;
}

int64_t sched_attained_ns(const struct sched *s, uint32_t job)
{
    return s->sim->jobs[job].run_ns + open_ns(s->sim, job);
}

int64_t sched_attained_gpu_ns(const struct sched *s, uint32_t job)
{
    int64_t open, sum; /* as the books have it: what does not fit is the largest number */
    bool is_large = __builtin_mul_overflow(open_ns(s->sim, job), (int64_t)s->sim->w->gpus[job], &open) ||
                    __builtin_add_overflow(s->sim->jobs[job].gpu_ns, open, &sum);
    return is_large ? INT64_MAX : sum;
}

int64_t sched_queued_ns(const struct sched *s, uint32_t job)
{
    const struct sim *sim = s->sim;
    return sim->now_ns - sim->w->submit_ns[job] - sim->jobs[job].run_ns - open_ns(sim, job);
}

int64_t sched_since_ns(const struct sched *s, uint32_t job)
{
    const struct sim *sim = s->sim;
    const struct job *j = &sim->jobs[job];
    if (j->staged == 0)
        return j->since_ns;
    const struct staged *r = &sim->staged[j->staged - 1];
    bool is_running = j->state == JOB_RUNNING;
    bool is_same =
        r->was_running == is_running && (!is_running || cluster_alloc_equal(sim->cluster, r->old_alloc, j->alloc));
    return is_same ? j->since_ns : sim->now_ns;
}

uint32_t sched_starts(const struct sched *s, uint32_t job)
{
    const struct job *j = &s->sim->jobs[job];
    return j->start_ns < 0 ? 0 : 1 + j->restarts;
}

/* Work done up to now, the open segment included. */
static double work_now(const struct sim *sim, uint32_t job)
{
    const struct job *j = &sim->jobs[job];
    if (!held_until_now(sim, job) || sim->now_ns <= j->overhead_until_ns)
        return j->work_done;
    return j->work_done + (double)(sim->now_ns - job_work_from_ns(j)) * j->rate;
}

/* Does the policy declare any of `bits`? If not it is counted under the highest of them. */
static bool is_declared(struct sim *sim, uint32_t bits)
{
    if (sim->ops->knows & bits)
        return true;
    sim->totals.undeclared[31 - __builtin_clz(bits)]++;
    return false;
}

int sched_estimate_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE | KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = estimate_of(s->sim, job);
    return SCHED_OK;
}

int sched_duration_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = s->sim->w->duration_ns[job];
    return SCHED_OK;
}

static int64_t remaining_ns(const struct sim *sim, uint32_t job)
{
    double done = work_now(sim, job);
    int64_t left = done < 9.2e18 ? estimate_of(sim, job) - (int64_t)done : 1; /* all the time there is, nearly */
    return left < 1 ? 1 : left;
}

int sched_remaining_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE | KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = remaining_ns(s->sim, job);
    return SCHED_OK;
}

/* `left` of work, with the overhead that comes before it, at the rate that the job has. */
static int64_t run_of(const struct sched *s, uint32_t job, int64_t left)
{
    const struct sim *sim = s->sim;
    const struct job *j = &sim->jobs[job];
    int64_t overhead;
    if (j->state == JOB_RUNNING && goes_on(sim, job)) {
        overhead = j->overhead_until_ns > sim->now_ns ? j->overhead_until_ns - sim->now_ns : 0;
    } else {
        const struct overhead_spec *model = &sim->spec->overhead;
        const char *name = sim->w->model != NULL ? names_text(&sim->w->models, sim->w->model[job]) : NULL;
        overhead = overhead_ns(j->start_ns < 0 ? &model->start : &model->restart, sim_gpus(sim, job), name);
    }
    if (j->state == JOB_RUNNING && j->rate > 0 && j->rate != 1.0) { /* in a group */
        double slowed = ceil((double)left / j->rate);
        left = slowed < 9e18 ? (int64_t)slowed : TIME_LAST;
    }
    return time_after(overhead, left);
}

int sched_run_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE | KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = run_of(s, job, remaining_ns(s->sim, job));
    return SCHED_OK;
}

/* What remains of a job beyond its estimate: see sched_expected_ns. */
static int64_t expected_ns(const struct sched *s, uint32_t job)
{
    enum { LEAST_NS = 1000000000 };
    double done = work_now(s->sim, job);
    int64_t given = estimate_of(s->sim, job),
            estimate = given > 1 ? given : 1; /* a job of no length is not beyond that */
    int64_t beyond = done < 9.2e18 ? (int64_t)done - estimate : SCHED_NEVER / 4;
    if (beyond < 0)
        return -beyond;
    int64_t held = sched_attained_ns(s, job),
            until = held > beyond ? held - beyond : 0; /* what it had held when that was used up */
    while (until <= held && until < TIME_LAST)
        until = time_after(until, until > LEAST_NS ? until : LEAST_NS);
    return until > held ? until - held : 1;
}

int sched_expected_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE | KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = expected_ns(s, job);
    return SCHED_OK;
}

int sched_expected_run_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE | KNOWS_DURATION))
        return SCHED_E_UNDECLARED;
    *out = run_of(s, job, expected_ns(s, job));
    return SCHED_OK;
}

int sched_recorded_start_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    const struct workload *w = s->sim->w;
    if (!is_declared(s->sim, KNOWS_RECORD))
        return SCHED_E_UNDECLARED;
    if (w->start_ns == NULL || w->start_ns[job] == WORKLOAD_ABSENT)
        return SCHED_E_ABSENT;
    *out = w->start_ns[job];
    return SCHED_OK;
}

int sched_chain_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    if (!is_declared(s->sim, KNOWS_ESTIMATE))
        return SCHED_E_UNDECLARED;
    *out = depend_chain_ns(s->sim, job);
    return SCHED_OK;
}

int sched_deadline_ns(const struct sched *s, uint32_t job, int64_t *out)
{
    const struct workload *w = s->sim->w;
    if (!is_declared(s->sim, KNOWS_DEADLINE))
        return SCHED_E_UNDECLARED;
    if (w->deadline_ns == NULL || w->deadline_ns[job] == WORKLOAD_ABSENT)
        return SCHED_E_ABSENT;
    *out = w->deadline_ns[job];
    return SCHED_OK;
}

int sched_stages_ns(const struct sched *s, uint32_t job, int64_t *iteration, int64_t out[4])
{
    const struct profile_view *seen = s->sim->spec->seen;
    const struct workload *w = seen != NULL ? &seen->workload : s->sim->w;
    if (!is_declared(s->sim, KNOWS_PROFILE))
        return SCHED_E_UNDECLARED;
    if (w->stage_ns[0] == NULL || w->iteration_ns == NULL || w->iteration_ns[job] <= 0)
        return SCHED_E_ABSENT;
    *iteration = w->iteration_ns[job];
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        out[k] = w->stage_ns[k][job];
    return SCHED_OK;
}

int sched_group_rates(const struct sched *s, const uint32_t *jobs, uint32_t n, double *out)
{
    const struct profile_view *seen = s->sim->spec->seen;
    const struct sharing_model *m = seen != NULL ? seen->sharing : s->sim->spec->sharing;
    if (!is_declared(s->sim, KNOWS_PROFILE))
        return SCHED_E_UNDECLARED;
    if (n == 0 || n > HOLD_MEMBERS || (m != NULL && n > m->most))
        return SCHED_E_ARGUMENT;
    if (n == 1) {
        out[0] = 1.0;
        return SCHED_OK;
    }
    if (m == NULL || m->refusal(m->self, jobs, n, 0) != NULL)
        return SCHED_E_ABSENT;
    m->rates(m->self, jobs, n, out);
    return SCHED_OK;
}

uint32_t sched_company(const struct sched *s, uint32_t job, uint32_t *out, uint32_t room)
{
    const struct sim *sim = s->sim;
    if (sim->jobs[job].state != JOB_RUNNING)
        return 0;
    const struct hold *h = hold_of(sim, sim->jobs[job].alloc);
    memcpy(out, h->members, (h->n_members < room ? h->n_members : room) * sizeof *out);
    return h->n_members;
}

uint64_t *sched_word(struct sched *s, uint32_t job)
{
    return &s->sim->jobs[job].word;
}

void sched_observe(struct sched *s, const char *name, double value)
{
    const struct run_watch *watch = &s->sim->spec->watch;
    if (watch->observe != NULL)
        watch->observe(watch->self, s->sim->now_ns, s->index, name, value);
}

uint32_t sched_free_gpus(const struct sched *s)
{
    const struct cluster *c = s->sim->cluster;
    if (s->vc != NAMES_NONE)
        return cluster_vc_free(c, s->vc);
    uint32_t sum = 0;
    for (uint32_t p = 0; p < cluster_n_partitions(c); p++)
        sum += cluster_partition(c, p)->free_gpus;
    return sum;
}

uint32_t sched_held_gpus(const struct sched *s)
{
    const struct cluster *c = s->sim->cluster;
    if (s->vc != NAMES_NONE)
        return cluster_vc(c, s->vc)->used_gpus;
    uint32_t sum = 0;
    for (uint32_t v = 0; v < cluster_n_vcs(c); v++)
        sum += cluster_vc(c, v)->used_gpus;
    return sum;
}

uint32_t sched_capacity_gpus(const struct sched *s)
{
    const struct cluster *c = s->sim->cluster;
    if (s->vc != NAMES_NONE) {
        const struct vc *vc = cluster_vc(c, s->vc);
        uint32_t all = cluster_partition(c, vc->partition)->gpus;
        return vc->quota_gpus < all ? vc->quota_gpus : all;
    }
    uint32_t sum = 0;
    for (uint32_t p = 0; p < cluster_n_partitions(c); p++)
        sum += cluster_partition(c, p)->gpus;
    return sum;
}

uint64_t sched_capacity_cpu_milli(const struct sched *s)
{
    return cluster_cpu_milli(s->sim->cluster, s->partition);
}

uint64_t sched_capacity_memory_kib(const struct sched *s)
{
    return cluster_memory_kib(s->sim->cluster, s->partition);
}

bool sched_is_divided(const struct sched *s)
{
    return s->vc == NAMES_NONE;
}

bool sched_is_packed(const struct sched *s)
{
    return s->sim->is_packed;
}

uint32_t sched_n_nodes(const struct sched *s)
{
    const struct cluster *c = s->sim->cluster;
    return s->vc != NAMES_NONE ? cluster_partition(c, s->partition)->n_nodes : cluster_n_nodes(c);
}

uint32_t sched_node(const struct sched *s, uint32_t i)
{
    return s->vc != NAMES_NONE ? cluster_partition(s->sim->cluster, s->partition)->nodes[i] : i;
}

uint32_t sched_node_gpus(const struct sched *s, uint32_t node)
{
    return cluster_node(s->sim->cluster, node)->gpus;
}

uint32_t sched_node_free(const struct sched *s, uint32_t node)
{
    const struct node *n = cluster_node(s->sim->cluster, node);
    return n->free_gpus - n->reserved_gpus;
}

uint32_t sched_node_type(const struct sched *s, uint32_t node)
{
    return s->sim->cluster->pools[cluster_node(s->sim->cluster, node)->pool].gpu_type;
}

uint32_t sched_gpu_type(const struct sched *s, uint32_t job)
{
    return s->sim->demands[s->sim->jobs[job].demand].gpu_type;
}

static int64_t cpu_or_unlimited(uint32_t milli)
{
    return milli == CPU_UNLIMITED ? SCHED_UNLIMITED : (int64_t)milli;
}

static int64_t memory_or_unlimited(uint64_t kib)
{
    return kib < (uint64_t)SCHED_UNLIMITED ? (int64_t)kib : SCHED_UNLIMITED;
}

int64_t sched_node_cpu_milli(const struct sched *s, uint32_t node)
{
    return cpu_or_unlimited(s->sim->cluster->pools[cluster_node(s->sim->cluster, node)->pool].cpu_milli);
}

int64_t sched_node_memory_kib(const struct sched *s, uint32_t node)
{
    return memory_or_unlimited(s->sim->cluster->pools[cluster_node(s->sim->cluster, node)->pool].mem_kib);
}

int64_t sched_node_free_cpu_milli(const struct sched *s, uint32_t node)
{
    return cpu_or_unlimited(cluster_node(s->sim->cluster, node)->cpu_free_milli);
}

int64_t sched_node_free_memory_kib(const struct sched *s, uint32_t node)
{
    return memory_or_unlimited(cluster_node(s->sim->cluster, node)->mem_free_kib);
}

bool sched_shares_nodes(const struct sched *s)
{
    const struct sim *sim = s->sim;
    return s->vc != NAMES_NONE && sim->partition_first[s->partition + 1] - sim->partition_first[s->partition] > 1;
}

uint32_t sched_places(const struct sched *s, uint32_t job, const struct place **out)
{
    const struct job *j = &s->sim->jobs[job];
    if (j->state != JOB_RUNNING) {
        *out = NULL;
        return 0;
    }
    return cluster_alloc_places(s->sim->cluster, j->alloc, out);
}

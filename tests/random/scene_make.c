#include "scene.h"

#include "dice.h"

#include <math.h>
#include <string.h>

static const char *const VC_NAMES[] = {"a", "b", "c", "d"};
static const char *const USERS[] = {"u", "v", "w"};
static const char *const TYPES[] = {"", "t4", "a100"};
static const char *const MODELS[] = {"resnet50", "bert", "vgg"};
static const char *const NAMES[] = {"train", "tune", "test"};

/* ---- dice ---- */

uint32_t scene_roll(struct scene_dice *d, uint32_t sides)
{
    return (uint32_t)dice_star(&d->state, sides);
}

bool scene_chance(struct scene_dice *d, uint32_t percent)
{
    return scene_roll(d, 100) < percent;
}

double scene_real(struct scene_dice *d, double from, double to)
{
    return from + (to - from) * scene_roll(d, 1u << 30) / (double)(1u << 30);
}

double scene_log(struct scene_dice *d, double from, double to)
{
    return exp(scene_real(d, log(from), log(to)));
}

/* Words, each to be counted, and for the parts below. */
struct mood {
    struct scene_dice *dice;
    double scale_s; /* about how long a job takes */
    bool is_grid;   /* times are multiples of a step: many things happen at once */
    bool is_huge;   /* now and then a number at the end of its range */
    bool is_plain;  /* few features, so that policies which refuse most are not refused */
};

static int64_t time_ns(struct mood *m, double seconds)
{
    if (m->is_grid) {
        double step = m->scale_s / 10;
        step = step < 1 ? 1 : floor(step);
        return (int64_t)(floor(seconds / step) * step) * SCENE_S;
    }
    switch (scene_roll(m->dice, 3)) {
    case 0:
        return (int64_t)seconds * SCENE_S;
    case 1:
        return (int64_t)(seconds * 1000) * (SCENE_S / 1000);
    default:
        return (int64_t)(seconds * 1e9);
    }
}

/* ---- nodes and virtual clusters ---- */

static void draw_nodes(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    uint32_t left = SCENE_NODES;
    bool has_types = !m->is_plain && scene_chance(d, 35), has_cpus = !m->is_plain && scene_chance(d, 30);
    s->n_groups = 1 + (m->is_plain ? 0 : scene_roll(d, SCENE_GROUPS));
    s->has_types = has_types && scene_chance(d, 80);
    s->has_cpus = has_cpus || scene_chance(d, 10);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        struct scene_group *p = &s->groups[g];
        p->count = 1 + scene_roll(d, left - (s->n_groups - g - 1) < 4 ? left - (s->n_groups - g - 1) : 4);
        left -= p->count;
        p->gpus = scene_chance(d, 4) && s->n_groups > 1 ? 0 : 1 + scene_roll(d, 8);
        if (g == 0 && p->gpus == 0)
            p->gpus = 4;
        p->gpus = scene_chance(d, 2) ? 70 : p->gpus;
        p->type = has_types ? TYPES[scene_roll(d, 3)] : "";
        if (has_cpus && scene_chance(d, 80)) {
            p->cpu_milli = 500 * (1 + scene_roll(d, 32 * (p->gpus < 8 ? p->gpus + 1 : 8)));
            p->memory_kib = scene_chance(d, 80) ? (1 + scene_roll(d, 256)) * UINT64_C(1048577) : 0;
        }
        if (scene_chance(d, 20))
            p->gpu_memory_kib = (4 + scene_roll(d, 60)) * UINT64_C(1048576);
    }
    s->nodes_per_rack = scene_chance(d, 40) ? 1 + scene_roll(d, 4) : 0;
}

static void draw_changes(struct scene_vc *v, struct mood *m, uint32_t gpus, int64_t last_ns)
{
    uint32_t n = scene_roll(m->dice, SCENE_CHANGES + 1);
    int64_t at = -1;
    for (uint32_t i = 0; i < n; i++) {
        double step = (double)last_ns * 1e-9 / (n + 1) * scene_real(m->dice, 0.2, 2);
        int64_t next = i == 0 && scene_chance(m->dice, 50) ? 0 : at + time_ns(m, step);
        at = next > at ? next : at + SCENE_S;
        v->changes[i] = (struct scene_change){at, scene_chance(m->dice, 25) ? 0 : scene_roll(m->dice, gpus + 2)};
    }
    if (n > 0 && scene_chance(m->dice, 70)) /* and in the end enough for all again */
        v->changes[n - 1].gpus = gpus;
    v->n_changes = n;
}

static void draw_vcs(struct scene *s, struct mood *m, int64_t last_ns)
{
    struct scene_dice *d = m->dice;
    uint32_t nodes = 0, gpus = 0, owned = 0;
    for (uint32_t g = 0; g < s->n_groups; g++) {
        nodes += s->groups[g].count;
        gpus += s->groups[g].count * s->groups[g].gpus;
    }
    if (m->is_plain || scene_chance(d, 50))
        return;
    s->n_vcs = 1 + scene_roll(d, SCENE_VCS);
    uint32_t how = scene_roll(d, 3); /* nodes, quotas, both */
    for (uint32_t i = 0; i < s->n_vcs; i++) {
        struct scene_vc *v = &s->vcs[i];
        v->name = VC_NAMES[i];
        v->is_quota = how == 1 || (how == 2 && scene_chance(d, 50)) || owned + (how == 2) >= nodes;
        if (v->is_quota && owned >= nodes) {
            s->n_vcs = i;
            return;
        }
        if (!v->is_quota) {
            uint32_t most = nodes - owned - (how == 2);
            v->amount = 1 + scene_roll(d, most < 4 ? most : 4);
            owned += v->amount;
            continue;
        }
        v->amount = scene_chance(d, 5) ? 0 : 1 + scene_roll(d, gpus > 0 ? gpus : 1);
        v->is_preempt = scene_chance(d, 50);
        if (scene_chance(d, 50))
            draw_changes(v, m, gpus, last_ns);
    }
}

/* ---- jobs ---- */

static void draw_times(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    double gap_s = m->scale_s * scene_log(d, 0.02, 1.5), at_s = scene_chance(d, 50) ? 0 : gap_s * 3;
    int64_t at = time_ns(m, at_s);
    double spread = scene_log(d, 1.2, 30);
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        struct scene_job *j = &s->jobs[i];
        if (i > 0 && !scene_chance(d, 15)) /* else at the same time as the last */
            at += time_ns(m, gap_s * -log(scene_real(d, 1e-6, 1)));
        j->submit_ns = at;
        j->duration_ns = time_ns(m, m->scale_s * scene_log(d, 1 / spread, spread));
        if (scene_chance(d, 4))
            j->duration_ns = 0;
        else if (scene_chance(d, 3))
            j->duration_ns = 1 + scene_roll(d, 1000);
        else if (m->is_huge && scene_chance(d, 10))
            j->duration_ns = (int64_t)(1 + scene_roll(d, 300)) * 1000000 * SCENE_S /* below ten years */;
    }
}

static void draw_resources(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    uint32_t largest = 0, all = 0, kinds = 1 + scene_roll(d, 4);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        largest = s->groups[g].gpus > largest ? s->groups[g].gpus : largest;
        all += s->groups[g].gpus * s->groups[g].count;
    }
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        struct scene_job *j = &s->jobs[i];
        uint32_t k = scene_roll(d, 20);
        j->gpus = k < 10                          ? 1 + scene_roll(d, kinds)
                  : k < 15                        ? 1 + scene_roll(d, largest)
                  : k < 19 || scene_chance(d, 50) ? 1 + scene_roll(d, all)
                                                  : 1 + scene_roll(d, 2 * all + 1);
        if (j->duration_ns >
            INT64_MAX / j->gpus) /* GPU time that 64 bits do not hold is dropped where the trace is read */
            j->duration_ns = 1000000 * SCENE_S;
        if (scene_chance(d, 50)) {
            j->cpu_milli = scene_chance(d, 70) ? 500 * (1 + scene_roll(d, 8 * j->gpus)) : 1 + scene_roll(d, 9999);
            j->memory_kib = (uint64_t)(1 + scene_roll(d, 32 * j->gpus)) * (scene_chance(d, 70) ? 1048576 : 999983);
        }
        j->gpu_memory_kib = scene_chance(d, 50) ? (1 + scene_roll(d, 20)) * UINT64_C(1048576) : 0;
        j->type = scene_chance(d, 60) ? "" : TYPES[1 + scene_roll(d, 2)];
        if (m->is_plain && j->gpus > all)
            j->gpus = 1;
    }
}

static void draw_people(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        struct scene_job *j = &s->jobs[i];
        snprintf(j->id, sizeof j->id, "j%u", i);
        j->vc = s->n_vcs == 0 ? "" : scene_chance(d, 2) ? "elsewhere" : VC_NAMES[scene_roll(d, s->n_vcs)];
        j->user = USERS[scene_roll(d, 3)];
        j->name = NAMES[scene_roll(d, 3)];
        j->model = MODELS[scene_roll(d, 3)];
        j->status = scene_roll(d, 4);
        j->priority = scene_chance(d, 50) ? scene_roll(d, 4) : floor(scene_real(d, -5, 20) * 4) / 4;
        double seconds = (double)j->duration_ns * 1e-9;
        j->estimate_ns = scene_chance(d, 10) ? SCENE_NONE
                         : scene_chance(d, 30)
                             ? j->duration_ns
                             : time_ns(m, seconds * scene_log(d, 0.2, 10)) + (scene_chance(d, 50) ? 1 : 0);
        j->told_ns = scene_chance(d, 30) ? j->duration_ns : time_ns(m, seconds * scene_log(d, 0.2, 10));
        j->start_ns = scene_chance(d, 20) ? SCENE_NONE : j->submit_ns + time_ns(m, m->scale_s * scene_real(d, 0, 3));
        j->deadline_ns = scene_chance(d, 30)
                             ? SCENE_NONE
                             : j->submit_ns + time_ns(m, (seconds + 0.1 * m->scale_s) * scene_log(d, 0.5, 20));
        if (i > 0 && scene_chance(d, 20)) {
            j->n_depends = 1 + scene_roll(d, SCENE_DEPENDS);
            for (uint32_t k = 0; k < j->n_depends; k++)
                j->depends[k] = scene_roll(d, i);
            for (uint32_t k = 1; k < j->n_depends; k++) /* each once */
                for (uint32_t l = 0; l < k; l++)
                    if (j->depends[k] == j->depends[l])
                        j->n_depends = k;
        }
    }
}

static void draw_stages(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    int64_t profiles[4][1 + SCENE_STAGES];
    for (int p = 0; p < 4; p++) {
        int64_t sum = 0;
        for (int k = 1; k <= SCENE_STAGES; k++) {
            profiles[p][k] = scene_chance(d, 20) ? 0 : (1 + (int64_t)scene_roll(d, 100)) * (SCENE_S / 1000);
            sum += profiles[p][k];
        }
        profiles[p][0] = sum + (scene_chance(d, 50) ? 0 : scene_roll(d, 100) * (SCENE_S / 1000)) + (sum == 0);
    }
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        const int64_t *p = profiles[scene_roll(d, 4)];
        if (scene_chance(d, 10))
            continue; /* without */
        s->jobs[i].iteration_ns = p[0];
        memcpy(s->jobs[i].stage_ns, p + 1, sizeof s->jobs[i].stage_ns);
    }
}

/* ---- the model ---- */

static void draw_overhead(struct scene_overhead *o, struct mood *m)
{
    struct scene_dice *d = m->dice;
    o->form = (enum scene_form)scene_roll(d, 3);
    o->n = o->form == SCENE_CONSTANT ? 1 : 1 + scene_roll(d, SCENE_STEPS);
    o->model = scene_chance(d, 50) ? MODELS[scene_roll(d, 3)] : NULL;
    for (uint32_t i = 0; i < o->n; i++) {
        o->gpus[i] = i == 0 ? 1 : o->gpus[i - 1] + 1 + scene_roll(d, 4);
        o->ns[i] = scene_chance(d, 20) ? 0 : time_ns(m, m->scale_s * scene_log(d, 0.001, m->is_huge ? 3 : 0.3));
        o->own_ns[i] = time_ns(m, m->scale_s * scene_log(d, 0.001, 0.3));
    }
}

static void draw_model(struct scene *s, struct mood *m)
{
    struct scene_dice *d = m->dice;
    s->start.n = s->restart.n = 1;
    if (scene_chance(d, 40))
        draw_overhead(&s->start, m);
    if (scene_chance(d, 50))
        draw_overhead(&s->restart, m);
    bool shares = (s->policy->knows & KNOWS_PROFILE) != 0 ? scene_chance(d, 85) : scene_chance(d, 10);
    if (shares && !m->is_plain) {
        static const char *const order[] = {NULL, "best", "given", "worst"};
        static const char *const fidelity[] = {NULL, "closed", "stage"};
        static const char *const kinds[] = {NULL, NULL, "[storage+cpu, gpu, network]", "[storage+cpu, gpu+network]"};
        static const char *const inflation[] = {NULL, "[1, 1.1, 1.2, 1.3]", "[1, 1.5]"};
        s->group_jobs = 1 + scene_roll(d, 4);
        s->group_order = order[scene_roll(d, 4)];
        s->fidelity = fidelity[scene_roll(d, 3)];
        s->kinds = kinds[scene_roll(d, 4)];
        s->inflation = inflation[scene_roll(d, 3)];
        s->has_gpu_memory = scene_chance(d, 30);
        s->profile_error = scene_chance(d, 20) ? 0.25 : 0;
    }
    s->has_stages = s->group_jobs > 0 || scene_chance(d, 10);
    if (s->has_stages)
        draw_stages(s, m);
    s->estimate = scene_chance(d, 35) ? SCENE_EXACT : (enum scene_estimate)scene_roll(d, 5);
    s->has_estimates = s->estimate == SCENE_TRACE || scene_chance(d, 10);
    s->sigma = scene_chance(d, 10) ? 3 : scene_real(d, 0, 1);
    s->kills = !m->is_plain && s->estimate != SCENE_EXACT && scene_chance(d, 30);
}

static void draw_window(struct scene *s, struct mood *m, int64_t first_ns, int64_t last_ns)
{
    struct scene_dice *d = m->dice;
    double span_s = (double)(last_ns - first_ns) * 1e-9;
    if (scene_chance(d, 25)) {
        s->from_ns = scene_chance(d, 50) ? first_ns + time_ns(m, span_s * scene_real(d, 0, 0.6)) : SCENE_NONE;
        s->warm_up_ns = scene_chance(d, 50) ? time_ns(m, span_s * scene_real(d, 0, 0.3)) : 0;
        if (scene_chance(d, 50))
            s->to_ns = (s->from_ns != SCENE_NONE ? s->from_ns : first_ns) + s->warm_up_ns + SCENE_S +
                       time_ns(m, span_s * scene_real(d, 0, 0.8));
    }
    if (!m->is_plain && scene_chance(d, 12))
        s->stop_ns = first_ns + time_ns(m, (span_s + m->scale_s) * scene_real(d, 0, 2));
    else if (!m->is_plain && scene_chance(d, 9))
        s->stop_queue = scene_roll(d, 12);
    if (scene_chance(d, 75)) {
        double step_s = (span_s + 2 * m->scale_s) / scene_log(d, 3, 60), all_s = span_s;
        for (uint32_t i = 0; i < s->n_jobs; i++) /* one behind the other: the series of a long run are long */
            all_s += 1e-9 * (double)s->jobs[i].duration_ns;
        step_s = step_s < all_s / 1000 ? all_s / 1000 : step_s;
        s->step_ns = time_ns(m, step_s < 31000000 ? step_s : 31000000);
        if (s->step_ns < (int64_t)(step_s * 9e8)) /* the grid is too coarse for it */
            s->step_ns = (int64_t)(step_s * 1e9) > SCENE_S / 1000 ? (int64_t)(step_s * 1e9) : SCENE_S / 1000;
        if (m->is_huge && step_s > 31000000)
            s->step_ns = 0;
    }
    s->segments = scene_chance(d, 95);
    s->events = scene_chance(d, 80);
}

void scene_make(struct scene *s, uint64_t seed)
{
    *s = (struct scene){.seed = seed, .stop_ns = SCENE_NEVER, .stop_queue = UINT32_MAX, .to_ns = SCENE_NEVER};
    s->from_ns = SCENE_NONE;
    struct scene_dice dice = {(seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    for (int i = 0; i < 8; i++)
        scene_roll(&dice, 2);
    static const double scales[] = {0.5, 10, 100, 1000, 5000, 20000};
    struct mood m = {.dice = &dice, .scale_s = scales[scene_roll(&dice, 6)], .is_grid = scene_chance(&dice, 35)};
    m.is_huge = scene_chance(&dice, 3);
    scene_draw_policy(s, &dice, m.scale_s);
    bool is_choosy = strcmp(s->policy->name, "optimal") == 0; /* it refuses most */
    m.is_plain = is_choosy || scene_chance(&dice, s->is_fifo || s->fills_easy ? 50 : 10);
    s->n_jobs = 5 + scene_roll(&dice, scene_chance(&dice, 70) ? 26 : SCENE_JOBS - 4);
    if (is_choosy)
        s->n_jobs = 3 + scene_roll(&dice, 5);
    s->run_seed = scene_roll(&dice, 1000);
    draw_nodes(s, &m);
    draw_times(s, &m);
    /* time 0 of a run is the first submission, floored to the second */
    int64_t zero_ns = s->jobs[0].submit_ns - s->jobs[0].submit_ns % SCENE_S;
    int64_t first_ns = s->jobs[0].submit_ns - zero_ns, last_ns = s->jobs[s->n_jobs - 1].submit_ns - zero_ns;
    draw_vcs(s, &m, last_ns + (int64_t)(m.scale_s * 1e9));
    draw_resources(s, &m);
    draw_people(s, &m);
    s->has_deadlines = (s->policy->knows & KNOWS_DEADLINE) != 0 ? scene_chance(&dice, 70) : scene_chance(&dice, 10);
    s->has_starts = (s->policy->knows & KNOWS_RECORD) != 0 || scene_chance(&dice, 5);
    s->has_priorities = scene_chance(&dice, 50);
    s->has_names = scene_chance(&dice, 60);
    s->has_status = scene_chance(&dice, 50);
    s->has_depends = !m.is_plain && scene_chance(&dice, 15);
    draw_model(s, &m);
    draw_window(s, &m, first_ns, last_ns);
    if (!s->has_deadlines && strstr(s->policy_text, "admission: feasible") != NULL)
        s->has_deadlines = true;
}

void scene_features(const struct scene *s, char *out, size_t size)
{
    bool has_nodes = false, has_quota = false, has_drain = false, has_preempt = false;
    for (uint32_t v = 0; v < s->n_vcs; v++) {
        has_nodes |= !s->vcs[v].is_quota;
        has_quota |= s->vcs[v].is_quota;
        has_drain |= s->vcs[v].n_changes > 0 && !s->vcs[v].is_preempt;
        has_preempt |= s->vcs[v].n_changes > 0 && s->vcs[v].is_preempt;
    }
    static const char *const source[] = {"exact", "trace", "noise", "user_mean", "file"};
    const struct {
        bool is_on;
        const char *word;
    } table[] = {
        {has_nodes, "vcs_by_nodes"},
        {has_quota, "vcs_by_quota"},
        {has_drain, "quota_drains"},
        {has_preempt, "quota_preempts"},
        {s->has_types, "gpu_types"},
        {s->has_cpus, "cpus_memory"},
        {s->has_depends, "depends"},
        {s->has_deadlines, "deadlines"},
        {s->has_priorities, "priorities"},
        {s->has_stages, "stages"},
        {s->group_jobs > 1 && s->fidelity != NULL && strcmp(s->fidelity, "stage") == 0, "interleave_stage"},
        {s->group_jobs > 1 && (s->fidelity == NULL || strcmp(s->fidelity, "closed") == 0), "interleave_closed"},
        {s->start.ns[0] > 0, "start_overhead"},
        {s->restart.ns[0] > 0, "restart_overhead"},
        {s->kills, "on_exceed_kill"},
        {s->stop_ns != SCENE_NEVER, "stop_at"},
        {s->stop_queue != UINT32_MAX, "stop_queue"},
        {s->from_ns != SCENE_NONE || s->to_ns != SCENE_NEVER || s->warm_up_ns > 0, "measure"},
        {s->step_ns > 0, "series"},
        {s->segments, "segments"},
        {s->events, "events"},
        {s->shares[0] != '\0', "shares"},
    };
    size_t n = (size_t)snprintf(out, size, "estimate_%s", source[s->estimate]);
    for (size_t i = 0; i < sizeof table / sizeof *table && n < size; i++)
        if (table[i].is_on)
            n += (size_t)snprintf(out + n, size - n, ",%s", table[i].word);
}

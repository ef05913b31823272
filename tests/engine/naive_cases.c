/* Random cases with fixed seeds: tiny ones, of which every detail can be read, and middle ones with two queues. */
#include "tests/dice.h"
#include "tests/engine/naive_match.h"

#include <stddef.h>

static const int64_t SECOND = 1000000000;

uint64_t naive_roll(struct naive_dice *d, uint64_t sides)
{
    return dice_star(&d->state, sides);
}

int64_t naive_roll_s(struct naive_dice *d, int64_t low, int64_t high)
{
    return (low + (int64_t)naive_roll(d, (uint64_t)(high - low + 1))) * SECOND;
}

/* ---- random cases --------------------------------------------------------------------------------- */

const struct naive_size naive_tiny = {6, 1, 3, 4, 12, 9, false};
const struct naive_size naive_middle = {60, 6, 6, 8, 120, 40, true};

static void roll_vcs(struct naive_case *c, const struct naive_size *z, struct naive_dice *d)
{
    enum { NO_VCS, PARTITIONS, QUOTAS, MIXED, N_KINDS };
    uint64_t kind = z->has_vcs ? PARTITIONS + naive_roll(d, 2) : naive_roll(d, N_KINDS);
    if (kind == NO_VCS || (kind == PARTITIONS && c->n_nodes < 2) || (kind == MIXED && c->n_nodes < 2))
        return;
    c->n_vcs = 2 + (kind == MIXED);
    uint32_t all = 0, n_owned = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        all += c->gpus[i];
    if (kind == PARTITIONS) {
        c->vcs[0].amount = n_owned = 1 + (uint32_t)naive_roll(d, c->n_nodes - 1);
        c->vcs[1].amount = c->n_nodes - n_owned;
        return;
    }
    for (uint32_t v = 0; v < c->n_vcs; v++) {
        struct naive_vc *vc = &c->vcs[v];
        if (kind == MIXED && v == 1) {
            vc->amount = 1;
            continue;
        }
        vc->is_quota = true;
        vc->gives_way = naive_roll(d, 2) == 0;
        vc->amount = (uint32_t)naive_roll(d, all + 2);
        vc->n_changes = (uint32_t)naive_roll(d, NAIVE_CHANGES + 1);
        int64_t at = c->jobs[0].submit;
        for (uint32_t i = 0; i < vc->n_changes; i++) {
            at += naive_roll_s(d, 1, z->submit_s / 3);
            vc->change_at[i] = at;
            vc->change_to[i] = naive_roll(d, 3) == 0 ? 0 : (uint32_t)naive_roll(d, all + 2);
        }
    }
}

void naive_roll_case(struct naive_case *c, const struct naive_size *z, struct naive_dice *d)
{
    c->n_nodes = z->nodes_least + (uint32_t)naive_roll(d, z->nodes_most - z->nodes_least + 1);
    bool is_alike = z->has_vcs || naive_roll(d, 2) == 0 || c->placement == N_YARN;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        c->gpus[i] = i > 0 && is_alike ? c->gpus[0]
                     : z->has_vcs      ? z->gpus_most
                                       : 1 + (uint32_t)naive_roll(d, z->gpus_most);
    c->n_jobs = 1 + (uint32_t)naive_roll(d, z->jobs);
    if (z->has_vcs)
        c->n_jobs = z->jobs;
    int64_t submits[NAIVE_JOBS];
    for (uint32_t j = 0; j < c->n_jobs; j++) { /* insertion sort */
        int64_t submit = naive_roll_s(d, 0, z->submit_s);
        uint32_t k = j;
        for (; k > 0 && submits[k - 1] > submit; k--)
            submits[k] = submits[k - 1];
        submits[k] = submit;
    }
    for (uint32_t j = 0; j < c->n_jobs; j++)
        c->jobs[j].submit = submits[j];
    roll_vcs(c, z, d);
    c->kills = naive_roll(d, 4) == 0;
    bool is_exact = naive_roll(d, 2) == 0, has_overhead = naive_roll(d, 2) == 0;
    uint32_t most_gpus = z->has_vcs ? 16 : 6;
    if (z->has_vcs && c->placement == N_RACK_LOCAL) /* several racks */
        most_gpus = 28;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct naive_job *job = &c->jobs[j];
        job->duration = naive_roll_s(d, 0, z->duration_s);
        job->gpus = 1 + (uint32_t)naive_roll(d, naive_roll(d, 2) == 0 ? 2 : most_gpus);
        job->vc = c->n_vcs == 0 ? 0 : naive_roll(d, 20) == 0 ? -1 : (int)naive_roll(d, c->n_vcs);
        job->priority = (double)naive_roll(d, 7) * 0.5 - 1;
        job->estimate = is_exact ? job->duration : naive_roll_s(d, c->kills, z->duration_s);
        if (job->estimate < 1)
            job->estimate = 1;
    }
    c->kills = c->kills && !is_exact;
    c->start_overhead = has_overhead ? naive_roll_s(d, 0, 2) : 0;
    c->restart_overhead = has_overhead ? naive_roll_s(d, 0, 3) : 0;
    c->quantum = naive_roll_s(d, 1, z->has_vcs ? 12 : 4);
    if (c->restart_overhead >= c->quantum) /* else two jobs may keep each other from ever doing anything */
        c->restart_overhead = c->quantum - SECOND;
    c->ageing = naive_roll_s(d, 0, 3);
    c->by_gpu_time = naive_roll(d, 2) == 0;
    c->window = naive_roll_s(d, 1, z->submit_s);
    c->nodes_per_rack = (uint32_t)naive_roll(d, 4);
    c->draws = naive_roll(d, 2) == 0 ? 2 : 64;
    for (uint32_t j = 0; j < c->n_jobs; j++) {
        struct naive_job *job = &c->jobs[j];
        job->user = (int)naive_roll(d, NAIVE_USERS);
        job->deadline =
            naive_roll(d, 4) == 0 ? -1 : job->submit + job->duration + naive_roll_s(d, 0, 2 * z->duration_s);
        job->recorded = naive_roll(d, 4) == 0 ? -1 : job->submit + naive_roll_s(d, -2, z->duration_s);
        job->recorded = job->recorded < 0 ? -1 : job->recorded;
        job->waits_for = c->has_chains && j > 0 && naive_roll(d, 2) == 0 ? 1 + (int)naive_roll(d, j) : 0;
    }
    c->has_bounds = c->has_bounds && c->placement != N_YARN && naive_roll(d, 2) == 0;
    if (c->has_bounds) { /* so many for each GPU, of nodes and of jobs */
        uint32_t cores = (uint32_t)naive_roll(d, 4), gib = (uint32_t)naive_roll(d, 4);
        for (uint32_t i = 0; i < c->n_nodes; i++) {
            c->cpu_milli[i] = cores * 1000 * c->gpus[i];
            c->mem_kib[i] = (uint64_t)gib * c->gpus[i] << 20;
        }
        for (uint32_t j = 0; j < c->n_jobs; j++) {
            uint64_t most = naive_roll(d, 2) == 0 ? 2 : 5;
            c->jobs[j].cpu_milli = (uint32_t)naive_roll(d, most) * 1000 * c->jobs[j].gpus;
            c->jobs[j].mem_kib = naive_roll(d, most) * c->jobs[j].gpus << 20;
        }
    }
    c->has_types = c->has_types && c->placement != N_YARN && c->placement != N_WEIGHTED && naive_roll(d, 2) == 0;
    for (uint32_t i = 0; i < c->n_nodes && c->has_types; i++)
        c->type[i] = (uint32_t)naive_roll(d, 3);
    for (uint32_t j = 0; j < c->n_jobs && c->has_types; j++)
        c->jobs[j].type = naive_roll(d, 2) == 0 ? 0 : 1 + (uint32_t)naive_roll(d, naive_roll(d, 8) == 0 ? 3 : 2);
    c->admission = c->may_admit && naive_roll(d, 2) == 0;
    if (c->rules != NULL && c->rules->roll != NULL)
        c->rules->roll(c, d);
}

/* totals.c - integrals over simulated time, kept from instant to instant. */
#include "engine/sim.h"

#include <math.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t totals_vc_capacity_gpus(const struct sim *sim, uint32_t vc)
{
    const struct vc *v = cluster_vc(sim->cluster, vc);
    uint64_t may = larger(v->quota_gpus, v->used_gpus), all = cluster_partition(sim->cluster, v->partition)->gpus;
    return may < all ? may : all;
}

uint64_t totals_capacity_gpus(const struct sim *sim)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < cluster_n_partitions(sim->cluster); p++) {
        uint64_t may = 0, all = cluster_partition(sim->cluster, p)->gpus;
        for (uint32_t i = sim->partition_first[p]; i < sim->partition_first[p + 1]; i++)
            may += totals_vc_capacity_gpus(sim, sim->partition_instances[i]);
        sum += may < all ? may : all;
    }
    return sum;
}

/* Free GPUs of a partition count as useless while some queue over it has a head that found no place. */
void totals_update(struct sim *sim)
{
    struct totals_state *t = &sim->state;
    const struct cluster *c = sim->cluster;
    t->free_gpus = t->useless_gpus = 0;
    t->capacity_gpus = totals_capacity_gpus(sim);
    for (uint32_t p = 0; p < cluster_n_partitions(c); p++) {
        uint32_t first = sim->partition_first[p], end = sim->partition_first[p + 1];
        bool is_blocked = false;
        if (first == end)
            continue; /* nobody's nodes */
        for (uint32_t i = first; i < end; i++) {
            uint32_t vc = sim->partition_instances[i];
            const struct sched *s = &sim->instances[sim->ops->scope == SCOPE_CLUSTER ? 0 : vc];
            is_blocked |= s->is_blocked && s->queued_jobs > 0;
        }
        const struct partition *part = cluster_partition(c, p);
        t->free_gpus += part->free_gpus;
        t->useless_gpus += is_blocked ? part->free_gpus : 0;
    }
    uint64_t sum, squares;
    cluster_load(c, &sum, &squares);
    t->allocated_gpus = sum;
    t->is_idle = sum == 0;
    if (sum > 0) {
        double n = (double)cluster_n_nodes(c), s = (double)sum;
        t->imbalance_now = sqrt(fmax(0.0, n * (double)squares - s * s)) / s;
    }
}

void totals_work(struct sim *sim, uint32_t job, double work)
{
    const struct workload *w = sim->w;
    if (w->stage_ns[0] == NULL || w->iteration_ns == NULL || w->iteration_ns[job] <= 0)
        return;
    double iterations = work / (double)w->iteration_ns[job];
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        sim->totals.resource_gpu_ns[k] += iterations * (double)w->stage_ns[k][job] * sim_gpus(sim, job);
}

void totals_begin(struct sim *sim)
{
    sim->state = (struct totals_state){0};
    sim->state.at_ns = sim->w->n_jobs > 0 ? sim->w->submit_ns[0] : 0;
    sim->totals.first_submit_ns = sim->state.at_ns;
    sim->totals.last_submit_ns = sim->w->n_jobs > 0 ? sim->w->submit_ns[sim->w->n_jobs - 1] : 0;
    sim->totals.last_end_ns = -1;
    sim->totals.used_until_ns = sim->state.at_ns;
    totals_update(sim);
}

/* GPUs are used up to the moment that everything is integrated up to. */
static void totals_used(struct sim *sim)
{
    sim->totals.used_until_ns = sim->state.at_ns;
    sim->totals.allocated_gpu_ns_makespan = (double)sim->state.allocated;
    sim->totals.capacity_gpu_ns_makespan = (double)sim->state.capacity;
}

void totals_advance(struct sim *sim, int64_t to_ns)
{
    struct totals_state *t = &sim->state;
    if (to_ns <= t->at_ns)
        return;
    uint64_t dt = (uint64_t)(to_ns - t->at_ns);
    t->at_ns = to_ns;
    t->allocated += (unsigned __int128)t->allocated_gpus * dt;
    t->capacity += (unsigned __int128)t->capacity_gpus * dt;
    t->free += (unsigned __int128)t->free_gpus * dt;
    t->useless += (unsigned __int128)t->useless_gpus * dt;
    if (!t->is_idle) {
        totals_used(sim);
        t->imbalance += t->imbalance_now * (double)dt;
        t->imbalance_span += (double)dt;
    }
}

void totals_window(struct sim *sim)
{
    sim->totals.allocated_gpu_ns_window = (double)sim->state.allocated;
    sim->totals.capacity_gpu_ns_window = (double)sim->state.capacity;
    sim->state.has_window = true;
}

void totals_makespan(struct sim *sim)
{
    sim->totals.last_end_ns = sim->now_ns;
    totals_used(sim);
}

void totals_end(struct sim *sim)
{
    if (!sim->state.has_window) /* stopped before the last submission */
        totals_window(sim);
    sim->totals.free_gpu_ns = (double)sim->state.free;
    sim->totals.useless_gpu_ns = (double)sim->state.useless;
    sim->totals.imbalance_ns = sim->state.imbalance;
    sim->totals.imbalance_span_ns = sim->state.imbalance_span;
    sim->totals.stop_ns = sim->now_ns;
}

/* bench_placement - what placing one job costs as the number of nodes grows, for every module: a cluster of nodes with 8 GPUs in racks
 * of 16 is kept 85 % full with jobs of 1 to 16 GPUs; a random job ends, others start. Prints CPU ns a placed job: choosing,
 * allocating and, once, freeing. The line `cluster` is a 1-GPU job that is allocated and freed without choosing.
 */
#include "base/arena.h"
#include "cluster/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GPUS = 8, NODES_PER_RACK = 16, JOBS = 200000, FULL_PERCENT = 85, PLACES = 16 };

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct live {
    uint32_t handle, size;
};

struct bench {
    struct arena arena;
    struct cluster *c;
    const struct placement_ops *ops;
    void *self;
    gsl_rng *rng;
    struct live *live;
    uint32_t n_live, held;
    uint64_t draw; /* xorshift: cheap beside what is measured */
};

static uint32_t next_draw(struct bench *b, uint32_t n)
{
    b->draw ^= b->draw << 13, b->draw ^= b->draw >> 7, b->draw ^= b->draw << 17;
    return (uint32_t)((b->draw >> 32) * n >> 32);
}

static int bench_open(struct bench *b, const struct placement_ops *ops, uint32_t nodes)
{
    struct error err;
    struct node_group_spec group = {.count = nodes, .gpus = GPUS, .gpu = ""};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .nodes_per_rack = NODES_PER_RACK};
    *b = (struct bench){.ops = ops, .draw = 88172645463325252u};
    arena_init(&b->arena);
    b->rng = gsl_rng_alloc(gsl_rng_taus2);
    b->c = cluster_create(&spec, 0, &b->arena, &err);
    b->live = ARENA_NEW(&b->arena, struct live, (size_t)nodes * GPUS + 1);
    if (b->rng == NULL || b->c == NULL || b->live == NULL)
        return 1;
    union param params[8];
    memset(params, 0, sizeof params);
    for (size_t i = 0; i < ops->n_params; i++)
        if (ops->params[i].type == PARAM_INT)
            params[i].i = atoi(ops->params[i].def);
    b->self = arena_alloc(&b->arena, 1, ops->state_size);
    return b->self == NULL || (ops->init != NULL && ops->init(b->self, b->c, params, &b->arena, &err) != 0);
}

static void bench_close(struct bench *b)
{
    gsl_rng_free(b->rng);
    arena_fini(&b->arena);
}

static struct demand demand_of(uint32_t gpus)
{
    return (struct demand){.gpus = gpus, .gpu_type = NAMES_NONE};
}

static bool start_one(struct bench *b)
{
    static const uint32_t SIZES[] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16};
    struct place places[PLACES];
    const struct demand d = demand_of(SIZES[next_draw(b, 16)]);
    uint32_t n = b->ops->pick(b->self, b->c, 0, &d, b->rng, places, PLACES);
    if (n == 0)
        return false;
    b->live[b->n_live++] = (struct live){cluster_alloc(b->c, 0, 0, &d, places, n), d.gpus};
    b->held += d.gpus;
    return true;
}

static double ns_per_job(struct bench *b)
{
    uint32_t full = (uint32_t)((uint64_t)cluster_n_gpus(b->c) * FULL_PERCENT / 100), placed = 0;
    while (b->held < full && start_one(b))
        ;
    double from = cpu_s();
    while (placed < JOBS) {
        uint32_t i = next_draw(b, b->n_live);
        const struct demand d = demand_of(b->live[i].size);
        const struct live last = b->live[--b->n_live];
        cluster_free(b->c, 0, 0, &d, b->live[i].handle);
        cluster_forget(b->c, b->live[i].handle);
        b->held -= d.gpus;
        b->live[i] = last;
        while (b->held < full && start_one(b))
            placed++;
    }
    return (cpu_s() - from) * 1e9 / placed;
}

static double ns_alloc_free(struct bench *b)
{
    uint32_t nodes = cluster_n_nodes(b->c);
    const struct demand one = demand_of(1);
    double from = cpu_s();
    for (uint32_t i = 0; i < 10 * JOBS; i++) {
        const struct place p = {next_draw(b, nodes), 1};
        uint32_t handle = cluster_alloc(b->c, 0, 0, &one, &p, 1);
        cluster_free(b->c, 0, 0, &one, handle);
        cluster_forget(b->c, handle);
    }
    return (cpu_s() - from) * 1e9 / (10 * JOBS);
}

int main(void)
{
    static const uint32_t NODES[] = {64, 4096, 65536};
    for (size_t n = 0; n < sizeof NODES / sizeof *NODES; n++) {
        struct bench b;
        if (bench_open(&b, placement_find("count"), NODES[n]) != 0)
            return 1;
        printf("cluster alloc_free nodes %u ns_per_job %.1f\n", NODES[n], ns_alloc_free(&b));
        bench_close(&b);
    }
    for (size_t i = 0; placement_list()[i] != NULL; i++)
        for (size_t n = 0; n < sizeof NODES / sizeof *NODES; n++) {
            struct bench b;
            if (bench_open(&b, placement_list()[i], NODES[n]) != 0)
                return 1;
            printf("placement %s nodes %u ns_per_job %.1f\n", placement_list()[i]->name, NODES[n], ns_per_job(&b));
            fflush(stdout);
            bench_close(&b);
        }
    return 0;
}

/* world.h - a cluster with jobs on it, for the tests of the cluster room. */
#ifndef TESTS_CLUSTER_WORLD_H
#define TESTS_CLUSTER_WORLD_H

#include "base/arena.h"
#include "cluster/cluster_state.h"
#include "cluster/placement.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE_MAX = 4096, PLACES_MAX = 4096 };

struct live {
    uint32_t handle, vc, job;
    struct demand d;
};

struct world {
    struct arena arena;
    struct cluster *c;
    gsl_rng *rng;
    struct live live[LIVE_MAX];
    uint32_t n_live, next_job;
};

static inline uint32_t draw(struct world *w, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(w->rng, n);
}

static inline void world_init(struct world *w, const struct cluster_spec *spec, unsigned long seed)
{
    struct error err;
    memset(w, 0, sizeof *w);
    arena_init(&w->arena);
    w->rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(w->rng, seed);
    w->c = cluster_create(spec, 0, &w->arena, &err);
    cr_assert_not_null(w->c, "cluster_create: %s", err.message);
}

static inline void world_fini(struct world *w)
{
    gsl_rng_free(w->rng);
    arena_fini(&w->arena);
}

static inline void world_check(const struct world *w)
{
    struct error err;
    cr_assert(cluster_check(w->c, NAMES_NONE, &err), "%s", err.message);
}

static inline uint32_t visible_gpus(const struct world *w, uint32_t node)
{
    const struct node *n = cluster_node(w->c, node);
    return n->free_gpus - n->reserved_gpus;
}

static inline uint32_t world_start(struct world *w, uint32_t vc, const struct demand *d, const struct place *places,
                                   uint32_t n)
{
    cr_assert_lt(w->n_live, LIVE_MAX);
    struct live *l = &w->live[w->n_live++];
    *l = (struct live){.vc = vc, .job = w->next_job++, .d = *d};
    l->handle = cluster_alloc(w->c, vc, l->job, d, places, n);
    cr_assert_neq(l->handle, ALLOC_NONE);
    return w->n_live - 1;
}

static inline void world_stop(struct world *w, uint32_t i)
{
    struct live l = w->live[i];
    cluster_free(w->c, l.vc, l.job, &l.d, l.handle);
    cluster_forget(w->c, l.handle);
    w->live[i] = w->live[--w->n_live];
}

/* Hold `gpus` GPUs of one node with a job that asks nothing else. */
static inline void world_hold(struct world *w, uint32_t node, uint32_t gpus)
{
    const struct demand d = {.gpus = gpus, .gpu_type = NAMES_NONE};
    if (gpus > 0)
        world_start(w, 0, &d, &(struct place){node, gpus}, 1);
}

/* A cluster of nodes of one kind, nothing but GPUs limited, with `held[i]` GPUs of node i taken. */
static inline void world_plain(struct world *w, uint32_t nodes, uint32_t gpus, uint32_t nodes_per_rack,
                               const uint32_t *held)
{
    struct node_group_spec group = {.count = nodes, .gpus = gpus, .gpu = ""};
    struct cluster_spec spec = {.groups = &group, .n_groups = 1, .nodes_per_rack = nodes_per_rack};
    world_init(w, &spec, 1);
    for (uint32_t i = 0; held != NULL && i < nodes; i++)
        world_hold(w, i, held[i]);
}

#endif

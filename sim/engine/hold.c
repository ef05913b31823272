#include "engine/hold.h"

#include "base/check.h"
#include "engine/sim.h"

#include <string.h>

static struct hold *hold_at(const struct sim *sim, uint32_t handle)
{
    return &sim->holds[handle];
}

const struct hold *hold_of(const struct sim *sim, uint32_t handle)
{
    return hold_at(sim, handle);
}

static bool holds_grow(struct sim *sim, uint32_t handle)
{
    if (handle < sim->holds_room)
        return true;
    uint32_t room = (handle + 1) * 2 + 64;
    struct hold *grown = ARENA_NEW(&sim->arena, struct hold, room);
    if (grown == NULL)
        return false;
    if (sim->holds_room > 0)
        memcpy(grown, sim->holds, sim->holds_room * sizeof *grown);
    sim->holds = grown;
    sim->holds_room = room;
    return true;
}

bool hold_open(struct sim *sim, uint32_t handle, uint32_t job)
{
    if (!holds_grow(sim, handle))
        return false;
    struct hold *h = hold_at(sim, handle);
    require(h->n_members == 0 && h->keepers == 0, "handle %u is opened twice", handle);
    *h = (struct hold){.opened_by = job, .members = {job}, .n_members = 1, .group = HOLD_ALONE, .is_dirty = h->is_dirty};
    return true;
}

/* Rates are settled at the end of the round: a list of what changed. A hold is in it at most once. */
void hold_touch(struct sim *sim, uint32_t handle)
{
    struct hold *h = hold_at(sim, handle);
    if (h->is_dirty)
        return;
    if (sim->n_dirty == sim->dirty_room) {
        uint32_t room = sim->dirty_room * 2 + 64;
        uint32_t *grown = ARENA_NEW(&sim->arena, uint32_t, room);
        if (grown == NULL) {
            sim_fail(sim, BRAID_FAILED, "out of memory");
            return;
        }
        if (sim->n_dirty > 0)
            memcpy(grown, sim->dirty, sim->n_dirty * sizeof *grown);
        sim->dirty = grown;
        sim->dirty_room = room;
    }
    h->is_dirty = true;
    sim->dirty[sim->n_dirty++] = handle;
}

void hold_join(struct sim *sim, uint32_t handle, uint32_t job)
{
    struct hold *h = hold_at(sim, handle);
    require(h->n_members > 0 && h->n_members < HOLD_MEMBERS, "a group of %u cannot be joined", h->n_members);
    h->members[h->n_members++] = job;
    if (h->group == HOLD_ALONE)
        h->group = sim->n_groups++;
    hold_touch(sim, handle);
}

static void hold_forget(struct sim *sim, uint32_t handle)
{
    const struct hold *h = hold_at(sim, handle);
    if (h->n_members == 0 && h->keepers == 0)
        cluster_forget(sim->cluster, handle);
}

void hold_leave(struct sim *sim, uint32_t handle, uint32_t job)
{
    struct hold *h = hold_at(sim, handle);
    uint32_t i = 0;
    while (i < h->n_members && h->members[i] != job)
        i++;
    require(i < h->n_members, "job %u leaves GPUs that it does not hold", job);
    memmove(&h->members[i], &h->members[i + 1], (h->n_members - i - 1) * sizeof *h->members);
    if (--h->n_members > 0) {
        hold_touch(sim, handle);
        return;
    }
    uint32_t by = h->opened_by;
    cluster_free(sim->cluster, sim_vc(sim, by), by, &sim->demands[sim->jobs[by].demand], handle);
    hold_forget(sim, handle);
}

void hold_keep(struct sim *sim, uint32_t handle)
{
    hold_at(sim, handle)->keepers++;
}

void hold_drop(struct sim *sim, uint32_t handle)
{
    struct hold *h = hold_at(sim, handle);
    require(h->keepers > 0, "handle %u is dropped once too often", handle);
    h->keepers--;
    hold_forget(sim, handle);
}

void hold_settle(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->n_dirty; i++) {
        struct hold *h = hold_at(sim, sim->dirty[i]);
        double rates[HOLD_MEMBERS];
        h->is_dirty = false;
        if (h->n_members == 1)
            rates[0] = 1.0;
        else if (h->n_members > 1)
            sim->spec->sharing->rates(sim->spec->sharing->self, h->members, h->n_members, rates);
        for (uint32_t k = 0; k < h->n_members; k++)
            job_set_rate(sim, h->members[k], rates[k]);
    }
    sim->n_dirty = 0;
}

/* hold.h - the GPUs that one job has to itself, or a group of jobs has together.
 *
 *     handle of the cluster ──▶ struct hold ──▶ members: one job, or up to HOLD_MEMBERS that share these very GPUs
 *
 * The cluster knows an allocation under the name of the job that opened it; jobs that join take no more of it. When the last member
 * has left, the GPUs are free; the handle itself stays readable while somebody (a staged record) still keeps it. A hold whose members
 * changed is `dirty`: once the round is settled its members get new rates (hold_settle).
 */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include "engine/job.h"

#include <stdbool.h>
#include <stdint.h>

struct sim;

enum { HOLD_MEMBERS = 8 };

struct hold {
    uint32_t opened_by; /* the job under whose name the cluster holds the GPUs */
    uint32_t members[HOLD_MEMBERS];
    uint32_t n_members;
    uint32_t keepers; /* staged records that still read the handle */
    uint32_t group;   /* number of the group, from 0; HOLD_ALONE while one job has had it to itself */
    bool is_dirty;
};

#define HOLD_ALONE UINT32_MAX

/* Book a new allocation `handle` of `job`; false when memory is out. */
bool hold_open(struct sim *sim, uint32_t handle, uint32_t job);

/* `job` joins the members / leaves them; the last to leave frees the GPUs. */
void hold_join(struct sim *sim, uint32_t handle, uint32_t job);
void hold_leave(struct sim *sim, uint32_t handle, uint32_t job);

/* The members of `handle` want new rates: it was opened anew on GPUs that a job kept while its company changed. */
void hold_touch(struct sim *sim, uint32_t handle);

/* Keep a handle readable after its last member left; drop it. */
void hold_keep(struct sim *sim, uint32_t handle);
void hold_drop(struct sim *sim, uint32_t handle);

const struct hold *hold_of(const struct sim *sim, uint32_t handle);

/* Give the members of every dirty hold their rates: alone 1, together what the run's sharing model says. */
void hold_settle(struct sim *sim);

#endif

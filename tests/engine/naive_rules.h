/* naive_rules.h - named policies that are no plain composition, by rules of their own: each the reference of one policy, in
 *
 *   naive_levels.c   tiresias, mlfq: queues that jobs move between
 *   naive_turns.c    weighted_round_robin, time_window, recorded
 *   naive_gittins.c  gittins, gittins_past
 *   naive_points.c   dynamic_priority
 *   naive_conservative.c
 *   naive_named.c    compositions that have a name
 *
 * Parameters that a case is rolled with are in naive_case.own, numbered by the file that rolls them.
 */
#ifndef TESTS_ENGINE_NAIVE_RULES_H
#define TESTS_ENGINE_NAIVE_RULES_H

#include "tests/engine/naive_match.h"
#include "tests/engine/naive_world.h"
#include "tests/harness.h"

extern const struct naive_rules naive_tiresias, naive_mlfq, naive_users_in_turn, naive_jobs_in_turn, naive_time_window,
    naive_recorded, naive_gittins, naive_gittins_past, naive_dynamic_priority, naive_conservative;

/* naive_named.c: compositions that have a name. edf and least_laxity know what `admission: feasible` needs. */
enum { NAIVE_N_NAMED = 20 };
struct naive_rules naive_named(uint32_t i);

/* A parameter of the engine's policy, as text. */
void naive_param_s(struct test_case *t, const char *name, double seconds);
void naive_param_number(struct test_case *t, const char *name, double value);
/* "[a, b]", those that are above 0. */
void naive_param_list(struct test_case *t, const char *name, const double *values, uint32_t n);
/* Weights of the users that the case has. */
void naive_param_weights(const struct naive_case *c, struct test_case *t, const double weights[NAIVE_USERS]);

#endif

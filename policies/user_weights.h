/* user_weights.h - a number for each user, from a parameter such as `weights: "ann=3, bob=0.5, *=1"`. */
#ifndef POLICIES_USER_WEIGHTS_H
#define POLICIES_USER_WEIGHTS_H

#include <braid/policy.h>

/* What parameters of this kind say in their help. */
#define USER_WEIGHTS_HELP "weights of users, as \"ann=3, bob=0.5, *=1\"; *: all others, 1 where it is not given"

/* `*out` becomes a table by user (sched_n_users), memory of the run. Weights are above 0, up to 10^6. BRAID_BAD_INPUT: malformed, a user twice, or one
 * that the trace does not have; BRAID_FAILED: memory is out. */
int user_weights_load(double **out, struct sched *s, const char *text, struct error *err);

#endif

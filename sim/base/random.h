/* random.h - named streams of random numbers (GSL's taus2 generator).
 *
 * A stream is fixed by (seed, purpose, key): a policy's draws never shift the workload's, and one virtual
 * cluster's never shift another's. The caller owns the generator: gsl_rng_free().
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* A generator for `purpose` ("arrivals", "policy", "placement", …) and `key` (a virtual cluster, or ""); NULL when
 * memory is out. Its seed is taken from SHA-256 over the three. */
gsl_rng *random_stream(uint64_t seed, const char *purpose, const char *key);

#endif

#include "base/random.h"

#include "base/digest.h"

#include <string.h>

gsl_rng *random_stream(uint64_t seed, const char *purpose, const char *key)
{
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    digest_init(&d);
    digest_add_u64(&d, seed);
    digest_add_text(&d, purpose, strlen(purpose));
    digest_add_text(&d, key, strlen(key));
    digest_final(&d, bytes);
    unsigned long start = 0;
    for (int i = 0; i < 4; i++) /* taus2 takes 32 bits of seed */
        start = start << 8 | bytes[i];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    if (rng != NULL)
        gsl_rng_set(rng, start);
    return rng;
}

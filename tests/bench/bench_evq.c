/* bench_evq - the hold model on the pending-event set: with n events pending, take the first and put it back later by an
 * exponential time. Prints ns a hold (one pop and one set), CPU time.
 */
#include "engine/evq.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
    static const uint32_t sizes[] = {100, 1000, 10000, 100000, 1000000};
    enum { DRAWS = 1 << 16, HOLDS = 4000000 };
    static int64_t draw[DRAWS];
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < DRAWS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        draw[i] = (int64_t)(-log((double)(x >> 11) * 0x1p-53 + 0x1p-54) * 1e12) + 1;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct arena arena;
        struct evq q;
        arena_init(&arena);
        if (!evq_init(&q, sizes[s], &arena))
            return 1;
        for (uint32_t i = 0; i < sizes[s]; i++)
            evq_set(&q, i, draw[i % DRAWS], i & 3);
        double best = 1e9;
        for (int trial = 0; trial < 3; trial++) {
            double from = cpu_s();
            for (int i = 0; i < HOLDS; i++) {
                struct event e = evq_pop(&q);
                evq_set(&q, e.handle, e.time_ns + draw[i % DRAWS], e.class);
            }
            double ns = (cpu_s() - from) * 1e9 / HOLDS;
            best = ns < best ? ns : best;
        }
        printf("evq hold pending %u ns_per_hold %.1f\n", sizes[s], best);
        arena_fini(&arena);
    }
    return 0;
}

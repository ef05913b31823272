#include "policies/partial_auction.h"

#include <math.h>

static const double ROUNDING = 1e-12; /* … which must not end a lease a nanosecond before all others */

size_t partial_auction_room(uint32_t n, uint32_t gpus)
{
    return 2 * ((size_t)n + 1) * ((size_t)gpus + 1);
}

/* row[c]: the greatest sum of log gains of the bids so far within c GPUs. */
static void row_add(double *row, const double *before, const struct auction_bid *b, uint32_t gpus)
{
    for (uint32_t c = 0; c <= gpus; c++) {
        double with = c >= b->gpus ? before[c - b->gpus] + b->log_gain : -1;
        row[c] = with > before[c] ? with : before[c];
    }
}

void partial_auction_solve(struct auction_bid *bids, uint32_t n, uint32_t gpus, double *memory)
{
    size_t width = (size_t)gpus + 1;
    double *up_to = memory, *from = memory + (n + (size_t)1) * width; /* bids before i; bids from i on */
    for (uint32_t c = 0; c <= gpus; c++)
        up_to[c] = from[n * width + c] = 0;
    for (uint32_t i = 0; i < n; i++)
        row_add(&up_to[(i + 1) * width], &up_to[i * width], &bids[i], gpus);
    for (uint32_t i = n; i-- > 0;)
        row_add(&from[i * width], &from[(i + 1) * width], &bids[i], gpus);
    double all = up_to[n * width + gpus];
    for (uint32_t i = n, left = gpus; i-- > 0;) {
        bids[i].wins = up_to[(i + 1) * width + left] > up_to[i * width + left];
        left -= bids[i].wins ? bids[i].gpus : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        bids[i].keeps = 0;
        if (!bids[i].wins)
            continue;
        double without = 0;
        for (uint32_t c = 0; c <= gpus; c++) {
            double sum = up_to[i * width + c] + from[(i + 1) * width + gpus - c];
            without = sum > without ? sum : without;
        }
        double lost = all - bids[i].log_gain - without; /* <= 0 but for rounding, … */
        bids[i].keeps = lost < -ROUNDING ? exp(lost) : 1;
    }
}

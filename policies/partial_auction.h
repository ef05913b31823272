/* partial_auction.h - the partial allocation auction of Themis (Mahajan et al., NSDI'20, section 5; Cole, Gkatzelis and Goel, EC'13).
 *
 * A bidder wants `gpus` or nothing and is `gain` times better off with them. The winners are those who make the product of all gains greatest.
 * Each has its win for the part `keeps` of the time: the product of the others' gains as it is, by what it would be without this bidder.
 * So nobody gains by overstating, and nobody keeps less than 1 / gain.
 */
#ifndef POLICIES_PARTIAL_AUCTION_H
#define POLICIES_PARTIAL_AUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct auction_bid {
    uint32_t gpus;   /* > 0 */
    double log_gain; /* >= 0 */
    bool wins;       /* out … */
    double keeps;    /* … 0 < keeps <= 1; of losers 0 */
};

/* Doubles of working memory that an auction of `n` bids over `gpus` needs. */
size_t partial_auction_room(uint32_t n, uint32_t gpus);

/* Hold the auction: exact, by dynamic programming over GPUs, O(n * gpus) and as much for the winners' parts. Of equal products the one
 * without the last bid is taken, and so on. A part that is whole but for rounding is 1. */
void partial_auction_solve(struct auction_bid *bids, uint32_t n, uint32_t gpus, double *memory);

#endif

/* grouping_rounds.h - groups by rounds of pairs, as muri_s and muri_l make them by default, for a problem of counts (policies/grouping.h). */
#ifndef TESTS_GROUPING_ROUNDS_H
#define TESTS_GROUPING_ROUNDS_H

#include "policies/grouping.h"

/* Fill copies[n_sets]: heaviest matchings of the groups there are, until no more GPUs are needed than there are or nothing can be merged; the pairs
 * that need not be merged any more stay apart. False: memory is out. */
bool grouping_rounds(const struct grouping *g, uint32_t *copies);

#endif

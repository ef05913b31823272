/* guess.h - a proposal of which column of an unknown table is what, from the names of its columns and its first rows. */
#ifndef TRACES_GUESS_H
#define TRACES_GUESS_H

#include "traces/mapping.h"
#include "traces/table.h"

enum { GUESS_NOTES = 24, GUESS_TEXT = 200 };

struct guess {
    struct trace_mapping mapping; /* its texts are those of the peek, or literals */
    char why[MAPPING_TARGETS][GUESS_TEXT];
    char missing[GUESS_NOTES][GUESS_TEXT]; /* what a trace needs and the table seems not to have */
    uint32_t n_missing;
    char unsure[GUESS_NOTES][GUESS_TEXT]; /* what could be one thing or the other */
    uint32_t n_unsure;
};

/* `peek` must outlive `out`. */
void guess_columns(struct guess *out, const struct table_peek *peek);

#endif

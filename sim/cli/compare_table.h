/* compare_table.h - what `braid compare` prints: the tables of a comparison, their headings and remarks. */
#ifndef CLI_COMPARE_TABLE_H
#define CLI_COMPARE_TABLE_H

#include "output/report_compare.h"
#include "output/table.h"

struct compare_print {
    enum table_format format;
    const char *const *counts; /* which counts stand in the tables: "runs", "jobs", … "pairs"; "all" */
    uint32_t n_counts;         /* 0: the usual ones, none in LaTeX */
};

/* Is it a word for `counts`: "all", "none" or the name of a count? */
bool compare_is_count(const char *word);

/* To stdout; false when memory ran out. */
bool compare_print_tables(const struct compare *c, const struct compare_print *p);

#endif

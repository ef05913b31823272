/* report_diff.h - where two runs part: job by job, and the first moment.
 *
 * Jobs are paired by (id, occurrence): the second "x" of one run with the second "x" of the other. Compared are the columns
 * of /jobs that the schedule decides, and where both runs kept /segments (and /allocs), the stretches in which each job held
 * GPUs (and which ones), so that a preemption that both runs make up for is seen too.
 */
#ifndef OUTPUT_REPORT_DIFF_H
#define OUTPUT_REPORT_DIFF_H

#include "output/report_file.h"

enum { DIFF_LARGEST = 5, DIFF_COLUMNS = 10 };
extern const char *const diff_column_names[DIFF_COLUMNS]; /* "status" first; the rest are numbers */

struct diff_column {
    uint64_t n;     /* jobs in which it differs */
    double largest; /* absolute difference; NaN when one side has none in every such job, 0 for status */
    char job[64];   /* where that is */
    double sum[2];  /* over the jobs that finished in both */
};

/* A job in which something differs. Values are NaN where there is none. */
struct diff_job {
    char id[64];
    uint64_t occurrence; /* from 1, 0: the id is the only one of its kind */
    uint32_t gpus;
    double submit_s, start_s[2], end_s[2];
    const char *status[2];
};

/* How the schedules part: the earliest thing that one run did and the other did not. */
struct diff_parting {
    bool is_there;
    double at_s;
    uint64_t rank[2];
    struct diff_job job;
    char did[2][160]; /* "starts it on node 0: GPUs 0-3", "leaves it queued until 35 s" */
    char why[2][160]; /* from /events, "" where there are none */
};

struct diff {
    uint64_t n_jobs[2], n_paired, n_different, n_only[2];
    uint64_t n_finished; /* in both */
    struct diff_column columns[DIFF_COLUMNS];
    bool has_segments;          /* both runs kept them */
    uint64_t n_other_stretches; /* jobs with equal /jobs columns that held GPUs at other times */
    uint64_t n_other_gpus;      /* jobs that held other GPUs at the same times */
    uint32_t n_largest;
    struct diff_job largest[DIFF_LARGEST]; /* by |difference of end|, then of start, then rank */
    struct diff_parting parting;
    struct arena arena;
};

/* Compare run `ra` of `fa` with run `rb` of `fb`; both need rows in /jobs (BRAID_BAD_INPUT otherwise). Jobs in the same order are read by
 * blocks; otherwise both tables are held in memory. */
int diff_runs(struct diff *out, const struct report_file *fa, const struct report_run *ra, const struct report_file *fb,
              const struct report_run *rb, struct error *err);
void diff_fini(struct diff *d);

bool diff_is_equal(const struct diff *d);

/* Mean of a column over the jobs that finished in both runs; NaN for `status` and the moments `start` and `end`, and where there are none. */
double diff_mean(const struct diff *d, int column, int side);

/* The partner of a run in another file: the one of equal id, else the only one of equal label and swept values, else, when both files hold
 * one run alone, that one; NULL: none. */
const struct report_run *diff_partner(const struct report_file *f, const struct report_run *run,
                                      const struct report_file *other);

#endif

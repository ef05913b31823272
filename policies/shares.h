/* shares.h - who is entitled to what: a tree of shares from a csv file.
 *
 *     name,parent,weight,guarantee          columns by name, in any order; only `name` is needed
 *     lab,,2,16                             parent empty: stands below the root
 *     vision,lab,1,                         weight empty: 1; guarantee empty: none given
 *     alice,vision,3,
 *
 * A row is a user, a virtual cluster, or a group of such under any name; which of them jobs are booked on is the policy's choice. The
 * same name may stand under several parents, but then it cannot be a parent itself. Who has a row and no job in the trace is silent (a window or
 * `trace.jobs` may have cut its jobs away); a row that is nearly the name of somebody who has none is a slip of the pen (shares_check).
 */
#ifndef POLICIES_SHARES_H
#define POLICIES_SHARES_H

#include <braid/policy.h>

enum { SHARES_DEPTH = 16 }; /* levels below the root, at most */

#define SHARES_ROOT UINT32_MAX /* no row: the root, as a parent; nobody, as an answer */

struct share_row {
    const char *name;
    uint32_t parent;   /* a row, or SHARES_ROOT */
    double weight;     /* 1e-6 .. 1e6 */
    int64_t guarantee; /* GPUs, 0 .. 2^31 - 1; -1: not given */
    bool is_parent;
    int line;
};

struct shares {
    const char *path; /* "": no file, no rows */
    struct share_row *rows;
    uint32_t n;
    uint32_t *by_name; /* rows by name, then by parent */
};

/* Whom rows can name. */
enum shares_of {
    SHARES_OF_USERS,
    SHARES_OF_VCS,
    SHARES_OF_BOTH, /* virtual clusters, and users below them */
};

/* Read `path` ("": none); memory from the run. BRAID_BAD_INPUT with file and line: a column that is missing or unknown, a row with more fields than
 * the header, a number out of range, a parent that is not there or ambiguous, a row given twice, rows in a circle or deeper than SHARES_DEPTH. O(rows log rows). */
int shares_load(struct shares *t, struct sched *s, const char *path, struct error *err);

/* BRAID_BAD_INPUT with file and line: a row names nobody of the trace, but differs by one letter, or two that changed places, from somebody who has no
 * row; or no row names anybody. Groups count only under SHARES_OF_BOTH, where they may be virtual clusters. O(rows + names), and
 * rows that name nobody times all names. */
int shares_check(const struct shares *t, const struct sched *s, enum shares_of of, struct error *err);

/* The first row of that name that lies below row `ancestor` and is no parent, or SHARES_ROOT. */
uint32_t shares_find_below(const struct shares *t, const char *name, uint32_t ancestor);

/* The one row of that name wherever it stands, SHARES_ROOT: none. BRAID_BAD_INPUT with file and line: there are several, or it has rows below it
 * although jobs are booked on it (`has_jobs`). */
int shares_find(const struct shares *t, const char *name, bool has_jobs, uint32_t *row, struct error *err);

#endif

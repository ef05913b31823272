/* naive_shares.h - the reference simulator's own rules for policies that share GPUs out among users or by markets
 *
 *   naive_fair.c     fair_share, max_min, drf, quota, hierarchical
 *   naive_themis.c   themis, themis_auction
 *   naive_market.c   accounts, auction
 *   naive_price.c    proportional_price, GPUs alone being limited
 *   naive_antman.c   antman without a sharing model
 *
 * Parameters of its own stand behind the rules in a struct, which the hooks get back from `rules`. Amounts of money, usage and time due are
 * doubles that are summed step by step, the policies keep them in closed form: where two values are so near each other that
 * rounding may decide, a case is counted as close when it differs, and not as wrong.
 */
#ifndef TESTS_ENGINE_NAIVE_SHARES_H
#define TESTS_ENGINE_NAIVE_SHARES_H

#include "tests/engine/naive_world.h"

/* ---- naive_close.c: values so near each other that rounding may decide --------------------------------------- */

/* Is a < b? Values within 1e-9 of each other are remembered, but for equal ones if these are `is_exact`. */
bool naive_less(double a, double b, bool is_exact);
void naive_close_mark(void);
void naive_close_forget(void);
/* Were there any since then? A comparison of such a case proves nothing when it fails. */
bool naive_close_was(void);

/* ---- naive_fair.c ---------------------------------------------------------------------------------------- */

enum naive_measure { N_USAGE, N_GPUS, N_DOMINANT, N_GUARANTEE };
enum naive_by { N_BY_USER, N_BY_VC, N_BY_VC_USER };

/* A row of a file of shares; guarantee -1: not given. */
struct naive_share {
    const char *name, *parent;
    double weight;
    int guarantee;
};

enum { NAIVE_SHARES = 10 };

/* Rows end with a NULL name. */
struct naive_fair {
    struct naive_rules rules;
    enum naive_measure measure;
    enum naive_by by;
    bool may_lend; /* guarantees: one may hold more than its own */
    int64_t half_life, ahead;
    struct naive_share shares[NAIVE_SHARES];
    const char *path; /* the same as a file; "" without rows */
};

/* The hooks of `rules`. */
void naive_fair_begin(struct world *w);
void naive_fair_pass(struct world *w, int64_t ns);
void naive_fair_schedule(struct world *w, int queue);

/* ---- naive_themis.c -------------------------------------------------------------------------------------- */

struct naive_themis {
    struct naive_rules rules;
    int64_t lease;
    bool is_auction, has_payments;
    double fairness;
};

void naive_themis_begin(struct world *w);
void naive_themis_pass(struct world *w, int64_t ns);
void naive_themis_schedule(struct world *w, int queue);

/* ---- naive_market.c -------------------------------------------------------------------------------------- */

struct naive_market {
    struct naive_rules rules;
    double weight[NAIVE_USERS];
    double income; /* an hour */
    int64_t save, patience;
    double importance, reserve; /* auction */
    int64_t period, ahead;      /* proportional_price … */
    double step;
    bool has_leftover, may_displace;
    const char *path;
};

void naive_market_begin(struct world *w);
void naive_market_pass(struct world *w, int64_t ns);
void naive_auction_schedule(struct world *w, int queue);

/* What they have: of a user in a queue. `rent` flows off, a second. */
double naive_income(const struct world *w, int user);
double *naive_balance(int queue, int user);
double *naive_rent(int queue, int user);

/* ---- naive_price.c --------------------------------------------------------------------------------------- */

void naive_price_begin(struct world *w);
void naive_price_schedule(struct world *w, int queue);

/* ---- naive_antman.c -------------------------------------------------------------------------------------- */

struct naive_antman {
    struct naive_rules rules;
    double limit; /* priority from which on a job is opportunistic */
};

void naive_antman_schedule(struct world *w, int queue);

#endif

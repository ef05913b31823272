/* market.h - accounts of users who pay for GPUs: money that comes in at a steady rate, is saved up to a limit, and is spent.
 *
 *     balance
 *       limit ─ ─ ─ ─ ─ ─ ─╭──────╮                income: `income` x weight an hour, nothing beyond `save` of it
 *                        ╱         ╲               a payment at once (auction) or a rate at which it flows off (rent)
 *                      ╱            ╲____          never below 0: what is not there is not paid
 *
 * A market is that of one virtual cluster, with its own prices, and so are the accounts: who has jobs in three has three incomes. (One
 * account over markets whose GPUs are not exchangeable would make the price of one of them depend on what is dear in another.)
 *
 * An account is brought up to date when it is looked at, so a user who does nothing costs nothing. Money is made by income and ends with the
 * market: granted = paid + the sum of all balances, up to rounding.
 */
#ifndef POLICIES_MARKET_H
#define POLICIES_MARKET_H

#include <braid/policy.h>

enum { MARKET_TOLD = 32 }; /* so many users' budgets are told in the series: the first of the trace in natural order */

struct account {
    double weight, balance, limit;
    double income, rent; /* a second */
    int64_t at_ns;       /* the balance is of this instant */
};

struct market {
    struct account *accounts; /* by user */
    const char **told;        /* "budget:NAME" of the first users */
    uint32_t n_users, n_told;
    double granted, paid;
};

/* An account each user, full. `path`: a file of shares (shares.h) whose weights count, "" = all have weight 1; `income`: money an hour for weight 1; `save_ns`:
 * how much income can be saved. BRAID_BAD_INPUT: the file, or a row in it that is no single user's; BRAID_FAILED: memory. */
int market_init(struct market *m, struct sched *s, const char *path, double income, int64_t save_ns, struct error *err);

/* The user's balance now. */
double market_balance(struct market *m, const struct sched *s, uint32_t user);

/* Take `amount` >= 0, at most the balance; returns what was taken. */
double market_pay(struct market *m, const struct sched *s, uint32_t user, double amount);

/* From now on money flows off at `rent` >= 0 a second, while there is any. */
void market_set_rent(struct market *m, const struct sched *s, uint32_t user, double rent);

/* Tell the series: "revenue", all that was paid; "granted", all that came in; and "budget:NAME" of up to MARKET_TOLD users. As they are now: until
 * the next call they stand still there, while the accounts themselves go on. */
void market_observe(struct market *m, struct sched *s);

#define MARKET_PARAM_SHARES                                                                                            \
    {                                                                                                                  \
        "shares", PARAM_PATH, "", 0, 0, "", NULL,                                                                      \
            "csv with columns name,weight (as for fair_share): a user of weight 2 has twice the income; who is not "   \
            "in "                                                                                                      \
            "it has weight 1"                                                                                          \
    }
#define MARKET_PARAM_INCOME                                                                                            \
    {                                                                                                                  \
        "income", PARAM_NUMBER, "1", 1e-6, 1e9, "", NULL,                                                              \
            "money that a user of weight 1 gets an hour, in each virtual cluster: these are markets of their own"      \
    }
#define MARKET_PARAM_SAVE                                                                                              \
    {                                                                                                                  \
        "save", PARAM_TIME, "24 h", 1, 1e9, "s", NULL, "the income of so long can be saved, and is there at the start" \
    }

#endif

#include "policies/market.h"

#include "policies/shares.h"

#include <braid/error.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_HOUR 3.6e12

static bool told_fill(struct market *m, struct sched *s)
{
    m->n_told = m->n_users < MARKET_TOLD ? m->n_users : MARKET_TOLD;
    m->told = sched_alloc(s, m->n_told, sizeof *m->told);
    if (m->told == NULL)
        return false;
    for (uint32_t u = 0; u < m->n_told; u++) {
        const char *name = sched_user_name(s, u);
        size_t room = strlen(name) + sizeof "budget:";
        char *text = sched_alloc(s, room, 1);
        if (text == NULL)
            return false;
        snprintf(text, room, "budget:%s", name);
        m->told[u] = text;
    }
    return true;
}

int market_init(struct market *m, struct sched *s, const char *path, double income, int64_t save_ns, struct error *err)
{
    struct shares shares = {0};
    int status = shares_load(&shares, s, path, err);
    if (status != BRAID_OK)
        return status;
    m->n_users = sched_n_users(s);
    m->accounts = sched_alloc(s, m->n_users, sizeof *m->accounts);
    if (m->accounts == NULL || !told_fill(m, s))
        return error_set(err, BRAID_FAILED, "out of memory for the accounts of %u users", m->n_users);
    for (uint32_t u = 0; u < m->n_users; u++) {
        uint32_t row;
        struct account *a = &m->accounts[u];
        status = shares_find(&shares, sched_user_name(s, u), true, &row, err);
        if (status != BRAID_OK)
            return status;
        a->weight = row != SHARES_ROOT ? shares.rows[row].weight : 1;
        a->income = income * a->weight / (NS_PER_HOUR * 1e-9);
        a->limit = a->income * ((double)save_ns * 1e-9);
        a->balance = a->limit;
        m->granted += a->balance;
    }
    return shares_check(&shares, s, SHARES_OF_USERS, err);
}

/* Up to now: income and rent flow together; at the limit the rest of the income is lost, at 0 only what comes in can flow off. */
double market_balance(struct market *m, const struct sched *s, uint32_t user)
{
    struct account *a = &m->accounts[user];
    int64_t now = sched_now(s);
    if (now > a->at_ns) {
        double span = (double)(now - a->at_ns) * 1e-9, before = a->balance;
        double after = before + (a->income - a->rent) * span;
        after = after < 0 ? 0 : after > a->limit ? a->limit : after;
        if (a->rent >= a->income) { /* never at the limit: all income is granted */
            double granted = a->income * span;
            m->granted += granted;
            m->paid += before + granted - after;
        } else { /* never at 0: all rent is paid */
            double paid = a->rent * span;
            m->paid += paid;
            m->granted += after + paid - before;
        }
        a->balance = after;
        a->at_ns = now;
    }
    return a->balance;
}

double market_pay(struct market *m, const struct sched *s, uint32_t user, double amount)
{
    double balance = market_balance(m, s, user);
    double taken = amount < balance ? amount : balance;
    m->accounts[user].balance -= taken;
    m->paid += taken;
    return taken;
}

void market_set_rent(struct market *m, const struct sched *s, uint32_t user, double rent)
{
    market_balance(m, s, user);
    m->accounts[user].rent = rent > 0 ? rent : 0;
}

void market_observe(struct market *m, struct sched *s)
{
    for (uint32_t u = 0; u < m->n_told; u++)
        sched_observe(s, m->told[u], market_balance(m, s, u));
    sched_observe(s, "revenue", m->paid);
    sched_observe(s, "granted", m->granted);
}

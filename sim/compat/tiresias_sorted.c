/* tiresias_sorted.c - sjf (smallest GPU demand first), shortest and shortest-gpu: at every event all jobs in the system are sorted by
 * their key, the order of the last time breaking ties, and placed anew by counting GPUs; who does not fit is passed over. */
#include "compat/tiresias_run.h"

static int64_t key(const struct tiresias *t, uint32_t job)
{
    int64_t gpus = t->l.w->gpus[job];
    return t->policy == TIRESIAS_SJF        ? gpus
           : t->policy == TIRESIAS_SHORTEST ? tiresias_remaining_s(t, job)
                                            : tiresias_remaining_s(t, job) * gpus;
}

/* Stable, by insertion: the list is nearly sorted from the last time. */
static void sort(const struct tiresias *t, struct tiresias_list *list, int64_t *keys)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t job = list->v[i], k = i;
        int64_t mine = key(t, job);
        for (; k > 0 && keys[k - 1] > mine; k--) {
            keys[k] = keys[k - 1];
            list->v[k] = list->v[k - 1];
        }
        keys[k] = mine;
        list->v[k] = job;
    }
}

void tiresias_run_sorted(struct tiresias *t)
{
    struct ledger *l = &t->l;
    struct tiresias_list runnable = tiresias_list_make(t), ends = tiresias_list_make(t), out = tiresias_list_make(t),
                         in = tiresias_list_make(t);
    int64_t *keys = ARENA_NEW(&l->arena, int64_t, l->w->n_jobs), end = TIRESIAS_NEVER;
    if (l->arena.is_short)
        return;
    for (;;) {
        int64_t arrival = tiresias_arrival_s(t), now = arrival < end ? arrival : end;
        if (now == TIRESIAS_NEVER || !ledger_at_second(l, now))
            return;
        for (uint32_t i = 0; i < ends.n && end == now; i++) {
            ledger_finish(l, ends.v[i]);
            tiresias_list_remove(&runnable, ends.v[i]);
        }
        tiresias_arrivals(t, now, &runnable);
        sort(t, &runnable, keys);
        uint32_t free = cluster_n_gpus(l->cluster);
        tiresias_walk(t, &runnable, &free, &out, &in);
        tiresias_apply(t, &out, &in);
        end = tiresias_first_ends(t, &runnable, now, &ends);
        ledger_settle(l);
    }
}

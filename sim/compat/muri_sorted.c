/* muri_sorted.c - shortest (srtf) and shortest-gpu (srsf): the job with the least left first, whoever fits behind a job that does not. */
#include "compat/muri_run.h"

static void set_key(struct muri *m, uint32_t job, bool by_gpus)
{
    double left = m->remaining[job] * m->iteration_s[job];
    m->key[job] = by_gpus ? left * m->gpus[job] : left;
    m->is_changed[job] = true;
}

static void submit_time(struct muri *m, uint32_t job)
{
    set_key(m, job, false);
}

static void submit_service(struct muri *m, uint32_t job)
{
    set_key(m, job, true);
}

static void progress_time(struct muri *m)
{
    for (uint32_t i = 0; i < m->running.n; i++)
        set_key(m, m->running.v[i], false);
}

static void progress_service(struct muri *m)
{
    for (uint32_t i = 0; i < m->running.n; i++)
        set_key(m, m->running.v[i], true);
}

static void schedule(struct muri *m)
{
    muri_sort_by_key(m);
    muri_fill_in_order(m);
}

const struct muri_kind muri_kind_srtf = {.submit = submit_time, .progress = progress_time, .schedule = schedule};
const struct muri_kind muri_kind_srsf = {.submit = submit_service, .progress = progress_service, .schedule = schedule};

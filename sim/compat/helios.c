/* helios.c - the simulator released with Helios (Hu et al., SC'21), its "QSSF service", to the letter. */
#include "compat/compat.h"
#include "compat/helios_run.h"
#include "compat/request.h"

#include <string.h>

static const struct request_choice POLICIES[] = {
    {"fifo", HELIOS_FIFO},
    {"sjf", HELIOS_SJF},
    {"srtf", HELIOS_SRTF},
    {"qssf", HELIOS_QSSF},
};

/* Its placer named "random" draws nothing: it takes what is free in order of node. */
static const struct request_choice PLACEMENTS[] = {{"consolidate", HELIOS_CONSOLIDATE}, {"count", HELIOS_RANDOM}};

enum { NODE_GPUS = 8 };

/* ---- lists ----------------------------------------------------------------------------------------- */

void helios_push(struct helios *h, struct helios_list *list, uint32_t job)
{
    if (list->n == list->room) {
        uint32_t room = list->room * 2 + 64;
        uint32_t *grown = ARENA_NEW(&h->l.arena, uint32_t, room);
        if (grown == NULL) {
            error_set(h->l.err, BRAID_FAILED, "out of memory");
            h->l.has_failed = true;
            return;
        }
        if (list->n > 0)
            memcpy(grown, list->v, list->n * sizeof *grown);
        list->v = grown;
        list->room = room;
    }
    list->v[list->n++] = job;
}

void helios_remove(struct helios_list *list, uint32_t at)
{
    memmove(list->v + at, list->v + at + 1, (--list->n - at) * sizeof *list->v);
}

static void merge(const struct helios_sorted *from, struct helios_sorted *to, uint32_t begin, uint32_t middle,
                  uint32_t end)
{
    uint32_t a = begin, b = middle;
    for (uint32_t i = begin; i < end; i++)
        to[i] = a < middle && (b == end || from[a].key <= from[b].key) ? from[a++] : from[b++];
}

void helios_sort(struct helios *h, struct helios_list *list,
                 double (*key)(const struct helios *h, uint32_t job, int64_t now_s), int64_t now_s)
{
    struct helios_sorted *from = h->sorted, *to = h->sorted + h->l.w->n_jobs;
    uint32_t n = list->n;
    for (uint32_t i = 0; i < n; i++)
        from[i] = (struct helios_sorted){key(h, list->v[i], now_s), list->v[i]};
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t begin = 0; begin < n; begin += 2 * width) {
            uint32_t middle = begin + width < n ? begin + width : n, end = middle + width < n ? middle + width : n;
            merge(from, to, begin, middle, end);
        }
        struct helios_sorted *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < n; i++)
        list->v[i] = from[i].job;
}

int64_t helios_since_s(const struct helios *h, uint32_t job)
{
    return h->l.jobs[job].since_ns / NS_PER_S;
}

/* ---- time ------------------------------------------------------------------------------------------ */

static int64_t arrival_s(const struct helios *h)
{
    const struct workload *w = h->l.w;
    return h->next_arrival < w->n_jobs ? w->submit_ns[h->next_arrival] / NS_PER_S : HELIOS_NEVER;
}

static int64_t next_s(const struct helios *h)
{
    int64_t first = arrival_s(h);
    for (uint32_t i = 0; i < h->l.n_queues; i++)
        first = h->vcs[i].next_s < first ? h->vcs[i].next_s : first;
    return first;
}

static void submit(struct helios *h, int64_t now_s)
{
    for (; arrival_s(h) == now_s; h->next_arrival++) {
        uint32_t job = h->next_arrival;
        if (!ledger_submit(&h->l, job))
            continue;
        struct helios_vc *vc = &h->vcs[h->l.jobs[job].instance];
        h->remain_s[job] = h->l.w->duration_ns[job] / NS_PER_S;
        helios_push(h, &vc->queue, job);
        vc->next_s = now_s;
    }
}

static void loop(struct helios *h)
{
    bool is_srtf = h->policy == HELIOS_SRTF;
    for (;;) {
        int64_t now = next_s(h);
        if (now == HELIOS_NEVER || !ledger_at_second(&h->l, now))
            return;
        for (uint32_t i = 0; i < h->l.n_queues; i++)
            if (h->vcs[i].next_s == now)
                (is_srtf ? helios_srtf_finish : helios_queue_finish)(h, &h->vcs[i], now);
        submit(h, now);
        for (uint32_t i = 0; i < h->l.n_queues && !h->l.has_failed; i++)
            if (h->vcs[i].next_s == now)
                (is_srtf ? helios_srtf_schedule : helios_queue_schedule)(h, &h->vcs[i], now);
        ledger_settle(&h->l);
    }
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

/* Its own overheads, written out so that the engine can be compared with it, are the only ones that it has. */
static int check_overheads(const struct run_spec *spec, struct error *err)
{
    static const struct {
        uint32_t gpus, seconds;
    } own[] = {{1, 7}, {2, 30}, {9, 60}};
    const struct overhead_rule *start = &spec->overhead.start, *restart = &spec->overhead.restart;
    bool is_own = restart->n_rows == 3, is_none = restart->n_rows == 0 && restart->constant_ns == 0;
    for (uint32_t i = 0; i < 3 && is_own; i++)
        is_own = restart->rows[i].model == NULL && restart->rows[i].gpus == own[i].gpus &&
                 restart->rows[i].ns == own[i].seconds * NS_PER_S;
    if (start->n_rows == 0 && start->constant_ns == 0 && (is_own || is_none))
        return BRAID_OK;
    return error_set(
        err, BRAID_BAD_INPUT,
        "the %s simulator has overheads of its own; leave model.start_overhead at 0 s and "
        "model.restart_overhead at 0 s or at {by_gpus: {1: 7 s, 2: 30 s, 9: 60 s}}, which they are, or use "
        "compat: none",
        HELIOS);
}

static int check_nodes(const struct helios *h)
{
    for (uint32_t i = 0; i < cluster_n_nodes(h->l.cluster) && h->placer == HELIOS_CONSOLIDATE; i++)
        if (cluster_node(h->l.cluster, i)->gpus != NODE_GPUS)
            return error_set(
                h->l.err, BRAID_BAD_INPUT,
                "the %s simulator consolidates on nodes of %d GPUs alone, but node %u has %u; use placement: "
                "count, or compat: none",
                HELIOS, NODE_GPUS, i, cluster_node(h->l.cluster, i)->gpus);
    return BRAID_OK;
}

static int prepare(struct helios *h)
{
    const struct run_spec *spec = h->l.spec;
    struct error *err = h->l.err;
    struct arena *a = &h->l.arena;
    int policy = 0, placer = 0, code;
    if ((code = check_overheads(spec, err)) != 0 ||
        (code = request_policy(spec, HELIOS, POLICIES, sizeof POLICIES / sizeof *POLICIES, &policy, err)) != 0 ||
        (code = request_placement(spec, HELIOS, PLACEMENTS, 2, &placer, err)) != 0 ||
        (code = request_check_engine(spec, HELIOS, err)) != 0 || (code = request_check_seconds(spec, HELIOS, err)) != 0)
        return code;
    h->policy = (enum helios_policy)policy;
    h->placer = (enum helios_placer)placer;
    if ((code = check_nodes(h)) != 0)
        return code;
    uint32_t n = h->l.w->n_jobs;
    h->vcs = ARENA_NEW(a, struct helios_vc, h->l.n_queues);
    h->remain_s = ARENA_NEW(a, int64_t, n);
    h->is_marked = ARENA_NEW(a, bool, n);
    h->guess = ARENA_NEW(a, double, n);
    h->sorted = ARENA_NEW(a, struct helios_sorted, 2 * (size_t)n);
    if (a->is_short)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < h->l.n_queues; i++)
        h->vcs[i] = (struct helios_vc){.index = i, .next_s = HELIOS_NEVER};
    return helios_guess_load(h);
}

static int helios_run(struct run_result *out, const struct run_spec *spec, struct error *err)
{
    struct helios h = {.next_arrival = 0};
    int code = ledger_init(&h.l, spec, err);
    if (code == BRAID_OK)
        code = prepare(&h);
    if (code == BRAID_OK) {
        loop(&h);
        code = ledger_close(&h.l, out, "never_ends");
    }
    ledger_fini(&h.l);
    return code;
}

const struct compat_ops compat_helios = {
    .name = "helios",
    .summary = "the simulator released with Helios",
    .source = "Hu et al., SC'21; github.com/S-Lab-System-Group/HeliosArtifact, QSSF service",
    .run = helios_run,
};

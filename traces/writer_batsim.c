/* A workload for Batsim (docs/formats/batsim.md): a delay profile for each run time, an id for each job that no other one has. */
#include "traces/writer_batsim.h"

#include "base/number.h"
#include "traces/writer_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batsim_writer {
    const struct workload *w;
    uint32_t *by_profile; /* jobs in order of their profiles */
    bool has_own_ids;     /* false: two jobs share an id, and ranks are written */
};

static int compare_ids(const struct workload *w, uint32_t a, uint32_t b)
{
    return text_compare_natural(w->id_text + w->id_at[a], w->id_at[a + 1] - w->id_at[a], w->id_text + w->id_at[b],
                                w->id_at[b + 1] - w->id_at[b]);
}

static int by_id(const void *a, const void *b, void *workload)
{
    return compare_ids(workload, *(const uint32_t *)a, *(const uint32_t *)b);
}

static uint8_t outcome(const struct workload *w, uint32_t j)
{
    return w->trace_status[j] == TRACE_KILLED ? TRACE_UNKNOWN : w->trace_status[j];
}

static int by_profile(const void *a, const void *b, void *workload)
{
    const struct workload *w = workload;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (w->duration_ns[x] != w->duration_ns[y])
        return w->duration_ns[x] < w->duration_ns[y] ? -1 : 1;
    return (outcome(w, x) > outcome(w, y)) - (outcome(w, x) < outcome(w, y));
}

static void put_string(struct writer *out, const char *text, size_t n)
{
    writer_put_text(out, "\"");
    for (size_t i = 0; i < n; i++) {
        char escape[8];
        if (text[i] == '"' || text[i] == '\\') {
            writer_put_text(out, "\\");
            writer_put(out, text + i, 1);
        } else if ((unsigned char)text[i] < ' ') {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)text[i]);
            writer_put_text(out, escape);
        } else {
            writer_put(out, text + i, 1);
        }
    }
    writer_put_text(out, "\"");
}

static void put_profile_name(struct writer *out, const struct workload *w, uint32_t j)
{
    static const char *const endings[] = {[TRACE_UNKNOWN] = "", [TRACE_PASSED] = "_passed", [TRACE_FAILED] = "_failed"};
    writer_put_text(out, "\"delay_");
    writer_put_seconds(out, w->duration_ns[j]);
    writer_put_text(out, endings[outcome(w, j)]);
    writer_put_text(out, "\"");
}

static void put_id(struct writer *out, const struct batsim_writer *b, uint32_t j)
{
    const struct workload *w = b->w;
    if (b->has_own_ids) {
        put_string(out, w->id_text + w->id_at[j], w->id_at[j + 1] - w->id_at[j]);
        return;
    }
    writer_put_text(out, "\"");
    writer_put_unsigned(out, j);
    writer_put_text(out, "\"");
}

static void put_job(struct writer *out, const struct batsim_writer *b, uint32_t j)
{
    const struct workload *w = b->w;
    writer_put_text(out, j > 0 ? ",\n{\"id\": " : "\n{\"id\": ");
    put_id(out, b, j);
    writer_put_text(out, ", \"subtime\": ");
    writer_put_seconds(out, w->submit_ns[j]);
    writer_put_text(out, ", \"res\": ");
    writer_put_unsigned(out, w->gpus[j]);
    writer_put_text(out, ", \"profile\": ");
    put_profile_name(out, w, j);
    if (w->estimate_ns != NULL && w->estimate_ns[j] != WORKLOAD_ABSENT) {
        writer_put_text(out, ", \"walltime\": ");
        writer_put_seconds(out, w->estimate_ns[j]);
    }
    writer_put_text(out, "}");
}

static void put_profile(struct writer *out, const struct workload *w, uint32_t j)
{
    put_profile_name(out, w, j);
    writer_put_text(out, ": {\"type\": \"delay\", \"delay\": ");
    writer_put_seconds(out, w->duration_ns[j]);
    if (outcome(w, j) != TRACE_UNKNOWN)
        writer_put_text(out, outcome(w, j) == TRACE_FAILED ? ", \"ret\": 1" : ", \"ret\": 0");
    writer_put_text(out, "}");
}

static void write_text(struct writer *out, void *self)
{
    const struct batsim_writer *b = self;
    struct workload view = *b->w;
    uint32_t largest = 0;
    for (uint32_t j = 0; j < view.n_jobs; j++)
        largest = view.gpus[j] > largest ? view.gpus[j] : largest;
    writer_put_text(out, "{\"nb_res\": ");
    writer_put_unsigned(out, largest);
    writer_put_text(out, ",\n\"jobs\": [");
    for (uint32_t j = 0; j < view.n_jobs && out->error == 0; j++)
        put_job(out, b, j);
    writer_put_text(out, "],\n\"profiles\": {");
    bool is_first = true;
    for (uint32_t i = 0; i < view.n_jobs && out->error == 0; i++) {
        if (i > 0 && by_profile(&b->by_profile[i - 1], &b->by_profile[i], &view) == 0)
            continue;
        writer_put_text(out, is_first ? "\n" : ",\n");
        put_profile(out, &view, b->by_profile[i]);
        is_first = false;
    }
    writer_put_text(out, "}}\n");
}

static void find_losses(const struct batsim_writer *b, struct losses *lost)
{
    static const char *const kept[] = {"status", "estimate", NULL};
    const struct workload *w = b->w;
    uint32_t shuffled = 0;
    *lost = (struct losses){0};
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        shuffled += b->has_own_ids && j > 0 && w->submit_ns[j] == w->submit_ns[j - 1] && compare_ids(w, j - 1, j) > 0;
    }
    losses_add(lost, "date (times count from the first submission)", w->has_origin ? w->n_jobs : 0);
    losses_add(lost, "id (ranks instead: some are not unique)", b->has_own_ids ? 0 : w->n_jobs);
    losses_add(lost, "order among jobs of one instant (ids decide)", shuffled);
    losses_add_columns(lost, w, kept);
}

int trace_write_batsim(const struct workload *w, const char *path, struct losses *lost, struct error *err)
{
    struct workload view = *w;
    struct batsim_writer b = {.w = w, .by_profile = malloc(((size_t)w->n_jobs + 1) * sizeof *b.by_profile)};
    if (b.by_profile == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for writing %s", path);
    for (uint32_t j = 0; j < w->n_jobs; j++)
        b.by_profile[j] = j;
    qsort_r(b.by_profile, w->n_jobs, sizeof *b.by_profile, by_id, &view);
    b.has_own_ids = true;
    for (uint32_t i = 1; i < w->n_jobs && b.has_own_ids; i++)
        b.has_own_ids = compare_ids(w, b.by_profile[i - 1], b.by_profile[i]) != 0;
    qsort_r(b.by_profile, w->n_jobs, sizeof *b.by_profile, by_profile, &view);
    find_losses(&b, lost);
    int code = writer_write(path, write_text, &b, err);
    free(b.by_profile);
    return code;
}

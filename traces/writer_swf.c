/* A workload in the Standard Workload Format 2.2 (docs/formats/swf.md): GPUs as processors, whole seconds, names as numbers. What the format
 * cannot carry is counted, never put in fields of its own: the format forbids those. */
#include "traces/writer_swf.h"

#include "base/number.h"
#include "traces/writer_file.h"

#include <string.h>

static int64_t whole_seconds(int64_t ns)
{
    int64_t rest = ns % NS_PER_S, s = ns / NS_PER_S;
    return s + (rest >= NS_PER_S / 2) - (rest <= -NS_PER_S / 2);
}

static void put_number(struct writer *out, int64_t v)
{
    if (v < 0) /* nothing but the -1 of what is not known */
        writer_put_text(out, " -1");
    else {
        writer_put(out, " ", 1);
        writer_put_unsigned(out, (uint64_t)v);
    }
}

/* The place of a name among its kind, from 1; -1 where the trace has none. */
static int64_t number_of(const struct names *names, const uint32_t *column, uint32_t j)
{
    if (column == NULL || column[j] == NAMES_NONE || names_text(names, column[j])[0] == '\0')
        return -1;
    return (int64_t)column[j] + 1;
}

static int64_t wait_s(const struct workload *w, uint32_t j)
{
    if (w->start_ns == NULL || w->start_ns[j] == WORKLOAD_ABSENT || w->start_ns[j] < w->submit_ns[j])
        return -1;
    return whole_seconds(w->start_ns[j]) - whole_seconds(w->submit_ns[j]);
}

static int64_t status_of(const struct workload *w, uint32_t j)
{
    static const int64_t codes[] = {[TRACE_UNKNOWN] = -1, [TRACE_PASSED] = 1, [TRACE_FAILED] = 0, [TRACE_KILLED] = 5};
    return codes[w->trace_status[j] & 3];
}

static int64_t memory_of(const struct workload *w, uint32_t j)
{
    return w->mem_kib != NULL && w->mem_kib[j] > 0 ? (int64_t)(w->mem_kib[j] / w->gpus[j]) : -1;
}

static void put_job(struct writer *out, const struct workload *w, uint32_t j)
{
    bool has_estimate = w->estimate_ns != NULL && w->estimate_ns[j] != WORKLOAD_ABSENT;
    writer_put_unsigned(out, (uint64_t)j + 1);
    put_number(out, whole_seconds(w->submit_ns[j]));
    put_number(out, wait_s(w, j));
    put_number(out, whole_seconds(w->duration_ns[j]));
    put_number(out, w->gpus[j]);
    writer_put_text(out, " -1 -1");
    put_number(out, w->gpus[j]);
    int64_t estimate_s = has_estimate ? whole_seconds(w->estimate_ns[j]) : -1;
    put_number(out, estimate_s == 0 ? 1 : estimate_s); /* 0 would be none */
    put_number(out, memory_of(w, j));
    put_number(out, status_of(w, j));
    put_number(out, number_of(&w->users, w->user, j));
    writer_put_text(out, " -1");
    put_number(out, number_of(&w->names, w->name, j));
    writer_put_text(out, " -1");
    put_number(out, number_of(&w->vcs, w->vc, j));
    writer_put_text(out, " -1 -1\n");
}

/* A comment is a line: control characters in a name become blanks. */
static void put_name(struct writer *out, const char *text)
{
    for (; *text != '\0'; text++)
        writer_put(out, (unsigned char)*text < ' ' ? " " : text, 1);
}

static void put_header(struct writer *out, const struct workload *w)
{
    writer_put_text(out, "; Version: 2.2\n; Conversion: braid\n; MaxJobs: ");
    writer_put_unsigned(out, w->n_jobs);
    writer_put_text(out, "\n; MaxRecords: ");
    writer_put_unsigned(out, w->n_jobs);
    if (w->has_origin && w->origin_utc_s > 0) {
        writer_put_text(out, "\n; UnixStartTime: ");
        writer_put_unsigned(out, (uint64_t)w->origin_utc_s);
        writer_put_text(out, "\n; TimeZoneString: Etc/UTC");
    }
    writer_put_text(out,
                    "\n; Note: a processor is a GPU; users, executables (job names) and partitions (virtual clusters)"
                    "\n; Note: are numbered in natural order of their names\n");
    for (uint32_t v = 0; v < w->vcs.count; v++) {
        if (names_text(&w->vcs, v)[0] == '\0')
            continue;
        writer_put_text(out, "; Partition: ");
        writer_put_unsigned(out, (uint64_t)v + 1);
        writer_put_text(out, " ");
        put_name(out, names_text(&w->vcs, v));
        writer_put_text(out, "\n");
    }
}

static void write_jobs(struct writer *out, void *workload)
{
    const struct workload *w = workload;
    put_header(out, w);
    for (uint32_t j = 0; j < w->n_jobs && out->error == 0; j++)
        put_job(out, w, j);
}

/* ---- what is lost ------------------------------------------------------------------------------------------------ */

static bool is_number(const char *text, size_t n, uint64_t number)
{
    uint64_t v;
    return n > 0 && text[0] != '0' && number_parse_u64(text, n, &v) && v == number;
}

static uint32_t count_renamed(const struct workload *w, const struct names *names, const uint32_t *column)
{
    uint32_t jobs = 0;
    for (uint32_t j = 0; column != NULL && j < w->n_jobs; j++) {
        int64_t number = number_of(names, column, j);
        const char *text = number > 0 ? names_text(names, column[j]) : "";
        jobs += number > 0 && !is_number(text, strlen(text), (uint64_t)number);
    }
    return jobs;
}

static bool has_fraction(const int64_t *column, uint32_t j)
{
    return column != NULL && column[j] != WORKLOAD_ABSENT && column[j] % NS_PER_S != 0;
}

static void find_losses(const struct workload *w, struct losses *lost)
{
    static const char *const kept[] = {"vc", "user", "status", "killed", "start", "estimate", "name", "memory", NULL};
    uint32_t ids = 0, fractions = 0, early = 0, memory = 0;
    *lost = (struct losses){0};
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        ids += !is_number(w->id_text + w->id_at[j], w->id_at[j + 1] - w->id_at[j], (uint64_t)j + 1);
        fractions += has_fraction(w->submit_ns, j) || has_fraction(w->duration_ns, j) || has_fraction(w->start_ns, j) ||
                     has_fraction(w->estimate_ns, j);
        early += w->start_ns != NULL && w->start_ns[j] != WORKLOAD_ABSENT && w->start_ns[j] < w->submit_ns[j];
        memory += w->mem_kib != NULL && w->mem_kib[j] % w->gpus[j] != 0;
    }
    losses_add(lost, "id (numbers from 1 instead)", ids);
    losses_add(lost, "fractions of a second (rounded)", fractions);
    losses_add(lost, "name of the user (a number instead)", count_renamed(w, &w->users, w->user));
    losses_add(lost, "name of the virtual cluster (a number instead)", count_renamed(w, &w->vcs, w->vc));
    losses_add(lost, "job name (a number instead)", count_renamed(w, &w->names, w->name));
    losses_add(lost, "recorded start, which is before the submission", early);
    losses_add(lost, "memory to the KiB (shared out over processors)", memory);
    losses_add_columns(lost, w, kept);
}

int trace_write_swf(const struct workload *w, const char *path, struct losses *lost, struct error *err)
{
    struct workload view = *w; /* read alone */
    find_losses(w, lost);
    return writer_write(path, write_jobs, &view, err);
}

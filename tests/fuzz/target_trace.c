/* target_trace.c - bytes as a trace file. Pieces between bytes 0xff: the file; how to read it; a table of jobs beside it (pai2020); a table of
 * applications.
 *
 * What holds of every workload: its arrays are in their ranges and in order of rank, no row is lost, and written in braid's own format and
 * read again it is the same.
 */
#include "folder.h"
#include "fuzz.h"

#include "traces/trace.h"
#include "traces/writer.h"

#include <math.h>
#include <string.h>

static void check_rows(const struct workload *w)
{
    const struct trace_report *r = &w->report;
    uint64_t dropped = 0;
    fuzz_assert(r->n_counts <= TRACE_COUNTS_MAX, "%u", r->n_counts);
    for (uint32_t i = 0; i < r->n_counts; i++) {
        fuzz_assert(r->counts[i].reason != NULL && r->counts[i].rows > 0, "count %u", i);
        dropped += r->counts[i].is_dropped ? r->counts[i].rows : 0;
    }
    fuzz_assert(r->rows_read == r->rows_kept + dropped, "%llu read, %llu kept, %llu dropped",
                (unsigned long long)r->rows_read, (unsigned long long)r->rows_kept, (unsigned long long)dropped);
}

static void check_name(const struct names *names, const uint32_t *column, uint32_t job, bool may_lack)
{
    if (column != NULL && !(may_lack && column[job] == NAMES_NONE))
        fuzz_assert(column[job] < names->count, "job %u: %u of %u names", job, column[job], names->count);
}

static void check_jobs(const struct workload *w)
{
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        fuzz_assert(w->submit_ns[j] >= (j > 0 ? w->submit_ns[j - 1] : 0), "job %u: %lld", j,
                    (long long)w->submit_ns[j]);
        fuzz_assert(w->duration_ns[j] >= 0, "job %u: %lld", j, (long long)w->duration_ns[j]);
        fuzz_assert(w->gpus[j] >= 1, "job %u", j);
        fuzz_assert(w->trace_status[j] <= TRACE_KILLED, "job %u: %d", j, w->trace_status[j]);
        fuzz_assert(w->id_at[j] <= w->id_at[j + 1], "the id of job %u", j);
        check_name(&w->vcs, w->vc, j, false);
        check_name(&w->users, w->user, j, false);
        check_name(&w->names, w->name, j, false);
        check_name(&w->models, w->model, j, false);
        check_name(&w->gpu_types, w->gpu_type, j, true);
        if (w->gpu_milli != NULL)
            fuzz_assert(w->gpu_milli[j] >= 1 && w->gpu_milli[j] <= 1000, "job %u: %u", j, w->gpu_milli[j]);
        if (w->priority != NULL)
            fuzz_assert(isfinite(w->priority[j]), "job %u: %g", j, w->priority[j]);
        for (int k = 0; k < WORKLOAD_STAGES; k++) {
            fuzz_assert((w->stage_ns[k] != NULL) == (w->stage_ns[0] != NULL), "stage %d", k);
            if (w->stage_ns[k] != NULL)
                fuzz_assert(w->stage_ns[k][j] >= 0, "job %u stage %d: %lld", j, k, (long long)w->stage_ns[k][j]);
        }
    }
    fuzz_assert(w->id_at[0] == 0, "%llu", (unsigned long long)w->id_at[0]);
}

/* Time 0 is the first submission floored to the second, so the file says all. */
static void check_written(const struct workload *w)
{
    struct error err = {0};
    struct workload again;
    const char *path = folder_path("written.csv");
    fuzz_assert(trace_write(w, path, &err) == BRAID_OK, "%s", err.message);
    const struct trace_spec spec = {.path = path, .format = "braid", .jobs = TRACE_NO_LIMIT, .strict = true};
    fuzz_assert(trace_load(&again, &spec, &err) == BRAID_OK, "line %d: %s", err.line, err.message);
    fuzz_assert(again.n_jobs == w->n_jobs, "%u jobs, then %u", w->n_jobs, again.n_jobs);
    fuzz_assert(memcmp(again.digest, w->digest, sizeof w->digest) == 0, "another digest when read again");
    workload_fini(&again);
}

static double capacity_integral(void *self, uint32_t vc, int64_t from_ns, int64_t to_ns)
{
    (void)self, (void)vc;
    return 64.0 * ((double)to_ns - (double)from_ns);
}

static bool capacity_admits(void *self, uint32_t job)
{
    return *(const uint8_t *)self == 0 || job % *(const uint8_t *)self != 0;
}

static void check_scaled(const struct workload *w, struct bytes *options)
{
    uint8_t every = bytes_next(options);
    const struct trace_capacity capacity = {&every, capacity_integral, capacity_admits};
    double load = (1 + bytes_next(options)) / 64.0;
    struct workload scaled;
    struct error err = {0};
    int code = trace_scale(&scaled, w, load, bytes_below(options, 2), &capacity, &err);
    if (code != BRAID_OK) {
        fuzz_assert(code == BRAID_BAD_INPUT && err.message[0] != '\0', "%d: %s", code, err.message);
        return;
    }
    fuzz_assert(scaled.n_jobs == w->n_jobs, "%u jobs, then %u", w->n_jobs, scaled.n_jobs);
    check_jobs(&scaled);
    workload_fini(&scaled);
}

void fuzz_trace(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    static const char *const keep[] = {"a", "0"};
    struct bytes options = bytes_piece(bytes, n, 1), beside = bytes_piece(bytes, n, 2),
                 applications = bytes_piece(bytes, n, 3);
    struct trace_spec spec = {.format = self->format, .jobs = TRACE_NO_LIMIT};
    spec.path = folder_file("trace", bytes_piece(bytes, n, 0));
    folder_remove("pai_job_table.csv");
    if (beside.left > 0)
        folder_file("pai_job_table.csv", beside);
    if (applications.left > 0)
        spec.applications_path = spec.applications_shown = folder_file("applications.csv", applications);
    bool is_whole = options.left == 0;
    uint8_t how = bytes_next(&options);
    spec.failed = how & 3;
    if (spec.failed > TRACE_FAILED_MERGE_ATTEMPTS)
        spec.failed = TRACE_FAILED_RUN;
    spec.strict = (how & 4) != 0;
    spec.has_begin = (how & 8) != 0;
    spec.has_end = (how & 16) != 0;
    spec.window_is_relative = (how & 32) != 0;
    if ((how & 64) != 0) {
        spec.vcs = keep;
        spec.n_vcs = 2;
    }
    if (spec.has_begin)
        spec.begin_ns = bytes_time(&options, false);
    if (spec.has_end)
        spec.end_ns = bytes_time(&options, false);
    if ((how & 128) != 0)
        spec.jobs = bytes_below(&options, 256);

    struct workload w;
    struct error err = {0};
    int code = trace_load(&w, &spec, &err);
    if (code == BRAID_OK) {
        check_rows(&w);
        fuzz_assert(w.n_jobs > 0, "no jobs, and no error");
        check_jobs(&w);
        if (is_whole)
            check_written(&w);
        if ((how & 128) != 0)
            check_scaled(&w, &options);
    } else {
        fuzz_assert(code == BRAID_BAD_INPUT && err.code == code && err.message[0] != '\0', "%d: %s", code, err.message);
    }
    workload_fini(&w);
}

/* The public traces of GPU clusters: counts that were taken from the files by other means (a script over the same columns), and the same
 * jobs whatever form a file has. */
#include "base/number.h"
#include "tests/dice.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACES "../shared/traces/"

static struct scratch scratch;

static void setup(void)
{
    scratch_init(&scratch);
}

static void teardown(void)
{
    scratch_fini(&scratch);
}

TestSuite(public_gpu, .init = setup, .fini = teardown);

static const struct golden {
    const char *path, *format;
    uint64_t rows, kept;
    struct {
        const char *reason;
        uint64_t rows;
    } counts[3]; /* all that the report has */
    double gpu_hours;
    double span_s; /* first to last submission */
    uint32_t largest;
} goldens[] = {
    {TRACES "acme/kalos_excerpt.csv", "acme", 2, 2, {{0}}, 4992 / 3600.0, 1664, 64},
    {TRACES "acme/seren_excerpt.csv", "acme", 2, 2, {{0}}, 22480 / 3600.0, 336, 8},
    {TRACES "acme/kalos_converted_319jobs.csv", "acme", 319, 319, {{0}}, 4047530977.5 / 3600, 7779474, 1024},
    {TRACES "openb/openb_pod_list_default.csv",
     "openb",
     8152,
     6203,
     {{"no_gpus", 1088}, {"never_started", 861}, {"fraction_rounded_up", 2573}},
     214603958 / 3600.0,
     12901761,
     8},
    {TRACES "openb/openb_pod_list_gpuspec33.csv",
     "openb",
     8152,
     6203,
     {{"no_gpus", 1088}, {"never_started", 861}, {"fraction_rounded_up", 2573}},
     214603958 / 3600.0,
     12901761,
     8},
    {TRACES "chronus/MIX1.csv", "chronus", 30940, 30756, {{"no_gpus", 184}}, 22279688 / 3600.0, 20150, 32},
    {TRACES "elasticflow/philly_103959.csv", "elasticflow", 876, 876, {{0}}, 154137879 / 3600.0, 7910536, 4},
    {TRACES "gavel/msr_seed0_103959.trace",
     "gavel",
     986,
     986,
     {{"length_from_table", 986}},
     181951997.618424 / 3600,
     7910536,
     4},
    {TRACES "gavel/physical_15jobs.trace", "gavel", 15, 15, {{"length_from_table", 15}}, 16767.33696 / 3600, 0, 2},
    {TRACES "pollux/pollux_workload-1.csv",
     "pollux",
     160,
     160,
     {{"length_from_table", 160}},
     4319956 / 3600.0,
     27588,
     32},
    {TRACES "pollux/pollux_workload-6.csv",
     "pollux",
     160,
     160,
     {{"length_from_table", 160}},
     3922406 / 3600.0,
     28136,
     48},
    {"../shared/reference/sia/inputs/philly1_160.csv",
     "pollux",
     160,
     160,
     {{"length_from_table", 160}},
     4112116 / 3600.0,
     27588.000000,
     16},
    {"../shared/reference/sia/inputs/saturn1_160.csv",
     "pollux",
     160,
     160,
     {{"length_from_table", 160}},
     3624286 / 3600.0,
     27697.000000,
     16},
};
enum { N_GOLDENS = sizeof goldens / sizeof goldens[0] };

static void skip_without(const char *path)
{
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here; scripts/fetch-traces says where it comes from", path);
}

Test(public_gpu, public_files_read_as_counted)
{
    skip_without(goldens[0].path);
    for (size_t i = 0; i < N_GOLDENS; i++) {
        const struct golden *g = &goldens[i];
        struct workload w;
        struct error err = {0};
        struct trace_spec spec = scratch_spec(g->path);
        cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s: %s", g->path, err.message);
        cr_expect_str_eq(w.report.format, g->format, "%s", g->path);
        cr_expect_eq(w.report.rows_read, g->rows, "%s", g->path);
        cr_expect_eq(w.report.rows_kept, g->kept, "%s", g->path);
        cr_expect_eq(w.n_jobs, g->kept, "%s", g->path);
        uint32_t n_counts = 0;
        for (; n_counts < 3 && g->counts[n_counts].reason != NULL; n_counts++)
            cr_expect_eq(scratch_count(&w, g->counts[n_counts].reason), g->counts[n_counts].rows, "%s: %s", g->path,
                         g->counts[n_counts].reason);
        cr_expect_eq(w.report.n_counts, n_counts, "%s", g->path);
        double gpu_s = 0;
        uint32_t largest = 0;
        for (uint32_t j = 0; j < w.n_jobs; j++) {
            gpu_s += (double)w.gpus[j] * ((double)w.duration_ns[j] / 1e9);
            largest = w.gpus[j] > largest ? w.gpus[j] : largest;
        }
        cr_expect_lt(fabs(gpu_s / 3600 - g->gpu_hours), 1e-5, "%s: %.6f", g->path, gpu_s / 3600);
        cr_expect_eq((double)(w.submit_ns[w.n_jobs - 1] - w.submit_ns[0]) / 1e9, g->span_s, "%s", g->path);
        cr_expect_eq(largest, g->largest, "%s", g->path);
        workload_fini(&w);
    }
}

/* The lines of a file, so that they can be written in another order or with other ends. */
struct line {
    const char *at;
    size_t n;
};

static size_t split(const char *bytes, size_t n, struct line *lines, size_t room)
{
    size_t count = 0;
    for (const char *p = bytes, *stop = bytes + n; p < stop && count < room; count++) {
        const char *feed = memchr(p, '\n', (size_t)(stop - p));
        const char *to = feed != NULL ? feed : stop;
        lines[count] = (struct line){p, (size_t)(to - p) - (to > p && to[-1] == '\r')};
        p = to + (feed != NULL);
    }
    return count;
}

static size_t join(char *out, const char *before, const struct line *lines, size_t n, const char *end, bool is_ended)
{
    size_t used = strlen(before);
    memcpy(out, before, used);
    for (size_t i = 0; i < n; i++) {
        memcpy(out + used, lines[i].at, lines[i].n);
        used += lines[i].n;
        if (i + 1 < n || is_ended) {
            memcpy(out + used, end, strlen(end));
            used += strlen(end);
        }
    }
    return used;
}

static void expect_digest(const char *path, const struct workload *as, const char *what, const char *of)
{
    struct workload w;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(path);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s, %s: %s", of, what, err.message);
    cr_expect_eq(memcmp(w.digest, as->digest, DIGEST_BYTES), 0, "%s, %s: other jobs", of, what);
    cr_expect_eq(w.report.rows_read, as->report.rows_read, "%s, %s", of, what);
    workload_fini(&w);
}

/* A byte order mark, CRLF, gzip, other order, no last line end: the same jobs. */
static void expect_same_in_all_forms(const char *bytes, size_t n, bool has_header, const char *of)
{
    enum { LINES = 40000 };
    char path[SCRATCH_PATH];
    struct workload w;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "as-it-is", bytes, n, path));
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s: %s", of, err.message);
    struct line *lines = malloc(LINES * sizeof *lines);
    char *out = malloc(2 * n + 64);
    cr_assert(lines != NULL && out != NULL);
    size_t count = split(bytes, n, lines, LINES);
    cr_assert_lt(count, LINES);
    size_t m = join(out, "\xEF\xBB\xBF", lines, count, "\n", true);
    expect_digest(scratch_write(&scratch, "bom", out, m, path), &w, "byte order mark", of);
    m = join(out, "", lines, count, "\r\n", true);
    expect_digest(scratch_write(&scratch, "crlf", out, m, path), &w, "CRLF", of);
    m = join(out, "", lines, count, "\n", false);
    expect_digest(scratch_write(&scratch, "no-end", out, m, path), &w, "no last line end", of);
    expect_digest(scratch_gzip(&scratch, "gz", bytes, n, path), &w, "gzip", of);
    uint64_t random = 88172645463325252u;
    for (size_t i = count - 1, first = has_header ? 1 : 0; i > first; i--) {
        size_t j = first + (size_t)(dice_next(&random) % (i - first + 1));
        struct line swapped = lines[i];
        lines[i] = lines[j];
        lines[j] = swapped;
    }
    m = join(out, "", lines, count, "\n", true);
    expect_digest(scratch_write(&scratch, "shuffled", out, m, path), &w, "shuffled", of);
    free(lines);
    free(out);
    workload_fini(&w);
}

Test(public_gpu, the_form_of_a_public_file_does_not_matter)
{
    skip_without(goldens[0].path);
    for (size_t i = 0; i < N_GOLDENS; i++) {
        size_t n;
        char *bytes = scratch_read(goldens[i].path, &n);
        expect_same_in_all_forms(bytes, n, strcmp(goldens[i].format, "gavel") != 0, goldens[i].path);
        free(bytes);
    }
}

Test(public_gpu, pods_without_times_are_counted_and_no_trace)
{
    skip_without(TRACES "openb/openb_pod_list_multigpu20.csv");
    struct workload w;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(TRACES "openb/openb_pod_list_multigpu20.csv");
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_BAD_INPUT);
    cr_assert_str_eq(w.report.format, "openb");
    cr_assert_eq(w.report.rows_read, 8324);
    cr_assert_eq(scratch_count(&w, "no_submit"), 8324);
    workload_fini(&w);
}

Test(public_gpu, gavels_older_trace_runs_as_long_as_elasticflow_says)
{
    skip_without(TRACES "gavel/msr_seed0_103959.trace");
    struct workload g, e;
    struct error err = {0};
    struct trace_spec spec = scratch_spec(TRACES "gavel/msr_seed0_103959.trace");
    cr_assert_eq(trace_load(&g, &spec, &err), BRAID_OK, "%s", err.message);
    spec.path = TRACES "elasticflow/philly_103959.csv";
    cr_assert_eq(trace_load(&e, &spec, &err), BRAID_OK, "%s", err.message);
    uint32_t met = 0, same = 0;
    for (uint32_t j = 0, k = 0; j < g.n_jobs; j++) {
        while (k < e.n_jobs && e.submit_ns[k] < g.submit_ns[j])
            k++;
        bool is_lone = (j == 0 || g.submit_ns[j - 1] != g.submit_ns[j]) &&
                       (j + 1 == g.n_jobs || g.submit_ns[j + 1] != g.submit_ns[j]) && k < e.n_jobs &&
                       e.submit_ns[k] == g.submit_ns[j] && (k + 1 == e.n_jobs || e.submit_ns[k + 1] != e.submit_ns[k]);
        met += is_lone;
        int64_t apart = is_lone ? g.duration_ns[j] - e.duration_ns[k] : INT64_MAX;
        same += apart < 4 * NS_PER_S && apart > -4 * NS_PER_S; /* a step of the slowest type takes 3 s */
    }
    cr_assert_gt(met, 700);
    cr_assert_eq(same, met);
    workload_fini(&g);
    workload_fini(&e);
}

Test(public_gpu, the_form_of_a_table_without_a_header_does_not_matter)
{
    static const char tasks[] = "j1,worker,4,Terminated,1000.0,1600.0,600.0,29.3,100.0,V100\n"
                                "j1,ps,2,Terminated,1000.0,1600.0,600.0,29.3,,CPU\n"
                                "j1,evaluator,1,Terminated,1000.0,1700.0,600.0,29.3,50.0,\n"
                                "j1,chief,1,Terminated,1000.0,1600.0,600.0,29.3,100.0,V100\n"
                                "j2,tensorflow,10,Failed,900.0,2100.0,50,1,25.0,T4\n";
    expect_same_in_all_forms(tasks, sizeof tasks - 1, false, "PAI tasks");
}

#include "base/number.h"
#include "scratch.h"
#include "traces/fit.h"
#include "traces/fit_check.h"
#include "traces/generator.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHILLY "../shared/traces/philly/philly.csv"

static void load(struct workload *w, const char *path)
{
    struct error err = {0};
    struct trace_spec spec = scratch_spec(path);
    cr_assert_eq(trace_load(w, &spec, &err), BRAID_OK, "%s", err.message);
}

static void measure(struct profile *p, struct arena *a, const struct workload *w)
{
    struct error err = {0};
    arena_init(a);
    cr_assert_eq(fit_measure(p, a, w, &err), BRAID_OK, "%s", err.message);
}

/* Measure `w`, write, read and generate `jobs` jobs from the file. */
static void regenerate(struct workload *out, const struct scratch *s, const struct workload *w, uint32_t jobs)
{
    struct arena arena;
    struct profile p;
    struct error err = {0};
    char path[SCRATCH_PATH];
    scratch_path(s, "model.yaml", path);
    measure(&p, &arena, w);
    cr_assert_eq(fit_write(&p, "a trace", path, &err), BRAID_OK, "%s", err.message);
    arena_fini(&arena);
    struct generator_spec spec = {.file = path, .file_shown = "model.yaml", .jobs = jobs, .seed = 77, .repeat = -1};
    cr_assert_eq(generator_make(out, &spec, &err), BRAID_OK, "%s", err.message);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double distance(int64_t *a, size_t na, int64_t *b, size_t nb)
{
    qsort(a, na, sizeof *a, compare_i64);
    qsort(b, nb, sizeof *b, compare_i64);
    double worst = 0;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        int64_t x = a[i] < b[j] ? a[i] : b[j];
        while (i < na && a[i] == x)
            i++;
        while (j < nb && b[j] == x)
            j++;
        worst = fmax(worst, fabs((double)i / (double)na - (double)j / (double)nb));
    }
    return worst;
}

/* ---- a model beside its trace ------------------------------------------------------------------------ */

/* A trace whose jobs have one of a few common names, drawn independently of user, VC, size and duration. */
static void make_common_names(struct workload *w, const struct scratch *s, uint32_t jobs, uint32_t names,
                              uint32_t users)
{
    static const int sizes[] = {1, 1, 1, 2, 4, 8, 16};
    char *text = malloc((size_t)jobs * 64 + 64), path[SCRATCH_PATH];
    size_t n = (size_t)sprintf(text, "id,submit,duration,gpus,user,vc,name\n");
    uint64_t state = 5;
    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t r[5];
        for (int i = 0; i < 5; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            r[i] = (uint32_t)(state >> 33);
        }
        n +=
            (size_t)sprintf(text + n, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%d,u%" PRIu32 ",v%" PRIu32 ",n%" PRIu32 "\n",
                            j, j * 300, 60 + r[0] % 36000, sizes[r[1] % 7], r[2] % users, r[3] % 3, r[4] % names);
    }
    scratch_write(s, "common.csv", text, n, path);
    free(text);
    load(w, path);
}

static void expect_like_source(const struct profile *p, const struct workload *w, uint64_t seed)
{
    struct fit_check c;
    struct error err = {0};
    cr_assert_eq(fit_check(&c, p, w, seed, &err), BRAID_OK, "%s", err.message);
    for (uint32_t i = 0; i < c.n; i++)
        cr_expect(!c.rows[i].is_off, "repeat %g, seed %" PRIu64 ": %s is %g, not %g", p->repeat, seed, c.rows[i].name,
                  c.rows[i].made, c.rows[i].trace);
}

/* Shares of sizes, VCs and users are those of the trace however often jobs repeat: measured where names are words that many share, or set by
 * hand. */
Test(fit, shares_hold_whatever_repeats)
{
    static const double repeats[] = {0, 0.6, 0.9, 1};
    static const uint32_t names[] = {6, 40};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct scratch s;
        struct workload w;
        struct arena a;
        struct profile p;
        scratch_init(&s);
        make_common_names(&w, &s, 4000, names[k], 40);
        measure(&p, &a, &w);
        for (uint64_t seed = 1; seed <= 3; seed++)
            expect_like_source(&p, &w, seed);
        for (size_t i = 0; i < sizeof repeats / sizeof repeats[0]; i++) {
            p.repeat = repeats[i];
            expect_like_source(&p, &w, 1);
        }
        arena_fini(&a);
        workload_fini(&w);
        scratch_fini(&s);
    }
}

/* A model that is not that of the trace is seen: each row of the comparison by a profile that differs in it. */
Test(fit, check_sees_what_differs)
{
    struct scratch s;
    struct workload w;
    struct arena a;
    struct profile p;
    struct error err = {0};
    scratch_init(&s);
    make_common_names(&w, &s, 4000, 6, 40);
    measure(&p, &a, &w);
    struct profile_size one_size[] = {{1, 1}, {2, 0.001}, {4, 0.001}, {8, 0.001}, {16, 0.001}};
    struct profile_share one_vc[] = {{.name = "v0", .jobs = 1}, {.name = "v1", .jobs = 0}, {.name = "v2", .jobs = 0}};
    struct profile_class *slow = malloc(p.n_classes * sizeof *slow);
    memcpy(slow, p.classes, p.n_classes * sizeof *slow);
    for (uint32_t i = 0; i < p.n_classes; i++) {
        slow[i].knots = NULL;
        slow[i].n_parts = 1;
        slow[i].parts[0] = (struct profile_part){1, PART_LOGUNIFORM, 40000, 90000};
    }
    struct profile wrong[] = {p, p, p, p, p};
    wrong[0].rate_per_day *= 2;
    wrong[1].sizes = one_size;
    wrong[2].vc_shares = one_vc;
    wrong[3].user_exponent = 3;
    wrong[4].classes = slow;
    wrong[4].longest_s = 90000;
    static const char *const seen[] = {"jobs a day", "GPU counts", "VCs", "largest user", "duration, median"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        struct fit_check c;
        bool is_seen = false;
        cr_assert_eq(fit_check(&c, &wrong[k], &w, 1, &err), BRAID_OK, "%s", err.message);
        for (uint32_t i = 0; i < c.n; i++)
            is_seen |= c.rows[i].is_off && strcmp(c.rows[i].name, seen[k]) == 0;
        cr_expect(is_seen, "%s", seen[k]);
    }
    free(slow);
    arena_fini(&a);
    workload_fini(&w);
    scratch_fini(&s);
}

/* ---- what is measured -------------------------------------------------------------------------------- */

/* Four jobs on a Monday, two of them on Tuesday at 1 h: everything can be counted by hand. */
Test(fit, counts_what_is_there)
{
    struct scratch s;
    struct workload w;
    struct error err = {0};
    scratch_init(&s);
    cr_assert_eq(scratch_load_text(&s,
                                   "id,submit,duration,gpus,vc,user,status,name\n"
                                   "a,2017-10-02 00:10:00,10,1,x,u,passed,n\n"
                                   "b,2017-10-02 00:20:00,20,1,x,u,failed,n\n"
                                   "c,2017-10-03 01:00:00,30,1,y,u,killed,m\n"
                                   "d,2017-10-03 01:30:00,40,8,x,v,passed,n\n",
                                   &w, &err),
                 BRAID_OK, "%s", err.message);
    struct arena arena;
    struct profile p;
    measure(&p, &arena, &w);
    cr_expect_eq(p.n_sizes, 2);
    cr_expect(p.sizes[0].gpus == 1 && p.sizes[0].jobs == 3 && p.sizes[1].gpus == 8 && p.sizes[1].jobs == 1);
    cr_expect_eq(p.n_classes, 1, "too few jobs for classes");
    cr_expect(p.classes[0].knots[0].seconds == 10 && p.classes[0].knots[p.classes[0].n_knots - 1].seconds == 40);
    cr_expect_eq(p.classes[0].knots[p.classes[0].n_knots / 2].seconds, 25, "the median between 20 and 30");
    cr_expect_eq(p.classes[0].bands[0].passed, 1);
    cr_expect_eq(p.classes[0].bands[1].failed, 1);
    cr_expect_eq(p.classes[0].bands[2].killed, 1);
    cr_expect_eq(p.classes[0].bands[3].passed, 1);
    cr_expect(p.vcs == 2 && strcmp(p.vc_shares[0].name, "x") == 0 && p.vc_shares[0].jobs == 3 &&
              p.vc_shares[1].jobs == 1);
    cr_expect_eq(p.users, 2);
    cr_expect_eq(p.origin_utc_s, 1506902400, "Monday, 2017-10-02");
    cr_expect_float_eq(p.week_jobs[0], 2 / (50 / 60.0), 1e-9, "2 jobs in the 50 min of Monday, 0 h, that were watched");
    cr_expect_eq(p.week_jobs[1], 0);
    cr_expect_float_eq(p.week_jobs[25], 2 / (1801 / 3600.0), 1e-9, "Tuesday, 1 h");
    cr_expect_float_eq(p.rate_per_day, 4 / (91200 / 86400.0), 1e-9, "4 jobs in 25 h 20 min");
    arena_fini(&arena);
    workload_fini(&w);
    scratch_fini(&s);
}

static void expect_recovered(const char *model, double burst, double repeat, double alike_published)
{
    struct workload w;
    struct error err = {0};
    struct generator_spec spec = {.model = model, .jobs = 60000, .seed = 8, .burst = burst, .repeat = repeat};
    cr_assert_eq(generator_make(&w, &spec, &err), BRAID_OK, "%s", err.message);
    struct arena arena;
    struct profile p;
    measure(&p, &arena, &w);
    cr_expect_float_eq(p.burst, burst, 0.12 * burst, "%s: burst %g, measured %g", model, burst, p.burst);
    cr_expect_float_eq(p.repeat, repeat, 0.06, "%s: repeat %g, measured %g", model, repeat, p.repeat);
    cr_expect_float_eq(p.alike, alike_published, 0.05, "%s: alike %g, measured %g", model, alike_published, p.alike);
    arena_fini(&arena);
    workload_fini(&w);
}

/* A slow and a fast trace: bursts are measured in two ways. */
Test(fit, finds_the_parameters_that_a_workload_was_made_with)
{
    expect_recovered("philly", 2, 0.5, 0.4);
    expect_recovered("pai", 2, 0.7, 0.6);
    expect_recovered("philly", 1, 0.3, 0.4);
}

Test(fit, regenerated_workloads_fit_again_as_the_same)
{
    struct scratch s;
    struct workload w, again;
    struct error err = {0};
    scratch_init(&s);
    struct generator_spec spec = {.model = "helios", .jobs = 30000, .seed = 3, .repeat = -1};
    cr_assert_eq(generator_make(&w, &spec, &err), BRAID_OK, "%s", err.message);
    regenerate(&again, &s, &w, 30000);
    struct arena a, b;
    struct profile p, q;
    measure(&p, &a, &w);
    measure(&q, &b, &again);
    cr_expect_float_eq(q.rate_per_day / p.rate_per_day, 1, 0.1);
    cr_expect_float_eq(q.burst, p.burst, 0.3);
    cr_expect_float_eq(q.repeat, p.repeat, 0.05);
    cr_expect_float_eq(q.alike, p.alike, 0.05);
    cr_expect_float_eq(q.vc_exponent, p.vc_exponent, 0.1);
    cr_expect_float_eq(q.user_exponent, p.user_exponent, 0.3);
    cr_expect_eq(p.vcs, q.vcs);
    cr_expect_lt(distance(w.duration_ns, w.n_jobs, again.duration_ns, again.n_jobs), 0.05);
    arena_fini(&a);
    arena_fini(&b);
    workload_fini(&w);
    workload_fini(&again);
    scratch_fini(&s);
}

Test(fit, philly_regenerated_is_near_the_record)
{
    if (access(PHILLY, R_OK) != 0)
        cr_skip_test(PHILLY " is not here");
    struct scratch s;
    struct workload real, made;
    scratch_init(&s);
    load(&real, PHILLY);
    regenerate(&made, &s, &real, real.n_jobs);
    cr_expect_neq(names_find(&made.vcs, "6214e9", 6), NAMES_NONE, "names of VCs stay text");
    for (uint32_t i = 0; i < made.vcs.count; i++) {
        const char *name = names_text(&made.vcs, i);
        cr_expect_neq(names_find(&real.vcs, name, strlen(name)), NAMES_NONE, "%s", name);
    }
    int64_t *a = malloc(real.n_jobs * sizeof *a), *b = malloc(real.n_jobs * sizeof *b);
    for (uint32_t j = 0; j < real.n_jobs; j++) {
        a[j] = real.gpus[j];
        b[j] = made.gpus[j];
    }
    double sizes = distance(a, real.n_jobs, b, real.n_jobs);
    double durations = distance(real.duration_ns, real.n_jobs, made.duration_ns, real.n_jobs);
    printf("distance to the Philly trace: sizes %.4f, durations %.4f\n", sizes, durations);
    cr_expect_lt(sizes, 0.05);
    cr_expect_lt(durations, 0.05);
    free(a);
    free(b);
    workload_fini(&real);
    workload_fini(&made);
    scratch_fini(&s);
}

static int run(const char *format, const char *a, const char *b, const char *c)
{
    char command[4 * SCRATCH_PATH];
    snprintf(command, sizeof command, format, a, b, c);
    return system(command);
}

/* The commands as a user gives them, on a made trace. */
Test(fit, the_program_measures_and_makes_more_of_the_same)
{
    const char *braid = getenv("BRAID");
    if (braid == NULL)
        cr_skip_test("BRAID does not name the program");
    struct scratch s;
    struct workload w, more;
    char from[SCRATCH_PATH], model[SCRATCH_PATH], to[SCRATCH_PATH];
    scratch_init(&s);
    scratch_path(&s, "from.csv", from);
    scratch_path(&s, "model.yaml", model);
    scratch_path(&s, "to.csv.gz", to);
    cr_assert_eq(run("%s trace generate --model muri --jobs 5000 -o %s 2>%s", braid, from, "/dev/null"), 0);
    cr_assert_eq(run("%s trace fit %s -o %s >/dev/null 2>&1", braid, from, model), 0);
    cr_assert_eq(run("%s trace generate --file %s --jobs 5000 --seed 2 -o %s 2>/dev/null", braid, model, to), 0);
    cr_assert_neq(run("%s trace generate --file %s --model philly --jobs 5 -o %s 2>/dev/null", braid, model, to), 0);
    load(&w, from);
    load(&more, to);
    cr_expect_lt(distance(w.duration_ns, w.n_jobs, more.duration_ns, more.n_jobs), 0.06);
    workload_fini(&w);
    workload_fini(&more);
    scratch_fini(&s);
}

/* ---- traces with nothing to measure ------------------------------------------------------------------- */

static void expect_usable(const struct scratch *s, const char *text)
{
    struct workload w, made;
    struct error err = {0};
    cr_assert_eq(scratch_load_text(s, text, &w, &err), BRAID_OK, "%s", err.message);
    regenerate(&made, s, &w, 100);
    cr_expect_eq(made.n_jobs, 100);
    workload_fini(&w);
    workload_fini(&made);
}

Test(fit, takes_traces_of_one_job_of_one_instant_and_of_zero_length)
{
    struct scratch s;
    scratch_init(&s);
    expect_usable(&s, "id,submit,duration,gpus\na,0,10,1\n");
    expect_usable(&s, "id,submit,duration,gpus\na,5,10,1\nb,5,20,4\nc,5,30,4\n");
    expect_usable(&s, "id,submit,duration,gpus\na,0,0,1\nb,1000,0,1\n");
    expect_usable(&s, "id,submit,duration,gpus\na,0,1,1\nb,3000000,1,512\n");
    scratch_fini(&s);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static const char good[] = "braid_model: 1\n"
                           "source: by hand\n"
                           "rate_per_day: 100\n"
                           "week:\n"
                           "  monday: &day [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n"
                           "  tuesday: *day\n"
                           "  wednesday: *day\n"
                           "  thursday: *day\n"
                           "  friday: *day\n"
                           "  saturday: *day\n"
                           "  sunday: *day\n"
                           "burst: 1.5\n"
                           "repeat: 0.2\n"
                           "alike: 0.3\n"
                           "users: 7\n"
                           "user_exponent: 1\n"
                           "vc_exponent: 0\n"
                           "vcs: {b: 1, 6214e9: 2}\n"
                           "sizes: {1: 5, 8: 2}\n"
                           "classes:\n"
                           "  - {gpus_from: 1, knots: [[0, 1], [0.5, 10], [1, 100]]}\n"
                           "  - gpus_from: 8\n"
                           "    states: [{to: 1, passed: 0.5, failed: 0.25, killed: 0.25}]\n"
                           "    knots: [[0, 0], [1, 0]]\n";

static int read_text(const struct scratch *s, const char *text, size_t n, struct error *err)
{
    char path[SCRATCH_PATH];
    struct workload w;
    scratch_write(s, "m.yaml", text, n, path);
    struct generator_spec spec = {.file = path, .file_shown = "m.yaml", .jobs = 40, .seed = 1, .repeat = -1};
    int code = generator_make(&w, &spec, err);
    if (code == BRAID_OK)
        workload_fini(&w);
    return code;
}

Test(fit, reads_a_model_written_by_hand)
{
    struct scratch s;
    struct error err = {0};
    char path[SCRATCH_PATH];
    scratch_init(&s);
    scratch_write(&s, "m.yaml", good, sizeof good - 1, path);
    struct workload w;
    struct generator_spec spec = {.file = path, .file_shown = "m.yaml", .jobs = 2000, .seed = 1, .repeat = -1};
    cr_assert_eq(generator_make(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_expect_eq(w.vcs.count, 2);
    cr_expect_eq(names_find(&w.vcs, "6214e9", 6), 0, "in natural order");
    for (uint32_t j = 0; j < w.n_jobs; j++)
        cr_assert(w.gpus[j] == 8 ? w.duration_ns[j] == 0
                                 : w.duration_ns[j] >= NS_PER_S && w.duration_ns[j] <= 100 * NS_PER_S);
    workload_fini(&w);
    scratch_fini(&s);
}

/* `good` with the first `from` replaced by `to`. */
static void expect_fault(const struct scratch *s, const char *from, const char *to, const char *words)
{
    char text[4096];
    const char *at = strstr(good, from);
    cr_assert_not_null(at, "'%s'", from);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    struct error err = {0};
    cr_expect_eq(read_text(s, text, (size_t)n, &err), BRAID_BAD_INPUT, "%s", words);
    cr_expect_not_null(strstr(err.message, words), "'%s' lacks '%s'", err.message, words);
    cr_expect(strcmp(err.file, "m.yaml") == 0 && err.line > 0, "a place: %s:%d", err.file, err.line);
}

Test(fit, tells_what_is_wrong_with_a_model_and_where)
{
    struct scratch s;
    scratch_init(&s);
    expect_fault(&s, "braid_model: 1\n", "", "this is no model");
    expect_fault(&s, "braid_model: 1", "braid_model: 2", "'braid_model' must be from 1 to 1");
    expect_fault(&s, "rate_per_day", "rate_per_days", "did you mean 'rate_per_day'?");
    expect_fault(&s, "rate_per_day: 100\n", "", "lacks 'rate_per_day'");
    expect_fault(&s, "rate_per_day: 100", "rate_per_day: -1", "must be from 1e-06 to");
    expect_fault(&s, "rate_per_day: 100", "rate_per_day: nan", "must be a number, not 'nan'");
    expect_fault(&s, "rate_per_day: 100", "rate_per_day: [1]", "must be a number");
    expect_fault(&s, "[1,1,1,1,1", "[1,1,1,1", "a list of 24 numbers");
    expect_fault(&s, "[1,1,", "[-1,1,", "the jobs of an hour");
    expect_fault(&s, "sunday", "sonntag", "seven days");
    expect_fault(&s, "burst: 1.5", "burst: 0.9", "'burst' must be from 1 to 64");
    expect_fault(&s, "repeat: 0.2", "repeat: 2", "'repeat'");
    expect_fault(&s, "users: 7", "users: 7.5", "whole number");
    expect_fault(&s, "users: 7", "users: 0", "'users'");
    expect_fault(&s, "{b: 1, 6214e9: 2}", "{}", "'vcs' must be a map");
    expect_fault(&s, "{b: 1, 6214e9: 2}", "{b: 0}", "all of it is 0");
    expect_fault(&s, "{1: 5, 8: 2}", "{8: 5, 1: 2}", "must ascend");
    expect_fault(&s, "{1: 5, 8: 2}", "{0: 5}", "not a number of GPUs");
    expect_fault(&s, "[[0, 1], [0.5, 10], [1, 100]]", "[[0, 1], [0.5, 10], [1, 9]]", "the seconds of a knot");
    expect_fault(&s, "[[0, 1], [0.5, 10], [1, 100]]", "[[0, 1], [0.5, 10], [0.4, 100]]", "the share of a knot");
    expect_fault(&s, "[[0, 1], [0.5, 10], [1, 100]]", "[[0, 1], [0.5, 10]]", "share 1");
    expect_fault(&s, "[[0, 1], [0.5, 10], [1, 100]]", "[[0.1, 1], [1, 100]]", "the share of a knot");
    expect_fault(&s, "[[0, 1], [0.5, 10], [1, 100]]", "[[0, 1]]", "from 2 to");
    expect_fault(&s, "[1, 100]", "[1, 100, 3]", "a list of two");
    expect_fault(&s, "gpus_from: 8", "gpus_from: 1", "ascend from class to class");
    expect_fault(&s, "killed: 0.25", "killed: 0.3", "add up to 1.05");
    expect_fault(&s, "{to: 1, ", "{to: 0.5, ", "up to 1");
    expect_fault(&s, ", killed: 0.25", "", "'killed', no more and no less");
    struct error err = {0};
    cr_expect_eq(read_text(&s, "", 0, &err), BRAID_BAD_INPUT);
    cr_expect_eq(read_text(&s, "[1, 2]\n", 7, &err), BRAID_BAD_INPUT);
    scratch_fini(&s);
}

/* Bytes changed, cut and doubled at random: the answer is a workload or an error with a place, never anything else. */
Test(fit, survives_any_damage_to_a_model)
{
    struct scratch s;
    scratch_init(&s);
    static const char alphabet[] = "0123456789.-+e:,[]{}&*'\"#\n \t\0\xff";
    uint64_t state = 12345;
    uint32_t fine = 0, refused = 0;
    for (int round = 0; round < 1500; round++) {
        char text[2 * sizeof good];
        size_t n = sizeof good - 1;
        memcpy(text, good, n);
        for (uint64_t left = 1 + (uint64_t)round % 3; left > 0; left--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(state >> 33) % n;
            uint64_t kind = state >> 20 & 7;
            if (kind == 0) {
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
            } else if (kind == 1 && n + 8 < sizeof text) {
                memmove(text + at + 1, text + at, n - at);
                n++;
            } else {
                text[at] = alphabet[(state >> 13) % (sizeof alphabet - 1)];
            }
        }
        struct error err = {0};
        int code = read_text(&s, text, n, &err);
        cr_assert(code == BRAID_OK || code == BRAID_BAD_INPUT, "%d: %s", code, err.message);
        if (code == BRAID_OK)
            fine++;
        else
            refused++;
        cr_assert(code == BRAID_OK || err.message[0] != '\0');
    }
    printf("%" PRIu32 " taken, %" PRIu32 " refused\n", fine, refused);
    cr_expect(fine > 30 && refused > 100);
    scratch_fini(&s);
}

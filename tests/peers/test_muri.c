/* The Muri simulator under compat: muri: every job of the given runs, the published numbers that its code gives, and small cases solved
 * by hand. */
#include "output/metrics.h"
#include "tests/peers/peers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACES "../shared/traces/muri/"
#define FOLDER REFERENCE "muri/"

static const double JOB_WITHIN = 1e-6, PUBLISHED_WITHIN = 1e-7;

static void run_trace(struct peer_run *p, const char *trace, const char *policy)
{
    char yaml[2048];
    char *traces = peer_path(TRACES);
    snprintf(yaml, sizeof yaml,
             "name: case\ntrace: {path: %s/%s.csv, format: muri}\ncluster: {file: %s/n8g8.csv}\n"
             "policy: %s\nplacement: yarn\ncompat: muri\n",
             traces, trace, traces, policy);
    peer_run(p, yaml);
    free(traces);
}

/* ---- every job ------------------------------------------------------------------------------------- */

static bool is_near(double ours, double theirs)
{
    return fabs(ours - theirs) <= JOB_WITHIN * fmax(1, fabs(theirs));
}

static void compare_jobs(const char *trace, const char *policy, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s_%s.csv", trace, file);
    peer_need(path);
    struct peer_run p;
    struct peer_table t;
    struct peer_score score = {.peer = "muri", .what = path + strlen(FOLDER)};
    run_trace(&p, trace, policy);
    peer_table_read(&t, path);
    cr_expect_eq(t.n_rows, p.w.n_jobs);
    for (uint32_t row = 0; row < t.n_rows; row++) {
        const char *id = peer_text(&t, row, "job_id");
        const struct job *j = &p.r.jobs[peer_job(&p.w, id, false)];
        double start = (double)peer_time_ns(&t, row, "start") * 1e-9, end = (double)peer_time_ns(&t, row, "end") * 1e-9;
        bool same = j->status == STATUS_FINISHED && is_near((double)j->start_ns * 1e-9, start) &&
                    is_near((double)j->end_ns * 1e-9, end);
        score.jobs++;
        score.mismatches += !same;
        if (!same && score.first[0] == '\0')
            snprintf(score.first, sizeof score.first, "job %s runs from %.6f to %.6f s, there from %.6f to %.6f s", id,
                     (double)j->start_ns * 1e-9, (double)j->end_ns * 1e-9, start, end);
    }
    peer_report(&score);
    peer_table_fini(&t);
    peer_run_fini(&p);
}

Test(muri, every_job_of_the_baselines_starts_and_ends_as_there)
{
    compare_jobs("trace3", "srtf", "srtf");
    compare_jobs("trace1", "srtf", "srtf");
    compare_jobs("job_type_2", "srtf", "srtf");
    compare_jobs("trace3", "srsf", "srsf");
    compare_jobs("trace3", "tiresias", "tiresias");
    compare_jobs("trace1", "tiresias", "tiresias");
    compare_jobs("trace3", "antman", "antman");
    compare_jobs("trace3_pr", "antman", "antman");
}

Test(muri, every_job_of_muri_starts_and_ends_as_there)
{
    compare_jobs("trace3", "muri_s", "muri-s");
    compare_jobs("trace3", "muri_l", "muri-l");
    compare_jobs("trace3_pr", "muri_s", "muri-s");
    compare_jobs("trace3_pr", "muri_l", "muri-l");
    compare_jobs("job_type_2", "muri_l", "muri-l");
}

/* ---- what was published ---------------------------------------------------------------------------- */

static double metric(const struct peer_run *p, const char *name)
{
    struct metrics m;
    struct error err = {0};
    cr_assert_eq(metrics_compute(&m, &p->r, &p->w, &p->x.runs[0].measure, &err), BRAID_OK, "%s", err.message);
    int at = metrics_find(name);
    cr_assert_geq(at, 0, "no metric %s", name);
    return m.value[at];
}

static bool is_of_the_code(const char *figure, const char *policy)
{
    bool is_simple = strcmp(policy, "srtf") == 0 || strcmp(policy, "tiresias") == 0;
    if (strcmp(figure, "13") == 0)
        return is_simple;
    return (strcmp(figure, "9") == 0 || strcmp(figure, "10") == 0) &&
           (is_simple || strcmp(policy, "srsf") == 0 || strcmp(policy, "antman") == 0);
}

/* Rows of one run need not stand together: the run is repeated for each that comes after another's, which takes no time. */
Test(muri, published_numbers_of_the_baselines_come_out)
{
    peer_need(FOLDER "published.csv");
    peer_need(TRACES "trace1.csv");
    struct peer_table t;
    struct peer_run p;
    char of[128] = "";
    uint32_t n = 0;
    peer_table_read(&t, FOLDER "published.csv");
    for (uint32_t row = 0; row < t.n_rows; row++) {
        const char *figure = peer_text(&t, row, "figure"), *policy = peer_text(&t, row, "policy");
        const char *trace = peer_text(&t, row, "trace"), *name = peer_text(&t, row, "metric");
        if (!is_of_the_code(figure, policy))
            continue;
        char now[128];
        snprintf(now, sizeof now, "%s %s", trace, policy);
        if (strcmp(now, of) != 0) {
            if (of[0] != '\0')
                peer_run_fini(&p);
            run_trace(&p, trace, policy);
            memcpy(of, now, sizeof of);
        }
        double published = strtod(peer_text(&t, row, "seconds"), NULL), ours = metric(&p, name);
        cr_expect_leq(fabs(ours / published - 1), PUBLISHED_WITHIN, "figure %s, %s, %s, %s: %.9g s, published %.9g s",
                      figure, trace, policy, name, ours, published);
        n++;
    }
    if (of[0] != '\0')
        peer_run_fini(&p);
    peer_table_fini(&t);
    printf("peers muri published.csv: numbers %u\n", n);
    cr_expect_eq(n, 96u + 8u);
}

/* ---- by hand --------------------------------------------------------------------------------------- */

#define HEADER                                                                                                         \
    "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time,resource_time_0,resource_time_1,"        \
    "resource_time_2,priority\n"

static int try_rows(struct peer_run *p, const char *rows, const char *policy, const char *more, struct error *err)
{
    const char *temp = getenv("TMPDIR");
    char path[512], yaml[1024];
    snprintf(path, sizeof path, "%s/braid-muri-XXXXXX", temp != NULL ? temp : "/tmp");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    FILE *f = fdopen(fd, "w");
    fprintf(f, HEADER "%s", rows);
    fclose(f);
    snprintf(yaml, sizeof yaml,
             "name: case\ntrace: {path: %s, format: muri}\npolicy: %s\ncompat: muri\nplacement: yarn\n%s", path, policy,
             more);
    int code = peer_try(p, yaml, err);
    unlink(path);
    return code;
}

static void run_rows(struct peer_run *p, const char *rows, const char *policy)
{
    struct error err;
    cr_assert_eq(try_rows(p, rows, policy, "", &err), BRAID_OK, "%s", err.message);
}

static void expect_job(const struct peer_run *p, uint32_t job, double start_s, double end_s)
{
    cr_expect_float_eq((double)p->r.jobs[job].start_ns * 1e-9, start_s, 1e-6, "job %u starts at %.9g s", job,
                       (double)p->r.jobs[job].start_ns * 1e-9);
    cr_expect_float_eq((double)p->r.jobs[job].end_ns * 1e-9, end_s, 1e-6, "job %u ends at %.9g s", job,
                       (double)p->r.jobs[job].end_ns * 1e-9);
}

/* A job pays its 10 s at every event, so it gets nowhere while short jobs come every 8 s, though the cluster is all but empty. */
Test(muri, overhead_is_paid_at_every_event)
{
    struct peer_run p;
    run_rows(&p,
             "0,1,0,100,bert,100000,1000,100,800,100,0\n"
             "1,1,8000,1,bert,1000,1000,100,800,100,0\n"
             "2,1,16000,1,bert,1000,1000,100,800,100,0\n"
             "3,1,24000,1,bert,1000,1000,100,800,100,0\n",
             "srtf");
    expect_job(&p, 3, 24, 25.015);
    expect_job(&p, 0, 0, 25.015 + 101.5);
    cr_expect_eq(p.r.jobs[0].overhead_ns, INT64_C(25015000000));
    cr_expect_eq(p.r.jobs[0].preemptions, 0u);
    peer_run_fini(&p);
}

#define THREE_LARGE                                                                                                    \
    "0,32,0,100,mine,400000,4000,2000,1000,1000,0\n"                                                                   \
    "1,32,0,100,mine,400000,4000,2000,1000,1000,0\n"                                                                   \
    "2,32,0,100,mine,400000,4000,2000,1000,1000,0\n"

/* Two of three jobs share 32 GPUs, each iteration taking both 1.33 x 4 s, until the third is done; then each runs alone. */
Test(muri, two_jobs_share_when_three_do_not_fit)
{
    static const char *const policies[] = {"muri_s", "muri_l", "{name: muri_l, group: 2}"};
    double period = 4 * (1.33 / 1.015), first = 100 * 4.06, left = 100 - (first - 20) / period;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct peer_run p;
        run_rows(&p, THREE_LARGE, policies[i]);
        expect_job(&p, 2, 0, first);
        expect_job(&p, 0, 0, first + left * 4.06);
        expect_job(&p, 1, 0, first + left * 4.06);
        cr_expect_eq(p.r.jobs[0].overhead_ns, INT64_C(20000000000)); /* that of both members */
        peer_run_fini(&p);
    }
}

/* The first jobs fit into each other when they stand opposite, and get into each other's way next to each other. */
Test(muri, worst_ordering_makes_pairs_slower)
{
    static const char rows[] = "0,32,0,100,mine,600000,6000,5000,0,1000,0\n"
                               "1,32,0,100,mine,600000,6000,1000,3000,2000,0\n"
                               "2,32,0,100,mine,600000,6000,1000,3000,2000,0\n";
    struct peer_run best, worst;
    double sum[2] = {0, 0};
    run_rows(&best, rows, "muri_l");
    run_rows(&worst, rows, "{name: muri_l, ordering: worst}");
    for (uint32_t job = 0; job < 3; job++) {
        sum[0] += (double)best.r.jobs[job].end_ns;
        sum[1] += (double)worst.r.jobs[job].end_ns;
    }
    cr_expect_gt(sum[1], sum[0]);
    peer_run_fini(&best);
    peer_run_fini(&worst);
}

/* Without matching a slot's jobs follow its first until the cluster suffices: the pair is the same here. */
Test(muri, without_matching_neighbours_share)
{
    struct peer_run p;
    double period = 4 * (1.33 / 1.015), first = 100 * 4.06, left = 100 - (first - 20) / period;
    run_rows(&p, THREE_LARGE, "{name: muri_l, matching: none}");
    expect_job(&p, 0, 0, first + left * 4.06);
    expect_job(&p, 2, 0, first);
    peer_run_fini(&p);
}

/* 22 GPUs a job are 22/32 of each: rho = 0.6875 x iteration / x, and x sums to 2 with the longest iteration at 1. */
Test(muri, themis_favours_long_iterations)
{
    struct peer_run p;
    run_rows(&p,
             "0,32,0,400,mine,400000,1000,500,400,100,0\n"
             "1,32,0,200,mine,400000,2000,1000,800,200,0\n"
             "2,32,0,30,mine,300000,10000,5000,4000,1000,0\n",
             "themis");
    cr_expect_eq(p.r.jobs[1].start_ns, 0);
    cr_expect_eq(p.r.jobs[2].start_ns, 0);
    cr_expect_float_eq((double)p.r.jobs[0].start_ns * 1e-9, 30 * 10.15, 1e-6);
    peer_run_fini(&p);
}

/* The opportunistic job finds its GPU taken by a guaranteed one that leaves 0.2 s of gaps for its 0.8 s stage in every cycle of 1.015 s. */
Test(muri, antman_squeezes_opportunistic_jobs_into_gaps)
{
    struct peer_run p;
    char rows[8192] = "0,32,0,1000,mine,1000000,1000,100,800,100,0\n1,32,0,1000,mine,1000000,1000,100,800,100,0\n";
    strcat(rows, "2,32,0,1,mine,1000,1000,100,800,100,1\n");
    run_rows(&p, rows, "antman");
    /* load 0.1 in the gap 0.9 of the neighbour's compute and network stages: one cycle, in which the network gap takes 0.1 of its
     * compute stage as well; 0.7 of compute in gaps of 0.2: three whole ones and a half; its network stage fits behind that */
    expect_job(&p, 2, 0, 5 * 1.015);
    expect_job(&p, 0, 0, 1015 + 10 - 10 + fmin(10, 5 * 1.015));
    peer_run_fini(&p);
}

static void expect_refusal(const char *rows, const char *policy, const char *more, const char *says)
{
    struct peer_run p;
    struct error err;
    int code = try_rows(&p, rows, policy, more, &err);
    cr_expect_eq(code, BRAID_BAD_INPUT, "%s with %s is accepted", policy, more);
    cr_expect(strstr(err.message, says) != NULL, "'%s' does not say '%s'", err.message, says);
    if (code == BRAID_OK)
        peer_run_fini(&p);
}

Test(muri, refuses_what_it_does_not_have)
{
    static const char job[] = "0,1,0,10,mine,10000,1000,100,800,100,0\n";
    expect_refusal("7,3,0,10,mine,10000,1000,100,800,100,0\n", "srtf", "", "job 7");
    expect_refusal(job, "fifo", "", "srtf, srsf, tiresias, antman, themis, muri_s, muri_l");
    expect_refusal(job, "srtf", "model: {start_overhead: 5 s}\n", "overhead");
    expect_refusal(job, "srtf", "estimate: trace\n", "estimate");
    expect_refusal(job, "{name: tiresias, service: time}", "", "gpu_time");
    expect_refusal(job, "{name: muri_l, group: 5}", "", "group");
    expect_refusal("0,1,0,10,mine,10000,1000,900,0,0,0\n", "antman", "", "divides by zero");
}

Test(muri, a_job_that_fits_nowhere_stays_unfinished)
{
    struct peer_run p;
    struct error err;
    cr_assert_eq(try_rows(&p,
                          "0,1,0,10,mine,10000,1000,100,800,100,0\n"
                          "1,32,0,10,mine,10000,1000,100,800,100,0\n",
                          "srtf", "cluster: {nodes: [{count: 2, gpus: 8}]}\n", &err),
                 BRAID_OK, "%s", err.message);
    expect_job(&p, 0, 0, 10.15);
    cr_expect_eq(p.r.jobs[1].status, STATUS_UNFINISHED);
    cr_expect_str_eq(p.r.jobs[1].reason, "never_started");
    peer_run_fini(&p);
}

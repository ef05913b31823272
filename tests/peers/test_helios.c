/* Every job of every run that the released Helios simulator made of the given cases, under compat: helios. */
#include "tests/peers/peers.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER REFERENCE "helios/"

/* CASE_POLICY_PLACER.csv, where CASE has underscores of its own */
static void case_run(struct peer_run *p, const char *file)
{
    char name[96], yaml[4096], estimate[512] = "exact";
    snprintf(name, sizeof name, "%s", file);
    char *dot = strrchr(name, '.'), *placer = strrchr(name, '_');
    cr_assert(dot != NULL && placer != NULL, "%s", file);
    *dot = *placer++ = '\0';
    char *policy = strrchr(name, '_');
    cr_assert_not_null(policy, "%s", file);
    *policy++ = '\0';
    char *inputs = peer_path(FOLDER "inputs");
    if (strcmp(policy, "qssf") == 0)
        snprintf(estimate, sizeof estimate, "{source: file, path: %s/%s_qssf_priority.csv}", inputs, name);
    snprintf(yaml, sizeof yaml,
             "name: case\ntrace: {path: %s/%s_input.csv, format: helios}\ncluster: {file: %s/%s_vc.csv}\n"
             "policy: %s\nplacement: %s\nestimate: %s\ncompat: helios\n",
             inputs, name, inputs, name, policy, strcmp(placer, "random") == 0 ? "count" : placer, estimate);
    peer_run(p, yaml);
    free(inputs);
}

static void compare(const struct peer_run *p, const char *file, const struct peer_table *t)
{
    struct peer_score score = {.peer = "helios", .what = file};
    cr_expect_eq(t->n_rows, p->w.n_jobs, "%s: %u rows for %u jobs", file, t->n_rows, p->w.n_jobs);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        const char *name = peer_text(t, row, "jobname");
        uint32_t job = peer_job(&p->w, name, true);
        const struct job *j = &p->r.jobs[job];
        int64_t queued = j->end_ns - p->w.submit_ns[job] - j->run_ns;
        bool same = peer_same(&score, name, "status", j->status, STATUS_FINISHED);
        same &= peer_same(&score, name, "start", j->start_ns, peer_time_ns(t, row, "start_time"));
        same &= peer_same(&score, name, "end", j->end_ns, peer_time_ns(t, row, "end_time"));
        same &= peer_same(&score, name, "queue", queued, peer_time_ns(t, row, "queue"));
        same &= peer_same(&score, name, "preemptions", j->preemptions, peer_number(t, row, "preemptions"));
        score.jobs++;
        score.mismatches += !same;
    }
    peer_report(&score);
}

Test(helios, every_job_of_every_case_starts_and_ends_as_there)
{
    glob_t files;
    peer_need(FOLDER "inputs");
    cr_assert_eq(glob(FOLDER "*_*_*.csv", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *file = strrchr(files.gl_pathv[i], '/') + 1;
        struct peer_run p;
        struct peer_table t;
        case_run(&p, file);
        peer_table_read(&t, files.gl_pathv[i]);
        compare(&p, file, &t);
        peer_table_fini(&t);
        peer_run_fini(&p);
    }
    globfree(&files);
}

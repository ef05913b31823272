/* Every job of every run that the released Tiresias simulator made of the given cases, under compat: tiresias. */
#include "tests/peers/peers.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER REFERENCE "tiresias/"

static const struct policy_name {
    const char *theirs, *ours;
    bool needs_sample;
} names[] = {
    {"fifo", "fifo", false},
    {"fjf", "fifo_skip", false},
    {"lpjf", "longest_waiting", false},
    {"sjf", "smallest", false},
    {"shortest", "srtf", false},
    {"shortest-gpu", "srsf", false},
    {"dlas", "{name: tiresias, service: time}", false},
    {"dlas-gpu", "tiresias", false},
    {"dlas-gpu-1", "{name: tiresias, promote: 1}", false},
    {"dlas-gpu-8", "{name: tiresias, promote: 8}", false},
    {"gittins-patched", "{name: gittins, source: file, file: %s}", true},
    {"dlas-gpu-gittins", "{name: gittins, source: file, file: %s, thresholds: [3250, 7200]}", true},
};

static const struct policy_name *name_find(const char *theirs)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].theirs, theirs) == 0)
            return &names[i];
    cr_assert_fail("no braid policy is known for Tiresias' %s", theirs);
    return NULL;
}

/* TRACE_CLUSTER_SCHEME_POLICY.csv */
static void case_run(struct peer_run *p, const char *file, char *policy)
{
    char trace[32], cluster[32], scheme[32], ours[1024], yaml[4096];
    cr_assert_eq(sscanf(file, "%31[^_]_%31[^_]_%31[^_]_%31[^.]", trace, cluster, scheme, policy), 4, "%s", file);
    char *inputs = peer_path(FOLDER "inputs"), *sample = peer_path(FOLDER "inputs/yarn-gput1000.csv");
    const struct policy_name *n = name_find(policy);
    if (n->needs_sample) {
        char *at = strstr(n->ours, "%s");
        snprintf(ours, sizeof ours, "%.*s%s%s", (int)(at - n->ours), n->ours, sample, at + 2);
    } else {
        snprintf(ours, sizeof ours, "%s", n->ours);
    }
    snprintf(yaml, sizeof yaml,
             "name: case\ntrace: {path: %s/%s_job.csv, format: tiresias}\ncluster: {file: %s/%s.csv}\n"
             "policy: %s\nplacement: %s\ncompat: tiresias\n",
             inputs, trace, inputs, cluster, ours, scheme);
    peer_run(p, yaml);
    free(inputs);
    free(sample);
}

static void compare(const struct peer_run *p, const char *file, const struct peer_table *t, bool is_preemptive)
{
    struct peer_score score = {.peer = "tiresias", .what = file};
    cr_expect_eq(t->n_rows, p->w.n_jobs, "%s: %u rows for %u jobs", file, t->n_rows, p->w.n_jobs);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        const char *id = peer_text(t, row, "job_id");
        uint32_t job = peer_job(&p->w, id, false);
        const struct job *j = &p->r.jobs[job];
        int64_t queued = j->end_ns - p->w.submit_ns[job] - j->run_ns;
        bool same = peer_same(&score, id, "status", j->status, STATUS_FINISHED);
        same &= peer_same(&score, id, "start", j->start_ns, peer_time_ns(t, row, "start_time"));
        same &= peer_same(&score, id, "end", j->end_ns, peer_time_ns(t, row, "end_time"));
        same &= peer_same(&score, id, "pending time", queued, peer_time_ns(t, row, "pending_time"));
        same &= peer_same(&score, id, "preemptions", j->preemptions, peer_number(t, row, "preempt"));
        if (is_preemptive)
            same &= peer_same(&score, id, "resumes", j->restarts + 1, peer_number(t, row, "resume"));
        score.jobs++;
        score.mismatches += !same;
    }
    peer_report(&score);
}

static bool is_preemptive(const char *policy)
{
    return strcmp(policy, "fifo") != 0 && strcmp(policy, "fjf") != 0 && strcmp(policy, "lpjf") != 0;
}

Test(tiresias, every_job_of_every_case_starts_and_ends_as_there)
{
    glob_t files;
    peer_need(FOLDER "inputs/60_job.csv");
    cr_assert_eq(glob(FOLDER "*_*_*_*.csv", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *file = strrchr(files.gl_pathv[i], '/') + 1;
        char policy[32];
        struct peer_run p;
        struct peer_table t;
        case_run(&p, file, policy);
        peer_table_read(&t, files.gl_pathv[i]);
        compare(&p, file, &t, is_preemptive(policy));
        peer_table_fini(&t);
        peer_run_fini(&p);
    }
    globfree(&files);
}

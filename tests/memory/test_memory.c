/* Memory runs out at every place where braid's own code asks for some. */
#include "tests/memory/scene.h"

#include "policies/registry.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(memory, .init = scene_open, .fini = scene_close);

Test(memory, under_every_policy)
{
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "name: memory\n"
                 "trace: {generate: {model: philly, jobs: %d, vcs: 2, users: 3}, deadlines: {factor: [1, 3]}}\n"
                 "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                 "model: {start_overhead: 10 s, restart_overhead: 30 s}\n"
                 "policy: %s\n",
                 strcmp((*p)->name, "optimal") == 0 ? 8 : 40, (*p)->name);
        scene_file("c.yaml", text);
        scene_play("run c.yaml -o out.h5 -j 1 --quiet", "out.h5");
    }
}

static const char sweep[] = "name: memory\n"
                            "trace: {generate: {model: philly, jobs: 30, vcs: 2, users: 3}, load: 0.9}\n"
                            "cluster:\n"
                            "  nodes: [{count: 4, gpus: 8, cpus: 64, memory: 256 GB, gpu: V100}]\n"
                            "  vcs: {vc1: {gpus: 16}, vc2: {gpus: 20}}\n"
                            "model: {restart_overhead: {by_gpus: {1: 7 s, 8: 30 s}}}\n"
                            "estimate: {source: noise, sigma: 0.5}\n"
                            "output: {jobs: on, series: 1 h, segments: on, events: on}\n"
                            "sweep: {policy: [fifo, srtf, {name: tiresias, thresholds: [3250, 7200]}]}\n";

Test(memory, when_a_sweep_is_stored_and_reported)
{
    scene_file("c.yaml", sweep);
    scene_play("config check c.yaml", NULL);
    scene_play("run c.yaml -o out.h5 -j 1 --quiet --check", "out.h5");
    scene_play("run c.yaml -o out.h5 -j 1 --quiet --resume", NULL);
    scene_play("compare out.h5 --by vc,gpus --format md", NULL);
    scene_play("compare out.h5", NULL);
    scene_play("diff out.h5 out.h5", NULL);
    scene_play("export out.h5 --what jobs -o jobs.csv", "jobs.csv");
    scene_play("export out.h5 --what events --format json -o e.json", "e.json");
    scene_play("merge all.h5 out.h5", "all.h5");
}

/* Settings that the other scenes leave out; each is laid over this config. */
static const char plain[] = "name: memory\n"
                            "trace: {generate: {model: philly, jobs: 30, vcs: 2, users: 3}}\n"
                            "cluster: {nodes: [{count: 4, gpus: 8}]}\n"
                            "policy: fifo\n";
static const char *const settings[] = {
    "trace={generate:~{model:~helios,jobs:~30,estimates:~true}}",
    "trace={generate:~{model:~pai,jobs:~30,gpu_types:~true}}",
    "trace={generate:~{model:~gavel,jobs:~30}}",
    "trace={generate:~{model:~heavy,jobs:~30}}",
    "trace={path:~jobs.csv,jobs:~20,load:~1.2}",
    "trace={path:~jobs.csv,profiles:~{table:~muri.yaml}}",
    "estimate={source:~file,path:~estimates.csv}",
    "estimate=user_mean",
    "trace={path:~jobs.csv} estimate={source:~trace,on_exceed:~kill}",
    "model={restart_overhead:~{table:~overhead.csv}}",
    "cluster={nodes:~[{count:~4,gpus:~8}],vcs:~{vc0:~{gpus:~24,changes:~quota.csv},vc1:~{gpus:~8,changes:~quota.csv}}}",
    "policy={name:~fair_share,shares:~shares.csv}",
    "policy={name:~gittins,source:~file,file:~service.csv}",
    "policy={name:~gittins,source:~lognormal}",
    "policy={name:~compose,order:~edf,preempt:~when_better,admission:~feasible}",
    "policy={name:~compose,order:~fifo,fill:~easy}",
    "policy={name:~weighted_round_robin,by:~user}",
    "placement={name:~weighted_round_robin,weights:~[2]}",
    "placement=rack_local",
    "placement=yarn",
    "placement=random",
    "placement=power_of_two",
    "compat=helios",
    "compat=tiresias placement=count",
    "compat=tiresias placement=count policy={name:~tiresias,promote:~8}",
    "compat=tiresias placement=count policy={name:~gittins,source:~file,file:~service.csv}",
};

Test(memory, under_many_settings)
{
    char words[1024];
    scene_file("c.yaml", plain);
    scene_file("shares.csv", "name,parent,weight,guarantee\nu0,,2,\n");
    scene_file("overhead.csv", "gpus,overhead\n1,7\n8,30\n");
    snprintf(words, sizeof words, "cp %s/configs/quota.csv %s/configs/service.csv %s/configs/profiles/muri.yaml .",
             scene_root(), scene_root(), scene_root());
    cr_assert_eq(system(words), 0);
    scene_play("trace generate --jobs 30 --model muri --vcs 2 --estimates -o jobs.csv", "jobs.csv");
    cr_assert_eq(system("(echo id,estimate; tail -n +2 jobs.csv | cut -d, -f1 | sed 's/$/,3600/') >estimates.csv"), 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char set[512];
        snprintf(set, sizeof set, "%s", settings[i]);
        size_t n = (size_t)snprintf(words, sizeof words, "run c.yaml -o out.h5 -j 1 --quiet");
        for (char *save = NULL, *word = strtok_r(set, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
            n += (size_t)snprintf(words + n, sizeof words - n, " --set %s", word);
        scene_play(words, "out.h5");
    }
}

/* The seeds of the fuzzer are small files of every format: up to the first byte 0xff, the trace. */
static void play_folder(const char *folder, uint32_t *n_read)
{
    char path[1024];
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    cr_assert_gt(n, 2, "%s", folder);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *from = entries[i]->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        if (from != NULL) {
            FILE *to = fopen("t", "wb");
            cr_assert_not_null(to);
            for (int c; (c = getc(from)) != EOF && c != 0xff;)
                putc(c, to);
            fclose(from);
            cr_assert_eq(fclose(to), 0);
            if (scene_works("trace check t")) {
                scene_play("trace check t", NULL);
                ++*n_read;
            }
        }
        free(entries[i]);
    }
    free(entries);
}

Test(memory, when_traces_are_read)
{
    static const char *const folders[] = {"trace", "trace-batsim", "trace-philly_json"};
    char path[512];
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", scene_root(), folders[i]);
        play_folder(path, &n);
    }
    cr_assert_gt(n, 30u);
}

Test(memory, when_traces_are_worked_on)
{
    scene_play("trace generate --jobs 60 --deadlines 0.5 --estimates -o a.csv", "a.csv");
    scene_play("trace info a.csv --gpus 64", NULL);
    scene_play("trace diff a.csv a.csv", NULL);
    scene_play("trace convert a.csv -o b.json.gz", "b.json.gz");
    scene_play("trace convert a.csv -o b.swf", "b.swf");
    scene_play("trace sample a.csv -o s.csv --bootstrap --length 2", "s.csv");
    scene_play("trace fit a.csv -o m.yaml", "m.yaml");
    scene_play("trace generate --jobs 60 --file m.yaml -o g.csv", "g.csv");
}

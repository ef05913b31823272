/* Stage times from a table of profiles (trace.profiles). */
#include "scratch.h"
#include "traces/stage_assign.h"
#include "traces/stage_table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TABLE                                                                                                          \
    "braid_profiles: 1\n"                                                                                              \
    "models:\n"                                                                                                        \
    "  net10: {by_gpus: {1: {gpu: 6 ms, cpu: 2 ms}}}\n"                                                                \
    "  net2: {bound: network, gpu_memory: 3 GiB, weight: 3, by_gpus: {2: {iteration: 10 ms, storage: 4 ms}, "          \
    "8: {network: 20 ms}}}\n"

/* Load `trace` with the table `table`; the status. */
static int load(const struct scratch *s, const char *table, const char *trace, struct stages_spec stages,
                struct workload *w, struct error *err)
{
    char table_path[SCRATCH_PATH], trace_path[SCRATCH_PATH];
    scratch_write(s, "t.yaml", table, strlen(table), table_path);
    scratch_write(s, "t.csv", trace, strlen(trace), trace_path);
    struct trace_spec spec = scratch_spec(trace_path);
    spec.stages = stages;
    spec.stages.table = table_path;
    spec.stages.table_shown = "t.yaml";
    *err = (struct error){0};
    return trace_load(w, &spec, err);
}

static void expect_job(const struct workload *w, uint32_t job, const char *model, int64_t iteration_ms,
                       int64_t storage_ms, int64_t cpu_ms, int64_t gpu_ms, int64_t network_ms, int64_t iterations)
{
    const int64_t stages[] = {storage_ms, cpu_ms, gpu_ms, network_ms};
    cr_expect_str_eq(names_text(&w->models, w->model[job]), model, "job %u is %s", job,
                     names_text(&w->models, w->model[job]));
    cr_expect_eq(w->iteration_ns[job], iteration_ms * 1000000);
    cr_expect_eq(w->iterations[job], iterations, "job %u: %lld iterations", job, (long long)w->iterations[job]);
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        cr_expect_eq(w->stage_ns[k][job], stages[k] * 1000000, "job %u, stage %d", job, k);
}

/* ---- by name ------------------------------------------------------------------------------------- */

Test(stages, a_job_takes_its_model_at_the_largest_size_that_is_no_larger)
{
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    /* net2 on 1 GPU has no smaller entry than that for 2; on 4 that for 2; on 8 and 16 that for 8 */
    cr_assert_eq(load(&s, TABLE,
                      "id,submit,duration,gpus,model\n"
                      "a,0,1,1,net2\nb,1,1,2,net2\nc,2,1,4,net2\nd,3,1,8,net2\ne,4,1,16,net2\nf,5,1,16,net10\n",
                      (struct stages_spec){0}, &w, &err),
                 0, "%s", err.message);
    for (uint32_t j = 0; j < 3; j++)
        expect_job(&w, j, "net2", 10, 4, 0, 0, 0, 100); /* 1 s in iterations of 10 ms */
    expect_job(&w, 3, "net2", 20, 0, 0, 0, 20, 50);
    expect_job(&w, 4, "net2", 20, 0, 0, 0, 20, 50);
    expect_job(&w, 5, "net10", 8, 0, 2, 6, 0, 125); /* the iteration is the sum of its stages */
    cr_expect_eq(w.gpu_mem_kib[0], 3u << 20);
    cr_expect_eq(w.gpu_mem_kib[5], 0);
    cr_expect_eq(w.duration_ns[0], INT64_C(1000000000));
    workload_fini(&w);
    scratch_fini(&s);
}

Test(stages, iterations_are_rounded_and_at_least_one)
{
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    cr_assert_eq(load(&s, TABLE,
                      "id,submit,duration,gpus,model\na,0,0.003,2,net2\nb,1,0.015,2,net2\nc,2,0.014,2,net2\n",
                      (struct stages_spec){0}, &w, &err),
                 0);
    cr_expect_eq(w.iterations[0], 1);
    cr_expect_eq(w.iterations[1], 2);
    cr_expect_eq(w.iterations[2], 1);
    workload_fini(&w);
    scratch_fini(&s);
}

/* Jobs with stages of their own keep them, but under `all` and `drawn`. */
Test(stages, whose_stages_are_replaced_is_a_choice)
{
    static const char *const trace = "id,submit,duration,gpus,model,iterations,iteration_time,stage_storage,stage_cpu,"
                                     "stage_gpu,stage_network\n"
                                     "a,0,1,2,net2,200,0.005,0.001,0.001,0.001,0.001\n"
                                     "b,1,1,1,net10,0,0,0,0,0,0\n";
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    cr_assert_eq(load(&s, TABLE, trace, (struct stages_spec){.jobs = STAGES_MISSING}, &w, &err), 0, "%s", err.message);
    expect_job(&w, 0, "net2", 5, 1, 1, 1, 1, 200);
    expect_job(&w, 1, "net10", 8, 0, 2, 6, 0, 125);
    workload_fini(&w);
    cr_assert_eq(load(&s, TABLE, trace, (struct stages_spec){.jobs = STAGES_ALL}, &w, &err), 0);
    expect_job(&w, 0, "net2", 10, 4, 0, 0, 0, 100);
    workload_fini(&w);
    static const double storage_only[] = {0, 0, 1, 0}; /* net10, whose longest stage is the GPU's */
    cr_assert_eq(load(&s, TABLE, trace, (struct stages_spec){.jobs = STAGES_DRAWN, .mix = {storage_only, 4}}, &w, &err),
                 0);
    expect_job(&w, 0, "net10", 8, 0, 2, 6, 0, 125);
    workload_fini(&w);
    scratch_fini(&s);
}

/* ---- by draw ------------------------------------------------------------------------------------- */

static const char *many_jobs(char *text, size_t size, int n, const char *rest, int n_rest)
{
    size_t used = (size_t)snprintf(text, size, "id,submit,duration,gpus,user,name\n");
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, size - used, "%d,%d,100,1,u%d,%s%d\n", i, i, i % 2, rest, i % n_rest);
    return text;
}

static uint32_t count_model(const struct workload *w, const char *model)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++)
        n += strcmp(names_text(&w->models, w->model[j]), model) == 0;
    return n;
}

Test(stages, what_is_drawn_follows_the_weights_and_the_seed)
{
    static char text[200000];
    struct scratch s;
    struct workload w, again, other;
    struct error err;
    scratch_init(&s);
    many_jobs(text, sizeof text, 4000, "n", 4000);
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 1}, &w, &err), 0, "%s", err.message);
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 1}, &again, &err), 0);
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 2}, &other, &err), 0);
    uint32_t n = count_model(&w, "net2"); /* weight 3 of 4; 4 standard deviations are 110 */
    cr_expect(n > 2890 && n < 3110, "%u of 4000", n);
    cr_expect_arr_eq(w.digest, again.digest, DIGEST_BYTES);
    cr_expect_arr_neq(w.digest, other.digest, DIGEST_BYTES);
    workload_fini(&w);
    workload_fini(&again);
    workload_fini(&other);
    static const double mix[] = {0, 0, 9,
                                 1}; /* by class: net2 is bound by the network, whatever its weight in the table */
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 1, .mix = {mix, 4}}, &w, &err), 0);
    n = count_model(&w, "net2");
    cr_expect(n > 320 && n < 480, "%u of 4000", n);
    workload_fini(&w);
    scratch_fini(&s);
}

Test(stages, jobs_of_one_user_and_name_are_one_model)
{
    static char text[20000];
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    cr_assert_eq(
        load(&s, TABLE, many_jobs(text, sizeof text, 400, "train", 20), (struct stages_spec){.seed = 1}, &w, &err), 0);
    for (uint32_t j = 20; j < w.n_jobs; j++) /* 20 is even: the same user, the same name */
        cr_expect_eq(w.model[j], w.model[j - 20]);
    cr_expect(count_model(&w, "net2") > 0 && count_model(&w, "net10") > 0);
    workload_fini(&w);
    scratch_fini(&s);
}

/* Fewer jobs are the first of more. */
Test(stages, the_first_jobs_draw_the_same)
{
    static char text[40000];
    struct scratch s;
    struct workload w, first;
    struct error err;
    scratch_init(&s);
    many_jobs(text, sizeof text, 600, "n", 600);
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 3}, &w, &err), 0);
    many_jobs(text, sizeof text, 100, "n", 600);
    cr_assert_eq(load(&s, TABLE, text, (struct stages_spec){.seed = 3}, &first, &err), 0);
    for (uint32_t j = 0; j < 100; j++)
        cr_expect_eq(w.iteration_ns[j], first.iteration_ns[j]);
    workload_fini(&w);
    workload_fini(&first);
    scratch_fini(&s);
}

/* A model that the table lacks is drawn, and keeps its name. */
Test(stages, an_unknown_model_keeps_its_name)
{
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    cr_assert_eq(load(&s, TABLE, "id,submit,duration,gpus,model\na,0,1,1,alexnet\nb,1,1,1,\n", (struct stages_spec){0},
                      &w, &err),
                 0);
    cr_expect_str_eq(names_text(&w.models, w.model[0]), "alexnet");
    cr_expect(w.iteration_ns[0] > 0);
    cr_expect_neq(count_model(&w, "net2") + count_model(&w, "net10"), 0, "job b has the name that was drawn");
    workload_fini(&w);
    scratch_fini(&s);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

#define ONE(text) "braid_profiles: 1\nmodels:\n  a: " text "\n"

Test(stages, faults_of_a_table_are_named_with_their_place)
{
    static const struct {
        const char *table;
        int line, col;
        const char *message;
    } cases[] = {
        {"models: {}\n", 1, 1, "'braid_profiles: 1' is missing"},
        {"[1]\n", 1, 1, "'braid_profiles: 1' is missing"},
        {"braid_profiles: 2\n", 1, 17, "'braid_profiles' must be 1"},
        {"braid_profiles: 1\n", 1, 1, "lacks 'models'"},
        {"braid_profiles: 1\nmodels: {}\n", 2, 9, "'models' must be a map with something in it"},
        {"braid_profiles: 1\nmodel: {}\n", 2, 1, "did you mean 'models'?"},
        {ONE("7"), 3, 6, "a model must be a map"},
        {ONE("{weight: 1}"), 3, 6, "'a' lacks 'by_gpus'"},
        {ONE("{by_gpus: {}}"), 3, 16, "'by_gpus' must be a map with something in it"},
        {ONE("{by_gpus: {0: {gpu: 1}}}"), 3, 17, "'0' is not a number of GPUs"},
        {ONE("{by_gpus: {two: {gpu: 1}}}"), 3, 17, "'two' is not a number of GPUs"},
        {ONE("{by_gpus: {2: {gpu: 1}, 1: {gpu: 1}}}"), 3, 30, "must ascend, and 1 does not"},
        {ONE("{by_gpus: {1: {}}}"), 3, 20, "must be a map with something in it"},
        {ONE("{by_gpus: {1: {iteration: 1 s}}}"), 3, 20, "none of storage, cpu, gpu and network takes time"},
        {ONE("{by_gpus: {1: {gpu: 1, iteration: 0}}}"), 3, 40, "'iteration' must be more than 0"},
        {ONE("{by_gpus: {1: {gpus: 1}}}"), 3, 21, "an iteration has no 'gpus'; did you mean 'gpu'?"},
        {ONE("{by_gpus: {1: {gpu: fast}}}"), 3, 26, "'gpu' must be a time such as '250 ms', not 'fast'"},
        {ONE("{by_gpus: {1: {gpu: [1]}}}"), 3, 26, "'gpu' must be a time"},
        {ONE("{by_gpus: {1: {gpu: -1}}}"), 3, 26, "'gpu' must be from 0 to 1000000 s"},
        {ONE("{by_gpus: {1: {gpu: 12 d}}}"), 3, 26, "'gpu' must be from 0 to 1000000 s"},
        {ONE("{bound: disk, by_gpus: {1: {gpu: 1}}}"), 3, 14,
         "'bound' must be storage, cpu, gpu or network, not 'disk'"},
        {ONE("{weight: x, by_gpus: {1: {gpu: 1}}}"), 3, 15, "'weight' must be a number"},
        {ONE("{weight: -1, by_gpus: {1: {gpu: 1}}}"), 3, 15, "'weight' must be from 0 to 1e9"},
        {ONE("{weight: 0, by_gpus: {1: {gpu: 1}}}"), 3, 3, "every weight is 0"},
        {ONE("{gpu_memory: 11, by_gpus: {1: {gpu: 1}}}"), 3, 19, "'gpu_memory' must be a size"},
        {ONE("{memory: 11, by_gpus: {1: {gpu: 1}}}"), 3, 7, "a model has no 'memory'"},
        {ONE("{source: [], by_gpus: {1: {gpu: 1}}}"), 3, 15, "'source' must be a text"},
        {ONE("{by_gpus: {1: {gpu: 1}, 1: {gpu: 1}}}"), 3, 30, ""},
    };
    struct scratch s;
    scratch_init(&s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct workload w;
        struct error err;
        cr_expect_eq(load(&s, cases[i].table, "id,submit,duration,gpus\na,0,1,1\n", (struct stages_spec){0}, &w, &err),
                     BRAID_BAD_INPUT, "%s", cases[i].table);
        cr_expect_not_null(strstr(err.message, cases[i].message), "%s\nsays %s", cases[i].table, err.message);
        cr_expect_eq(err.line, cases[i].line, "%s\nline %d: %s", cases[i].table, err.line, err.message);
        cr_expect_eq(err.col, cases[i].col, "%s\ncolumn %d: %s", cases[i].table, err.col, err.message);
        cr_expect_str_eq(err.file, "t.yaml");
        workload_fini(&w);
    }
    scratch_fini(&s);
}

Test(stages, a_mix_without_a_model_of_its_class_is_refused)
{
    static const double mix[] = {0, 1, 1, 1};
    struct scratch s;
    struct workload w;
    struct error err;
    scratch_init(&s);
    cr_expect_eq(load(&s, TABLE, "id,submit,duration,gpus\na,0,1,1\n", (struct stages_spec){.mix = {mix, 4}}, &w, &err),
                 BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(err.message, "jobs bound by cpu, but no model with a weight is"), "%s", err.message);
    workload_fini(&w);
    scratch_fini(&s);
}

/* ---- the table that comes with braid -------------------------------------------------------------- */

Test(stages, the_shipped_table_has_two_models_of_each_class)
{
    struct arena a;
    struct stage_table t;
    struct error err = {0};
    arena_init(&a);
    cr_assert_eq(stage_table_read(&t, &a, "configs/profiles/muri.yaml", "muri.yaml", &err), 0, "%d: %s", err.line,
                 err.message);
    uint32_t n[WORKLOAD_STAGES] = {0};
    for (uint32_t i = 0; i < t.n_models; i++)
        n[t.models[i].bound]++;
    for (int k = 0; k < WORKLOAD_STAGES; k++)
        cr_expect_eq(n[k], 2);
    const struct stage_entry_ns *e = stage_model_entry(stage_table_find(&t, "vgg16"), 64);
    cr_expect_eq(e->gpus, 32);
    cr_expect_eq(e->iteration_ns, INT64_C(336000000));
    cr_expect_eq(e->stage_ns[0] + e->stage_ns[1], INT64_C(87000000));
    cr_expect_null(stage_table_find(&t, "vgg"));
    arena_fini(&a);
}

/* Readers of the GPU clusters' traces, on small tables made by hand; test_public_gpu.c reads the public files. */
#include "base/number.h"
#include "traces/applications.h"
#include "traces/scratch.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_init(&scratch);
}

static void teardown(void)
{
    scratch_fini(&scratch);
}

TestSuite(gpu_readers, .init = setup, .fini = teardown);

/* Load `text` as the file `name` of the test's folder. */
static int load_as(const char *name, const char *text, struct workload *w, struct error *err)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, name, text, strlen(text), path));
    return trace_load(w, &spec, err);
}

static void load(const char *text, struct workload *w)
{
    struct error err = {0};
    cr_assert_eq(load_as("trace", text, w, &err), BRAID_OK, "%s", err.message);
}

/* Load `text` with a table of applications. */
static int load_with(const char *text, const char *applications, struct workload *w, struct error *err)
{
    char path[SCRATCH_PATH], table[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "trace", text, strlen(text), path));
    spec.applications_path = scratch_write(&scratch, "applications.csv", applications, strlen(applications), table);
    spec.applications_shown = "applications.csv";
    return trace_load(w, &spec, err);
}

static const char *id_of(const struct workload *w, uint32_t j)
{
    static char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(w->id_at[j + 1] - w->id_at[j]), w->id_text + w->id_at[j]);
    return text;
}

/* ---- Acme -------------------------------------------------------------------------------------------------------------- */

#define KALOS                                                                                                          \
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,"        \
    "end_time,fail_time,stop_time,duration,queue,gpu_time\n"

Test(gpu_readers, kalos_runs_from_start_to_end_and_zones_count)
{
    struct workload w;
    load(KALOS "a,u1,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 "
               "11:01:16+00:00,2023-05-17 11:01:16+00:00,,18,10.0,1152.0\n"
               "b,u1,1,8,,,,Pretrain,COMPLETED,2023-05-17 19:01:00+08:00,2023-05-17 11:02:00+00:00,2023-05-17 "
               "12:02:00+00:00,,,3660,60,\n"
               "c,u2,1,8,8,1,1,Other,CANCELLED,2023-05-17 11:05:00+00:00,,2023-05-17 11:06:00+00:00,,,60,,\n"
               "d,u2,0,0,8,1,1,Other,COMPLETED,2023-05-17 11:05:00+00:00,2023-05-17 11:05:00+00:00,2023-05-17 "
               "11:06:00+00:00,,,60,,\n",
         &w);
    cr_assert_str_eq(w.report.format, "acme");
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1, "cancelled before it started");
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "duration_differs"), 0);
    cr_assert_eq(w.origin_utc_s, 1684321258);
    cr_assert_eq(w.duration_ns[0], 8 * NS_PER_S, "not the 18 s since its submission");
    cr_assert_eq(w.start_ns[0], 10 * NS_PER_S);
    cr_assert_eq(w.trace_status[0], TRACE_FAILED);
    cr_assert_eq(w.gpus[0], 64);
    cr_assert_eq(w.cpu_milli[0], 960000);
    cr_assert_eq(w.mem_kib[0], UINT64_C(8) * 1000000000000 / 1024, "1000 GB on each of 8 nodes");
    cr_assert_eq(w.submit_ns[1], 2 * NS_PER_S, "19:01:00+08:00 is 11:01:00 UTC");
    cr_assert_eq(w.duration_ns[1], 3600 * NS_PER_S);
    cr_assert_eq(w.cpu_milli[1], 0);
    cr_assert_str_eq(names_text(&w.names, w.name[1]), "Pretrain");
    workload_fini(&w);
}

Test(gpu_readers, seren_takes_its_duration_where_times_are_missing)
{
    struct workload w;
    load("job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
         "1,u,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
         "00:20:51+08:00,117,32,936.0\n"
         "2,u,1,8,128,Other,COMPLETED,2023-03-01 00:20:00+08:00,,,40,,\n",
         &w);
    cr_assert_eq(w.origin_utc_s, 1677601102);
    cr_assert_eq(w.duration_ns[0], 117 * NS_PER_S);
    cr_assert_eq(w.duration_ns[1], 40 * NS_PER_S);
    cr_assert_eq(w.start_ns[1], WORKLOAD_ABSENT);
    workload_fini(&w);
}

Test(gpu_readers, acme_gangs_have_workers_times_gpus)
{
    struct workload w;
    load("job_id,arrival_time,num_iteration,iteration_computing_time,iteration_networking_time,gpu_workers,ps,"
         "gpu_per_worker,cpu_per_gpu_worker,cpu_per_ps_worker,tensorsizes,profiled_network\n"
         "0,5.0,208,0.5,0.25,8,0,8.0,15.0,15.0,10.0,500\n"
         "1,9.0,100,0.5,0.75,1,0,2.0,15.0,15.0,10.0,500\n"
         "2,9.0,100,0.5,0.75,3,0,0.5,15.0,15.0,10.0,500\n",
         &w);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "fractional_gpus"), 1, "3 x 0.5");
    cr_assert_eq(w.gpus[0], 64);
    cr_assert_eq(w.duration_ns[0], 156 * NS_PER_S, "208 x 0.75 s");
    cr_assert_eq(w.iteration_ns[0], 750 * NS_PER_S / 1000);
    cr_assert_eq(w.stage_ns[2][0], 500 * NS_PER_S / 1000);
    cr_assert_eq(w.stage_ns[3][0], 250 * NS_PER_S / 1000);
    cr_assert_eq(w.gpus[1], 2);
    cr_assert_eq(w.submit_ns[1], 4 * NS_PER_S);
    workload_fini(&w);
}

/* ---- openb ---------------------------------------------------------------------------------------------------------------- */

#define PODS                                                                                                           \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

static const char pods[] = PODS "p-0,12000,16384,1,1000,,LS,Running,0,500,0\n"
                                "p-1,6000,12288,1,460,V100M16|V100M32,BE,Succeeded,10,40,25\n"
                                "p-2,6000,12288,8,1000,T4,BE,Failed,20,20,20\n"
                                "p-3,6000,12288,0,0,,BE,Failed,20,30,20\n"
                                "p-4,6000,12288,1,1000,,BE,Pending,20,30,\n"
                                "p-5,6000,12288,1,2000,,BE,Running,30,40,30\n";

Test(gpu_readers, pods_keep_their_fraction_and_hold_whole_gpus)
{
    struct workload w;
    load(pods, &w);
    cr_assert_str_eq(w.report.format, "openb");
    cr_assert_eq(w.report.rows_read, 6);
    cr_assert_eq(w.n_jobs, 4);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "never_started"), 1);
    cr_assert_eq(scratch_line(&w, "never_started"), 6);
    cr_assert_eq(scratch_count(&w, "fraction_rounded_up"), 1);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 1, "a share of 2000 milli");
    cr_assert_eq(w.gpus[1], 1);
    cr_assert_eq(w.gpu_milli[1], 460);
    cr_assert_eq(w.gpu_milli[0], 1000);
    cr_assert_eq(w.gpu_milli[3], 1000);
    cr_assert_eq(w.duration_ns[1], 15 * NS_PER_S, "from when it was scheduled");
    cr_assert_eq(w.start_ns[1], 25 * NS_PER_S);
    cr_assert_eq(w.duration_ns[2], 0);
    cr_assert_eq(w.cpu_milli[1], 6000);
    cr_assert_eq(w.mem_kib[1], 12288 * 1024);
    cr_assert_eq(w.gpu_type[0], NAMES_NONE);
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[1]), "V100M16|V100M32");
    cr_assert_eq(w.trace_status[1], TRACE_PASSED);
    cr_assert_eq(w.trace_status[2], TRACE_FAILED);
    cr_assert_eq(w.trace_status[0], TRACE_UNKNOWN, "it still ran");
    workload_fini(&w);
}

Test(gpu_readers, shares_and_batches_go_through_selection_digest_and_our_csv)
{
    struct workload w, picked, again, whole;
    struct error err = {0};
    load(pods, &w);
    const uint32_t pick[] = {1, 2};
    cr_assert_eq(workload_select(&picked, &w, pick, 2, &err), BRAID_OK);
    cr_assert_eq(picked.gpu_milli[0], 460);
    cr_assert_eq(picked.gpu_milli[1], 1000);
    char path[SCRATCH_PATH];
    scratch_path(&scratch, "out.csv", path);
    cr_assert_eq(trace_write(&w, path, &err), BRAID_OK, "%s", err.message);
    struct trace_spec spec = scratch_spec(path);
    cr_assert_eq(trace_load(&again, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(memcmp(again.digest, w.digest, DIGEST_BYTES), 0);
    cr_assert_eq(again.gpu_milli[1], 460);
    load(PODS "p-0,12000,16384,1,1000,,LS,Running,0,500,0\n"
              "p-1,6000,12288,1,461,V100M16|V100M32,BE,Succeeded,10,40,25\n"
              "p-2,6000,12288,8,1000,T4,BE,Failed,20,20,20\n"
              "p-5,6000,12288,1,1000,,BE,Running,30,40,30\n",
         &whole);
    cr_assert_neq(memcmp(whole.digest, w.digest, DIGEST_BYTES), 0, "another share is another workload");
    workload_fini(&whole);
    workload_fini(&again);
    workload_fini(&picked);
    workload_fini(&w);
    load("name,time,application,num_replicas,batch_size\nx,1,ncf,1,32768\n", &w);
    cr_assert_eq(trace_write(&w, path, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(trace_load(&again, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(again.batch[0], 32768);
    cr_assert_eq(memcmp(again.digest, w.digest, DIGEST_BYTES), 0);
    workload_fini(&again);
    workload_fini(&w);
}

/* ---- Gavel ------------------------------------------------------------------------------------------------------------------ */

Test(gpu_readers, gavel_layouts_are_told_by_their_fields)
{
    struct workload w;
    load("ResNet-18 (batch size 32)\tpython3 main.py, \"quoted\"\t--num_steps\t1\t6580541\t12.5\t4\n"
         "A3C\tpython3 main.py\t--max-steps\t1\t8233\t0.000000\t1\n"
         "Unheard (batch size 3)\tx\t-n\t1\t8233\t7\t1\n"
         "LM (batch size 10)\tx\t-n\t1\t8233\n",
         &w);
    cr_assert_str_eq(w.report.format, "gavel");
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1);
    cr_assert_eq(scratch_line(&w, "no_duration"), 3);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
    cr_assert_eq(scratch_count(&w, "length_from_table"), 2);
    cr_assert_str_eq(names_text(&w.models, w.model[0]), "A3C");
    cr_assert_eq(w.batch[0], 0);
    cr_assert_lt(llabs(w.duration_ns[0] - 1000 * NS_PER_S), NS_PER_S / 10);
    cr_assert_str_eq(names_text(&w.models, w.model[1]), "ResNet-18");
    cr_assert_eq(w.batch[1], 32);
    cr_assert_eq(w.gpus[1], 4);
    cr_assert_eq(w.iterations[1], 6580541);
    cr_assert_lt(llabs(w.duration_ns[1] - 100000 * NS_PER_S), NS_PER_S, "the rate of one V100, whatever the GPUs");
    cr_assert_eq(w.submit_ns[1], 12500 * NS_PER_S / 1000);
    cr_assert_null(w.priority);
    workload_fini(&w);

    load("ResNet-18 (batch size 16)\tc\tdir\t--num_steps\t1\t10014\t2\t5.0\t1.2\t30\n"
         "ResNet-18 (batch size 16)\tc\tdir\t--num_steps\t1\t3235\t1\t1\t-1.000000\t0\n"
         "A3C\tc\tdir\t--num_steps\t1\t3235\t2\t1\t-1.000000\t0\n",
         &w);
    cr_assert_eq(w.n_jobs, 2);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1, "A3C has no rate on two GPUs");
    cr_assert_lt(llabs(w.duration_ns[0] - 100 * NS_PER_S), NS_PER_S);
    cr_assert_lt(llabs(w.duration_ns[1] - 100 * NS_PER_S), NS_PER_S, "on two GPUs three times as fast");
    cr_assert_eq(w.deadline_ns[0], WORKLOAD_ABSENT);
    cr_assert_eq(w.deadline_ns[1], 30 * NS_PER_S + (int64_t)(1.2 * (double)w.duration_ns[1]));
    cr_assert_eq(w.priority[1], 5.0);
    workload_fini(&w);

    load("ResNet-18 (batch size 16)\tc\tdir\t--num_steps\t1\t10014\t2\tstatic\t1\t2\t50.5\t30\n", &w);
    cr_assert_eq(w.duration_ns[0], 50500 * NS_PER_S / 1000, "twelve fields have the duration");
    cr_assert_eq(scratch_count(&w, "length_from_table"), 0);
    cr_assert_eq(w.deadline_ns[0], 101 * NS_PER_S);
    workload_fini(&w);
}

/* ---- tables of applications ---------------------------------------------------------------------------------------------------- */

Test(gpu_readers, an_applications_table_goes_before_the_readers_and_the_closest_row_wins)
{
    static const char trace[] = "name,time,application,num_replicas,batch_size,ddl\n"
                                "a,0,cifar10,8,2048,900\n"
                                "b,1,cifar10,4,2048,\n"
                                "c,2,cifar10,4,1024,\n"
                                "d,3,cifar10,2,512,\n"
                                "e,4,ncf,1,32768,\n"
                                "f,5,my net,1,1,\n"
                                "g,6,unheard,1,1,\n";
    struct workload w;
    struct error err = {0};
    cr_assert_eq(load_with(trace,
                           "application,gpus,batch_size,seconds\n"
                           "cifar10,,,100\ncifar10,4,,200\ncifar10,,2048,300\ncifar10,4,1024,400.5\nmy net,,,7\n",
                           &w, &err),
                 BRAID_OK, "%s", err.message);
    cr_assert_eq(w.n_jobs, 6);
    cr_assert_eq(scratch_count(&w, "no_duration"), 1);
    cr_assert_eq(w.duration_ns[0], 300 * NS_PER_S, "the file's, not the 826 s of the reader");
    cr_assert_eq(w.duration_ns[1], 200 * NS_PER_S, "the GPUs count more than the batch");
    cr_assert_eq(w.duration_ns[2], 400500 * NS_PER_S / 1000);
    cr_assert_eq(w.duration_ns[3], 100 * NS_PER_S);
    cr_assert_eq(w.duration_ns[4], 33 * NS_PER_S, "the reader's");
    cr_assert_eq(w.duration_ns[5], 7 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[0], 900 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[1], WORKLOAD_ABSENT);
    cr_assert_str_eq(id_of(&w, 5), "f");
    workload_fini(&w);
    cr_assert_eq(load_with("LM (batch size 10)\tc\t-n\t1\t1000\t0\t1\n",
                           "application,batch_size,steps_per_s\nLM,10,20\n", &w, &err),
                 BRAID_OK, "%s", err.message);
    cr_assert_eq(w.duration_ns[0], 50 * NS_PER_S);
    workload_fini(&w);
}

Test(gpu_readers, faulty_applications_tables_are_refused_with_their_line)
{
    static const char trace[] = "name,time,application,num_replicas,batch_size\na,0,ncf,1,32768\n";
    static const struct {
        const char *table, *message;
        int line;
    } faults[] = {
        {"", "begins with the header", 0},
        {"application\nx\n", "begins with the header", 1},
        {"application,second\nx,1\n", "'second' is unknown", 1},
        {"application,seconds,seconds\nx,1,1\n", "twice", 1},
        {"application,seconds\nx,1\n,2\n", "names no application", 3},
        {"application,seconds\nx,-1\n", "above 0", 2},
        {"application,seconds\nx,one\n", "above 0", 2},
        {"application,seconds,steps_per_s\nx,1,1\n", "one of seconds and steps_per_s", 2},
        {"application,seconds,steps_per_s\nx,,\n", "one of seconds and steps_per_s", 2},
        {"application,gpus,seconds\nx,0,1\n", "whole numbers above 0", 2},
        {"application,gpus,seconds\nx,1.5,1\n", "whole numbers above 0", 2},
        {"application,gpus,seconds\nx,16,1,335\n", "4 fields and the header 3", 2},
        {"application,seconds,gpus\nx,1\n", "2 fields and the header 3", 2},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct workload w;
        struct error err = {0};
        cr_assert_eq(load_with(trace, faults[i].table, &w, &err), BRAID_BAD_INPUT, "%s", faults[i].table);
        cr_expect_str_eq(err.file, "applications.csv", "%s", faults[i].table);
        cr_expect_not_null(strstr(err.message, faults[i].message), "%s: %s", faults[i].table, err.message);
        cr_expect_eq(err.line, faults[i].line, "%s: line %d", faults[i].table, err.line);
        workload_fini(&w);
    }
    struct workload w;
    struct error err = {0};
    cr_assert_eq(load_with("id,submit,duration,gpus\na,0,1,1\n", "application,seconds\nx,1\n", &w, &err),
                 BRAID_BAD_INPUT, "a trace with run times");
    cr_assert_not_null(strstr(err.message, "leave out trace.applications"));
    workload_fini(&w);
}

/* Run the program on a config with this `trace:` beside workload.csv and lengths.csv; its exit status. */
static int run_config(const char *trace)
{
    static const char workload[] = "name,time,application,num_replicas,batch_size\na,0,my net,1,1\n",
                      lengths[] = "application,seconds\nmy net,60\n";
    char path[SCRATCH_PATH], text[256], command[4 * SCRATCH_PATH];
    scratch_write(&scratch, "workload.csv", workload, sizeof workload - 1, path);
    scratch_write(&scratch, "lengths.csv", lengths, sizeof lengths - 1, path);
    int n = snprintf(text, sizeof text, "trace: %s\n", trace);
    scratch_write(&scratch, "config.yaml", text, (size_t)n, path);
    snprintf(command, sizeof command, "%s run %s -o %s/o.h5 --quiet >%s/out 2>&1", getenv("BRAID"), path,
             scratch.folder, scratch.folder);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(gpu_readers, a_config_names_the_applications_beside_it)
{
    cr_assert_not_null(getenv("BRAID"));
    cr_assert_eq(run_config("{path: workload.csv, applications: lengths.csv}"), 0);
    cr_assert_eq(run_config("{path: workload.csv}"), 2, "no job has a run time");
    cr_assert_eq(run_config("{path: workload.csv, applications: absent.csv}"), 2);
    cr_assert_eq(run_config("{path: workload.csv, application: lengths.csv}"), 2, "no such key");
}

/* ---- Chronus and ElasticFlow ----------------------------------------------------------------------------------------------------- */

Test(gpu_readers, chronus_deadlines_are_the_first_of_a_list_after_the_submission)
{
    struct workload w;
    load("job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,"
         "best_effort,job_type\n"
         "0,vc_a,1,100,5049,vgg16,150,14,159-189-229,10-5-2,0,soft\n"
         "1,vc_b,4,90,296,alexnet,98,8,128,10,0,strict\n"
         "2,vc_b,1,140,3621,alexnet,30,17,140,10,1,best\n"
         "3,vc_b,0,150,3621,alexnet,30,17,140,10,1,best\n"
         "4,vc_b,1,160,3621,alexnet,30,17,x-1,10,0,soft\n",
         &w);
    cr_assert_str_eq(w.report.format, "chronus");
    cr_assert_eq(w.n_jobs, 4);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "several_deadlines"), 2);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 1);
    cr_assert_str_eq(id_of(&w, 0), "1");
    cr_assert_eq(w.deadline_ns[0], 128 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[1], (10 + 159) * NS_PER_S, "from time 0, which is 90");
    cr_assert_eq(w.deadline_ns[2], WORKLOAD_ABSENT, "best effort");
    cr_assert_eq(w.deadline_ns[3], WORKLOAD_ABSENT);
    cr_assert_eq(w.duration_ns[1], 150 * NS_PER_S);
    cr_assert_str_eq(names_text(&w.users, w.user[1]), "vc_a");
    cr_assert_null(w.estimate_ns);
    workload_fini(&w);
}

Test(gpu_readers, elasticflow_deadlines_are_instants)
{
    struct workload w;
    load("job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,iteration\n"
         "0,100,1282877,vgg16,900,256,1,700,700,1282877\n"
         "1,150,50,bert,,128,4,60,60,50\n",
         &w);
    cr_assert_str_eq(w.report.format, "elasticflow");
    cr_assert_eq(w.deadline_ns[0], 800 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[1], WORKLOAD_ABSENT);
    cr_assert_eq(w.iterations[0], 1282877);
    cr_assert_eq(w.batch[0], 256);
    cr_assert_eq(w.duration_ns[1], 60 * NS_PER_S);
    workload_fini(&w);
}

/* ---- PAI 2020 ------------------------------------------------------------------------------------------------------------------------ */

static const char tasks[] = "j1,worker,4,Terminated,1000.0,1600.0,600.0,29.3,100.0,V100\n"
                            "j1,ps,2,Terminated,1000.0,1600.0,600.0,29.3,,CPU\n"
                            "j2,tensorflow,10,Failed,2000.0,2100.0,50,1,25.0,T4\n"
                            "j3,worker,1,Terminated,2000.0,2100.0,50,1,150.0,MISC\n"
                            "j4,worker,1,Running,2500.0,,50,1,50.0,P100\n"
                            "j5,worker,1,Waiting,0.0,,50,1,50.0,P100\n"
                            "j6,worker,1,Terminated,3000.0,2900.0,50,1,200.0,P100\n"
                            "j7,worker,,Terminated,3100.0,3200.0,50,1,200.0,\n";

Test(gpu_readers, pai_tasks_are_gangs_and_plan_gpu_counts_percent_of_each)
{
    struct workload w;
    load(tasks, &w);
    cr_assert_str_eq(w.report.format, "pai2020");
    cr_assert_eq(w.report.rows_read, 8);
    cr_assert_eq(w.n_jobs, 4);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1, "the parameter servers");
    cr_assert_eq(scratch_count(&w, "still_running"), 1);
    cr_assert_eq(scratch_count(&w, "no_submit"), 1, "a start of 0 is not known");
    cr_assert_eq(scratch_count(&w, "end_before_start"), 1);
    cr_assert_eq(scratch_count(&w, "fraction_rounded_up"), 2);
    cr_assert_eq(scratch_count(&w, "not_joined"), 0);
    cr_assert_str_eq(id_of(&w, 0), "j1");
    cr_assert_str_eq(names_text(&w.names, w.name[0]), "worker");
    cr_assert_eq(w.gpus[0], 4);
    cr_assert_eq(w.gpu_milli[0], 1000);
    cr_assert_eq(w.cpu_milli[0], 24000, "6 cores each");
    cr_assert_eq(w.mem_kib[0], UINT64_C(29300000000) / 1024 * 4);
    cr_assert_eq(w.duration_ns[0], 600 * NS_PER_S);
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[0]), "V100");
    cr_assert_eq(w.gpus[1], 10, "a quarter of each of ten");
    cr_assert_eq(w.gpu_milli[1], 250);
    cr_assert_eq(w.trace_status[1], TRACE_FAILED);
    cr_assert_eq(w.gpus[2], 2, "1.5");
    cr_assert_eq(w.gpu_milli[2], 750);
    cr_assert_eq(w.gpus[3], 2, "one instance where none is said");
    cr_assert_eq(w.gpu_type[3], NAMES_NONE);
    cr_assert_eq(w.submit_ns[3], 2100 * NS_PER_S);
    workload_fini(&w);
}

static const char jobs[] = "j1,i1,alice,Terminated,900.0,1600.0\n"
                           "j2,i2,bob,Failed,1950.0,2100.0\n"
                           "j3,i3,bob,Terminated,0.0,2100.0\n"
                           "j1,i1,carol,Terminated,950.0,1600.0\n";

static void expect_joined(const struct workload *w)
{
    cr_assert_eq(scratch_count(w, "joined"), 2);
    cr_assert_eq(scratch_count(w, "not_joined"), 2);
    cr_assert_eq(w->submit_ns[0], 0);
    cr_assert_eq(w->start_ns[0], 100 * NS_PER_S, "it waited from 900 to 1000");
    cr_assert_str_eq(names_text(&w->users, w->user[0]), "alice", "the earlier of two rows");
    cr_assert_eq(w->submit_ns[1], 1050 * NS_PER_S);
    cr_assert_eq(w->submit_ns[2], 1100 * NS_PER_S, "submission not known: when it started");
    cr_assert_str_eq(names_text(&w->users, w->user[2]), "bob");
    cr_assert_str_eq(names_text(&w->users, w->user[3]), "", "a job that the table does not have");
}

Test(gpu_readers, pai_jobs_beside_the_tasks_give_submissions_and_users)
{
    char path[SCRATCH_PATH];
    struct workload w;
    struct error err = {0};
    scratch_write(&scratch, "pai_job_table.csv", jobs, sizeof jobs - 1, path);
    cr_assert_eq(load_as("pai_task_table.csv", tasks, &w, &err), BRAID_OK, "%s", err.message);
    expect_joined(&w);
    workload_fini(&w);
    unlink(path);
    static const char with_header[] = "job_name,inst_id,user,status,start_time,end_time\n";
    char text[sizeof jobs + sizeof with_header];
    int n = snprintf(text, sizeof text, "%s%s", with_header, jobs);
    scratch_gzip(&scratch, "pai_job_table.csv.gz", text, (size_t)n, path);
    static const char task_header[] =
        "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n";
    char more[sizeof tasks + sizeof task_header];
    snprintf(more, sizeof more, "%s%s", task_header, tasks);
    cr_assert_eq(load_as("pai_task_table.csv", more, &w, &err), BRAID_OK, "%s", err.message);
    expect_joined(&w);
    workload_fini(&w);
    cr_assert_eq(load_as("pai_job_table.csv", jobs, &w, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "pai_task_table.csv"), "%s", err.message);
    workload_fini(&w);
    cr_assert_eq(load_as("pai_job_table.csv", text, &w, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "pai_task_table.csv"), "%s", err.message);
    workload_fini(&w);
    cr_assert_eq(load_as("pai_job_table.csv", "other,table\n", &w, &err), BRAID_BAD_INPUT);
    workload_fini(&w);
    cr_assert_eq(load_as("pai_task_table.csv", tasks, &w, &err), BRAID_BAD_INPUT, "the table beside is something else");
    cr_assert_not_null(strstr(err.file, "pai_job_table.csv"));
    workload_fini(&w);
}

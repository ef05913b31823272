/* Logs of batch systems: PBS, Grid Engine, Slurm's database and JSON, schedules of Batsim. */
#include "base/number.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scratch scratch;
static struct workload w;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
    err = (struct error){0};
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(batch_logs, .init = before, .fini = after);

static void load(const char *text, const char *format)
{
    workload_fini(&w);
    cr_assert_eq(scratch_load_text(&scratch, text, &w, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(w.report.format, format);
}

static void expect_job(uint32_t j, const char *id, uint32_t gpus, int64_t duration_s, enum trace_status status)
{
    cr_assert_lt(j, w.n_jobs);
    cr_assert_eq(w.id_at[j + 1] - w.id_at[j], strlen(id), "job %u", j);
    cr_assert(memcmp(w.id_text + w.id_at[j], id, strlen(id)) == 0, "job %u", j);
    cr_assert_eq(w.gpus[j], gpus, "job %u: %u GPUs", j, w.gpus[j]);
    cr_assert_eq(w.duration_ns[j], duration_s * NS_PER_S, "job %u: %lld ns", j, (long long)w.duration_ns[j]);
    cr_assert_eq(w.trace_status[j], status, "job %u", j);
}

Test(batch_logs, pbs_ends_of_jobs)
{
    load("04/05/2024 08:00:00;Q;123.host;queue=gpu\n"
         "04/05/2024 08:01:00;S;123.host;user=ann\n"
         "04/05/2024 10:11:12;E;123.host;user=ann group=g jobname=my job x queue=gpu ctime=1712304000 qtime=1712304001 "
         "start=1712304060 exec_host=n/0 Resource_List.ngpus=4 Resource_List.ncpus=16 Resource_List.mem=64gb "
         "Resource_List.select=1:ncpus=16:ngpus=1 Resource_List.walltime=02:00:00 end=1712307660 Exit_status=0 "
         "resources_used.walltime=00:00:01\n"
         "04/05/2024 10:11:12;E;124.host;jobname=\"a b=c\" queue=gpu ctime=1712304000 start=1712304060 "
         "Resource_List.nodes=2:ppn=6:gpus=2+1:ppn=1 end=1712304070 Exit_status=271\n"
         "04/05/2024 10:11:12;E;125[3].host;user=bob ctime=1712304000 Resource_List.select=2:ncpus=6:ngpus=1+3:ngpus=2 "
         "resources_used.walltime=00:01:40 Exit_status=-3\n"
         "04/05/2024 10:11:12;E;126.host;user=bob ctime=1712304000 start=1712304060 end=1712304070 Exit_status=0\n"
         "04/05/2024 10:11:12;E;127.host;ctime=1712304000 Resource_List.ngpus=x start=1712304060 end=1712304070\n"
         "04/05/2024 10:11:12;E\n",
         "pbs");
    cr_assert_eq(w.report.rows_read, 8);
    cr_assert_eq(w.n_jobs, 3);
    expect_job(0, "123", 4, 3600, TRACE_PASSED);
    expect_job(1, "124", 4, 10, TRACE_KILLED);
    expect_job(2, "125[3]", 8, 100, TRACE_FAILED);
    cr_assert_eq(w.origin_utc_s, 1712304000);
    cr_assert_eq(w.start_ns[0], 60 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[0], 7200 * NS_PER_S);
    cr_assert_eq(w.cpu_milli[0], 16000);
    cr_assert_eq(w.mem_kib[0], UINT64_C(64) << 20);
    cr_assert_str_eq(names_text(&w.names, w.name[0]), "my job x");
    cr_assert_str_eq(names_text(&w.names, w.name[1]), "a b=c");
    cr_assert_str_eq(names_text(&w.users, w.user[0]), "ann");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "gpu");
    cr_assert_eq(scratch_count(&w, "other_record"), 2);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "bad_number"), 1);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
}

#define SGE_HEAD "gpu.q:n1:g:ann:job:55:sge:0:"
#define SGE_USAGE ":100:1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:proj:dept:smp:8:"

Test(batch_logs, grid_engine)
{
    load("# Version: 8\n" SGE_HEAD "1712304000:1712304060:1712304160:0:0" SGE_USAGE
         "0:1:1:0:-U x -l gpu=2,h_rt=7200,gpu_type=V100 -pe smp 8:0:NONE:0:0:0\n" SGE_HEAD
         "1712304000000:1712304060000:1712304160500:100:137" SGE_USAGE
         "3:1:1:0:-l gpu=0.25 -pe smp 8:0:NONE:0:0:0\n" SGE_HEAD "1712304001:0:0:21:0" SGE_USAGE
         "0:1:1:0:-l gpu=1:0:NONE:0:0:0\n" SGE_HEAD "1712304001:1712304060:1712304160:0:1" SGE_USAGE
         "0:1:1:0:-l h_vmem=2G:0:NONE:0:0:0\n" SGE_HEAD "1712304001:1712304060:1712304160:0:1\n",
         "sge");
    cr_assert_eq(w.report.rows_read, 5);
    cr_assert_eq(w.n_jobs, 2);
    expect_job(0, "55", 2, 100, TRACE_PASSED);
    cr_assert_eq(w.estimate_ns[0], 7200 * NS_PER_S);
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[0]), "V100");
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "gpu.q");
    cr_assert_eq(w.gpus[1], 2, "a quarter for each of 8 slots");
    cr_assert_eq(w.duration_ns[1], 100500 * INT64_C(1000000));
    cr_assert_eq(w.trace_status[1], TRACE_KILLED);
    cr_assert_eq(scratch_count(&w, "never_started"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
}

Test(batch_logs, slurm_database)
{
    load("id_job,id_user,time_submit,time_start,time_end,timelimit,state,tres_req,partition\n"
         "1,7,1612304000,1612304060,1612304160,4294967295,3,\"1=20,2=2048,4=1,5=20,1002=2\",g\n"
         "2,7,1612304000,0,0,60,4,\"1=20,1001=1,1002=1\",g\n"
         "3,7,1612304000,1612304060,1612304160,60,6,\"1=20,4=1\",g\n"
         "4,7,1612304001,1612304060,1612304160,60,1031,\"1=20,1001=1,1002=1\",g\n"
         "5,7,1612304001,1612304060,0,60,1,\"1001=1\",g\n",
         "slurm_db");
    cr_assert_eq(w.n_jobs, 2);
    expect_job(0, "1", 2, 100, TRACE_PASSED);
    expect_job(1, "4", 1, 100, TRACE_FAILED);
    cr_assert_eq(w.mem_kib[0], UINT64_C(2) << 20);
    cr_assert_eq(w.cpu_milli[0], 20000);
    cr_assert_eq(w.estimate_ns[0], WORKLOAD_ABSENT, "no limit");
    cr_assert_eq(w.estimate_ns[1], 3600 * NS_PER_S);
    cr_assert_eq(scratch_count(&w, "never_started"), 1);
    cr_assert_eq(scratch_count(&w, "still_running"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 0);
}

Test(batch_logs, sacct_json_of_new_and_old_slurm)
{
    load("{\"jobs\":[{\"account\":\"a\",\"allocation_nodes\":1,\"job_id\":7,\"name\":\"t\",\"partition\":\"p\","
         "\"user\":\"u\",\"state\":"
         "{\"current\":[\"COMPLETED\"],\"reason\":\"None\"},\"time\":{\"elapsed\":60,\"end\":1712304120,\"start\":"
         "1712304060,"
         "\"submission\":1712304000,\"limit\":{\"set\":true,\"infinite\":false,\"number\":30}},\"tres\":{\"allocated\":"
         "[{\"type\":"
         "\"cpu\",\"name\":\"\",\"id\":1,\"count\":8}],\"requested\":[{\"type\":\"cpu\",\"name\":\"\",\"id\":1,"
         "\"count\":8},{\"type\":"
         "\"mem\",\"name\":\"\",\"id\":2,\"count\":65536},{\"type\":\"gres\",\"name\":\"gpu\",\"id\":1001,\"count\":2},"
         "{\"type\":"
         "\"gres\",\"name\":\"gpu:a100\",\"id\":1002,\"count\":2}]},\"steps\":[{\"time\":{\"submission\":1},\"tres\":{"
         "\"requested\":[{"
         "\"type\":\"gres\",\"name\":\"gpu\",\"count\":9}]}}]}],\"meta\":{\"Slurm\":{}}}\n",
         "slurm_json");
    cr_assert_eq(w.n_jobs, 1);
    expect_job(0, "7", 2, 60, TRACE_PASSED);
    cr_assert_eq(w.estimate_ns[0], 1800 * NS_PER_S);
    cr_assert_eq(w.mem_kib[0], UINT64_C(64) << 20);
    cr_assert_eq(w.cpu_milli[0], 8000);
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[0]), "a100");
    load("{\"meta\":{},\"jobs\":[{\"allocation_nodes\":1,\"job_id\":8,\"state\":{\"current\":\"TIMEOUT\"},\"time\":{"
         "\"elapsed\":60,"
         "\"start\":1712304060,\"submission\":1712304000,\"limit\":1},\"tres\":{\"requested\":[{\"type\":\"gres\","
         "\"name\":\"gpu\","
         "\"count\":1}]}}]}",
         "slurm_json");
    expect_job(0, "8", 1, 60, TRACE_FAILED);
    cr_assert_eq(w.estimate_ns[0], 60 * NS_PER_S);
}

Test(batch_logs, schedules_of_batsim_old_and_new)
{
    load("job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_"
         "state,starting_time,"
         "execution_time,finish_time\n"
         "a,w,p,0,2,100,1,COMPLETED_SUCCESSFULLY,5,60,65\n"
         "b,w,p,1.5,1,100,0,COMPLETED_KILLED,65,100,165\n",
         "batsim_jobs");
    expect_job(0, "a", 2, 60, TRACE_PASSED);
    expect_job(1, "b", 1, 100, TRACE_KILLED);
    cr_assert_eq(w.start_ns[0], 5 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[0], 100 * NS_PER_S);
    load("job_id,submission_time,requested_number_of_processors,requested_time,success,starting_time,execution_time\n"
         "a,0,2,100,1,5,60\n",
         "batsim_jobs");
    expect_job(0, "a", 2, 60, TRACE_PASSED);
}

Test(batch_logs, sacct_without_bars)
{
    static const char *const files[] = {
        "       JobID     User              Submit               Start    Elapsed  Timelimit      State                "
        "ReqTRES \n"
        "------------ -------- ------------------- ------------------- ---------- ---------- ---------- "
        "---------------------- \n"
        "          12      ann 2024-03-01T08:00:00 2024-03-01T08:00:10   01:00:00 1-00:00:00  COMPLETED "
        "cpu=8,gres/gpu=2,mem=+ \n"
        "          13      ann 2024-03-01T08:00:00 2024-03-01T08:00:10   01:00:00 1-00:00:00 CANCELLED+  "
        "cpu=8,gres/gpu:a100=2 \n"
        "    13.batch          2024-03-01T08:00:00 2024-03-01T08:00:10   01:00:00            CANCELLED+                "
        "        \n"
        "          14      ann 2024-03-01T08:00:00             Unknown   00:00:00 1-00:00:00 CANCELLED+             "
        "gres/gpu=2 \n"
        "          15      ann 2024-03-01T08:00:01 2024-03-01T08:00:10   01:00:00  UNLIMITED    TIMEOUT           "
        "gres/gpu:4=1 \n",
        "JobID\tUser\tSubmit\tStart\tElapsed\tTimelimit\tState\tReqTRES\n"
        "12\tann\t2024-03-01T08:00:00\t2024-03-01T08:00:10\t01:00:00\t1-00:00:00\tCOMPLETED\tcpu=8,gres/gpu=x\n"
        "13\tann\t2024-03-01T08:00:00\t2024-03-01T08:00:10\t01:00:00\t1-00:00:00\tCANCELLED by "
        "7\tcpu=8,gres/gpu:a100=2\n"
        "13.batch\t\t2024-03-01T08:00:00\t2024-03-01T08:00:10\t01:00:00\t\tCANCELLED\t\n"
        "14\tann\t2024-03-01T08:00:00\tUnknown\t00:00:00\t1-00:00:00\tCANCELLED\tgres/gpu=2\n"
        "15\tann\t2024-03-01T08:00:01\t2024-03-01T08:00:10\t01:00:00\tUNLIMITED\tTIMEOUT\tgres/gpu:4=1\n",
    };
    for (int i = 0; i < 2; i++) {
        load(files[i], "slurm_columns");
        cr_assert_eq(w.report.rows_read, 5);
        cr_assert_eq(w.n_jobs, 2);
        expect_job(0, "13", 2, 3600, TRACE_KILLED);
        expect_job(1, "15", 1, 3600, TRACE_FAILED);
        cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[0]), "a100");
        cr_assert_eq(w.estimate_ns[0], 86400 * NS_PER_S);
        cr_assert_eq(w.estimate_ns[1], WORKLOAD_ABSENT);
        cr_assert_eq(w.start_ns[0], 10 * NS_PER_S);
        cr_assert_eq(scratch_count(&w, "job_step"), 1);
        cr_assert_eq(scratch_count(&w, "never_started"), 1);
        cr_assert_eq(scratch_count(&w, "bad_number"), 1, "a list that the column cuts short may have lost its GPUs");
    }
}

/* What `braid export --what batsim` writes is a trace again, with the jobs of the run. */
Test(batch_logs, an_exported_schedule_reads_back)
{
    static const char trace[] = "id,submit,duration,gpus\na,0,60,2\nb,1.5,30,4\nc,2,10,1\n";
    static const char config[] = "trace: t.csv\ncluster: {nodes: [{count: 1, gpus: 4}]}\noutput: {segments: on}\n";
    const char *program = getenv("BRAID");
    char path[SCRATCH_PATH], command[2048];
    if (program == NULL)
        cr_skip_test("the environment does not say where the program is (BRAID)");
    scratch_write(&scratch, "t.csv", trace, strlen(trace), path);
    scratch_write(&scratch, "c.yaml", config, strlen(config), path);
    snprintf(command, sizeof command,
             "cd '%s' && '%s' run c.yaml -o o.h5 >log 2>&1 && '%s' export o.h5 --what batsim -o o.csv >>log 2>&1",
             scratch.folder, program, program);
    cr_assert_eq(system(command), 0);
    struct trace_spec spec = scratch_spec(scratch_path(&scratch, "o.csv", path));
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_str_eq(w.report.format, "batsim_jobs");
    cr_assert_eq(w.n_jobs, 3);
    expect_job(0, "a", 2, 60, TRACE_PASSED);
    expect_job(1, "b", 4, 30, TRACE_PASSED);
    expect_job(2, "c", 1, 10, TRACE_PASSED);
    cr_assert_eq(w.start_ns[1], 60 * NS_PER_S, "fifo waits for all four GPUs");
}

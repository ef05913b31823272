/* Files that are cut short, and rows with a separator too many: never another job without a word, in no format. */
#include "traces/reader.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWF_TAIL " 1 1 1 1 1 1 -1 -1\n"
#define GAVEL_7(steps, at, gpus)                                                                                       \
    "ResNet-18 (batch size 32)\tpython3 main.py\t--num_steps\t0\t" steps "\t" at "\t" gpus "\n"
#define GAVEL_10(steps, at, gpus)                                                                                      \
    "ResNet-18 (batch size 32)\tpython3 main.py\tcifar\t--num_steps\t0\t" steps "\t" gpus "\t1\t-1.000000\t" at "\n"
#define GAVEL_12(steps, gpus, duration, at)                                                                            \
    "ResNet-18 (batch size 32)\tpython3 main.py\tcifar\t--num_steps\t0\t" steps "\t" gpus                              \
    "\tstatic\t1\t1.5\t" duration "\t" at "\n"
#define PHILLY(id, from, to)                                                                                           \
    "{\"status\":\"Pass\",\"vc\":\"v\",\"jobid\":\"" id "\",\"attempts\":[{\"start_time\":\"2017-10-07 " from          \
    "\",\"end_time\":\"2017-10-07 " to                                                                                 \
    "\",\"detail\":[{\"ip\":\"m\",\"gpus\":[\"gpu0\"]}]}],\"submitted_time\":\"2017-10-07 01:00:00\",\"user\":\"u\"}"

#define SGE(number, times, gpus)                                                                                       \
    "gpu.q:n1:g:ann:job:" number ":sge:0:" times                                                                       \
    ":0:0:100:1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:p:d:smp:8:0:1:1:0:-l "                                         \
    "gpu=" gpus ":0:NONE:0:0:0\n"
#define PBS(number, end, gpus)                                                                                         \
    "04/05/2024 10:11:12;E;" number ".h;user=u queue=q ctime=1712304000 start=1712304060 Resource_List.ngpus=" gpus    \
    " end=17123" end " Exit_status=0\n"
#define SACCT(number, to, gpus)                                                                                        \
    "{\"allocation_nodes\":1,\"job_id\":" number ",\"time\":{\"elapsed\":" to                                          \
    ",\"start\":1712304060,\"submission\":1712304000},\"tres\":{\"requested\":[{\"type\":\"gres\",\"name\":\"gpu\","   \
    "\"count\":" gpus "}]}}"

/* The beginning of a file, its last row, and what separates its fields ('\0': JSON; '\n': nothing that could be one too many). */
static const struct {
    const char *format, *head, *last;
    char separator;
} files[] = {
    {"braid", "id,submit,duration,gpus,vc,estimate\na,0,1234,4,v,2000\nb,5,100,2,v,200\nc,6,100,2,v,200\n",
     "d,77,86400,16,vc10,99999\n", ','},
    {"braid", "gpus,id,submit,duration\n4,a,0,1234\n2,b,5,100\n2,c,6,100\n", "16,d,77,86400\n", ','},
    {"braid_jobs", "run,job,id,user,gpus,submit,start,work\nr,0,a,u,2,0,0,100\nr,1,b,u,2,5,5,100\nr,2,c,u,2,6,6,100\n",
     "r,3,d,user10,16,77,88,86400\n", ','},
    {"slurm",
     "JobID|User|JobName|Submit|Start|End|Elapsed|State|ReqTRES\n"
     "1|u|n|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T11:00:05|01:00:00|COMPLETED|gres/gpu=2\n"
     "2|u|n|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T11:00:05|01:00:00|COMPLETED|gres/gpu=2\n"
     "3|u|n|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T11:00:05|01:00:00|COMPLETED|gres/gpu=2\n",
     "14|user|name|2024-03-01T10:00:10|2024-03-01T10:00:15|2024-03-01T11:11:15|01:11:00|COMPLETED|gres/gpu=16\n", '|'},
    {"slurm_columns",
     "JobID\tSubmit\tStart\tElapsed\tReqTRES\n1\t2024-03-01T10:00:00\t2024-03-01T10:00:05\t01:00:00\tgres/gpu=2\n"
     "2\t2024-03-01T10:00:00\t2024-03-01T10:00:05\t01:00:00\tgres/gpu=2\n",
     "14\t2024-03-01T10:00:10\t2024-03-01T10:00:15\t01:11:00\tgres/gpu=16\n", '\t'},
    {"slurm_columns",
     "JobID Submit              Elapsed    ReqTRES     \n----- ------------------- ---------- ------------\n"
     "    1 2024-03-01T10:00:00   01:00:00   gres/gpu=2\n    2 2024-03-01T10:00:00   01:00:00   gres/gpu=2\n",
     "10014 2024-03-01T10:00:10 1-01:11:00  gres/gpu=16\n", '\n'},
    {"slurm_json", "{\"jobs\":[" SACCT("1", "60", "2") "," SACCT("2", "60", "2") ",", SACCT("14", "7777", "16") "]}\n",
     '\0'},
    {"slurm_db",
     "id_job,time_submit,time_start,time_end,tres_req,state\n1,1712304000,1712304060,1712304160,1001=2,3\n"
     "2,1712304000,1712304060,1712304160,1001=2,3\n",
     "14,1712304001,1712304060,1712399999,1001=16,3\n", ','},
    {"pbs", PBS("1", "04160", "2") PBS("2", "04160", "2"), PBS("14", "99999", "16"), '\n'},
    {"sge", SGE("1", "1712304000:1712304060:1712304160", "2") SGE("2", "1712304000:1712304060:1712304160", "2"),
     SGE("14", "1712304001:1712304060:1712399999", "16"), '\n'},
    {"batsim_jobs",
     "job_id,submission_time,requested_number_of_resources,starting_time,execution_time\na,0,2,5,60\nb,1,2,5,60\n",
     "d,77,16,88,86400\n", ','},
    {"swf",
     "; Version: 2.2\n1 0 0 10 4 -1 -1 4 600 -1" SWF_TAIL "2 1 0 10 4 -1 -1 4 600 -1" SWF_TAIL
     "3 2 0 10 4 -1 -1 4 600 -1" SWF_TAIL,
     "14 77 12 86400 16 -1 -1 16 99999 -1 1 12 1 11 1 12 -1 -1\n", ' '},
    {"batsim",
     "{\"profiles\":{\"p\":{\"type\":\"delay\",\"delay\":100},\"p1\":{\"type\":\"delay\",\"delay\":1}},\"jobs\":["
     "{\"id\":\"a\",\"subtime\":0,\"res\":4,\"profile\":\"p\"},{\"id\":\"b\",\"subtime\":1,\"res\":4,\"profile\":\"p\"}"
     ","
     "{\"id\":\"c\",\"subtime\":2,\"res\":4,\"profile\":\"p\"},",
     "{\"id\":\"d\",\"subtime\":77,\"res\":16,\"profile\":\"p1\"}]}\n", '\0'},
    {"muri",
     "job_id,num_gpu,submit_time,iterations,model_name,iteration_time,resource_time_0,resource_time_1,resource_time_2,"
     "priority\n0,1,0,100,dqn,490,446,8,0,1\n1,1,9000,100,dqn,490,446,8,0,1\n2,1,9999,100,dqn,490,446,8,0,1\n",
     "3,16,46122000,5853661,vgg19,490,446,38,10,12\n", ','},
    {"chronus",
     "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,"
     "best_effort,job_type\n0,u,1,0,10,vgg16,747,0,1105,10,0,strict\n1,u,1,9,10,vgg16,747,14,1105,10,0,strict\n"
     "2,u,1,19,10,vgg16,747,14,1105,10,0,strict\n",
     "3,user,16,8555,5049,vgg19,74747,14,110555-120000,10-5,0,soft\n", ','},
    {"elasticflow",
     "job_id,submit_time,model_name,ddl,batch_size,num_gpu,duration,iteration\n0,0,vgg16,771220,256,1,976570,1282877\n"
     "1,5,vgg16,771220,256,1,976570,1282877\n2,6,vgg16,771220,256,1,976570,1282877\n",
     "3,77,vgg19,99771220,256,16,976570,5282877\n", ','},
    {"helios",
     "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
     "1,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:42:01,60,0\n"
     "2,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:42:01,60,0\n"
     "3,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:42:01,60,0\n",
     "14,user,vc10,16,16,2,COMPLETED,2020-06-09 18:41:10,2020-06-09 18:41:11,2020-06-10 04:55:19,36848,10\n", ','},
    {"helios", "vc,gpu_num,submit_time,duration\nv,1,0,60\nv,1,5,60\nv,1,6,60\n", "vc10,16,77,86400\n", ','},
    {"tiresias",
     "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n1,4,0,100,vgg16,3600,0\n2,4,5,100,vgg16,3600,"
     "5\n"
     "3,4,6,100,vgg16,3600,1\n",
     "14,16,3600,300,resnet50,86400,3270\n", ','},
    {"philly_csv",
     "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,2,132.0,6214e9\n"
     "2017-10-09 07:01:56,66.0,2,132.0,6214e9\n2017-10-09 07:01:57,66.0,2,132.0,6214e9\n",
     "2017-10-09 07:22:58,86400.5,16,1382408.0,103959\n", ','},
    {"philly_json",
     "[" PHILLY("a", "01:10:00", "02:00:00") "," PHILLY("b", "01:10:00", "02:00:00") "," PHILLY("c", "01:10:00",
                                                                                                "02:00:00") ",",
     PHILLY("d", "01:20:00", "12:00:10") "]\n", '\0'},
    {"acme",
     "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
     "1,u,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
     "00:20:51+08:00,117,32,936.0\n"
     "2,u,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
     "00:20:51+08:00,117,32,936.0\n"
     "3,u,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
     "00:20:51+08:00,117,32,936.0\n",
     "14,user,2,16,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,2023-03-01 "
     "08:20:51+08:00,28917,32,"
     "936.0\n",
     ','},
    {"acme",
     "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,end_time\n"
     "1,u,8,64,960,1000,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00\n"
     "2,u,8,64,960,1000,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00\n",
     "14,user,8,64,960,1000,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 "
     "21:01:16+08:00\n",
     ','},
    {"acme",
     "job_id,arrival_time,num_iteration,iteration_computing_time,iteration_networking_time,gpu_workers,gpu_per_worker\n"
     "0,0.0,208,0.5,0.25,8,8.0\n1,5.0,208,0.5,0.25,8,8.0\n2,6.0,208,0.5,0.25,8,8.0\n",
     "3,77.5,20800,0.55,0.125,16,16.0\n", ','},
    {"openb",
     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
     "p0,12000,16384,1,1000,,LS,Succeeded,0,12537496,0\np1,12000,16384,1,1000,,LS,Succeeded,0,12537496,9\n"
     "p2,12000,16384,1,1000,,LS,Succeeded,0,12537496,9\n",
     "p13,12000,16384,8,1000,V100,LS,Succeeded,77,12902958,2690042\n", ','},
    {"pollux",
     "name,time,application,num_replicas,batch_size\nbert-0,0,bert,6,384\nbert-1,5,bert,6,384\nbert-2,6,bert,6,384\n",
     "bert-13,77,bert,12,384\n", ','},
    {"pai2020",
     "j0,t,1,Terminated,100.0,200.0,600,29,100,V100\nj1,t,1,Terminated,100.0,200.0,600,29,100,V100\n"
     "j2,t,1,Terminated,100.0,200.0,600,29,100,V100\n",
     "j13,task,16,Terminated,177.0,86400.0,600,29.25,100,V100M32\n", ','},
    {"gavel", GAVEL_7("100", "0", "1") GAVEL_7("100", "5", "1") GAVEL_7("100", "6", "1"),
     GAVEL_7("72000", "777.25", "16"), '\t'},
    {"gavel", GAVEL_10("100", "0", "1") GAVEL_10("100", "5", "1") GAVEL_10("100", "6", "1"),
     GAVEL_10("72000", "777.25", "8"), '\t'},
    {"gavel", GAVEL_12("100", "1", "60", "0") GAVEL_12("100", "1", "60", "5") GAVEL_12("100", "1", "60", "6"),
     GAVEL_12("72000", "16", "86400", "777.25"), '\t'},
};
enum { N_FILES = sizeof files / sizeof files[0] };

static struct scratch scratch;
static struct workload w;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(ragged, .init = before, .fini = after);

static int load(const char *text, size_t n, bool is_strict)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "t", text, n, path));
    spec.strict = is_strict;
    workload_fini(&w);
    err = (struct error){0};
    return trace_load(&w, &spec, &err);
}

static uint64_t dropped(void)
{
    return w.report.rows_read - w.report.rows_kept;
}

/* What a reading with a change may be. */
struct whole {
    uint8_t digest[DIGEST_BYTES];
    uint32_t n_jobs;
    uint64_t n_dropped;
};

static bool is_whole(const struct whole *whole)
{
    return memcmp(w.digest, whole->digest, DIGEST_BYTES) == 0;
}

static struct whole load_whole(int f, char *text, size_t room)
{
    struct whole whole;
    snprintf(text, room, "%s%s", files[f].head, files[f].last);
    cr_assert_eq(load(text, strlen(text), true), BRAID_OK, "%s %d: %s", files[f].format, f, err.message);
    cr_assert_str_eq(w.report.format, files[f].format);
    cr_assert_eq(scratch_count(&w, "no_line_end"), 0);
    memcpy(whole.digest, w.digest, DIGEST_BYTES);
    whole.n_jobs = w.n_jobs;
    whole.n_dropped = dropped();
    return whole;
}

Test(ragged, a_file_cut_in_its_last_row_is_never_read_as_another_one_silently)
{
    char text[2048];
    for (int f = 0; f < N_FILES; f++) {
        struct whole whole = load_whole(f, text, sizeof text);
        size_t head = strlen(files[f].head), n = strlen(text);
        unsigned refused = 0, told = 0;
        for (size_t cut = head + 1; cut < n; cut++) {
            int code = load(text, cut, false);
            bool is_kept = code == BRAID_OK && w.n_jobs == whole.n_jobs;
            if (code != BRAID_OK) {
                refused++;
            } else if (w.n_jobs < whole.n_jobs) {
                cr_assert_gt(dropped(), whole.n_dropped, "%s cut at %zu of %zu: %.*s", files[f].format, cut - head,
                             n - head, (int)(cut - head), text + head);
                told++;
            } else if (files[f].separator != '\0' || !is_whole(&whole)) {
                cr_assert_eq(scratch_count(&w, "no_line_end"), 1, "%s cut at %zu of %zu: %.*s", files[f].format,
                             cut - head, n - head, (int)(cut - head), text + head);
                told++;
            }
            /* A row that is dropped, or a file that is refused, is one to strict reading as well: that is looked at now and then. */
            if ((is_kept || cut % 8 == 0) && load(text, cut, true) == BRAID_OK)
                cr_assert(is_whole(&whole), "strict %s cut at %zu of %zu: %.*s", files[f].format, cut - head, n - head,
                          (int)(cut - head), text + head);
        }
        cr_assert(files[f].separator == '\0' ? refused + 1 >= n - head - 1 : told > 0, "%s", files[f].format);
    }
}

Test(ragged, a_row_with_a_separator_too_many_is_dropped)
{
    char text[2048], more[2048];
    for (int f = 0; f < N_FILES; f++) {
        struct whole whole = load_whole(f, text, sizeof text);
        size_t head = strlen(files[f].head), n = strlen(text);
        if (strcmp(files[f].format, "slurm") == 0)
            continue; /* there the surplus is the job name's: it is the one column of free text */
        for (size_t at = head; at + 1 < n && files[f].separator != '\0'; at++) {
            if (text[at] != files[f].separator)
                continue;
            snprintf(more, sizeof more, "%.*s%c9%s", (int)at, text, files[f].separator, text + at);
            cr_assert_eq(load(more, strlen(more), false), BRAID_OK, "%s", err.message);
            cr_assert_eq(w.n_jobs, whole.n_jobs - 1, "%s: %s", files[f].format, more + head);
            cr_assert_eq(scratch_count(&w, "ambiguous_fields"), 1, "%s: %s", files[f].format, more + head);
            cr_assert_eq(load(more, strlen(more), true), BRAID_BAD_INPUT, "%s: %s", files[f].format, more + head);
        }
    }
}

Test(ragged, empty_fields_at_the_line_end_do_no_harm)
{
    static const char text[] = "id,submit,duration,gpus,\na,0,1,1,,,\nb,0,1,1\nc,0,1,1,\n";
    cr_assert_eq(load(text, sizeof text - 1, true), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.n_jobs, 3);
    cr_assert_eq(scratch_count(&w, "extra_fields"), 1);
}

Test(ragged, a_quoted_last_value_is_whole_without_a_line_end)
{
    static const char text[] = "id,submit,duration,gpus\na,0,1,\"16\"";
    cr_assert_eq(load(text, sizeof text - 1, true), BRAID_OK, "%s", err.message);
    cr_assert_eq(scratch_count(&w, "no_line_end"), 0);
}

#define LINE(id) id " 0 0 10 4 -1 -1 4 600 -1 1 1 1 1 1 1 -1 -1"

/* Some logs have columns of their own behind the 18; a line that alone has more has a blank inside a value. */
Test(ragged, swf_lines_have_more_fields_only_together)
{
    static const char all[] = LINE("1") " 7\n" LINE("2") " 7\n" LINE("3") " 7\n";
    static const char one[] = LINE("1") "\n" LINE("2") " 7\n";
    static const char first[] = LINE("1") " 7\n" LINE("2") "\n";
    static const char single[] = LINE("1") " 7\n";
    cr_assert_eq(load(all, sizeof all - 1, true), BRAID_OK, "%s", err.message);
    cr_assert_eq(scratch_count(&w, "extra_fields"), 3);
    cr_assert_eq(load(one, sizeof one - 1, false), BRAID_OK);
    cr_assert_eq(scratch_line(&w, "ambiguous_fields"), 2);
    cr_assert_eq(load(first, sizeof first - 1, false), BRAID_OK);
    cr_assert_eq(scratch_line(&w, "ambiguous_fields"), 1);
    cr_assert_eq(load(single, sizeof single - 1, false), BRAID_BAD_INPUT);
}

/* Each csv reader, and those with lines of their own, is in the table above. */
Test(ragged, every_format_is_tried)
{
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++) {
        int f = 0;
        while (f < N_FILES && strcmp(files[f].format, (*r)->name) != 0)
            f++;
        cr_assert_lt(f, N_FILES, "no file of format %s", (*r)->name);
    }
}

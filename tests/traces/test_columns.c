/* Tables read by a mapping of their columns: one workload in many shapes, what each source yields, what is refused. */
#include "base/number.h"
#include "experiment/config_columns.h"
#include "traces/columns.h"
#include "traces/mapping.h"
#include "traces/reader.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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

TestSuite(columns, .init = before, .fini = after);

/* Load `text` by the mapping that the options say; the status. */
static int load(const char *text, const char *columns, const char *separator, const char *unit)
{
    char path[SCRATCH_PATH];
    struct arena arena;
    struct trace_spec spec = scratch_spec(scratch_write(&scratch, "text", text, strlen(text), path));
    arena_init(&arena);
    workload_fini(&w);
    workload_init(&w);
    err = (struct error){0};
    int code = config_columns_parse(&spec.mapping, columns, separator, NULL, unit, &arena, &err);
    if (code == BRAID_OK)
        code = trace_load(&w, &spec, &err);
    arena_fini(&arena);
    return code;
}

static void read_ok(const char *text, const char *columns, const char *separator, const char *unit)
{
    cr_assert_eq(load(text, columns, separator, unit), BRAID_OK, "%s: %s", columns, err.message);
}

Test(columns, one_workload_in_every_shape_has_one_digest)
{
    static const char plain[] = "{id: j, submit: t, gpus: g, duration: r, user: u}";
    static const char numbered[] = "id=1,submit=2,gpus=3,duration=4,user=5";
    static const struct {
        const char *text, *columns, *separator;
    } tables[] = {
        {"j,t,g,r,u\na,0,2,60,ann\nb,30,1,5.5,bob\n", plain, NULL},
        {"u;r;g;t;j\nann;60;2;0;a\nbob;5.5;1;30;b\n", plain, NULL},
        {"j\tt\tg\tr\tu\r\na\t0\t2\t60\tann\r\nb\t30\t1\t5.5\tbob\r\n", plain, NULL},
        {"j|t|g|r|u\na|0|2|60|ann\nb|30|1|5.5|bob\n", plain, NULL},
        {"j:t:g:r:u\na:0:2:60:ann\nb:30:1:5.5:bob\n", plain, "colon"},
        {"  j  t  g    r    u\n  a  0  2   60  ann\n  b 30  1  5.5  bob\n", plain, NULL},
        {"  j  t g    r   u\n--- -- - ---- ---\n  a  0 2   60 ann\n  b 30 1  5.5 bob\n", plain, NULL},
        {"a,0,2,60,ann\nb,30,1,5.5,bob\n", numbered, NULL},
        {"# a comment\na 0 2 60 ann\nb 30 1 5.5 bob\n", numbered, NULL},
        {"[{\"j\":\"a\",\"t\":0,\"g\":2,\"r\":60,\"u\":\"ann\"},{\"u\":\"bob\",\"j\":\"b\",\"t\":30,\"g\":1,\"r\":5.5}"
         "]",
         plain, NULL},
        {"{\"j\":\"a\",\"t\":0,\"g\":2,\"r\":60,\"u\":\"ann\"}\n{\"j\":\"b\",\"t\":30,\"g\":1,\"r\":5.5,\"u\":\"bob\"}"
         "\n",
         plain, NULL},
        {"{\"n\":2,\"jobs\":[{\"j\":\"a\",\"t\":0,\"g\":2,\"r\":60,\"u\":\"ann\"},{\"j\":\"b\",\"t\":30,\"g\":1,\"r\":"
         "5.5,"
         "\"u\":\"bob\"}],\"x\":[{\"y\":1}]}",
         plain, NULL},
        {"[{\"j\":\"a\",\"o\":{\"t\":0,\"p\":{\"g\":2}},\"r\":60,\"u\":\"ann\"},{\"j\":\"b\",\"o\":{\"p\":{\"g\":1},"
         "\"t\":30},\"r\":"
         "5.5,\"u\":\"bob\"}]",
         "{id: j, submit: o.t, gpus: o.p.g, duration: r, user: u}", NULL},
        {"j,t,n,p,s,e,u\na,0,1,2,100,160,ann\nb,30,1,1,200,205.5,bob\n",
         "{id: j, submit: t, gpus: {column: n, times: p}, duration: {from: s, to: e}, user: u}", NULL},
        {"j,t,g,r,u\na,0,2,1,ann\nb,0.5,1,0.0916666666666666667,bob\n",
         "{id: j, submit: {column: t, unit: min}, gpus: g, duration: {column: r, unit: min}, user: u}", NULL},
        {"j,t,g,r,u\na,0,2000,60000,ann\nb,30000,1000,5500,bob\n",
         "{id: j, submit: {column: t, unit: ms}, gpus: {column: g, unit: milli}, duration: {column: r, unit: ms}, "
         "user: u}",
         NULL},
        {"j,t,q,r,u\na,0,\"cpu=8,gres/gpu:a100=2,gres/gpu=2\",00:01:00,ann\nb,30,\"gres/"
         "gpu=1,cpu=1\",0-00:00:05.5,bob\n",
         "{id: j, submit: t, gpus: {column: q, tres: gres/gpu}, duration: r, user: u}", NULL},
        {"j,t,q,r,u\na,0,\"1=8,4=1,1001=2,1002=2\",60,ann\nb,30,\"1=8,1002=1\",5.5,bob\n",
         "{id: j, submit: t, gpus: {column: q, tres: [1001, 1002]}, duration: r, user: u}", NULL},
        {"a,0,1,2,60,ann\nb,30,1,1,5.5,bob\n",
         "{id: 1, submit: 2, gpus: {column: 3, times: column 4}, duration: 5, user: 6}", NULL},
        {"j:t:q:n:r:u\na:0:-U x -l gpu=1,h_rt=9 -pe smp 2:2:60:ann\nb:30:-l gpu=1:1:5.5:bob\n",
         "{id: j, submit: t, gpus: {column: q, tres: gpu, times: n}, duration: r, user: u}", "colon"},
        {"j,t,q,n,r,u\na,0,gpu:a100:1(S:0-1),2,60,ann\nb,30,gpu:1,1,5.5,bob\n",
         "{id: j, submit: t, gpus: {column: q, tres: gpu, times: n}, duration: r, user: u}", NULL},
    };
    uint8_t digest[DIGEST_BYTES];
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        read_ok(tables[i].text, tables[i].columns, tables[i].separator, NULL);
        cr_assert_str_eq(w.report.format, "columns");
        cr_assert_eq(w.n_jobs, 2, "table %zu: %u jobs", i, w.n_jobs);
        cr_assert_eq(w.duration_ns[1], 5500 * INT64_C(1000000), "table %zu: %lld", i, (long long)w.duration_ns[1]);
        if (i == 0)
            memcpy(digest, w.digest, sizeof digest);
        cr_assert(memcmp(digest, w.digest, sizeof digest) == 0, "table %zu is another workload", i);
    }
}

Test(columns, every_target_has_its_value)
{
    read_ok("id,sub,st,en,g,d,lim,dl,q,u,nm,mo,state,pr,c,m,gm,ty,mi,ba,it,itt,s1,s2,s3,s4,dep,o\n"
            "x,0,5,15,2,10,0:20,100,q1,u1,n1,m1,FAILED,2.5,4,16G,8 GiB,a100,500,32,7,0.5,1,2,3,4,,9\n"
            "y,1,5,15,2,10,0:20,100,q1,u1,n1,m1,FAILED,2.5,4,16G,8 GiB,a100,500,32,7,0.5,1,2,3,4,x,9\n",
            "{id: id, submit: sub, start: st, end: en, gpus: g, duration: d, estimate: lim, deadline: dl, vc: q, user: "
            "u, name: nm, "
            "model: mo, status: state, priority: pr, cpus: c, memory: m, gpu_memory: gm, gpu_type: ty, gpu_milli: mi, "
            "batch: ba, "
            "iterations: it, iteration_time: itt, stage_storage: s1, stage_cpu: s2, stage_gpu: s3, stage_network: s4, "
            "depends: dep, "
            "order: o}",
            NULL, NULL);
    cr_assert_eq(w.start_ns[0], 5 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[0], 20 * NS_PER_S);
    cr_assert_eq(w.deadline_ns[0], 100 * NS_PER_S);
    cr_assert_str_eq(names_text(&w.vcs, w.vc[0]), "q1");
    cr_assert_str_eq(names_text(&w.users, w.user[0]), "u1");
    cr_assert_str_eq(names_text(&w.names, w.name[0]), "n1");
    cr_assert_str_eq(names_text(&w.models, w.model[0]), "m1");
    cr_assert_str_eq(names_text(&w.gpu_types, w.gpu_type[0]), "a100");
    cr_assert_eq(w.trace_status[0], TRACE_FAILED);
    cr_assert_float_eq(w.priority[0], 2.5, 1e-12);
    cr_assert_eq(w.cpu_milli[0], 4000);
    cr_assert_eq(w.mem_kib[0], UINT64_C(16) << 20);
    cr_assert_eq(w.gpu_mem_kib[0], UINT64_C(8) << 20);
    cr_assert_eq(w.gpu_milli[0], 500);
    cr_assert_eq(w.batch[0], 32);
    cr_assert_eq(w.iterations[0], 7);
    cr_assert_eq(w.iteration_ns[0], NS_PER_S / 2);
    for (int s = 0; s < WORKLOAD_STAGES; s++)
        cr_assert_eq(w.stage_ns[s][0], (s + 1) * NS_PER_S);
    cr_assert_str_eq(names_text(&w.depends_texts, w.depends[1]), "x");
}

Test(columns, targets_are_the_columns_of_braid_csv_and_the_end)
{
    uint32_t n;
    const struct mapping_target *targets = mapping_targets(&n);
    const struct csv_format *f = reader_braid.csv;
    cr_assert_eq(n, f->n_columns + 1);
    for (size_t c = 0; c < f->n_columns; c++) {
        uint32_t t = mapping_target_find(f->columns[c].name);
        cr_assert_lt(t, n, "braid csv's %s cannot be mapped", f->columns[c].name);
        cr_assert_eq(targets[t].of, (int)f->columns[c].of);
    }
}

Test(columns, times_since_1970_are_dates_and_zero_is_none)
{
    static const char *const units[] = {"unix", "unix_ms", "unix_us", "unix_ns"};
    static const char *const zeros[] = {"", "000", "000000", "000000000"};
    for (int i = 0; i < 4; i++) {
        char text[256], columns[200];
        snprintf(text, sizeof text, "t,s,e\n1709280000%s,0,1709280100%s\n1709280000%s,1709280040%s,1709280100%s\n",
                 zeros[i], zeros[i], zeros[i], zeros[i], zeros[i]);
        snprintf(columns, sizeof columns,
                 "{submit: {column: t, unit: %s}, gpus: {constant: 4}, start: {column: s, unit: %s}, end: {column: e, "
                 "unit: %s}}",
                 units[i], units[i], units[i]);
        read_ok(text, columns, NULL, NULL);
        cr_assert_eq(w.n_jobs, 1);
        cr_assert_eq(scratch_count(&w, "no_duration"), 1);
        cr_assert(w.has_origin);
        cr_assert_eq(w.origin_utc_s, 1709280000);
        cr_assert_eq(w.duration_ns[0], 60 * NS_PER_S);
        cr_assert_eq(w.gpus[0], 4);
    }
}

Test(columns, start_is_submission_plus_wait)
{
    read_ok("t,wait,run,g\n2024-03-01 08:00:00,90,60,1\n2024-03-01 08:00:01,1:30,60,1\n",
            "{submit: t, start: {column: t, plus: wait}, duration: run, gpus: g}", NULL, NULL);
    cr_assert_eq(w.start_ns[0], 90 * NS_PER_S);
    cr_assert_eq(w.start_ns[1], 91 * NS_PER_S);
}

Test(columns, the_unit_of_all_holds_where_none_is_said)
{
    read_ok("t,r,l,g\n1,2,3,1\n", "{submit: t, duration: r, estimate: {column: l, unit: h}, gpus: g}", NULL, "min");
    cr_assert_eq(w.duration_ns[0], 120 * NS_PER_S);
    cr_assert_eq(w.estimate_ns[0], 3 * 3600 * NS_PER_S);
    read_ok("t,r,g\n1709280000,2,1\n", "submit=t,duration=r,gpus=g", NULL, "unix");
    cr_assert(w.has_origin);
    cr_assert_eq(w.duration_ns[0], 2 * NS_PER_S);
}

Test(columns, memory_has_units_and_amounts_of_one_node)
{
    read_ok("t,r,g,m,n,q\n0,1,1,4,2,\"cpu=6,mem=64G\"\n",
            "{submit: t, duration: r, gpus: g, memory: {column: m, unit: GiB, times: n}, cpus: {column: q, tres: cpu}}",
            NULL, NULL);
    cr_assert_eq(w.mem_kib[0], UINT64_C(8) << 20);
    cr_assert_eq(w.cpu_milli[0], 6000);
    read_ok("t,r,g,q\n0,1,1,\"1=6,2=2048\"\n",
            "{submit: t, duration: r, gpus: g, memory: {column: q, tres: 2, unit: MiB}}", NULL, NULL);
    cr_assert_eq(w.mem_kib[0], UINT64_C(2) << 20);
}

Test(columns, states_of_all_logs_are_known)
{
    static const struct {
        const char *word, *options;
        enum trace_status status;
        const char *dropped; /* the reason, or NULL */
    } cases[] = {
        {"COMPLETED", "", TRACE_PASSED, NULL},
        {"Pass", "", TRACE_PASSED, NULL},
        {"passed", "", TRACE_PASSED, NULL},
        {"Succeeded", "", TRACE_PASSED, NULL},
        {"COMPLETED_SUCCESSFULLY", "", TRACE_PASSED, NULL},
        {"DONE", "", TRACE_PASSED, NULL},
        {"CANCELLED by 1000", "", TRACE_KILLED, NULL},
        {"CANCELLED+", "", TRACE_KILLED, NULL},
        {"Killed", "", TRACE_KILLED, NULL},
        {"TIMEOUT", "", TRACE_FAILED, NULL},
        {"NODE_FAIL", "", TRACE_FAILED, NULL},
        {"OUT_OF_MEMORY", "", TRACE_FAILED, NULL},
        {"EXIT", "", TRACE_FAILED, NULL},
        {"PENDING", "", TRACE_UNKNOWN, "never_started"},
        {"RUNNING", "", TRACE_UNKNOWN, "still_running"},
        {"3", ", codes: slurm", TRACE_PASSED, NULL},
        {"4", ", codes: slurm", TRACE_KILLED, NULL},
        {"6", ", codes: slurm", TRACE_FAILED, NULL},
        {"1031", ", codes: slurm", TRACE_FAILED, NULL},
        {"1", ", codes: slurm", TRACE_UNKNOWN, "still_running"},
        {"1", ", codes: swf", TRACE_PASSED, NULL},
        {"5", ", codes: swf", TRACE_KILLED, NULL},
        {"0", ", codes: exit", TRACE_PASSED, NULL},
        {"137", ", codes: exit", TRACE_FAILED, NULL},
        {"0:9", ", codes: exit", TRACE_FAILED, NULL},
        {"prima", ", passed: prima", TRACE_PASSED, NULL},
        {"COMPLETED", ", failed: [x, COMPLETED]", TRACE_FAILED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200], columns[200];
        snprintf(text, sizeof text, "t,r,g,s\n0,1,1,%s\n1,1,1,COMPLETED\n", cases[i].word);
        snprintf(columns, sizeof columns, "{submit: t, duration: r, gpus: g, status: {column: s%s}}", cases[i].options);
        read_ok(text, columns, NULL, NULL);
        cr_assert_eq(w.n_jobs, cases[i].dropped == NULL ? 2 : 1, "%s%s", cases[i].word, cases[i].options);
        if (cases[i].dropped == NULL)
            cr_assert_eq(w.trace_status[0], cases[i].status, "%s%s", cases[i].word, cases[i].options);
        else
            cr_assert_eq(scratch_count(&w, cases[i].dropped), 1, "%s", cases[i].word);
    }
    read_ok("t,r,g,s\n0,1,1,quux\n1,1,1,7\n", "{submit: t, duration: r, gpus: g, status: s}", NULL, NULL);
    cr_assert_eq(scratch_count(&w, "unknown_status"), 2, "a number means nothing unless it is said whose it is");
}

Test(columns, bad_rows_are_counted_and_named)
{
    read_ok("t,r,g,m\n"
            "0,1,1,1\n"
            "x,1,1,1\n"
            "0,y,1,1\n"
            "0,1,z,1\n"
            "0,1,1\n"
            "0,1,1,1,1\n"
            "0,1,0,1\n"
            "0,-1,1,1\n"
            "0,1,1,lots\n"
            "0,1,1.5,1\n"
            "0,1,1,1,\n",
            "{submit: t, duration: r, gpus: g, memory: {column: m, unit: GB}}", NULL, NULL);
    cr_assert_eq(w.report.rows_read, 11);
    cr_assert_eq(w.n_jobs, 3);
    cr_assert_eq(scratch_count(&w, "bad_number"), 3);
    cr_assert_eq(scratch_line(&w, "bad_number"), 3);
    cr_assert_eq(scratch_count(&w, "short_row"), 1);
    cr_assert_eq(scratch_count(&w, "ambiguous_fields"), 1);
    cr_assert_eq(scratch_count(&w, "no_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "negative_duration"), 1);
    cr_assert_eq(scratch_count(&w, "fractional_gpus"), 1);
    cr_assert_eq(scratch_count(&w, "bad_optional"), 1);
    cr_assert_str_eq(w.report.columns[0].column, "t");
    cr_assert_str_eq(w.report.columns[0].value, "x");
}

Test(columns, a_row_cut_short_is_no_shorter_job)
{
    read_ok("t,g,r\n0,1,864\n10,1,86", "submit=t,gpus=g,duration=r", NULL, NULL);
    cr_assert_eq(scratch_count(&w, "no_line_end"), 1);
    read_ok("t|g|r\n0|1|864\n10|1|86", "submit=t,gpus=g,duration=r", NULL, NULL);
    cr_assert_eq(scratch_count(&w, "no_line_end"), 1);
}

Test(columns, what_is_wrong_is_said)
{
    static const char table[] = "id,t,r,g\na,0,1,1\n";
    static const struct {
        const char *columns, *part;
    } cases[] = {
        {"id=id,submit=when,gpus=g,duration=r",
         "no column is called 'when', which trace.columns names; between 'comma' the header has "
         "id, t, r, g"},
        {"id=id,gpus=g,duration=r", "no column is mapped to 'submit'"},
        {"submit=t,duration=r", "gpus: {constant: 1}"},
        {"submit=t,gpus=g", "no run time"},
        {"submit=t,gpus=g,start=r", "no run time"},
        {"submitted=t,gpus=g,duration=r", "did you mean 'submit'?"},
        {"submit,gpus", "--columns wants NAME=COLUMN"},
        {"{submit: t, gpus: {column: g, unit: s}, duration: r}", "takes the unit milli or percent"},
        {"{submit: t, gpus: g, duration: {column: r, unit: unix}}", "takes a unit of time"},
        {"{submit: t, gpus: g, duration: {from: r}}", "needs both 'from' and 'to'"},
        {"{submit: t, gpus: g, duration: {column: r, constant: 3}}", "more than one source"},
        {"{submit: t, gpus: g, duration: {unit: min}}", "names no source"},
        {"{submit: t, gpus: g, duration: r, user: {column: id, times: 3}}", "is no amount"},
        {"{submit: t, gpus: g, duration: {column: r, plus: t}}", "is no time of the clock"},
        {"{submit: t, gpus: g, duration: r, user: {column: id, tres: gpu}}", "is no resource"},
        {"{submit: t, gpus: {column: g, passed: [x]}, duration: r}", "is no status"},
        {"{submit: t, gpus: g, duration: [r]}", "wants the name of a column"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_eq(load(table, cases[i].columns, NULL, NULL), BRAID_BAD_INPUT, "%s", cases[i].columns);
        cr_assert_not_null(strstr(err.message, cases[i].part), "%s: %s", cases[i].columns, err.message);
    }
    cr_assert_eq(load("[{\"t\":0}]", "submit=t,gpus=g,duration=r", NULL, NULL), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "no row has a value 'g', which trace.columns names; there are t"), "%s",
                       err.message);
    cr_assert_eq(load("a,a,b\n0,1,2\n", "submit=a,gpus=b,duration=b", NULL, NULL), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "twice"), "%s", err.message);
    cr_assert_eq(load("1,2\n", "submit=1,gpus=2,duration=3", NULL, NULL), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "names column 3, but the first row has 2"), "%s", err.message);
    cr_assert_eq(load("a b\n1 2\n", "submit=a,gpus=b,duration=b", "fixed", NULL), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "no line of dashes"), "%s", err.message);
    cr_assert_eq(load("", "submit=a,gpus=b,duration=b", NULL, NULL), BRAID_BAD_INPUT);
}

/* ---- braid trace guess, as a user runs it ------------------------------------------------------------------------------ */

static int braid(const char *arguments, char *out, size_t size)
{
    const char *program = getenv("BRAID");
    char command[2048];
    if (program == NULL)
        cr_skip_test("the environment does not say where the program is (BRAID)");
    snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1", scratch.folder, program, arguments);
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    size_t n = fread(out, 1, size - 1, p);
    out[n] = '\0';
    int status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void guess(const char *text, int status, const char *const *parts)
{
    char out[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "g.csv", text, strlen(text), path);
    cr_assert_eq(braid("trace guess g.csv", out, sizeof out), status, "%s", out);
    for (; *parts != NULL; parts++)
        cr_assert_not_null(strstr(out, *parts), "'%s' is not in:\n%s", *parts, out);
}

Test(columns, guess_finds_names_separator_and_units)
{
    guess("JobID;SubmitTime;StartTime;EndTime;run_time;num_gpus;User;State;mem\n"
          "j1;1709280000000;1709280060000;1709283660000;60;2;ann;COMPLETED;4\n"
          "j2;1709280000500;1709280070000;1709283670000;60;1;bob;CANCELLED by 7;5\n",
          0,
          (const char *const[]){
              "  separator: semicolon\n", "    id: JobID ", "    submit: {column: SubmitTime, unit: unix_ms} ",
              "    duration: {column: run_time, unit: min} ", "end - start in 2 of 2 rows", "    gpus: num_gpus ",
              "    status: State ", "not decided: memory: 'mem' is a number without a unit",
              "read so: 2 rows, 2 of them jobs", NULL});
    guess("       JobNo              Submit    Elapsed   ReqTRES \n"
          "------------ ------------------- ---------- ---------- \n"
          "          12 2024-03-01T08:00:00 1-01:00:00 gres/gpu=2 \n",
          0,
          (const char *const[]){"  separator: fixed\n", "    gpus: {column: ReqTRES, tres: [gres/gpu]} ",
                                "spans such as 1-01:00:00", NULL});
    guess("id_of_job,time_submit,nodes,gpus_per_node,wait,walltime\n1,2024-03-01 08:00:00,2,4,60,100\n", 0,
          (const char *const[]){"    gpus: {column: gpus_per_node, times: nodes} ",
                                "    start: {column: time_submit, plus: wait} ",
                                "'walltime' may be what was used or what was asked for", NULL});
    guess("[{\"job\": {\"id\": 7}, \"submit_time\": \"2024-03-01 08:00:00\", \"gpus_req\": 2, \"runtime_h\": 2}]", 0,
          (const char *const[]){"    id: job.id ", "    duration: {column: runtime_h, unit: h} ", NULL});
}

Test(columns, guess_says_what_is_missing)
{
    guess("when,what\n1,2\n", 1,
          (const char *const[]){"missing: submit:", "missing: gpus:", "missing: duration:", NULL});
    guess("a,2024-03-01 08:00:00,10\n", 1, (const char *const[]){"  header: false\n", "column 2: dates such as", NULL});
    guess("id,submit,duration,gpus\na,0,1,1\n", 0,
          (const char *const[]){"a braid trace; no columns need be named", NULL});
}

Test(columns, what_guess_prints_runs_as_a_config)
{
    static const char table[] =
        "jobid|submit_time|run_time|gpus_req\n1|2024-03-01 08:00:00|60|1\n2|2024-03-01 08:00:10|60|2\n";
    char out[8192], path[SCRATCH_PATH];
    scratch_write(&scratch, "t.txt", table, strlen(table), path);
    cr_assert_eq(braid("trace guess t.txt > c.yaml", out, sizeof out), 0, "%s", out);
    cr_assert_eq(braid("run c.yaml -o c.h5", out, sizeof out), 0, "%s", out);
    cr_assert_not_null(strstr(out, "trace: columns, 2 rows read, 2 kept"), "%s", out);
    cr_assert_eq(
        braid("trace convert t.txt --columns id=jobid,submit=submit_time,duration=run_time,gpus=gpus_req -o o.csv", out,
              sizeof out),
        0, "%s", out);
    cr_assert_eq(braid("trace check o.csv --unit min", out, sizeof out), 2, "%s", out);
}

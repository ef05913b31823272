/* Plugins that are wrong, old or misbehave: the message names them, the status is right, and the other runs are kept. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], output[65536];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

/* What a command in the folder prints; its exit status, or 128 + signal. */
static int in_folder(const char *command)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "cd %s && { %s; } 2>&1", folder, command);
    FILE *f = popen(whole, "r");
    cr_assert_not_null(f);
    output[fread(output, 1, sizeof output - 1, f)] = '\0';
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A plugin whose code before the descriptor is `code`, and its fields beside name, summary, source, version and size are `fields`. */
static void plugin(const char *code, const char *fields)
{
    static char text[16384];
    snprintf(text, sizeof text,
             "#include <braid/policy.h>\n"
             "#include <stdlib.h>\n"
             "static void start_all(void *self, struct sched *s)\n"
             "{ (void)self; for (uint32_t j = 0; j < sched_n_jobs(s); j++) sched_start(s, j); }\n"
             "%s\n"
             "static const struct policy_ops ops = {.abi_version = BRAID_POLICY_ABI, .size = sizeof(struct policy_ops),\n"
             "    .name = \"mine\", .summary = \"A test\", .source = \"tests\", .schedule = start_all, %s};\n"
             "const struct policy_ops *braid_policy(void) { return &ops; }\n",
             code, fields);
    write_file("mine.c", text);
    char root[512], command[1024];
    cr_assert_not_null(getcwd(root, sizeof root));
    snprintf(command, sizeof command, "cc -shared -fPIC -O1 -Wno-initializer-overrides -Wno-override-init -I '%s/sim/include' mine.c -o mine.so", root);
    cr_assert_eq(in_folder(command), 0, "%s", output);
}

/* braid with `arguments`, in the folder. */
static int braid(const char *arguments)
{
    char command[1024], program[512];
    cr_assert_not_null(realpath(getenv("BRAID"), program));
    snprintf(command, sizeof command, "'%s' %s", program, arguments);
    return in_folder(command);
}

static int run(void)
{
    char command[1024], program[512];
    cr_assert_not_null(realpath(getenv("BRAID"), program));
    snprintf(command, sizeof command, "'%s' run c.yaml -o r.h5 --check --quiet -j 1", program);
    return in_folder(command);
}

static void begin(void)
{
    strcpy(folder, "/tmp/braid-plugins-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    write_file("c.yaml", "trace: t.csv\ncluster: {nodes: [{count: 1, gpus: 4}]}\nsweep: {policy: [fifo, {plugin: ./mine.so}]}\n");
    write_file("t.csv", "id,submit,duration,gpus\na,0,10,4\nb,1,10,1\nc,2,10,3\n");
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect_eq(system(command), 0);
}

TestSuite(plugin, .init = begin, .fini = end);

#define REFUSED(status, ...)                                                                                           \
    do {                                                                                                               \
        static const char *const said[] = {__VA_ARGS__};                                                               \
        int got = run();                                                                                               \
        cr_expect_eq(got, status, "status %d: %s", got, output);                                                       \
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)                                                        \
            cr_expect(strstr(output, said[i]) != NULL, "'%s' is not in: %s", said[i], output);                         \
    } while (0)

Test(plugin, a_right_one_runs)
{
    plugin("", ".knows = 0");
    cr_expect_eq(run(), 0, "%s", output);
}

Test(plugin, a_file_that_is_none)
{
    REFUSED(2, "c.yaml:3:33", "cannot open './mine.so'");
    write_file("mine.so", "hello");
    REFUSED(2, "mine.so", "cannot be loaded as a policy");
}

Test(plugin, one_without_the_function)
{
    write_file("mine.c", "int nothing;\n");
    cr_assert_eq(in_folder("cc -shared -fPIC mine.c -o mine.so"), 0, "%s", output);
    REFUSED(2, "mine.so", "exports no function braid_policy()");
    write_file("mine.c", "void *braid_policy(void); void *braid_policy(void) { return 0; }\n");
    cr_assert_eq(in_folder("cc -shared -fPIC mine.c -o mine.so"), 0, "%s", output);
    REFUSED(2, "mine.so", "returns NULL");
}

Test(plugin, one_of_another_version)
{
    plugin("", ".abi_version = 77");
    REFUSED(2, "mine.so", "another version");
    plugin("", ".size = 8");
    REFUSED(2, "mine.so", "another size");
}

Test(plugin, one_that_lacks_what_must_be_there)
{
    plugin("", ".schedule = NULL");
    REFUSED(2, "mine.so", "schedule()");
    plugin("", ".source = NULL");
    REFUSED(2, "mine.so", "source");
    plugin("", ".n_params = 3");
    REFUSED(2, "mine.so", "parameters");
    plugin("static const struct param_spec p[] = {{.name = \"x\", .type = PARAM_INT, .def = \"many\", .help = \"?\"}};", ".params = p, .n_params = 1");
    REFUSED(2, "c.yaml:3:24", "policy 'mine' is faulty", "'policy.x' wants a whole number");
    plugin("static const struct param_spec p[] = {{.name = 0, .type = PARAM_INT, .def = \"1\", .help = \"?\"}};", ".params = p, .n_params = 1");
    REFUSED(2, "mine.so", "a parameter without name or help");
}

Test(plugin, one_that_refuses)
{
    plugin("static int init(void *self, struct sched *s, const union param *v, struct error *e)\n"
           "{ (void)self; (void)s; (void)v; return error_set(e, BRAID_BAD_INPUT, \"there are no %s here\", \"zebras\"); }",
           ".init = init");
    REFUSED(1, "there are no zebras here"); /* the run of fifo is kept */
    plugin("static int init(void *self, struct sched *s, const union param *v, struct error *e)\n"
           "{ (void)self; (void)s; (void)v; (void)e; return 1; }",
           ".init = init");
    REFUSED(1, "mine", "refuses");
}

Test(plugin, one_that_calls_verbs_where_they_do_not_belong)
{
    plugin("static void early(void *self, struct sched *s, uint32_t job)\n"
           "{ (void)self; if (sched_start(s, job) != SCHED_E_CALL || sched_preempt(s, job) != SCHED_E_CALL) abort(); }",
           ".on_submit = early");
    cr_expect_eq(run(), 0, "%s", output);
}

Test(plugin, one_that_names_jobs_that_are_not_there)
{
    plugin("static void wild(void *self, struct sched *s)\n"
           "{ if (sched_start(s, 12345) != SCHED_E_SCOPE || sched_preempt(s, UINT32_MAX) != SCHED_E_SCOPE ||\n"
           "      sched_join(s, 12345, 0) != SCHED_E_SCOPE || sched_move(s, 999) != SCHED_E_SCOPE) abort();\n"
           "  start_all(self, s); }",
           ".schedule = wild");
    cr_expect_eq(run(), 0, "%s", output);
}

Test(plugin, one_that_asks_for_what_it_did_not_declare)
{
    plugin("static void nosy(void *self, struct sched *s)\n"
           "{ int64_t x = 5; if (sched_duration_ns(s, 0, &x) != SCHED_E_UNDECLARED || x != 5) abort(); start_all(self, s); }",
           ".schedule = nosy");
    cr_expect_eq(run(), 0, "%s", output);
    cr_expect_eq(braid("compare r.h5"), 0);
    cr_expect(strstr(output, "mine: policy mine asked 5 times for durations, which its 'knows' does not declare") != NULL, "%s", output);
}

Test(plugin, one_that_wakes_itself_for_ever)
{
    plugin("static void idle(void *self, struct sched *s) { (void)self; sched_wake_at(s, sched_now(s) + 1000000000); }", ".schedule = idle");
    REFUSED(1, "mine", "wakes itself again and again");
}

Test(plugin, one_that_never_starts_anything)
{
    plugin("static void idle(void *self, struct sched *s) { (void)self; (void)s; }", ".schedule = idle");
    cr_expect_eq(run(), 0, "%s", output);
    cr_expect_eq(braid("export r.h5 --what jobs | grep -c unfinished"), 0);
    cr_expect_eq(atoi(output), 3, "%s", output);
    cr_expect_eq(braid("compare r.h5"), 0); /* says what the run said, and nothing of its own */
    cr_expect(strstr(output, "mine: 3 jobs still waited when nothing ran any more, and would have fitted: policy mine never started them") != NULL, "%s", output);
    cr_expect(strstr(output, "nothing stopped the run") == NULL, "%s", output);
}

Test(plugin, one_that_crashes_is_named_and_the_runs_before_it_are_kept)
{
    plugin("static void crash(void *self, struct sched *s) { (void)s; *(volatile int *)((char *)self - (size_t)self) = 1; }", ".schedule = crash");
    int status = run();
    if (strstr(output, "AddressSanitizer") != NULL || strstr(output, "runtime error") != NULL)
        cr_skip_test("the sanitizer tells of it");
    cr_expect_eq(status, 1, "status %d: %s", status, output);
    cr_expect(strstr(output, "mine.so: the plugin crashed") != NULL, "%s", output);
    const char *named = strstr(output, "braid: it was computing run ");
    cr_expect(named != NULL && strspn(named + 28, "0123456789abcdef") == 16 && strstr(named, "(mine") != NULL, "%s",
              output);
    cr_expect(strstr(output, "r.h5.parts") != NULL && strstr(output, "--resume") != NULL, "%s", output);
    plugin("", ".knows = 0"); /* mended */
    char command[1024], program[512];
    cr_assert_not_null(realpath(getenv("BRAID"), program));
    snprintf(command, sizeof command, "'%s' run c.yaml -o r.h5 --quiet -j 1 --resume", program);
    cr_expect_eq(in_folder(command), 0, "%s", output);
}

/* random.c - random experiments: made from seeds, run by braid from their files to their results files, and checked from outside.
 *
 *   random-books --seed S --count N     a line an experiment: seed, outcome, CPU seconds, policy, placement, features, kinds of faults
 *   random-books --shrink S             the scene of one seed with as few jobs as still go wrong, and what goes wrong
 *   random-books --damage N             N good results files, in which each column in turn is changed: every change must be reported
 *
 * Each experiment is run by a child, which does many, so that a crash or an experiment without end is one of them and no more. Status 0: no faults.
 */
#include "check.h"

#include "experiment/execute.h"
#include "experiment/experiment.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CANCEL_S = 8, /* of CPU time: the run is asked to end */
    END_S = 40,   /* of time: its process is ended */
};

enum outcome { RAN, REFUSED, GAVE_UP, KNOWN, FAULTY, CANCELLED, CRASHED };
static const char *const OUTCOMES[] = {"ran", "refused", "gave_up", "known", "faulty", "slow", "crashed"};

/* Between the child and its parent. */
struct progress {
    volatile uint64_t next; /* seed in hand */
    volatile uint32_t faulty;
};

static volatile int is_late; /* set by a signal, as experiment_execute wants it */

static void on_timer(int number)
{
    (void)number;
    is_late = 1;
}

static void timer_set(long seconds)
{
    is_late = 0;
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one experiment ---- */

/* Failures that are answers: a policy that never comes to an end is told so. */
static bool gave_up(const char *message)
{
    return strstr(message, "makes no progress") != NULL || strstr(message, "wakes itself again and again") != NULL ||
           strstr(message, "never gets past") != NULL;
}

struct told {
    enum outcome outcome;
    struct check check;
    char message[1024];
};

/* From the files in `folder` to the results file there. */
static void scene_execute(const char *folder, const char *output, struct told *t)
{
    char config[4096];
    struct experiment x;
    struct error err = {0};
    struct execute_report report;
    snprintf(config, sizeof config, "%s/c.yaml", folder);
    struct execute_options o = {.output = output, .threads = 1, .check = true, .cancel = &is_late};
    timer_set(CANCEL_S);
    int code = experiment_load(&x, config, NULL, 0, &err);
    if (code == BRAID_OK) {
        code = experiment_execute(&x, &o, &report, &err);
        experiment_fini(&x);
    }
    timer_set(0);
    snprintf(t->message, sizeof t->message, "%.1000s", err.message);
    t->outcome = code == BRAID_OK ? RAN : code == BRAID_BAD_INPUT ? REFUSED : gave_up(err.message) ? GAVE_UP : FAULTY;
}

static void scene_judge(const struct scene *s, const char *folder, FILE *out, struct told *t)
{
    char output[4096];
    struct books b;
    memset(t, 0, sizeof *t);
    snprintf(output, sizeof output, "%s/out.h5", folder);
    unlink(output);
    bool late = false;
    if (!scene_write(s, folder)) {
        t->outcome = FAULTY;
        check_fault(&t->check, "disk", "cannot write to %s", folder);
        return;
    }
    t->check.scene = s;
    t->check.out = out;
    scene_execute(folder, output, t);
    late = strstr(t->message, "interrupted") != NULL;
    if (late)
        t->outcome = CANCELLED;
    else if (t->outcome == FAULTY || (t->outcome != RAN && t->message[0] == '\0'))
        check_fault(&t->check, "failed", "%s", t->message[0] != '\0' ? t->message : "no message");
    if (t->outcome == RAN) {
        bool is_read = books_read(&b, output);
        if (is_read)
            check_books(&t->check, s, &b, out);
        else
            check_fault(&t->check, "unreadable", "%s", b.why);
        books_free(&b);
    }
    if (t->check.n_faults > 0)
        t->outcome = FAULTY;
}

static void line_print(const struct scene *s, const struct told *t, double seconds)
{
    char features[1024], text[512];
    size_t n = 0;
    scene_features(s, features, sizeof features);
    printf("%" PRIu64 "\t%s\t%.3f\t%s\t%s\t%s\t", s->seed, OUTCOMES[t->outcome], seconds, s->policy->name, s->placement,
           features);
    for (uint32_t k = 0; k < t->check.n_kinds; k++)
        printf("%s%s", k > 0 ? "," : "", t->check.kinds[k]);
    for (const char *at = t->message; *at != '\0' && n + 1 < sizeof text; at++)
        text[n++] = *at == '\t' || *at == '\n' ? ' ' : *at;
    text[n] = '\0';
    printf("\t%s\n", text);
    fflush(stdout);
}

/* ---- many ---- */

/* Are all its faults of kinds that known.txt names? */
static bool are_known(const struct check *c)
{
    FILE *f = fopen("tests/random/known.txt", "r"); /* from the root of the tree */
    char line[256], kind[40];
    uint32_t n = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        for (uint32_t k = 0; k < c->n_kinds; k++)
            n += sscanf(line, "%39s", kind) == 1 && strcmp(kind, c->kinds[k]) == 0;
    if (f != NULL)
        fclose(f);
    return c->n_kinds > 0 && n == c->n_kinds;
}

static int child(uint64_t end, const char *folder, struct progress *p, bool prints)
{
    static struct scene s;
    static struct told t;
    signal(SIGPROF, on_timer);
    for (; p->next < end; p->next++) {
        alarm(END_S);
        double begin = cpu_s();
        scene_make(&s, p->next);
        scene_judge(&s, folder, prints ? stderr : NULL, &t);
        alarm(0);
        if (t.outcome == FAULTY && are_known(&t.check))
            t.outcome = KNOWN;
        line_print(&s, &t, cpu_s() - begin);
        p->faulty += t.outcome == FAULTY || t.outcome == CANCELLED;
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static struct progress *progress_new(void)
{
    void *p = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

static int many(uint64_t seed, uint64_t count, const char *folder, bool prints)
{
    struct progress *p = progress_new();
    if (p == NULL)
        return 1;
    p->next = seed;
    while (p->next < seed + count) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0)
            exit(child(seed + count, folder, p, prints));
        int status;
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        static struct scene s;
        struct told t = {.outcome = CRASHED};
        scene_make(&s, p->next++);
        t.check.scene = &s;
        check_fault(&t.check, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "endless" : "crash", "%d", status);
        snprintf(t.message, sizeof t.message, "status %d", status);
        line_print(&s, &t, 0);
        p->faulty++;
    }
    return p->faulty > 0;
}

/* ---- a smaller scene that goes wrong in the same way ---- */

/* The first kind of fault in a process of its own: "" none, "crash". */
static void kind_of(const struct scene *s, const char *folder, FILE *out, char kind[40])
{
    char *shared = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared[0] = '\0';
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        static struct told t;
        signal(SIGPROF, on_timer);
        alarm(END_S);
        if (out == NULL && freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        scene_judge(s, folder, out, &t);
        snprintf(shared, 40, "%s", t.check.n_kinds > 0 ? t.check.kinds[0] : t.outcome == CANCELLED ? "slow" : "");
        if (out != NULL)
            fprintf(out, "seed %" PRIu64 ": %s %s\n", s->seed, OUTCOMES[t.outcome], t.message);
        fflush(NULL);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    snprintf(kind, 40, "%s", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? shared : "crash");
    munmap(shared, 64);
}

static int shrink(uint64_t seed, const char *folder, const char *wanted)
{
    static struct scene s;
    char first[40], now[40];
    scene_make(&s, seed);
    kind_of(&s, folder, NULL, first);
    if (wanted != NULL)
        snprintf(first, sizeof first, "%s", wanted);
    for (uint32_t step = (s.n_jobs + 1) / 2; step > 0 && first[0] != '\0'; step = step == 1 ? 0 : (step + 1) / 2)
        for (uint32_t i = 0; i < s.n_jobs; i += step) {
            bool before[SCENE_JOBS];
            bool is_less = false;
            for (uint32_t k = 0; k < s.n_jobs; k++)
                before[k] = s.jobs[k].is_left_out;
            for (uint32_t k = i; k < i + step && k < s.n_jobs; k++) {
                is_less |= !s.jobs[k].is_left_out;
                s.jobs[k].is_left_out = true;
            }
            if (is_less)
                kind_of(&s, folder, NULL, now);
            if (is_less && strcmp(now, first) != 0)
                for (uint32_t k = 0; k < s.n_jobs; k++)
                    s.jobs[k].is_left_out = before[k];
        }
    scene_print(&s, stdout);
    kind_of(&s, folder, stdout, now);
    printf("seed %" PRIu64 ": %s\n", seed, first[0] != '\0' ? first : "no fault");
    return first[0] != '\0';
}

/* ---- a test of the test ---- */

/* Columns that nothing in the file or in the facts contradicts, whatever they say. */
static bool is_free(const char *table, const char *column)
{
    static const char *const of_runs[] = {"name",         "label",    "config", "trace_digest", "trace_format",
                                          "rows_dropped", "origin",   "status", "message",      "digest",
                                          "output",       "position", "remarks"};
    static const char *const of_summary[] = {"fragmentation", "gap_jct", "gap_makespan", "decision_ops", "events"};
    for (size_t i = 0; strcmp(table, "runs") == 0 && i < sizeof of_runs / sizeof *of_runs; i++)
        if (strcmp(column, of_runs[i]) == 0)
            return true;
    for (size_t i = 0; strcmp(table, "summary") == 0 && i < sizeof of_summary / sizeof *of_summary; i++)
        if (strcmp(column, of_summary[i]) == 0)
            return true;
    return strcmp(table, "events") == 0 && (strcmp(column, "vc") == 0 || strcmp(column, "why") == 0);
}

static bool file_copy(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char block[65536];
    size_t n;
    while (in != NULL && out != NULL && (n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    bool good = in != NULL && out != NULL && ferror(in) == 0 && ferror(out) == 0;
    if (in != NULL)
        fclose(in);
    return (out == NULL || fclose(out) == 0) && good;
}

static bool is_noticed(const struct scene *s, const char *path)
{
    struct books b;
    struct check c;
    bool noticed = !books_read(&b, path) || !check_books(&c, s, &b, NULL);
    books_free(&b);
    return noticed;
}

/* Scenes of which every table says something: no quotas, so that nothing may be otherwise, and all outputs. */
static bool is_telling(const struct scene *s)
{
    return s->segments && s->events && s->step_ns > 0 && s->n_vcs != 1 && s->stop_ns == SCENE_NEVER &&
           s->stop_queue == UINT32_MAX && s->to_ns == SCENE_NEVER && s->from_ns == SCENE_NONE && s->warm_up_ns == 0 &&
           s->group_jobs == 0;
}

static int damage(uint64_t seed, uint64_t count, const char *folder)
{
    static const char *const tables[] = {"runs", "summary", "jobs", "series", "segments", "allocs", "events"};
    static struct scene s;
    static struct told t;
    char good[4096], bad[4096], columns[BOOKS_METRICS + 8][BOOKS_TEXT];
    uint32_t tried = 0, unseen = 0, files = 0;
    snprintf(good, sizeof good, "%s/out.h5", folder);
    snprintf(bad, sizeof bad, "%s/bad.h5", folder);
    for (; files < count; seed++) {
        scene_make(&s, seed);
        if (!is_telling(&s))
            continue;
        scene_judge(&s, folder, NULL, &t);
        if (t.outcome != RAN || t.check.slack_ns > 0 || t.check.end_ns < 5 * s.step_ns ||
            t.check.end_ns > 1000 * s.step_ns)
            continue;
        files++;
        for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
            size_t n = books_columns(good, tables[k], columns, BOOKS_METRICS + 8);
            for (size_t i = 0; i < n; i++)
                for (uint64_t row = 0; row < 16; row += 5) {
                    if (is_free(tables[k], columns[i]) || !file_copy(good, bad) ||
                        !books_damage(bad, tables[k], columns[i], row))
                        continue;
                    tried++;
                    if (is_noticed(&s, bad))
                        continue;
                    unseen++;
                    fprintf(stderr, "seed %" PRIu64 ": a change of /%s/%s in row %" PRIu64 " is not noticed\n", seed,
                            tables[k], columns[i], row);
                }
        }
    }
    printf("%u files, %u changes, %u not noticed\n", files, tried, unseen);
    return unseen > 0 || tried < 100;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 0;
    char mode = 'r', folder[64];
    const char *kind = NULL;
    bool prints = true;
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && has_value)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && has_value)
            count = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--kind") == 0 && has_value)
            kind = argv[++i];
        else if (strcmp(argv[i], "--shrink") == 0 && has_value)
            mode = 's', seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--damage") == 0 && has_value)
            mode = 'd', count = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quiet") == 0)
            prints = false;
        else
            return fprintf(stderr, "usage: random-books [--seed S] [--count N] [--quiet] [--shrink S [--kind KIND]] "
                                   "[--damage N]\n"),
                   2;
    }
    snprintf(folder, sizeof folder, "%s/braid-random-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        return perror(folder), 1;
    int status = mode == 's'   ? shrink(seed, folder, kind)
                 : mode == 'd' ? damage(seed, count, folder)
                               : many(seed, count, folder, prints);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}

/* crash.c - a policy plugin runs inside the program: when it crashes, the message should not look like braid's own fault, nor the other way
 * round. Only what is safe in a signal handler is called there: the addresses of the stack are looked up, nothing is allocated. */
#include "cli/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/execute.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void crash_explain(void)
{
}

void crash_watch(const struct run_seat *seats, int n, const char *advice)
{
    (void)seats, (void)n, (void)advice;
}

#else

enum { FRAMES = 64, STACK = 1 << 16 };

/* What the handler tells: a process crashes once. */
static struct {
    const struct run_seat *seats;
    int n;
    const char *advice;
} watched; // NOLINT

void crash_watch(const struct run_seat *seats, int n, const char *advice)
{
    watched.seats = seats;
    watched.n = n;
    watched.advice = advice;
}

static void put(const char *text)
{
    ssize_t done = write(STDERR_FILENO, text, strlen(text));
    (void)done;
}

static bool is_plugin(const char *file)
{
    static const char *const ours[] = {"/libc.so", "/libc-",   "/libm.so",  "/libgcc_s", "/libgomp",
                                       "/libgsl",  "/libhdf5", "/ld-linux", "/libbraid", "/libpthread"};
    size_t n = strlen(file);
    if (strstr(file, ".so") == NULL || n < 3)
        return false;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strstr(file, ours[i]) != NULL)
            return false;
    return true;
}

/* The run that this thread computes; a helper of a policy has none of its own, then all that are computed. */
static void put_runs(void)
{
    bool is_mine = false;
    for (int i = 0; i < watched.n; i++)
        is_mine |= watched.seats[i].is_taken && pthread_equal(watched.seats[i].thread, pthread_self());
    for (int i = 0; i < watched.n; i++) {
        const struct run_seat *s = &watched.seats[i];
        if (!s->is_taken || (is_mine && !pthread_equal(s->thread, pthread_self())))
            continue;
        put("braid: it was computing run ");
        put(s->text);
        put("\n");
    }
    if (watched.advice != NULL)
        put(watched.advice);
}

/* The first frame from the top that lies in a plugin, if the crash is in it or in what it called. A policy's frames always lie over the
 * engine's, so a crash of the engine itself has none. */
static void on_crash(int number)
{
    void *frames[FRAMES];
    int n = backtrace(frames, FRAMES);
    put("braid: ");
    for (int i = 0; i < n; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL || !is_plugin(info.dli_fname))
            continue;
        put(info.dli_fname);
        put(": the plugin crashed (");
        put(sigdescr_np(number));
        put("); the fault is in it or in what it handed to braid: build it with -g -fsanitize=address, or run braid "
            "under a debugger\n");
        put_runs();
        _exit(1);
    }
    put("crashed (");
    put(sigdescr_np(number));
    put("); this is a fault of braid: please report it with the config\n");
    put_runs();
    _exit(1);
}

void crash_explain(void)
{
    void *first[1];
    backtrace(first, 1); /* loads what it needs now, not in the handler */
    stack_t alternative = {.ss_sp = malloc(STACK),
                           .ss_size = STACK}; /* a handler needs room when the stack is what overflowed */
    if (alternative.ss_sp != NULL)
        sigaltstack(&alternative, NULL); /* kept for as long as the program runs */
    struct sigaction action = {.sa_handler = on_crash};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND | SA_ONSTACK;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

#endif

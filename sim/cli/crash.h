/* crash.h - a crash says whose it is: braid's, or a plugin's. */
#ifndef CLI_CRASH_H
#define CLI_CRASH_H

/* From now on SIGSEGV, SIGBUS, SIGFPE and SIGILL end the program with a message that names the shared object in which they happened, and exit
 * status 1. Runs that were stored stay for `--resume`. Nothing is changed under a sanitizer, which tells more. */
void crash_explain(void);

/* A crash also names the run that the thread computes: one of `n` seats, or those that are taken where it is a helper's. They must stay, and so
 * must `advice`, a line on how to go on. */
struct run_seat;
void crash_watch(const struct run_seat *seats, int n, const char *advice);

#endif

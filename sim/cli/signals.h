/* signals.h - SIGINT and SIGTERM while a command works: a thread waits for them and sets a flag that belongs to the caller, so nothing
 * is global. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct signals {
    volatile int caught; /* the number of the first one; 0: none yet */
    sigset_t waited_for, before;
    pthread_t thread;
    bool is_on;
};

/* From now on the two are waited for; a second one ends the program at once. Before other threads begin, which inherit that they do not get them.
 * `s` must stay where it is until signals_end. Where the system gives no thread the signals do what they did before. */
void signals_begin(struct signals *s);
void signals_end(struct signals *s);

#endif

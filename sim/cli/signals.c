#include "cli/signals.h"

#include <unistd.h>

static void *wait_for_signals(void *self)
{
    struct signals *s = self;
    int number;
    if (sigwait(&s->waited_for, &number) != 0)
        return NULL;
    __atomic_store_n(&s->caught, number, __ATOMIC_RELAXED);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &s->waited_for, NULL); /* a second one comes here and ends all */
    for (;;)
        pause();
}

void signals_begin(struct signals *s)
{
    *s = (struct signals){0};
    sigemptyset(&s->waited_for);
    sigaddset(&s->waited_for, SIGINT);
    sigaddset(&s->waited_for, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &s->waited_for, &s->before);
    s->is_on = pthread_create(&s->thread, NULL, wait_for_signals, s) == 0;
    if (!s->is_on)
        pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

void signals_end(struct signals *s)
{
    if (!s->is_on)
        return;
    pthread_cancel(s->thread);
    pthread_join(s->thread, NULL);
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    s->is_on = false;
}

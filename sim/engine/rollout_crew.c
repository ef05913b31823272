#include "engine/rollout_crew.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SPINS = 3000
}; /* looks of an idle helper before it sleeps: some microseconds, batches follow each other quickly */

struct helper {
    struct crew *crew;
    uint32_t worker;
    pthread_t thread;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t has_batch, is_idle;
    struct helper *helpers;
    uint32_t n_helpers;
    /* under the lock; `batch` is also looked at without it */
    uint64_t batch;
    uint32_t n_busy; /* helpers that are at the present batch */
    bool is_over;
    crew_item item;
    void *self;
    uint32_t n;
    uint32_t next; /* item to take: atomic */
};

static void work(struct crew *c, uint32_t worker, crew_item item, void *self, uint32_t n)
{
    for (uint32_t i; (i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < n;)
        item(self, worker, i);
}

static void *help(void *arg)
{
    const struct helper *h = arg;
    struct crew *c = h->crew;
    uint64_t seen = 0;
    for (;;) {
        for (uint32_t i = 0; i < SPINS && __atomic_load_n(&c->batch, __ATOMIC_RELAXED) == seen; i++)
            __asm__ volatile("" ::: "memory");
        pthread_mutex_lock(&c->lock);
        while (c->batch == seen && !c->is_over)
            pthread_cond_wait(&c->has_batch, &c->lock);
        if (c->is_over) {
            pthread_mutex_unlock(&c->lock);
            return NULL;
        }
        seen = c->batch;
        crew_item item = c->item;
        void *self = c->self;
        uint32_t n = c->n;
        bool is_late = __atomic_load_n(&c->next, __ATOMIC_RELAXED) >= n; /* all is taken */
        c->n_busy += !is_late;
        pthread_mutex_unlock(&c->lock);
        if (is_late)
            continue;
        work(c, h->worker, item, self, n);
        pthread_mutex_lock(&c->lock);
        if (--c->n_busy == 0)
            pthread_cond_signal(&c->is_idle);
        pthread_mutex_unlock(&c->lock);
    }
}

struct crew *crew_create(uint32_t n)
{
    struct crew *c = calloc(1, sizeof *c);
    struct helper *helpers = calloc(n, sizeof *helpers);
    if (c == NULL || helpers == NULL) {
        free(c);
        free(helpers);
        return NULL;
    }
    c->helpers = helpers;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->has_batch, NULL);
    pthread_cond_init(&c->is_idle, NULL);
    for (uint32_t i = 1; i < n; i++) {
        struct helper *h = &helpers[c->n_helpers];
        *h = (struct helper){.crew = c, .worker = i};
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            break; /* fewer will do */
        c->n_helpers++;
    }
    return c;
}

void crew_destroy(struct crew *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->is_over = true;
    pthread_cond_broadcast(&c->has_batch);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->n_helpers; i++)
        pthread_join(c->helpers[i].thread, NULL);
    pthread_cond_destroy(&c->has_batch);
    pthread_cond_destroy(&c->is_idle);
    pthread_mutex_destroy(&c->lock);
    free(c->helpers);
    free(c);
}

void crew_run(struct crew *c, uint32_t n, crew_item item, void *self)
{
    pthread_mutex_lock(&c->lock);
    c->item = item;
    c->self = self;
    c->n = n;
    __atomic_store_n(&c->next, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&c->batch, c->batch + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&c->has_batch);
    pthread_mutex_unlock(&c->lock);
    work(c, 0, item, self, n);
    pthread_mutex_lock(&c->lock);
    while (c->n_busy > 0)
        pthread_cond_wait(&c->is_idle, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

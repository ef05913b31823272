#include "experiment/workload_cache.h"

#include "base/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *key;
    pthread_mutex_t lock; /* held while it is read */
    uint32_t users;       /* runs that have not put it back */
    bool is_read;
    struct workload workload;
    struct error error; /* code 0: it could be read */
};

struct workload_cache {
    struct entry *entries; /* by key */
    uint32_t n_entries;
};

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct workload_cache *workload_cache_create(const struct run_config *const *runs, uint32_t n_runs)
{
    struct workload_cache *c = calloc(1, sizeof *c);
    const char **keys = calloc((size_t)n_runs + 1, sizeof *keys);
    struct entry *entries = calloc((size_t)n_runs + 1, sizeof *entries);
    if (c == NULL || keys == NULL || entries == NULL) {
        free(c);
        free(keys);
        free(entries);
        return NULL;
    }
    for (uint32_t i = 0; i < n_runs; i++)
        keys[i] = runs[i]->trace_key;
    qsort(keys, n_runs, sizeof *keys, compare_text);
    c->entries = entries;
    for (uint32_t i = 0; i < n_runs; i++) {
        if (i == 0 || strcmp(keys[i], keys[i - 1]) != 0) {
            struct entry *e = &entries[c->n_entries++];
            e->key = keys[i];
            workload_init(&e->workload);
            pthread_mutex_init(&e->lock, NULL);
        }
        entries[c->n_entries - 1].users++;
    }
    free(keys);
    return c;
}

void workload_cache_destroy(struct workload_cache *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->n_entries; i++) {
        workload_fini(&c->entries[i].workload);
        pthread_mutex_destroy(&c->entries[i].lock);
    }
    free(c->entries);
    free(c);
}

static int compare_entry(const void *key, const void *entry)
{
    return strcmp(key, ((const struct entry *)entry)->key);
}

static struct entry *entry_find(struct workload_cache *c, const struct run_config *run)
{
    struct entry *e = bsearch(run->trace_key, c->entries, c->n_entries, sizeof *e, compare_entry);
    require(e != NULL, "the trace of run %u is not in the cache", run->index);
    return e;
}

const struct workload *workload_cache_get(struct workload_cache *c, const struct run_config *run, struct error *err)
{
    struct entry *e = entry_find(c, run);
    pthread_mutex_lock(&e->lock);
    if (!e->is_read) {
        e->is_read = true;
        int status = trace_load(&e->workload, &run->trace, &e->error);
        if (status != 0 && e->error.code == 0)
            e->error.code = status;
    }
    bool ok = e->error.code == 0;
    if (!ok && err != NULL)
        *err = e->error;
    pthread_mutex_unlock(&e->lock);
    return ok ? &e->workload : NULL;
}

void workload_cache_put(struct workload_cache *c, const struct run_config *run)
{
    struct entry *e = entry_find(c, run);
    pthread_mutex_lock(&e->lock);
    require(e->users > 0, "the trace of run %u is put back too often", run->index);
    if (--e->users == 0) {
        workload_fini(&e->workload);
        workload_init(&e->workload);
    }
    pthread_mutex_unlock(&e->lock);
}

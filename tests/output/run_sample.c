#include "output/run_sample.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t ns(double seconds)
{
    return (int64_t)llround(seconds * 1e9);
}

void run_sample_init(struct run_sample *s, const struct sample_job *jobs, uint32_t n, unsigned number)
{
    memset(s, 0, sizeof *s);
    struct workload *w = &s->workload;
    const struct workload_columns none = {0};
    workload_init(w);
    cr_assert_eq(workload_alloc(w, n, &none, NULL), 0);
    w->has_origin = true;
    w->origin_utc_s = 1500000000;
    memset(w->digest, 0xab, sizeof w->digest);
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += strlen(jobs[i].id);
    free(w->id_text);
    w->id_text = malloc(bytes + 1);
    struct run_result *r = &s->result;
    r->arena = malloc(sizeof *r->arena);
    arena_init(r->arena);
    r->n_jobs = n;
    r->jobs = ARENA_NEW(r->arena, struct job, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct sample_job *in = &jobs[i];
        w->id_at[i + 1] = w->id_at[i] + strlen(in->id);
        memcpy(w->id_text + w->id_at[i], in->id, strlen(in->id));
        w->submit_ns[i] = ns(in->submit);
        w->duration_ns[i] = ns(in->ideal);
        w->gpus[i] = in->gpus;
        w->vc[i] = names_add(&w->vcs, in->vc, strlen(in->vc));
        w->user[i] = names_add(&w->users, in->user, strlen(in->user));
        w->trace_status[i] = (uint8_t)in->trace_status;
        r->jobs[i] = (struct job){.start_ns = in->start < 0 ? -1 : ns(in->start),
                                  .end_ns = ns(in->end),
                                  .run_ns = ns(in->run),
                                  .overhead_ns = ns(in->overhead),
                                  .lost_ns = ns(in->lost),
                                  .gpu_ns = ns(in->run) * in->gpus,
                                  .preemptions = in->preemptions,
                                  .moves = in->moves,
                                  .restarts = in->restarts,
                                  .state = JOB_DONE,
                                  .status = (uint8_t)in->status,
                                  .reason = in->reason != NULL ? in->reason : ""};
    }
    s->config.policy.label = "fifo";
    s->config.yaml = "policy: fifo\nseed: 7\n";
    s->config.identity = "policy: fifo\nseed: 7\n";
    s->config.compat = "none";
    s->config.seed = 7;
    s->config.measure.to_ns = RUN_NO_LIMIT;
    s->config.swept = s->swept;
    s->output.config = &s->config;
    s->output.name = "by hand";
    snprintf(s->output.id, sizeof s->output.id, "%016x", number);
    s->output.workload = w;
    s->output.result = r;
    s->output.keeps_jobs = true;
    for (int i = 0; i < METRICS_MAX; i++)
        s->output.metrics.value[i] = NAN;
    results_digest(r, w, s->output.digest);
}

void run_sample_fini(struct run_sample *s)
{
    workload_fini(&s->workload);
    arena_fini(s->result.arena);
    free(s->result.arena);
}

void run_sample_many(struct run_sample *s, uint32_t n, unsigned number)
{
    static const char *const users[] = {"ann", "bob", "christopher"}, *const vcs[] = {"a", "vc-long-name"};
    struct sample_job *jobs = calloc((size_t)n + 1, sizeof *jobs);
    char(*ids)[24] = calloc((size_t)n + 1, sizeof *ids);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = (i + number) * 2654435761u;
        snprintf(ids[i], sizeof ids[i], "job_%u", x % 100003);
        double submit = i * 0.5, wait = x % 7 == 0 ? x % 1000 : 0, run = 1 + x % 977 / 10.0;
        jobs[i] = (struct sample_job){ids[i],
                                      users[x % 3],
                                      vcs[x % 2],
                                      1 + x % 8,
                                      submit,
                                      run,
                                      submit + wait,
                                      submit + wait + run,
                                      run,
                                      0,
                                      0,
                                      .preemptions = x % 11 == 0,
                                      .trace_status = x % 4};
    }
    run_sample_init(s, jobs, n, number);
    for (size_t i = 0; i < 20; i++)
        s->output.metrics.value[i] = number + (double)i / 3;
    free(jobs);
    free(ids);
}

char *folder_make(void)
{
    const char *base = getenv("TMPDIR");
    char *path;
    cr_assert(asprintf(&path, "%s/braid-test-XXXXXX", base != NULL ? base : "/tmp") > 0);
    cr_assert_not_null(mkdtemp(path));
    return path;
}

static void remove_all(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char inner[1024];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (unlink(inner) != 0)
            remove_all(inner);
    }
    if (d != NULL)
        closedir(d);
    rmdir(path);
}

void folder_remove(char *folder)
{
    remove_all(folder);
    free(folder);
}

const char *in(const char *folder, const char *name)
{
    static char buffers[64][512];
    static unsigned next;
    char *buffer = buffers[next++ % 64];
    snprintf(buffer, sizeof buffers[0], "%s/%s", folder, name);
    return buffer;
}

char *file_bytes(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*n + 1);
    cr_assert_eq(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

bool file_equal(const char *a, const char *b)
{
    size_t na = 0, nb = 0;
    char *x = file_bytes(a, &na), *y = file_bytes(b, &nb);
    bool equal = x != NULL && y != NULL && na == nb && memcmp(x, y, na) == 0;
    free(x);
    free(y);
    return equal;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

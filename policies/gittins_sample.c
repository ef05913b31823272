#include "policies/gittins_sample.h"

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gittins_sample_push(struct gittins_sample *x, int64_t value)
{
    if (x->n == x->room) {
        size_t room = x->room * 2 + 1024;
        int64_t *grown = realloc(x->values, room * sizeof *grown);
        if (grown == NULL)
            return false;
        x->values = grown;
        x->room = room;
    }
    x->values[x->n++] = value;
    return true;
}

int gittins_sample_trace(struct gittins_sample *x, struct sched *s, bool by_gpu_time, struct error *err)
{
    uint32_t n = sched_n_jobs(s);
    for (uint32_t job = 0; job < n; job++) {
        int64_t duration = 0, service;
        sched_duration_ns(s, job, &duration);
        if (__builtin_mul_overflow(duration, by_gpu_time ? (int64_t)sched_gpus(s, job) : 1, &service))
            service = INT64_MAX / 4;
        if (!gittins_sample_push(x, service))
            return error_set(err, BRAID_FAILED, "out of memory");
    }
    return BRAID_OK;
}

/* One line without its end: a value, the header in the first, or nothing. */
static int sample_line(struct gittins_sample *x, const char *path, int line, const char *text, size_t n,
                       struct error *err)
{
    int64_t value;
    if (n == 0 || (line == 1 && n == strlen("duration") && memcmp(text, "duration", n) == 0))
        return BRAID_OK;
    if (!number_parse_scaled(text, n, NS_PER_S, &value) || value < 0)
        return error_at(err, BRAID_BAD_INPUT, path, line, 1,
                        "expected one service time in seconds (the file has the single column 'duration')");
    return gittins_sample_push(x, value) ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

int gittins_sample_file(struct gittins_sample *x, const char *path, struct error *err)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return error_at(err, BRAID_BAD_INPUT, path, 0, 0,
                        "cannot be opened: %s; 'file' is a csv with the single column 'duration'", strerror(errno));
    char *text = NULL;
    size_t room = 0;
    int code = BRAID_OK, line = 0;
    for (ssize_t n; code == BRAID_OK && (n = getline(&text, &room, f)) >= 0;) {
        size_t skip = ++line == 1 && n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */
        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            n--;
        code = sample_line(x, path, line, text + skip, (size_t)n - skip, err);
    }
    if (code == BRAID_OK && ferror(f))
        code = error_at(err, BRAID_BAD_INPUT, path, line, 0, "cannot be read: %s", strerror(errno));
    if (code == BRAID_OK && x->n == 0)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "holds no values below its header 'duration'");
    free(text);
    fclose(f);
    return code;
}

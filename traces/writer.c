#include "traces/writer.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { HELD = 1 << 16, ONE_VALUE = 64 };

/* Text on its way to a file, plain or gzip. */
struct writer {
    int fd;
    gzFile gzip; /* NULL: plain */
    char held[HELD];
    size_t used;
    int error; /* errno of the first failure; 0: none */
};

static void flush_held(struct writer *out)
{
    size_t done = 0;
    while (out->error == 0 && done < out->used) {
        ssize_t n;
        if (out->gzip != NULL) {
            n = gzwrite(out->gzip, out->held + done, (unsigned)(out->used - done));
            if (n <= 0)
                out->error = errno != 0 ? errno : EIO;
        } else {
            n = write(out->fd, out->held + done, out->used - done);
            if (n < 0 && errno != EINTR)
                out->error = errno;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    out->used = 0;
}

static void put(struct writer *out, const char *text, size_t n)
{
    while (n > 0) {
        if (out->used == HELD)
            flush_held(out);
        size_t part = n < HELD - out->used ? n : HELD - out->used;
        memcpy(out->held + out->used, text, part);
        out->used += part;
        text += part;
        n -= part;
    }
}

static void put_text(struct writer *out, const char *text)
{
    put(out, text, strlen(text));
}

/* A field, quoted where it must be. */
static void put_field(struct writer *out, const char *text, size_t n)
{
    bool is_plain = true;
    for (size_t i = 0; i < n && is_plain; i++)
        is_plain = text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
        put(out, text, n);
        return;
    }
    put(out, "\"", 1);
    for (size_t i = 0; i < n; i++)
        put(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    put(out, "\"", 1);
}

static void put_unsigned(struct writer *out, uint64_t v)
{
    char text[ONE_VALUE];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    put(out, text + at, sizeof text - at);
}

/* A fraction of a second, ".5", with no more digits than it has; nothing for 0. */
static void put_fraction(struct writer *out, uint64_t ns)
{
    char text[10] = ".";
    if (ns == 0)
        return;
    for (int i = 9; i >= 1; i--, ns /= 10)
        text[i] = (char)('0' + ns % 10);
    size_t n = sizeof text;
    while (text[n - 1] == '0')
        n--;
    put(out, text, n);
}

static void put_seconds(struct writer *out, int64_t ns)
{
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        put(out, "-", 1);
    put_unsigned(out, v / NS_PER_S);
    put_fraction(out, v % NS_PER_S);
}

static void put_digits(char *text, int n, int64_t v)
{
    for (int i = n; i-- > 0; v /= 10)
        text[i] = (char)('0' + v % 10);
}

/* A time of the trace: a date where it has an origin, else seconds from time 0. */
static void put_time(struct writer *out, const struct workload *w, int64_t ns)
{
    if (ns == WORKLOAD_ABSENT)
        return;
    int64_t s = ns / NS_PER_S, rest = ns % NS_PER_S;
    if (rest < 0) {
        rest += NS_PER_S;
        s--;
    }
    if (!w->has_origin || __builtin_add_overflow(s, w->origin_utc_s, &s) || s < 0) {
        put_seconds(out, ns);
        return;
    }
    int64_t year;
    int month, day;
    char text[] = "YYYY-MM-DD HH:MM:SS";
    date_from_days(s / 86400, &year, &month, &day);
    put_digits(text, 4, year);
    put_digits(text + 5, 2, month);
    put_digits(text + 8, 2, day);
    put_digits(text + 11, 2, s % 86400 / 3600);
    put_digits(text + 14, 2, s % 3600 / 60);
    put_digits(text + 17, 2, s % 60);
    put(out, text, sizeof text - 1);
    put_fraction(out, (uint64_t)rest);
}

static void put_span(struct writer *out, int64_t ns)
{
    if (ns != WORKLOAD_ABSENT)
        put_seconds(out, ns);
}

static void put_double(struct writer *out, double v)
{
    char text[ONE_VALUE];
    if (v == floor(v) && fabs(v) < 1e15)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)v);
    else
        snprintf(text, sizeof text, "%.17g", v);
    put_text(out, text);
}

static void put_name(struct writer *out, const struct names *names, uint32_t id)
{
    if (id == NAMES_NONE)
        return;
    const char *text = names_text(names, id);
    put_field(out, text, strlen(text));
}

/* Must ranks be written because ids alone would put jobs of one instant in another order? */
static bool needs_order(const struct workload *w)
{
    for (uint32_t j = 1; j < w->n_jobs; j++)
        if (w->submit_ns[j] == w->submit_ns[j - 1] &&
            text_compare_natural(w->id_text + w->id_at[j - 1], w->id_at[j] - w->id_at[j - 1], w->id_text + w->id_at[j],
                                 w->id_at[j + 1] - w->id_at[j]) >= 0)
            return true;
    return false;
}

static bool is_named(const struct names *names)
{
    return names->count > 1 || (names->count == 1 && names_text(names, 0)[0] != '\0');
}

struct shape {
    bool vc, user, status, order;
    struct workload_columns has;
};

static struct shape find_shape(const struct workload *w)
{
    struct shape s = {
        .vc = is_named(&w->vcs), .user = is_named(&w->users), .order = needs_order(w), .has = workload_has(w)};
    for (uint32_t j = 0; j < w->n_jobs && !s.status; j++)
        s.status = w->trace_status[j] != TRACE_UNKNOWN;
    return s;
}

static void put_header(struct writer *out, const struct shape *s)
{
    put_text(out, "id,submit,duration,gpus");
    put_text(out, s->vc ? ",vc" : "");
    put_text(out, s->user ? ",user" : "");
    put_text(out, s->status ? ",status" : "");
    put_text(out, s->has.name ? ",name" : "");
    put_text(out, s->has.model ? ",model" : "");
    put_text(out, s->has.start ? ",start" : "");
    put_text(out, s->has.estimate ? ",estimate" : "");
    put_text(out, s->has.deadline ? ",deadline" : "");
    put_text(out, s->has.priority ? ",priority" : "");
    put_text(out, s->has.cpu ? ",cpus" : "");
    put_text(out, s->has.memory ? ",memory" : "");
    put_text(out, s->has.gpu_type ? ",gpu_type" : "");
    put_text(out, s->has.iterations ? ",iterations,iteration_time" : "");
    put_text(out, s->has.stages ? ",stage_storage,stage_cpu,stage_gpu,stage_network" : "");
    put_text(out, s->order ? ",order\n" : "\n");
}

static void comma_if(struct writer *out, bool is_there)
{
    put(out, ",", is_there);
}

static void put_optional(struct writer *out, const struct workload *w, uint32_t j)
{
    comma_if(out, w->start_ns != NULL);
    if (w->start_ns != NULL)
        put_time(out, w, w->start_ns[j]);
    comma_if(out, w->estimate_ns != NULL);
    if (w->estimate_ns != NULL)
        put_span(out, w->estimate_ns[j]);
    comma_if(out, w->deadline_ns != NULL);
    if (w->deadline_ns != NULL)
        put_time(out, w, w->deadline_ns[j]);
    comma_if(out, w->priority != NULL);
    if (w->priority != NULL)
        put_double(out, w->priority[j]);
    comma_if(out, w->cpu_milli != NULL);
    if (w->cpu_milli != NULL) {
        put_unsigned(out, w->cpu_milli[j] / 1000);
        put_fraction(out, (uint64_t)(w->cpu_milli[j] % 1000) * 1000000);
    }
    comma_if(out, w->mem_kib != NULL);
    if (w->mem_kib != NULL) {
        put_unsigned(out, w->mem_kib[j]);
        put_text(out, " KiB");
    }
    comma_if(out, w->gpu_type != NULL);
    if (w->gpu_type != NULL)
        put_name(out, &w->gpu_types, w->gpu_type[j]);
    if (w->iterations != NULL) {
        comma_if(out, true);
        if (w->iterations[j] != WORKLOAD_ABSENT)
            put_unsigned(out, (uint64_t)w->iterations[j]);
        comma_if(out, true);
        put_span(out, w->iteration_ns[j]);
    }
    for (int s = 0; s < WORKLOAD_STAGES && w->stage_ns[0] != NULL; s++) {
        comma_if(out, true);
        put_span(out, w->stage_ns[s][j]);
    }
}

static void put_job(struct writer *out, const struct workload *w, const struct shape *s, uint32_t j)
{
    put_field(out, w->id_text + w->id_at[j], w->id_at[j + 1] - w->id_at[j]);
    comma_if(out, true);
    put_time(out, w, w->submit_ns[j]);
    comma_if(out, true);
    put_span(out, w->duration_ns[j]);
    comma_if(out, true);
    put_unsigned(out, w->gpus[j]);
    comma_if(out, s->vc);
    if (s->vc)
        put_name(out, &w->vcs, w->vc[j]);
    comma_if(out, s->user);
    if (s->user)
        put_name(out, &w->users, w->user[j]);
    comma_if(out, s->status);
    if (s->status)
        put_text(out, trace_status_text(w->trace_status[j]));
    comma_if(out, s->has.name);
    if (s->has.name)
        put_name(out, &w->names, w->name[j]);
    comma_if(out, s->has.model);
    if (s->has.model)
        put_name(out, &w->models, w->model[j]);
    put_optional(out, w, j);
    comma_if(out, s->order);
    if (s->order)
        put_unsigned(out, j);
    put(out, "\n", 1);
}

static void write_all(struct writer *out, const struct workload *w)
{
    struct shape s = find_shape(w);
    put_header(out, &s);
    for (uint32_t j = 0; j < w->n_jobs && out->error == 0; j++)
        put_job(out, w, &s, j);
    flush_held(out);
}

/* Compressed at level 6 with no name and no time in the header, so that the bytes depend on the jobs alone. */
static void write_file(struct writer *out, const struct workload *w, bool is_gzip)
{
    int copy = is_gzip ? dup(out->fd) : -1;
    if (is_gzip) {
        out->gzip = copy >= 0 ? gzdopen(copy, "wb6") : NULL;
        if (out->gzip == NULL) {
            out->error = errno != 0 ? errno : ENOMEM;
            if (copy >= 0)
                close(copy);
            return;
        }
    }
    write_all(out, w);
    if (out->gzip != NULL && gzclose(out->gzip) != Z_OK && out->error == 0)
        out->error = errno != 0 ? errno : EIO;
    if (out->error == 0 && fsync(out->fd) != 0 && errno != EINVAL)
        out->error = errno;
}

int trace_write(const struct workload *w, const char *path, struct error *err)
{
    size_t n = strlen(path);
    struct writer *out = calloc(1, sizeof *out);
    char *beside = malloc(n + 32);
    int code = BRAID_OK;
    if (out == NULL || beside == NULL) {
        free(out);
        free(beside);
        return error_set(err, BRAID_FAILED, "out of memory for writing %s", path);
    }
    snprintf(beside, n + 32, "%s.part-%ld", path, (long)getpid());
    out->fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be written: %s", strerror(errno));
    } else {
        write_file(out, w, n > 3 && strcmp(path + n - 3, ".gz") == 0);
        if (close(out->fd) != 0 && out->error == 0)
            out->error = errno;
        if (out->error == 0 && rename(beside, path) != 0)
            out->error = errno;
        if (out->error != 0) {
            unlink(beside);
            code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be written: %s", strerror(out->error));
        }
    }
    free(out);
    free(beside);
    return code;
}

#include "traces/writer.h"

#include "base/number.h"
#include "traces/writer_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ONE_VALUE = 64 };

/* A field, quoted where it must be. */
static void put_field(struct writer *out, const char *text, size_t n)
{
    bool is_plain = true;
    for (size_t i = 0; i < n && is_plain; i++)
        is_plain = text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
        writer_put(out, text, n);
        return;
    }
    writer_put(out, "\"", 1);
    for (size_t i = 0; i < n; i++)
        writer_put(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    writer_put(out, "\"", 1);
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
        writer_put_seconds(out, ns);
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
    writer_put(out, text, sizeof text - 1);
    writer_put_fraction(out, (uint64_t)rest);
}

static void put_span(struct writer *out, int64_t ns)
{
    if (ns != WORKLOAD_ABSENT)
        writer_put_seconds(out, ns);
}

static void put_double(struct writer *out, double v)
{
    char text[ONE_VALUE];
    if (v == floor(v) && fabs(v) < 1e15)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)v);
    else
        snprintf(text, sizeof text, "%.17g", v);
    writer_put_text(out, text);
}

static void put_size(struct writer *out, uint64_t kib)
{
    writer_put_unsigned(out, kib);
    writer_put_text(out, " KiB");
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
    writer_put_text(out, "id,submit,duration,gpus");
    writer_put_text(out, s->vc ? ",vc" : "");
    writer_put_text(out, s->user ? ",user" : "");
    writer_put_text(out, s->status ? ",status" : "");
    writer_put_text(out, s->has.name ? ",name" : "");
    writer_put_text(out, s->has.model ? ",model" : "");
    writer_put_text(out, s->has.start ? ",start" : "");
    writer_put_text(out, s->has.estimate ? ",estimate" : "");
    writer_put_text(out, s->has.deadline ? ",deadline" : "");
    writer_put_text(out, s->has.priority ? ",priority" : "");
    writer_put_text(out, s->has.cpu ? ",cpus" : "");
    writer_put_text(out, s->has.memory ? ",memory" : "");
    writer_put_text(out, s->has.gpu_type ? ",gpu_type" : "");
    writer_put_text(out, s->has.gpu_memory ? ",gpu_memory" : "");
    writer_put_text(out, s->has.gpu_milli ? ",gpu_milli" : "");
    writer_put_text(out, s->has.batch ? ",batch" : "");
    writer_put_text(out, s->has.iterations ? ",iterations,iteration_time" : "");
    writer_put_text(out, s->has.stages ? ",stage_storage,stage_cpu,stage_gpu,stage_network" : "");
    writer_put_text(out, s->has.depends ? ",depends" : "");
    writer_put_text(out, s->order ? ",order\n" : "\n");
}

static void comma_if(struct writer *out, bool is_there)
{
    writer_put(out, ",", is_there);
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
        writer_put_unsigned(out, w->cpu_milli[j] / 1000);
        writer_put_fraction(out, (uint64_t)(w->cpu_milli[j] % 1000) * 1000000);
    }
    comma_if(out, w->mem_kib != NULL);
    if (w->mem_kib != NULL)
        put_size(out, w->mem_kib[j]);
    comma_if(out, w->gpu_type != NULL);
    if (w->gpu_type != NULL)
        put_name(out, &w->gpu_types, w->gpu_type[j]);
    comma_if(out, w->gpu_mem_kib != NULL);
    if (w->gpu_mem_kib != NULL)
        put_size(out, w->gpu_mem_kib[j]);
    comma_if(out, w->gpu_milli != NULL);
    if (w->gpu_milli != NULL)
        writer_put_unsigned(out, w->gpu_milli[j]);
    comma_if(out, w->batch != NULL);
    if (w->batch != NULL)
        writer_put_unsigned(out, w->batch[j]);
    if (w->iterations != NULL) {
        comma_if(out, true);
        if (w->iterations[j] != WORKLOAD_ABSENT)
            writer_put_unsigned(out, (uint64_t)w->iterations[j]);
        comma_if(out, true);
        put_span(out, w->iteration_ns[j]);
    }
    for (int s = 0; s < WORKLOAD_STAGES && w->stage_ns[0] != NULL; s++) {
        comma_if(out, true);
        put_span(out, w->stage_ns[s][j]);
    }
    comma_if(out, w->depends != NULL);
    if (w->depends != NULL)
        put_name(out, &w->depends_texts, w->depends[j]);
}

static void put_job(struct writer *out, const struct workload *w, const struct shape *s, uint32_t j)
{
    put_field(out, w->id_text + w->id_at[j], w->id_at[j + 1] - w->id_at[j]);
    comma_if(out, true);
    put_time(out, w, w->submit_ns[j]);
    comma_if(out, true);
    put_span(out, w->duration_ns[j]);
    comma_if(out, true);
    writer_put_unsigned(out, w->gpus[j]);
    comma_if(out, s->vc);
    if (s->vc)
        put_name(out, &w->vcs, w->vc[j]);
    comma_if(out, s->user);
    if (s->user)
        put_name(out, &w->users, w->user[j]);
    comma_if(out, s->status);
    if (s->status)
        writer_put_text(out, trace_status_text(w->trace_status[j]));
    comma_if(out, s->has.name);
    if (s->has.name)
        put_name(out, &w->names, w->name[j]);
    comma_if(out, s->has.model);
    if (s->has.model)
        put_name(out, &w->models, w->model[j]);
    put_optional(out, w, j);
    comma_if(out, s->order);
    if (s->order)
        writer_put_unsigned(out, j);
    writer_put(out, "\n", 1);
}

static void write_jobs(struct writer *out, void *workload)
{
    const struct workload *w = workload;
    struct shape s = find_shape(w);
    put_header(out, &s);
    for (uint32_t j = 0; j < w->n_jobs && out->error == 0; j++)
        put_job(out, w, &s, j);
}

int trace_write(const struct workload *w, const char *path, struct error *err)
{
    struct workload view = *w; /* read alone */
    return writer_write(path, write_jobs, &view, err);
}

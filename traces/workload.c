#include "traces/workload.h"

#include "traces/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct workload, member)
#define FLAG(member) ((int)offsetof(struct workload_columns, member))
#define NAMES(member) ((int)offsetof(struct workload, member))

static const struct column table[] = {
    {"submit", AT(submit_ns), sizeof(int64_t), -1, -1},
    {"duration", AT(duration_ns), sizeof(int64_t), -1, -1},
    {"gpus", AT(gpus), sizeof(uint32_t), -1, -1},
    {"vc", AT(vc), sizeof(uint32_t), -1, NAMES(vcs)},
    {"user", AT(user), sizeof(uint32_t), -1, NAMES(users)},
    {"status", AT(trace_status), sizeof(uint8_t), -1, -1},
    {"start", AT(start_ns), sizeof(int64_t), FLAG(start), -1},
    {"estimate", AT(estimate_ns), sizeof(int64_t), FLAG(estimate), -1},
    {"deadline", AT(deadline_ns), sizeof(int64_t), FLAG(deadline), -1},
    {"priority", AT(priority), sizeof(double), FLAG(priority), -1},
    {"name", AT(name), sizeof(uint32_t), FLAG(name), NAMES(names)},
    {"model", AT(model), sizeof(uint32_t), FLAG(model), NAMES(models)},
    {"cpus", AT(cpu_milli), sizeof(uint32_t), FLAG(cpu), -1},
    {"memory", AT(mem_kib), sizeof(uint64_t), FLAG(memory), -1},
    {"gpu_type", AT(gpu_type), sizeof(uint32_t), FLAG(gpu_type), NAMES(gpu_types)},
    {"gpu_memory", AT(gpu_mem_kib), sizeof(uint64_t), FLAG(gpu_memory), -1},
    {"gpu_milli", AT(gpu_milli), sizeof(uint32_t), FLAG(gpu_milli), -1},
    {"batch", AT(batch), sizeof(uint32_t), FLAG(batch), -1},
    {"iterations", AT(iterations), sizeof(int64_t), FLAG(iterations), -1},
    {"iteration_time", AT(iteration_ns), sizeof(int64_t), FLAG(iterations), -1},
    {"stage_storage", AT(stage_ns[0]), sizeof(int64_t), FLAG(stages), -1},
    {"stage_cpu", AT(stage_ns[1]), sizeof(int64_t), FLAG(stages), -1},
    {"stage_gpu", AT(stage_ns[2]), sizeof(int64_t), FLAG(stages), -1},
    {"stage_network", AT(stage_ns[3]), sizeof(int64_t), FLAG(stages), -1},
    {"depends", AT(depends), sizeof(uint32_t), FLAG(depends), NAMES(depends_texts)},
};
enum { N_COLUMNS = sizeof table / sizeof table[0] };

const struct column *columns_table(size_t *n)
{
    *n = N_COLUMNS;
    return table;
}

/* The members are pointers of several types, so they are copied as bytes and not read through a void **. */
void *column_get(const struct workload *w, const struct column *c)
{
    void *array;
    memcpy(&array, (const char *)w + c->at, sizeof array);
    return array;
}

void column_set(struct workload *w, const struct column *c, void *array)
{
    memcpy((char *)w + c->at, &array, sizeof array);
}

bool column_is_wanted(const struct column *c, const struct workload_columns *want)
{
    return c->flag < 0 || *(const bool *)((const char *)want + c->flag);
}

struct names *column_names(struct workload *w, const struct column *c)
{
    return c->names_at < 0 ? NULL : (struct names *)(void *)((char *)w + c->names_at);
}

const char *trace_status_text(enum trace_status s)
{
    static const char *const texts[] = {"unknown", "passed", "failed", "killed"};
    return (unsigned)s < sizeof texts / sizeof texts[0] ? texts[s] : "unknown";
}

void workload_init(struct workload *w)
{
    *w = (struct workload){0};
}

void workload_fini(struct workload *w)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        free(column_get(w, &table[i]));
    free(w->id_at);
    free(w->id_text);
    names_fini(&w->vcs);
    names_fini(&w->users);
    names_fini(&w->names);
    names_fini(&w->models);
    names_fini(&w->gpu_types);
    names_fini(&w->depends_texts);
    workload_init(w);
}

static int out_of_memory(struct error *err, uint32_t n)
{
    return error_set(err, BRAID_FAILED, "out of memory for a workload of %u jobs", n);
}

int workload_alloc(struct workload *w, uint32_t n, const struct workload_columns *want, struct error *err)
{
    size_t room = n > 0 ? n : 1; /* a column that is there is never NULL, even without jobs */
    w->n_jobs = n;
    w->id_at = calloc((size_t)n + 1, sizeof *w->id_at);
    bool is_short = w->id_at == NULL;
    for (size_t i = 0; i < N_COLUMNS && !is_short; i++) {
        if (!column_is_wanted(&table[i], want))
            continue;
        void *array = calloc(room, table[i].size);
        is_short = array == NULL;
        column_set(w, &table[i], array);
    }
    if (!is_short)
        return BRAID_OK;
    workload_fini(w);
    return out_of_memory(err, n);
}

struct workload_columns workload_has(const struct workload *w)
{
    return (struct workload_columns){
        .start = w->start_ns != NULL,
        .estimate = w->estimate_ns != NULL,
        .deadline = w->deadline_ns != NULL,
        .priority = w->priority != NULL,
        .name = w->name != NULL,
        .model = w->model != NULL,
        .cpu = w->cpu_milli != NULL,
        .memory = w->mem_kib != NULL,
        .gpu_type = w->gpu_type != NULL,
        .gpu_memory = w->gpu_mem_kib != NULL,
        .gpu_milli = w->gpu_milli != NULL,
        .batch = w->batch != NULL,
        .iterations = w->iterations != NULL,
        .stages = w->stage_ns[0] != NULL,
        .depends = w->depends != NULL,
    };
}

static bool names_copy(struct names *out, const struct names *n)
{
    for (uint32_t id = 0; id < n->count; id++) {
        const char *text = names_text(n, id);
        if (names_add(out, text, strlen(text)) == NAMES_NONE)
            return false;
    }
    return true;
}

void column_pick(void *restrict out, const void *restrict in, size_t size, const uint32_t *pick, uint32_t n)
{
    const char *from = in;
    char *to = out;
    switch (size) { /* a constant size makes each copy one move */
    case 8:
        for (uint32_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * 8, from + (size_t)pick[i] * 8, 8);
        break;
    case 4:
        for (uint32_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * 4, from + (size_t)pick[i] * 4, 4);
        break;
    default:
        for (uint32_t i = 0; i < n; i++)
            memcpy(to + i * size, from + pick[i] * size, size);
    }
}

static bool ids_pick(struct workload *out, const struct workload *w, const uint32_t *pick, uint32_t n)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += w->id_at[pick[i] + 1] - w->id_at[pick[i]];
    out->id_text = malloc(total > 0 ? total : 1);
    if (out->id_text == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t length = w->id_at[pick[i] + 1] - w->id_at[pick[i]];
        if (length > 0)
            memcpy(out->id_text + out->id_at[i], w->id_text + w->id_at[pick[i]], length);
        out->id_at[i + 1] = out->id_at[i] + length;
    }
    return true;
}

int workload_select(struct workload *out, const struct workload *w, const uint32_t *pick, uint32_t n, struct error *err)
{
    struct workload_columns has = workload_has(w);
    workload_init(out);
    if (workload_alloc(out, n, &has, err) != BRAID_OK)
        return BRAID_FAILED;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        void *to = column_get(out, &table[i]);
        if (to != NULL)
            column_pick(to, column_get(w, &table[i]), table[i].size, pick, n);
    }
    out->origin_utc_s = w->origin_utc_s;
    out->has_origin = w->has_origin;
    out->offset_s = w->offset_s;
    out->report = w->report;
    memcpy(out->digest, w->digest, sizeof out->digest);
    if (ids_pick(out, w, pick, n) && names_copy(&out->vcs, &w->vcs) && names_copy(&out->users, &w->users) &&
        names_copy(&out->names, &w->names) && names_copy(&out->models, &w->models) &&
        names_copy(&out->gpu_types, &w->gpu_types) && names_copy(&out->depends_texts, &w->depends_texts))
        return BRAID_OK;
    workload_fini(out);
    return out_of_memory(err, n);
}

static bool is_lost(const struct trace_count *c)
{
    return c->is_dropped && !c->is_no_job && !c->is_asked_for;
}

/* The dropped rows, or of them those that are lost jobs. */
static const char *list_dropped(const struct trace_report *report, bool only_lost, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const char *last = "";;) { /* the next reason in order: they are few */
        const struct trace_count *next = NULL;
        for (uint32_t i = 0; i < report->n_counts; i++) {
            const struct trace_count *c = &report->counts[i];
            if (c->is_dropped && (!only_lost || is_lost(c)) && c->rows > 0 && strcmp(c->reason, last) > 0 &&
                (next == NULL || strcmp(c->reason, next->reason) < 0))
                next = c;
        }
        if (next == NULL || used >= size)
            return out;
        int n = snprintf(out + used, size - used, "%s%s %llu", used > 0 ? ", " : "", next->reason,
                         (unsigned long long)next->rows);
        used += n > 0 ? (size_t)n : 0;
        last = next->reason;
    }
}

const char *trace_dropped_text(const struct trace_report *report, char *out, size_t size)
{
    return list_dropped(report, false, out, size);
}

double trace_lost_share(const struct trace_report *report, uint64_t *lost, uint64_t *jobs, char *out, size_t size)
{
    *lost = 0;
    *jobs = report->rows_read;
    for (uint32_t i = 0; i < report->n_counts; i++) {
        *lost += is_lost(&report->counts[i]) ? report->counts[i].rows : 0;
        *jobs -= report->counts[i].is_no_job ? report->counts[i].rows : 0;
    }
    list_dropped(report, true, out, size);
    return *jobs > 0 ? (double)*lost / (double)*jobs : 0;
}

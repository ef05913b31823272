/* A scene as files: c.yaml, trace.csv, and what the config names. */
#include "scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *scene_seconds(int64_t ns, char out[32])
{
    int64_t fraction = ns % SCENE_S;
    if (fraction == 0)
        snprintf(out, 32, "%" PRId64, ns / SCENE_S);
    else
        snprintf(out, 32, "%" PRId64 ".%09" PRId64, ns / SCENE_S, fraction);
    return out;
}

char *scene_number(double v, char out[64])
{
    snprintf(out, 64, "%.9f", v);
    char *end = out + strlen(out);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
    return out;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "w");
}

static bool close_all(FILE *f)
{
    bool good = ferror(f) == 0;
    return fclose(f) == 0 && good;
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    FILE *f = open_in(folder, name);
    if (f == NULL)
        return false;
    fputs(text, f);
    return close_all(f);
}

/* ---- the trace ---- */

static void print_time(FILE *f, int64_t ns)
{
    char text[32];
    if (ns != SCENE_NONE)
        fprintf(f, ",%s", scene_seconds(ns, text));
    else
        fputc(',', f);
}

static void print_job(FILE *f, const struct scene *s, const struct scene_job *j)
{
    static const char *const status[] = {"unknown", "passed", "failed", "killed"};
    char text[64];
    fprintf(f, "%s", j->id);
    print_time(f, j->submit_ns);
    print_time(f, j->duration_ns);
    fprintf(f, ",%" PRIu32 ",%s,%s", j->gpus, j->vc, j->user);
    if (s->has_names)
        fprintf(f, ",%s,%s", j->name, j->model);
    if (s->has_status)
        fprintf(f, ",%s", status[j->status]);
    if (s->has_estimates)
        print_time(f, j->estimate_ns);
    if (s->has_deadlines)
        print_time(f, j->deadline_ns);
    if (s->has_starts)
        print_time(f, j->start_ns);
    if (s->has_priorities)
        fprintf(f, ",%s", scene_number(j->priority, text));
    if (s->has_cpus)
        fprintf(f, ",%s,%" PRIu64 " KiB", scene_number(j->cpu_milli / 1000.0, text), j->memory_kib);
    if (s->has_types)
        fprintf(f, ",%s", j->type);
    if (s->has_gpu_memory)
        fprintf(f, ",%" PRIu64 " KiB", j->gpu_memory_kib);
    if (s->has_stages) {
        print_time(f, j->iteration_ns > 0 ? j->iteration_ns : SCENE_NONE);
        for (int k = 0; k < SCENE_STAGES; k++)
            print_time(f, j->stage_ns[k]);
    }
    if (s->has_depends) {
        const char *between = ",";
        for (uint32_t i = 0; i < j->n_depends; i++)
            if (!s->jobs[j->depends[i]].is_left_out) {
                fprintf(f, "%s%s", between, s->jobs[j->depends[i]].id);
                between = ";";
            }
        if (*between == ',')
            fputc(',', f);
    }
    fputc('\n', f);
}

static void print_trace(const struct scene *s, FILE *f)
{
    fprintf(f, "id,submit,duration,gpus,vc,user%s%s%s%s%s%s%s%s%s%s%s\n", s->has_names ? ",name,model" : "",
            s->has_status ? ",status" : "", s->has_estimates ? ",estimate" : "", s->has_deadlines ? ",deadline" : "",
            s->has_starts ? ",start" : "", s->has_priorities ? ",priority" : "", s->has_cpus ? ",cpus,memory" : "",
            s->has_types ? ",gpu_type" : "", s->has_gpu_memory ? ",gpu_memory" : "",
            s->has_stages ? ",iteration_time,stage_storage,stage_cpu,stage_gpu,stage_network" : "",
            s->has_depends ? ",depends" : "");
    for (uint32_t i = 0; i < s->n_jobs; i++)
        if (!s->jobs[i].is_left_out)
            print_job(f, s, &s->jobs[i]);
}

/* ---- the config ---- */

static void print_cluster(const struct scene *s, FILE *f)
{
    char text[64];
    fprintf(f, "cluster:\n  nodes:\n");
    for (uint32_t g = 0; g < s->n_groups; g++) {
        const struct scene_group *p = &s->groups[g];
        fprintf(f, "    - {count: %" PRIu32 ", gpus: %" PRIu32, p->count, p->gpus);
        if (p->type[0] != '\0')
            fprintf(f, ", gpu: %s", p->type);
        if (p->cpu_milli > 0)
            fprintf(f, ", cpus: %s", scene_number(p->cpu_milli / 1000.0, text));
        if (p->memory_kib > 0)
            fprintf(f, ", memory: %" PRIu64 " KiB", p->memory_kib);
        if (p->gpu_memory_kib > 0)
            fprintf(f, ", gpu_memory: %" PRIu64 " KiB", p->gpu_memory_kib);
        fprintf(f, "}\n");
    }
    if (s->nodes_per_rack > 0)
        fprintf(f, "  nodes_per_rack: %" PRIu32 "\n", s->nodes_per_rack);
    if (s->n_vcs > 0)
        fprintf(f, "  vcs:\n");
    for (uint32_t v = 0; v < s->n_vcs; v++) {
        const struct scene_vc *p = &s->vcs[v];
        fprintf(f, "    %s: {%s: %" PRIu32, p->name, p->is_quota ? "gpus" : "nodes", p->amount);
        if (p->n_changes > 0)
            fprintf(f, ", changes: quota-%s.csv", p->name);
        if (p->is_quota)
            fprintf(f, ", shrink: %s", p->is_preempt ? "preempt" : "drain");
        fprintf(f, "}\n");
    }
}

static void print_overhead(const struct scene_overhead *o, const char *which, FILE *f)
{
    char text[32];
    if (o->form == SCENE_CONSTANT) {
        fprintf(f, "  %s_overhead: %s\n", which, scene_seconds(o->ns[0], text));
    } else if (o->form == SCENE_TABLE) {
        fprintf(f, "  %s_overhead: {table: %s.csv}\n", which, which);
    } else {
        fprintf(f, "  %s_overhead: {by_gpus: {", which);
        for (uint32_t i = 0; i < o->n; i++)
            fprintf(f, "%s%" PRIu32 ": %s", i > 0 ? ", " : "", o->gpus[i], scene_seconds(o->ns[i], text));
        fprintf(f, "}}\n");
    }
}

static void print_model(const struct scene *s, FILE *f)
{
    char text[64];
    fprintf(f, "model:\n");
    print_overhead(&s->start, "start", f);
    print_overhead(&s->restart, "restart", f);
    if (s->fidelity != NULL)
        fprintf(f, "  fidelity: %s\n", s->fidelity);
    if (s->profile_error > 0)
        fprintf(f, "  profile_error: %s\n", scene_number(s->profile_error, text));
    if (s->group_jobs == 0)
        return;
    fprintf(f, "  interleave: {groups: %" PRIu32, s->group_jobs);
    if (s->group_order != NULL)
        fprintf(f, ", order: %s", s->group_order);
    if (s->kinds != NULL)
        fprintf(f, ", kinds: %s", s->kinds);
    if (s->inflation != NULL)
        fprintf(f, ", inflation: %s", s->inflation);
    fprintf(f, "}\n");
}

static void print_estimate(const struct scene *s, FILE *f)
{
    static const char *const source[] = {"exact", "trace", "noise", "user_mean", "file"};
    char text[64];
    fprintf(f, "estimate: {source: %s", source[s->estimate]);
    if (s->estimate == SCENE_NOISE)
        fprintf(f, ", sigma: %s", scene_number(s->sigma, text));
    if (s->estimate == SCENE_FILE)
        fprintf(f, ", path: estimates.csv");
    if (s->kills)
        fprintf(f, ", on_exceed: kill");
    fprintf(f, "}\n");
}

static void print_window(const struct scene *s, FILE *f)
{
    char a[32], b[32], c[32];
    bool has_measure = s->from_ns != SCENE_NONE || s->to_ns != SCENE_NEVER || s->warm_up_ns > 0;
    if (has_measure)
        fprintf(f, "measure: {from: %s, to: %s, warm_up: %s}\n",
                s->from_ns != SCENE_NONE ? scene_seconds(s->from_ns, a) : "start",
                s->to_ns != SCENE_NEVER ? scene_seconds(s->to_ns, b) : "end", scene_seconds(s->warm_up_ns, c));
    if (s->stop_ns != SCENE_NEVER)
        fprintf(f, "stop: {at: %s}\n", scene_seconds(s->stop_ns, a));
    else if (s->stop_queue != UINT32_MAX)
        fprintf(f, "stop: {queue: %" PRIu32 "}\n", s->stop_queue);
    fprintf(f, "output: {jobs: true, series: %s, segments: %s, events: %s}\n",
            s->step_ns > 0 ? scene_seconds(s->step_ns, a) : "off", s->segments ? "true" : "false",
            s->events ? "true" : "false");
}

static void print_config(const struct scene *s, FILE *f)
{
    fprintf(f, "trace: trace.csv\nseed: %" PRIu32 "\n", s->run_seed);
    print_cluster(s, f);
    fprintf(f, "policy: %s\nplacement: %s\n", s->policy_text, s->placement_text);
    print_estimate(s, f);
    print_model(s, f);
    print_window(s, f);
}

/* ---- the files beside it ---- */

static void print_quota(const struct scene_vc *v, FILE *f)
{
    char text[32];
    fprintf(f, "time,gpus\n");
    for (uint32_t i = 0; i < v->n_changes; i++)
        fprintf(f, "%s,%" PRIu32 "\n", scene_seconds(v->changes[i].at_ns, text), v->changes[i].gpus);
}

static void print_table(const struct scene_overhead *o, FILE *f)
{
    char text[32];
    fprintf(f, "gpus,model,overhead\n");
    for (uint32_t i = 0; i < o->n; i++) {
        fprintf(f, "%" PRIu32 ",other,%s\n", o->gpus[i], scene_seconds(o->ns[i], text));
        if (o->model != NULL)
            fprintf(f, "%" PRIu32 ",%s,%s\n", o->gpus[i], o->model, scene_seconds(o->own_ns[i], text));
    }
}

static void print_estimates(const struct scene *s, FILE *f)
{
    char text[32];
    fprintf(f, "id,estimate\n");
    for (uint32_t i = 0; i < s->n_jobs; i++)
        if (!s->jobs[i].is_left_out)
            fprintf(f, "%s,%s\n", s->jobs[i].id, scene_seconds(s->jobs[i].told_ns, text));
}

/* The n-th file beside the config into `f`; what it is called, NULL behind the last, "" when the scene has none such. */
static const char *print_beside(const struct scene *s, uint32_t n, FILE *f, char name[64])
{
    name[0] = '\0';
    if (n < s->n_vcs) {
        if (s->vcs[n].n_changes > 0) {
            snprintf(name, 64, "quota-%s.csv", s->vcs[n].name);
            print_quota(&s->vcs[n], f);
        }
        return name;
    }
    switch (n - s->n_vcs) {
    case 0:
        if (s->start.form == SCENE_TABLE) {
            snprintf(name, 64, "start.csv");
            print_table(&s->start, f);
        }
        return name;
    case 1:
        if (s->restart.form == SCENE_TABLE) {
            snprintf(name, 64, "restart.csv");
            print_table(&s->restart, f);
        }
        return name;
    case 2:
        if (s->estimate == SCENE_FILE) {
            snprintf(name, 64, "estimates.csv");
            print_estimates(s, f);
        }
        return name;
    case 3:
        snprintf(name, 64, "%s", s->shares[0] != '\0' ? "shares.csv" : "");
        fputs(s->shares, f);
        return name;
    case 4:
        snprintf(name, 64, "%s", s->sample[0] != '\0' ? "sample.csv" : "");
        fputs(s->sample, f);
        return name;
    default:
        return NULL;
    }
}

static bool each_beside(const struct scene *s, bool (*take)(void *self, const char *name, const char *text), void *self)
{
    for (uint32_t n = 0;; n++) {
        char *text = NULL, name[64];
        size_t size;
        FILE *f = open_memstream(&text, &size);
        if (f == NULL)
            return false;
        const char *found = print_beside(s, n, f, name);
        bool good = fclose(f) == 0 && (found == NULL || name[0] == '\0' || take(self, name, text));
        free(text);
        if (found == NULL || !good)
            return good;
    }
}

static bool take_file(void *self, const char *name, const char *text)
{
    return write_text(self, name, text);
}

static bool take_page(void *self, const char *name, const char *text)
{
    return fprintf(self, "---- %s\n%s", name, text) > 0;
}

bool scene_write(const struct scene *s, const char *folder)
{
    char where[4096];
    snprintf(where, sizeof where, "%s", folder);
    FILE *config = open_in(folder, "c.yaml"), *trace = open_in(folder, "trace.csv");
    bool good = config != NULL && trace != NULL;
    if (good) {
        print_config(s, config);
        print_trace(s, trace);
    }
    good = (config == NULL || close_all(config)) && good;
    good = (trace == NULL || close_all(trace)) && good;
    return good && each_beside(s, take_file, where);
}

void scene_print(const struct scene *s, FILE *out)
{
    fprintf(out, "---- c.yaml (seed %" PRIu64 ")\n", s->seed);
    print_config(s, out);
    fprintf(out, "---- trace.csv\n");
    print_trace(s, out);
    each_beside(s, take_page, out);
    fprintf(out, "----\n");
}

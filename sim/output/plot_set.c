#include "output/plot_set.h"

#include "output/plot_text.h"
#include "output/report_config.h"
#include "output/report_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const struct report_file *file;
    const struct report_run *run;
    const struct report_order *order;
};

static bool is_other_key(const char *key)
{
    return strcmp(key, "policy") != 0 && strcmp(key, "seed") != 0;
}

static int order_by_combo(const struct place *a, const struct place *b)
{
    int order = strcmp(a->run->name, b->run->name);
    for (uint32_t k = 0; order == 0 && k < a->file->n_swept; k++)
        if (is_other_key(a->file->swept_keys[k]))
            order = report_order_compare(a->order, a->file->swept_keys[k], a->run->swept[k], b->run->swept[k]);
    return order;
}

/* Two policies of one label are told apart by what the sweep says of them. */
static int order_by_policy(const struct place *a, const struct place *b)
{
    int order = report_order_compare(a->order, REPORT_ORDER_LABEL, a->run->label, b->run->label);
    return order != 0 ? order
                      : report_order_compare(a->order, "policy", report_run_swept(a->file, a->run, "policy"),
                                             report_run_swept(b->file, b->run, "policy"));
}

static int order_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = order_by_combo(x, y);
    if (order == 0)
        order = order_by_policy(x, y);
    if (order == 0 && x->run->seed != y->run->seed)
        order = x->run->seed < y->run->seed ? -1 : 1;
    return order != 0 ? order : strcmp(x->run->id, y->run->id);
}

/* Append to a bounded text; what does not fit is dropped. */
static void append(char *out, size_t size, const char *a, const char *b, const char *c)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s%s", a, b, c);
}

static bool name_combo(struct plot_set *s, struct plot_combo *c, const struct place *p, bool many_names)
{
    enum { NAME = 120 };
    char words[400] = "", name[NAME + 1];
    size_t size = strlen(p->run->name) + 2;
    for (uint32_t k = 0; k < p->file->n_swept; k++)
        size += strlen(p->file->swept_keys[k]) + strlen(p->run->swept[k]) + 2;
    char *suffix = ARENA_NEW(&s->arena, char, size); /* the whole of it, for the hash that stands for what is cut */
    if (suffix == NULL)
        return false;
    suffix[0] = '\0';
    if (many_names)
        append(suffix, size, p->run->name, "", "");
    for (uint32_t k = 0; k < p->file->n_swept; k++) {
        const char *key = p->file->swept_keys[k], *value = p->run->swept[k];
        if (!is_other_key(key) || *value == '\0')
            continue;
        append(suffix, size, suffix[0] != '\0' ? "-" : "", key, "=");
        append(suffix, size, value, "", "");
        append(words, sizeof words, words[0] != '\0' ? " · " : "", key, " ");
        append(words, sizeof words, value, "", "");
    }
    plot_text_file_name(name, NAME, suffix);
    char *kept = ARENA_NEW(&s->arena, char, NAME + 2);
    if (kept != NULL)
        snprintf(kept, NAME + 2, "%s%s", name[0] != '\0' ? "-" : "", name);
    c->suffix = kept;
    c->words = arena_text(&s->arena, words, strlen(words));
    return c->suffix != NULL && c->words != NULL;
}

/* The label, with the sweep's own words where another policy has the same one. */
static const char *policy_title(const struct place *p, uint32_t at, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        if (strcmp(p[i].run->label, p[at].run->label) == 0 && order_by_policy(&p[i], &p[at]) != 0)
            return report_run_swept(p[at].file, p[at].run, "policy");
    return p[at].run->label;
}

static bool fill_combo(struct plot_set *s, struct plot_combo *c, const struct place *p, uint32_t begin, uint32_t end)
{
    c->policies = ARENA_NEW(&s->arena, struct plot_policy, end - begin);
    const struct report_run **runs = ARENA_NEW(&s->arena, const struct report_run *, end - begin);
    if (c->policies == NULL || runs == NULL)
        return false;
    for (uint32_t i = begin; i < end; i++) {
        runs[i - begin] = p[i].run;
        if (i == begin || order_by_policy(&p[i - 1], &p[i]) != 0) {
            c->policies[c->n_policies++] =
                (struct plot_policy){.label = policy_title(p, i, begin, end), .runs = &runs[i - begin]};
        }
        c->policies[c->n_policies - 1].n_runs++;
    }
    const char **labels = ARENA_NEW(&s->arena, const char *, c->n_policies);
    for (uint32_t i = 0; labels != NULL && i < c->n_policies; i++) {
        if (*c->policies[i].label == '\0')
            c->policies[i].label = "(no name)";
        labels[i] = c->policies[i].label;
    }
    c->labels = labels;
    return labels != NULL;
}

int plot_set_init(struct plot_set *s, const struct report_file *f, struct error *err)
{
    struct report_order order;
    *s = (struct plot_set){.file = f};
    arena_init(&s->arena);
    int code = report_order_init(&order, f, 1, err);
    struct place *p = ARENA_NEW(&s->arena, struct place, f->n_runs);
    s->combos = ARENA_NEW(&s->arena, struct plot_combo, f->n_runs);
    uint32_t n = 0;
    bool ok = code == BRAID_OK && p != NULL && s->combos != NULL, many_names = false;
    for (uint32_t i = 0; ok && i < f->n_runs; i++) {
        if (strcmp(f->runs[i].status, "failed") == 0) {
            s->one_failed = s->n_failed++ == 0 ? &f->runs[i] : s->one_failed;
            continue;
        }
        p[n++] = (struct place){f, &f->runs[i], &order};
        many_names = many_names || strcmp(p[0].run->name, f->runs[i].name) != 0;
    }
    if (ok)
        qsort(p, n, sizeof *p, order_places);
    for (uint32_t begin = 0, end; ok && begin < n; begin = end) {
        for (end = begin + 1; end < n && order_by_combo(&p[begin], &p[end]) == 0;)
            end++;
        struct plot_combo *c = &s->combos[s->n_combos++];
        ok = name_combo(s, c, &p[begin], many_names) && fill_combo(s, c, p, begin, end);
    }
    report_order_fini(&order);
    if (ok)
        return BRAID_OK;
    plot_set_fini(s);
    return error_set(err, BRAID_FAILED, "out of memory");
}

void plot_set_fini(struct plot_set *s)
{
    arena_fini(&s->arena);
    *s = (struct plot_set){0};
}

/* Different traces among the runs of a combination: a generated trace is another one for every seed. */
static uint32_t count_traces(const struct plot_combo *c)
{
    enum { MANY = 64 }; /* more are counted as so many */
    const char *seen[MANY];
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_policies; i++)
        for (uint32_t r = 0; r < c->policies[i].n_runs && n < MANY; r++) {
            uint32_t k = 0;
            while (k < n && strcmp(seen[k], c->policies[i].runs[r]->trace_digest) != 0)
                k++;
            if (k == n)
                seen[n++] = c->policies[i].runs[r]->trace_digest;
        }
    return n;
}

const char *plot_subtitle(const struct plot_combo *c, char *out, size_t size)
{
    const struct report_run *run = c->policies[0].runs[0];
    char cluster[120], trace[160];
    uint32_t n_traces = count_traces(c);
    snprintf(out, size, "%s", run->name);
    if (*report_config_trace(run, trace, sizeof trace) != '\0')
        append(out, size, " · ", trace, "");
    else
        snprintf(out, size, "%s · trace %.12s", run->name, run->trace_digest);
    if (*report_config_cluster(run, cluster, sizeof cluster) != '\0')
        append(out, size, " · ", cluster, "");
    if (run->tables[RESULTS_JOBS].count > 0) {
        char jobs[40];
        unsigned long long n = run->tables[RESULTS_JOBS].count;
        snprintf(jobs, sizeof jobs, "%llu job%s%s", n, n == 1 ? "" : "s", n_traces > 1 ? " each" : "");
        append(out, size, " · ", jobs, "");
    }
    if (*c->words != '\0')
        append(out, size, " · ", c->words, "");
    const struct plot_policy *widest = &c->policies[0];
    for (uint32_t i = 1; i < c->n_policies; i++)
        if (c->policies[i].n_runs > widest->n_runs)
            widest = &c->policies[i];
    if (widest->n_runs > 1) {
        char seeds[80];
        int n = snprintf(seeds, sizeof seeds, "%u seeds", widest->n_runs);
        if (n_traces > 1)
            snprintf(seeds + n, sizeof seeds - (size_t)n, " (%u traces)", n_traces);
        append(out, size, " · ", seeds, "");
    }
    return out;
}

int plot_last_submission(const struct report_file *f, const struct report_run *run, double *out, struct error *err)
{
    struct report_range rows = run->tables[RESULTS_JOBS];
    struct report_table t;
    *out = NAN;
    if (rows.count == 0)
        return BRAID_OK;
    int code = report_table_open(&t, f->file, f->path, "jobs", err);
    if (code != BRAID_OK)
        return code;
    const struct report_column *submit = report_column_need(&t, "submit", err);
    code = submit != NULL ? report_read_f64(&t, submit, rows.begin + rows.count - 1, 1, out, err) : err->code;
    report_table_close(&t);
    return code;
}

const char *plot_run_subtitle(const struct plot_combo *c, const struct plot_policy *policy, char *out, size_t size)
{
    struct plot_policy first = {policy->label, 1, policy->runs};
    struct plot_combo one = {"", c->words, 1, &first, &policy->label};
    return plot_subtitle(&one, out, size);
}

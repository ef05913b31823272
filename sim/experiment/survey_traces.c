/* Before any run is made: the traces of an experiment are read, and each kind of run is looked at once. */
#include "base/config_text.h"
#include "base/names.h"
#include "experiment/outcome.h"
#include "experiment/run_title.h"
#include "experiment/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TRACES_MAX = 8, BYTES_MAX = 64 << 20, GENERATED_MAX = 200000 };

/* "" or why the trace of a run is not read for this. */
static const char *too_long(const struct run_config *run)
{
    struct stat st;
    if (run->trace.is_generated)
        return run->trace.generate.jobs > GENERATED_MAX ? "it has very many jobs" : "";
    return run->trace.path != NULL && stat(run->trace.path, &st) == 0 && st.st_size > BYTES_MAX
               ? "the file is very large"
               : "";
}

/* What decides the remarks on a run: its trace, cluster and placement. False: memory is out. */
static bool write_key(struct config_text *out, const struct run_config *run)
{
    static const char *const keys[] = {"trace: ", "cluster: ", "placement: "};
    config_text_clear(out);
    config_text_put(out, run->trace_key);
    for (const char *line = run->yaml; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                config_text_add(out, line, length);
        line += length + (line[length] == '\n');
    }
    return !out->is_short;
}

/* Runs that are alike, with the remarks on the first of them. */
struct kinds {
    struct names keys, traces;
    struct remarks *remarks; /* by key */
    bool *is_seen;           /* by key */
    uint32_t *kind;          /* by run */
};

static void look_at(struct remarks *out, const struct run_config *run, const struct workload *w)
{
    struct workload scaled;
    struct error err = {0};
    workload_init(&scaled);
    if (!outcome_scales(run))
        survey_run(out, run, w, NULL);
    else if (outcome_scale(&scaled, w, run, &err) == BRAID_OK)
        survey_run(out, run, &scaled, NULL);
    else
        remarks_add(out, "trace_unscaled", run->index, "%s", err.message);
    workload_fini(&scaled);
}

/* Runs that would be refused; the error is that of the first. */
struct refused {
    uint32_t run, n;
    struct error err;
};

/* What decides whether a run is refused: all but the seed, but for what is drawn into its trace, and what is told of it. */
static bool write_trial(struct config_text *out, const struct run_config *run)
{
    static const char *const idle[] = {"seed: ", "name: ", "output: ", "trace: "};
    config_text_clear(out);
    for (const char *line = run->yaml; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_idle = false;
        for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
            is_idle |= strncmp(line, idle[i], strlen(idle[i])) == 0;
        if (!is_idle)
            config_text_add(out, line, length + (line[length] == '\n'));
        line += length + (line[length] == '\n');
    }
    return !out->is_short;
}

/* Set up the runs of one trace, those that are alike once. False: memory is out. */
static bool try_runs(struct refused *refused, const struct experiment *x, uint32_t first, const struct workload *w)
{
    struct names trials;
    struct config_text text;
    struct error *errors = calloc((size_t)x->n_runs - first, sizeof *errors); /* by trial */
    bool ok = errors != NULL;
    names_init(&trials);
    config_text_init(&text);
    for (uint32_t i = first; i < x->n_runs && ok; i++) {
        if (strcmp(x->runs[i].trace_key, x->runs[first].trace_key) != 0)
            continue;
        uint32_t known = trials.count,
                 id = write_trial(&text, &x->runs[i]) ? names_add(&trials, text.s, text.n) : NAMES_NONE;
        ok = id != NAMES_NONE;
        if (ok && id == known)
            outcome_try(&x->runs[i], w, &errors[id]);
        if (!ok || errors[id].code == BRAID_OK)
            continue;
        if (refused->n++ == 0 || i < refused->run) {
            refused->run = i;
            refused->err = errors[id];
        }
    }
    config_text_fini(&text);
    names_fini(&trials);
    free(errors);
    return ok;
}

/* "TITLE: WHY (so in 2 of 9 runs)" as an error of the config. */
static int tell_refused(const struct refused *r, const struct experiment *x, struct error *err)
{
    char title[512] = "", text[600], count[64] = "";
    if (r->n == 0)
        return BRAID_OK;
    if (x->n_runs > 1)
        run_title(x, &x->runs[r->run], title, sizeof title);
    if (r->n > 1)
        snprintf(count, sizeof count, " (so in %u of %u runs)", r->n, x->n_runs);
    return error_at(err, r->err.code, x->path, 0, 0, "%s%s%s%s", title, title[0] != '\0' ? ": " : "",
                    error_text(&r->err, text, sizeof text), count);
}

/* The runs of one trace: read it, and look at each kind once. */
static bool look_at_trace(struct kinds *k, struct refused *refused, const struct experiment *x, uint32_t first)
{
    const char *trace_key = x->runs[first].trace_key, *why = too_long(&x->runs[first]);
    struct workload w;
    struct error err = {0};
    workload_init(&w);
    int status = why[0] != '\0' ? BRAID_OK : trace_load(&w, &x->runs[first].trace, &err);
    for (uint32_t i = first; i < x->n_runs; i++) {
        const struct run_config *run = &x->runs[i];
        struct remarks *r = &k->remarks[k->kind[i]];
        if (k->is_seen[k->kind[i]] || strcmp(run->trace_key, trace_key) != 0)
            continue;
        k->is_seen[k->kind[i]] = true;
        if (why[0] != '\0') {
            remarks_add(r, "trace_not_read", i,
                        "the trace was not read for this check, %s; 'braid run' says what it rejects", why);
        } else if (status != BRAID_OK) {
            char text[600];
            remarks_add(r, "trace_not_read", i, "the trace cannot be read: %s", error_text(&err, text, sizeof text));
        } else {
            look_at(r, run, &w);
        }
    }
    bool ok = why[0] != '\0' || status != BRAID_OK || try_runs(refused, x, first, &w);
    workload_fini(&w);
    return ok;
}

static bool sort_out(struct kinds *k, const struct experiment *x)
{
    struct config_text key;
    bool ok = true;
    config_text_init(&key);
    for (uint32_t i = 0; i < x->n_runs && ok; i++) {
        ok = write_key(&key, &x->runs[i]);
        k->kind[i] = ok ? names_add(&k->keys, key.s, key.n) : NAMES_NONE;
        ok = k->kind[i] != NAMES_NONE;
    }
    config_text_fini(&key);
    return ok;
}

int survey_traces(struct remarks *out, const struct experiment *x, struct error *err)
{
    struct refused refused = {0};
    struct kinds k = {.remarks = calloc((size_t)x->n_runs + 1, sizeof *k.remarks),
                      .is_seen = calloc((size_t)x->n_runs + 1, sizeof *k.is_seen),
                      .kind = calloc((size_t)x->n_runs + 1, sizeof *k.kind)};
    names_init(&k.keys);
    names_init(&k.traces);
    bool ok = k.remarks != NULL && k.is_seen != NULL && k.kind != NULL && sort_out(&k, x);
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < x->n_runs && ok; i++) {
        uint32_t known = k.traces.count, id = names_add(&k.traces, x->runs[i].trace_key, strlen(x->runs[i].trace_key));
        ok = id != NAMES_NONE;
        if (ok && id == known && id < TRACES_MAX)
            ok = look_at_trace(&k, &refused, x, i);
        n_left += ok && id == known && id >= TRACES_MAX;
    }
    for (uint32_t i = 0; i < x->n_runs && ok; i++) {
        const struct remarks *r = &k.remarks[k.kind[i]];
        for (uint32_t m = 0; m < r->n; m++)
            remarks_add(out, r->v[m].kind, i, "%s", r->v[m].text);
        out->is_short |= r->is_short;
    }
    if (n_left > 0)
        remarks_add(out, "traces_left", REMARK_OF_ALL,
                    "%u of %u traces were read for this check; 'braid run' looks at all", TRACES_MAX,
                    TRACES_MAX + n_left);
    out->is_short |= !ok;
    for (uint32_t i = 0; k.remarks != NULL && i < k.keys.count; i++)
        remarks_fini(&k.remarks[i]);
    free(k.remarks);
    free(k.is_seen);
    free(k.kind);
    names_fini(&k.keys);
    names_fini(&k.traces);
    return tell_refused(&refused, x, err);
}

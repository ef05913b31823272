/* braid trace guess: the `trace:` block for a table that is of no known format, as YAML to be pasted into a config. */
#include "cli/cmd_trace.h"

#include "base/config_text.h"
#include "base/text.h"
#include "traces/guess.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 52 };

static void put_texts(struct config_text *t, const char *key, const struct mapping_texts *texts)
{
    if (texts->n == 0)
        return;
    config_text_format(t, ", %s: [", key);
    for (uint32_t i = 0; i < texts->n; i++) {
        config_text_put(t, i > 0 ? ", " : "");
        config_text_scalar(t, texts->v[i]);
    }
    config_text_put(t, "]");
}

static void put_key(struct config_text *t, const char *key, const char *value)
{
    if (value == NULL)
        return;
    config_text_format(t, ", %s: ", key);
    config_text_scalar(t, value);
}

static void put_source(struct config_text *t, const struct mapping_source *s)
{
    static const char *const codes[] = {NULL, "slurm", "swf", "exit"};
    bool is_plain = s->times == NULL && s->plus == NULL && s->unit == NULL && s->tres.n == 0 && s->codes == 0;
    if (is_plain) {
        config_text_scalar(t, s->column);
        return;
    }
    config_text_put(t, "{column: ");
    config_text_scalar(t, s->column);
    put_texts(t, "tres", &s->tres);
    put_key(t, "times", s->times);
    put_key(t, "plus", s->plus);
    put_key(t, "unit", s->unit);
    put_key(t, "codes", codes[s->codes]);
    config_text_put(t, "}");
}

/* A comment, without what would break a terminal or end the line. */
static void print_note(const char *head, const char *text)
{
    char clean[GUESS_TEXT + 64];
    text_clean(clean, sizeof clean, text, strlen(text));
    printf("# %s%s\n", head, clean);
}

static void print_block(const struct guess *g, const char *path)
{
    uint32_t n;
    const struct mapping_target *targets = mapping_targets(&n);
    struct config_text t;
    config_text_init(&t);
    config_text_scalar(&t, path);
    printf("trace:\n  path: %s\n", t.s);
    if (strcmp(g->mapping.separator, "auto") != 0)
        printf("  separator: %s\n", g->mapping.separator);
    if (strcmp(g->mapping.header, "auto") != 0)
        printf("  header: %s\n", g->mapping.header);
    printf("  columns:\n");
    for (uint32_t i = 0; i < n; i++) {
        if (!g->mapping.is_given[i])
            continue;
        char clean[GUESS_TEXT + 64];
        config_text_clear(&t);
        config_text_format(&t, "    %s: ", targets[i].name);
        put_source(&t, &g->mapping.sources[i]);
        text_clean(clean, sizeof clean, g->why[i], strlen(g->why[i]));
        printf("%-*s  # %s\n", WIDTH, t.s, clean);
    }
    config_text_fini(&t);
}

/* Read the whole file by the proposal, and say what becomes of its rows. */
static int try_out(const struct guess *g, const struct trace_spec *spec)
{
    struct trace_spec mapped = *spec;
    struct workload w;
    struct error err = {0};
    mapped.format = "auto";
    mapped.mapping = &g->mapping;
    int code = trace_load(&w, &mapped, &err);
    printf("# read so: %" PRIu64 " rows, %" PRIu64 " of them jobs\n", w.report.rows_read, w.report.rows_kept);
    for (uint32_t i = 0; i < w.report.n_counts; i++)
        if (w.report.counts[i].is_dropped)
            printf("#   dropped: %s %" PRIu64 " (%s)\n", w.report.counts[i].reason, w.report.counts[i].rows,
                   w.report.counts[i].advice);
    workload_fini(&w);
    fflush(stdout);
    return code == BRAID_OK ? 0 : (cli_fail(&err), 1);
}

/* Is it of a format that needs no columns? Then say so. */
static bool is_known(const struct trace_spec *spec)
{
    struct workload w;
    struct error err = {0};
    bool yes = trace_load(&w, spec, &err) == BRAID_OK;
    if (yes) {
        struct config_text t;
        config_text_init(&t);
        config_text_scalar(&t, spec->path);
        printf("# a %s trace; no columns need be named: %" PRIu64 " rows, %" PRIu64
               " of them jobs\ntrace:\n  path: %s\n",
               w.report.format, w.report.rows_read, w.report.rows_kept, t.s);
        config_text_fini(&t);
    }
    workload_fini(&w);
    return yes;
}

static int propose(const struct trace_spec *spec, struct table_peek *peek, struct guess *g)
{
    struct source source;
    struct error err = {0};
    int code = source_open(&source, spec->path, spec->path, &err);
    if (code == BRAID_OK)
        code = table_peek(peek, &source, spec->path, &err);
    source_close(&source);
    if (code != BRAID_OK)
        return cli_fail(&err);
    guess_columns(g, peek);
    print_block(g, spec->path);
    for (uint32_t i = 0; i < g->n_missing; i++)
        print_note("missing: ", g->missing[i]);
    for (uint32_t i = 0; i < g->n_unsure; i++)
        print_note("not decided: ", g->unsure[i]);
    return g->n_missing > 0 ? 1 : try_out(g, spec);
}

int cmd_trace_guess(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace guess FILE\n\n"
        "Propose which column of a table is what: a 'trace:' block to be pasted into a config, with the reason for "
        "each\n"
        "column, what is missing and what could not be decided. Ends with status 0 when the file reads by the "
        "proposal,\n"
        "with 1 when something that a trace needs was not found, with 2 when the file cannot be read at all.\n"
        "docs/formats/columns.md describes the columns.\n\n";
    struct trace_arguments a;
    int stop = trace_arguments_read(&a, "", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    if (is_known(&a.spec))
        return cli_finish();
    struct table_peek *peek = calloc(1, sizeof *peek);
    struct guess *g = calloc(1, sizeof *g);
    int status = 1;
    if (peek != NULL && g != NULL)
        status = propose(&a.spec, peek, g);
    else
        fputs("braid: out of memory\n", stderr);
    free(peek);
    free(g);
    int finished = cli_finish();
    return status != 0 ? status : finished;
}

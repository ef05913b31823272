#include "traces/reader.h"

#include <stdio.h>
#include <string.h>

/* In this order the csv formats are tried: muri has the columns of tiresias and more. */
static const struct trace_reader *const readers[] = {
    &reader_braid, &reader_muri, &reader_helios, &reader_tiresias, &reader_philly_csv, &reader_philly_json, NULL};
enum { N_READERS = sizeof readers / sizeof readers[0] - 1 };

const struct trace_reader *const *reader_list(void)
{
    return readers;
}

const struct trace_reader *reader_find(const char *name)
{
    for (int i = 0; i < N_READERS; i++)
        if (strcmp(readers[i]->name, name) == 0)
            return readers[i];
    return NULL;
}

void reader_close(struct trace_input *in)
{
    csv_fini(&in->csv);
    source_close(&in->source);
}

/* JSON begins with a bracket, a csv header never does. */
static bool is_json(const struct csv *c)
{
    for (size_t i = c->at; i < c->end; i++)
        if (c->buffer[i] != ' ' && c->buffer[i] != '\t' && c->buffer[i] != '\r' && c->buffer[i] != '\n')
            return c->buffer[i] == '[' || c->buffer[i] == '{';
    return false;
}

static int unknown_name(const char *format, struct error *err)
{
    const char *names[N_READERS];
    for (int i = 0; i < N_READERS; i++)
        names[i] = readers[i]->name;
    const char *near = text_nearest(format, names, N_READERS);
    char list[256] = "";
    for (int i = 0; i < N_READERS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", names[i]);
    return error_set(err, BRAID_BAD_INPUT, "unknown trace format '%s'%s%s%s; there are auto%s", format,
                     near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "", list);
}

static int unknown_content(const struct trace_input *in, struct error *err)
{
    char list[512] = "";
    for (int i = 0; i < N_READERS; i++) {
        const struct csv_format *f = readers[i]->csv;
        size_t used = strlen(list);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (", i > 0 ? ", " : "", readers[i]->name);
        bool is_first = true;
        for (size_t c = 0; f != NULL && c < f->n_columns && used < sizeof list; c++)
            if (f->columns[c].need != COLUMN_OPTIONAL) {
                used +=
                    (size_t)snprintf(list + used, sizeof list - used, "%s%s", is_first ? "" : ",", f->columns[c].name);
                is_first = false;
            }
        if (used < sizeof list)
            snprintf(list + used, sizeof list - used, "%s)", f == NULL ? "JSON" : "");
    }
    int shown = (int)(in->csv.row_n < 120 ? in->csv.row_n : 120);
    return error_at(err, BRAID_BAD_INPUT, in->path, (int)in->csv.line, 0,
                    "no known trace format has this header: %.*s; readable are %s", shown, in->csv.row, list);
}

/* Open the file, and for a csv its header; chooses the reader. */
static int choose(struct trace_input *in, const struct trace_spec *spec, const struct trace_reader **used,
                  struct error *err)
{
    const struct trace_reader *forced = NULL;
    if (spec->format != NULL && strcmp(spec->format, "auto") != 0) {
        forced = reader_find(spec->format);
        if (forced == NULL)
            return unknown_name(spec->format, err);
    }
    int code = source_open(&in->source, spec->path, in->path, err);
    if (code == BRAID_OK)
        code = csv_init(&in->csv, &in->source, err);
    if (code != BRAID_OK)
        return code;
    *used = forced;
    if (forced == NULL && is_json(&in->csv))
        *used = &reader_philly_json;
    if (*used != NULL && (*used)->csv == NULL) {
        csv_fini(&in->csv);
        return source_rewind(&in->source, err);
    }
    bool has_header;
    code = csv_next(&in->csv, &has_header, err);
    if (code != BRAID_OK)
        return code;
    if (!has_header)
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0, "is empty; a trace has a header and a row a job");
    for (int i = 0; i < N_READERS && *used == NULL; i++)
        if (readers[i]->csv != NULL && csv_format_matches(readers[i]->csv, &in->csv))
            *used = readers[i];
    return *used != NULL ? BRAID_OK : unknown_content(in, err);
}

int reader_read(struct trace_input *in, const struct trace_spec *spec, struct rows *out,
                const struct trace_reader **used, struct error *err)
{
    *in = (struct trace_input){.path = spec->shown_path != NULL ? spec->shown_path : spec->path,
                               .is_strict = spec->strict,
                               .failed = spec->failed};
    in->source.fd = -1;
    *out = (struct rows){0};
    *used = NULL;
    int code = choose(in, spec, used, err);
    if (code != BRAID_OK)
        return code;
    return (*used)->csv != NULL ? csv_format_read(*used, in, out, err) : (*used)->read(in, out, err);
}

#include "traces/reader.h"
#include "traces/mapped.h"
#include "traces/unknown.h"

#include <stdio.h>
#include <string.h>

/* In this order the csv formats are tried: muri and chronus have the columns of tiresias and more. */
static const struct trace_reader *const readers[] = {
    &reader_braid,    &reader_braid_jobs,  &reader_slurm,  &reader_swf,      &reader_slurm_columns, &reader_slurm_json,
    &reader_slurm_db, &reader_pbs,         &reader_sge,    &reader_batsim,   &reader_batsim_jobs,   &reader_muri,
    &reader_chronus,  &reader_elasticflow, &reader_helios, &reader_tiresias, &reader_philly_csv,    &reader_philly_json,
    &reader_acme,     &reader_openb,       &reader_pollux, &reader_pai2020,  &reader_gavel,         NULL};
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
    applications_fini(&in->applications);
    csv_fini(&in->csv);
    source_close(&in->source);
}

/* The reader whose format the file's beginning shows, or NULL. */
static const struct trace_reader *find_by_content(const char *text, size_t n)
{
    for (int i = 0; i < N_READERS; i++)
        if (readers[i]->is_content != NULL && readers[i]->is_content(text, n))
            return readers[i];
    return NULL;
}

static int unknown_name(const char *format, struct error *err)
{
    const char *names[N_READERS];
    for (int i = 0; i < N_READERS; i++)
        names[i] = readers[i]->name;
    const char *near = text_nearest(format, names, N_READERS);
    char list[400] = "";
    for (int i = 0; i < N_READERS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", names[i]);
    return error_set(err, BRAID_BAD_INPUT, "unknown trace format '%s'%s%s%s; there are auto%s", format,
                     near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "", list);
}

/* Read the first row again, cut at the layout's delimiter. */
static int reopen(struct trace_input *in, struct error *err)
{
    bool has_row;
    csv_fini(&in->csv);
    int code = source_rewind(&in->source, err);
    if (code == BRAID_OK)
        code = csv_init(&in->csv, &in->source, err);
    if (code != BRAID_OK)
        return code;
    in->csv.delimiter = in->layout->delimiter;
    return csv_next(&in->csv, &has_row, err);
}

/* Open the file, and for a csv its first row; chooses the reader and the layout. */
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
    if (code == BRAID_OK)
        code = unknown_check_bytes(in, err);
    if (code != BRAID_OK)
        return code;
    *used = forced;
    if (forced == NULL) {
        size_t at = in->csv.at;
        while (at < in->csv.end && strchr(" \t\r\n", in->csv.buffer[at]) != NULL && in->csv.buffer[at] != '\0')
            at++;
        const char *text = in->csv.buffer + at;
        *used = find_by_content(text, in->csv.end - at);
        if (*used == NULL && at < in->csv.end && (text[0] == '[' || text[0] == '{'))
            return unknown_json(in, text, in->csv.end - at, err);
    }
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
    for (int i = 0; i < N_READERS && in->layout == NULL; i++)
        if (readers[i]->csv != NULL && (forced == NULL || forced == readers[i])) {
            in->layout = csv_format_match(readers[i]->csv, &in->csv);
            *used = in->layout != NULL ? readers[i] : forced;
        }
    if (in->layout == NULL && forced == NULL)
        return unknown_header(in, err);
    if (in->layout == NULL) /* the first will say what it lacks */
        in->layout = forced->csv;
    return in->layout->delimiter != '\0' ? reopen(in, err) : BRAID_OK;
}

/* A table whose columns the spec names. */
static int read_mapped(struct trace_input *in, const struct trace_spec *spec, struct rows *out,
                       const struct trace_reader **used, struct error *err)
{
    if (spec->format != NULL && strcmp(spec->format, "auto") != 0)
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "a format ('%.40s') has its own columns; leave out the format or the columns", spec->format);
    if (in->applications_path != NULL)
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "the columns tell the run times; leave out the table of applications");
    int code = source_open(&in->source, spec->path, in->path, err);
    *used = &reader_columns;
    return code == BRAID_OK ? mapped_read(in, out, spec->mapping, NULL, err) : code;
}

int reader_read(struct trace_input *in, const struct trace_spec *spec, struct rows *out,
                const struct trace_reader **used, struct error *err)
{
    *in = (struct trace_input){.path = spec->shown_path != NULL ? spec->shown_path : spec->path,
                               .file = spec->path,
                               .applications_path = spec->applications_path,
                               .applications_shown = spec->applications_shown,
                               .is_strict = spec->strict,
                               .failed = spec->failed};
    in->source.fd = -1;
    *out = (struct rows){0};
    *used = NULL;
    if (spec->mapping != NULL)
        return read_mapped(in, spec, out, used, err);
    int code = choose(in, spec, used, err);
    if (code != BRAID_OK)
        return code;
    out->wording = (*used)->wording;
    if ((*used)->csv != NULL)
        return csv_format_read(*used, in, out, err);
    if (in->applications_path != NULL)
        return error_at(err, BRAID_BAD_INPUT, in->path, 0, 0,
                        "the trace has run times of its own; leave out trace.applications");
    return (*used)->read(in, out, err);
}

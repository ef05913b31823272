#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

void scratch_init(struct scratch *s)
{
    const char *root = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%s/braid-traces-XXXXXX", root != NULL ? root : "/tmp");
    cr_assert_not_null(mkdtemp(s->folder), "no folder for the test's files");
}

void scratch_fini(struct scratch *s)
{
    DIR *d = opendir(s->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[SCRATCH_PATH];
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strlen(e->d_name) < SCRATCH_PATH / 4)
            unlink(scratch_path(s, e->d_name, path));
    }
    if (d != NULL)
        closedir(d);
    rmdir(s->folder);
}

const char *scratch_path(const struct scratch *s, const char *name, char *path)
{
    snprintf(path, SCRATCH_PATH, "%s/%.128s", s->folder, name);
    return path;
}

const char *scratch_write(const struct scratch *s, const char *name, const void *bytes, size_t n, char *path)
{
    FILE *f = fopen(scratch_path(s, name, path), "wb");
    cr_assert_not_null(f, "%s cannot be written", path);
    cr_assert_eq(fwrite(bytes, 1, n, f), n);
    cr_assert_eq(fclose(f), 0);
    return path;
}

const char *scratch_gzip(const struct scratch *s, const char *name, const void *bytes, size_t n, char *path)
{
    gzFile f = gzopen(scratch_path(s, name, path), "wb");
    cr_assert_not_null(f, "%s cannot be written", path);
    cr_assert_eq(gzwrite(f, bytes, (unsigned)n), (int)n);
    cr_assert_eq(gzclose(f), Z_OK);
    return path;
}

char *scratch_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s cannot be read", path);
    cr_assert_eq(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*n + 1);
    cr_assert_not_null(bytes);
    cr_assert_eq(fread(bytes, 1, *n, f), *n);
    bytes[*n] = '\0';
    fclose(f);
    return bytes;
}

struct trace_spec scratch_spec(const char *path)
{
    return (struct trace_spec){.path = path, .shown_path = "trace.csv", .format = "auto", .jobs = TRACE_NO_LIMIT};
}

int scratch_load_text(const struct scratch *s, const char *text, struct workload *w, struct error *err)
{
    char path[SCRATCH_PATH];
    struct trace_spec spec = scratch_spec(scratch_write(s, "text", text, strlen(text), path));
    return trace_load(w, &spec, err);
}

static const struct trace_count *find(const struct workload *w, const char *reason)
{
    for (uint32_t i = 0; i < w->report.n_counts; i++)
        if (strcmp(w->report.counts[i].reason, reason) == 0)
            return &w->report.counts[i];
    return NULL;
}

uint64_t scratch_count(const struct workload *w, const char *reason)
{
    const struct trace_count *c = find(w, reason);
    return c != NULL ? c->rows : 0;
}

uint64_t scratch_line(const struct workload *w, const char *reason)
{
    const struct trace_count *c = find(w, reason);
    return c != NULL ? c->example_line : 0;
}

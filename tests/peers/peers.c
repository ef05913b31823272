#include "tests/peers/peers.h"

#include "base/number.h"
#include "experiment/execute.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void peer_need(const char *path)
{
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here; this test compares with it", path);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static char *file_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s cannot be read", path);
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room + 1);
    cr_assert_not_null(text);
    for (size_t got; (got = fread(text + n, 1, room - n, f)) > 0;) {
        n += got;
        if (n == room) {
            text = realloc(text, (room *= 2) + 1);
            cr_assert_not_null(text);
        }
    }
    fclose(f);
    text[n] = '\0';
    return text;
}

void peer_table_read(struct peer_table *t, const char *path)
{
    *t = (struct peer_table){.text = file_read(path)};
    size_t n = 0, room = 0;
    uint32_t lines = 0;
    for (char *line = t->text, *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\r\n");
        char *next = end + strspn(end, "\r\n");
        if (end > line) {
            uint32_t columns = 0;
            for (char *field = line; field <= end; columns++) {
                char *stop = field + strcspn(field, ",\r\n");
                if (n == room) {
                    t->fields = realloc(t->fields, (room = room * 2 + 1024) * sizeof *t->fields);
                    cr_assert_not_null(t->fields);
                }
                t->fields[n++] = field;
                field = stop + 1;
            }
            t->n_columns = lines++ == 0 ? columns : t->n_columns;
            cr_assert_eq(columns, t->n_columns, "%s: line %u has %u fields", path, lines, columns);
        }
        end = next;
    }
    for (char *c = t->text; *c != '\0'; c++)
        if (*c == ',' || *c == '\r' || *c == '\n')
            *c = '\0';
    cr_assert_gt(lines, 1u, "%s has no rows", path);
    t->n_rows = lines - 1;
}

void peer_table_fini(struct peer_table *t)
{
    free(t->text);
    free(t->fields);
}

const char *peer_text(const struct peer_table *t, uint32_t row, const char *column)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->fields[i], column) == 0)
            return t->fields[(size_t)(row + 1) * t->n_columns + i];
    cr_assert_fail("no column %s", column);
    return NULL;
}

int64_t peer_number(const struct peer_table *t, uint32_t row, const char *column)
{
    const char *text = peer_text(t, row, column);
    int64_t value = 0;
    cr_assert(number_parse_i64(text, strlen(text), &value), "'%s' is no whole number", text);
    return value;
}

int64_t peer_time_ns(const struct peer_table *t, uint32_t row, const char *column)
{
    const char *text = peer_text(t, row, column);
    int64_t ns = 0;
    cr_assert(number_parse_scaled(text, strlen(text), NS_PER_S, &ns), "'%s' is no number of seconds", text);
    return ns;
}

/* ---- runs ------------------------------------------------------------------------------------------ */

int peer_try(struct peer_run *p, const char *yaml, struct error *err)
{
    const char *temp = getenv("TMPDIR");
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s/braid-peers-XXXXXX", temp != NULL ? temp : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/case.yaml", folder);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(yaml, f);
    fclose(f);
    workload_init(&p->w);
    *err = (struct error){0};
    int code = experiment_load(&p->x, path, NULL, 0, err);
    if (code == BRAID_OK) {
        cr_assert_eq(p->x.n_runs, 1u);
        code = experiment_run_one(&p->x.runs[0], true, &p->w, &p->r, err);
        if (code != BRAID_OK)
            experiment_fini(&p->x);
    }
    unlink(path);
    rmdir(folder);
    return code;
}

void peer_run(struct peer_run *p, const char *yaml)
{
    struct error err;
    int code = peer_try(p, yaml, &err);
    cr_assert_eq(code, BRAID_OK, "%s\nof\n%s", err.message, yaml);
}

void peer_run_fini(struct peer_run *p)
{
    run_result_fini(&p->r);
    workload_fini(&p->w);
    experiment_fini(&p->x);
}

uint32_t peer_job(const struct workload *w, const char *text, bool by_name)
{
    size_t n = strlen(text);
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        const char *mine = by_name ? names_text(&w->names, w->name[j]) : w->id_text + w->id_at[j];
        size_t length = by_name ? strlen(mine) : (size_t)(w->id_at[j + 1] - w->id_at[j]);
        if (n == length && memcmp(mine, text, n) == 0)
            return j;
    }
    cr_assert_fail("no job %s", text);
    return UINT32_MAX;
}

char *peer_path(const char *path)
{
    char *full = realpath(path, NULL);
    cr_assert_not_null(full, "%s", path);
    return full;
}

/* ---- scores ---------------------------------------------------------------------------------------- */

bool peer_same(struct peer_score *s, const char *job, const char *value, int64_t ours, int64_t theirs)
{
    if (ours == theirs)
        return true;
    if (s->first[0] == '\0')
        snprintf(s->first, sizeof s->first, "job %s: %s is %lld, theirs %lld", job, value, (long long)ours,
                 (long long)theirs);
    return false;
}

void peer_report(const struct peer_score *s)
{
    printf("peers %s %s: jobs %u, mismatches %u\n", s->peer, s->what, s->jobs, s->mismatches);
    fflush(stdout);
    cr_expect_eq(s->mismatches, 0u, "%s %s: %u of %u jobs differ; %s", s->peer, s->what, s->mismatches, s->jobs,
                 s->first);
}

#include "experiment/remarks.h"

#include "experiment/run_title.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void remarks_fini(struct remarks *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->v[i].kind);
        free(r->v[i].text);
    }
    free(r->v);
    *r = (struct remarks){0};
}

static uint32_t find(const struct remarks *r, const char *kind)
{
    uint32_t i = 0;
    while (i < r->n && strcmp(r->v[i].kind, kind) != 0)
        i++;
    return i;
}

/* Put what stands at `i` where its run belongs: those of the whole experiment first, then by run. */
static void move_to_order(struct remarks *r, uint32_t i)
{
    struct remark moved = r->v[i];
    for (; i > 0 && r->v[i - 1].run + 1 > moved.run + 1; i--) /* REMARK_OF_ALL + 1 is 0 */
        r->v[i] = r->v[i - 1];
    r->v[i] = moved;
}

/* `text` is taken over. */
static void add(struct remarks *r, const char *kind, uint32_t run, uint32_t n_runs, char *text)
{
    uint32_t i = find(r, kind);
    if (text == NULL) {
        r->is_short = true;
        return;
    }
    if (i < r->n) {
        struct remark *known = &r->v[i];
        if (known->run == run) {
            free(text);
            return;
        }
        known->n_runs += n_runs;
        if (run + 1 > known->run + 1) {
            free(text);
            return;
        }
        free(known->text);
        known->text = text;
        known->run = run;
        move_to_order(r, i);
        return;
    }
    if (r->n == r->room) {
        uint32_t room = r->room * 2 + 8;
        struct remark *v = realloc(r->v, room * sizeof *v);
        if (v == NULL) {
            r->is_short = true;
            free(text);
            return;
        }
        r->v = v;
        r->room = room;
    }
    char *name = strdup(kind);
    if (name == NULL) {
        r->is_short = true;
        free(text);
        return;
    }
    r->v[r->n++] = (struct remark){.kind = name, .text = text, .run = run, .n_runs = n_runs};
    move_to_order(r, r->n - 1);
}

void remarks_add(struct remarks *r, const char *kind, uint32_t run, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (text != NULL)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    add(r, kind, run, 1, text);
}

void remarks_take(struct remarks *r, const struct remarks *from)
{
    for (uint32_t i = 0; i < from->n; i++)
        add(r, from->v[i].kind, from->v[i].run, from->v[i].n_runs, strdup(from->v[i].text));
    r->is_short |= from->is_short;
}

char *remarks_text(const struct remarks *r)
{
    size_t size = 1;
    for (uint32_t i = 0; i < r->n; i++)
        size += strlen(r->v[i].text) + 2;
    char *text = malloc(size), *at = text;
    if (text == NULL)
        return NULL;
    for (uint32_t i = 0; i < r->n; i++)
        at = stpcpy(stpcpy(at, i > 0 ? "; " : ""), r->v[i].text);
    *at = '\0';
    return text;
}

void remarks_each(const struct remarks *r, const struct experiment *x, void (*each)(void *self, const char *line),
                  void *self)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct remark *m = &r->v[i];
        char title[512] = "", count[64] = "", *line;
        bool is_of_run = m->run != REMARK_OF_ALL && x->n_runs > 1;
        if (is_of_run)
            run_title(x, &x->runs[m->run], title, sizeof title);
        if (is_of_run && m->n_runs > 1)
            snprintf(count, sizeof count, " (so in %u of %u runs)", m->n_runs, x->n_runs);
        if (asprintf(&line, "%s%s%s%s", title, title[0] != '\0' ? ": " : "", m->text, count) < 0) {
            each(self, m->text);
            continue;
        }
        each(self, line);
        free(line);
    }
    if (r->is_short)
        each(self, "memory ran out for some remarks");
}

static void write_line(void *self, const char *line)
{
    fprintf(self, "braid: remark: %s\n", line);
}

void remarks_write(const struct remarks *r, const struct experiment *x, FILE *out)
{
    remarks_each(r, x, write_line, out);
}

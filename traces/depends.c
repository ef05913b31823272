#include "traces/depends.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == ';' || c == ' ' || c == '\t';
}

/* The next id of a text; `*text` moves behind it. False: there is none. */
static bool next_id(const char **text, struct trace_text *id)
{
    const char *at = *text;
    while (is_separator(*at))
        at++;
    id->at = at;
    while (*at != '\0' && !is_separator(*at))
        at++;
    id->n = (size_t)(at - id->at);
    *text = at;
    return id->n > 0;
}

static const char *text_of(const struct workload *w, uint32_t job)
{
    return w->depends[job] == NAMES_NONE ? "" : names_text(&w->depends_texts, w->depends[job]);
}

/* ---- jobs by id ------------------------------------------------------------------------------------- */

/* Jobs of id i, ascending: jobs[first[i] .. first[i + 1]). */
struct by_id {
    struct names ids;
    uint32_t *first, *jobs;
};

static void by_id_fini(struct by_id *b)
{
    names_fini(&b->ids);
    free(b->first);
    free(b->jobs);
}

static bool by_id_init(struct by_id *b, const struct workload *w)
{
    *b = (struct by_id){0};
    names_init(&b->ids);
    uint32_t *id_of = malloc(((size_t)w->n_jobs + 1) * sizeof *id_of);
    bool ok = id_of != NULL;
    for (uint32_t j = 0; j < w->n_jobs && ok; j++) {
        id_of[j] = names_add(&b->ids, w->id_text + w->id_at[j], w->id_at[j + 1] - w->id_at[j]);
        ok = id_of[j] != NAMES_NONE;
    }
    b->first = calloc((size_t)b->ids.count + 2, sizeof *b->first);
    b->jobs = malloc(((size_t)w->n_jobs + 1) * sizeof *b->jobs);
    ok = ok && b->first != NULL && b->jobs != NULL;
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        b->first[id_of[j] + 2]++;
    for (uint32_t i = 2; i < b->ids.count + 2 && ok; i++)
        b->first[i] += b->first[i - 1];
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        b->jobs[b->first[id_of[j] + 1]++] = j;
    free(id_of);
    if (!ok)
        by_id_fini(b);
    return ok;
}

/* Whom `job` means by `id`: itself only if nobody else has it. UINT32_MAX: nobody. */
static uint32_t meant_by(const struct by_id *b, uint32_t job, struct trace_text id)
{
    uint32_t i = names_find(&b->ids, id.at, id.n);
    if (i == NAMES_NONE)
        return UINT32_MAX;
    uint32_t begin = b->first[i], end = b->first[i + 1], low = begin, high = end;
    while (low < high) { /* the first that is not earlier */
        uint32_t middle = low + (high - low) / 2;
        if (b->jobs[middle] < job)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > begin)
        return b->jobs[low - 1];
    return b->jobs[low] == job && low + 1 < end ? b->jobs[low + 1] : b->jobs[low];
}

/* ---- the graph ----------------------------------------------------------------------------------------- */

static bool build(struct depends *d, const struct workload *w, const struct by_id *b)
{
    uint64_t n = 0, room = 0;
    *d = (struct depends){.first = calloc((size_t)w->n_jobs + 1, sizeof *d->first)};
    for (uint32_t j = 0; j < w->n_jobs && d->first != NULL; j++) {
        struct trace_text id;
        for (const char *text = text_of(w, j); next_id(&text, &id);) {
            uint32_t on = meant_by(b, j, id);
            if (on == UINT32_MAX)
                continue;
            if (n == room) {
                room = room * 2 + 64;
                uint32_t *grown = room < UINT32_MAX ? realloc(d->on, room * sizeof *grown) : NULL;
                if (grown == NULL) {
                    depends_fini(d);
                    return false;
                }
                d->on = grown;
            }
            d->on[n++] = on;
        }
        d->first[j + 1] = (uint32_t)n;
    }
    return d->first != NULL;
}

bool depends_build(struct depends *d, const struct workload *w)
{
    struct by_id b;
    *d = (struct depends){0};
    if (!by_id_init(&b, w))
        return false;
    bool ok = build(d, w, &b);
    by_id_fini(&b);
    return ok;
}

void depends_fini(struct depends *d)
{
    free(d->first);
    free(d->on);
    *d = (struct depends){0};
}

uint32_t depends_order(const struct depends *d, uint32_t n, uint32_t *order)
{
    /* depth first along the predecessors: a job goes out after all of its own. at: next predecessor to look at */
    enum { NEW, OPEN, OUT };
    uint8_t *state = calloc((size_t)n + 1, 1);
    uint32_t *stack = malloc(((size_t)n + 1) * sizeof *stack), *at = malloc(((size_t)n + 1) * sizeof *at);
    uint32_t n_out = 0, answer = state != NULL && stack != NULL && at != NULL ? n : UINT32_MAX;
    for (uint32_t root = 0; root < n && answer == n; root++) {
        uint32_t depth = 0;
        if (state[root] != NEW)
            continue;
        state[root] = OPEN;
        at[root] = d->first[root];
        stack[depth++] = root;
        while (depth > 0 && answer == n) {
            uint32_t job = stack[depth - 1];
            if (at[job] == d->first[job + 1]) {
                state[job] = OUT;
                order[n_out++] = job;
                depth--;
                continue;
            }
            uint32_t on = d->on[at[job]++];
            if (state[on] == OPEN) {
                answer = on;
            } else if (state[on] == NEW) {
                state[on] = OPEN;
                at[on] = d->first[on];
                stack[depth++] = on;
            }
        }
    }
    free(state);
    free(stack);
    free(at);
    return answer;
}

/* ---- what a file may say ----------------------------------------------------------------------------- */

static int line_of(const struct rows *r, uint32_t row)
{
    return r->depends_line == NULL || r->depends_line[row] > INT_MAX ? 0 : (int)r->depends_line[row];
}

static int check_ids(const struct rows *r, const struct by_id *b, struct error *err)
{
    const struct workload *w = &r->w;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        struct trace_text id;
        for (const char *text = text_of(w, j); next_id(&text, &id);)
            if (meant_by(b, j, id) == UINT32_MAX)
                return error_at(
                    err, BRAID_BAD_INPUT, r->path, line_of(r, j), 0,
                    "the job depends on '%.*s', but no job of the trace has this id (or its row was dropped); "
                    "mend or empty its 'depends'",
                    (int)(id.n < 100 ? id.n : 100), id.at);
    }
    return BRAID_OK;
}

int depends_check(const struct rows *r, struct error *err)
{
    const struct workload *w = &r->w;
    struct by_id b;
    struct depends d = {0};
    if (!by_id_init(&b, w))
        return error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for the dependencies");
    int code = check_ids(r, &b, err);
    uint32_t *order = malloc(((size_t)w->n_jobs + 1) * sizeof *order), job = UINT32_MAX;
    if (code == BRAID_OK && order != NULL && build(&d, w, &b))
        job = depends_order(&d, w->n_jobs, order);
    if (code == BRAID_OK && job == UINT32_MAX)
        code = error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for the dependencies");
    else if (code == BRAID_OK && job < w->n_jobs)
        code = error_at(err, BRAID_BAD_INPUT, r->path, line_of(r, job), 0,
                        "the job '%.*s' depends on itself, at once or by way of others; break the circle",
                        (int)(w->id_at[job + 1] - w->id_at[job] < 100 ? w->id_at[job + 1] - w->id_at[job] : 100),
                        w->id_text + w->id_at[job]);
    free(order);
    depends_fini(&d);
    by_id_fini(&b);
    return code;
}

bool depends_prune(struct workload *w)
{
    struct by_id b;
    if (w->depends == NULL)
        return true;
    if (!by_id_init(&b, w))
        return false;
    struct names kept;
    char *text = malloc(w->depends_texts.text_used + 2);
    bool ok = text != NULL;
    names_init(&kept);
    for (uint32_t j = 0; j < w->n_jobs && ok; j++) {
        struct trace_text id;
        size_t n = 0;
        for (const char *from = text_of(w, j); next_id(&from, &id);) {
            if (meant_by(&b, j, id) == UINT32_MAX)
                continue;
            if (n > 0)
                text[n++] = ';';
            memcpy(text + n, id.at, id.n);
            n += id.n;
        }
        w->depends[j] = names_add(&kept, text, n);
        ok = w->depends[j] != NAMES_NONE;
    }
    free(text);
    by_id_fini(&b);
    names_fini(ok ? &w->depends_texts : &kept);
    if (ok)
        w->depends_texts = kept;
    if (ok && kept.count <= 1 && (kept.count == 0 || names_text(&kept, 0)[0] == '\0')) { /* nobody depends on anybody */
        names_fini(&w->depends_texts);
        names_init(&w->depends_texts);
        free(w->depends);
        w->depends = NULL;
    }
    return ok;
}

#include "traces/rank.h"

#include "base/number.h"
#include "traces/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, BLOCK = 1 << 18 };

/* Pairs of arrays, so that a pass reads and writes 12 bytes a key. */
struct radix {
    uint64_t *keys, *keys_to;
    uint32_t *rows, *rows_to;
};

static void radix_pass(struct radix *x, uint32_t n, unsigned shift)
{
    uint32_t at[RADIX] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        at[(x->keys[i] >> shift) & (RADIX - 1)]++;
    for (uint32_t b = 0; b < RADIX; b++) {
        uint32_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = at[(x->keys[i] >> shift) & (RADIX - 1)]++;
        x->keys_to[to] = x->keys[i];
        x->rows_to[to] = x->rows[i];
    }
    struct radix swapped = {x->keys_to, x->keys, x->rows_to, x->rows};
    *x = swapped;
}

/* Sort `rows` by their keys[row], stably. */
static bool sort_rows(const int64_t *keys, uint32_t *rows, uint32_t n)
{
    bool is_sorted = true, in_seconds = true;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        int64_t k = keys[rows[i]];
        is_sorted &= k >= most;
        least = k < least ? k : least;
        most = k > most ? k : most;
        in_seconds &= k % NS_PER_S == 0;
    }
    if (is_sorted)
        return true;
    uint64_t unit = in_seconds ? (uint64_t)NS_PER_S : 1;
    uint64_t range = ((uint64_t)most - (uint64_t)least) / unit;
    struct radix x = {malloc(n * sizeof *x.keys), malloc(n * sizeof *x.keys), rows, malloc(n * sizeof *rows)};
    struct radix owned = x;
    bool ok = x.keys != NULL && x.keys_to != NULL && x.rows_to != NULL;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            x.keys[i] = ((uint64_t)keys[rows[i]] - (uint64_t)least) / unit;
        for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += RADIX_BITS)
            radix_pass(&x, n, shift);
        if (x.rows != rows)
            memcpy(rows, x.rows, n * sizeof *rows);
    }
    free(owned.keys);
    free(owned.keys_to);
    free(owned.rows_to);
    return ok;
}

bool rank_order(const int64_t *keys, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = i;
    return sort_rows(keys, out, n);
}

/* ---- equal submissions: by `order`, then id -------------------------------------------------------------------- */

static int compare_order_and_id(const struct rows *r, uint32_t a, uint32_t b)
{
    if (r->order != NULL && r->order[a] != r->order[b])
        return r->order[a] < r->order[b] ? -1 : 1;
    if (!r->has.id)
        return 0;
    const uint64_t *at = r->w.id_at;
    return text_compare_natural(r->w.id_text + at[a], at[a + 1] - at[a], r->w.id_text + at[b], at[b + 1] - at[b]);
}

static int by_order_and_id(const void *a, const void *b, void *rows)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = compare_order_and_id(rows, x, y);
    return c != 0 ? c : (x > y) - (x < y);
}

/* The end of the run of equal submissions that begins at `from`. */
static uint32_t run_end(const struct rows *r, const uint32_t *pick, uint32_t n, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < n && r->w.submit_ns[pick[to]] == r->w.submit_ns[pick[from]])
        to++;
    return to;
}

static void sort_runs(struct rows *r, uint32_t *pick, uint32_t n)
{
    for (uint32_t from = 0, to; from < n; from = to) {
        to = run_end(r, pick, n, from);
        bool is_sorted = true;
        for (uint32_t i = from + 1; i < to && is_sorted; i++)
            is_sorted = compare_order_and_id(r, pick[i - 1], pick[i]) <= 0;
        if (!is_sorted)
            qsort_r(pick + from, to - from, sizeof *pick, by_order_and_id, r);
    }
}

/* ---- rows that tie in submission, order and id: by their text ----------------------------------------------------- */

struct tie {
    uint32_t row, at; /* its place in `pick` */
    uint64_t text_at; /* in the pool */
    uint64_t text_n;
    uint64_t line;
};

struct ties {
    struct rows *rows;
    struct tie *all; /* in order of `at` */
    uint32_t n;
    uint32_t *by_row; /* indices into `all`, in order of the file */
    char *pool;
    uint64_t used, room;
};

static bool is_tied(const struct rows *r, const uint32_t *pick, uint32_t a, uint32_t b)
{
    return r->w.submit_ns[pick[a]] == r->w.submit_ns[pick[b]] && compare_order_and_id(r, pick[a], pick[b]) == 0;
}

static bool find_ties(struct ties *t, const uint32_t *pick, uint32_t n)
{
    for (int fill = 0; fill < 2; fill++) {
        uint32_t count = 0;
        bool with_last = false;
        for (uint32_t i = 0; i < n; i++) {
            bool with_next = i + 1 < n && is_tied(t->rows, pick, i, i + 1);
            if (with_last || with_next) {
                if (fill == 1)
                    t->all[count] = (struct tie){.row = pick[i], .at = i};
                count++;
            }
            with_last = with_next;
        }
        t->n = count;
        if (fill == 1 || count == 0)
            break;
        t->all = malloc(count * sizeof *t->all);
        t->by_row = malloc(count * sizeof *t->by_row);
        if (t->all == NULL || t->by_row == NULL)
            return false;
    }
    return true;
}

static int by_row(const void *a, const void *b, void *all)
{
    const struct tie *ties = all;
    uint32_t x = ties[*(const uint32_t *)a].row, y = ties[*(const uint32_t *)b].row;
    return (x > y) - (x < y);
}

static bool pool_add(struct ties *t, struct tie *tie, const char *text, size_t n)
{
    if (t->room - t->used < n) {
        uint64_t room = (t->room + n) * 2 + 4096;
        char *grown = realloc(t->pool, room);
        if (grown == NULL)
            return false;
        t->pool = grown;
        t->room = room;
    }
    memcpy(t->pool + t->used, text, n);
    t->used += n;
    tie->text_n += n;
    return true;
}

/* Read the source again and keep the first line of each tied row, in order of the file. */
static int read_texts(struct ties *t, struct source *source, char *block, struct error *err)
{
    uint64_t base = 0, line = 1; /* stream offset of the block; lines before the present place */
    bool in_text = false;
    uint32_t k = 0;
    int code = source_rewind(source, err);
    while (code == BRAID_OK && k < t->n) {
        size_t got, p = 0;
        code = source_read(source, block, BLOCK, &got, err);
        if (code != BRAID_OK || got == 0)
            break;
        while (p < got && k < t->n) {
            struct tie *tie = &t->all[t->by_row[k]];
            uint64_t wanted = t->rows->text_at[tie->row] - base;
            size_t stop = in_text ? got : wanted < got ? (size_t)wanted : got;
            const char *feed = NULL;
            for (const char *q = block + p; (feed = memchr(q, '\n', (size_t)(block + stop - q))) != NULL;
                 q = feed + 1) {
                line++;
                if (in_text)
                    break;
            }
            size_t to = in_text && feed != NULL ? (size_t)(feed - block) : stop;
            if (in_text && !pool_add(t, tie, block + p, to - p))
                return error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory for rows that tie");
            if (in_text && feed != NULL) {
                in_text = false;
                k++;
                p = to + 1;
                continue;
            }
            p = to;
            if (!in_text && wanted < got) {
                in_text = true;
                tie->text_at = t->used;
                tie->line = line;
            }
        }
        base += got;
    }
    return code;
}

static int compare_texts(const struct ties *t, const struct tie *a, const struct tie *b)
{
    uint64_t least = a->text_n < b->text_n ? a->text_n : b->text_n;
    int c = least > 0 ? memcmp(t->pool + a->text_at, t->pool + b->text_at, least) : 0;
    return c != 0 ? c : (a->text_n > b->text_n) - (a->text_n < b->text_n);
}

static int compare_values(const struct workload *w, const struct column *c, uint32_t a, uint32_t b)
{
    const char *values = column_get(w, c);
    if (values == NULL)
        return 0;
    int64_t x = 0, y = 0;
    if (c->size == sizeof(int64_t)) {
        memcpy(&x, values + (size_t)a * c->size, sizeof x);
        memcpy(&y, values + (size_t)b * c->size, sizeof y);
    } else if (c->size == sizeof(uint32_t)) {
        uint32_t u, v;
        memcpy(&u, values + (size_t)a * c->size, sizeof u);
        memcpy(&v, values + (size_t)b * c->size, sizeof v);
        x = u;
        y = v;
    } else {
        x = values[a];
        y = values[b];
    }
    if (x == y)
        return 0;
    if (c->names_at >= 0 && x != NAMES_NONE && y != NAMES_NONE) { /* numbers of names are in order of appearance */
        const struct names *names = (const struct names *)(const void *)((const char *)w + c->names_at);
        const char *s = names_text(names, (uint32_t)x), *u = names_text(names, (uint32_t)y);
        return text_compare_natural(s, strlen(s), u, strlen(u));
    }
    return x < y ? -1 : 1;
}

static int compare_ties(const struct ties *t, const struct tie *a, const struct tie *b)
{
    int c = compare_texts(t, a, b);
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    for (size_t i = 0; i < n_columns && c == 0; i++)
        c = compare_values(&t->rows->w, &columns[i], a->row, b->row);
    return c;
}

static int by_text(const void *a, const void *b, void *ties)
{
    const struct tie *x = a, *y = b;
    int c = compare_ties(ties, x, y);
    return c != 0 ? c : (x->row > y->row) - (x->row < y->row);
}

static void sort_ties(struct ties *t, uint32_t *pick)
{
    for (uint32_t from = 0, to; from < t->n; from = to) {
        to = from + 1;
        while (to < t->n && t->all[to].at == t->all[to - 1].at + 1 &&
               is_tied(t->rows, pick, t->all[to - 1].at, t->all[to].at))
            to++;
        uint32_t first = t->all[from].at;
        qsort_r(t->all + from, to - from, sizeof *t->all, by_text, t);
        for (uint32_t i = from; i < to; i++) {
            const struct tie *tie = &t->all[i];
            t->all[i].at = first + i - from;
            pick[tie->at] = tie->row;
            if (i > from && tie->line > 0 && compare_ties(t, tie - 1, tie) == 0)
                rows_count(t->rows, ROW_DUPLICATE_ROW, 1, tie->line, t->pool + tie->text_at, tie->text_n);
        }
    }
}

static int settle_ties(struct ties *t, struct source *source, uint32_t *pick, struct error *err)
{
    int code = BRAID_OK;
    if (source != NULL && t->rows->text_at != NULL) {
        char *block = malloc(BLOCK);
        if (block == NULL)
            return error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory for rows that tie");
        for (uint32_t i = 0; i < t->n; i++)
            t->by_row[i] = i;
        qsort_r(t->by_row, t->n, sizeof *t->by_row, by_row, t->all);
        code = read_texts(t, source, block, err);
        free(block);
    }
    for (uint32_t i = 0; i < t->n && code == BRAID_OK; i++)
        if (t->all[i].text_n > 0 && t->pool[t->all[i].text_at + t->all[i].text_n - 1] == '\r')
            t->all[i].text_n--;
    if (code == BRAID_OK)
        sort_ties(t, pick);
    return code;
}

int rank_rows(struct rows *r, struct source *source, uint32_t *pick, uint32_t n, struct error *err)
{
    struct ties t = {.rows = r};
    int code = BRAID_OK;
    if (!sort_rows(r->w.submit_ns, pick, n))
        return error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for sorting %" PRIu32 " jobs", n);
    sort_runs(r, pick, n);
    if (!find_ties(&t, pick, n))
        code = error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for sorting %" PRIu32 " jobs", n);
    else if (t.n > 0)
        code = settle_ties(&t, source, pick, err);
    free(t.all);
    free(t.by_row);
    free(t.pool);
    return code;
}

/* ---- duplicate ids ---------------------------------------------------------------------------------------------- */

static bool ids_ascend(const struct workload *w)
{
    const uint64_t *at = w->id_at;
    for (uint32_t j = 1; j < w->n_jobs; j++)
        if (text_compare_natural(w->id_text + at[j - 1], at[j] - at[j - 1], w->id_text + at[j], at[j + 1] - at[j]) >= 0)
            return false;
    return true;
}

static uint64_t id_hash(const char *text, uint64_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9E3779B97F4A7C15u;
}

int rank_count_duplicate_ids(struct rows *r, const struct workload *w, struct error *err)
{
    if (!r->has.id || ids_ascend(w)) /* the usual case, and cheap to see */
        return BRAID_OK;
    unsigned bits = 4;
    while ((UINT64_C(1) << bits) < (uint64_t)w->n_jobs + w->n_jobs / 2)
        bits++;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint32_t *slots = calloc(mask + 1, sizeof *slots); /* job + 1; 0 empty */
    if (slots == NULL)
        return error_at(err, BRAID_FAILED, r->path, 0, 0, "out of memory for %" PRIu32 " ids", w->n_jobs);
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        const char *id = w->id_text + w->id_at[j];
        uint64_t n = w->id_at[j + 1] - w->id_at[j];
        uint64_t s = id_hash(id, n) >> (64 - bits);
        bool is_there = false;
        for (; slots[s] != 0 && !is_there; s = (s + 1) & mask) {
            uint32_t other = slots[s] - 1;
            is_there = w->id_at[other + 1] - w->id_at[other] == n && memcmp(w->id_text + w->id_at[other], id, n) == 0;
        }
        if (is_there)
            rows_count(r, ROW_DUPLICATE_ID, 1, 0, id, n);
        else
            slots[s] = j + 1;
    }
    free(slots);
    return BRAID_OK;
}

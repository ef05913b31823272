#include "output/report_order.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------------- */

enum value_kind { VALUE_NUMBER, VALUE_TIME, VALUE_SIZE, VALUE_TEXT };

static enum value_kind value_kind(const char *text, double *value)
{
    size_t n = strlen(text);
    int64_t ns;
    uint64_t kib;
    *value = 0;
    if (number_parse_double(text, n, value))
        return VALUE_NUMBER;
    if (number_parse_time(text, n, &ns)) {
        *value = (double)ns;
        return VALUE_TIME;
    }
    if (number_parse_size(text, n, &kib)) {
        *value = (double)kib;
        return VALUE_SIZE;
    }
    return VALUE_TEXT;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Two numbers without sign as decimals; both texts are moved behind them. */
static int compare_decimals(const char **a, const char **b)
{
    const char *texts[2] = {*a, *b};
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        texts[i] += strspn(texts[i], "0");
        length[i] = strspn(texts[i], "0123456789");
    }
    int order = length[0] != length[1] ? (length[0] < length[1] ? -1 : 1) : memcmp(texts[0], texts[1], length[0]);
    for (int i = 0; i < 2; i++)
        texts[i] += length[i];
    const char *fraction[2] = {"", ""};
    for (int i = 0; i < 2; i++) {
        length[i] = 0;
        if (texts[i][0] != '.' || !is_digit(texts[i][1]))
            continue;
        fraction[i] = texts[i] + 1;
        length[i] = strspn(fraction[i], "0123456789");
        texts[i] = fraction[i] + length[i];
        while (length[i] > 0 && fraction[i][length[i] - 1] == '0')
            length[i]--;
    }
    if (order == 0) {
        size_t least = length[0] < length[1] ? length[0] : length[1];
        order = memcmp(fraction[0], fraction[1], least);
        order = order != 0 ? order : (length[0] > length[1]) - (length[0] < length[1]);
    }
    *a = texts[0];
    *b = texts[1];
    return order;
}

static int compare_texts(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p != '\0' && *q != '\0') {
        if (is_digit(*p) && is_digit(*q)) {
            int order = compare_decimals(&p, &q);
            if (order != 0)
                return order;
            continue;
        }
        if (*p != *q)
            return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
        p++;
        q++;
    }
    if (*p != *q)
        return *p == '\0' ? -1 : 1;
    return strcmp(a, b); /* equal but for zeros */
}

int report_value_compare(const char *a, const char *b)
{
    double x, y;
    enum value_kind p = value_kind(a, &x), q = value_kind(b, &y);
    if (p != q)
        return p < q ? -1 : 1;
    if (x != y)
        return x < y ? -1 : 1;
    return compare_texts(a, b);
}

/* ---- runs ------------------------------------------------------------------------------------- */

int report_order_runs(const struct report_run *a, const struct report_run *b)
{
    if ((a->position < 0) != (b->position < 0))
        return a->position < 0 ? 1 : -1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return strcmp(a->id, b->id);
}

/* ---- the values of a key ---------------------------------------------------------------------- */

/* A run as it stands in the lists: `value` is that of the key which is listed now. */
struct listed {
    uint32_t file;
    const struct report_run *run;
    const char *value;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    int order = strcmp(x->run->name, y->run->name);
    if (order != 0)
        return order;
    if (x->run->position != y->run->position && x->run->position >= 0 && y->run->position >= 0)
        return x->run->position < y->run->position ? -1 : 1;
    if ((x->run->position < 0) != (y->run->position < 0))
        return x->run->position < 0 ? 1 : -1;
    return report_value_compare(x->value, y->value);
}

static bool is_same_experiment(const struct listed *a, const struct listed *b)
{
    return a->file == b->file && strcmp(a->run->name, b->run->name) == 0;
}

/* Fill `k` from the runs with their values. */
static bool list_values(struct order_key *k, struct listed *runs, size_t n)
{
    if (n > 1)
        qsort(runs, n, sizeof *runs, compare_listed);
    struct names seen; /* of one experiment */
    names_init(&seen);
    bool ok = true;
    k->is_ascending = true;
    for (size_t i = 0; i < n && ok; i++) {
        if (i > 0 && !is_same_experiment(&runs[i - 1], &runs[i])) {
            names_fini(&seen);
            names_init(&seen);
        }
        size_t length = strlen(runs[i].value);
        uint32_t known = seen.count, id = names_add(&seen, runs[i].value, length);
        ok = id != NAMES_NONE && names_add(&k->values, runs[i].value, length) != NAMES_NONE;
        if (ok && id == known && known > 0 && report_value_compare(names_text(&seen, known - 1), runs[i].value) > 0)
            k->is_ascending = false;
    }
    names_fini(&seen);
    return ok;
}

static const struct order_key *key_find(const struct report_order *o, const char *key)
{
    for (uint32_t i = 0; i < o->n_keys; i++)
        if (strcmp(o->keys[i].key, key) == 0)
            return &o->keys[i];
    return NULL;
}

static bool key_add(struct report_order *o, const char *key)
{
    if (key_find(o, key) != NULL)
        return true;
    struct order_key *k = &o->keys[o->n_keys];
    *k = (struct order_key){.key = strdup(key)};
    names_init(&k->values);
    o->n_keys += k->key != NULL;
    return k->key != NULL;
}

int report_order_init(struct report_order *out, const struct report_file *files, size_t n_files, struct error *err)
{
    *out = (struct report_order){0};
    size_t n_keys = 1, n_runs = 0;
    for (size_t f = 0; f < n_files; f++) {
        n_keys += files[f].n_swept;
        n_runs += files[f].n_runs;
    }
    out->keys = calloc(n_keys, sizeof *out->keys);
    struct listed *runs = calloc(n_runs + 1, sizeof *runs);
    bool ok = out->keys != NULL && runs != NULL && key_add(out, REPORT_ORDER_LABEL);
    for (size_t f = 0; f < n_files; f++)
        for (uint32_t k = 0; k < files[f].n_swept && ok; k++)
            ok = key_add(out, files[f].swept_keys[k]);
    for (uint32_t k = 0; k < out->n_keys && ok; k++) {
        struct order_key *key = &out->keys[k];
        size_t n = 0;
        for (uint32_t f = 0; f < n_files; f++)
            for (uint32_t r = 0; r < files[f].n_runs; r++) {
                const struct report_run *run = &files[f].runs[r];
                const char *value = k == 0 ? run->label : report_run_swept(&files[f], run, key->key);
                runs[n++] = (struct listed){f, run, value};
            }
        ok = list_values(key, runs, n);
    }
    free(runs);
    return ok ? BRAID_OK : error_set(err, BRAID_FAILED, "out of memory");
}

void report_order_fini(struct report_order *o)
{
    for (uint32_t i = 0; i < o->n_keys; i++) {
        free((char *)o->keys[i].key);
        names_fini(&o->keys[i].values);
    }
    free(o->keys);
    *o = (struct report_order){0};
}

int report_order_compare(const struct report_order *o, const char *key, const char *a, const char *b)
{
    const struct order_key *k = key_find(o, key);
    if (k == NULL || k->is_ascending)
        return report_value_compare(a, b);
    uint32_t x = names_find(&k->values, a, strlen(a)), y = names_find(&k->values, b, strlen(b));
    if (x == y) /* one value, or both unknown: NAMES_NONE */
        return report_value_compare(a, b);
    return x < y ? -1 : 1;
}

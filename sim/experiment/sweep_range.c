/* Ranges of a sweep: {from: 1, to: 20}, {from: 0.5, to: 1.1, step: 0.1}, {from: 1 h, to: 8 h, count: 4, log: true}.
 *
 * Steps are counted in whole units of the last decimal that is written, so that 0.1, 0.2, 0.3 come out as they are read. */
#include "base/config_text.h"
#include "base/number.h"
#include "experiment/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 100000, DIGITS_MAX = 15 };

static const char *const range_keys[] = {"from", "to", "step", "count", "log"};
enum { FROM, TO, STEP, COUNT, LOG, N_KEYS };

/* A decimal with a unit: "1.5 h" is 15 tenths and " h". */
struct quantity {
    double value;
    int64_t whole; /* value x 10^decimals */
    int decimals;
    const char *unit; /* the rest of the text */
};

struct range {
    struct arena *arena;
    const char *key;
    const struct config_node *map;
    const struct config_item *items[N_KEYS]; /* NULL: not given */
    struct error *err;
};

bool sweep_is_range(const struct config_node *node)
{
    return node->kind == CONFIG_MAP && (config_tree_find(node, "from") != NULL || config_tree_find(node, "to") != NULL);
}

static int read_quantity(struct range *r, int which, struct quantity *out)
{
    const struct config_node *node = r->items[which]->value;
    const char *text = node->kind == CONFIG_SCALAR ? node->text : "";
    const char *at = text + (text[0] == '-' || text[0] == '+');
    size_t before = strspn(at, "0123456789"), after = 0;
    const char *end = at + before;
    if (*end == '.') {
        after = strspn(end + 1, "0123456789");
        end += 1 + after;
    }
    bool ok = before + after > 0 && before + after <= DIGITS_MAX &&
              number_parse_double(text, (size_t)(end - text), &out->value) && strpbrk(end, "0123456789.") == NULL;
    if (!ok)
        return config_fail(r->err, node->place,
                           "'sweep.%s': '%s' of a range wants a decimal number, with a unit where the key has one, "
                           "not '%.60s'",
                           r->key, range_keys[which], node->kind == CONFIG_SCALAR ? text : "a list or map");
    out->whole = 0;
    for (const char *c = at; c < end; c++)
        if (*c != '.')
            out->whole = out->whole * 10 + (*c - '0');
    if (text[0] == '-')
        out->whole = -out->whole;
    out->decimals = (int)after;
    out->unit = end;
    return BRAID_OK;
}

static bool to_decimals(struct quantity *q, int decimals)
{
    for (; q->decimals < decimals; q->decimals++)
        if (__builtin_mul_overflow(q->whole, 10, &q->whole))
            return false;
    return true;
}

static int add_value(struct range *r, struct config_item *item, const char *text)
{
    struct config_node *node = ARENA_NEW(r->arena, struct config_node, 1);
    const char *kept = arena_text(r->arena, text, strlen(text));
    if (node == NULL || kept == NULL)
        return error_set(r->err, BRAID_FAILED, "out of memory");
    *node = (struct config_node){.kind = CONFIG_SCALAR, .depth = 1, .size = 1, .place = r->map->place, .text = kept};
    *item = (struct config_item){.value = node};
    return BRAID_OK;
}

/* "-12.50" of -1250 with two decimals, without the zeros at its end. */
static void write_decimal(char *out, size_t size, int64_t whole, int decimals, const char *unit)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%0*lld", (decimals & 31) + 1, (long long)llabs(whole));
    size_t n = strlen(digits), point = n - (size_t)decimals;
    size_t last = n;
    while (last > point && digits[last - 1] == '0')
        last--;
    snprintf(out, size, "%s%.*s%s%.*s%.40s", whole < 0 ? "-" : "", (int)point, digits, last > point ? "." : "",
             (int)(last - point), digits + point, unit);
}

static const struct config_node *make_list(struct range *r, struct config_item *items, uint32_t n)
{
    struct config_node *list = ARENA_NEW(r->arena, struct config_node, 1);
    if (list == NULL) {
        error_set(r->err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    *list = (struct config_node){
        .kind = CONFIG_LIST, .depth = 2, .size = n + 1, .place = r->map->place, .n = n, .items = items};
    return list;
}

static const struct config_node *by_step(struct range *r, struct quantity *from, struct quantity *to)
{
    struct quantity step = {.value = 1, .whole = 1, .unit = from->unit};
    if (r->items[STEP] != NULL && read_quantity(r, STEP, &step) != BRAID_OK)
        return NULL;
    const struct config_node *at = r->items[STEP] != NULL ? r->items[STEP]->value : r->map;
    if (r->items[STEP] == NULL && (from->decimals > 0 || to->decimals > 0 || from->unit[0] != '\0')) {
        config_fail(r->err, r->map->place,
                    "'sweep.%s': a range of what is no plain whole number wants a 'step' or a 'count'", r->key);
        return NULL;
    }
    if (strcmp(step.unit, from->unit) != 0) {
        config_fail(r->err, at->place, "'sweep.%s': 'step' must be in the unit of 'from'", r->key);
        return NULL;
    }
    int decimals = from->decimals > to->decimals ? from->decimals : to->decimals;
    decimals = step.decimals > decimals ? step.decimals : decimals;
    int64_t span;
    if (!to_decimals(from, decimals) || !to_decimals(to, decimals) || !to_decimals(&step, decimals) ||
        __builtin_sub_overflow(to->whole, from->whole, &span)) {
        config_fail(r->err, r->map->place, "'sweep.%s': the numbers of this range have too many digits", r->key);
        return NULL;
    }
    if (step.whole == 0 || (span != 0 && (span < 0) != (step.whole < 0))) {
        config_fail(r->err, at->place, "'sweep.%s': this range never gets from 'from' to 'to'", r->key);
        return NULL;
    }
    int64_t n = span / step.whole + 1;
    if (n > VALUES_MAX) {
        config_fail(r->err, r->map->place, "'sweep.%s': this range has %lld values; at most %d are possible", r->key,
                    (long long)n, VALUES_MAX);
        return NULL;
    }
    struct config_item *items = ARENA_NEW(r->arena, struct config_item, (size_t)n);
    if (items == NULL) {
        error_set(r->err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        char text[96];
        write_decimal(text, sizeof text, from->whole + i * step.whole, decimals, from->unit);
        if (add_value(r, &items[i], text) != BRAID_OK)
            return NULL;
    }
    return make_list(r, items, (uint32_t)n);
}

static const struct config_node *by_count(struct range *r, const struct quantity *from, const struct quantity *to,
                                          bool is_whole)
{
    const struct config_node *count = r->items[COUNT]->value,
                             *log = r->items[LOG] != NULL ? r->items[LOG]->value : NULL;
    int64_t n = 0;
    if (count->kind != CONFIG_SCALAR || !number_parse_i64(count->text, strlen(count->text), &n) || n < 2 ||
        n > VALUES_MAX) {
        config_fail(r->err, count->place, "'sweep.%s': 'count' of a range wants a whole number from 2 to %d", r->key,
                    VALUES_MAX);
        return NULL;
    }
    bool is_log = log != NULL && log->kind == CONFIG_SCALAR && strcmp(log->text, "true") == 0;
    if (log != NULL && !is_log && (log->kind != CONFIG_SCALAR || strcmp(log->text, "false") != 0)) {
        config_fail(r->err, log->place, "'sweep.%s': 'log' of a range wants true or false", r->key);
        return NULL;
    }
    if (is_log && (from->value <= 0 || to->value <= 0)) {
        config_fail(r->err, log->place, "'sweep.%s': a range with 'log' goes from above 0 to above 0", r->key);
        return NULL;
    }
    struct config_item *items = ARENA_NEW(r->arena, struct config_item, (size_t)n);
    uint32_t used = 0;
    char last[96] = "";
    for (int64_t i = 0; i < n && items != NULL; i++) {
        double share = (double)i / (double)(n - 1);
        double v = is_log ? from->value * pow(to->value / from->value, share)
                          : from->value + (to->value - from->value) * share;
        char text[96];
        if (i == 0 || i == n - 1)
            write_decimal(text, sizeof text, i == 0 ? from->whole : to->whole, i == 0 ? from->decimals : to->decimals,
                          from->unit);
        else if (is_whole)
            snprintf(text, sizeof text, "%.0f%.40s", v, from->unit);
        else
            snprintf(text, sizeof text, "%.6g%.40s", v, from->unit);
        if (strcmp(text, last) == 0) /* whole numbers that lie close together */
            continue;
        strcpy(last, text);
        if (add_value(r, &items[used++], text) != BRAID_OK)
            return NULL;
    }
    if (items == NULL) {
        error_set(r->err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    return make_list(r, items, used);
}

const struct config_node *sweep_range(struct arena *a, const struct config_node *range, const char *key, bool is_whole,
                                      struct error *err)
{
    struct range r = {.arena = a, .key = key, .map = range, .err = err};
    struct quantity from, to;
    for (uint32_t i = 0; i < range->n; i++) {
        int which = 0;
        while (which < N_KEYS && strcmp(range_keys[which], range->items[i].key) != 0)
            which++;
        if (which == N_KEYS) {
            config_fail(err, range->items[i].key_place,
                        "'sweep.%s': '%.60s' is no key of a range; use from, to, step, or count and log", key,
                        range->items[i].key);
            return NULL;
        }
        r.items[which] = &range->items[i];
    }
    if (r.items[FROM] == NULL || r.items[TO] == NULL) {
        config_fail(err, range->place, "'sweep.%s': a range needs 'from' and 'to'", key);
        return NULL;
    }
    if (r.items[STEP] != NULL && r.items[COUNT] != NULL) {
        config_fail(err, r.items[STEP]->key_place,
                    "'sweep.%s': 'step' cannot stand beside 'count'; leave one of them out", key);
        return NULL;
    }
    if (r.items[LOG] != NULL && r.items[COUNT] == NULL) {
        config_fail(err, r.items[LOG]->key_place, "'sweep.%s': 'log' needs 'count' beside it", key);
        return NULL;
    }
    if (read_quantity(&r, FROM, &from) != BRAID_OK || read_quantity(&r, TO, &to) != BRAID_OK)
        return NULL;
    if (strcmp(from.unit, to.unit) != 0) {
        config_fail(err, r.items[TO]->value->place, "'sweep.%s': 'from' and 'to' must be in one unit", key);
        return NULL;
    }
    return r.items[COUNT] != NULL ? by_count(&r, &from, &to, is_whole) : by_step(&r, &from, &to);
}

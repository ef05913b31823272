#include "experiment/config_value.h"

#include "base/names.h"
#include "base/number.h"
#include "experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 160, WANTED_SIZE = 320, SHOWN_MAX = 60 };

/* What a key wants, in words. */
static const char *wanted(const struct config_key *key, char *out, size_t size)
{
    static const char *const kinds[] = {
        [KEY_INT] = "a whole number",
        [KEY_NUMBER] = "a number",
        [KEY_TIME] = "a time such as '30 s'",
        [KEY_SIZE] = "a size such as '16 GB'",
        [KEY_BOOL] = "true or false",
        [KEY_SWITCH] = "true, false or auto",
        [KEY_TEXT] = "a text",
        [KEY_PATH] = "the path of a file",
        [KEY_CHOICE] = "one of ",
        [KEY_NUMBERS] = "a list of numbers such as [1, 2]",
    };
    snprintf(out, size, "%s%s%s%s%s", kinds[key->type], key->type == KEY_CHOICE ? key->choices : "",
             key->word != NULL ? " or '" : "", key->word != NULL ? key->word : "", key->word != NULL ? "'" : "");
    for (char *p = out; key->type == KEY_CHOICE && *p != '\0'; p++)
        if (*p == '|')
            *p = ' ';
    return out;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "; numbers are decimal" and the like, when a text looks like one of YAML 1.1's other numbers; "" otherwise. */
static void number_hint(const char *text, enum key_type type, char *out, size_t size)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    out[0] = '\0';
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o' || digits[1] == 'b'))
        snprintf(out, size, "; numbers are decimal");
    else if (is_digit(digits[0]) && strchr(digits, ':') != NULL)
        snprintf(out, size, "; numbers to base 60 are not read: %s",
                 type == KEY_TIME ? "write a unit, such as '90 s', '90 min' or '1.5 h'" : "write it in decimal");
    else if (is_digit(digits[0]) && strpbrk(digits, "_,") != NULL)
        snprintf(out, size, "; write the digits without separators");
    else if (type == KEY_TIME && strspn(digits, "0123456789") == 4 && digits[4] == '-')
        snprintf(out, size, "; no date is read here: write the time since time 0");
    else if (strncasecmp(digits, ".inf", 4) == 0 || strncasecmp(digits, ".nan", 4) == 0)
        snprintf(out, size, "; it must be finite");
}

/* `010` is 8 to YAML 1.1, 10 to YAML 1.2 and to people: nobody should have to guess. */
static bool has_leading_zero(const char *text)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    return digits[0] == '0' && is_digit(digits[1]);
}

static int fail_leading_zero(const struct config_node *node, const char *path, struct error *err)
{
    const char *digits = node->text + (node->text[0] == '-' || node->text[0] == '+');
    const char *rest = digits;
    while (rest[0] == '0' && is_digit(rest[1]))
        rest++;
    return config_fail(err, node->place, "'%s' is '%.*s': a leading zero can be read as octal; write '%.*s%.*s'", path,
                       SHOWN_MAX, node->text, (int)(digits - node->text), node->text, SHOWN_MAX, rest);
}

static int fail_type(const struct config_key *key, const struct config_node *node, const char *path, struct error *err)
{
    char want[WANTED_SIZE], hint[128] = "";
    wanted(key, want, sizeof want);
    if (node->kind != CONFIG_SCALAR)
        return config_fail(err, node->place, "'%s' wants %s, not a %s", path, want,
                           node->kind == CONFIG_LIST ? "list" : "map");
    if (node->text[0] == '\0' && !node->is_quoted)
        return config_fail(err, node->place, "'%s' has no value; it wants %s", path, want);
    if (key->type != KEY_BOOL && key->type != KEY_SWITCH)
        number_hint(node->text, key->type, hint, sizeof hint);
    return config_fail(err, node->place, "'%s' wants %s, not '%.*s'%s", path, want, SHOWN_MAX, node->text, hint);
}

/* The number is fine but what stands behind it is no unit of this kind. */
static int fail_unit(const struct config_key *key, const struct config_node *node, const char *path, struct error *err)
{
    static const char *const times[] = {"ns", "us", "ms", "s", "min", "h", "d"};
    static const char *const sizes[] = {"KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
    char hint[128];
    number_hint(node->text, key->type, hint, sizeof hint);
    if (hint[0] != '\0')
        return fail_type(key, node, path, err);
    const char *text = node->text, *unit = text + strspn(text, "+-.0123456789");
    if (unit > text && (unit[0] == 'e' || unit[0] == 'E') && strspn(unit + 1, "+-0123456789") > 0)
        unit += 1 + strspn(unit + 1, "+-0123456789");
    double number;
    if (!number_parse_double(text, (size_t)(unit - text), &number))
        return fail_type(key, node, path, err);
    unit += strspn(unit, " ");
    bool is_time = key->type == KEY_TIME, is_size = key->type == KEY_SIZE;
    if (!is_time && !is_size && unit[0] != '\0')
        return config_fail(err, node->place, "'%s' wants a plain number%s%s%s, not '%.*s'", path,
                           key->unit != NULL && key->unit[0] != '\0' ? " (it counts " : "",
                           key->unit != NULL ? key->unit : "", key->unit != NULL && key->unit[0] != '\0' ? ")" : "",
                           SHOWN_MAX, text);
    if (is_size && unit[0] == '\0')
        return config_fail(err, node->place, "'%s' is '%.*s': a size needs a unit; write for example '%.*s GB'", path,
                           SHOWN_MAX, text, SHOWN_MAX, text);
    if (unit[0] == '\0' || (!is_time && !is_size))
        return fail_type(key, node, path, err);
    /* "5 m" is five minutes more often than milliseconds, and one is 60,000 times the other */
    bool is_minute = is_time && (strcasecmp(unit, "m") == 0 || strcasecmp(unit, "mn") == 0 || strncasecmp(unit, "minut", 5) == 0);
    const char *near = is_minute ? "min" : is_time ? text_nearest(unit, times, 7) : text_nearest(unit, sizes, 8);
    if (near != NULL && strcmp(near, unit) == 0)
        return config_fail(err, node->place, "'%s': '%.*s' is too large", path, SHOWN_MAX, text);
    return config_fail(err, node->place, "'%s' is '%.*s': '%.*s' is no unit of %s; use one of %s%s%s%s", path,
                       SHOWN_MAX, text, SHOWN_MAX, unit, is_time ? "time" : "size",
                       is_time ? "ns us ms s min h d" : "KB MB GB TB (10^n) KiB MiB GiB TiB (2^n)",
                       near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

/* `scale`: of the range's unit in those of `value`. */
static int check_range(const struct config_key *key, const struct config_node *node, double value, double scale,
                       const char *path, struct error *err)
{
    if ((key->min == 0 && key->max == 0) || (value >= key->min * scale && value <= key->max * scale))
        return BRAID_OK;
    char word[96] = "";
    if (key->word != NULL)
        snprintf(word, sizeof word, ", or '%s'", key->word);
    const char *unit = key->type == KEY_TIME ? " s" : key->type == KEY_SIZE ? " KiB" : "";
    return config_fail(err, node->place, "'%s' is %.*s, but must be from %.16g%s to %.16g%s%s", path, SHOWN_MAX,
                       node->text, key->min, unit, key->max, unit, word);
}

static bool has_exponent(const char *text)
{
    return strpbrk(text, ".eE") != NULL;
}

static int read_int(struct config_value *out, const struct config_key *key, const struct config_node *node,
                    const char *path, struct error *err)
{
    double f;
    size_t n = strlen(node->text);
    if (has_leading_zero(node->text) && strspn(node->text, "+-0123456789") == n)
        return fail_leading_zero(node, path, err);
    if (!number_parse_i64(node->text, n, &out->v.i)) {
        if (!number_parse_double(node->text, n, &f))
            return fail_unit(key, node, path, err);
        if (has_exponent(node->text))
            return fail_type(key, node, path, err);
        return config_fail(err, node->place, "'%s': '%.*s' is too large", path, SHOWN_MAX, node->text);
    }
    return check_range(key, node, (double)out->v.i, 1, path, err);
}

static int read_number(struct config_value *out, const struct config_key *key, const struct config_node *node,
                       const char *path, struct error *err)
{
    if (has_leading_zero(node->text) && strspn(node->text, "+-.0123456789eE") == strlen(node->text))
        return fail_leading_zero(node, path, err);
    if (!number_parse_double(node->text, strlen(node->text), &out->v.f))
        return fail_unit(key, node, path, err);
    return check_range(key, node, out->v.f, 1, path, err);
}

static int read_time(struct config_value *out, const struct config_key *key, const struct config_node *node,
                     const char *path, struct error *err)
{
    if (has_leading_zero(node->text) && strchr(node->text, ':') == NULL)
        return fail_leading_zero(node, path, err);
    if (!number_parse_time(node->text, strlen(node->text), &out->v.i))
        return fail_unit(key, node, path, err);
    return check_range(key, node, (double)out->v.i, (double)NS_PER_S, path, err);
}

static int read_size(struct config_value *out, const struct config_key *key, const struct config_node *node,
                     const char *path, struct error *err)
{
    uint64_t kib;
    size_t n = strlen(node->text);
    if (has_leading_zero(node->text) && strchr(node->text, ':') == NULL)
        return fail_leading_zero(node, path, err);
    if (n == 0 || is_digit(node->text[n - 1]) || !number_parse_size(node->text, n, &kib) || kib > INT64_MAX)
        return fail_unit(key, node, path, err);
    out->v.i = (int64_t)kib;
    return check_range(key, node, (double)kib, 1, path, err);
}

static int read_bool(struct config_value *out, const struct config_key *key, const struct config_node *node,
                     const char *path, struct error *err)
{
    const char *s = node->text;
    bool yes = strcmp(s, "true") == 0 || strcmp(s, "on") == 0;
    bool no = strcmp(s, "false") == 0 || strcmp(s, "off") == 0;
    bool is_auto = key->type == KEY_SWITCH && strcmp(s, "auto") == 0;
    if (!yes && !no && !is_auto)
        return fail_type(key, node, path, err);
    if (key->type == KEY_BOOL)
        out->v.b = yes;
    else
        out->v.i = yes ? OUTPUT_ON : no ? OUTPUT_OFF : OUTPUT_AUTO;
    return BRAID_OK;
}

static int read_choice(struct config_value *out, const struct config_key *key, const struct config_node *node,
                       const char *path, struct error *err)
{
    char copy[256];
    const char *names[32];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", key->choices);
    for (char *save = NULL, *p = strtok_r(copy, "|", &save); p != NULL && n < 32; p = strtok_r(NULL, "|", &save)) {
        names[n] = p;
        if (strcmp(p, node->text) == 0) {
            out->v.i = (int64_t)n;
            out->text = node->text;
            return BRAID_OK;
        }
        n++;
    }
    const char *near = text_nearest(node->text, names, n);
    char want[WANTED_SIZE];
    if (near == NULL)
        return config_fail(err, node->place, "'%s' is '%.*s', but must be %s", path, SHOWN_MAX, node->text,
                           wanted(key, want, sizeof want));
    return config_fail(err, node->place, "'%s' is '%.*s', but must be %s; did you mean '%s'?", path, SHOWN_MAX,
                       node->text, wanted(key, want, sizeof want), near);
}

static int read_text(struct config_value *out, const struct config_key *key, const struct config_node *node,
                     const char *path, struct error *err)
{
    bool may_be_empty = key->def != NULL && key->def[0] == '\0';
    if (node->text[0] == '\0' && !may_be_empty)
        return node->is_quoted ? config_fail(err, node->place, "'%s' is empty", path) : fail_type(key, node, path, err);
    out->v.s = out->text = node->text;
    return BRAID_OK;
}

static int read_numbers(struct config_value *out, const struct config_key *key, const struct config_node *node,
                        const char *path, struct arena *a, struct error *err)
{
    struct config_key each = *key;
    each.type = KEY_NUMBER;
    double *v = ARENA_NEW(a, double, node->n);
    if (v == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < node->n; i++) {
        struct config_value one;
        const struct config_node *item = node->items[i].value;
        if (item->kind != CONFIG_SCALAR)
            return fail_type(&each, item, path, err);
        int status = read_number(&one, &each, item, path, err);
        if (status != BRAID_OK)
            return status;
        v[i] = one.v.f;
    }
    out->v.list.v = v;
    out->v.list.n = node->n;
    return BRAID_OK;
}

int config_value_read(struct config_value *out, const struct config_key *key, const struct config_node *node,
                      struct arena *a, struct error *err)
{
    char path[PATH_SIZE];
    config_key_path(key, path, sizeof path);
    *out = (struct config_value){0};
    if (node->kind != (key->type == KEY_NUMBERS ? CONFIG_LIST : CONFIG_SCALAR))
        return fail_type(key, node, path, err);
    if (key->word != NULL && strcmp(key->word, node->text) == 0) {
        out->is_word = true;
        out->v.i = key->word_value;
        return BRAID_OK;
    }
    switch (key->type) {
    case KEY_INT:
        return read_int(out, key, node, path, err);
    case KEY_NUMBER:
        return read_number(out, key, node, path, err);
    case KEY_TIME:
        return read_time(out, key, node, path, err);
    case KEY_SIZE:
        return read_size(out, key, node, path, err);
    case KEY_BOOL:
    case KEY_SWITCH:
        return read_bool(out, key, node, path, err);
    case KEY_CHOICE:
        return read_choice(out, key, node, path, err);
    case KEY_NUMBERS:
        return read_numbers(out, key, node, path, a, err);
    default:
        return read_text(out, key, node, path, err);
    }
}

void config_value_write(struct config_text *t, const struct config_key *key, const struct config_value *value)
{
    if (value->is_word) {
        config_text_scalar(t, key->word);
        return;
    }
    switch (key->type) {
    case KEY_INT:
        config_text_format(t, "%lld", (long long)value->v.i);
        break;
    case KEY_NUMBER:
        config_text_number(t, value->v.f);
        break;
    case KEY_TIME:
        config_text_time(t, value->v.i);
        break;
    case KEY_SIZE:
        config_text_size(t, (uint64_t)value->v.i);
        break;
    case KEY_BOOL:
        config_text_put(t, value->v.b ? "true" : "false");
        break;
    case KEY_SWITCH:
        config_text_put(t, value->v.i == OUTPUT_ON ? "true" : value->v.i == OUTPUT_OFF ? "false" : "auto");
        break;
    case KEY_NUMBERS:
        config_text_put(t, "[");
        for (uint32_t i = 0; i < value->v.list.n; i++) {
            config_text_put(t, i > 0 ? ", " : "");
            config_text_number(t, value->v.list.v[i]);
        }
        config_text_put(t, "]");
        break;
    default:
        config_text_scalar(t, value->text);
    }
}

const struct config_node *config_default_node(struct arena *a, const struct config_key *key, struct error *err)
{
    static const char place[] = "the default of a key";
    if (key->def[0] == '[' || key->def[0] == '{')
        return config_tree_parse(a, key->def, strlen(key->def), (struct config_place){place, 0, 0}, err);
    struct config_node *node = ARENA_NEW(a, struct config_node, 1);
    if (node == NULL) {
        error_set(err, BRAID_FAILED, "out of memory");
        return NULL;
    }
    *node = (struct config_node){
        .kind = CONFIG_SCALAR, .is_quoted = true, .depth = 1, .size = 1, .place = {place, 0, 0}, .text = key->def};
    return node;
}

int config_fail_unknown(struct error *err, struct config_place place, const char *what, const char *word,
                        const char *const *names, size_t n)
{
    const char *near = text_nearest(word, names, n);
    if (near != NULL)
        return config_fail(err, place, "unknown %s '%.*s'; did you mean '%s'?", what, SHOWN_MAX, word, near);
    char list[480] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used + strlen(names[i]) + 6 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    return config_fail(err, place, "unknown %s '%.*s'; %s%s", what, SHOWN_MAX, word,
                       n > 0 ? "known: " : "none is known", list);
}

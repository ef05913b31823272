#include "base/config_text.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void config_text_init(struct config_text *t)
{
    *t = (struct config_text){0};
}

void config_text_fini(struct config_text *t)
{
    free(t->s);
    *t = (struct config_text){0};
}

void config_text_clear(struct config_text *t)
{
    t->n = 0;
    if (t->s != NULL)
        t->s[0] = '\0';
}

void config_text_add(struct config_text *t, const char *s, size_t n)
{
    if (t->is_short)
        return;
    if (t->capacity - t->n < n + 1) {
        size_t capacity = (t->capacity + n + 1) * 2;
        char *grown = realloc(t->s, capacity);
        if (grown == NULL) {
            t->is_short = true;
            return;
        }
        t->s = grown;
        t->capacity = capacity;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void config_text_put(struct config_text *t, const char *s)
{
    if (s != NULL)
        config_text_add(t, s, strlen(s));
}

void config_text_format(struct config_text *t, const char *format, ...)
{
    char buffer[256];
    va_list args;
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    config_text_put(t, buffer);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Would every YAML reader take this plain text for the text that it is? Stricter than YAML, on purpose. */
static bool is_safe_plain(const char *s)
{
    static const char *const words[] = {"y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf"};
    bool starts_well =
        is_letter(s[0]) || s[0] == '_' || s[0] == '/' || (s[0] == '.' && (s[1] == '/' || (s[1] == '.' && s[2] == '/')));
    if (!starts_well)
        return false;
    for (const char *p = s; *p != '\0'; p++)
        if (!is_letter(*p) && !is_digit(*p) && strchr("_./+-@%~=", *p) == NULL)
            return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(s, words[i]) == 0)
            return false;
    return true;
}

void config_text_scalar(struct config_text *t, const char *s)
{
    if (is_safe_plain(s)) {
        config_text_put(t, s);
        return;
    }
    config_text_put(t, "\"");
    for (const char *p = s; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            config_text_format(t, "\\%c", *p);
        else if (*p == '\n')
            config_text_put(t, "\\n");
        else if ((unsigned char)*p < 0x20 || *p == 0x7f)
            config_text_format(t, "\\x%02x", (unsigned)*p);
        else
            config_text_add(t, p, 1);
    }
    config_text_put(t, "\"");
}

void config_text_number(struct config_text *t, double v)
{
    char buffer[40];
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(buffer, sizeof buffer, "%.*g", digits, v);
        if (number_parse_double(buffer, strlen(buffer), &back) && back == v)
            break;
    }
    config_text_put(t, buffer);
}

void config_text_time(struct config_text *t, int64_t ns)
{
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char fraction[16];
    snprintf(fraction, sizeof fraction, ".%09" PRIu64, magnitude % (uint64_t)NS_PER_S);
    size_t n = strlen(fraction);
    while (n > 0 && (fraction[n - 1] == '0' || fraction[n - 1] == '.'))
        n--;
    fraction[n] = '\0';
    config_text_format(t, "%s%" PRIu64 "%s s", ns < 0 ? "-" : "", magnitude / (uint64_t)NS_PER_S, fraction);
}

void config_text_size(struct config_text *t, uint64_t kib)
{
    static const struct {
        const char *name;
        uint64_t num, den; /* the unit in KiB */
    } units[] = {
        {"TB", 976562500, 1}, {"TiB", 1u << 30, 1}, {"GB", 1953125, 2}, {"GiB", 1u << 20, 1}, {"MiB", 1024, 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0] && kib != 0; i++)
        if (kib <= UINT64_MAX / 2 && kib * units[i].den % units[i].num == 0) {
            config_text_format(t, "%" PRIu64 " %s", kib * units[i].den / units[i].num, units[i].name);
            return;
        }
    config_text_format(t, "%" PRIu64 " KiB", kib);
}

/* A scalar as the user wrote it, where that is safe inside [ ] and { }. */
static void put_written(struct config_text *t, const struct config_node *scalar)
{
    bool is_simple = !scalar->is_quoted && scalar->text[0] != '\0' && scalar->text[0] != '-';
    for (const char *p = scalar->text; is_simple && *p != '\0'; p++)
        is_simple = is_letter(*p) || is_digit(*p) || strchr("_./+- ", *p) != NULL;
    bool is_negative = !scalar->is_quoted && scalar->text[0] == '-' && is_digit(scalar->text[1]);
    if (is_simple || is_negative)
        config_text_put(t, scalar->text);
    else
        config_text_scalar(t, scalar->text);
}

void config_text_node(struct config_text *t, const struct config_node *node)
{
    if (node->kind == CONFIG_SCALAR) {
        put_written(t, node);
        return;
    }
    bool is_map = node->kind == CONFIG_MAP;
    config_text_put(t, is_map ? "{" : "[");
    for (uint32_t i = 0; i < node->n; i++) {
        if (i > 0)
            config_text_put(t, ", ");
        if (is_map) {
            config_text_scalar(t, node->items[i].key);
            config_text_put(t, ": ");
        }
        config_text_node(t, node->items[i].value);
    }
    config_text_put(t, is_map ? "}" : "]");
}

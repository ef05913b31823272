#include "output/export_json.h"

#include "output/export_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_to(void *stream, const char *text, size_t n)
{
    fwrite(text, 1, n, stream); /* errors stay in the stream and are seen when it is closed */
}

yajl_gen export_json_create(FILE *out)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    if (g != NULL) {
        yajl_gen_config(g, yajl_gen_validate_utf8, 1);
        yajl_gen_config(g, yajl_gen_print_callback, print_to, out);
    }
    return g;
}

void export_json_text(yajl_gen g, const char *text)
{
    size_t n = strlen(text);
    if (yajl_gen_string(g, (const unsigned char *)text, n) != yajl_gen_invalid_string)
        return;
    char *plain = strdup(text);
    for (size_t i = 0; plain != NULL && i < n; i++)
        if ((unsigned char)plain[i] >= 0x80)
            plain[i] = '?';
    yajl_gen_string(g, (const unsigned char *)(plain != NULL ? plain : "?"), plain != NULL ? n : 1);
    free(plain);
}

void export_json_key_text(yajl_gen g, const char *key, const char *text)
{
    export_json_text(g, key);
    export_json_text(g, text);
}

void export_json_number(yajl_gen g, double value)
{
    char text[EXPORT_NUMBER_MAX];
    if (!isfinite(value)) {
        yajl_gen_null(g);
        return;
    }
    number_shortest(value, text);
    yajl_gen_number(g, text, strlen(text));
}

void export_json_key_number(yajl_gen g, const char *key, double value)
{
    export_json_text(g, key);
    export_json_number(g, value);
}

void export_json_integer(yajl_gen g, int64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRId64, value);
    yajl_gen_number(g, text, (size_t)n);
}

void export_json_key_integer(yajl_gen g, const char *key, int64_t value)
{
    export_json_text(g, key);
    export_json_integer(g, value);
}

void export_json_line(FILE *out)
{
    fputc('\n', out);
}

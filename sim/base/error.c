#include <braid/error.h>

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int error_fill(struct error *e, int code, const char *file, int line, int col, const char *format, va_list args)
{
    if (e == NULL)
        return code;
    char message[sizeof e->message]; /* the arguments may point into *e */
    vsnprintf(message, sizeof message, format, args);
    text_clean_message(message, sizeof message); /* it may quote a file, and will be shown on a terminal */
    char place[sizeof e->file];
    snprintf(place, sizeof place, "%s", file != NULL ? file : "");
    text_clean_message(place, sizeof place);
    memcpy(e->message, message, sizeof message);
    memcpy(e->file, place, sizeof place);
    e->code = code;
    e->line = line;
    e->col = col;
    return code;
}

int error_set(struct error *e, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_fill(e, code, NULL, 0, 0, format, args);
    va_end(args);
    return code;
}

int error_at(struct error *e, int code, const char *file, int line, int col, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_fill(e, code, file, line, col, format, args);
    va_end(args);
    return code;
}

const char *error_text(const struct error *e, char *out, unsigned long size)
{
    if (e->file[0] == '\0')
        snprintf(out, size, "%s", e->message);
    else if (e->line <= 0)
        snprintf(out, size, "%s: %s", e->file, e->message);
    else if (e->col <= 0)
        snprintf(out, size, "%s:%d: %s", e->file, e->line, e->message);
    else
        snprintf(out, size, "%s:%d:%d: %s", e->file, e->line, e->col, e->message);
    return out;
}

#include "traces/lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 18 };
#define LINE_LIMIT ((size_t)64 << 20)

static int fail(const struct lines *l, int code, const char *message, struct error *err)
{
    uint64_t line = l->number + 1;
    return error_at(err, code, l->source->path, line > INT_MAX ? INT_MAX : (int)line, 0, "%s", message);
}

/* Keep the line that begins at `at`, drop what is before it and read more behind it. */
static int refill(struct lines *l, struct error *err)
{
    size_t kept = l->end - l->at, got;
    if (l->at > 0)
        memmove(l->buffer, l->buffer + l->at, kept);
    l->at = 0;
    l->end = kept;
    if (kept >= LINE_LIMIT)
        return fail(l, BRAID_BAD_INPUT, "a line of more than 64 MiB begins here; is this a text?", err);
    if (l->capacity - kept < l->capacity / 2) {
        char *grown = realloc(l->buffer, l->capacity * 2);
        if (grown == NULL)
            return fail(l, BRAID_FAILED, "out of memory for a long line", err);
        l->buffer = grown;
        l->capacity *= 2;
    }
    int code = source_read(l->source, l->buffer + kept, l->capacity - kept, &got, err);
    l->is_last = code == BRAID_OK && got == 0;
    l->end = kept + got;
    return code;
}

int lines_init(struct lines *l, struct source *source, struct error *err)
{
    *l = (struct lines){.source = source, .capacity = FIRST_CAPACITY};
    l->buffer = malloc(FIRST_CAPACITY);
    if (l->buffer == NULL)
        return fail(l, BRAID_FAILED, "out of memory", err);
    while (l->end < 3 && !l->is_last) {
        int code = refill(l, err);
        if (code != BRAID_OK)
            return code;
    }
    if (l->end >= 3 && memcmp(l->buffer, "\xEF\xBB\xBF", 3) == 0)
        l->at = l->at_offset = 3;
    return BRAID_OK;
}

void lines_fini(struct lines *l)
{
    free(l->buffer);
    *l = (struct lines){0};
}

int lines_next(struct lines *l, bool *has_line, struct error *err)
{
    size_t looked = 0; /* bytes of this line that are known to hold no line end */
    const char *feed = NULL;
    *has_line = false;
    for (;;) {
        size_t waiting = l->end - l->at - looked;
        feed = waiting > 0 ? memchr(l->buffer + l->at + looked, '\n', waiting) : NULL;
        if (feed != NULL || l->is_last)
            break;
        looked = l->end - l->at;
        int code = refill(l, err);
        if (code != BRAID_OK)
            return code;
    }
    if (feed == NULL && l->at == l->end)
        return BRAID_OK;
    const char *text = l->buffer + l->at;
    size_t whole = feed != NULL ? (size_t)(feed - text) + 1 : l->end - l->at;
    size_t n = feed != NULL ? whole - 1 : whole;
    if (memchr(text, '\0', n) != NULL)
        return fail(l, BRAID_BAD_INPUT, "a NUL byte: the file is damaged, or its text is not UTF-8 (UTF-16?)", err);
    l->text = text;
    l->is_cut = feed == NULL;
    l->n = n > 0 && text[n - 1] == '\r' ? n - 1 : n;
    l->number++;
    l->offset = l->at_offset;
    l->at += whole;
    l->at_offset += whole;
    *has_line = true;
    return BRAID_OK;
}

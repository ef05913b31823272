#include "traces/json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, VALUE_LIMIT = 16 << 20 };

/* Bring `line` up to byte `until` of the block. */
static void count_lines(struct json *j, size_t until)
{
    if (until <= j->counted)
        return;
    const unsigned char *at = j->block + j->counted, *end = j->block + until;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        j->line++;
        at++;
    }
    j->counted = until;
}

uint64_t json_line(struct json *j)
{
    count_lines(j, yajl_get_bytes_consumed(j->yajl));
    return j->line;
}

static int fail(struct json *j, int code, const char *message)
{
    j->code = error_at(j->err, code, j->path, j->line > INT_MAX ? INT_MAX : (int)j->line, 0, "%s", message);
    return 0;
}

int json_refuse(struct json *j, const char *message)
{
    json_line(j);
    return fail(j, BRAID_BAD_INPUT, message);
}

int json_no_memory(struct json *j)
{
    return fail(j, BRAID_FAILED, "out of memory for reading JSON");
}

void json_value(struct json *j)
{
    j->n_values++;
}

int json_open(struct json *j)
{
    json_value(j);
    if (j->depth == j->max_depth) {
        char message[96];
        snprintf(message, sizeof message, "JSON nested more than %d levels deep", j->max_depth);
        return json_refuse(j, message);
    }
    j->depth++;
    return 1;
}

bool json_mentions(const char *text, size_t n, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = text, *end = text + n; (at = memmem(at, (size_t)(end - at), key, length)) != NULL; at++)
        if (at > text && at[-1] == '"' && at + length < end && at[length] == '"')
            return true;
    return false;
}

void json_close(struct json *j)
{
    j->depth--;
}

/* What YAJL says is wrong. `got`: bytes of the block; 0 behind the end of the file. */
static int malformed(struct json *j, size_t got)
{
    if (j->code != BRAID_OK)
        return j->code;
    size_t consumed = yajl_get_bytes_consumed(j->yajl);
    count_lines(j, consumed < got ? consumed : got);
    unsigned char *text = yajl_get_error(j->yajl, 0, j->block, got);
    const char *why = text != NULL ? (const char *)text : "it cannot be parsed";
    char message[256];
    bool is_at_end = got == 0;
    snprintf(message, sizeof message, "malformed JSON: %.*s%s", (int)strcspn(why, "\n"), why,
             is_at_end                                 ? "; the file is cut short"
             : strstr(why, "trailing garbage") != NULL ? "; is it JSON lines, or two files in one?"
                                                       : "");
    if (text != NULL)
        yajl_free_error(j->yajl, text);
    fail(j, BRAID_BAD_INPUT, message);
    return j->code;
}

static int parse_blocks(struct json *j, struct source *source, unsigned char *block)
{
    size_t without = 0; /* bytes since a value last began or ended */
    for (bool is_first = true;; is_first = false) {
        size_t got = 0, part = 1;
        while (got < 3 && part > 0) { /* a byte order mark has three */
            int code = source_read(source, block + got, BLOCK - got, &part, j->err);
            if (code != BRAID_OK)
                return code;
            got += part;
        }
        j->block = block;
        j->counted = 0;
        if (got == 0) {
            j->counted = SIZE_MAX; /* the block is done with: no more lines to count in it */
            return yajl_complete_parse(j->yajl) == yajl_status_ok ? BRAID_OK : malformed(j, 0);
        }
        if (is_first && got >= 3 && memcmp(block, "\xEF\xBB\xBF", 3) == 0) {
            j->block = block + 3;
            got -= 3;
        }
        uint64_t before = j->n_values;
        if (yajl_parse(j->yajl, j->block, got) != yajl_status_ok)
            return malformed(j, got);
        count_lines(j, got);
        without = j->n_values == before ? without + got : 0;
        if (without > VALUE_LIMIT) {
            fail(j, BRAID_BAD_INPUT, "a single JSON value of more than 16 MiB; is a quote left open?");
            return j->code;
        }
    }
}

int json_parse(struct json *j, const yajl_callbacks *callbacks, void *self, struct source *source, struct error *err)
{
    int max_depth = j->max_depth;
    bool is_many = j->is_many;
    *j = (struct json){.path = source->path, .err = err, .line = 1, .max_depth = max_depth, .is_many = is_many};
    unsigned char *block = malloc(BLOCK);
    j->yajl = yajl_alloc(callbacks, NULL, self);
    if (j->yajl != NULL)
        yajl_config(j->yajl, yajl_allow_multiple_values, j->is_many ? 1 : 0);
    int code = BRAID_OK;
    if (block != NULL && j->yajl != NULL)
        code = parse_blocks(j, source, block);
    else
        code = error_at(err, BRAID_FAILED, source->path, 0, 0, "out of memory for reading JSON");
    if (j->yajl != NULL)
        yajl_free(j->yajl);
    j->yajl = NULL;
    free(block);
    return code;
}

/* json.h - a JSON file that streams by (YAJL), for readers of formats in JSON.
 *
 * A reader gives callbacks and gets its own state back in them. Memory is bounded: nesting and the length of one value are limited, and
 * nothing of the text is kept. Errors have the line that the parser has reached.
 */
#ifndef TRACES_JSON_H
#define TRACES_JSON_H

#include "traces/source.h"

#include <stdint.h>
#include <yajl/yajl_parse.h>

struct json {
    yajl_handle yajl;
    const char *path; /* as errors show it */
    struct error *err;
    int code;      /* what a callback found wrong; BRAID_OK: nothing */
    int depth;     /* levels that are open; a reader's callbacks count them with json_open and json_close */
    int max_depth; /* of the format; more is an error */
    bool is_many;  /* several values one after the other, as in JSON lines */
    uint64_t n_values;
    /* the block being parsed, and how much of it is counted in `line` */
    const unsigned char *block;
    size_t counted;
    uint64_t line;
};

/* Parse all of `source`, calling `callbacks` with `self`. Set max_depth and is_many before; the rest is initialised here. */
int json_parse(struct json *j, const yajl_callbacks *callbacks, void *self, struct source *source, struct error *err);

/* The line at which the present value ends, from 1. */
uint64_t json_line(struct json *j);

/* In a callback: end the parse with BRAID_BAD_INPUT at this line, or for want of memory. They return 0, as the callback should. */
int json_refuse(struct json *j, const char *message);
int json_no_memory(struct json *j);

/* In each callback: a value or key has come. json_open (of an object or array) returns 0 where it is nested too deep. */
void json_value(struct json *j);
int json_open(struct json *j);
void json_close(struct json *j);

/* Is `"key"` among the `n` bytes of a file's beginning? For telling formats. */
bool json_mentions(const char *text, size_t n, const char *key);

#endif

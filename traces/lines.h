/* lines.h - the lines of a text, streaming: no allocation per line, for formats whose fields are not separated by commas.
 *
 * A byte order mark, CRLF and a last line without its end are understood. An error with the line: a NUL byte, a line of more than 64 MiB.
 */
#ifndef TRACES_LINES_H
#define TRACES_LINES_H

#include "traces/source.h"

#include <stdint.h>

struct lines {
    struct source *source; /* not owned */
    char *buffer;
    size_t capacity, at, end; /* buffer[at..end) is read and not yet handed out */
    bool is_last;             /* the source has no more */
    uint64_t at_offset;       /* of `at` in the stream */
    uint64_t number, offset;  /* of the present line: counted from 1, and where it begins in the stream */
    const char *text;         /* the present line without its end; valid until the next call */
    size_t n;
    bool is_cut; /* the present line ends with the file, without a line end */
};

/* Begin; `source` stands at its first byte. Free with lines_fini, also after an error. */
int lines_init(struct lines *l, struct source *source, struct error *err);
void lines_fini(struct lines *l);

/* The next line, blank or not. `*has_line` false: the end. */
int lines_next(struct lines *l, bool *has_line, struct error *err);

#endif

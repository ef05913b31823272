/* source.h - the bytes of a file, plain or gzip, as a stream.
 *
 * gzip is told by its first two bytes, never by the name. Several gzip members behind each other are one stream; one that is
 * cut short, fails its checksum or has something else behind it is an error, never a short file.
 */
#ifndef TRACES_SOURCE_H
#define TRACES_SOURCE_H

#include <braid/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

struct source {
    const char *path; /* as errors show it; not owned */
    int fd;
    char *memory; /* the content of a pipe, which cannot be rewound; NULL for a regular file */
    size_t memory_used, memory_at;
    bool is_gzip, is_end;
    bool has_inflate, in_member;
    z_stream inflate;
    unsigned char *packed; /* input block of inflate */
};

/* Open `path`; errors name it as `shown`, which must outlive the source. BRAID_BAD_INPUT: absent, a folder, unreadable. Free with
 * source_close, also after an error. */
int source_open(struct source *s, const char *path, const char *shown, struct error *err);
void source_close(struct source *s);

/* Read at most `room` (> 0) bytes; `*got` = 0 only at the end. */
int source_read(struct source *s, void *bytes, size_t room, size_t *got, struct error *err);

/* Start again with the first byte. */
int source_rewind(struct source *s, struct error *err);

#endif

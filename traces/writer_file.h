/* writer_file.h - text on its way to a file or a stream (base/outfile.h), plain or gzip. */
#ifndef TRACES_WRITER_FILE_H
#define TRACES_WRITER_FILE_H

#include <braid/error.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum { WRITER_HELD = 1 << 16 };

struct writer {
    int fd;
    gzFile gzip; /* NULL: plain */
    char held[WRITER_HELD];
    size_t used;
    int error; /* errno of the first failure; 0: none. Nothing more is written after one. */
};

/* Call `write_text` with `self` to fill `path`; gzip when it ends in ".gz", with bytes that depend on the text alone. BRAID_FAILED: the file
 * cannot be written, and is as it was; `path` may be "-", standard output. */
int writer_write(const char *path, void (*write_text)(struct writer *out, void *self), void *self, struct error *err);

void writer_put(struct writer *out, const char *text, size_t n);
void writer_put_text(struct writer *out, const char *text);
void writer_put_unsigned(struct writer *out, uint64_t v);
void writer_put_seconds(struct writer *out, int64_t ns);   /* "12.5": with no more digits than it has */
void writer_put_fraction(struct writer *out, uint64_t ns); /* ".5" of ns < 10^9; nothing for 0 */

#endif

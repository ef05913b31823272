#include "traces/writer_file.h"

#include "base/number.h"
#include "base/outfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ONE_VALUE = 64 };

static void flush_held(struct writer *out)
{
    size_t done = 0;
    while (out->error == 0 && done < out->used) {
        ssize_t n;
        if (out->gzip != NULL) {
            n = gzwrite(out->gzip, out->held + done, (unsigned)(out->used - done));
            if (n <= 0)
                out->error = errno != 0 ? errno : EIO;
        } else {
            n = write(out->fd, out->held + done, out->used - done);
            if (n < 0 && errno != EINTR)
                out->error = errno;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    out->used = 0;
}

void writer_put(struct writer *out, const char *text, size_t n)
{
    while (n > 0) {
        if (out->used == WRITER_HELD)
            flush_held(out);
        size_t part = n < WRITER_HELD - out->used ? n : WRITER_HELD - out->used;
        memcpy(out->held + out->used, text, part);
        out->used += part;
        text += part;
        n -= part;
    }
}

void writer_put_text(struct writer *out, const char *text)
{
    writer_put(out, text, strlen(text));
}

void writer_put_unsigned(struct writer *out, uint64_t v)
{
    char text[ONE_VALUE];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    writer_put(out, text + at, sizeof text - at);
}

/* A fraction of a second, ".5", with no more digits than it has; nothing for 0. */
void writer_put_fraction(struct writer *out, uint64_t ns)
{
    char text[10] = ".";
    if (ns == 0)
        return;
    for (int i = 9; i >= 1; i--, ns /= 10)
        text[i] = (char)('0' + ns % 10);
    size_t n = sizeof text;
    while (text[n - 1] == '0')
        n--;
    writer_put(out, text, n);
}

void writer_put_seconds(struct writer *out, int64_t ns)
{
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        writer_put(out, "-", 1);
    writer_put_unsigned(out, v / NS_PER_S);
    writer_put_fraction(out, v % NS_PER_S);
}

/* Compressed at level 6 with no name and no time in the header, so that the bytes depend on the text alone. */
static void write_file(struct writer *out, void (*write_text)(struct writer *out, void *self), void *self, bool is_gzip)
{
    int copy = is_gzip ? dup(out->fd) : -1;
    if (is_gzip) {
        out->gzip = copy >= 0 ? gzdopen(copy, "wb6") : NULL;
        if (out->gzip == NULL) {
            out->error = errno != 0 ? errno : ENOMEM;
            if (copy >= 0)
                close(copy);
            return;
        }
    }
    write_text(out, self);
    flush_held(out);
    if (out->gzip != NULL && gzclose(out->gzip) != Z_OK && out->error == 0)
        out->error = errno != 0 ? errno : EIO;
}

int writer_write(const char *path, void (*write_text)(struct writer *out, void *self), void *self, struct error *err)
{
    size_t n = strlen(path);
    struct writer *out = calloc(1, sizeof *out);
    struct outfile file;
    if (out == NULL)
        return error_set(err, BRAID_FAILED, "out of memory for writing %s", path);
    int code = outfile_open(&file, path, err);
    if (code == BRAID_OK) {
        out->fd = file.fd;
        write_file(out, write_text, self, n > 3 && strcmp(path + n - 3, ".gz") == 0);
        code = outfile_close(&file, BRAID_OK, out->error, err);
    }
    free(out);
    return code;
}

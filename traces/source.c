#include "traces/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_BLOCK = 1 << 18, GZIP_WINDOW = 15 + 16 };

static int failed(const struct source *s, struct error *err, const char *what)
{
    return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0, "%s", what);
}

static int fetch_fd(struct source *s, void *bytes, size_t room, size_t *got, struct error *err)
{
    ssize_t n;
    do
        n = read(s->fd, bytes, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0, "cannot be read: %s", strerror(errno));
    *got = (size_t)n;
    return BRAID_OK;
}

/* The bytes as they are in the file. */
static int fetch(struct source *s, void *bytes, size_t room, size_t *got, struct error *err)
{
    if (s->memory == NULL)
        return fetch_fd(s, bytes, room, got, err);
    size_t n = s->memory_used - s->memory_at;
    *got = n < room ? n : room;
    memcpy(bytes, s->memory + s->memory_at, *got);
    s->memory_at += *got;
    return BRAID_OK;
}

static int keep_pipe(struct source *s, struct error *err)
{
    size_t room = (size_t)1 << 20, used = 0;
    char *memory = malloc(room);
    for (size_t got = 1; memory != NULL && got > 0; used += got) {
        if (used == room) {
            room *= 2;
            char *grown = realloc(memory, room);
            if (grown == NULL)
                free(memory);
            memory = grown;
            if (memory == NULL)
                break;
        }
        int code = fetch_fd(s, memory + used, room - used, &got, err);
        if (code != BRAID_OK) {
            free(memory);
            return code;
        }
    }
    if (memory == NULL)
        return error_at(err, BRAID_FAILED, s->path, 0, 0, "out of memory: a pipe is kept whole; use a file");
    s->memory = memory;
    s->memory_used = used;
    return BRAID_OK;
}

int source_open(struct source *s, const char *path, const char *shown, struct error *err)
{
    *s = (struct source){.path = shown, .fd = -1};
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) {
        int why = errno;
        bool is_elsewhere = strcmp(path, shown) != 0;
        return error_at(err, BRAID_BAD_INPUT, shown, 0, 0, "cannot be opened%s%s%s: %s", is_elsewhere ? " (as " : "",
                        is_elsewhere ? path : "", is_elsewhere ? ")" : "", strerror(why));
    }
    struct stat st;
    if (fstat(s->fd, &st) != 0)
        return error_at(err, BRAID_BAD_INPUT, shown, 0, 0, "cannot be opened: %s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return failed(s, err, "is a folder; name a file");
    int code = S_ISREG(st.st_mode) ? BRAID_OK : keep_pipe(s, err);
    return code == BRAID_OK ? source_rewind(s, err) : code;
}

void source_close(struct source *s)
{
    if (s->has_inflate)
        inflateEnd(&s->inflate);
    if (s->fd >= 0)
        close(s->fd);
    free(s->memory);
    free(s->packed);
    *s = (struct source){.fd = -1};
}

int source_rewind(struct source *s, struct error *err)
{
    s->memory_at = 0;
    s->is_end = false;
    if (s->memory == NULL && lseek(s->fd, 0, SEEK_SET) != 0)
        return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0, "cannot be read again: %s", strerror(errno));
    if (s->packed == NULL)
        s->packed = malloc(PACKED_BLOCK);
    if (s->packed == NULL)
        return error_at(err, BRAID_FAILED, s->path, 0, 0, "out of memory");
    size_t used = 0, got = 1;
    while (used < 2 && got > 0) {
        if (fetch(s, s->packed + used, 2 - used, &got, err) != BRAID_OK)
            return BRAID_BAD_INPUT;
        used += got;
    }
    s->is_gzip = used == 2 && s->packed[0] == 0x1f && s->packed[1] == 0x8b;
    if (!s->is_gzip) {
        s->memory_at = 0;
        return s->memory != NULL || lseek(s->fd, 0, SEEK_SET) == 0
                   ? BRAID_OK
                   : failed(s, err, "cannot be read from its beginning");
    }
    int code = s->has_inflate ? inflateReset(&s->inflate) : inflateInit2(&s->inflate, GZIP_WINDOW);
    if (code != Z_OK)
        return error_at(err, BRAID_FAILED, s->path, 0, 0, "out of memory for unpacking gzip");
    s->has_inflate = true;
    s->in_member = true;
    s->inflate.next_in = s->packed;
    s->inflate.avail_in = 2;
    return BRAID_OK;
}

/* Behind a member: another one, padding of zeros, or the end. */
static int next_member(struct source *s, struct error *err)
{
    while (s->inflate.avail_in > 0 && *s->inflate.next_in == 0) {
        s->inflate.next_in++;
        s->inflate.avail_in--;
    }
    if (s->inflate.avail_in == 0)
        return BRAID_OK;
    if (*s->inflate.next_in != 0x1f)
        return failed(s, err, "has something that is not gzip behind its gzip data; unpack it by hand and look");
    if (inflateReset(&s->inflate) != Z_OK)
        return error_at(err, BRAID_FAILED, s->path, 0, 0, "gzip cannot be unpacked any further");
    s->in_member = true;
    return BRAID_OK;
}

static int unpack(struct source *s, void *bytes, size_t room, size_t *got, struct error *err)
{
    z_stream *z = &s->inflate;
    uInt out = room > (1u << 30) ? 1u << 30 : (uInt)room;
    z->next_out = bytes;
    z->avail_out = out;
    while (z->avail_out == out && !s->is_end) {
        if (z->avail_in == 0) {
            size_t n;
            if (fetch(s, s->packed, PACKED_BLOCK, &n, err) != BRAID_OK)
                return BRAID_BAD_INPUT;
            z->next_in = s->packed;
            z->avail_in = (uInt)n;
            if (n == 0 && s->in_member)
                return failed(s, err, "is cut short: the gzip data end in the middle; fetch the file again");
            s->is_end = n == 0;
        }
        if (!s->in_member) {
            if (next_member(s, err) != BRAID_OK)
                return BRAID_BAD_INPUT;
            continue;
        }
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return error_at(err, BRAID_FAILED, s->path, 0, 0, "out of memory for unpacking gzip");
        if (code == Z_STREAM_END)
            s->in_member = false;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return error_at(err, BRAID_BAD_INPUT, s->path, 0, 0,
                            "is damaged: the gzip data cannot be unpacked (%s); fetch the file again",
                            z->msg != NULL ? z->msg : "bad data");
    }
    *got = out - z->avail_out;
    return BRAID_OK;
}

int source_read(struct source *s, void *bytes, size_t room, size_t *got, struct error *err)
{
    *got = 0;
    return s->is_gzip ? unpack(s, bytes, room, got, err) : fetch(s, bytes, room, got, err);
}

#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* Where a name leads. */
struct place {
    char *path;  /* links followed */
    int fd;      /* of this process, where the name stands for an open descriptor; else -1 */
    mode_t type; /* S_IFMT; 0: nothing is there yet */
};

static int fail(const char *shown, int number, struct error *err)
{
    char text[128];
    return error_at(err, BRAID_FAILED, shown, 0, 0, "cannot be written: %s", strerror_r(number, text, sizeof text));
}

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

/* N of "/dev/fd/N" and "/proc/self/fd/N", else -1. Such a name cannot be replaced, and opening it anew would begin at the file's start. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9')
            continue;
        char *end;
        long fd = strtol(path + n, &end, 10);
        if (*end == '\0' && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* The name that the link `path` holds, as seen from the link's folder; NULL with errno. */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return NULL;
    target[n] = '\0';
    const char *slash = strrchr(path, '/');
    size_t folder = target[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - path);
    char *out = malloc(folder + (size_t)n + 1);
    if (out == NULL)
        return NULL;
    memcpy(out, path, folder);
    memcpy(out + folder, target, (size_t)n + 1);
    return out;
}

/* Follow `path`; place->path is to be freed, NULL on errors. */
static int place_find(struct place *place, const char *path, struct error *err)
{
    *place = (struct place){.fd = -1};
    if (strcmp(path, "-") == 0) {
        place->fd = STDOUT_FILENO;
        place->path = strdup(path);
        return place->path != NULL ? BRAID_OK : out_of_memory(err);
    }
    if (path[0] == '\0')
        return error_set(err, BRAID_FAILED, "the name of the output is empty; name a file");
    char *at = strdup(path);
    struct stat st;
    for (int links = 0; at != NULL; links++) {
        place->fd = descriptor_of(at);
        if (place->fd >= 0)
            break;
        if (lstat(at, &st) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) /* opening it will tell which folder is missing */
                break;
            int code = fail(path, errno, err);
            free(at);
            return code;
        }
        if (!S_ISLNK(st.st_mode)) {
            place->type = st.st_mode & S_IFMT;
            break;
        }
        char *next = links < LINKS_MAX ? link_target(at) : NULL;
        if (next == NULL) {
            int code = fail(path, links < LINKS_MAX ? errno : ELOOP, err);
            free(at);
            return code;
        }
        free(at);
        at = next;
    }
    if (at == NULL)
        return out_of_memory(err);
    if (place->fd < 0 && place->type == S_IFDIR) {
        free(at);
        return error_at(err, BRAID_FAILED, path, 0, 0, "is a folder; name a file in it");
    }
    place->path = at;
    return BRAID_OK;
}

static bool is_stream(const struct place *place)
{
    return place->fd >= 0 || (place->type != 0 && place->type != S_IFREG);
}

/* A new file beside `path`: nothing that is there is touched, not even a link. */
static int beside_open(struct outfile *f)
{
    for (int k = 0; k < 100; k++) {
        char *name;
        int n = k == 0 ? asprintf(&name, "%s.part-%ld", f->path, (long)getpid())
                       : asprintf(&name, "%s.part-%ld.%d", f->path, (long)getpid(), k);
        if (n < 0) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) {
            f->beside = name;
            return fd;
        }
        free(name);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static void release(struct outfile *f)
{
    free(f->shown);
    free(f->path);
    free(f->beside);
    *f = (struct outfile){.fd = -1};
}

int outfile_open(struct outfile *f, const char *path, struct error *err)
{
    struct place place;
    *f = (struct outfile){.fd = -1};
    int code = place_find(&place, path, err);
    if (code != BRAID_OK)
        return code;
    f->shown = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    if (f->shown == NULL) {
        free(place.path);
        return out_of_memory(err);
    }
    if (place.fd >= 0)
        f->fd = fcntl(place.fd, F_DUPFD_CLOEXEC, 3);
    else if (is_stream(&place))
        f->fd = open(place.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    else {
        f->path = place.path;
        place.path = NULL;
        f->fd = beside_open(f);
    }
    if (f->fd < 0) {
        code = fail(f->shown, errno, err);
        release(f);
    }
    free(place.path);
    return code;
}

int outfile_close(struct outfile *f, int code, int write_errno, struct error *err)
{
    int why = write_errno;
    /* A pipe or a device has nothing to sync. */
    if (code == BRAID_OK && why == 0 && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
        why = errno;
    if (close(f->fd) != 0 && why == 0)
        why = errno;
    if (f->beside != NULL && code == BRAID_OK && why == 0 && rename(f->beside, f->path) != 0)
        why = errno;
    if (f->beside != NULL && (code != BRAID_OK || why != 0))
        unlink(f->beside);
    if (code == BRAID_OK && why != 0)
        code = fail(f->shown, why, err);
    release(f);
    return code;
}

char *outfile_regular(const char *path, struct error *err)
{
    struct place place;
    if (place_find(&place, path, err) != BRAID_OK)
        return NULL;
    if (!is_stream(&place))
        return place.path;
    free(place.path);
    error_at(err, BRAID_BAD_INPUT, path, 0, 0,
             "is %s, but results need a regular file; name one with -o, such as out.h5",
             place.fd >= 0            ? "an open stream"
             : place.type == S_IFIFO  ? "a pipe"
             : place.type == S_IFSOCK ? "a socket"
                                      : "a device");
    return NULL;
}

bool outfile_is_stdout(const char *path)
{
    struct place place;
    bool is_it = place_find(&place, path, NULL) == BRAID_OK && place.fd == STDOUT_FILENO;
    free(place.path);
    return is_it;
}

bool outfile_is_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int outfile_refuse_input(const char *output, const char *input, struct error *err)
{
    if (input == NULL || strcmp(output, "-") == 0 || descriptor_of(output) >= 0 || !outfile_is_same(output, input))
        return BRAID_OK;
    return error_at(err, BRAID_BAD_INPUT, output, 0, 0,
                    "the output would replace %s%s%s; choose another name for the output",
                    strcmp(output, input) == 0 ? "a file that is read" : "the file '",
                    strcmp(output, input) == 0 ? "" : input, strcmp(output, input) == 0 ? "" : "' that is read");
}

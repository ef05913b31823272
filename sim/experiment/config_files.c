#include "experiment/config_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool config_files_init(struct config_files *f, const char *config_path, struct arena *arena)
{
    *f = (struct config_files){.arena = arena};
    names_init(&f->shown);
    const char *slash = strrchr(config_path, '/');
    f->folder = arena_text(arena, config_path, slash != NULL ? (size_t)(slash + 1 - config_path) : 0);
    return f->folder != NULL;
}

void config_files_fini(struct config_files *f)
{
    names_fini(&f->shown);
    free(f->files);
    *f = (struct config_files){0};
}

struct config_file *config_files_at(struct config_files *f, const char *shown)
{
    uint32_t known = f->shown.count;
    uint32_t id = names_add(&f->shown, shown, strlen(shown));
    if (id == NAMES_NONE)
        return NULL;
    if (id < known)
        return f->files[id];
    if (id >= f->capacity) {
        uint32_t capacity = id * 2 + 16;
        struct config_file **grown = realloc(f->files, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        f->files = grown;
        f->capacity = capacity;
    }
    size_t n_folder = shown[0] == '/' ? 0 : strlen(f->folder), n = strlen(shown);
    struct config_file *file = ARENA_NEW(f->arena, struct config_file, 1);
    char *path = arena_alloc(f->arena, n_folder + n + 1, 1);
    if (file == NULL || path == NULL)
        return NULL;
    memcpy(path, f->folder, n_folder);
    memcpy(path + n_folder, shown, n);
    file->path = path;
    f->files[id] = file;
    return file;
}

/* "cannot open 'x' (dir/x)": the path as written, and where it was looked for when that is elsewhere. */
static int fail_file(const struct config_file *file, const char *shown, struct config_place place, const char *what,
                     const char *why, struct error *err)
{
    bool is_elsewhere = strcmp(file->path, shown) != 0;
    return config_fail(err, place, "%s '%s'%s%s%s%s%s", what, shown, is_elsewhere ? " (" : "",
                       is_elsewhere ? file->path : "", is_elsewhere ? ")" : "", why[0] != '\0' ? ": " : "", why);
}

int config_files_digest(struct config_file *file, const char *shown, struct config_place place, struct error *err)
{
    if (file->hex[0] != '\0')
        return BRAID_OK;
    struct stat st;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would hang */
    if (fd < 0)
        return fail_file(file, shown, place, "cannot open", strerror(errno), err);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fail_file(file, shown, place, "cannot read", "it is not a file", err);
    }
    struct digest d;
    uint8_t bytes[DIGEST_BYTES], buffer[16384];
    ssize_t got;
    digest_init(&d);
    while ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            digest_add_bytes(&d, buffer, (size_t)got);
    int problem = errno;
    close(fd);
    if (got < 0)
        return fail_file(file, shown, place, "cannot read", strerror(problem), err);
    digest_final(&d, bytes);
    digest_hex(bytes, DIGEST_BYTES, file->hex);
    return BRAID_OK;
}

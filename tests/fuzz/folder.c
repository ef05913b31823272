#include "folder.h"

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 16, PATH_ROOM = 300 };

static char folder[PATH_ROOM - 64];
static char paths[PATHS][PATH_ROOM];
static pid_t owner;

static void folder_destroy(void)
{
    DIR *d = getpid() == owner ? opendir(folder) : NULL;
    if (d == NULL)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(folder);
}

static void folder_create(void)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || strlen(base) > sizeof folder - 32)
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/braid-fuzz-XXXXXX", base);
    fuzz_assert(mkdtemp(folder) != NULL, "%s: %s", folder, strerror(errno));
    owner = getpid();
    atexit(folder_destroy);
}

const char *folder_path(const char *name)
{
    if (folder[0] == '\0')
        folder_create();
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int i = 0; i < PATHS; i++) {
        if (paths[i][0] == '\0')
            memcpy(paths[i], path, sizeof path);
        if (strcmp(paths[i], path) == 0)
            return paths[i];
    }
    fuzz_fail(__FILE__, __LINE__, "room", "more than %d names of files", PATHS);
}

const char *folder_file(const char *name, struct bytes content)
{
    const char *path = folder_path(name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    fuzz_assert(fd >= 0, "%s: %s", path, strerror(errno));
    for (size_t done = 0; done < content.left;) {
        ssize_t n = write(fd, content.at + done, content.left - done);
        fuzz_assert(n > 0, "%s: %s", path, strerror(errno));
        done += (size_t)n;
    }
    close(fd);
    return path;
}

void folder_remove(const char *name)
{
    unlink(folder_path(name));
}

uint8_t *folder_read(const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fuzz_assert(fd >= 0 && fstat(fd, &st) == 0, "%s: %s", path, strerror(errno));
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    fuzz_assert(bytes != NULL, "out of memory for %s", path);
    *n = 0;
    for (ssize_t got; (got = read(fd, bytes + *n, (size_t)st.st_size - *n)) > 0;)
        *n += (size_t)got;
    close(fd);
    return bytes;
}

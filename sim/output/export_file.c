#include "output/export_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int export_file_open(struct export_file *f, const char *path, FILE *stream, struct error *err)
{
    *f = (struct export_file){.out = stream};
    if (path == NULL)
        return BRAID_OK;
    f->path = strdup(path);
    if (f->path == NULL || asprintf(&f->beside, "%s.part-%ld", path, (long)getpid()) < 0) {
        free(f->path);
        *f = (struct export_file){0};
        return error_set(err, BRAID_FAILED, "out of memory");
    }
    f->out = fopen(f->beside, "w");
    if (f->out != NULL)
        return BRAID_OK;
    int code = error_at(err, BRAID_FAILED, path, 0, 0, "cannot be written: %s", strerror(errno));
    free(f->path);
    free(f->beside);
    *f = (struct export_file){0};
    return code;
}

int export_file_close(struct export_file *f, int code, struct error *err)
{
    if (f->path == NULL) {
        *f = (struct export_file){0};
        return code;
    }
    errno = 0;
    bool ok = fflush(f->out) == 0 && !ferror(f->out);
    if (ok && code == BRAID_OK && fsync(fileno(f->out)) != 0)
        ok = errno == EINVAL || errno == EROFS; /* a pipe or device, which has nothing to sync */
    int why = errno;
    if (fclose(f->out) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && code == BRAID_OK && rename(f->beside, f->path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok || code != BRAID_OK)
        unlink(f->beside);
    if (code == BRAID_OK && !ok)
        code = error_at(err, BRAID_FAILED, f->path, 0, 0, "cannot be written: %s",
                        why != 0 ? strerror(why) : "the disk may be full");
    free(f->path);
    free(f->beside);
    *f = (struct export_file){0};
    return code;
}

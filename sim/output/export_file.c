#include "output/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int export_file_open(struct export_file *f, const char *path, FILE *stream, struct error *err)
{
    *f = (struct export_file){.out = stream, .is_ours = path != NULL};
    if (path == NULL)
        return BRAID_OK;
    int code = outfile_open(&f->file, path, err);
    if (code != BRAID_OK)
        return code;
    int copy = fcntl(f->file.fd, F_DUPFD_CLOEXEC, 3);
    f->out = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (f->out != NULL)
        return BRAID_OK;
    int why = errno != 0 ? errno : ENOMEM;
    if (copy >= 0)
        close(copy);
    return outfile_close(&f->file, BRAID_OK, why, err);
}

int export_file_close(struct export_file *f, int code, struct error *err)
{
    if (!f->is_ours) {
        *f = (struct export_file){0};
        return code;
    }
    errno = 0;
    bool ok = fflush(f->out) == 0 && !ferror(f->out);
    int why = ok ? 0 : errno != 0 ? errno : EIO;
    if (fclose(f->out) != 0 && why == 0)
        why = errno;
    code = outfile_close(&f->file, code, why, err);
    *f = (struct export_file){0};
    return code;
}

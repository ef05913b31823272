#include "output/results_writer.h"

#include "base/check.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct results_writer *w, int number, struct error *err)
{
    char text[128];
    const char *what = strerror_r(number, text, sizeof text);
    const char *mend = number == ENOSPC || number == EDQUOT
                           ? "; make room there and run again (braid run --resume keeps what is stored)"
                       : number == EFBIG  ? "; the limit on the size of files (ulimit -f) is too low"
                       : number == ENOENT ? "; make the folder first"
                       : number == EACCES || number == EROFS || number == EPERM ? "; choose another place with -o"
                                                                                : "";
    return error_at(err, BRAID_FAILED, w->path, 0, 0, "cannot write: %s%s", what, mend);
}

/* Open PATH.tmp and take it for this process alone. A leftover of a killed process is used again. The name may be renamed away by another
 * process between our open and our lock: then what we hold is that one's finished file, and we try anew. */
static int temporary_open(struct results_writer *w, struct error *err)
{
    for (;;) {
        int fd = open(w->temporary, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return fail(w, errno, err);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            return error_at(err, BRAID_FAILED, w->path, 0, 0, "another braid is writing this file; wait for it to end");
        }
        struct stat mine, named;
        if (fstat(fd, &mine) == 0 && stat(w->temporary, &named) == 0 && mine.st_ino == named.st_ino &&
            mine.st_dev == named.st_dev) {
            w->disk.fd = fd;
            if (ftruncate(fd, 0) == 0)
                return 0;
            return fail(w, errno, err);
        }
        close(fd);
    }
}

static const char producer[] = "braid " BRAID_VERSION; /* from meson.build */

static bool attributes_write(hid_t file)
{
    const uint32_t schema = RESULTS_SCHEMA;
    const struct column_spec text = {.type = COLUMN_TEXT};
    hid_t space = H5Screate(H5S_SCALAR), type = column_type_create(&text, sizeof producer - 1);
    hid_t a = H5Acreate2(file, "schema", H5T_NATIVE_UINT32, space, H5P_DEFAULT, H5P_DEFAULT);
    hid_t b = H5Acreate2(file, "producer", type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = a >= 0 && b >= 0 && H5Awrite(a, H5T_NATIVE_UINT32, &schema) >= 0 && H5Awrite(b, type, producer) >= 0;
    if (a >= 0)
        ok &= H5Aclose(a) >= 0;
    if (b >= 0)
        ok &= H5Aclose(b) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    return ok;
}

static void paths_free(struct results_writer *w)
{
    free(w->temporary);
    free(w->place);
    w->temporary = w->place = NULL;
}

int results_writer_open(struct results_writer *w, const char *path, struct error *err)
{
    *w = (struct results_writer){.path = path, .disk.fd = -1, .file = -1, .driver = -1, .group = -1};
    w->place = outfile_regular(path, err);
    if (w->place == NULL)
        return err != NULL ? err->code : BRAID_FAILED;
    if (asprintf(&w->temporary, "%s.tmp", w->place) < 0) {
        w->temporary = NULL;
        paths_free(w);
        return fail(w, ENOMEM, err);
    }
    int status = temporary_open(w, err);
    if (status != 0) {
        if (w->disk.fd >= 0)
            close(w->disk.fd);
        paths_free(w);
        return status;
    }
    H5E_BEGIN_TRY
    {
        w->file = results_driver_create(&w->disk, &w->driver);
        if (w->file < 0)
            w->broken = "a file cannot be created";
        else if (!attributes_write(w->file))
            w->broken = "an attribute cannot be written";
    }
    H5E_END_TRY
    return 0;
}

static void remember(struct results_writer *w, const char *failed)
{
    if (failed == NULL)
        return;
    if (strcmp(failed, "memory") == 0)
        w->is_short = true;
    else if (w->broken == NULL)
        w->broken = failed;
}

bool results_writer_has_failed(const struct results_writer *w)
{
    return w->broken != NULL || w->is_short || w->disk.error != 0;
}

/* Columns are listed in their order, and links stay in the group's header: a few dozen columns need no index. */
static hid_t group_create(hid_t file, const char *name)
{
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE), group = -1;
    if (properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0 &&
        H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_link_phase_change(properties, 1024, 512) >= 0)
        group = H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0)
        H5Pclose(properties);
    return group;
}

void results_writer_table(struct results_writer *w, const char *name, const struct column_spec *columns,
                          const size_t *widths, uint32_t n_columns, uint64_t rows)
{
    require(w->columns == NULL, "table %s begins inside another", name);
    if (results_writer_has_failed(w))
        return;
    w->columns = calloc(n_columns, sizeof *w->columns);
    if (w->columns == NULL) {
        w->is_short = true;
        return;
    }
    H5E_BEGIN_TRY
    {
        w->group = group_create(w->file, name);
        if (w->group < 0)
            remember(w, "a group cannot be created");
        for (uint32_t i = 0; i < n_columns && !results_writer_has_failed(w); i++) {
            w->n_columns = i + 1; /* a column that failed is still to be released */
            remember(w, column_init(&w->columns[i], w->group, &columns[i], widths[i], rows));
        }
    }
    H5E_END_TRY
}

void results_writer_push(struct results_writer *w, uint32_t column, const void *values, uint32_t n)
{
    if (results_writer_has_failed(w))
        return;
    H5E_BEGIN_TRY
    {
        remember(w, column_push(&w->columns[column], values, n, &w->scratch));
    }
    H5E_END_TRY
}

/* Release the columns of the open table, whatever state they are in. */
static void table_close(struct results_writer *w)
{
    H5E_BEGIN_TRY
    {
        for (uint32_t i = 0; i < w->n_columns; i++)
            remember(w, column_fini(&w->columns[i]));
        if (w->group >= 0 && H5Gclose(w->group) < 0)
            remember(w, "a group cannot be closed");
    }
    H5E_END_TRY
    free(w->columns);
    w->columns = NULL;
    w->n_columns = 0;
    w->group = -1;
}

void results_writer_end(struct results_writer *w)
{
    if (!results_writer_has_failed(w))
        for (uint32_t i = 0; i < w->n_columns; i++)
            require(w->columns[i].at == w->columns[i].rows, "column %s ends at row %llu of %llu",
                    w->columns[i].spec.name, (unsigned long long)w->columns[i].at,
                    (unsigned long long)w->columns[i].rows);
    table_close(w);
}

/* Close the HDF5 file and what hangs on it; the descriptor stays. */
static void file_close(struct results_writer *w)
{
    table_close(w);
    H5E_BEGIN_TRY
    {
        if (w->file >= 0 && H5Fclose(w->file) < 0)
            remember(w, "the file cannot be closed");
        results_driver_release(w->driver);
    }
    H5E_END_TRY
    w->file = w->driver = -1;
    free(w->scratch.shuffled);
    free(w->scratch.packed);
    w->scratch = (struct column_scratch){0};
}

const char *results_producer(void)
{
    return producer;
}

int folder_sync(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (folder == NULL)
        return ENOMEM;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* a folder that may be written but not read cannot be synced */
    int number = fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
    close(fd);
    return number;
}

int results_writer_commit(struct results_writer *w, struct error *err)
{
    file_close(w);
    int number = w->disk.error;
    if (number == 0 && w->is_short)
        number = ENOMEM;
    if (number == 0 && w->broken == NULL && fsync(w->disk.fd) != 0)
        number = errno;
    if (number == 0 && w->broken == NULL && rename(w->temporary, w->place) != 0)
        number = errno;
    int status = 0;
    if (number != 0)
        status = fail(w, number, err);
    else if (w->broken != NULL)
        status = error_at(err, BRAID_FAILED, w->path, 0, 0, "HDF5: %s", w->broken);
    if (status != 0)
        unlink(w->temporary); /* still locked: it is ours */
    close(w->disk.fd);
    if (status == 0 && (number = folder_sync(w->place)) != 0)
        status = fail(w, number, err);
    paths_free(w);
    return status;
}

void results_writer_abort(struct results_writer *w)
{
    file_close(w);
    unlink(w->temporary);
    close(w->disk.fd);
    paths_free(w);
}

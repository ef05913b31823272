/* outfile.h - where an output goes, and how it gets there without destroying anything else.
 *
 *     "-", /dev/stdout, /dev/fd/N         the open descriptor, written through
 *     a device, a fifo, a socket          opened and written through; it stays what it is
 *     a symbolic link                     followed: what it leads to is replaced, the link stays
 *     a regular file, or nothing yet      PATH.part-N beside it ──fsync, rename──▶ PATH: whole or as it was
 *     a folder                            an error
 *
 * Every file that braid writes for its user goes through here; results files (HDF5), which need a regular file, ask outfile_regular
 * where to put theirs.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <braid/error.h>
#include <stdbool.h>

struct outfile {
    int fd;       /* to write to */
    char *shown;  /* the name as given, for messages */
    char *path;   /* links followed; NULL: a stream */
    char *beside; /* NULL: a stream */
};

/* BRAID_FAILED: a folder, no such folder, no permission, out of memory. After an error there is nothing to close. A fifo waits for its
 * reader, as everywhere. */
int outfile_open(struct outfile *f, const char *path, struct error *err);

/* With `code` 0: sync and rename; BRAID_FAILED when that cannot be done, and then nothing is left beside. `write_errno` is that of a
 * write that failed, 0: all were done. With another code: remove what was written and return it. */
int outfile_close(struct outfile *f, int code, int write_errno, struct error *err);

/* The regular file, there or not yet there, to which `path` leads, links followed (to free). NULL with BRAID_BAD_INPUT for a stream ("a
 * results file needs a regular file"), BRAID_FAILED as in outfile_open. */
char *outfile_regular(const char *path, struct error *err);

/* Is `path` standard output: "-", or a name that leads to its descriptor? */
bool outfile_is_stdout(const char *path);

/* Are `a` and `b` the same existing regular file, by device and inode? */
bool outfile_is_same(const char *a, const char *b);

/* BRAID_BAD_INPUT when writing `output` would destroy `input` (which may be NULL). */
int outfile_refuse_input(const char *output, const char *input, struct error *err);

#endif

/* export_file.h - a text or picture on its way to where the user wants it (base/outfile.h), as a stream. */
#ifndef OUTPUT_EXPORT_FILE_H
#define OUTPUT_EXPORT_FILE_H

#include "base/outfile.h"

#include <stdio.h>

struct export_file {
    FILE *out;
    struct outfile file;
    bool is_ours; /* else `out` is the caller's and stays open */
};

/* Open `path` for writing, or take `stream` when `path` is NULL. BRAID_FAILED as outfile_open. */
int export_file_open(struct export_file *f, const char *path, FILE *stream, struct error *err);

/* With `code` 0: flush, sync and rename; BRAID_FAILED when anything could not be written (a full disk), and then nothing is left.
 * With another code: remove what was written and return it. The caller's stream is left to the caller, who knows whether a closed pipe
 * is an error. */
int export_file_close(struct export_file *f, int code, struct error *err);

#endif

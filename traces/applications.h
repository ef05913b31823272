/* applications.h - how long the jobs of a trace run that names applications and no durations: a table by application, GPUs and batch size.
 *
 * A reader brings a table of its own (published measurements); a csv file, `trace.applications`, goes before it:
 *
 *     application,gpus,batch_size,seconds,steps_per_s
 *     cifar10,,,3600,                  one hour, whatever the GPUs and the batch
 *     ResNet-18,2,16,,100.1            steps of the row / 100.1
 *
 * Each row has an application and one of seconds and steps_per_s; an empty gpus or batch_size stands for any. Of the rows that fit a job
 * the file's go before the reader's, then those that name the GPUs, then those that name the batch size, then the earlier one.
 */
#ifndef TRACES_APPLICATIONS_H
#define TRACES_APPLICATIONS_H

#include "base/names.h"

#include <braid/error.h>
#include <stdbool.h>
#include <stdint.h>

struct application {
    const char *name;     /* NULL ends a table */
    uint32_t gpus, batch; /* 0: any */
    double seconds;       /* > 0, or 0 where … */
    double steps_per_s;   /* … this is > 0 */
};

struct applications {
    struct application *rows; /* of the file; their names are in `names` */
    uint32_t n_rows, room;
    const struct application *defaults; /* not owned; NULL: none */
    struct names names;
};

/* Begin with a reader's table, and with a file's unless `path` is NULL (errors name it as `shown`). BRAID_BAD_INPUT with file and line:
 * a column that is missing or unknown, a row without an application or with a number out of range. Free with applications_fini, also
 * after an error. */
int applications_init(struct applications *a, const struct application *defaults, const char *path, const char *shown,
                      struct error *err);
void applications_fini(struct applications *a);

/* The run time of a job of `steps` steps (WORKLOAD_ABSENT: not known): false where no row fits it, or it does not fit in 64 bits. */
bool applications_length(const struct applications *a, const char *name, size_t n, uint64_t gpus, uint32_t batch,
                         int64_t steps, int64_t *ns);

#endif

/* results_driver.h - an HDF5 file driver that writes to a descriptor and never fails in the middle.
 *
 * HDF5 does not survive a full disk: after a failed write its caches can no longer be flushed, closing fails half-way, and the
 * library stumbles over the open file again at exit. This driver keeps the first error (errno) of a write and from then on only
 * pretends to write. HDF5 closes cleanly, and the caller asks what happened. The file that comes out has HDF5's default
 * layout; any HDF5 reads it.
 */
#ifndef OUTPUT_RESULTS_DRIVER_H
#define OUTPUT_RESULTS_DRIVER_H

#include <hdf5.h>
#include <stdint.h>

/* The file under a driver; `fd` is the caller's, open for reading and writing, empty. */
struct results_disk {
    int fd;
    int error;     /* errno of the first write that failed; 0 = none */
    uint64_t size; /* bytes written so far: the end of the file */
};

/* Create an HDF5 file on `disk`, which must outlive it. `*driver` is to be closed with results_driver_release after H5Fclose.
 * Returns the file, or a negative number. */
hid_t results_driver_create(struct results_disk *disk, hid_t *driver);
void results_driver_release(hid_t driver);

#endif

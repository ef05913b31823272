#include "output/results_driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* What HDF5 holds: its own part first. */
struct stream {
    H5FD_t head;
    struct results_disk *disk;
    haddr_t allocated; /* end of what HDF5 has given out */
};

/* The property list carries a pointer to the disk. */
struct driver_info {
    struct results_disk *disk;
};

static H5FD_t *stream_open(const char *name, unsigned flags, hid_t properties, haddr_t max_address)
{
    (void)name, (void)flags, (void)max_address;
    const struct driver_info *info = H5Pget_driver_info(properties);
    struct stream *s = info == NULL ? NULL : calloc(1, sizeof *s);
    if (s == NULL) {
        if (info != NULL)
            info->disk->error = ENOMEM;
        return NULL;
    }
    s->disk = info->disk;
    return &s->head;
}

static herr_t stream_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t stream_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t stream_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct stream *)file)->allocated;
}

static herr_t stream_allocate(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct stream *)file)->allocated = address;
    return 0;
}

static haddr_t stream_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct stream *)file)->disk->size;
}

/* What was never written reads as zeros: after an error HDF5 may ask for what it believes to be there. */
static herr_t stream_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer)
{
    (void)type, (void)transfer;
    const struct results_disk *disk = ((struct stream *)file)->disk;
    char *to = buffer;
    while (size > 0) {
        ssize_t n = pread(disk->fd, to, size, (off_t)address);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        to += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    memset(to, 0, size);
    return 0;
}

static herr_t stream_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                           const void *buffer)
{
    (void)type, (void)transfer;
    struct results_disk *disk = ((struct stream *)file)->disk;
    const char *from = buffer;
    if (address + size > disk->size)
        disk->size = address + size;
    while (size > 0 && disk->error == 0) {
        ssize_t n = pwrite(disk->fd, from, size, (off_t)address);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            disk->error = n < 0 ? errno : ENOSPC;
            break;
        }
        from += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t stream_truncate(H5FD_t *file, hid_t transfer, hbool_t is_closing)
{
    (void)transfer, (void)is_closing;
    struct stream *s = (struct stream *)file;
    if (s->disk->error == 0 && s->allocated != s->disk->size && ftruncate(s->disk->fd, (off_t)s->allocated) != 0)
        s->disk->error = errno;
    s->disk->size = s->allocated;
    return 0;
}

static const H5FD_class_t stream_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 777, /* in the range that is free for drivers of one's own */
#endif
    .name = "braid",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct driver_info),
    .open = stream_open,
    .close = stream_close,
    .query = stream_query,
    .get_eoa = stream_allocated,
    .set_eoa = stream_allocate,
    .get_eof = stream_size,
    .read = stream_read,
    .write = stream_write,
    .truncate = stream_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t results_driver_create(struct results_disk *disk, hid_t *driver)
{
    hid_t file = -1;
    *driver = H5FDregister(&stream_class);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    const struct driver_info info = {disk};
    if (*driver >= 0 && access >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0 &&
        H5Pset_driver(access, *driver, &info) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >=
            0) /* compact, and the same from later versions */
        file = H5Fcreate("results", H5F_ACC_TRUNC, creation, access);
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return file;
}

void results_driver_release(hid_t driver)
{
    if (driver >= 0)
        H5FDunregister(driver);
}

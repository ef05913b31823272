#include "output/results_column.h"

#include "base/check.h"
#include "output/results_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

uint32_t column_chunk_rows(uint64_t rows, size_t size)
{
    uint64_t n = WRITER_CHUNK_BYTES / size;
    n = n < 1 ? 1 : n > WRITER_CHUNK_ROWS ? WRITER_CHUNK_ROWS : n;
    return (uint32_t)(rows < n ? rows : n);
}

hid_t column_type_create(const struct column_spec *spec, size_t width)
{
    hid_t type = -1;
    switch (spec->type) {
    case COLUMN_TEXT:
        type = H5Tcopy(H5T_C_S1);
        if (type >= 0 && (H5Tset_size(type, width) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                          H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
            H5Tclose(type);
            return -1;
        }
        return type;
    case COLUMN_ENUM:
        type = H5Tenum_create(H5T_NATIVE_UINT8);
        for (uint32_t i = 0; type >= 0 && i < spec->n_members; i++) {
            uint8_t value = (uint8_t)i;
            if (H5Tenum_insert(type, spec->members[i], &value) < 0) {
                H5Tclose(type);
                return -1;
            }
        }
        return type;
    case COLUMN_F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case COLUMN_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case COLUMN_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case COLUMN_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    }
    return type;
}

static bool units_write(hid_t dataset, const char *unit)
{
    size_t n = strlen(unit);
    const struct column_spec text = {.type = COLUMN_TEXT};
    hid_t type = column_type_create(&text, n > 0 ? n : 1);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        type >= 0 && space >= 0 ? H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    bool ok = attribute >= 0 && H5Awrite(attribute, type, unit) >= 0;
    if (attribute >= 0)
        ok &= H5Aclose(attribute) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return ok;
}

/* Packed: chunks with shuffle and deflate, compressed here (chunk_write). Others: contiguous, its place taken at once, so that
 * the order of writes does not move it. Nothing is filled before it is written. */
static hid_t properties_create(const struct writer_column *c)
{
    hid_t p = H5Pcreate(H5P_DATASET_CREATE);
    if (p < 0)
        return p;
    bool ok = H5Pset_obj_track_times(p, false) >= 0 && H5Pset_fill_time(p, H5D_FILL_TIME_NEVER) >= 0;
    if (c->chunk_rows > 0) {
        hsize_t n = c->chunk_rows;
        ok = ok && H5Pset_chunk(p, 1, &n) >= 0 && H5Pset_shuffle(p) >= 0 && H5Pset_deflate(p, 1) >= 0;
    } else {
        ok = ok && H5Pset_alloc_time(p, H5D_ALLOC_TIME_EARLY) >= 0;
    }
    if (ok)
        return p;
    H5Pclose(p);
    return -1;
}

const char *column_init(struct writer_column *c, hid_t group, const struct column_spec *spec, size_t width,
                        uint64_t rows)
{
    *c = (struct writer_column){
        .spec = *spec, .dataset = -1, .type = -1, .size = column_size(spec, width), .rows = rows};
    if (spec->is_packed && rows > 0) {
        c->chunk_rows = column_chunk_rows(rows, c->size);
        c->chunk = calloc(c->chunk_rows, c->size);
        c->steady = malloc(c->size);
        if (c->chunk == NULL || c->steady == NULL)
            return "memory";
    }
    c->type = column_type_create(spec, width);
    hsize_t n = rows;
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t properties = properties_create(c);
    if (c->type >= 0 && space >= 0 && properties >= 0)
        c->dataset = H5Dcreate2(group, spec->name, c->type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    if (c->dataset < 0)
        return "a dataset cannot be created";
    return units_write(c->dataset, spec->unit) ? NULL : "an attribute cannot be written";
}

/* Byte 0 of all values, then byte 1 …: as HDF5's shuffle filter. */
static void shuffle(uint8_t *out, const uint8_t *in, size_t n, size_t size)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++)
            *out++ = in[i * size + k];
}

static bool is_steady(const struct writer_column *c)
{
    size_t bytes = (size_t)c->chunk_rows * c->size;
    return memcmp(c->chunk, c->chunk + c->size, bytes - c->size) == 0;
}

static const char *scratch_reserve(struct column_scratch *s, size_t bytes)
{
    size_t packed = compressBound(bytes);
    if (packed <= s->packed_size)
        return NULL;
    free(s->shuffled);
    free(s->packed);
    s->shuffled = malloc(bytes);
    s->packed = malloc(packed);
    s->packed_size = s->shuffled != NULL && s->packed != NULL ? packed : 0;
    return s->packed_size > 0 ? NULL : "memory";
}

/* Store the gathered chunk, which begins at row `first`. The compressed bytes go past HDF5's filters: most packed columns hold one value
 * over long stretches, and such a chunk is compressed once and then written again and again. */
static const char *chunk_write(struct writer_column *c, uint64_t first, struct column_scratch *scratch)
{
    size_t bytes = (size_t)c->chunk_rows * c->size;
    hsize_t at = first;
    bool steady = is_steady(c);
    if (steady && c->steady_packed != NULL && memcmp(c->steady, c->chunk, c->size) == 0)
        return H5Dwrite_chunk(c->dataset, H5P_DEFAULT, 0, &at, c->steady_bytes, c->steady_packed) >= 0
                   ? NULL
                   : "a chunk cannot be written";
    const char *failed = scratch_reserve(scratch, bytes);
    if (failed != NULL)
        return failed;
    shuffle(scratch->shuffled, c->chunk, c->chunk_rows, c->size);
    uLongf packed = scratch->packed_size;
    if (compress2(scratch->packed, &packed, scratch->shuffled, bytes, 1) != Z_OK)
        return "memory";
    if (steady) {
        free(c->steady_packed);
        c->steady_packed = malloc(packed);
        if (c->steady_packed == NULL)
            return "memory";
        memcpy(c->steady_packed, scratch->packed, packed);
        memcpy(c->steady, c->chunk, c->size);
        c->steady_bytes = packed;
    }
    return H5Dwrite_chunk(c->dataset, H5P_DEFAULT, 0, &at, packed, scratch->packed) >= 0 ? NULL
                                                                                         : "a chunk cannot be written";
}

static const char *push_packed(struct writer_column *c, const uint8_t *values, uint32_t n,
                               struct column_scratch *scratch)
{
    while (n > 0) {
        uint32_t room = c->chunk_rows - c->filled, k = n < room ? n : room;
        memcpy(c->chunk + (size_t)c->filled * c->size, values, (size_t)k * c->size);
        c->filled += k;
        c->at += k;
        values += (size_t)k * c->size;
        n -= k;
        bool is_last = c->at == c->rows;
        if (c->filled < c->chunk_rows && !is_last)
            continue;
        /* the last chunk is whole as well: what lies behind the end is of no meaning, but the same every time */
        memset(c->chunk + (size_t)c->filled * c->size, 0, (size_t)(c->chunk_rows - c->filled) * c->size);
        const char *failed = chunk_write(c, c->at - c->filled, scratch);
        if (failed != NULL)
            return failed;
        c->filled = 0;
    }
    return NULL;
}

static const char *push_plain(struct writer_column *c, const void *values, uint32_t n)
{
    hsize_t begin = c->at, count = n, rows = c->rows;
    hid_t file_space = H5Screate_simple(1, &rows, NULL), memory_space = H5Screate_simple(1, &count, NULL);
    bool ok = file_space >= 0 && memory_space >= 0 &&
              H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &begin, NULL, &count, NULL) >= 0 &&
              H5Dwrite(c->dataset, c->type, memory_space, file_space, H5P_DEFAULT, values) >= 0;
    if (file_space >= 0)
        H5Sclose(file_space);
    if (memory_space >= 0)
        H5Sclose(memory_space);
    c->at += n;
    return ok ? NULL : "values cannot be written";
}

const char *column_push(struct writer_column *c, const void *values, uint32_t n, struct column_scratch *scratch)
{
    require(c->at + n <= c->rows, "column %s: %llu rows + %u of %llu", c->spec.name, (unsigned long long)c->at, n,
            (unsigned long long)c->rows);
    if (n == 0)
        return NULL;
    return c->chunk != NULL ? push_packed(c, values, n, scratch) : push_plain(c, values, n);
}

const char *column_fini(struct writer_column *c)
{
    bool ok = true;
    if (c->dataset >= 0)
        ok &= H5Dclose(c->dataset) >= 0;
    if (c->type >= 0)
        H5Tclose(c->type);
    free(c->chunk);
    free(c->steady);
    free(c->steady_packed);
    *c = (struct writer_column){.dataset = -1, .type = -1};
    return ok ? NULL : "a dataset cannot be closed";
}

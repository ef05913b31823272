#include "bytes.h"

#include <string.h>

uint8_t bytes_next(struct bytes *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

uint64_t bytes_take(struct bytes *b, unsigned count)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < count; i++)
        v |= (uint64_t)bytes_next(b) << 8 * i;
    return v;
}

uint32_t bytes_below(struct bytes *b, uint32_t n)
{
    return n <= 1 ? 0 : (uint32_t)(bytes_take(b, n <= 256 ? 1 : 2) % n);
}

static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

size_t bytes_name(struct bytes *b, const char *(*name)(size_t i), size_t n)
{
    uint32_t byte = bytes_next(b), largest = 0;
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t h = byte + 1;
        for (const char *c = name(i); *c != '\0'; c++)
            h = mix(h * 31 + (unsigned char)*c);
        if (h >= largest) {
            largest = h;
            best = i;
        }
    }
    return best;
}

int64_t bytes_time(struct bytes *b, bool is_whole)
{
    uint8_t kind = bytes_next(b);
    int64_t v = (int64_t)(kind >> 3); /* 0 .. 31 */
    switch (kind & 7) {
    case 0:
    case 1:
        return v * 1000000000;
    case 2:
        return v * 60 * 1000000000;
    case 3:
        return v * 3600 * 1000000000 + bytes_next(b) * INT64_C(1000000000);
    case 4:
        return (int64_t)bytes_take(b, 3) * 1000000000;
    case 5:
        return is_whole ? v * 1000000000 : (int64_t)bytes_take(b, 2) * 1000000;
    case 6:
        return is_whole ? v * 1000000000 : v * 1000000000 + bytes_next(b);
    default:
        return is_whole ? (int64_t)bytes_take(b, 4) * 1000000000 : (int64_t)(bytes_take(b, 8) % (INT64_MAX - 1));
    }
}

struct bytes bytes_piece(const uint8_t *all, size_t n, unsigned i)
{
    struct bytes piece = {all, n};
    for (unsigned k = 0;; k++) {
        const uint8_t *end = piece.left > 0 ? memchr(piece.at, 0xff, piece.left) : NULL;
        size_t length = end != NULL ? (size_t)(end - piece.at) : piece.left;
        if (k == i)
            return (struct bytes){piece.at, length};
        if (end == NULL)
            return (struct bytes){piece.at + piece.left, 0};
        piece.at += length + 1;
        piece.left -= length + 1;
    }
}

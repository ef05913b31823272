/* digest.h - SHA-256 (by nettle) over values in a fixed byte order, so that a digest is the same everywhere. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32, DIGEST_HEX = 64 };

struct digest {
    struct sha256_ctx sha;
    size_t held;
    uint8_t buffer[512]; /* small values are gathered: hashing call by call costs more than hashing */
};

void digest_init(struct digest *d);
void digest_add_bytes(struct digest *d, const void *bytes, size_t n);
void digest_add_u64(struct digest *d, uint64_t value);           /* eight bytes, lowest first */
void digest_add_text(struct digest *d, const char *text, size_t n); /* its length, then its bytes */
void digest_final(struct digest *d, uint8_t out[DIGEST_BYTES]);

/* `n` bytes as lower-case hex, 2 n characters and '\0', into `out`. */
void digest_hex(const uint8_t *bytes, size_t n, char *out);

#endif

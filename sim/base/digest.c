#include "base/digest.h"

#include <string.h>

void digest_init(struct digest *d)
{
    sha256_init(&d->sha);
    d->held = 0;
}

static void digest_flush(struct digest *d)
{
    sha256_update(&d->sha, d->held, d->buffer);
    d->held = 0;
}

void digest_add_bytes(struct digest *d, const void *bytes, size_t n)
{
    if (n > sizeof d->buffer - d->held) {
        digest_flush(d);
        if (n > sizeof d->buffer) {
            sha256_update(&d->sha, n, bytes);
            return;
        }
    }
    memcpy(d->buffer + d->held, bytes, n);
    d->held += n;
}

void digest_add_u64(struct digest *d, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    digest_add_bytes(d, bytes, sizeof bytes);
}

void digest_add_text(struct digest *d, const char *text, size_t n)
{
    digest_add_u64(d, n);
    digest_add_bytes(d, text, n);
}

void digest_final(struct digest *d, uint8_t out[DIGEST_BYTES])
{
    digest_flush(d);
    sha256_digest(&d->sha, DIGEST_BYTES, out);
}

void digest_hex(const uint8_t *bytes, size_t n, char *out)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = hex[bytes[i] >> 4];
        out[2 * i + 1] = hex[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

#include "base/digest.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_hex(struct digest *d, const char *want)
{
    uint8_t bytes[DIGEST_BYTES];
    char hex[DIGEST_HEX + 1];
    digest_final(d, bytes);
    digest_hex(bytes, sizeof bytes, hex);
    cr_expect_str_eq(hex, want);
}

/* FIPS 180-2, appendix B, and the empty message. */
Test(digest, known_vectors_of_sha_256)
{
    struct digest d;
    digest_init(&d);
    expect_hex(&d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_init(&d);
    digest_add_bytes(&d, "abc", 3);
    expect_hex(&d, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_init(&d);
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    digest_add_bytes(&d, two_blocks, strlen(two_blocks));
    expect_hex(&d, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

Test(digest, a_million_bytes_in_pieces_of_any_size)
{
    static char bytes[1000000];
    memset(bytes, 'a', sizeof bytes);
    static const size_t pieces[] = {1, 7, 64, 511, 512, 513, 1000, 1000000};
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        struct digest d;
        digest_init(&d);
        for (size_t at = 0; at < sizeof bytes; at += pieces[k])
            digest_add_bytes(&d, bytes + at, at + pieces[k] <= sizeof bytes ? pieces[k] : sizeof bytes - at);
        expect_hex(&d, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

Test(digest, pieces_of_mixed_size_are_one_message)
{
    static unsigned char bytes[5000];
    uint8_t once[DIGEST_BYTES], pieces[DIGEST_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256);
    struct digest d;
    digest_init(&d);
    digest_add_bytes(&d, bytes, sizeof bytes);
    digest_final(&d, once);
    digest_init(&d);
    for (size_t at = 0, n = 0; at < sizeof bytes; at += n) {
        n = (at * 7 + 3) % 600;
        n = n == 0 ? 1 : n;
        n = at + n > sizeof bytes ? sizeof bytes - at : n;
        digest_add_bytes(&d, bytes + at, n);
    }
    digest_final(&d, pieces);
    cr_expect_arr_eq(once, pieces, DIGEST_BYTES);
}

Test(digest, numbers_go_in_lowest_byte_first)
{
    struct digest d, e;
    uint8_t a[DIGEST_BYTES], b[DIGEST_BYTES];
    digest_init(&d);
    digest_init(&e);
    digest_add_u64(&d, UINT64_C(0x0807060504030201));
    digest_add_bytes(&e, "\1\2\3\4\5\6\7\10", 8);
    digest_final(&d, a);
    digest_final(&e, b);
    cr_expect_arr_eq(a, b, DIGEST_BYTES);
}

Test(digest, texts_do_not_run_together)
{
    struct digest d, e;
    uint8_t a[DIGEST_BYTES], b[DIGEST_BYTES];
    digest_init(&d);
    digest_init(&e);
    digest_add_text(&d, "ab", 2);
    digest_add_text(&d, "c", 1);
    digest_add_text(&e, "a", 1);
    digest_add_text(&e, "bc", 2);
    digest_final(&d, a);
    digest_final(&e, b);
    cr_expect_neq(memcmp(a, b, DIGEST_BYTES), 0);
}

Test(digest, hex_is_lower_case)
{
    char out[9];
    digest_hex((const uint8_t *)"\x00\x0f\xa0\xff", 4, out);
    cr_expect_str_eq(out, "000fa0ff");
}

#include "output/plot_text.h"

#include "base/digest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CODES = 0x110000, REPLACEMENT = '?' };

/* ---- characters ------------------------------------------------------------------------------- */

/* The character at `text` and its bytes; a byte that begins no valid UTF-8 is -1 of one byte. */
static int32_t code_at(const char *text, size_t *n)
{
    const unsigned char *s = (const unsigned char *)text;
    *n = 1;
    if (s[0] < 0x80)
        return s[0];
    size_t more = s[0] >= 0xf0 && s[0] < 0xf5 ? 3 : s[0] >= 0xe0 ? 2 : 1;
    if (s[0] < 0xc2 || s[0] >= 0xf5)
        return -1;
    int32_t code = s[0] & (0x3f >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (s[i] & 0x3f);
    }
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code >= CODES || (code >= 0xd800 && code < 0xe000))
        return -1;
    *n = more + 1;
    return code;
}

static bool is_between(int32_t code, int32_t from, int32_t to)
{
    return code >= from && code <= to;
}

static bool is_control(int32_t code)
{
    return code < 0x20 || is_between(code, 0x7f, 0x9f) || code == 0x2028 || code == 0x2029;
}

/* Takes no room, and changes how its neighbours are drawn: marks of direction, joiners, variation selectors, byte order marks, tags. */
static bool is_invisible(int32_t code)
{
    return is_between(code, 0x200b, 0x200f) || is_between(code, 0x202a, 0x202e) || is_between(code, 0x2060, 0x206f) ||
           is_between(code, 0xfe00, 0xfe0f) || code == 0xfeff || code == 0xad || code == 0x61c ||
           is_between(code, 0xe0000, 0xe01ef);
}

static size_t width_of(int32_t code)
{
    if (is_invisible(code) || is_between(code, 0x300, 0x36f))
        return 0;
    return is_between(code, 0x1100, 0x115f) || is_between(code, 0x2e80, 0xa4cf) || is_between(code, 0xac00, 0xd7a3) ||
                   is_between(code, 0xf900, 0xfaff) || is_between(code, 0xfe30, 0xfe6f) ||
                   is_between(code, 0xff00, 0xff60) || is_between(code, 0x1f300, 0x1faff) ||
                   is_between(code, 0x20000, 0x3fffd)
               ? 2
               : 1;
}

/* ---- fonts ------------------------------------------------------------------------------------ */

/* Latin, Greek, Cyrillic and common marks are in every font that gnuplot would take. */
static bool is_common(int32_t code)
{
    return code < 0x250 || is_between(code, 0x370, 0x52f) || is_between(code, 0x2010, 0x2027) || code == 0x221e;
}

/* fc-list prints the ranges of each font in hexadecimal: "20-7e a0-17f 192". */
static void fonts_ask(struct plot_fonts *f)
{
    f->is_asked = true;
    FILE *list = popen("fc-list -f '%{charset}\\n' 2>/dev/null", "r"); // NOLINT: a fixed text
    if (list == NULL)
        return;
    uint8_t *known = calloc(CODES / 8, 1);
    unsigned from, to;
    bool has_any = false;
    for (int n; known != NULL && (n = fscanf(list, "%x-%x", &from, &to)) > 0;) {
        to = n == 1 ? from : to;
        for (unsigned c = from; c <= to && c < CODES; c++)
            known[c / 8] |= (uint8_t)(1u << (c % 8));
        has_any = true;
    }
    pclose(list);
    if (!has_any) {
        free(known);
        known = NULL;
    }
    f->known = known;
}

static bool is_drawn(struct plot_fonts *f, int32_t code)
{
    if (f == NULL || f->draws_all || is_common(code))
        return true;
    if (!f->is_asked)
        fonts_ask(f);
    bool ok = f->known != NULL && (f->known[code / 8] >> (code % 8) & 1) != 0;
    f->has_missing = f->has_missing || !ok;
    return ok;
}

void plot_fonts_fini(struct plot_fonts *f)
{
    free(f->known);
    *f = (struct plot_fonts){0};
}

/* ---- scripts ---------------------------------------------------------------------------------- */

void plot_text_quote(FILE *out, struct plot_fonts *f, const char *text)
{
    size_t n;
    fputc('"', out);
    for (; *text != '\0'; text += n) {
        int32_t code = code_at(text, &n);
        if (code == PLOT_BREAK)
            fputs("\\n", out);
        else if (code >= 0 && is_control(code))
            fputc(' ', out);
        else if (code >= 0 && is_invisible(code))
            continue;
        else if (code < 0 || !is_drawn(f, code))
            fputc(REPLACEMENT, out);
        else if (code >= 0x80)
            fwrite(text, 1, n, out);
        else if (isalnum((int)code) || strchr(" .,:;_-+/=()<>", (int)code) != NULL)
            fputc((int)code, out);
        else
            fprintf(out, "\\%03o", (unsigned)code);
    }
    fputc('"', out);
}

/* ---- width ------------------------------------------------------------------------------------ */

size_t plot_text_cells(const char *text)
{
    size_t n, cells = 0, widest = 0;
    for (; *text != '\0'; text += n) {
        int32_t code = code_at(text, &n);
        cells = code == PLOT_BREAK ? 0 : cells + (code < 0 ? 1 : width_of(code));
        widest = cells > widest ? cells : widest;
    }
    return widest;
}

/* Bytes of the longest beginning of `text` that is at most `cells` wide. */
static size_t fitting(const char *text, size_t cells)
{
    size_t at = 0, n, used = 0;
    for (; text[at] != '\0'; at += n) {
        int32_t code = code_at(text + at, &n);
        used += code < 0 ? 1 : width_of(code);
        if (used > cells)
            break;
    }
    return at;
}

unsigned plot_text_wrap(char *out, size_t size, const char *text, size_t cells, unsigned max_lines)
{
    static const char ellipsis[] = "…";
    char *to = out, *end = out + size - sizeof ellipsis - 1;
    for (unsigned line = 1;; line++) {
        size_t n = fitting(text, cells);
        bool is_last = text[n] == '\0', is_cut = !is_last && line == max_lines;
        if (is_cut)
            n = fitting(text, cells - 1);
        for (size_t k = n; !is_last && !is_cut && k > n / 2; k--)
            if (strchr(" _-,/:;=+", text[k - 1]) != NULL) {
                n = k;
                break;
            }
        is_cut = is_cut || (size_t)(end - to) <= n;
        if ((size_t)(end - to) <= n)
            n = (size_t)(end - to) > 4 ? fitting(text, (size_t)(end - to) / 4) : 0;
        for (size_t k = 0; k < n; k++)
            *to++ = text[k] == PLOT_BREAK ? ' ' : text[k];
        while (!is_last && to > out && to[-1] == ' ') /* a blank at the end of a line */
            to--;
        if (is_cut) {
            memcpy(to, ellipsis, sizeof ellipsis - 1);
            to += sizeof ellipsis - 1;
        }
        if (is_last || is_cut) {
            *to = '\0';
            return line;
        }
        *to++ = PLOT_BREAK;
        text += n;
    }
}

void plot_text_shorten(char *out, size_t size, const char *text, size_t cells)
{
    if (plot_text_cells(text) <= cells && strlen(text) < size) {
        memcpy(out, text, strlen(text) + 1);
        return;
    }
    if (cells > size / 5)
        cells = size / 5; /* no character takes more than four bytes */
    size_t head = fitting(text, cells * 2 / 3), n = strlen(text), tail = head, step;
    while (tail < n && plot_text_cells(text + tail) > cells - cells * 2 / 3 - 1) {
        code_at(text + tail, &step);
        tail += step;
    }
    snprintf(out, size, "%.*s…%s", (int)head, text, text + tail);
}

/* ---- names of files --------------------------------------------------------------------------- */

void plot_text_file_name(char *out, size_t most, const char *text)
{
    enum { HASH = 8 };
    size_t n = strlen(text), kept = n < most ? n : most;
    bool is_changed = kept < n;
    for (size_t i = 0; i < n; i++)
        is_changed = is_changed || (!isalnum((unsigned char)text[i]) && strchr("-_.=", text[i]) == NULL);
    if (is_changed && kept > most - HASH - 1)
        kept = most - HASH - 1;
    for (size_t i = 0; i < kept; i++)
        out[i] = isalnum((unsigned char)text[i]) || strchr("-_.=", text[i]) != NULL ? text[i] : '_';
    out[kept] = '\0';
    if (!is_changed)
        return;
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    char hex[DIGEST_HEX + 1];
    digest_init(&d);
    digest_add_bytes(&d, text, n);
    digest_final(&d, bytes);
    digest_hex(bytes, DIGEST_BYTES, hex);
    snprintf(out + kept, HASH + 2, "-%.8s", hex);
}

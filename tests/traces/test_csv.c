#include "traces/csv.h"
#include "traces/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct scratch scratch;

static void before(void)
{
    scratch_init(&scratch);
}

static void after(void)
{
    scratch_fini(&scratch);
}

TestSuite(csv, .init = before, .fini = after);

/* The rows of a file as one text: fields in <>, rows ended by their line number and a semicolon. */
static int rows_of(const char *path, char *out, size_t size, struct error *err)
{
    struct source source;
    struct csv csv = {0};
    size_t used = 0;
    out[0] = '\0';
    int code = source_open(&source, path, "f", err);
    if (code == BRAID_OK)
        code = csv_init(&csv, &source, err);
    bool has_row = true;
    while (code == BRAID_OK && has_row) {
        code = csv_next(&csv, &has_row, err);
        for (uint32_t i = 0; code == BRAID_OK && has_row && i < csv.n_fields; i++)
            used += (size_t)snprintf(out + used, size - used, "<%.*s>", (int)csv.fields[i].n, csv.fields[i].text);
        if (code == BRAID_OK && has_row)
            used += (size_t)snprintf(out + used, size - used, "%d;", (int)csv.line);
    }
    csv_fini(&csv);
    source_close(&source);
    return code;
}

static void expect(const char *text, size_t n, const char *rows)
{
    char path[SCRATCH_PATH], out[4096];
    struct error err = {0};
    cr_assert_eq(rows_of(scratch_write(&scratch, "f", text, n, path), out, sizeof out, &err), BRAID_OK, "%s",
                 err.message);
    cr_assert_str_eq(out, rows);
    cr_assert_eq(rows_of(scratch_gzip(&scratch, "g", text, n, path), out, sizeof out, &err), BRAID_OK, "%s",
                 err.message);
    cr_assert_str_eq(out, rows, "as gzip");
}

#define EXPECT(text, rows) expect(text, sizeof(text) - 1, rows)

static void refuse(const char *text, size_t n, int line, const char *part)
{
    char path[SCRATCH_PATH], out[4096];
    struct error err = {0};
    cr_assert_eq(rows_of(scratch_write(&scratch, "f", text, n, path), out, sizeof out, &err), BRAID_BAD_INPUT);
    cr_assert_eq(err.line, line, "line %d: %s", err.line, err.message);
    cr_assert_not_null(strstr(err.message, part), "%s", err.message);
    cr_assert_str_eq(err.file, "f");
}

#define REFUSE(text, line, part) refuse(text, sizeof(text) - 1, line, part)

Test(csv, fields_and_lines)
{
    EXPECT("a,b\n1,2\n", "<a><b>1;<1><2>2;");
    EXPECT("a,b\n1,2", "<a><b>1;<1><2>2;");
    EXPECT("a,,\n,\n", "<a><><>1;<><>2;");
    EXPECT("", "");
}

Test(csv, byte_order_mark_and_crlf)
{
    EXPECT("\xEF\xBB\xBF"
           "a,b\r\n1,2\r\n\r\n3,\r\n",
           "<a><b>1;<1><2>2;<3><>4;");
    EXPECT("a,b\r\n1,2\r", "<a><b>1;<1><2>2;");
    EXPECT("\"a\",\"b\"\r\n\"1\",\"2\"\r\n", "<a><b>1;<1><2>2;");
}

Test(csv, blank_lines_are_skipped_and_lines_still_count)
{
    EXPECT("\n \t\na\n\n\nb\n\n", "<a>3;<b>6;");
}

Test(csv, quotes_hold_commas_line_ends_and_doubled_quotes)
{
    EXPECT("\"a,1\",b\n\"x\ny\",\"say \"\"hi\"\"\"\nc,d\n", "<a,1><b>1;<x\ny><say \"hi\">2;<c><d>4;");
    EXPECT("\"\",\"\"\"\"\n", "<><\">1;");
    EXPECT("5\" disk,\"end\"", "<5\" disk><end>1;");
}

Test(csv, damage_is_an_error_with_its_line)
{
    REFUSE("a,b\n1,\0,2\n", 2, "NUL");
    REFUSE("a\nb\n\"x\n\0\"\n", 4, "NUL");
    REFUSE("a\n\"x\ny\n", 2, "never closed");
    REFUSE("a\n\"x\"y,2\n", 2, "behind a closing quote");
    REFUSE("\xFF\xFE"
           "a\0,\0b\0\n\0",
           1, "NUL");
}

/* Rows of every length around the ends of blocks and buffers, against a naive split. */
Test(csv, any_length_of_row_and_field)
{
    size_t room = 6 << 20, n = 0, rows = 0;
    char *text = malloc(room), path[SCRATCH_PATH];
    for (size_t length = 0; n + length + 8 < room; length = length < 300 ? length + 1 : length * 2) {
        text[n++] = 'k';
        text[n++] = ',';
        memset(text + n, (int)('a' + rows % 26), length);
        n += length;
        text[n++] = '\n';
        rows++;
    }
    struct source source;
    struct csv csv;
    struct error err = {0};
    bool has_row;
    cr_assert_eq(source_open(&source, scratch_write(&scratch, "f", text, n, path), "f", &err), BRAID_OK);
    cr_assert_eq(csv_init(&csv, &source, &err), BRAID_OK);
    const char *at = text;
    for (size_t r = 0; r < rows; r++) {
        const char *end = memchr(at, '\n', (size_t)(text + n - at));
        cr_assert_eq(csv_next(&csv, &has_row, &err), BRAID_OK, "%s", err.message);
        cr_assert(has_row);
        cr_assert_eq(csv.n_fields, 2);
        cr_assert_eq(csv.offset, (uint64_t)(at - text));
        cr_assert_eq(csv.line, r + 1);
        cr_assert_eq(csv.fields[1].n, (size_t)(end - at - 2));
        cr_assert(memcmp(csv.fields[1].text, at + 2, csv.fields[1].n) == 0);
        at = end + 1;
    }
    cr_assert_eq(csv_next(&csv, &has_row, &err), BRAID_OK);
    cr_assert_not(has_row);
    csv_fini(&csv);
    source_close(&source);
    free(text);
}

Test(csv, many_fields_and_a_long_quoted_field)
{
    size_t n = 0, inner = 3 << 20;
    char *text = malloc(inner * 2), path[SCRATCH_PATH];
    for (int i = 0; i < 10000; i++)
        n += (size_t)sprintf(text + n, "%d,", i);
    text[n++] = '"';
    size_t from = n;
    for (size_t i = 0; i < inner / 2; i++) {
        text[n++] = i % 100 == 0 ? '\n' : '"';
        if (text[n - 1] == '"')
            text[n++] = '"';
    }
    size_t doubled = n - from;
    n += (size_t)sprintf(text + n, "\",last\nnext\n");
    struct source source;
    struct csv csv;
    struct error err = {0};
    bool has_row;
    cr_assert_eq(source_open(&source, scratch_write(&scratch, "f", text, n, path), "f", &err), BRAID_OK);
    cr_assert_eq(csv_init(&csv, &source, &err), BRAID_OK);
    cr_assert_eq(csv_next(&csv, &has_row, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(csv.n_fields, 10002);
    cr_assert_eq(csv.fields[10000].n, inner / 2, "doubled quotes become one (%zu bytes in the file)", doubled);
    cr_assert_eq(csv.fields[10000].text[1], '"');
    cr_assert_eq(csv_next(&csv, &has_row, &err), BRAID_OK);
    cr_assert_eq(csv.line, 2 + (inner / 2 + 99) / 100);
    csv_fini(&csv);
    source_close(&source);
    free(text);
}

Test(csv, gzip_members_are_one_stream_and_damage_is_told)
{
    static const char rows[] = "a,b\n1,2\n";
    char path[SCRATCH_PATH], out[4096];
    struct error err = {0};
    size_t n;
    char *packed = scratch_read(scratch_gzip(&scratch, "g", rows, sizeof rows - 1, path), &n);
    char *twice = malloc(2 * n + 8);
    memcpy(twice, packed, n);
    memcpy(twice + n, packed, n);
    memset(twice + 2 * n, 0, 8);
    cr_assert_eq(rows_of(scratch_write(&scratch, "h", twice, 2 * n, path), out, sizeof out, &err), BRAID_OK);
    cr_assert_str_eq(out, "<a><b>1;<1><2>2;<a><b>3;<1><2>4;");
    cr_assert_eq(rows_of(scratch_write(&scratch, "h", twice, 2 * n + 8, path), out, sizeof out, &err), BRAID_OK,
                 "zeros behind gzip are padding: %s", err.message);
    for (size_t cut = 2; cut < n; cut++) {
        cr_assert_eq(rows_of(scratch_write(&scratch, "h", packed, cut, path), out, sizeof out, &err), BRAID_BAD_INPUT,
                     "cut at %zu of %zu", cut, n);
        cr_assert_not_null(strstr(err.message, "cut short"), "%s", err.message);
    }
    memcpy(twice + n, "tail", 4);
    cr_assert_eq(rows_of(scratch_write(&scratch, "h", twice, n + 4, path), out, sizeof out, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "not gzip behind"), "%s", err.message);
    packed[n - 6] ^= 1; /* the checksum */
    cr_assert_eq(rows_of(scratch_write(&scratch, "h", packed, n, path), out, sizeof out, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "damaged"), "%s", err.message);
    free(twice);
    free(packed);
}

Test(csv, absent_files_and_folders)
{
    char out[64], path[SCRATCH_PATH];
    struct error err = {0};
    cr_assert_eq(rows_of(scratch_path(&scratch, "absent", path), out, sizeof out, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "cannot be opened"));
    cr_assert_eq(rows_of(scratch.folder, out, sizeof out, &err), BRAID_BAD_INPUT);
    cr_assert_not_null(strstr(err.message, "folder"));
}

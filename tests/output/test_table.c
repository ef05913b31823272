#include "output/table.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column columns[] = {
    {"policy", NULL, TABLE_KIND_TEXT, NULL},
    {"jct_mean", "JCT mean", TABLE_KIND_SECONDS, NULL},
    {"gpu_utilization", "utilisation", TABLE_KIND_FRACTION, NULL},
    {"finished", NULL, TABLE_KIND_COUNT, NULL},
};

static struct table *sample(void)
{
    struct table *t = table_create(columns, 4);
    table_text(t, "fifo, \"x\"");
    table_number(t, 5400);
    table_number(t, 0.5);
    table_number(t, 1000);
    table_text(t, "é|b");
    table_number(t, NAN);
    table_number(t, 0.123456);
    table_number(t, 7);
    return t;
}

static void expect(enum table_format format, const char *wanted)
{
    char *text;
    size_t n;
    struct table *t = sample();
    FILE *out = open_memstream(&text, &n);
    cr_assert(table_print(t, format, out));
    fclose(out);
    cr_assert_str_eq(text, wanted);
    free(text);
    table_destroy(t);
}

Test(table, text_is_aligned_with_a_unit_a_column)
{
    expect(TABLE_FORMAT_TEXT, "policy     JCT mean  utilisation  finished\n"
                              "                min            %\n"
                              "---------  --------  -----------  --------\n"
                              "fifo, \"x\"     90.00         50.0      1000\n"
                              "é|b               -         12.3         7\n");
}

Test(table, markdown_names_units_in_the_title)
{
    expect(TABLE_FORMAT_MD, "| policy    | JCT mean [min] | utilisation [%] | finished |\n"
                            "| --------- | -------------: | --------------: | -------: |\n"
                            "| fifo, \"x\" |          90.00 |            50.0 |     1000 |\n"
                            "| é\\|b       |              - |            12.3 |        7 |\n");
}

Test(table, csv_keeps_the_values)
{
    expect(TABLE_FORMAT_CSV, "policy,jct_mean,gpu_utilization,finished\n"
                             "\"fifo, \"\"x\"\"\",5400,0.5,1000\n"
                             "é|b,,0.123456,7\n");
}

Test(table, json_has_null_for_nothing)
{
    expect(TABLE_FORMAT_JSON,
           "[\n"
           " {\"policy\": \"fifo, \\\"x\\\"\", \"jct_mean\": 5400, \"gpu_utilization\": 0.5, \"finished\": 1000},\n"
           " {\"policy\": \"é|b\", \"jct_mean\": null, \"gpu_utilization\": 0.123456, \"finished\": 7}\n"
           "]\n");
}

Test(table, latex_escapes_what_it_must)
{
    struct table *t = table_create(&(struct table_column){"a_b", NULL, TABLE_KIND_TEXT, NULL}, 1);
    table_text(t, "50% & $x");
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert(table_print(t, TABLE_FORMAT_LATEX, out));
    fclose(out);
    cr_assert_not_null(strstr(text, "a\\_b"));
    cr_assert_not_null(strstr(text, "50\\% \\& \\$x"));
    free(text);
    table_destroy(t);
}

static char *printed(struct table *t, enum table_format format)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert(table_print(t, format, out));
    fclose(out);
    table_destroy(t);
    return text;
}

Test(table, an_interval_stands_beside_its_number)
{
    static const struct table_column two[] = {{"policy", NULL, TABLE_KIND_TEXT, NULL},
                                              {"wait", NULL, TABLE_KIND_SECONDS, NULL}};
    for (int latex = 0; latex < 2; latex++) {
        struct table *t = table_create(two, 2);
        table_text(t, "[a");
        table_interval(t, 7200, 3600, 10800);
        table_text(t, "b");
        table_interval(t, 7200, 3600, 36000);
        table_text(t, "c");
        table_interval(t, 18000, NAN, NAN);
        char *text = printed(t, latex ? TABLE_FORMAT_LATEX : TABLE_FORMAT_TEXT);
        cr_expect(strstr(text, latex ? "2.000 $\\pm$ 1.000" : "2.000 ± 1.000\n") != NULL, "%s", text);
        cr_expect(strstr(text, "2.000 [1.000, 10.000]") != NULL, "%s", text);
        cr_expect(strstr(text, latex ? "\n{}[a" : "\n[a ") != NULL, "%s", text);
        cr_expect(!latex || (strstr(text, "\\toprule") != NULL && strstr(text, "\\bottomrule") != NULL));
        free(text);
    }
}

Test(table, times_far_apart_have_a_unit_each)
{
    static const struct table_column one[] = {{"wait", NULL, TABLE_KIND_SECONDS, NULL}};
    struct table *t = table_create(one, 1);
    table_number(t, 65 * 86400);
    table_number(t, 12);
    table_number(t, 0);
    char *text = printed(t, TABLE_FORMAT_TEXT);
    cr_expect_str_eq(text, "  wait\n------\n65.0 d\n12.0 s\n0.00 s\n", "%s", text);
    free(text);
    t = table_create(one, 1);
    table_number(t, 12000);
    table_number(t, 12);
    text = printed(t, TABLE_FORMAT_TEXT);
    cr_expect(strstr(text, "min\n") != NULL && strstr(text, "200.0\n") != NULL, "1,000 times is one unit: %s", text);
    free(text);
}

Test(table, wide_characters_take_two_columns_and_ends_of_lines_are_blanks)
{
    static const struct table_column two[] = {{"policy", NULL, TABLE_KIND_TEXT, NULL},
                                              {"n", NULL, TABLE_KIND_COUNT, NULL}};
    struct table *t = table_create(two, 2);
    table_text(t, "最短剩余");
    table_number(t, 1);
    table_text(t, "e\xcc\x81\nb\tc"); /* an accent that combines */
    table_number(t, 2);
    char *text = printed(t, TABLE_FORMAT_TEXT);
    cr_expect_str_eq(text, "policy    n\n--------  -\n最短剩余  1\ne\xcc\x81 b c     2\n", "%s", text);
    free(text);
    t = table_create(two, 2);
    table_text(t, "a\nb");
    table_number(t, 2);
    text = printed(t, TABLE_FORMAT_JSON);
    cr_expect(strstr(text, "a\\u000ab") != NULL, "programs get the text as it is: %s", text);
    free(text);
}

Test(table, an_empty_table_has_its_titles)
{
    struct table *t = table_create(columns, 4);
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    cr_assert(table_print(t, TABLE_FORMAT_JSON, out));
    cr_assert(table_print(t, TABLE_FORMAT_TEXT, out));
    fclose(out);
    cr_assert_eq(strncmp(text, "[]\n", 3), 0);
    cr_assert_not_null(strstr(text, "policy  JCT mean"));
    free(text);
    table_destroy(t);
}

Test(table, formats_have_names)
{
    enum table_format f;
    cr_assert(table_format_parse("latex", &f) && f == TABLE_FORMAT_LATEX);
    cr_assert(table_format_parse("table", &f) && f == TABLE_FORMAT_TEXT);
    cr_assert_not(table_format_parse("xml", &f));
}

Test(table, times_find_their_unit)
{
    char out[40];
    cr_assert_str_eq(table_seconds_text(12, out, sizeof out), "12.0 s");
    cr_assert_str_eq(table_seconds_text(600, out, sizeof out), "10.0 min");
    cr_assert_str_eq(table_seconds_text(5.0 * 86400, out, sizeof out), "120 h");
    cr_assert_str_eq(table_seconds_text(20.0 * 86400, out, sizeof out), "20.0 d");
    cr_assert_str_eq(table_seconds_text(NAN, out, sizeof out), "-");
}

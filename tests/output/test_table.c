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

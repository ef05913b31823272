#include "base/number.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every parser gets its text without a final '\0': a byte read too many is seen by the sanitizer, or finds a digit. */
static char *bare(const char *text)
{
    size_t n = strlen(text);
    char *copy = malloc(n + 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, n);
    copy[n] = '7';
    return copy;
}

#define PARSER_AS(name, parser, type)                                                                                  \
    static bool name(const char *text, type *out)                                                                      \
    {                                                                                                                  \
        char *copy = bare(text);                                                                                       \
        bool is_good = number_parse_##parser(copy, strlen(text), out);                                                 \
        free(copy);                                                                                                    \
        return is_good;                                                                                                \
    }
#define PARSER(name, type) PARSER_AS(name, name, type)
PARSER(i64, int64_t)
PARSER(u64, uint64_t)
PARSER_AS(double_, double, double)
PARSER_AS(time_, time, int64_t)
PARSER(size, uint64_t)
PARSER(datetime, int64_t)

static bool scaled(const char *text, int64_t scale, int64_t *out)
{
    char *copy = bare(text);
    bool is_good = number_parse_scaled(copy, strlen(text), scale, out);
    free(copy);
    return is_good;
}

#define GIVES(call, want)                                                                                              \
    do {                                                                                                               \
        cr_expect(call, "%s is refused", #call);                                                                       \
        cr_expect_eq(out, want, "%s gives %lld", #call, (long long)out);                                               \
    } while (0)
#define REFUSES(call)                                                                                                  \
    do {                                                                                                               \
        out = 77;                                                                                                      \
        cr_expect_not(call, "%s is taken", #call);                                                                     \
        cr_expect_eq(out, 77, "%s refuses and still writes", #call);                                                   \
    } while (0)

Test(number, integers_reach_the_ends_of_their_range)
{
    int64_t out;
    GIVES(i64("9223372036854775807", &out), INT64_MAX);
    GIVES(i64("-9223372036854775808", &out), INT64_MIN);
    GIVES(i64("+12", &out), 12);
    GIVES(i64("-0", &out), 0);
    GIVES(i64("000000000000000000000000000042", &out), 42);
    GIVES(i64(" \t42 \t\r", &out), 42);
    REFUSES(i64("9223372036854775808", &out));
    REFUSES(i64("-9223372036854775809", &out));
    REFUSES(i64("99999999999999999999999999999999", &out));
}

Test(number, integers_refuse_junk)
{
    static const char *const junk[] = {"",    " ",   "-",    "+",    "--1",      "+-1",   "- 1", "+ 1",
                                       "1 2", "1x",  "x1",   "0x10", "1_000",    "1,000", "1.0", "1e3",
                                       "nan", "inf", "NULL", "None", "\xd9\xa1", "1-",    ".",   "\n1"};
    int64_t out;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        REFUSES(i64(junk[i], &out));
        uint64_t u = 77;
        cr_expect_not(u64(junk[i], &u), "'%s' is taken", junk[i]);
        cr_expect_eq(u, 77u);
    }
    REFUSES(number_parse_i64("1\0", 2, &out));
}

Test(number, unsigned_integers_have_no_sign)
{
    uint64_t out;
    GIVES(u64("18446744073709551615", &out), UINT64_MAX);
    REFUSES(u64("18446744073709551616", &out));
    REFUSES(u64("-1", &out));
    REFUSES(u64("+1", &out));
}

Test(number, scaled_is_exact_in_integers)
{
    int64_t out;
    GIVES(scaled("0.1", NS_PER_S, &out), 100000000); /* 0.1 has no exact double */
    GIVES(scaled("1507532504.123456789", NS_PER_S, &out), INT64_C(1507532504123456789));
    GIVES(scaled("9223372036.854775807", NS_PER_S, &out), INT64_MAX);
    GIVES(scaled("-9223372036.854775807", NS_PER_S, &out), -INT64_MAX);
    GIVES(scaled("0.000000001", NS_PER_S, &out), 1);
    GIVES(scaled(".5", NS_PER_S, &out), 500000000);
    GIVES(scaled("5.", NS_PER_S, &out), 5 * NS_PER_S);
    GIVES(scaled("3", 1, &out), 3);
    GIVES(scaled("0.25", 60 * NS_PER_S, &out), 15 * NS_PER_S);
    GIVES(scaled("9007199254740993", 1, &out), INT64_C(9007199254740993)); /* 2^53 + 1 */
}

Test(number, scaled_rounds_half_away_from_zero)
{
    int64_t out;
    GIVES(scaled("0.0000000005", NS_PER_S, &out), 1);
    GIVES(scaled("0.00000000049999999999999999999", NS_PER_S, &out), 0);
    GIVES(scaled("-0.0000000005", NS_PER_S, &out), -1);
    GIVES(scaled("0.0000000015", NS_PER_S, &out), 2);
    GIVES(scaled("2.4999999999999999999999", 1, &out), 2);
    GIVES(scaled("2.5", 1, &out), 3);
    GIVES(scaled("-2.5", 1, &out), -3);
}

Test(number, scaled_takes_more_digits_than_fit)
{
    int64_t out;
    GIVES(scaled("1.00000000000000000000000000000000000000000", NS_PER_S, &out), NS_PER_S);
    GIVES(scaled("0.1234567891234567891234567891234567", NS_PER_S, &out), 123456789);
    GIVES(scaled("00000000000000000000000000000000000000001.5", NS_PER_S, &out), 1500000000);
    GIVES(scaled("0.00000000000000000000000000000000000000001", NS_PER_S, &out), 0);
    GIVES(scaled("100000000000000000000e-11", NS_PER_S, &out), NS_PER_S * NS_PER_S);
    GIVES(scaled("10000000000000000000000000000000000000000e-40", NS_PER_S, &out), NS_PER_S);
}

Test(number, scaled_takes_exponents)
{
    int64_t out;
    GIVES(scaled("1e3", NS_PER_S, &out), 1000 * NS_PER_S);
    GIVES(scaled("1E3", NS_PER_S, &out), 1000 * NS_PER_S);
    GIVES(scaled("1.5e+2", NS_PER_S, &out), 150 * NS_PER_S);
    GIVES(scaled("25e-1", NS_PER_S, &out), 2500000000);
    GIVES(scaled("1e-9", NS_PER_S, &out), 1);
    GIVES(scaled("1e-100000", NS_PER_S, &out), 0);
    GIVES(scaled("0e100000", NS_PER_S, &out), 0);
    REFUSES(scaled("1e19", 1, &out));
    REFUSES(scaled("1e100000", NS_PER_S, &out));
    REFUSES(scaled("1e100001", NS_PER_S, &out));
    REFUSES(scaled("1e99999999999999999999", NS_PER_S, &out));
    REFUSES(scaled("1e", NS_PER_S, &out));
    REFUSES(scaled("1e 3", NS_PER_S, &out));
    REFUSES(scaled("e3", NS_PER_S, &out));
    REFUSES(scaled("1e3.0", NS_PER_S, &out));
}

Test(number, scaled_refuses_what_does_not_fit)
{
    int64_t out;
    REFUSES(scaled("9223372036.854775808", NS_PER_S, &out));
    REFUSES(scaled("9223372037", NS_PER_S, &out));
    REFUSES(scaled("99999999999999999999999999999999999999999999", 1, &out));
    REFUSES(scaled("", NS_PER_S, &out));
    REFUSES(scaled(".", NS_PER_S, &out));
    REFUSES(scaled("-", NS_PER_S, &out));
    REFUSES(scaled("1.2.3", NS_PER_S, &out));
    REFUSES(scaled("1 2", NS_PER_S, &out));
    REFUSES(scaled("nan", NS_PER_S, &out));
    REFUSES(scaled("inf", NS_PER_S, &out));
    REFUSES(scaled("0x1p3", NS_PER_S, &out));
}

Test(number, doubles_are_those_of_the_c_library)
{
    static const char *const texts[] = {"66.0",
                                        "1e3",
                                        "-.5",
                                        "0",
                                        "-0",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678901234567890",
                                        "2.2250738585072014e-308",
                                        "5e-324",
                                        "1e-400",
                                        "1.7976931348623157e308",
                                        "9007199254740993",
                                        "0.30000000000000004",
                                        "8.5e-19",
                                        "1e-22",
                                        "3.14159265358979323846264338327950288"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double out = 77, want = strtod(texts[i], NULL);
        cr_expect(double_(texts[i], &out), "'%s' is refused", texts[i]);
        cr_expect_eq(memcmp(&out, &want, sizeof out), 0, "'%s' gives %.17g", texts[i], out);
    }
}

Test(number, doubles_are_finite)
{
    static const char *const junk[] = {"1e309", "-1e400", "inf", "nan",   "INFINITY", "",
                                       "1e",    "0x10",   "1d3", "1 000", "1,5"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        double out = 77;
        cr_expect_not(double_(junk[i], &out), "'%s' is taken", junk[i]);
        cr_expect_eq(out, 77.0);
    }
}

Test(number, doubles_do_not_depend_on_the_locale)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "C.UTF-8"};
    bool is_comma = false;
    for (size_t i = 0; i < sizeof with_comma / sizeof *with_comma && !is_comma; i++)
        is_comma = setlocale(LC_ALL, with_comma[i]) != NULL && localeconv()->decimal_point[0] == ',';
    if (!is_comma)
        cr_skip_test("no locale with a decimal comma is installed");
    double out = 0;
    cr_expect(double_("123456789012345678.5", &out));
    cr_expect_eq(out, 123456789012345678.5);
    cr_expect(double_("0.5", &out));
    cr_expect_eq(out, 0.5);
}

Test(number, times_have_units)
{
    int64_t out;
    GIVES(time_("30 s", &out), 30 * NS_PER_S);
    GIVES(time_("30", &out), 30 * NS_PER_S);
    GIVES(time_("1.5h", &out), 5400 * NS_PER_S);
    GIVES(time_("2 min", &out), 120 * NS_PER_S);
    GIVES(time_("1 d", &out), 86400 * NS_PER_S);
    GIVES(time_("250 ms", &out), 250000000);
    GIVES(time_("3us", &out), 3000);
    GIVES(time_("7 ns", &out), 7);
    GIVES(time_("1e3 s", &out), 1000 * NS_PER_S);
    GIVES(time_("  4\ts ", &out), 4 * NS_PER_S);
    GIVES(time_("-5 s", &out), -5 * NS_PER_S);
    GIVES(time_("106751 d", &out), INT64_C(106751) * 86400 * NS_PER_S); /* 292 years */
    REFUSES(time_("106752 d", &out));
    static const char *const junk[] = {"",       "s",    "30 sec", "30 S",  "1:30", "1h30",
                                       "30 s s", "30 m", "30 Min", "3 0 s", "010x"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        REFUSES(time_(junk[i], &out));
}

Test(number, sizes_have_units)
{
    uint64_t out;
    GIVES(size("520 GB", &out), 507812500u);
    GIVES(size("16 GiB", &out), 16u << 20);
    GIVES(size("4096", &out), 4u);
    GIVES(size("1023", &out), 0u);
    GIVES(size("1 MB", &out), 976u);
    GIVES(size("1MiB", &out), 1024u);
    GIVES(size("1.5 GiB", &out), 1572864u);
    GIVES(size("2 TiB", &out), UINT64_C(2) << 30);
    GIVES(size("0 B", &out), 0u);
    static const char *const junk[] = {"", "-1 GB", "1 Gb", "1 gb", "1 G", "GB", "99999999 TB", "1 GB/s"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        REFUSES(size(junk[i], &out));
}

/* ---- dates ------------------------------------------------------------------------------------------ */

#define AT(text, seconds) GIVES(datetime(text, &out), (int64_t)(seconds)*NS_PER_S)

Test(date, known_instants)
{
    int64_t out;
    AT("1970-01-01", 0);
    AT("1970-01-01 00:00:01", 1);
    AT("2000-02-29", 951782400);
    AT("2017-10-09 07:01:44", 1507532504);
    AT("2017-10-09T07:01:44", 1507532504);
    AT("2017-10-09T07:01:44Z", 1507532504);
    AT("2200-12-31 23:59:59", 7289654399);
    GIVES(datetime("2017-10-09 07:01:44.25", &out), INT64_C(1507532504250000000));
    GIVES(datetime("2017-10-09 07:01:44.000000001Z", &out), INT64_C(1507532504000000001));
    AT("  2017-10-09 07:01:44 \r", 1507532504);
}

Test(date, zones_are_subtracted)
{
    int64_t out;
    AT("2017-10-09T07:01:44+08:00", 1507532504 - 28800);
    AT("2017-10-09T07:01:44+0800", 1507532504 - 28800);
    AT("2017-10-09T07:01:44+08", 1507532504 - 28800);
    AT("2017-10-09T07:01:44-07:30", 1507532504 + 27000);
    AT("2017-10-09T07:01:44-00:00", 1507532504);
    GIVES(datetime("2017-10-09T07:01:44.5+01:00", &out), INT64_C(1507528904500000000));
}

Test(date, the_hour_that_america_lived_twice_is_read_once)
{
    /* On 2017-11-05 clocks in Los Angeles went from 02:00 back to 01:00. Without a zone every hour is UTC and lasts 3600 s. */
    static const char *const zones[] = {"America/Los_Angeles", "Asia/Shanghai", "UTC"};
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        setenv("TZ", zones[z], 1);
        for (int hour = 0; hour < 24; hour++) {
            char text[32];
            int64_t out;
            snprintf(text, sizeof text, "2017-11-05 %02d:30:00", hour);
            GIVES(datetime(text, &out), (INT64_C(1509840000) + hour * 3600 + 1800) * NS_PER_S);
        }
    }
}

Test(date, impossible_ones_are_refused)
{
    static const char *const junk[] = {"2017-02-29",
                                       "2100-02-29",
                                       "1900-02-28",
                                       "2017-04-31",
                                       "2017-13-01",
                                       "2017-00-10",
                                       "2017-01-00",
                                       "2017-01-32",
                                       "1969-12-31",
                                       "2201-01-01",
                                       "2017-1-01",
                                       "17-01-01",
                                       "2017-01-01 24:00:00",
                                       "2017-01-01 23:60:00",
                                       "2017-01-01 23:59:60",
                                       "2017-01-01 1:00:00",
                                       "2017-01-01 12:00",
                                       "2017-01-01x12:00:00",
                                       "2017-01-01 12:00:00.",
                                       "2017-01-01 12:00:00.x",
                                       "2017-01-01 12:00:00 PST",
                                       "2017-01-01 12:00:00+",
                                       "2017-01-01 12:00:00+1",
                                       "2017-01-01 12:00:00+16:00",
                                       "2017-01-01 12:00:00+08:60",
                                       "2017-01-01 12:00:00ZZ",
                                       "2017/01/01",
                                       "None",
                                       "",
                                       "2017-01-01 ",
                                       "2017-01-0\xd9"};
    int64_t out;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        if (strcmp(junk[i], "2017-01-01 ") != 0) /* blanks around are allowed */
            REFUSES(datetime(junk[i], &out));
    AT("2096-02-29", 3981312000);
    AT("2017-01-01 ", 1483228800);
}

Test(date, days_and_dates_are_inverse)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = date_to_days(1600, 1, 1);
    for (int64_t year = 1600; year <= 2400; year++)
        for (int month = 1; month <= 12; month++) {
            bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (int day = 1; day <= lengths[month - 1] + (month == 2 && is_leap); day++, days++) {
                int64_t y;
                int m, d;
                cr_assert_eq(date_to_days(year, month, day), days, "%lld-%d-%d", (long long)year, month, day);
                date_from_days(days, &y, &m, &d);
                cr_assert(y == year && m == month && d == day, "%lld-%d-%d", (long long)year, month, day);
            }
        }
    cr_assert_eq(date_to_days(1970, 1, 1), 0);
}

Test(number, spans_of_slurm_and_python)
{
    static const struct {
        const char *text;
        int64_t ms;
    } spans[] = {{"90", 90000},
                 {"1:30", 90000},
                 {"01:02:03", 3723000},
                 {"1-02:03:04", 93784000},
                 {"00:00:00.250", 250},
                 {"1 day, 2:03:04", 93784000},
                 {"1 days 02:03:04.5", 93784500},
                 {"3 days", 259200000},
                 {" 10 ", 10000}};
    static const char *const junk[] = {"",
                                       "-",
                                       "1-",
                                       "1-2",
                                       "1-2:3",
                                       "a:b",
                                       "1:2:3:4",
                                       "-5",
                                       "1:-2",
                                       "1 dog",
                                       "2 days x",
                                       "12:30:",
                                       ":30",
                                       "1h",
                                       "999999999-00:00:00",
                                       "1-02:03:04:05",
                                       "99999999999999999:00:00"};
    int64_t out;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        cr_assert(number_parse_span(spans[i].text, strlen(spans[i].text), &out), "%s", spans[i].text);
        cr_assert_eq(out, spans[i].ms * 1000000, "%s: %lld", spans[i].text, (long long)out);
    }
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        cr_assert_not(number_parse_span(junk[i], strlen(junk[i]), &out), "%s", junk[i]);
}

#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void trim(const char **text, size_t *n)
{
    while (*n > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
        (*text)++;
        (*n)--;
    }
    while (*n > 0 && ((*text)[*n - 1] == ' ' || (*text)[*n - 1] == '\t' || (*text)[*n - 1] == '\r'))
        (*n)--;
}

bool number_parse_u64(const char *text, size_t n, uint64_t *out)
{
    trim(&text, &n);
    uint64_t v = 0;
    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)(unsigned char)text[i] - '0';
        if (d > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)d, &v))
            return false;
    }
    *out = v;
    return true;
}

bool number_parse_i64(const char *text, size_t n, int64_t *out)
{
    trim(&text, &n);
    bool negative = n > 0 && text[0] == '-';
    if (n > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        n--;
        if (n == 0 || text[0] == ' ')
            return false;
    }
    uint64_t v;
    if (!number_parse_u64(text, n, &v) || v > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* A decimal number taken apart: value = mantissa * 10^exponent, `more` when non-zero digits were cut. */
struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative, more;
};

static bool decimal_parse(const char *text, size_t n, struct decimal *d)
{
    *d = (struct decimal){0};
    size_t i = 0;
    if (i < n && (text[i] == '-' || text[i] == '+'))
        d->negative = text[i++] == '-';
    bool any = false, point = false;
    for (; i < n; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9)
            break;
        any = true;
        if (d->mantissa < UINT64_MAX / 10 - 1) {
            d->mantissa = d->mantissa * 10 + digit;
            d->exponent -= point;
        } else {
            d->more |= digit != 0;
            d->exponent += !point;
        }
    }
    if (!any)
        return false;
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        int64_t e;
        if (i + 1 >= n || text[i + 1] == ' ' || !number_parse_i64(text + i + 1, n - i - 1, &e) || e < -100000 ||
            e > 100000)
            return false;
        d->exponent += e;
        i = n;
    }
    return i == n;
}

bool number_parse_double(const char *text, size_t n, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    trim(&text, &n);
    struct decimal d;
    if (!decimal_parse(text, n, &d))
        return false;
    double v;
    if (d.mantissa == 0) {
        v = 0;
    } else if (d.mantissa < (UINT64_C(1) << 53) && !d.more && d.exponent >= -22 && d.exponent <= 22) {
        v = (double)d.mantissa; /* one correctly rounded operation on exact operands */
        v = d.exponent < 0 ? v / tens[-d.exponent] : v * tens[d.exponent];
    } else {
        char buffer[128], *end; /* strtod reads the digits again, under the "C" locale whatever the program's is */
        if (n >= sizeof buffer)
            return false;
        memcpy(buffer, text, n);
        buffer[n] = '\0';
        locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (plain == (locale_t)0)
            return false;
        v = fabs(strtod_l(buffer, &end, plain));
        freelocale(plain);
        if (*end != '\0')
            return false;
    }
    if (!isfinite(v))
        return false;
    *out = d.negative ? -v : v;
    return true;
}

bool number_parse_scaled(const char *text, size_t n, int64_t scale, int64_t *out)
{
    trim(&text, &n);
    struct decimal d;
    if (!decimal_parse(text, n, &d))
        return false;
    unsigned __int128 v = (unsigned __int128)d.mantissa * (uint64_t)scale;
    bool half = false;
    for (; d.exponent > 0 && v != 0; d.exponent--) {
        if (v > (unsigned __int128)INT64_MAX)
            return false;
        v *= 10;
    }
    if (d.exponent < -60) {
        v = 0;
    } else {
        for (; d.exponent < 0; d.exponent++) {
            half = (unsigned)(v % 10) >= 5;
            v /= 10;
        }
        v += half;
    }
    if (v > (unsigned __int128)INT64_MAX)
        return false;
    *out = d.negative ? -(int64_t)v : (int64_t)v;
    return true;
}

/* Split "1.5 GiB" into the number and its unit. */
static size_t unit_at(const char *text, size_t n)
{
    size_t i = n;
    while (i > 0 && ((text[i - 1] >= 'a' && text[i - 1] <= 'z') || (text[i - 1] >= 'A' && text[i - 1] <= 'Z')))
        i--;
    return i;
}

struct unit {
    const char *name;
    int64_t scale;
};

static bool unit_parse(const char *text, size_t n, const struct unit *units, int64_t *out)
{
    trim(&text, &n);
    size_t at = unit_at(text, n);
    for (; units->name != NULL; units++)
        if (strlen(units->name) == n - at && memcmp(units->name, text + at, n - at) == 0)
            return number_parse_scaled(text, at, units->scale, out);
    return false;
}

bool number_parse_time(const char *text, size_t n, int64_t *out_ns)
{
    static const struct unit units[] = {
        {"", NS_PER_S},         {"s", NS_PER_S},        {"ms", 1000000},         {"us", 1000}, {"ns", 1},
        {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S}, {NULL, 0}};
    return unit_parse(text, n, units, out_ns);
}

/* `days` and "[[HH:]MM:]SS[.fraction]", of which all three parts where it is_whole. */
static bool clock_parse(const char *text, size_t n, bool is_whole, int64_t days, int64_t *out_ns)
{
    static const int64_t seconds[3] = {1, 60, 3600};
    int64_t total;
    size_t end = n, parts = 0;
    if (days < 0 || n == 0 || text[0] == ':' || __builtin_mul_overflow(days, 86400 * NS_PER_S, &total))
        return false;
    for (size_t i = n; i-- > 0;) {
        int64_t value, part;
        if (i > 0 && text[i - 1] != ':')
            continue;
        if (parts == 3 || !number_parse_scaled(text + i, end - i, parts == 0 ? NS_PER_S : 1, &value) || value < 0 ||
            __builtin_mul_overflow(value, parts == 0 ? 1 : seconds[parts] * NS_PER_S, &part) ||
            __builtin_add_overflow(total, part, &total))
            return false;
        parts++;
        if (i > 0)
            i--; /* over the colon */
        end = i;
    }
    *out_ns = total;
    return parts > 0 && (parts == 3 || !is_whole);
}

bool number_parse_span(const char *text, size_t n, int64_t *out_ns)
{
    static const char *const words[] = {"days", "day"};
    int64_t days = 0;
    trim(&text, &n);
    const char *dash = n > 0 ? memchr(text, '-', n) : NULL;
    if (dash != NULL) {
        size_t at = (size_t)(dash - text);
        return number_parse_i64(text, at, &days) && clock_parse(text + at + 1, n - at - 1, true, days, out_ns);
    }
    size_t number = 0;
    while (number < n && text[number] >= '0' && text[number] <= '9')
        number++;
    for (int w = 0; w < 2; w++) {
        size_t length = strlen(words[w]), at = number + 1 + length;
        if (number == 0 || n < at || text[number] != ' ' || memcmp(text + number + 1, words[w], length) != 0)
            continue;
        while (at < n && (text[at] == ',' || text[at] == ' '))
            at++;
        if (!number_parse_i64(text, number, &days))
            return false;
        return at == n ? clock_parse("0", 1, false, days, out_ns) : clock_parse(text + at, n - at, true, days, out_ns);
    }
    return clock_parse(text, n, false, 0, out_ns);
}

bool number_parse_limit(const char *text, size_t n, int64_t *out_ns)
{
    char whole[64];
    size_t colons = 0;
    trim(&text, &n);
    for (size_t i = 0; i < n; i++)
        colons += text[i] == ':';
    bool has_days = n > 0 && memchr(text, '-', n) != NULL;
    size_t missing =
        has_days ? (colons < 2 ? 2 - colons : 0) : colons == 0; /* units at the right end that are not written */
    if (missing == 0 || n > sizeof whole - 8)
        return number_parse_span(text, n, out_ns);
    memcpy(whole, text, n);
    memcpy(whole + n, ":00:00", 3 * missing);
    return number_parse_span(whole, n + 3 * missing, out_ns);
}

bool number_parse_size(const char *text, size_t n, uint64_t *out_kib)
{
    static const struct unit units[] = {{"", 1},
                                        {"B", 1},
                                        {"kB", 1000},
                                        {"KB", 1000},
                                        {"MB", 1000000},
                                        {"GB", 1000000000},
                                        {"TB", 1000000000000},
                                        {"KiB", INT64_C(1) << 10},
                                        {"MiB", INT64_C(1) << 20},
                                        {"GiB", INT64_C(1) << 30},
                                        {"TiB", INT64_C(1) << 40},
                                        {NULL, 0}};
    int64_t bytes;
    if (!unit_parse(text, n, units, &bytes) || bytes < 0)
        return false;
    *out_kib = (uint64_t)bytes / 1024;
    return true;
}

int64_t date_to_days(int64_t year, int month, int day)
{
    year -= month <= 2; /* years begin in March, so that the leap day is the last */
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t in_era = year - era * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

void date_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t in_era = days - era * 146097;
    int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
    int64_t mp = (5 * in_year + 2) / 153;
    *day = (int)(in_year - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = y + era * 400 + (*month <= 2);
}

static bool digits(const char *text, size_t n, int *out)
{
    int v = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        v = v * 10 + (text[i] - '0');
    }
    *out = v;
    return true;
}

bool number_parse_datetime(const char *text, size_t n, int64_t *out_ns)
{
    static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    trim(&text, &n);
    int year, month, day, hour = 0, minute = 0, second = 0;
    if (n < 10 || text[4] != '-' || text[7] != '-' || !digits(text, 4, &year) || !digits(text + 5, 2, &month) ||
        !digits(text + 8, 2, &day))
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > month_days[month - 1] ||
        (month == 2 && day == 29 && !leap))
        return false;
    int64_t fraction_ns = 0, zone_s = 0;
    if (n > 10) {
        if (n < 19 || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
            !digits(text + 11, 2, &hour) || !digits(text + 14, 2, &minute) || !digits(text + 17, 2, &second) ||
            hour > 23 || minute > 59 || second > 59)
            return false;
        size_t i = 19;
        if (i < n && text[i] == '.') {
            size_t from = i++;
            while (i < n && text[i] >= '0' && text[i] <= '9')
                i++;
            if (i == from + 1 || !number_parse_scaled(text + from, i - from, NS_PER_S, &fraction_ns))
                return false;
        }
        if (i < n && text[i] == 'Z') {
            i++;
        } else if (i < n && (text[i] == '+' || text[i] == '-')) {
            int zh, zm = 0;
            bool west = text[i] == '-';
            if (n - i < 3 || !digits(text + i + 1, 2, &zh))
                return false;
            size_t rest = i + 3;
            if (rest < n && text[rest] == ':')
                rest++;
            if (rest < n && (n - rest != 2 || !digits(text + rest, 2, &zm)))
                return false;
            if (zh > 15 || zm > 59)
                return false;
            zone_s = (west ? -1 : 1) * (zh * 3600 + zm * 60);
            i = n;
        }
        if (i != n)
            return false;
    }
    int64_t s = date_to_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone_s;
    *out_ns = s * NS_PER_S + fraction_ns;
    return true;
}

bool number_has_zone(const char *text, size_t n)
{
    enum { DATE_AND_TIME = 19 };
    trim(&text, &n);
    for (size_t i = DATE_AND_TIME; i < n; i++)
        if (text[i] == 'Z' || text[i] == '+' || text[i] == '-')
            return true;
    return false;
}

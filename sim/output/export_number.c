#include "output/export_number.h"

#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* printf takes the decimal point, which may be several bytes, from the locale of the program that embeds the library. */
static void fix_point(char *text)
{
    char *to = text;
    bool in_point = false;
    for (const char *c = text; *c != '\0'; c++) {
        bool is_plain = strchr("+-0123456789e", *c) != NULL;
        if (is_plain || !in_point)
            *to++ = is_plain ? *c : '.';
        in_point = !is_plain;
    }
    *to = '\0';
}

const char *number_shortest(double value, char *out)
{
    if (!isfinite(value)) {
        snprintf(out, EXPORT_NUMBER_MAX, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return out;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(out, EXPORT_NUMBER_MAX, "%.*g", digits, value);
        fix_point(out);
        if (number_parse_double(out, strlen(out), &back) && back == value)
            break;
    }
    return out;
}

#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void check_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "braid: internal error: %s:%d: (%s): ", file, line, condition);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

/* check.h - assertions for programming errors, in two tiers.
 *
 * `require(cond, ...)` stays in release builds: use it where it is cheap. `insist(cond, ...)` is for
 * costly checks and is compiled out with NDEBUG. Both print what is said and abort: they fire only
 * when braid itself is wrong, never on bad input.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Prints "braid: internal error: FILE:LINE: (condition): message" to stderr and aborts. */
_Noreturn void check_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

#define require(cond, ...) ((cond) ? (void)0 : check_fail(__FILE__, __LINE__, #cond, __VA_ARGS__))
#ifdef NDEBUG
#define insist(cond, ...) ((void)sizeof(cond))
#else
#define insist(cond, ...) require(cond, __VA_ARGS__)
#endif

#endif

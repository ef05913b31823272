/* fuzz.h - a fuzzing target: what is done with a sequence of bytes that anybody may have made.
 *
 *   libFuzzer ──bytes──▶ fuzzer.c ─┐                      a target aborts when what braid promises does not hold;
 *                                  ├──▶ target->one()     the sanitizers see to the rest
 *   files ────replay.c─────────────┘
 *
 * A target depends on the bytes alone: the same bytes do the same, on every machine and after other bytes.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;   /* of its folders under corpus/ and regressions/ */
    const char *format; /* of a target that reads a trace: the reader's name */
    void (*one)(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
};

/* The i-th target, or NULL; and one by name, or NULL. A reader of traces that is new to braid has a target at once. */
const struct fuzz_target *fuzz_target_at(size_t i);
const struct fuzz_target *fuzz_target_find(const char *name);

/* What they do. */
void fuzz_trace(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_config(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_cluster(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_quota(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_overhead(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_sample(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_estimates(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_engine(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_groups(const struct fuzz_target *self, const uint8_t *bytes, size_t n);
void fuzz_compat(const struct fuzz_target *self, const uint8_t *bytes, size_t n);

/* Say what does not hold and abort. */
_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define fuzz_assert(condition, ...) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__))

#endif

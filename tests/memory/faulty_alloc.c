#include "tests/memory/faulty_alloc.h"

#include <errno.h>
#include <execinfo.h>
#include <gsl/gsl_rng.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

static struct {
    uint64_t calls, fail_at;
    uint64_t *sites;
    size_t room;
    int64_t live;
    bool is_failing, is_for_good;
    int trace_fd;
} state;

enum { FRAMES = 7, OWN_FRAMES = 2 };

void alloc_record(uint64_t *sites, size_t room)
{
    state.calls = 0;
    state.sites = sites;
    state.room = room;
    state.is_failing = false;
}

void alloc_fail(uint64_t at, bool for_good)
{
    state.calls = 0;
    state.sites = NULL;
    state.is_failing = true;
    state.is_for_good = for_good;
    state.fail_at = at;
}

void alloc_trace(int fd)
{
    state.trace_fd = fd;
}

uint64_t alloc_stop(void)
{
    state.sites = NULL;
    state.is_failing = false;
    return state.calls;
}

int64_t alloc_live(void)
{
    return state.live;
}

/* Another call: must it fail? */
static __attribute__((noinline)) bool must_fail(void)
{
    uint64_t call = state.calls++;
    if (state.sites != NULL && call < state.room) {
        void *frames[FRAMES];
        int n = backtrace(frames, FRAMES);
        uint64_t hash = 0xcbf29ce484222325u;
        for (int i = OWN_FRAMES; i < n; i++)
            hash = (hash ^ (uintptr_t)frames[i]) * 0x100000001b3u;
        state.sites[call] = hash;
    }
    if (!state.is_failing || (state.is_for_good ? call < state.fail_at : call != state.fail_at))
        return false;
    if (state.trace_fd > 0 && call == state.fail_at) {
        void *frames[FRAMES];
        backtrace_symbols_fd(frames, backtrace(frames, FRAMES), state.trace_fd);
    }
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    state.live += p != NULL;
    return p;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void __real_free(void *p);
void __wrap_free(void *p);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__wrap_strndup(const char *s, size_t n);
ssize_t __real___getdelim(char **line, size_t *n, int end, FILE *f);
ssize_t __wrap___getdelim(char **line, size_t *n, int end, FILE *f); /* what getline is when it is inlined */
ssize_t __wrap_getline(char **line, size_t *n, FILE *f);
int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
gsl_rng *__real_gsl_rng_alloc(const gsl_rng_type *type);
gsl_rng *__wrap_gsl_rng_alloc(const gsl_rng_type *type);
void __real_gsl_rng_free(gsl_rng *rng);
void __wrap_gsl_rng_free(gsl_rng *rng);

void *__wrap_malloc(size_t n)
{
    return must_fail() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return must_fail() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
    if (must_fail())
        return NULL;
    void *q = __real_realloc(p, n);
    state.live += p == NULL && q != NULL;
    return q;
}

void __wrap_free(void *p)
{
    state.live -= p != NULL;
    __real_free(p);
}

char *__wrap_strdup(const char *s)
{
    return must_fail() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
    return must_fail() ? NULL : counted(__real_strndup(s, n));
}

ssize_t __wrap___getdelim(char **line, size_t *n, int end, FILE *f)
{
    if (must_fail())
        return -1;
    bool is_new = *line == NULL;
    ssize_t length = __real___getdelim(line, n, end, f);
    state.live += is_new && *line != NULL;
    return length;
}

ssize_t __wrap_getline(char **line, size_t *n, FILE *f)
{
    return __wrap___getdelim(line, n, '\n', f);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    if (must_fail()) {
        *out = (char *)1; /* undefined, says the manual */
        return -1;
    }
    va_list args;
    va_start(args, format);
    int n = vasprintf(out, format, args);
    va_end(args);
    state.live += n >= 0;
    return n;
}

gsl_rng *__wrap_gsl_rng_alloc(const gsl_rng_type *type)
{
    return must_fail() ? NULL : counted(__real_gsl_rng_alloc(type));
}

void __wrap_gsl_rng_free(gsl_rng *rng)
{
    state.live -= rng != NULL;
    __real_gsl_rng_free(rng);
}

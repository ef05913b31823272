#include "tests/policies/fair_case.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char paths[8][64]; /* a test program runs each test in a process of its own */
static int n_paths;

static void remove_files(void)
{
    while (n_paths > 0)
        unlink(paths[--n_paths]);
}

const char *fair_file(const char *content)
{
    cr_assert_lt(n_paths, 8);
    char *path = paths[n_paths];
    strcpy(path, "/tmp/braid-shares-XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    if (n_paths++ == 0)
        atexit(remove_files);
    ssize_t n = (ssize_t)strlen(content);
    cr_assert_eq(write(fd, content, (size_t)n), n);
    close(fd);
    return path;
}

static int64_t gpu_ns(struct test_case *c, const char *vc, const char *user, int64_t at_ns)
{
    int64_t sum = 0;
    c->spec.stop.at_ns = at_ns;
    case_run(c);
    for (uint32_t j = 0; j < c->n_jobs; j++)
        if ((vc == NULL || strcmp(c->jobs[j].vc, vc) == 0) && (user == NULL || strcmp(c->jobs[j].user, user) == 0))
            sum += c->r.jobs[j].gpu_ns;
    c->spec.stop.at_ns = RUN_NO_LIMIT;
    return sum;
}

double fair_held(struct test_case *c, const char *vc, const char *user, double at_s)
{
    int64_t at_ns = llrint(at_s * 1e9), step_ns = 1000000;
    return (double)(gpu_ns(c, vc, user, at_ns + step_ns) - gpu_ns(c, vc, user, at_ns)) / (double)step_ns;
}

#include "tests/bench/each_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double cpu_process_s(void)
{
    return cpu_s(CLOCK_PROCESS_CPUTIME_ID);
}

double cpu_thread_s(void)
{
    return cpu_s(CLOCK_THREAD_CPUTIME_ID);
}

static int load(struct experiment *x, int argc, char **argv, struct error *err)
{
    struct config_override *sets = calloc((size_t)argc, sizeof *sets);
    if (sets == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (int i = 2; i < argc; i++)
        sets[i - 2].text = argv[i];
    int code = experiment_load(x, argv[1], sets, (size_t)argc - 2, err);
    free(sets);
    return code;
}

int each_run(int argc, char **argv, int (*measure)(const struct run_config *config, struct error *err))
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s CONFIG.yaml [KEY=VALUE ...]\n", argv[0]);
        return 2;
    }
    struct experiment x;
    struct error err = {0};
    int code = load(&x, argc, argv, &err);
    if (code == BRAID_OK) {
        for (uint32_t i = 0; i < x.n_runs && code == BRAID_OK; i++)
            code = measure(&x.runs[i], &err);
        experiment_fini(&x);
    }
    if (code != BRAID_OK) {
        char text[1200];
        fprintf(stderr, "%s: %s\n", argv[0], error_text(&err, text, sizeof text));
    }
    return code;
}

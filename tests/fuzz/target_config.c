/* target_config.c - bytes as a config. Pieces between bytes 0xff: the config; a --set; the files a.csv, b.csv and c.csv beside it.
 *
 * What could be loaded says itself in full: the resolved config of a run, loaded again, is one run with the same resolved config.
 */
#include "folder.h"
#include "fuzz.h"

#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 50 };

static void check_refusal(int code, const struct error *err)
{
    fuzz_assert(code == BRAID_BAD_INPUT && err->code == code && err->message[0] != '\0', "%d: %s", code, err->message);
}

static void check_run(const struct run_config *run)
{
    struct experiment again;
    struct error err = {0};
    fuzz_assert(run->yaml != NULL && run->identity != NULL && run->trace_key != NULL && run->policy.ops != NULL &&
                    run->placement.ops != NULL,
                "run %u lacks a part", run->index);
    struct bytes text = {(const uint8_t *)run->yaml, strlen(run->yaml)};
    const char *path = folder_file("again.yaml", text);
    fuzz_assert(experiment_load(&again, path, NULL, 0, &err) == BRAID_OK, "%d:%d: %s\n%s", err.line, err.col,
                err.message, run->yaml);
    fuzz_assert(again.n_runs == 1, "%u runs", again.n_runs);
    fuzz_assert(strcmp(again.runs[0].yaml, run->yaml) == 0, "resolved:\n%s\nand resolved again:\n%s", run->yaml,
                again.runs[0].yaml);
    fuzz_assert(strcmp(again.runs[0].identity, run->identity) == 0, "another identity:\n%s\n%s", run->identity,
                again.runs[0].identity);
    experiment_fini(&again);
}

void fuzz_config(const struct fuzz_target *self, const uint8_t *bytes, size_t n)
{
    (void)self;
    static const char *const beside[] = {"a.csv", "b.csv", "c.csv"};
    const char *path = folder_file("config.yaml", bytes_piece(bytes, n, 0));
    struct bytes set = bytes_piece(bytes, n, 1);
    for (unsigned i = 0; i < 3; i++)
        folder_file(beside[i], bytes_piece(bytes, n, 2 + i));
    char *text = strndup((const char *)set.at, set.left);
    fuzz_assert(text != NULL, "out of memory");
    const struct config_override override = {text};
    struct experiment x;
    struct error err = {0};
    int code = experiment_load(&x, path, &override, set.left > 0 ? 1 : 0, &err);
    if (code != BRAID_OK)
        check_refusal(code, &err);
    else
        for (uint32_t i = 0; i < x.n_runs && i < RUNS_MOST; i += 1 + x.n_runs / 8)
            check_run(&x.runs[i]);
    experiment_fini(&x);
    free(text);
}

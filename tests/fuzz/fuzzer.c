/* fuzzer.c - what libFuzzer calls. The target is the one that the environment variable BRAID_FUZZ names. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *name = getenv("BRAID_FUZZ");
    target = name != NULL ? fuzz_target_find(name) : NULL;
    if (target != NULL)
        return 0;
    fprintf(stderr, "the environment variable BRAID_FUZZ must name one of:");
    const struct fuzz_target *t;
    for (size_t i = 0; (t = fuzz_target_at(i)) != NULL; i++)
        fprintf(stderr, " %s", t->name);
    fputc('\n', stderr);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    target->one(target, bytes, n);
    return 0;
}

/* run_sample.h - a workload and the result of a run over it, made by hand: what the engine would hand over. */
#ifndef TESTS_OUTPUT_RUN_SAMPLE_H
#define TESTS_OUTPUT_RUN_SAMPLE_H

#include "output/results.h"

/* One job as a test states it; times in seconds, start < 0: never. */
struct sample_job {
    const char *id, *user, *vc;
    uint32_t gpus;
    double submit, ideal, start, end, run, overhead, lost;
    uint32_t preemptions, moves, restarts;
    enum job_status status;
    const char *reason;
    enum trace_status trace_status;
};

struct run_sample {
    struct workload workload;
    struct run_result result;
    struct run_config config;
    struct swept swept[4];
    struct run_output output;
};

/* Fill everything, the id included ("0000000000000001" and so on by `number`), but for metrics, which are NaN. Jobs in order of
 * submission. */
void run_sample_init(struct run_sample *s, const struct sample_job *jobs, uint32_t n, unsigned number);
void run_sample_fini(struct run_sample *s);

/* `n` jobs that vary: ids of several lengths, some waiting, some preempted, users and VCs in turn. */
void run_sample_many(struct run_sample *s, uint32_t n, unsigned number);

/* A fresh folder (to be removed with folder_remove). */
char *folder_make(void);
void folder_remove(char *folder);
/* "FOLDER/NAME", in one of 64 static buffers. */
const char *in(const char *folder, const char *name);

/* The bytes of a file, to free; NULL when it is not there. */
char *file_bytes(const char *path, size_t *n);
bool file_equal(const char *a, const char *b);
bool file_exists(const char *path);

#endif

/* each_run.h - what measuring programs over the runs of a config have in common. */
#ifndef BENCH_EACH_RUN_H
#define BENCH_EACH_RUN_H

#include "experiment/experiment.h"

/* Load `CONFIG.yaml [KEY=VALUE ...]` and call `measure` once a run, in order of the sweep, until one is not BRAID_OK: its error is printed. Returns
 * the program's exit status. */
int each_run(int argc, char **argv, int (*measure)(const struct run_config *config, struct error *err));

/* CPU time in seconds: of all threads, of the calling one. */
double cpu_process_s(void);
double cpu_thread_s(void);

#endif

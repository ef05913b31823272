/* generator_model.h - what one model of the generator is: a const descriptor at the end of its file. Internal to traces/. */
#ifndef TRACES_GENERATOR_MODEL_H
#define TRACES_GENERATOR_MODEL_H

#include "traces/generator.h"
#include "traces/generator_profile.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

struct generator_model {
    const char *name, *summary;
    const struct profile *profile;
    /* NULL: made from the profile. Else fill the columns of `out` but ids, digest and report; `spec` has no defaults left. */
    int (*make)(struct workload *out, const struct generator_spec *spec, struct error *err);
};

extern const struct generator_model generator_acme, generator_gavel, generator_heavy, generator_helios, generator_muri,
    generator_pai, generator_philly, generator_poisson;

/* The model of profiles (generator_sample.c); the same contract. Names may be unused. */
int generator_sample(struct workload *out, const struct profile *p, const struct generator_spec *spec,
                     struct error *err);

/* Submissions end before this second, so that the clock of a run (64 bits of nanoseconds) has as much again for waiting. */
#define GENERATOR_LAST_S INT64_C(4000000000)
int generator_too_long(const struct generator_spec *spec, struct error *err);

/* BRAID_FAILED, memory is out. */
int generator_no_memory(struct error *err);

/* A sampler of 0 .. n-1 with probabilities as 1 / (i + 1)^exponent; free with gsl_ran_discrete_free. NULL when memory is out. */
gsl_ran_discrete_t *generator_zipf(uint32_t n, double exponent);

/* Shift time so that 0 is the first submission, floored to the second; returns the seconds taken off. */
int64_t generator_shift(struct workload *w);

/* Intern those of `n` texts (NULL: PREFIX0, PREFIX1, …), which are in natural order, that occur in `column` and renumber it. NAMES_NONE stays. */
int generator_name_column(struct names *names, const char *prefix, const char *const *texts, uint32_t n,
                          uint32_t *column, uint32_t n_jobs, struct error *err);

/* generator_stages.c: the models of neural networks with their stage times. */
enum { GENERATOR_NETWORKS = 8 };
const char *generator_network_name(uint32_t network); /* in natural order */

/* The time of an iteration on `gpus` GPUs, and of its stages (storage, CPU, GPU, network), in ns. */
int64_t generator_network_stages(uint32_t network, uint32_t gpus, int64_t stages_ns[WORKLOAD_STAGES]);

/* Memory that it takes of each of its GPUs. */
uint64_t generator_network_memory_kib(uint32_t network);

#endif

/* config_fill.h - from a run's tree to its struct run_config, driven by the table of keys.
 *
 * Beside the struct, each value in force is written in one form into up to three texts: `yaml` (the resolved config),
 * `identity` (files as SHA-256, the trace's path left out) and `trace_key` (what decides the workload before scaling).
 */
#ifndef EXPERIMENT_CONFIG_FILL_H
#define EXPERIMENT_CONFIG_FILL_H

#include "experiment/config_files.h"
#include "experiment/config_value.h"
#include "experiment/experiment.h"
#include "experiment/sweep.h"
#include "traces/mapping.h"

enum config_output { OUT_YAML, OUT_IDENTITY, OUT_TRACE_KEY, N_OUT };

/* What is shared while the runs of one experiment are made. */
struct config_fill {
    struct arena *arena; /* of the experiment */
    struct error *err;   /* not NULL */
    struct config_files files;
    struct config_text out[N_OUT];
    struct config_text scratch;
    unsigned mask;         /* outputs that are written now: bits 1 << enum config_output */
    struct names clusters; /* the cluster section's text: equal ones are loaded once */
    struct cluster_spec *cluster_specs;
    uint32_t cluster_capacity;
    void **libraries; /* of plugins, from the arena */
    uint32_t n_libraries, libraries_capacity;
    struct run_config *run;
    struct trace_mapping *mapping; /* of the run; NULL without trace.columns */
    const struct compat_ops *compat; /* of the run, or NULL: it may have policies of its own */
    struct config_place here;        /* of the whole config */
};

bool config_fill_init(struct config_fill *f, const char *config_path, struct arena *arena, struct error *err);
void config_fill_fini(struct config_fill *f);

/* Fill `run` (index and swept are the caller's) from the root of its tree. Errors at their places. */
int config_fill_run(struct config_fill *f, const struct config_node *root, struct run_config *run);

/* ---- for the files that share the work ------------------------------------------------------------ */

/* "key: " (after ", " unless first in its map) into the outputs of the mask. */
void config_fill_key(struct config_fill *f, const char *name);
void config_fill_put(struct config_fill *f, const char *s);
/* A value in its one form. */
void config_fill_value(struct config_fill *f, const struct config_key *key, const struct config_value *value);
/* Find the file of a KEY_PATH value, write it (path or digest), and give it back; NULL with f->err. */
struct config_file *config_fill_file(struct config_fill *f, const struct config_key *key,
                                     const struct config_node *node);

int config_fill_short(struct config_fill *f); /* "out of memory" */

/* cluster.nodes, cluster.vcs and the loading of the whole (config_cluster.c) */
int config_fill_groups(struct config_fill *f, const struct config_key *key, const struct config_node *node);
int config_fill_vcs(struct config_fill *f, const struct config_key *key, const struct config_node *node);
int config_fill_route(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct vc_route *route);
int config_fill_counts(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                       struct vc_route *route);
int config_fill_match(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct route_texts *out);
int config_fill_cluster(struct config_fill *f, const struct config_node *node, size_t text_at);

/* model.start_overhead and the like (config_overhead.c) */
int config_fill_overhead(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                         struct overhead_rule *rule);
int config_fill_steps(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct overhead_rule *rule);

/* model.interleave.kinds and what trace.profiles wants beside the table of keys (config_interleave.c) */
int config_fill_kinds(struct config_fill *f, const struct config_key *key, const struct config_node *node);
int config_check_mix(struct config_fill *f, const struct config_node *root);

/* trace.columns: one of them, the lists of texts in it, and the whole once all keys of `trace` are there (config_columns.c) */
int config_fill_column(struct config_fill *f, const struct config_key *key, const struct config_node *node);
int config_fill_column_texts(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                             struct mapping_source *source);
int config_check_columns(struct config_fill *f, const struct config_node *root);

/* policy and placement with their parameters (config_modules.c) */
int config_fill_policy(struct config_fill *f, const struct config_key *key, const struct config_node *node);
/* For sweeps: the module that `node` means in a config with this root, NULL for the default; false: unknown. Nothing is written. */
bool config_fill_module(struct config_fill *f, const struct config_node *root, const char *kind,
                        const struct config_node *node, struct sweep_module *out);
int config_fill_placement(struct config_fill *f, const struct config_key *key, const struct config_node *node);

/* The keys of `section` from `map` (NULL: all defaults) into `base`; messages call the section `shown`. */
int config_fill_section(struct config_fill *f, const char *section, const char *shown, const struct config_node *map,
                        struct config_place here, void *base);

#endif

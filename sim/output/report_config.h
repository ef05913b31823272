/* report_config.h - what a run's resolved config says, as far as tables and figures need it. */
#ifndef OUTPUT_REPORT_CONFIG_H
#define OUTPUT_REPORT_CONFIG_H

#include "output/report_file.h"

/* Which jobs the metrics count: those submitted in [from_s, to_s), seconds from time 0; without limits infinite. */
struct measure_window {
    double from_s, to_s;
};

/* From `measure: {from, to, warm_up}`. `first_submit_s`: where `from` begins when the config leaves it open. BRAID_BAD_INPUT when the config in
 * the file is not one that braid writes. */
int report_config_measure(struct measure_window *out, const struct report_file *f, const struct report_run *run,
                          double first_submit_s, struct error *err);

/* Is the load set a virtual cluster (`trace: {load_scope: vc}`)? */
bool report_config_has_load_by_vc(const struct report_run *run);

/* The number of the first GPU of each node when the GPUs of the whole cluster are counted through, node by node. */
struct node_bases {
    uint32_t n_groups; /* of equal nodes, in order of node number */
    struct {
        uint64_t nodes, gpus; /* of each */
    } groups[64];
    uint64_t stride; /* nodes beyond the groups: this many GPUs apart */
};

/* From `cluster: {nodes: [...]}`; where the config names a file instead, every node counts as `widest` GPUs, the most that any is seen to
 * have. */
void report_config_bases(struct node_bases *out, const struct report_run *run, uint64_t widest);
uint64_t node_base(const struct node_bases *b, uint64_t node);

/* "trace philly.json" or "generated like philly" from `trace`; "" when it cannot be told. Returns `out`. */
const char *report_config_trace(const struct report_run *run, char *out, size_t size);

/* "8 nodes x 8 v100 GPUs", "2 VCs on nodes.csv" from `cluster`; "" when it cannot be told. Returns `out`. */
const char *report_config_cluster(const struct report_run *run, char *out, size_t size);

#endif
